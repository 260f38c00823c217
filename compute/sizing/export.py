"""A bill for machines: plain data for JSON, and a table for CSV."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict

from .bill import Bill
from .crossings import layer_crossings, model_crossings
from .shape import ModelShape

COLUMNS = ("kind", "count", "arithmetic", "keys", "state_bytes", "conv_bytes", "kv_bytes", "window_bytes", "bytes")


def as_data(made: Bill, shape: ModelShape) -> dict:
    """Everything a bill says, as JSON types; all sizes in bytes."""
    return {
        "model_type": shape.model_type,
        "native_context": shape.native_context,
        **asdict(made),
        "layer_crossings": [asdict(crossing) for crossing in layer_crossings(shape, made.options)],
        "model_crossings": asdict(model_crossings(shape, made.options)),
    }


def as_csv(made: Bill, shape: ModelShape) -> str:
    """One row a kind of layer and one for the whole model, with the state in comment lines; sizes in bytes.

    Text that a spreadsheet would take for a formula is quoted with an apostrophe.
    """
    out = io.StringIO()
    out.write(f"# {_plain(shape.model_type)}, {made.tokens} tokens, sizes in bytes\n")
    out.write("# " + ", ".join(f"{name} {value}" for name, value in asdict(made.options).items()) + "\n")
    table = csv.writer(out, lineterminator="\n")
    table.writerow(COLUMNS)
    for row in made.layers:
        values = {**asdict(row), "keys": " ".join(row.keys)}
        table.writerow([_plain(values[column]) for column in COLUMNS])
    table.writerow(
        ["whole model", shape.n_layers, "", "", made.state_bytes, made.conv_bytes, made.kv_bytes, made.window_bytes,
         made.total_bytes]
    )  # fmt: skip
    return out.getvalue()


def _plain(value: object) -> object:
    text = str(value).replace("\n", " ").replace("\r", " ")
    return value if isinstance(value, int) else f"'{text}" if text[:1] in "=+-@\t" else text

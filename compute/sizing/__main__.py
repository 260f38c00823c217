"""The bill on a terminal: `python -m compute.sizing CONFIG.json --tokens 262144 [--json]`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from .bill import Bill, bill
from .crossings import layer_crossings, model_crossings
from .dtypes import DTYPES
from .errors import ConfigError
from .export import as_data
from .models import load_model, models
from .options import ARITHMETIC, COLUMNS, ENGINES, MLA
from .reader import read_config
from .shape import ModelShape
from .twins import all_softmax_twin, twin_name
from .units import human_bytes


def main(arguments: list[str] | None = None) -> int:
    """Print a bill; 0 on success, 2 when the config or an option is refused."""
    chosen = _parser().parse_args(arguments)
    options = {name: value for name, value in vars(chosen).items() if name not in ("config", "tokens", "json")}
    try:
        shape = _shape(chosen.config)
        tokens = shape.native_context or 1 << 20 if chosen.tokens is None else chosen.tokens
        made = bill(shape, tokens, **options)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(as_data(made, shape), indent=2) if chosen.json else _table(made, shape))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m compute.sizing", description="Bytes a model keeps while decoding.")
    parser.add_argument("config", help="path of a config.json, - for standard input, or a model's word")
    parser.add_argument("--tokens", type=int, help="context length (default: the model's native one, else 2^20)")
    parser.add_argument("--batch", type=int, default=1, help="sequences")
    for name, default in (("kv", "bfloat16"), ("state", "float32"), ("conv", "bfloat16")):
        parser.add_argument(f"--{name}-dtype", default=default, choices=DTYPES)
    parser.add_argument("--conv-columns", default="k", choices=COLUMNS, help="columns of the convolution window")
    parser.add_argument("--mla", default="latent", choices=MLA)
    parser.add_argument("--tp", type=int, default=1, help="tensor-parallel ranks; the bill is one rank's")
    parser.add_argument("--engine", default=ARITHMETIC, choices=ENGINES, help="count the pages that an engine reserves")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _shape(config: str) -> ModelShape:
    if config == "-":
        return read_config(sys.stdin.read())
    if config in models():
        return load_model(config)
    if Path(config).is_file():
        return read_config(Path(config))
    raise ConfigError("config", f"{config!r} is neither a file nor a model's word", f"words: {', '.join(models())}")


def _table(made: Bill, shape: ModelShape) -> str:
    lines = [f"{shape.model_type}, {shape.n_layers:,} layers, {made.tokens:,} tokens (1 GiB = 2^30 B)", ""]
    cells = [(f"{row.count} × {row.kind}", row.arithmetic, human_bytes(row.bytes)) for row in made.layers]
    wide = [max(len(cell[i]) for cell in cells) for i in range(3)]
    for a, b, c in cells:
        lines.append(f"  {a:<{wide[0]}}  {b:<{wide[1]}}  {c:>{wide[2]}}")
    lines.append("")
    for name in ("state", "conv", "kv", "window", "total"):
        value = getattr(made, f"{name}_bytes")
        if value or name == "total":
            lines.append(f"  {name:<7} {human_bytes(value):>10}  {value:,} B")
    lines.append(f"  per token {made.kv_bytes_per_token:,} B")
    lines.extend(_comparisons(made, shape))
    lines.append("")
    lines.append(f"  used: {', '.join(made.used)}")
    lines.extend(f"  assumed {name}: {why}" for name, why in made.assumed.items())
    lines.extend(f"  note: {said}" for said in made.warnings)
    return "\n".join(lines)


def _comparisons(made: Bill, shape: ModelShape) -> list[str]:
    said = []
    for crossing in layer_crossings(shape, made.options):
        if crossing.state_tokens:
            said.append(f"  one {crossing.kind} state equals its layer's cache at {crossing.state_tokens:,} tokens")
    whole = model_crossings(shape, made.options)
    if whole.fixed:
        said.append(f"  the model's cache overtakes its fixed part at {whole.fixed:,} tokens")
    if name := twin_name(shape, made.options.mla):
        twin, o = all_softmax_twin(shape), made.options
        twin_s = bill(twin, made.tokens, o.batch, o.kv_dtype, mla=o.mla, tp=o.tp, engine=o.engine)
        said.append(f"  {name.line}: {human_bytes(twin_s.total_bytes)}")
    return said


if __name__ == "__main__":
    sys.exit(main())

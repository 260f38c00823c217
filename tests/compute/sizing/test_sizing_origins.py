"""Where the numbers of a bill came from: every one says so, and what it says is true of the file."""

import json
import pickle
import re

import pytest

from compute.sizing import bill, load_model, model_config, models, read_config
from compute.sizing.arithmetic import Told
from compute.sizing.keys import WRAPPERS

STRUCTURE = {
    "keys and values", "queries and keys", "B and C, its keys and queries", "two token shifts",
    "numerator, denominator and maximum", "sequences", "context length",
}  # fmt: skip
"""Origins that are no key: what the formula itself says."""


def inner(config):
    for name in WRAPPERS:
        if isinstance(config.get(name), dict):
            return inner(config[name])
    return config


def in_file(config, key):
    """The value under a dotted key, as a set of the numbers that it may stand for; None if there is none."""
    value = inner(config)
    for step in key.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    return None if value is None else set(value) if isinstance(value, list) else {value}


@pytest.mark.parametrize("options", [{}, {"batch": 3, "conv_columns": "k-1", "tp": 2, "kv_dtype": "q8_0"}])
@pytest.mark.parametrize("word", models())
def test_every_number_of_a_bill_has_an_origin_and_a_key_is_in_the_file_with_that_value(word, options):
    config = model_config(word)
    made = bill(load_model(word), 5_000, **options)
    for row in made.layers:
        assert "".join(text for text, _ in row.terms) == row.arithmetic
        for text, origin in row.terms:
            assert bool(origin) == bool(re.search(r"\d", text)) or text == "0 B", (text, origin)
            if not origin or origin in STRUCTURE or origin.startswith("dtype of"):
                continue
            key = re.match(r"[\w.]+", origin)[0]
            if key == origin:
                assert int(text.replace(",", "")) in in_file(config, key), origin
                assert key in row.keys
            elif ": " in origin and not re.search(
                " − 1| ranks", origin
            ):  # not in the file: so it stands among what is assumed
                quantity, _, why = origin.partition(": ")
                assert made.assumed[quantity] == f"{text}: {why}"
            else:
                assert re.search(r" − 1| × | over ", origin), origin


def test_origins_follow_the_spelling_of_the_file():
    config = {"model_type": "gpt2", "n_layer": 2, "n_embd": 64, "n_head": 4}
    (row,) = bill(read_config(config), 1).layers
    said = dict((origin.partition(":")[0], text) for text, origin in row.terms if origin)
    assert said["n_head"] == "4" and said["head_dim"] == "16"
    (row,) = bill(read_config(config | {"head_dim": 8, "num_key_value_heads": 2}), 1).layers
    assert [origin for text, origin in row.terms if text in ("2", "8")] == [
        "keys and values", "num_key_value_heads", "head_dim",
    ]  # fmt: skip


def test_ranks_and_columns_are_said_behind_the_key():
    row = bill(load_model("qwen3.8-27b"), 1, tp=2, conv_columns="k-1").layers[0]
    assert ("24", "linear_num_value_heads over 2 ranks") in row.terms
    assert ("3", "linear_conv_kernel_dim − 1") in row.terms


def test_a_number_with_an_origin_is_a_plain_number_otherwise():
    told = Told(128, "head_dim")
    assert told == 128 and hash(told) == hash(128) and json.dumps(told) == "128" and type(told + 0) is int
    again = pickle.loads(pickle.dumps(told))
    assert again == 128 and again.origin == "head_dim"

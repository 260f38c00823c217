"""Configs from strangers: each gives a bill, or a refusal that names a key and a remedy."""

import copy
import json
import pickle
import random

import pytest

from compute.sizing import (
    ConfigError,
    all_softmax_twin,
    bill,
    from_text,
    layer_crossings,
    longest_context,
    model_config,
    model_crossings,
    models,
    read_config,
    reserve,
    to_text,
)

LLAMA = model_config("llama-3.1-8b")


def refused(config):
    with pytest.raises(ConfigError) as caught:
        read_config(config)
    assert caught.value.key and caught.value.remedy
    return caught.value


# -- text -------------------------------------------------------------------------------------------------------------


def test_a_string_is_always_text_never_a_path(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA), encoding="utf-8")
    assert refused(str(path)).key == "config"
    assert read_config(path) == read_config(LLAMA)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "7",
        '"model_type"',
        "{",
        '{"a": 1,}',
        '{"hidden_size": NaN}',
        '{"hidden_size": Infinity}',
        '{"hidden_size": -Infinity}',
        '{"hidden_size": 1e999}',
        '{"hidden_size": 1' + "0" * 15 + "}",
        '{"hidden_size": ' + "9" * 100_000 + "}",
        "[" * 100_000,
        "[" * 40_000,
        '{"a":' * 33 + "1" + "}" * 33,
        '{"a": "' + "x" * (1 << 20) + '"}',
        json.dumps({f"k{i}": 0 for i in range(5_001)}),
        json.dumps({"a": [0] * 50_001}),
        "{" + '"\ud800": 1}',
        '{"a":"' + '\\"' * 500_000,
    ],
    ids=lambda text: text[:20] or "empty",
)
def test_text_outside_the_limits_is_refused(text):
    refused(text)


def test_a_key_that_stands_twice_is_refused_by_name():
    assert refused('{"hidden_size": 1, "hidden_size": 2}').key == "hidden_size"
    assert refused('{"text_config": {"head_dim": 1, "head_dim": 1}}').key == "head_dim"


def test_brackets_inside_strings_do_not_count_as_depth():
    config = LLAMA | {"note": '[[[[{{{{"\\' * 40}
    assert read_config(json.dumps(config)).layers == read_config(LLAMA).layers


def test_just_within_the_limits_is_read():
    deep = 1
    for _ in range(31):
        deep = {"a": deep}
    config = LLAMA | {"deep": deep, "big": 10**15 - 1} | {f"k{i}": 0 for i in range(4_900)}
    assert read_config(json.dumps(config)).layers == read_config(LLAMA).layers


@pytest.mark.parametrize("value", [float("nan"), 10**15, b"bytes", {1: 2}, object, {"a": {1, 2}}], ids=repr)
def test_dicts_built_in_python_meet_the_same_limits(value):
    refused(LLAMA | {"extra": value})


def test_a_dict_that_contains_itself_is_refused():
    config = dict(LLAMA)
    config["self"] = config
    refused(config)


@pytest.mark.parametrize("value", [None, 7, b"{}", ["a"]])
def test_other_types_are_refused(value):
    assert refused(value).key == "config"


def test_unreadable_files_are_refused(tmp_path):
    refused(tmp_path / "missing.json")
    refused(tmp_path)
    big, binary = tmp_path / "big.json", tmp_path / "binary.json"
    big.write_text(" " * ((1 << 20) + 1), encoding="utf-8")
    binary.write_bytes(b"\xff\xfe\x00")
    refused(big)
    refused(binary)


def test_an_error_survives_pickling():
    error = refused("{")
    again = pickle.loads(pickle.dumps(error))
    assert (again.key, again.remedy, str(again)) == (error.key, error.remedy, str(error))


def test_long_strings_are_cut_in_messages():
    assert len(str(refused(LLAMA | {"model_type": "x" * 10_000}))) < 400
    assert len(str(refused(LLAMA | {"layer_types": ["y" * 10_000] * 32}))) < 600


# -- mutations --------------------------------------------------------------------------------------------------------

STRANGE = [None, 0, -1, -5, 1, 2, 3, 7, 128, 10**14, 10**15, 10**400, 1.5, 0.1, 1e308, float("nan"), True, False]
STRANGE += ["", "auto", "x" * 50, "full_attention", "Infinity", [], [1], [0, 1], [None], [[1]], {}, {"a": 1}]
STRANGE += [["full_attention"] * 3, ["linear_attention"]]


def paths(config, prefix=()):
    for key, value in config.items():
        yield (*prefix, key)
        if isinstance(value, dict):
            yield from paths(value, (*prefix, key))


def mutated(rng, configs):
    """A released config with one to three things wrong with it."""
    config = copy.deepcopy(rng.choice(configs))
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = list(paths(config))
        if not places:
            break
        *outer, key = rng.choice(places)
        place = config
        for step in outer:
            place = place[step]
        match rng.randrange(6):
            case 0:
                del place[key]
            case 1:
                place[key] = copy.deepcopy(rng.choice(STRANGE))
            case 2 if isinstance(place[key], list) and place[key]:
                place[key] = rng.choice(
                    [
                        place[key][:-1],
                        place[key] * 2,
                        [*place[key], rng.choice(STRANGE)],
                        [rng.choice(STRANGE), *place[key][1:]],
                    ]
                )
            case 3 if isinstance(place[key], int):
                place[key] = rng.choice(
                    [-place[key], place[key] * 1_000, place[key] * 10**9, str(place[key]), [place[key]]]
                )
            case 4:
                config = {"text_config": config, "model_type": "x"}
            case _:
                other = rng.choice(configs)
                found = rng.choice(list(paths(other)))
                for step in found:
                    other = other[step]
                place[found[-1]] = copy.deepcopy(other)
    return config


def test_two_thousand_mutated_configs_give_a_bill_or_a_named_refusal():
    rng = random.Random(20_240_229)
    configs = [model_config(word) for word in models()]
    billed = 0
    for _ in range(2_000):
        config = mutated(rng, configs)
        try:
            shape = read_config(config)
        except ConfigError as error:
            assert error.key and error.remedy, config
            continue
        made = bill(shape, 1_000, batch=2)
        billed += 1
        parts = (made.state_bytes, made.conv_bytes, made.kv_bytes, made.window_bytes)
        assert min(parts) >= 0 and sum(parts) == made.total_bytes, config
        assert len(shape.layers) <= shape.n_layers <= 1_000, config
        all_softmax_twin(shape), layer_crossings(shape), model_crossings(shape), longest_context(shape, 10**11)
        try:
            reserve(shape, 1_000)
        except ValueError as error:
            assert str(error).startswith("shape"), config
    assert 500 < billed < 1_900


# -- the address ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", models())
def test_a_config_survives_the_address(word):
    text = to_text(model_config(word))
    assert len(text) <= 400 and text.isascii() and not set(text) & set("+/=&?#% ")
    shape, again = read_config(model_config(word)), read_config(from_text(text))
    assert (again.layers, again.native_context, again.softmax) == (shape.layers, shape.native_context, shape.softmax)
    assert (again.kv_dtype, again.state_dtype) == (shape.kv_dtype, shape.state_dtype)


def test_a_config_too_long_for_an_address_has_no_text():
    rng = random.Random(0)
    heads = [rng.randrange(1, 10**9) for _ in range(1_000)]
    assert to_text(LLAMA | {"num_hidden_layers": 1_000, "num_key_value_heads": heads}) is None


@pytest.mark.parametrize("text", ["", "x", "é", "A" * 2_001, "eNqrVkrLz1eyUkpKLFKqBQAdegQ0!", to_text(LLAMA)[:-6]])
def test_a_damaged_address_is_refused(text):
    with pytest.raises(ConfigError):
        from_text(text)


def test_a_bomb_in_the_address_is_refused():
    import base64
    import zlib

    packed = base64.urlsafe_b64encode(zlib.compress(b'{"a": "' + b"x" * (2 << 20) + b'"}', 9)).decode().rstrip("=")
    with pytest.raises(ConfigError):
        from_text(packed)

"""Ten thousand mutated configs, which is five times what the everyday tests try, and with other seeds."""

import random
import time

import pytest
from sizing.test_sizing_hostile import mutated

from compute.sizing import ConfigError, bill, from_text, model_config, models, read_config, to_text

pytestmark = pytest.mark.outside  # for its length: it needs no package

GEMMA = {key: value for key, value in model_config("gemma-4-31b")["text_config"].items() if "global" not in key}
GEMMA |= {"model_type": "gemma4", "per_layer_config": {"05": {"head_dim": 512, "num_key_value_heads": 4}, "11": {}}}
SWITCHES = [{}, {"conv_columns": "k-1", "tp": 8}, {"kv_dtype": "q4_0", "state_dtype": "bfloat16", "batch": 7}]
LONGEST = 0.05
"""Seconds that a config may keep the page waiting."""


def read_and_bill(config):
    """The shape, or the refusal in its place."""
    try:
        shape = read_config(config)
    except ConfigError as error:
        return error
    bill(shape, 10**6)
    return shape


def cpu_time(config):
    """The processor time that a config takes from text to bill: other processes do not count."""
    start = time.thread_time()
    read_and_bill(config)
    return time.thread_time() - start


@pytest.mark.parametrize("seed", range(20))
def test_mutated_configs_give_an_exact_bill_or_a_refusal_that_names_key_and_remedy(seed):
    rng = random.Random(seed)
    configs = [model_config(word) for word in models()] + [GEMMA]
    billed = 0
    for _ in range(500):
        config = mutated(rng, configs)
        # about a millisecond; a slow one is tried again, since it may have met the garbage collector
        assert cpu_time(config) < LONGEST or min(cpu_time(config) for _ in range(3)) < LONGEST, config
        shape = read_and_bill(config)
        if isinstance(shape, ConfigError):
            assert shape.key and shape.remedy and shape.remedy in str(shape) and len(str(shape)) < 1_000, config
            continue
        billed += 1
        address = to_text(config)
        assert address is None or read_config(from_text(address)).layers == shape.layers, config
        for switches in SWITCHES:
            for tokens in (0, 1, 10**7):
                made = bill(shape, tokens, **switches)
                parts = (made.state_bytes, made.conv_bytes, made.kv_bytes, made.window_bytes)
                assert all(type(part) is int and part >= 0 for part in parts), config
                assert sum(parts) == made.total_bytes == sum(row.bytes for row in made.layers), config
    assert 100 < billed < 400

"""Keys that a file leaves out because they equal the class default; the `outside` tests ask the classes themselves."""

import pytest

from compute.sizing import ConfigError, bill, from_text, model_config, read_config, to_text
from compute.sizing.architectures import ARCHITECTURES
from compute.sizing.class_defaults import CLASS_DEFAULTS
from compute.sizing.families import Softmax

MISTRAL = {"model_type": "mistral", "num_hidden_layers": 2, "hidden_size": 4096, "num_attention_heads": 32}
GEMMA3_12B = {"model_type": "gemma3_text", "hidden_size": 3840, "num_hidden_layers": 48, "sliding_window": 1024}
GEMMA3_12B |= {"num_attention_heads": 16, "num_key_value_heads": 8}
GEMMA3_4B = {"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 34, "sliding_window": 1024}


def softmax(config):
    return read_config(config).layers[0].family


@pytest.mark.parametrize(
    "text_config, per_token", [(GEMMA3_12B, 8 * 2 * 8 * 256 * 2), (GEMMA3_4B, 5 * 2 * 4 * 256 * 2)]
)
def test_gemma_3_means_the_head_width_of_its_class(text_config, per_token):
    shape = read_config({"model_type": "gemma3", "text_config": text_config})
    assert bill(shape, 1).kv_bytes_per_token == per_token
    assert "class default" in dict(shape.assumed)["head_dim"]


def test_a_null_is_an_answer_and_a_missing_key_is_not():
    assert softmax(MISTRAL) == Softmax(8, 128, 128, 4_096)
    assert softmax(MISTRAL | {"sliding_window": None, "num_key_value_heads": None}) == Softmax(32, 128, 128)
    gemma = {"model_type": "gemma3n_text", "num_hidden_layers": 20, "hidden_size": 2048, "sliding_window": 512}
    assert [group.count for group in read_config(gemma).layers] == [4, 1, 15]
    assert [group.count for group in read_config(gemma | {"num_kv_shared_layers": 0}).layers] == [16, 4]


def test_nulls_that_decide_survive_the_address():
    for config in (
        MISTRAL | {"sliding_window": None, "num_key_value_heads": None},
        GEMMA3_4B | {"model_type": "gemma3n", "num_kv_shared_layers": 0},
    ):
        assert read_config(from_text(to_text(config))).layers == read_config(config).layers


def test_the_file_wins_over_the_class():
    assert softmax(MISTRAL | {"num_key_value_heads": 2, "head_dim": 64, "sliding_window": 9}) == Softmax(2, 64, 64, 9)


def test_recurrent_gemma_attends_locally_even_when_the_file_gives_no_window():
    config = model_config("recurrentgemma-2b")
    del config["attention_window_size"]
    assert read_config(config).layers[1].family == Softmax(1, 256, 256, 2_048)
    with pytest.raises(ConfigError):
        read_config(config | {"attention_window_size": None})


def test_every_default_belongs_to_a_type_that_has_a_formula():
    for key, by_type in CLASS_DEFAULTS.items():
        assert set(by_type) <= set(ARCHITECTURES), key

"""The models that come with the explorer, against totals worked out by hand from published widths."""

import json

import pytest

from compute.sizing import bill, human_bytes, load_model, models
from compute.sizing.models import FOLDER

MiB, GiB = 1 << 20, 1 << 30

# word: (layers by kind, state MiB, conv MiB, KV B/token, full windows MiB, native context, cache there in GiB)
TOTALS = {
    "minimax-01": ("70 lightning, 10 softmax", 280, 0, 40_960, 0, None, None),
    "qwen3-next-80b-a3b": ("36 gdn, 12 softmax", 72, 2.25, 24_576, 0, 262_144, 6),
    "qwen3.5-9b": ("24 gdn, 8 softmax", 48, 1.5, 32_768, 0, 262_144, 8),
    "qwen3.5-27b": ("48 gdn, 16 softmax", 144, 3.75, 65_536, 0, 262_144, 16),
    "qwen3.8-27b": ("48 gdn, 16 softmax", 144, 3.75, 65_536, 0, 262_144, 16),
    "qwen3.5-35b-a3b": ("30 gdn, 10 softmax", 60, 1.875, 20_480, 0, 262_144, 5),
    "kimi-linear-48b-a3b": ("20 kda, 7 mla", 40, 1.875, 8_064, 0, None, None),
    "ring-mini-linear-2.0": ("16 lightning, 4 softmax", 16, 0, 8_192, 0, 131_072, 1),
    "olmo-hybrid-7b": ("24 gdn, 8 softmax", 50.625, 2.109, 122_880, 0, 65_536, 7.5),
    "jamba-v0.1": ("28 mamba1, 4 softmax", 14, 1.75, 16_384, 0, 262_144, 4),
    "zamba2-7b": ("68 mamba2, 13 attn+mamba2", 141.75, 4.588, 372_736, 0, 4_096, 1.422),
    "bamba-9b": ("29 mamba2, 3 softmax", 116, 1.869, 12_288, 0, None, None),
    "falcon-h1-7b": ("44 attn+mamba2", 132, 1.203, 45_056, 0, 262_144, 11),
    "granite-4.0-h-tiny": ("36 mamba2, 4 softmax", 54, 0.914, 8_192, 0, 131_072, 1),
    "nemotron-h-8b-base-8k": ("24 mamba2, 24 mlp, 4 softmax", 96, 1.875, 16_384, 0, 8_192, 0.125),
    "nemotron-3-nano-30b-a3b": ("23 mamba2, 23 moe, 6 softmax", 46, 1.078, 6_144, 0, 262_144, 1.5),
    "lfm2-1.2b": ("10 shortconv, 6 softmax", 0, 0.117, 12_288, 0, 128_000, 1.465),
    "recurrentgemma-2b": ("18 rglru, 8 window", 0.176, 0.264, 0, 15.99, None, None),
    "falcon-mamba-7b": ("64 mamba1", 32, 4, 0, 0, None, None),
    "xlstm-7b": ("32 xlstm", 128.251, 0, 0, 0, None, None),
    "rwkv-6-world-1b6": ("24 rwkv", 12.375, 0, 0, 0, None, None),
    "llama-2-7b": ("32 softmax", 0, 0, 524_288, 0, 4_096, 2),
    "llama-3.1-8b": ("32 softmax", 0, 0, 131_072, 0, 131_072, 16),
    "llama-3.1-70b": ("80 softmax", 0, 0, 327_680, 0, 131_072, 40),
    "qwen3-32b": ("64 softmax", 0, 0, 262_144, 0, 40_960, 10),
    "gemma-2-9b": ("21 window, 21 softmax", 0, 0, 172_032, 671.84, 8_192, 1.969),
    "gemma-3-27b-it": ("52 window, 10 softmax", 0, 0, 81_920, 415.59, 131_072, 10.406),
    "gemma-4-31b": ("50 window, 10 softmax", 0, 0, 81_920, 799.22, None, None),
    "gpt-oss-20b": ("12 window, 12 softmax", 0, 0, 24_576, 2.98, 131_072, 3.003),
    "mistral-7b-v0.1": ("32 window", 0, 0, 0, 511.88, None, None),
    "deepseek-v3": ("61 mla", 0, 0, 70_272, 0, 163_840, 10.723),
    "gpt-2": ("12 softmax", 0, 0, 36_864, 0, 1_024, 0.035),
}

every_model = pytest.mark.parametrize("word", models())


@pytest.mark.parametrize("word", TOTALS)
def test_each_model_totals_what_its_published_widths_give(word):
    kinds, state, conv, per_token, windows, native, cache = TOTALS[word]
    shape = load_model(word)
    made = bill(shape, native or 10_000_000)
    assert ", ".join(f"{group.count} {group.kind}" for group in shape.layers) == kinds
    assert made.state_bytes / MiB == pytest.approx(state, abs=5e-4)
    assert made.conv_bytes / MiB == pytest.approx(conv, abs=5e-4)
    assert made.kv_bytes_per_token == per_token
    assert bill(shape, 10_000_000).window_bytes / MiB == pytest.approx(windows, abs=5e-3)
    assert shape.native_context == native
    if cache is not None:
        assert (made.kv_bytes + made.window_bytes) / GiB == pytest.approx(cache, abs=5e-4)


def test_minimax_keeps_73_400_320_state_numbers_and_forty_gib_at_a_million_tokens():
    made = bill(load_model("minimax-01"), 1 << 20)
    assert made.state_bytes == 73_400_320 * 4 == 280 * MiB
    assert made.kv_bytes == 40 * GiB
    assert made.total_bytes == 40 * GiB + 280 * MiB
    assert made.layers[0].arithmetic == "64 × 128 × 128 × 4 B"


@every_model
def test_every_model_bills_to_positive_bytes(word):
    made = bill(load_model(word), 1 << 20)
    assert made.total_bytes > 0
    assert made.layers and made.used


@every_model
def test_every_model_names_a_public_source_and_how_sure_it_is(word):
    model = models()[word]
    assert 10 < len(model.source) < 200
    assert "third-party" not in model.source and not model.source.rstrip().endswith(("and", ";", ","))
    assert model.verified in {"released config", "paper", "package default"}


def test_words_are_fit_for_an_address():
    assert len(models()) >= 41
    for word in models():
        assert word == word.lower() and all(c.isalnum() or c in "-." for c in word)
    assert {path.stem for path in FOLDER.iterdir()} == set(models())


def test_model_files_hold_only_what_the_reader_of_the_folder_expects():
    for path in FOLDER.glob("*.json"):
        assert set(json.loads(path.read_text(encoding="utf-8"))) == {"name", "source", "verified", "config"}


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match=r"^word must name a model"):
        load_model("../../etc/passwd")


def test_numbers_of_a_page_read_well():
    assert human_bytes(bill(load_model("minimax-01"), 1 << 20).total_bytes) == "40.27 GiB"

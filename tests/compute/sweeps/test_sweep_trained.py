"""Models that are trained to recall, and times of forms: what can be said about them without waiting."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from compute.attention import delta_attention_recurrent, kernel_attention, softmax_attention
from compute.sweeps.form_times import FORMS, OURS, PEERS, FormTimes, TimesQuestion
from compute.sweeps.places import Place
from compute.sweeps.recall_models import logits, mix, mixer_of, shapes, start
from compute.sweeps.running import run
from compute.sweeps.trained_recall import MIXERS, TrainedQuestion, TrainedRecall, recall_task

TORCH = Place("cpu", "torch", "torch on the CPU")


def drawn(*shape: int) -> torch.Tensor:
    return torch.as_tensor(np.random.default_rng(sum(shape)).standard_normal(shape))


@pytest.mark.parametrize("mixer", ["additive", "delta", "gated_delta", "softmax"])
def test_a_mixer_reads_what_its_rule_reads_token_by_token(mixer):
    q, k, v, gates = drawn(2, 19, 6), drawn(2, 19, 6) + 0.5, drawn(2, 19, 5), drawn(2, 19, 2)
    unit_q, unit_k = (torch.nn.functional.normalize(a, dim=-1) for a in (q, k))
    beta, log_alpha = torch.sigmoid(gates[..., 1]), torch.nn.functional.logsigmoid(gates[..., 0])
    expected = {
        "additive": lambda: torch.stack([(unit_k[:, : t + 1].mT @ v[:, : t + 1]).mT @ unit_q[:, t, :, None]
                                         for t in range(19)], dim=1)[..., 0],
        "delta": lambda: delta_attention_recurrent(unit_q, unit_k, v, beta),
        "gated_delta": lambda: delta_attention_recurrent(unit_q, unit_k, v, beta, log_alpha=log_alpha),
        "softmax": lambda: softmax_attention(q, k, v),
    }[mixer]()  # fmt: skip
    torch.testing.assert_close(mix(mixer, q, k, v, gates[..., 0], gates[..., 1]), expected)


def test_one_layer_in_four_of_the_hybrid_is_softmax():
    assert [mixer_of("hybrid", i) for i in range(8)] == ["gated_delta", "softmax", "gated_delta", "gated_delta"] * 2
    assert {mixer_of(mixer, 1) for mixer in MIXERS if mixer != "hybrid"} == set(MIXERS) - {"hybrid"}


@pytest.mark.parametrize("mixer", MIXERS)
def test_a_model_does_not_see_later_tokens_and_replicas_do_not_see_each_other(mixer):
    generator = torch.Generator().manual_seed(0)
    layout = shapes(4, 8, 4, 12, 6)
    weights = {
        name: start(name, shape, lambda shape: torch.randn(2, *shape, generator=generator))
        for name, shape in layout.items()
    }
    tokens = torch.randint(12, (3, 9), generator=generator)
    whole = logits(weights, tokens, 9, mixer)
    other = tokens.clone()
    other[:, -1] = (other[:, -1] + 1) % 12
    torch.testing.assert_close(logits(weights, other, 9, mixer)[:, :, :-1], whole[:, :, :-1])
    assert not torch.allclose(logits(weights, other, 9, mixer)[:, :, -1], whole[:, :, -1])
    alone = logits({name: a[1:] for name, a in weights.items()}, tokens, 9, mixer)
    torch.testing.assert_close(alone, whole[1:])


def test_the_task_asks_for_every_key_once_and_for_its_own_value():
    tokens, targets = recall_task(50, 7, 20, torch.Generator().manual_seed(0))
    for row, wanted in zip(tokens.tolist(), targets.tolist()):
        keys, values, asked = row[:14:2], row[1:14:2], row[14:]
        assert sorted(asked) == sorted(keys) and len(set(keys)) == 7 and max(keys) < 20
        told = dict(zip(keys, values))
        assert [told[key] - 20 for key in asked] == wanted
    assert tokens[:, 14:].tolist() != tokens[:, :14:2].tolist()


def test_training_brings_the_loss_from_guessing_to_knowing():
    question = TrainedQuestion(
        mixers=("softmax",), widths=(8,), layers=1, d=24, words=8, trained=(2,), pairs=(2,), rates=(2e-2,), draws=2,
        steps=150, tokens=384,
    )  # fmt: skip
    heard = []
    told = run(TrainedRecall(), question, TORCH, lambda fraction, note: heard.append(fraction))
    assert told.arrays["recall"].shape == (1, 1, 1, 2, 1)
    assert (told.arrays["recall"] > 0.9).all()
    assert (told.arrays["loss"] < 0.3 * math.log(8)).all()
    assert told.arrays["loss"][0, 0, 0, 0] != told.arrays["loss"][0, 0, 0, 1]
    assert heard == sorted(heard)
    assert np.array_equal(run(TrainedRecall(), question, TORCH).arrays["loss"], told.arrays["loss"])


def test_more_pairs_than_keys_are_refused():
    with pytest.raises(ValueError, match=r"^pairs must not be more than"):
        TrainedQuestion(words=8)


@pytest.mark.parametrize("place", [Place(), TORCH], ids=lambda place: place.library)
def test_every_form_that_runs_here_is_timed_and_peers_are_left_out_without_a_gpu(place):
    question = TimesQuestion(forms=OURS + PEERS, heads=(1, 2), tokens=(16, 64), d=16)
    ms = run(FormTimes(), question, place).arrays["ms"]
    assert (ms[: len(OURS)] > 0).all()
    assert np.isnan(ms[len(OURS) :]).all()


def test_a_form_is_not_timed_beyond_its_longest():
    assert set(FORMS) == set(OURS + PEERS)
    question = TimesQuestion(forms=("left",), heads=(1,), tokens=(64, 2**20), d=16)
    ms = run(FormTimes(), question).arrays["ms"].ravel()
    assert ms[0] > 0 and np.isnan(ms[1])


@pytest.mark.parametrize("form", ["left", "right", "softmax", "parallel", "chunkwise", "recurrent"])
def test_what_is_timed_computes_what_its_name_says(form):
    from compute.sweeps.workbench import Bench

    Q, K, V = (a[0] for a in np.random.default_rng(0).standard_normal((3, 1, 24, 8)))
    told = FORMS[form].make(Bench(), Q, K, V)()
    linear = lambda causal: (np.tril(Q @ K.T) if causal else Q @ K.T) @ V  # noqa: E731
    expected = {
        "left": linear(False), "right": linear(False),
        "softmax": kernel_attention(Q, K, V, lambda q, k: np.exp(q @ k.T * 8**-0.5)),
    }.get(form, linear(True))  # fmt: skip
    np.testing.assert_allclose(told, expected, rtol=1e-10)

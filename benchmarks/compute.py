"""The numbers themselves: a shortcut against the plain way, and the slowest question of every view.

Processor time of one thread, so that a busy machine hardly matters.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from app.page import OVERVIEW, pages, view
from benchmarks.report import Row
from components.lesson import Question
from components.words import KEYS, PHIS, WIDTHS
from compute.attention import FORMS
from compute.crosstalk import every_read
from compute.feature_maps import FEATURE_MAPS
from compute.memory import WRITE_RULES, unit
from compute.rank import kernel_matrix, kernel_spectrum, spectrum
from compute.sizing.models import models

D, PAIRS = 128, 1024
TOKENS, WIDTH = 2048, 64
REPEATS = 3


def run(command: str) -> Iterator[Row]:
    yield from _crosstalk()
    yield from _forms()
    yield from _rank()
    yield from _answers()


def _crosstalk() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    K, V = unit(rng.standard_normal((PAIRS, D))), rng.standard_normal((PAIRS, D))
    for word in ("additive", "delta"):
        once, reads = _timed(partial(every_read, K, V, word, beta=0.5))
        plain, cosines = _timed(partial(_read_all_after_every_write, K, V, word), 1)
        apart = float(np.nanmax(np.abs(reads.cosine - cosines)))
        what = f"{word}: every read after each of {PAIRS:,} writes, d = {D}, in one pass"
        note = f"{1e3 * once:.0f} ms for {1e3 * plain:,.0f} ms write by write; {apart:.0e} apart"
        yield Row(what, plain / once, "× faster", 1, sense="≥", note=note)


def _read_all_after_every_write(K: np.ndarray, V: np.ndarray, word: str) -> np.ndarray:
    rule, S = WRITE_RULES[word](), np.zeros((D, D))
    cosines, lengths = np.full((PAIRS, PAIRS), np.nan), np.linalg.norm(V, axis=1)
    for n in range(PAIRS):
        S = rule(S, K[n], V[n], beta=0.5)
        reads = K[: n + 1] @ S
        cosines[n, : n + 1] = np.sum(reads * V[: n + 1], axis=1) / (np.linalg.norm(reads, axis=1) * lengths[: n + 1])
    return cosines


def _forms() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    Q, K, V = rng.standard_normal((3, TOKENS, WIDTH))
    phi = FEATURE_MAPS["elu"]()
    spent = {word: _timed(partial(form, Q, K, V, phi))[0] for word, form in FORMS.items()}
    for word in ("recurrent", "parallel"):
        what = f"causal attention of {TOKENS:,} tokens, d = {WIDTH}: chunkwise against {word}"
        note = f"{1e3 * spent['chunkwise']:.0f} ms for {1e3 * spent[word]:.0f} ms"
        yield Row(what, spent[word] / spent["chunkwise"], "× faster", note=note)


def _rank() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    Q, K = rng.standard_normal((2, 512, 16))
    phi = FEATURE_MAPS["elu"]()
    thin, values = _timed(partial(kernel_spectrum, Q, K, phi))
    full, whole = _timed(lambda: spectrum(kernel_matrix(Q, K, phi)))
    apart = float(np.max(np.abs(values - whole[: len(values)])) / whole[0])
    what = "spectrum of a 512 × 512 kernel matrix, d_φ = 16, by features"
    note = f"{1e3 * thin:.1f} ms for {1e3 * full:.0f} ms in full; {apart:.0e} apart"
    yield Row(what, full / thin, "× faster", 1, sense="≥", note=note)


def _answers() -> Iterator[Row]:
    """What is asked for the first time keeps others waiting: above about 100 ms it would have to be a sweep."""
    default, words = Question(), Question.__dataclass_fields__
    for name in (name for name in pages() if name != OVERVIEW):
        answer = view(name).answer
        answer(default)
        took = {question: _timed(partial(answer, question), 1)[0] for question in _questions()}
        slowest = max(took, key=took.get)
        asked = [
            f"{word} {getattr(slowest, word)}" for word in words if getattr(slowest, word) != getattr(default, word)
        ]
        what = f"{name}: slowest of {len(took)} new answers, CPU"
        yield Row(what, 1e3 * took[slowest], "ms", 100, note=", ".join(asked))


def _questions() -> list[Question]:
    return [
        *(Question(phi=phi) for phi in PHIS),
        *(Question(d_k=d_k) for d_k in WIDTHS),
        *(Question(rule=rule) for rule in WRITE_RULES),
        *(Question(keys=keys) for keys in KEYS),
        *(Question(model=model) for model in models()),
        *(Question(seed=seed) for seed in range(1, 6)),
    ]


def _timed(work: Callable[[], Any], repeats: int = REPEATS) -> tuple[float, Any]:
    """Least processor time of several tries (s), and what came out."""
    least, told = float("inf"), None
    for _ in range(repeats):
        start = time.process_time()
        told = work()
        least = min(least, time.process_time() - start)
    return least, told

"""The numbers themselves: a shortcut against the plain way, and the slowest question of every view.

Processor time of one thread, so that a busy machine hardly matters.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from app.page import OVERVIEW, pages, view
from benchmarks.peers import peers
from benchmarks.report import Row, timed
from components.lesson import Question
from components.words import KEYS, PHIS, WIDTHS
from compute.attention import FORMS
from compute.crosstalk import every_read
from compute.feature_maps import FEATURE_MAPS
from compute.filling import states
from compute.memory import WRITE_RULES, unit
from compute.rank import kernel_matrix, kernel_spectrum, spectrum
from compute.sizing.models import models

D, PAIRS = 128, 1024
BETA = 0.5
TOKENS, WIDTH = 2048, 64
LONG = {"recurrent": 2**16, "chunkwise": 2**16, "parallel": 2**11}
"""Tokens at which memory is measured, and again at twice as many."""


def run(command: str) -> Iterator[Row]:
    yield from _crosstalk()
    yield from _forms()
    yield from peers()
    yield from _peaks()
    yield from _rank()
    yield from _answers()


def _crosstalk() -> Iterator[Row]:
    """All (n, j) in one pass, beside a run for every n, and beside one memory read through after every write."""
    rng = np.random.default_rng(0)
    K, V = unit(rng.standard_normal((PAIRS, D))), rng.standard_normal((PAIRS, D))
    for word in ("additive", "delta"):
        once, told = timed(partial(every_read, K, V, word, beta=BETA))
        for ways, plain, budget in (("run by run", _run_by_run, 30), ("write by write", _write_by_write, None)):
            took, reads = timed(partial(plain, K, V, word), 1)
            found = (told.cosine, told.energy, told.own)
            apart = max(float(np.nanmax(np.abs(x - y))) for x, y in zip(reads, found))
            what = f"{word}: every read after each of {PAIRS:,} writes, d = {D}: one pass against {ways}"
            note = f"{1e3 * once:.0f} ms for {1e3 * took:,.0f} ms; {apart:.0e} apart"
            yield Row(what, took / once, "× faster", budget, sense="≥", note=note)


def _run_by_run(K: np.ndarray, V: np.ndarray, word: str) -> np.ndarray:
    """For every n a memory of its own, filled as fast as `states` can; all its pairs read at once."""
    values = _with_names(V, word)
    runs = (states(K[:n], values[:n, : D + n], word, [n], beta=BETA)[0] for n in range(1, PAIRS + 1))
    return _read_through(K, V, runs)


def _write_by_write(K: np.ndarray, V: np.ndarray, word: str) -> np.ndarray:
    """One memory, written into pair by pair; all pairs so far read at once after every write."""
    rule, values = WRITE_RULES[word](), _with_names(V, word)

    def memories() -> Iterator[np.ndarray]:
        S = np.zeros((D, values.shape[1]))
        for n in range(1, PAIRS + 1):
            now = slice(0, D + n)  # names that are not written yet are zero, and stay so
            S[:, now] = rule(S[:, now], K[n - 1], values[n - 1, now], beta=BETA)
            yield S

    return _read_through(K, V, memories())


def _with_names(V: np.ndarray, word: str) -> np.ndarray:
    """Beside its value each pair stores its name under a rule that corrects: else its own share is known to be 1."""
    return np.concatenate([V, np.eye(PAIRS)], axis=1) if WRITE_RULES[word].corrects else V


def _read_through(K: np.ndarray, V: np.ndarray, memories: Iterable[np.ndarray]) -> np.ndarray:
    """Cosine, energy and own share of every pair in each memory, [3, N, N], NaN where it is not stored yet."""
    squares, told = np.sum(V * V, axis=1), np.full((3, PAIRS, PAIRS), np.nan)
    for n, S in enumerate(memories, start=1):
        keys, stored, reads = K[:n], V[:n], K[:n] @ S[:, :D]
        own = np.einsum("jd,dj->j", keys, S[:, D : D + n]) if S.shape[1] > D else np.ones(n)
        cosine = np.sum(reads * stored, axis=1) / np.sqrt(np.sum(reads * reads, axis=1) * squares[:n])
        miss = reads - own[:, None] * stored
        told[:, n - 1, :n] = cosine, np.sum(miss * miss, axis=1) / squares[:n], own
    return told


def _forms() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    Q, K, V = rng.standard_normal((3, TOKENS, WIDTH))
    phi = FEATURE_MAPS["elu"]()
    spent = {word: timed(partial(form, Q, K, V, phi))[0] for word, form in FORMS.items()}
    for word in ("recurrent", "parallel"):
        what = f"causal attention of {TOKENS:,} tokens, d = {WIDTH}: chunkwise against {word}"
        note = f"{1e3 * spent['chunkwise']:.0f} ms for {1e3 * spent[word]:.0f} ms"
        yield Row(what, spent[word] / spent["chunkwise"], "× faster", note=note)


def _peaks() -> Iterator[Row]:
    """How much more memory a form holds at its peak for twice the tokens, its inputs not counted."""
    phi = FEATURE_MAPS["elu"]()
    for word, T in LONG.items():
        peaks = []
        for tokens in (T, 2 * T):
            Q, K, V = np.random.default_rng(0).standard_normal((3, tokens, 16))
            tracemalloc.start()
            FORMS[word](Q, K, V, phi)
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        what = f"{word}: peak memory of {2 * T:,} tokens over {T:,}"
        note = f"{peaks[1] / 2**20:,.0f} MiB for {peaks[0] / 2**20:,.0f} MiB"
        yield Row(what, peaks[1] / peaks[0], "×", None if word == "parallel" else 2.1, note=note)


def _rank() -> Iterator[Row]:
    rng = np.random.default_rng(0)
    Q, K = rng.standard_normal((2, 512, 16))
    phi = FEATURE_MAPS["elu"]()
    thin, values = timed(partial(kernel_spectrum, Q, K, phi))
    full, whole = timed(lambda: spectrum(kernel_matrix(Q, K, phi)))
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
        took = {question: timed(partial(answer, question), 1)[0] for question in _questions()}
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

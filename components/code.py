"""Copy as code: a short script that prints the numbers of a view at a state.

A script is a template of assets/code filled in: `VIEW.py.txt` asks `compute`, `VIEW.plain.py.txt` says the same in
NumPy alone, with the formula of the map from assets/code/maps.  Values come from the question and from the constants
of the view; random draws are made by the same generator from the same seed, so both print what the page shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from components import (
    bracketing_answer,
    bracketing_said,
    fitting,
    forms_run,
    memory_run,
    normaliser_numbers,
    normaliser_ways,
    random_features_said,
    random_features_sweep,
    rank_values,
    recall_found,
    sharpness_run,
)
from components.about import NAME
from components.assets import ASSETS
from components.axes import AXES
from components.cite import state_words
from components.code_bill import spelled
from components.gpus import gpus
from components.lesson import Question
from components.normaliser_way_said import SUM
from components.sharpness_answer import name_of
from components.sizing_answer import counted, options_of, shape_of
from components.words import SOFTMAX, WORDS
from compute import pair_streams, streams
from compute.attention.normalisers import NORM_EPS
from compute.examples import HAND_EPS, HAND_K, HAND_Q, HAND_V
from compute.keys import KEY_MAKERS
from compute.sizing import Options, all_softmax_twin, longest_context, model_crossings, sequences_that_fit
from compute.sizing.options import ARITHMETIC
from compute.sizing.twins import twin_name
from compute.sweeps.recall_map import RecallMap
from compute.toys import LONGEST
from compute.write_rules import WRITE_RULES

TEMPLATES = ASSETS / "code"
Facts = Mapping[str, Any]


def script(view: str, question: Question, at: Mapping[str, float], plain: bool = False) -> str:
    """A runnable script that prints the view's headline numbers and read-outs, one `label: value` pair or more a line.

    view: a page's word.  at: positions by browser word (c, n, N, T, t, r, tokens), each moved to the nearest stop as
    on the page; a missing one stands at its default.  plain: NumPy alone instead of `compute`.
    ValueError, beginning with view, for a view that has no script.
    """
    if view not in VIEWS:
        raise ValueError(f"view must be one of {', '.join(VIEWS)}, got {view!r}")
    axis, facts = VIEWS[view]
    stop = stop_of(axis, at)
    told = {**_common(view, question, axis, at), **facts(question, stop, at)}
    name = f"{told.pop('template', view)}{'.plain' if plain else ''}.py.txt"
    if told.pop("one_for_both", False):
        name = name.replace(".plain", "")
    return _templates().get_template(name).render(told)


def stop_of(axis: str, at: Mapping[str, float]) -> float:
    """The stop nearest to a position, or to the default where there is none."""
    return AXES[axis].stops[AXES[axis].index(at.get(axis, WORDS[axis].default))]


@cache
def _templates() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, autoescape=False,
    )  # fmt: skip
    made.filters |= {
        "literal": lambda value: json.dumps(value, ensure_ascii=False),
        "batched": lambda text: "0" if text == "0" else f"batch * ({text})",
        "cut": lambda text, width: [text[i : i + width] for i in range(0, len(text), width)],
    }
    return made


def _common(view: str, question: Question, axis: str, at: Mapping[str, float]) -> dict[str, Any]:
    return {
        "title": _title(view, question, at),
        "q": question,
        axis: stop_of(axis, at),
        "phi": question.map,
        "d_k": question.d_k,
        "softmax": question.phi == SOFTMAX,
        "name": name_of(question.map_word),
        "LONGEST": LONGEST,
    }


def _title(view: str, question: Question, at: Mapping[str, float]) -> str:
    """The state in address words; a pasted model is left out, it is long and stands below."""
    told = "&".join(f"{name}={text}" for name, text in state_words(replace(question, own=None), at).items())
    return f"{NAME}, {view}{'?' if told else ''}{told}"


def _sharpness(question: Question, c: float, at: Mapping[str, float]) -> Facts:
    return {"view": sharpness_run}


def _memory(question: Question, n: int, at: Mapping[str, float]) -> Facts:
    asked, hand = memory_run.stream_of(question), question.stream == "hand"
    own = asked.keys == "phi" and asked.phi != SOFTMAX
    maker = "random" if asked.keys == "phi" else asked.keys
    found = memory_run.pairs(asked)
    most = memory_run.PAIRS if own else KEY_MAKERS[maker].most(memory_run.WIDTH) or memory_run.PAIRS
    fits = min(n, len(found.K))
    return {
        "run": memory_run,
        "streams": pair_streams,
        "own": own,
        "hand": hand,
        "maker": maker,
        "n": fits,
        "keys": min(fits, most),
        "fewer": f"  # there are no {n}" if fits < n else "",
        "since": int(found.since[fits]),
        "uses": WRITE_RULES[question.rule].uses,
        "rival": question.duel if question.duel not in ("none", question.rule) else "",
        "width": found.K.shape[1],
        "d_v": asked.d_v,
        "hand_k": pair_streams.HAND_K.tolist(),
        "hand_v": pair_streams.HAND_V.tolist(),
        **({"template": "memory.empty", "one_for_both": True} if n == 0 else {}),
    }


def _rank(question: Question, N: int, at: Mapping[str, float]) -> Facts:
    single = question.precision == "float32"
    return {
        "values": rank_values,
        "phi": question.map and question.map.merged(),
        "tolerance": f"10**-{stop_of('rtol', at):g}",
        "causal": question.mask == "causal",
        "single": single,
        "dtype": ', dtype="float32"' if single else "",
    }


def _bracketing(question: Question, T: int, at: Mapping[str, float]) -> Facts:
    d_phi, wrong = bracketing_answer.width(question.phi, question.head)
    return {
        "view": bracketing_said,
        "d_phi": d_phi,
        "counted": question.map_word if wrong else question.phi,
    }


def _forms(question: Question, t: int, at: Mapping[str, float]) -> Facts:
    hand, softmax = question.example == "hand", question.phi == SOFTMAX
    T = forms_run.HAND if hand else forms_run.RANDOM
    pitfall = "none" if softmax and not hand else question.pitfall
    wide = not hand and not softmax and question.map.d_phi(question.d_k) != forms_run.D_V
    return {
        "run": forms_run,
        "template": "forms.hand" if hand else "forms.softmax" if softmax else "forms",
        "t": min(t, T - 1),
        "chunk": min(T, question.chunk),
        "pitfall": pitfall,
        "misfit": pitfall == "transposed" and wide,
        "inside": pitfall == "eps_inside",
        "eps": HAND_EPS,
        **{f"hand_{name}": x.astype(int).tolist() for name, x in (("q", HAND_Q), ("k", HAND_K), ("v", HAND_V))},
    }


def _random_features(question: Question, r: float, at: Mapping[str, float]) -> Facts:
    return {
        "view": random_features_said,
        "length": random_features_said.EXACT[AXES["r"].index(r)],
        "sweep": random_features_sweep,
        "widest": random_features_sweep.WIDTHS[-1],
    }


def _recall(question: Question, pairs: int, at: Mapping[str, float]) -> Facts:
    axes = recall_found.found().axes
    d_phi, d_v = (
        int(axes[name][recall_found.nearest(name, value)])
        for name, value in (("d_phi", question.d_k), ("d_v", question.d_v))
    )
    return {
        "view": recall_found,
        "sweep": RecallMap.question(),
        "trials": recall_found.found().about["question"]["trials"],
        "rules": list(recall_found.rules()),
        "n": min(pairs, int(axes["n"][-1])),
        "d_phi": d_phi,
        "d_v": d_v,
    }


def _normaliser(question: Question, tokens: int, at: Mapping[str, float]) -> Facts:
    other = {} if question.way == SUM else {"template": "normaliser.way", "norm_eps": NORM_EPS}
    run = {"numbers": normaliser_numbers, "ways": normaliser_ways, "streams": streams}
    return {**run, "apart": streams.TOKENS // streams.DRAWS, **other}


def _sizing(question: Question, T: int, at: Mapping[str, float]) -> Facts:
    shape, free = shape_of(question)[0], fitting.free_bytes(question)
    options = counted(shape, options_of(question))[0]
    twin = twin_name(shape, options.mla)
    return {
        "free": free,
        "bandwidth": gpus()[question.gpu].bandwidth,
        "options": ", ".join(
            f"{name}={json.dumps(value)}"
            for name, value in asdict(options).items()
            if value != getattr(Options(), name)
        ),
        "sums": spelled(shape, options),
        "twin": twin,
        "twin_sums": spelled(all_softmax_twin(shape), options) if twin else None,
        "paged": options.engine != ARITHMETIC,
        "meet": model_crossings(shape, options),
        "fits": sequences_that_fit(shape, free, T, options),
        "longest": longest_context(shape, free, options),
    }


VIEWS: dict[str, tuple[str, Callable[[Question, Any, Mapping[str, float]], Facts]]] = {
    "bracketing": ("T", _bracketing),
    "forms": ("t", _forms),
    "sharpness": ("c", _sharpness),
    "random-features": ("r", _random_features),
    "memory": ("n", _memory),
    "rank": ("N", _rank),
    "normaliser": ("tokens", _normaliser),
    "recall": ("pairs", _recall),
    "sizing": ("T", _sizing),
}
"""Axis under the finger, and what a template is told, by view."""

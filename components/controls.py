"""The controls: which widget stands for which server word, and when it is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn

from components.feature_controls import is_random, make_features
from components.gpus import gpus
from components.lesson import SERVER, Lesson, Question
from components.offered import turns
from components.palette import FAMILIES, SLOTS
from components.sizing_controls import (
    DTYPE_NAMES,
    has_cache,
    has_conv,
    has_open_conv,
    has_open_latent,
    has_state,
    make_compare,
    make_model,
)
from components.widgets import FIELD, SEGMENTED, Choice, Control, Segmented, choice, count, dial, segmented, whole
from components.words import EXAMPLES, HEADS, KEYS, PHIS, PITFALLS, SEEDS, SOFTMAX, VALUE_WIDTHS, WAYS, WIDTHS
from compute.feature_maps import FEATURE_MAPS, read_member, spell
from compute.memory import WRITE_RULES
from compute.pair_streams import STREAMS
from compute.pitfalls import PITFALLS as MISTAKES
from compute.rank import PRECISIONS
from compute.sizing.engine import ENGINE
from compute.sizing.options import COLUMNS, ENGINES, MLA


def _dots() -> str:
    colours = "".join(
        f".bk-btn:nth-child({i})::before {{ content: ''; display: inline-block; width: 8px; height: 8px; "
        f"margin-right: 5px; border-radius: 50%; background: var(--slot-{word}) }}\n"
        for i, word in enumerate(PHIS, 1)
    )
    # What an example has in place of the chosen map looks chosen.
    here = ", ".join(
        f':host([data-instead="{word}"]) .bk-btn-group .bk-btn.bk-btn-default:nth-child({i})'
        for i, word in enumerate(PHIS, 1)
    )
    colours += f"{here} {{ background: var(--ink) !important; color: var(--ground) !important }}\n"
    # The ground of a chosen button is softmax's own colour: a ring keeps the dot apart.
    return colours + ".bk-btn.bk-active::before { box-shadow: 0 0 0 1.5px var(--ground) }\n"


def make_phi(lesson: Lesson) -> pn.widgets.Widget:
    """Families of feature maps; a family keeps the knobs it had while it is chosen."""
    names = {SOFTMAX: SOFTMAX, **{kind.label: word for word, kind in FEATURE_MAPS.items()}}
    widget = Segmented(options=names, value=_family(lesson), stylesheets=[SEGMENTED + _dots()])

    def chosen(event: Any) -> None:
        if event.new != _family(lesson):
            lesson.phi = event.new

    widget.param.watch(chosen, "value")
    lesson.param.watch(lambda event: setattr(widget, "value", _family(lesson)), "phi")
    return widget


def _family(lesson: Lesson) -> str:
    return lesson.phi.partition("~")[0]


def make_knob(lesson: Lesson) -> pn.widgets.Widget:
    """The width d_φ: a choice where the map leaves one, else what follows from d_k."""
    widget = Choice(width=98, stylesheets=[FIELD])

    def refresh(*_: Any) -> None:
        options = _knob_options(lesson)
        if (options, lesson.phi) != (widget.options, widget.value):
            widget.closed = len(options) < 2
            widget.param.update(options=options, value=lesson.phi, disabled=widget.closed or bool(widget.why))

    def chosen(event: Any) -> None:
        if event.new != lesson.phi and event.new in _knob_options(lesson).values():
            lesson.phi = event.new

    refresh()
    widget.param.watch(chosen, "value")
    lesson.param.watch(refresh, ["phi", "d_k"])
    return widget


def _knob_options(lesson: Lesson) -> dict[str, str]:
    """What can be chosen, as {what is said: spelled member}; the member itself is always there."""
    if lesson.phi == SOFTMAX:
        return {"no finite d_φ": SOFTMAX}
    member = read_member(lesson.phi)
    told = {}
    for turn in turns(member):
        told[_width(turn, lesson.d_k)] = spell(turn)
    told = {said: word for said, word in told.items() if said}
    if spell(member) in told.values():
        return told
    said = _width(member, lesson.d_k)
    return {(f"{said} = d_k" if said == str(lesson.d_k) else said): spell(member), **told}


def _width(member: Any, d_k: int) -> str:
    try:
        return f"{member.d_phi(d_k):,}"
    except ValueError:
        return ""


def leans(lesson: Lesson) -> bool:
    """Whether the keys lean together as much as is chosen; those by hand lean as they do."""
    return lesson.keys == "correlated" and lesson.stream != "hand"


RULES = {word.replace("_", " "): word for word in WRITE_RULES}
ENGINE_NAMES = ("arithmetic", f"{ENGINE} pages", "+ prefix cache")
DRAWS = {"median of ten": 0, **{f"draw {i} alone": i for i in range(1, 11)}}
WAY_NAMES = dict(zip(("division by Σκ", "mLSTM", "RetNet", "TransNormer", "lightning"), WAYS, strict=True))
EXAMPLE_NAMES = {"hand": "three by hand", "random": "37 random"}

CONTROLS: dict[str, Control] = {
    "phi": Control("feature map φ", make_phi),
    "knob": Control("features d_φ", make_knob),
    "d_k": Control("key width d_k", segmented("d_k", {str(d): d for d in WIDTHS})),
    "seed": Control("draw", whole("seed", 0, SEEDS - 1, 58)),
    "rule": Control("write rule", segmented("rule", RULES)),
    "keys": Control("keys", segmented("keys", {("φ(k)" if word == "phi" else word): word for word in KEYS})),
    "match": Control("", dial("match", "match ρ", 0, 1, 0.05)),
    "single": Control("", choice("single", DRAWS, 118, "features drawn"), is_random),
    "features": Control("", make_features, is_random),
    "rho": Control("", dial("rho", "common share ρ", 0, 0.95, 0.05), leans),
    "alpha": Control(
        "", dial("alpha", "kept per write α", 0.5, 1, 0.01), lambda lesson: "alpha" in WRITE_RULES[lesson.rule].uses
    ),
    "beta": Control(
        "", dial("beta", "write strength β", 0.05, 1, 0.05), lambda lesson: "beta" in WRITE_RULES[lesson.rule].uses
    ),
    "stream": Control("pairs", choice("stream", {stream.label: word for word, stream in STREAMS.items()}, 128)),
    "duel": Control("against", choice("duel", {"no other rule": "none", **RULES}, 118)),
    "d_v": Control("value width d_v", choice("d_v", {str(d): d for d in VALUE_WIDTHS}, 62)),
    "pair": Control("take apart pair", whole("pair", 1, 256, 66)),
    "mask": Control("mask", segmented("mask", {"none": "none", "causal": "causal"})),
    "precision": Control("computed in", segmented("precision", {word: word for word in PRECISIONS})),
    "compare": Control("compare with", make_compare),
    "batch": Control("sequences", whole("batch", 1, 4096, 76)),
    "exact": Control("at exactly T", whole("exact", 0, 10_000_000, 92)),
    "engine": Control("bytes of", segmented("engine", dict(zip(ENGINE_NAMES, ENGINES)))),
    "kv": Control("", choice("kv", DTYPE_NAMES, 98, "cache dtype"), has_cache),
    "state": Control("", choice("state", DTYPE_NAMES, 98, "state dtype"), has_state),
    "conv": Control("", choice("conv", DTYPE_NAMES, 98, "conv dtype"), has_conv),
    "columns": Control("", choice("columns", COLUMNS, 84, "conv columns"), has_open_conv),
    "mla": Control("", choice("mla", MLA, 118, "latent cached as"), has_open_latent),
    "tp": Control("tensor-parallel ranks", whole("tp", 1, 64, 58)),
    "gpu": Control("fit into", choice("gpu", {gpu.name: word for word, gpu in gpus().items()}, 150)),
    "gib": Control("or GiB (0: all)", whole("gib", 0, 100_000, 82)),
    "head": Control("head width d", segmented("head", {str(d): d for d in HEADS})),
    "example": Control("tokens", segmented("example", {EXAMPLE_NAMES[word]: word for word in EXAMPLES})),
    "chunk": Control("", count("chunk", "tokens per chunk C", 1, 64)),
    "pitfall": Control(
        "mistake in the recurrent form", segmented("pitfall", {MISTAKES[word].label: word for word in PITFALLS})
    ),
    "way": Control("brought to size by", segmented("way", WAY_NAMES)),
    "model": Control("model", make_model),
}


Told = Callable[[Question], Mapping[str, str]]
"""Of words of controls, what a view says in a state."""


def make_controls(
    lesson: Lesson,
    words: tuple[str, ...],
    idle: Told | None = None,
    instead: Told | None = None,
    later: Callable[[Callable[[], None]], None] | None = None,
) -> dict[str, pn.widgets.Widget]:
    """A widget for each word, shown only while it is of use, and greyed while the page says why it changes nothing, and
    what an example has in its place.  later: takes what greys them, to call it after a change when nobody waits; left
    out, every change does, at once."""
    made = {}
    for word in words:
        control = CONTROLS[word]
        made[word] = widget = control.make(lesson)
        if control.shown is not None:
            _follow(widget, lesson, control.shown)
    if idle is not None:
        greyed = _greying(made, lesson, idle, instead or (lambda question: {}))
        greyed()
        if later is None:
            lesson.param.watch(greyed, list(SERVER))
        else:
            later(greyed)
    return made


def _greying(made: dict[str, pn.widgets.Widget], lesson: Lesson, idle: Told, instead: Told) -> Callable[..., None]:
    def refresh(*_: Any) -> None:
        why, here = idle(lesson.question), instead(lesson.question)
        for word, widget in made.items():
            said = why.get(word, ""), here.get(word, "")
            if (widget.why, widget.instead) != said:
                widget.rest(*said)

    return refresh


def _follow(widget: pn.widgets.Widget, lesson: Lesson, shown: Callable[[Lesson], bool]) -> None:
    def refresh(*_: Any) -> None:
        widget.visible = shown(lesson)

    refresh()
    lesson.param.watch(refresh, ["phi", "d_k", "rule", "keys", "stream", "model", "own", "engine"])


def variables() -> str:
    """Slots, for both themes, and fonts as CSS variables, for page and widgets."""
    light = "".join(f"--slot-{slot}:{pair[0]};" for slot, pair in SLOTS.items())
    dark = "".join(f"--slot-{slot}:{pair[1]};" for slot, pair in SLOTS.items())
    fonts = "".join(f"--{name}:{family};" for name, family in FAMILIES.items())
    return f":root{{{light}{fonts}}}\n:root[data-theme=dark]{{{dark}}}\n"

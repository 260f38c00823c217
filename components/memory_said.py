"""Sentences and formulas of the memory."""

from __future__ import annotations

import numpy as np

from components.lesson import Question
from components.memory_by_hand import read_by_hand
from components.memory_law import law_overlap
from components.memory_run import NS, PAIRS, RECENT, WIDTH, Stream, overlap
from components.says import decimals, percent
from components.words import SOFTMAX
from compute.feature_maps import read_member
from compute.memory import WRITE_RULES
from compute.pair_streams import KEYS_IN_TURN, Topics, Ungated

TOPICS = (Topics.word, Ungated.word)


def rule_name(word: str) -> str:
    return word.replace("_", " ")


def phrases(question: Question, told: dict, rival: dict | None) -> dict[str, list[str]]:
    """Sentences with gaps for the numbers of a stop."""
    own, other = rule_name(question.rule), rule_name(question.duel)
    turns = f"{{}} writes under {KEYS_IN_TURN} keys:"
    alone, both = {
        "overwrite": (
            f"{turns} the newest values come back at cosine {{}}.",
            f"{turns} {own} reads the newest values at cosine {{}}, {other} at {{}} ({{}}).",
        ),
        **dict.fromkeys(
            TOPICS,
            (
                "After {} pairs, the current topic comes back at cosine {}.",
                f"After {{}} pairs, {own} reads the current topic at cosine {{}}, {other} at {{}} ({{}}).",
            ),
        ),
        "plain": (
            f"Of {{}} pairs the newest {RECENT} come back at {{}}, all of them at cosine {{}}.",
            f"Of {{}} pairs {own} reads the newest {RECENT} at {{}}, {other} at {{}}; "
            "all at cosine {} and {} ({}).",
        ),
    }.get(
        question.stream if question.rule != "additive" or question.stream != "plain" else "adding",
        (
            f"{{}} pairs in a memory {told['width']:,} wide come back at cosine {{}}.",
            f"{{}} pairs in a memory {told['width']:,} wide: {own} reads at cosine {{}}, {other} at {{}} ({{}}).",
        ),
    )
    crosstalk = "Crosstalk has {} the energy of the value: signal to noise {}."
    if question.rule != "additive":
        crosstalk = "On average a read holds {} of its value and crosstalk of {} its energy: {} that of what it holds."
    return {
        "headline": [both if rival else alone],
        "sentence": [f"Newest {{}}, oldest {{}}. {crosstalk}"],
        "apart": [f"read of pair {question.pair} after {{}} writes: {{}} of its own value, crosstalk {{}} its energy"],
    }


def headlines(question: Question, told: dict, rival: dict | None) -> list:
    """A headline a stop: the numbers that go into the phrase, or a whole text."""
    width, most = told["width"], told["most"]
    headlines: list = ["An empty memory: write the first pair."]
    for n in NS[1:]:
        at = min(n, most)
        if n > most and question.stream == "hand":
            headlines.append(f"There are {most} pairs by hand, and all are written.")
        elif n > most:
            headlines.append(f"{n} orthonormal keys do not fit into {width} dimensions; {most} read back exactly.")
        elif n == 1 and rival is None:
            mean = decimals(told["curve"]["mean"][1])
            headlines.append(f"One pair in a memory {width:,} wide comes back at cosine {mean}.")
        else:
            headlines.append(_headline(question, told, rival, n, at))
    return headlines


def sentences(question: Question, told: dict, energies: np.ndarray) -> list:
    """The same for the sentence below it."""
    curve, last = told["curve"], np.minimum(NS, told["most"])
    rows = np.stack([curve["newest"], curve["oldest"], curve["own"], energies], axis=1)[last]
    sentences: list = [""]
    for at, (newest, oldest, own, energy) in zip(last[1:], rows[1:].tolist()):
        if question.stream == "hand" and question.pair <= at:
            sentences.append(read_by_hand(question, at))
            continue
        sentences.append([decimals(newest), decimals(oldest), *_crosstalk(question, energy, own)])
    return sentences


def _headline(question: Question, told: dict, rival: dict | None, n: int, at: int) -> list[str] | str:
    """The numbers that go into the phrase.  Rules that forget or correct are for what is recent: that comes first, once
    there is anything else."""
    mean, recent = told["curve"]["mean"][at], told["curve"]["recent"][at]
    against = [] if rival is None else _against(mean, rival["curve"]["mean"][at])
    if question.rule == "additive" or question.stream != "plain":
        return [str(n), decimals(mean), *against]
    if n > RECENT:
        both = [decimals(recent), *([] if rival is None else [decimals(rival["curve"]["recent"][at])])]
        return [str(n), *both, decimals(mean), *against]
    if rival is None:
        return f"{n} pairs in a memory {told['width']:,} wide come back at cosine {decimals(mean)}."
    here = f"{rule_name(question.rule)} reads at cosine {decimals(mean)}"
    there = f"{rule_name(question.duel)} at {against[0]} ({against[1]})"
    return f"{n} pairs in a memory {told['width']:,} wide: {here}, {there}."


def _crosstalk(question: Question, energy: float, own: float) -> list[str]:
    """What is drawn, in energies of a whole value; and against what the read holds of its own one, which is all of it
    where plain adding wrote it."""
    if question.rule == "additive":
        return [_times(energy, 1.0), decimals(1 / energy) if energy > 1e-12 else "without limit"]
    return [decimals(own), f"{decimals(energy)}×", _times(energy, own)]


def _against(mean: float, other: float) -> list[str]:
    gap = mean - other
    return [decimals(other), "equal" if abs(gap) < 0.005 else f"{'+' if gap > 0 else ''}{decimals(gap)}"]


def _times(energy: float, own: float) -> str:
    """Crosstalk in energies of what the read holds of its own value."""
    return f"{decimals(energy / own**2, 1)}×" if own > 1e-6 else "any multiple of"


def taken_apart(pair: int, told: dict) -> list:
    """What stands over the split of one read, a frame each: the numbers that go into the phrase, or a whole text."""
    texts: list = []
    for n, own, rest in zip(told["at"], told["own"], told["rest"]):
        if n < pair:
            texts.append(f"pair {pair} is not written after {n}")
        else:
            texts.append([str(n), decimals(own), decimals(rest / own**2, 1) + "×" if own > 1e-6 else "far above"])
    return texts


def subject(question: Question, told: dict) -> str:
    if question.stream == Topics.word and "alpha" in WRITE_RULES[question.rule].uses:
        return " · a gate sets α to 0 where a topic ends"
    if told["most"] < WIDTH:
        return " · three pairs in two dimensions"
    if told["most"] < PAIRS:
        return f" · only {told['most']} orthonormal keys exist at width {WIDTH}"
    return f" · {told['empty']} of {PAIRS} keys have no features" if told["empty"] else ""


def wider(question: Question) -> str:
    """Why a map that is chosen beside raw keys changes nothing, and what it would do to the rows of the state."""
    if question.keys == "phi" or question.phi == SOFTMAX:
        return ""
    return f" · keys φ(k) would be {read_member(question.phi).d_phi(question.d_k):,} wide"


def room(question: Question, width: int, rows: int) -> str:
    """Where exact room ends, and by what name."""
    name = "d_φ" if width != WIDTH and question.keys == "phi" else "d"
    if rows > PAIRS:
        return f"exact room for {rows:,} pairs ends beyond this axis"
    if rows < width:
        return f"n = {rows} distinct of {width}: exact room ends"
    return f"n = {name} = {rows}: exact room ends"


def shape(told: dict) -> str:
    rows, columns = told["width"], told["d_v"]
    shown = min(WIDTH, rows), min(WIDTH, columns)
    return f"{rows:,} × {columns}" + ("" if shown == (rows, columns) else f", every {_nth(rows, columns)} shown")


def _nth(rows: int, columns: int) -> str:
    told = [f"{-(-size // WIDTH)}th {what}" for size, what in ((rows, "row"), (columns, "column")) if size > WIDTH]
    return " and ".join(told).replace("2th", "2nd").replace("3th", "3rd") or "entry enlarged"


def overlaps(asked: Stream) -> str:
    """Mean squared cosine of two keys, measured and as the law takes it to be."""
    told = decimals(overlap(asked), 3)
    return told if asked.stream == "hand" else f"{told}, by the law {decimals(law_overlap(asked), 3)}"


def named(shares: list[float]) -> list[str]:
    """How many reads still name the right value, one text a frame of the state."""
    return ["" if np.isnan(share) else percent(share) for share in shares]

"""Sentences and formulas of the memory."""

from __future__ import annotations

import numpy as np

from components.lesson import Question
from components.memory_by_hand import read_by_hand
from components.memory_law import law_overlap
from components.memory_run import NS, PAIRS, RECENT, WIDTH, Energies, Stream, overlap
from components.says import decimals, each_decimals, percent
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
    headlines: list = ["An empty memory: write the first pair.", *_headlines(question, told, rival)]
    if rival is None:
        mean = told["said"]["mean"][1]
        headlines[1] = f"One pair in a memory {width:,} wide comes back at cosine {mean}."
    for n in range(most + 1, PAIRS + 1):
        if question.stream == "hand":
            headlines.append(f"There are {most} pairs by hand, and all are written.")
        else:
            headlines.append(f"{n} orthonormal keys do not fit into {width} dimensions; {most} read back exactly.")
    return headlines


def sentences(question: Question, told: dict, energies: Energies) -> list:
    """The same for the sentence below it."""
    curve, last = told["curve"], np.minimum(NS, told["most"])[1:]
    reads = (each_decimals(curve[name][last]) for name in ("newest", "oldest"))
    sentences: list = [
        [*row] for row in zip(*reads, *_crosstalk(question, energies.crosstalk[last], energies.own[last]))
    ]
    if question.stream == "hand":
        by_hand = {n: read_by_hand(question, n) for n in range(question.pair, told["most"] + 1)}
        sentences = [by_hand.get(n, sentence) for n, sentence in zip(last.tolist(), sentences)]
    return ["", *sentences]


def _headlines(question: Question, told: dict, rival: dict | None) -> list[list[str] | str]:
    """After each pair that there is, the numbers that go into the phrase.  Rules that forget or correct are for what is
    recent: that comes first, once there is anything else."""
    stops, sides = range(1, told["most"] + 1), [told] if rival is None else [told, rival]
    against = [[]] * (told["most"] + 1) if rival is None else _against(told, rival)
    mean, recents = told["said"]["mean"], [side["said"]["recent"] for side in sides]
    if question.rule == "additive" or question.stream != "plain":
        return [[str(n), mean[n], *against[n]] for n in stops]
    room, texts = f"pairs in a memory {told['width']:,} wide", []
    for n in stops:
        if n > RECENT:
            texts.append([str(n), *(recent[n] for recent in recents), mean[n], *against[n]])
        elif rival is None:
            texts.append(f"{n} {room} come back at cosine {mean[n]}.")
        else:
            here, (other, gap) = f"{rule_name(question.rule)} reads at cosine {mean[n]}", against[n]
            texts.append(f"{n} {room}: {here}, {rule_name(question.duel)} at {other} ({gap}).")
    return texts


def _crosstalk(question: Question, energy: np.ndarray, own: np.ndarray) -> list[list[str]]:
    """What is drawn, in energies of a whole value; and against what the read holds of its own one, which is all of it
    where plain adding wrote it."""
    if question.rule == "additive":
        clear = np.where(energy > 1e-12, energy, np.nan)
        ratio = ["without limit" if np.isnan(e) else text for e, text in zip(clear, each_decimals(1 / clear))]
        return [_times(energy, np.ones_like(energy), "any multiple of"), ratio]
    multiples = [f"{text}×" for text in each_decimals(energy)]
    return [each_decimals(own), multiples, _times(energy, own, "any multiple of")]


def _against(told: dict, rival: dict) -> list[list[str]]:
    """The rival's cosine and the gap to it, at every n."""
    gaps = told["curve"]["mean"] - rival["curve"]["mean"]
    texts = zip(rival["said"]["mean"], gaps.tolist(), each_decimals(gaps))
    return [[other, "equal" if abs(gap) < 0.005 else "+" * (gap > 0) + text] for other, gap, text in texts]


def _times(energy: np.ndarray, own: np.ndarray, without: str) -> list[str]:
    """Crosstalk in energies of what the reads hold of their own values; a text where they hold nothing."""
    held = np.where(own > 1e-6, own, np.nan)
    texts = zip(held.tolist(), each_decimals(energy / held**2, 1))
    return [f"{text}×" if own == own else without for own, text in texts]


def taken_apart(pair: int, told: dict) -> list:
    """What stands over the split of one read, a frame each: the numbers that go into the phrase, or a whole text."""
    rows = zip(told["at"].tolist(), each_decimals(told["own"]), _times(told["rest"], told["own"], "far above"))
    return [f"pair {pair} is not written after {n}" if n < pair else [str(n), *read] for n, *read in rows]


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

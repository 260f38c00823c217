"""The axes a finger moves along.  The browser owns the position; Python knows the stops and their words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from components.powers import raised
from components.says import counted_tokens
from compute.sweeps.feature_surface import LENGTHS
from compute.sweeps.recall_map import PAIRS

R40 = (1, 1.06, 1.12, 1.18, 1.25, 1.32, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.12, 2.24, 2.36, 2.5, 2.65, 2.8, 3,
       3.15, 3.35, 3.55, 3.75, 4, 4.25, 4.5, 4.75, 5, 5.3, 5.6, 6, 6.3, 6.7, 7.1, 7.5, 8, 8.5, 9, 9.5)  # fmt: skip
"""Preferred numbers of ISO 3, forty to the decade: even on a log axis and short to read."""


def tolerance(digits: float) -> str:
    """`10⁻¹⁰`, or `3·10⁻¹¹` half a decade below."""
    return ("" if digits == int(digits) else "3·") + f"10{raised(-math.ceil(digits))}"


@dataclass(frozen=True)
class Axis:
    """Stops of one reel axis, and how a position is said.

    round: which stops a finger means when it lets go close to them; the others are still there for the keyboard.
    nothing: what stands under the symbol in a formula at zero, where there is nothing yet to work out.
    """

    word: str
    label: str
    stops: tuple[float, ...]
    say: Callable[[float], str]
    log: bool = True
    round: Callable[[float], bool] = lambda stop: False
    nothing: str = "0"

    @property
    def rounds(self) -> list[int]:
        """Indices of the round stops, the first of equal ones."""
        return [i for i, stop in enumerate(self.stops) if self.round(stop) and stop not in self.stops[:i]]

    def number(self, index: int) -> str:
        """The number alone in what is said of a stop, as it stands under its symbol in a formula."""
        number = re.search(r"[\d.,]+", self.say(self.stops[index]))[0]
        return self.nothing if number == "0" else number

    def index(self, value: float) -> int:
        """The stop nearest to a value, on the axis' own scale."""
        stops = np.asarray(self.stops, dtype=float)
        scale = np.log if self.log else np.asarray
        return int(np.argmin(np.abs(scale(stops) - scale(float(value)))))


def _sharpness_stops() -> tuple[float, ...]:
    decades = [round(10.0**e * r, 3) for e in (-1, 0, 1) for r in R40]
    return tuple(c for c in decades if 0.25 <= c <= 16)


def is_power_of_two(stop: float) -> bool:
    return math.frexp(stop)[0] == 0.5


def _context_stops() -> tuple[int, ...]:
    """Quarter octaves, with powers of two exact, ended by ten million.

    Below 4 tokens neighbours round to the same number: they stay, so that a stop's place is its logarithm and
    the slider lies under the plot's axis.
    """
    return (*(round(2 ** (i / 4)) for i in range(93)), 10_000_000)


AXES: dict[str, Axis] = {
    axis.word: axis
    for axis in (
        Axis("c", "sharpness c", _sharpness_stops(), lambda c: f"c = {c:g}"),
        Axis("n", "pairs written n", tuple(range(257)), lambda n: f"n = {n}", log=False, nothing="none yet"),
        Axis("N", "queries and keys N", (16, 24, 32, 48, 64, 96, 128, 192, 256), lambda N: f"N = {N}"),
        Axis(
            "rtol",
            "tolerance of the rank",
            tuple(i / 2 for i in range(2, 27)),
            lambda x: f"σ > {tolerance(x)} σ₁",
            log=False,
        ),
        Axis("T", "context T", _context_stops(), lambda T: f"{T:,}", round=is_power_of_two),
        Axis("t", "token t", tuple(range(64)), lambda t: f"t = {t + 1}", log=False),
        Axis("r", "length ‖q+k‖", LENGTHS, lambda r: f"‖q+k‖ = {r:g}"),
        Axis(
            "tokens",
            "tokens so far",
            tuple(sorted({round(2 ** (i / 8)) for i in range(97)})),
            counted_tokens,
            round=is_power_of_two,
        ),
        Axis("pairs", "pairs n", PAIRS, lambda n: f"n = {n:,}"),
    )
}

"""What is counted: the bytes of the arithmetic, or the pages that an engine reserves.

Both answer the same questions, so bills, curves, crossings and what fits follow one switch.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .engine import Paging, Plan, as_served, paged_plan
from .options import ARITHMETIC, PREFIX, Options
from .rates import Rates, each, rates
from .shape import ModelShape

MOST = 1 << 60
"""Tokens beyond which no meeting is looked for."""


@dataclass(frozen=True)
class Paged:
    """Bytes of the pages of all sequences; the methods are those of `Rates`.

    A state's page holds its convolution window too, so conv_bytes is 0.  Layers that only fill up groups count with
    the kind of layer they fill up.
    """

    batch: int
    plan: Plan

    conv_bytes = 0

    @property
    def state_bytes(self) -> int:
        """Pages of states."""
        return self._bytes(1, [row for row in self.plan.rows if row.states])

    fixed_bytes = state_bytes

    @property
    def kv_bytes_per_token(self) -> int:
        """Growth of one sequence in the long run; it grows by whole pages."""
        return sum(held(row) * self.plan.page_bytes // row.block_tokens for row in self.plan.rows if grows(row))

    def kv_bytes(self, tokens):
        """Pages of caches that grow without limit."""
        rows = [row for row in self.plan.rows if grows(row)]
        return each(tokens, lambda T: self._bytes(T, rows))

    def window_bytes(self, tokens):
        """Pages of caches that stop at their window."""
        rows = [row for row in self.plan.rows if not row.states and not grows(row)]
        return each(tokens, lambda T: self._bytes(T, rows))

    def total_bytes(self, tokens):
        """All pages."""
        return each(tokens, lambda T: self._bytes(T, self.plan.rows))

    def _bytes(self, T: int, rows) -> int:
        return self.batch * self.plan.page_bytes * sum(held(row) * row.pages(T) for row in rows)


def held(row: Paging) -> int:
    """Layers that the engine has pages for: those of the model, and those that fill up groups."""
    return row.layers + row.spare


def grows(row: Paging) -> bool:
    """Whether a cache grows without limit."""
    return bool(row.block_tokens) and row.family.window is None


def sums(shape: ModelShape, options: Options) -> Rates | Paged:
    """What the options count.  ValueError beginning with `shape` where the engine does not serve the model."""
    return rates(shape, options) if options.engine == ARITHMETIC else Paged(options.batch, plan_of(shape, options))


def plan_of(shape: ModelShape, options: Options) -> Plan:
    """The engine's pages under the options."""
    return paged_plan(shape, as_served(options), states=2 if options.engine == PREFIX else 1)


def first(rising: Callable[[int], int], other: Callable[[int], int]) -> int | None:
    """Smallest T at which `rising` is at least `other`, both never falling; None if there is none.

    Below the least T at which rising reaches other(t) it stays under other(t), hence under other: the search may
    begin again there, and ends at the meeting or past all lengths.
    """
    T, steps = 0, 0
    while T < MOST and steps < 1_000:
        if rising(T) >= other(T):
            return T
        T, steps = _reached(rising, other(T), T), steps + 1
    return None


def _reached(rising: Callable[[int], int], level: int, low: int) -> int:
    """Smallest T above low at which rising reaches the level, or MOST."""
    step = 1
    while low + step < MOST and rising(low + step) < level:
        low, step = low + step, 2 * step
    high = min(low + step, MOST)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if rising(middle) >= level else (middle, high)
    return high

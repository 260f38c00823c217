"""Adding in few digits: where a running sum stops growing, and how short it falls.

NumPy has no bfloat16, so numbers are rounded to it here, to nearest with ties to even, the way hardware does.
What stalls is any sum whose next term is at most half the gap to the next number.
Source: IEEE 754-2019, Standard for Floating-Point Arithmetic, sections 3.4 and 4.3.
"""

from __future__ import annotations

import numpy as np

from compute.arrays import admit, of_kind
from compute.scalars import brief, one_of, real

DIGITS = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}
"""Significant binary digits of each format, the leading one included."""

SMALLEST = -125
"""Exponent, beside a fraction from 1/2 to 1, of the least number of float32 and of bfloat16 that has all its digits."""


def round_to(x: np.ndarray, dtype: str) -> np.ndarray:
    """x [*] rounded to the nearest number of the format, ties to even, in the narrowest NumPy type that holds it.

    x: a NumPy array or number; NaN and Inf stay.  dtype: a key of DIGITS; bfloat16 comes back as float32.
    ValueError, beginning with the argument's name, on another dtype, a torch tensor, or what holds no real numbers.
    """
    one_of("dtype", dtype, DIGITS)
    numbers = isinstance(x, (np.ndarray, np.generic, float, int)) and np.asarray(x).dtype.kind in "iuf"
    if not numbers or not np.size(x):
        raise ValueError(f"x must be a NumPy array of numbers, got {brief(x)}")
    with np.errstate(over="ignore"):
        if dtype != "bfloat16":
            return np.asarray(x).astype(dtype)
        x = np.asarray(x)
        if x.dtype == np.float32:
            return _cut(x)
        x = x.astype(np.float64)
        # Scaled so that one unit is the gap between neighbours (the same below SMALLEST), then rounded to whole.
        unit = np.maximum(np.frexp(x)[1], SMALLEST) - DIGITS[dtype]
        return np.ldexp(np.rint(np.ldexp(x, -unit)), unit).astype(np.float32)


def _cut(x: np.ndarray) -> np.ndarray:
    """float32 rounded to bfloat16, which has the same exponents: the sixteen bits that go are added to what stays as
    half a unit less one, and one more where that makes a tie even.  A NaN is left as it is, whatever its bits."""
    bits = np.atleast_1d(x).view(np.uint32)
    kept = (bits + np.uint32(0x7FFF) + (bits >> np.uint32(16) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), x, kept.view(np.float32).reshape(x.shape))


def running_sum(terms: np.ndarray, dtype: str) -> np.ndarray:
    """Sums of the first t terms along the first axis, rounded to the format after every addition.

    terms: [T, *], NumPy, rounded to the format first.  Out: [T, *], as `round_to` gives it.
    One Python step per term.  ValueError on an unknown dtype, NaN, Inf or an empty array.
    """
    one_of("dtype", dtype, DIGITS)
    (terms,) = admit(terms=of_kind("terms", terms, np.empty(0))).arrays
    terms = round_to(terms, dtype)
    sums, total = np.empty_like(terms), np.zeros_like(terms[0])
    with np.errstate(over="ignore"):
        if dtype == "bfloat16":
            return _add_up(terms, sums)
        for t, term in enumerate(terms):
            sums[t] = total = total + term
    return sums


def _add_up(terms: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Running sums of bfloat16 numbers in float32.  Where sums only rise, many terms are added at once for as long as
    no sum leaves its binade."""
    terms, out = terms.reshape(len(terms), -1), sums.reshape(len(sums), -1)
    before, t, ahead = np.zeros_like(out[0]), 0, 1
    alone = 1 if terms.min() >= 0 else len(terms)
    while t < len(terms):
        before = _add_one_by_one(before, terms[t : t + alone], out[t : t + alone])
        t += alone
        if t < len(terms):
            stayed = _add_in_binade(before, terms[t : t + ahead], out[t : t + ahead])
            alone = 1 if stayed >= FEW else min(2 * alone, MANY)
            ahead = min(2 * ahead, MANY) if stayed == ahead else max(stayed, FEW)
            t, before = t + stayed, out[t + stayed - 1]
    return sums


FEW, MANY = 8, 256
"""Terms worth adding at once, and most of them: those behind the end of a binade are added in vain."""


def _add_one_by_one(before: np.ndarray, terms: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Each sum rounded in place: half of the sixteen bits that go is added, and one more where that makes a tie even.

    Two such numbers are added in float32 and rounded once more: harmless, since 24 >= 2 * 8 + 2 digits.
    """
    odd = np.empty(out.shape[1], np.uint32)
    sixteen, one, half, kept = (np.array(n, np.uint32) for n in (16, 1, 0x7FFF, 0xFFFF0000))
    for term, row, bits in zip(terms, out, out.view(np.uint32)):
        np.add(before, term, row)
        np.right_shift(bits, sixteen, odd)
        np.bitwise_and(odd, one, odd)
        np.add(odd, half, odd)
        np.add(bits, odd, bits)
        np.bitwise_and(bits, kept, bits)
        before = row
    return before


def _add_in_binade(before: np.ndarray, terms: np.ndarray, out: np.ndarray) -> int:
    """How many of the terms [n, d] >= 0 can be added to numbers [d] >= 0 until one of these leaves its binade.

    The sums, each rounded, stand in as many rows of out.

    Beside a number whose neighbours in float32 are as far off as theirs in bfloat16, float32 rounds as bfloat16 does.
    """
    exponent = np.where(before == 0, SMALLEST, np.maximum(np.frexp(before)[1], SMALLEST))
    beside = np.ldexp(np.float32(0.5), exponent + DIGITS["float32"] - DIGITS["bfloat16"])
    if not np.isfinite(beside).all():
        return 0
    rows = np.add.accumulate(np.concatenate([(before + beside)[None], terms]), axis=0)
    np.subtract(rows[1:], beside, out)
    left = (out.view(np.uint32) ^ before.view(np.uint32) >= np.uint32(1 << 23)).any(axis=1)  # the exponents differ
    return int(np.argmax(left)) if left.any() else len(terms)


def stalls_at(step: float, dtype: str) -> float:
    """The sum at which adding `step` > 0 again and again changes nothing any more.

    The smallest power of two whose gap to the next number is at least two steps, the step itself rounded to the
    format.  The sum arrives there exactly: just below, the gap is half as wide, so each step moves it by one gap.
    inf where the format overflows first.  ValueError naming dtype, or step where it is no number or rounds to 0 or inf.
    """
    digits = DIGITS[one_of("dtype", dtype, DIGITS)]
    rounded = float(round_to(np.float64(real("step", step)), dtype))
    if not (0 < rounded < np.inf):
        raise ValueError(f"step must be positive and finite in {dtype}, got {step}")
    fraction, exponent = np.frexp(rounded)
    # step = fraction 2^exponent, fraction in [1/2, 1); a number 2^e has the gap 2^(e + 1 - digits).
    return float(round_to(np.ldexp(1.0, exponent + digits - (1 if fraction == 0.5 else 0)), dtype))

"""What theory says a memory reads back, beside which the measured curves are drawn.

All laws take the mean squared cosine between two keys, `overlap` (1/d for random keys; `compute.keys`
declares it for each kind, `crosstalk_energy(K) / (n − 1)` measures it for any others), and hold for additive
memories with or without a fixed decay; `told_apart` takes random keys by their width, and no decay.  None is known for
a correcting rule: draw no law there.
n and age may be numbers or NumPy arrays; results are float64.  ValueError, beginning with the argument's name, on
what is no number, NaN, n below 1, an overlap or energy below 0, an alpha or age outside its range.
Source: the second moment of uniform unit vectors; Schlag, Irie, Schmidhuber 2021, arXiv:2102.11174.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from math import inf, lgamma

import numpy as np

from compute.scalars import Numbers, real, reals, whole, wholes


def energy(n: Numbers, overlap: float, *, alpha: float = 1.0, age: Numbers | None = None) -> np.ndarray:
    """Expected crosstalk energy over ‖v‖² after n writes: (n − 1)·overlap without decay.

    With decay a pair of age a (0 is the newest) is disturbed by what is left of the n − 1 others,
    (Σ_{i<n} α²ⁱ − α²ᵃ)·overlap; age None is the mean over all stored pairs.
    """
    n, overlap, alpha = reals("n", n, 1), real("overlap", overlap, 0), real("alpha", alpha, 0, 1)
    left = n if alpha == 1 else (1 - alpha ** (2 * n)) / (1 - alpha**2)
    return overlap * (left * (n - 1) / n if age is None else left - signal(alpha, age) ** 2)


def steady_energy(overlap: float, alpha: float) -> float:
    """The newest pair's crosstalk energy when a decaying memory has run for long: α²/(1 − α²)·overlap."""
    overlap, alpha = real("overlap", overlap, 0), real("alpha", alpha, 0, 1)
    return inf if alpha == 1 else overlap * alpha**2 / (1 - alpha**2)


def signal(alpha: float, age: Numbers) -> np.ndarray:
    """What is left of a value written `age` writes ago, αᵃ."""
    return np.power(np.float64(real("alpha", alpha, 0, 1)), reals("age", age, 0))


def cosine(energy: Numbers, d_v: int | None = None, *, signal: Numbers = 1.0) -> np.ndarray:
    """Expected cosine between a read and its value: ρ = 1/√(1 + energy/signal²) when values are wide.

    energy: at least 0, inf for a pair that is lost.  signal: what is left of the value; at 0 nothing is read.

    With d_v given, the exact mean for Gaussian values of that width,
    ρ·(2/d_v)·(Γ((d_v+1)/2)/Γ(d_v/2))²·₂F₁(½, ½; d_v/2 + 1; ρ²), smaller because a narrow read is also
    off in length.  Raises ValueError for a positive energy below 1e-5 together with d_v: its series is too long.
    """
    energy = reals("energy", energy, 0, infinite=True)
    d_v = None if d_v is None else whole("d_v", d_v, 1)
    strength = np.square(reals("signal", signal))
    with np.errstate(divide="ignore", invalid="ignore"):
        noise = np.where(strength > 0, np.divide(energy, strength), np.inf)
    rho = 1 / np.sqrt(1 + noise)
    if d_v is None:
        return rho
    present = noise > 1e-12  # less is rounding
    if np.any(present & (noise < 1e-5)):
        raise ValueError("energy must be 0 or at least 1e-5 of the signal for the exact law")
    shrink = 2 / d_v * np.exp(2 * (lgamma((d_v + 1) / 2) - lgamma(d_v / 2)))
    exact = np.ones_like(rho)
    mixed = present & np.isfinite(noise)
    exact[mixed] = rho[mixed] * shrink * _hyp2f1_half(d_v / 2 + 1, rho[mixed] ** 2)
    exact[np.isinf(noise)] = 0.0
    return exact


def mean_cosine(n: Numbers, overlap: float, *, alpha: float = 1.0, d_v: int | None = None) -> np.ndarray:
    """Expected cosine averaged over all n stored pairs; with decay the old ones are lost in the crosstalk.

    d_v: the exact mean for values of that width, as in `cosine`.  With decay n is one whole number or a row of them.
    """
    if real("alpha", alpha, 0, 1) == 1:
        return cosine(energy(n, overlap), d_v)
    counts = np.asarray(wholes("n", np.atleast_1d(n), 1))
    which, age = np.nonzero(np.arange(np.max(counts)) < counts[:, None])
    noise = energy(counts[which], overlap, alpha=alpha, age=age)
    means = np.bincount(which, cosine(noise, d_v, signal=signal(alpha, age))) / counts
    return means.reshape(np.shape(n))


def best_energy(n: Numbers, d: int) -> np.ndarray:
    """Mean squared miss over ‖v‖² of the best d-row memory for n generic pairs: 0 up to n = d, then 1 − d/n.

    Its cosine is √(1 − energy) for wide values.  No way of writing does better, whatever φ made the d rows.
    """
    return np.maximum(0.0, 1 - whole("d", d, 1) / reals("n", n, 1))


def told_apart(n: Numbers, d: int, d_v: int) -> np.ndarray:
    """Expected share of n pairs that a plain additive memory tells apart: each read's largest inner product with a
    stored value is that with its own.  Keys of width d and values of width d_v are random unit vectors.

    A read is v_j + Σ c_i v_i, c_i the cosine of two keys.  Another pair m does not win where R·u + (1 − ρ)·c_m < o: o
    and R are the read's part along v_j and its length, without the share of m; u is the cosine between it and v_m, and
    ρ that between v_m and v_j.  u and c_m are taken as the coordinates of random unit vectors that they are.  Put in is
    that the other pairs' crosstalk is Gaussian and of its mean energy, that ρ = u·o/R, and that the n − 1 others do not
    know of one another: against draws that is off by up to 0.012 for d_v of 64 and more, 0.03 for 32, 0.09 for 8.
    ValueError naming n, d or d_v (no whole number of at least 2).
    """
    n, d, d_v = reals("n", n, 1), whole("d", d, 2), whole("d_v", d_v, 2)
    return np.array([_told_apart(float(one), d, d_v) for one in n.flat]).reshape(n.shape)


@lru_cache(maxsize=1024)
def _told_apart(n: float, d: int, d_v: int) -> float:
    """Of one memory.  A sweep's picture and the sentence over it ask for the same hundred, as every visitor does."""
    noise = float(energy(max(1.0, n - 1), 1 / d))  # of all but the pair itself and the one it is told from
    normals, weights, at, share = _nodes()
    own = 1 + np.sqrt(noise / d_v) * normals[:, None]
    length = np.sqrt(own**2 + noise * (d_v - 1) / d_v)
    angles = _within(d_v) * at
    u, share = np.sin(angles), share * np.cos(angles) ** (d_v - 2)
    least = (own - length * u) / (1 - u * own / length)
    one = _coordinate_below(least, d) @ (share / np.sum(share))
    return min(1.0, float(weights @ one ** (n - 1)))


@cache
def _nodes() -> tuple[np.ndarray, ...]:
    """Where means over a Gaussian and over an interval are taken, and with which weights."""
    normals, weights = np.polynomial.hermite_e.hermegauss(24)
    return normals, weights / np.sum(weights), *np.polynomial.legendre.leggauss(120)


def _within(d: int) -> float:
    """The angle to the equator that a random unit vector in d dimensions stays within, but for one in 10²⁰ draws."""
    return min(np.pi / 2, 10 / np.sqrt(d))


def _coordinate_below(t: np.ndarray, d: int) -> np.ndarray:
    """Share of random unit vectors in d dimensions whose first coordinate is below t."""
    return np.interp(np.arcsin(np.clip(t, -1, 1)), *_below(d))


@lru_cache(maxsize=64)
def _below(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles to the equator, and the share of random unit vectors in d dimensions below each."""
    angles = np.linspace(-_within(d), _within(d), 2001)
    density = np.cos(angles) ** (d - 2)
    below = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    return angles, below / below[-1]


@dataclass(frozen=True)
class Load:
    """How full a memory is: one random pair per token in a state of `width` rows, nothing ever erased."""

    tokens: int
    width: int

    def __post_init__(self) -> None:
        for name in ("tokens", "width"):
            object.__setattr__(self, name, whole(name, getattr(self, name), 1))

    @property
    def tokens_per_row(self) -> float:
        """Pairs per row of the state."""
        return self.tokens / self.width

    @property
    def cosine(self) -> float:
        """What a plain additive memory so loaded would read at; rules that forget exist because of this."""
        return float(cosine(energy(self.tokens, 1 / self.width)))


def _hyp2f1_half(c: float, z: np.ndarray) -> np.ndarray:
    """₂F₁(½, ½; c; z) for z in (0, 1) by its power series, to about 1e-14."""
    terms = np.ceil(np.log(1e-17 * (1 - z)) / np.log(z))
    k = np.arange(np.max(terms, initial=1))
    coefficients = np.cumprod(np.append(1.0, (k + 0.5) ** 2 / ((c + k) * (k + 1))))
    # For wide values the coefficients alone end the series, long before the powers of z do.
    ends = np.flatnonzero(coefficients[1:] * (k + 1) < 1e-18)
    terms = np.minimum(terms, ends[0] if len(ends) else np.inf)
    total = np.zeros_like(z)
    short = terms <= 256
    for coefficient in coefficients[int(np.max(terms[short], initial=0)) :: -1]:
        total[short] = total[short] * z[short] + coefficient
    # Only a few points lie so near 1 that they need more, up to millions of terms each.
    for i in np.flatnonzero(~short):
        m = int(terms[i])
        total[i] = coefficients[:m] @ z[i] ** k[:m]
    return total

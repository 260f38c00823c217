"""Maps made of products of entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from compute.arrays import Array, admit, leave, namespace
from compute.families import knob
from compute.feature_maps.base import FeatureMap, products
from compute.scalars import whole


@dataclass(frozen=True)
class Taylor(FeatureMap):
    """The exponential's series cut after the square, exactly: the kernel is 1 + s + s²/2 ≥ ½ for s = q·k.

    Width 1 + d_k + d_k², or 1 + d_k + d_k(d_k+1)/2 with equal products merged (`symmetric`); same kernel either way.
    Price: not monotone below s = −1, and weight ratios grow only like s².  Features are signed, the kernel is not.
    """

    symmetric: bool = knob(False, doc="merge equal products xᵢxⱼ = xⱼxᵢ")

    word = "taylor"
    label = "Taylor"
    positivity = "kernel"
    approximates = "to second order"
    of_score = True
    latex = r"\phi(x) = \left(1,\, x,\, \frac{1}{\sqrt{2}} \operatorname{vec}(x x^\top)\right)"
    kernel_latex = r"1 + s + \frac{s^2}{2}, \quad s = q^\top k"
    used_by = "Based, at width 16"
    source = "Arora et al. 2024, arXiv:2402.18668"

    @property
    def width_latex(self) -> str:
        return r"1 + d_k + \frac{d_k (d_k + 1)}{2}" if self.symmetric else "1 + d_k + d_k^2"

    def d_phi(self, d_k: int) -> int:
        d_k = whole("d_k", d_k, 1)
        return self.rank_bound(d_k) if self.symmetric else 1 + d_k + d_k * d_k

    def rank_bound(self, d_k: int) -> int:
        d_k = whole("d_k", d_k, 1)
        return 1 + d_k + d_k * (d_k + 1) // 2

    def merged(self) -> Taylor:
        return Taylor(symmetric=True)

    def features(self, x: Array) -> Array:
        xp = namespace(x)
        if self.symmetric:
            mixed = [x[..., i : i + 1] * x[..., i + 1 :] for i in range(x.shape[-1] - 1)]
            square = [x * x / 2**0.5, *mixed]
        else:
            square = [xp.reshape(x[..., :, None] * x[..., None, :], (*x.shape[:-1], -1)) / 2**0.5]
        return xp.concat([xp.ones_like(x[..., :1]), x, *square], axis=-1)

    def kernel_from(self, Q: Array) -> Callable[[Array], Array]:
        return lambda K: ((products(Q, K) + 1) ** 2 + 1) / 2

    def limit_rows(self, Q: Array, K: Array) -> Array:
        xp = namespace(Q)
        square = products(Q, K) ** 2
        no_score = xp.max(square, axis=-1, keepdims=True) == 0
        return xp.where(no_score, xp.ones_like(square), square)


def taylor_features(X: Array) -> Array:
    """(1, x, vec(xxᵀ)/√2) for every row, vec in row-major order: [*, d] → [*, 1 + d + d²].  ValueError naming X."""
    x = admit(X=X)
    return leave(x, Taylor().features(x.arrays[0]))


@dataclass(frozen=True)
class Dpfp(FeatureMap):
    """Deterministic parameter-free projection: products of the positive parts of ±x with their own shifts.

    Width 2νd_k.  Sparse: for vectors without a preferred sign three features in four are zero.
    Price: two vectors may share no feature (0/0), and shifts from d_k on bring no new product.
    """

    nu: int = knob(3, 1, 4095, "number of shifts", offered=(1, 31))

    word = "dpfp"
    label = "DPFP"
    positivity = "nonnegative"
    homogeneity = 2
    latex = r"\phi(x)_{j,i} = r_i\, r_{i-j},\quad r = \max\left((x, -x), 0\right),\quad j = 1 \dots \nu"
    width_latex = r"2 \nu d_k"
    used_by = "Fast Weight Programmers"
    source = "Schlag, Irie, Schmidhuber 2021, arXiv:2102.11174"

    def d_phi(self, d_k: int) -> int:
        d_k = whole("d_k", d_k, 1)
        whole("nu", self.nu, 1, 2 * d_k - 1)
        return 2 * self.nu * d_k

    def rank_bound(self, d_k: int) -> int:
        """A shift by d_k multiplies rᵢ with its own mirror, which is 0, and longer ones repeat shorter ones."""
        self.d_phi(d_k)
        return 2 * d_k * min(self.nu, d_k - 1)

    def features(self, x: Array) -> Array:
        xp = namespace(x)
        r = xp.clip(xp.concat([x, -x], axis=-1), min=0)
        width, twice = r.shape[-1], xp.concat([r, r], axis=-1)  # whose pieces are r shifted, with nothing copied
        return xp.concat([r * twice[..., width - j : 2 * width - j] for j in range(1, self.nu + 1)], axis=-1)

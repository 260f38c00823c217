"""One pair's read taken apart, after one number of writes or after all, and how often a read names the right value.

K `[*lead, N, d]` and V `[*lead, N, d_v]` come as they are; alpha and beta are a number, `[N]` or `[*lead, N]`, one per
write.  Reads are linear in the values, so a memory of names (rows of the identity) holds every weight.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from array_api_compat import device

from compute.arrays import Array, admit, leave, namespace
from compute.filling import BLOCK, blocks, enter, names_of, states
from compute.memory import squares_of
from compute.running_reads import named
from compute.scalars import whole
from compute.write_rules import WriteRule, recall


@dataclass(frozen=True)
class SplitRead:
    """One read taken apart: the read is Σₛ weightₛ·vₛ.

    weights `[*lead, n]`: the coefficient of each value.  parts `[*lead, n, d_v]`: weightₛ·vₛ.
    along `[*lead, n]`: how far each part reaches along vⱼ, in lengths of vⱼ; the sum is 1 for a perfect read.
    """

    j: int
    weights: Array
    parts: Array
    along: Array

    @property
    def signal(self) -> Array:
        """The own share of the pair that was asked for, `[*lead, d_v]`."""
        return self.parts[..., self.j, :]

    @property
    def crosstalk(self) -> Array:
        """Everything else, `[*lead, d_v]`."""
        xp = namespace(self.parts)
        return xp.sum(self.parts[..., : self.j, :], axis=-2) + xp.sum(self.parts[..., self.j + 1 :, :], axis=-2)

    @property
    def read(self) -> Array:
        """What comes back, `[*lead, d_v]`."""
        return self.signal + self.crosstalk


def split_read(
    K: Array, V: Array, rule: WriteRule | str, n: int, j: int, *, alpha: Any = 1.0, beta: Any = 1.0
) -> SplitRead:
    """The read of pair j (from 0, below n) after n writes, as every stored value's share in it.

    K `[*lead, N, d]`, V `[*lead, N, d_v]`; alpha, beta: one per write, as in `compute.crosstalk`.
    ValueError naming K, V (a value of length zero asked for), rule, n, j, alpha or beta.
    """
    admitted, rule, alpha, beta = enter(K, V, rule, alpha, beta)
    xp, (K, V) = admitted.xp, admitted.arrays
    n = whole("n", n, 1, K.shape[-2])
    j = whole("j", j, 0, n - 1)
    K, V = K[..., :n, :], V[..., :n, :]
    memory = states(K, names_of(K), rule, [n], alpha=alpha[..., :n], beta=beta[..., :n])[..., 0, :, :]
    weights = recall(memory, K[..., j, :])
    parts = weights[..., None] * V
    value = V[..., j : j + 1, :]
    along = xp.sum(parts * value, axis=-1) / squares_of(xp, value)
    return SplitRead(j, *(leave(admitted, x) for x in (weights, parts, along)))


def read_weights(
    K: Array, rule: WriteRule | str, j: int, *, alpha: Any = 1.0, beta: Any = 1.0, block: int = BLOCK
) -> Array:
    """The coefficient of every value in the read of pair j (from 0) after every write, `[*lead, N, N]`.

    K `[*lead, N, d]` as they come.  Row n − 1 is after n writes, column s the weight of vₛ in Sᵀkⱼ, 0 where s is not
    written yet; a row is also what the memory says under kⱼ before pair j itself is written.
    ValueError naming K, rule, j, alpha, beta or block.
    """
    given = admit(ndim=2, K=K)
    (K,) = given.arrays
    N = K.shape[-2]
    j = whole("j", j, 0, N - 1)
    admitted, rule, alpha, beta = enter(K, names_of(K), rule, alpha, beta)
    xp, (K, names) = admitted.xp, admitted.arrays
    match = (K @ K[..., j, :, None])[..., 0]
    told, unit, names = 0 * names + 0 * match[..., None], 0 * match + 1, K.mT[..., :0]
    weights = match[..., :0]  # of the pairs before the block
    for part in blocks(xp, K, K[..., :1], rule, alpha, beta, block):  # only for what lies between its pairs
        a, b = part.start, part.stop
        met, rows = match[..., None, a:b], told[..., a:b, :]
        if rule.corrects:
            U, names = named(xp, K[..., a:b, :], names, part, unit[..., a:b])
            rows[..., :b] = (part.decay * met) @ U
            rows[..., :a] += part.kept[..., None] * weights[..., None, :]
        else:
            rows[..., :a] = part.kept[..., None] * weights[..., None, :]
            rows[..., a:b] = part.decay * met
        weights = rows[..., -1, :b]
    return leave(given, told)


def named_right(S: Array, K: Array, V: Array) -> Array:
    """Share of the keys K `[*lead, m, d]` whose read of S `[*lead, d, d_v]` lies nearest to their own value among
    V `[*lead, n, d_v]`, whose last m rows are those keys' values.  Out: `[*lead]`.  ValueError naming S, K (more keys
    than V has values) or V."""
    admitted = admit(ndim=2, S=S, K=K, V=V)
    xp, (S, K, V) = admitted.xp, admitted.arrays
    m, n = K.shape[-2], V.shape[-2]
    for name, a, axis, width in (("K", K, -2, K.shape[-1]), ("V", V, -1, V.shape[-1])):
        if a.shape[:-2] != S.shape[:-2] or width != S.shape[axis]:
            raise ValueError(f"{name} must fit S {tuple(S.shape)}, its lead axes and width, got {tuple(a.shape)}")
    if m > n:
        raise ValueError(f"K must not hold more keys than V has values, got {m} for {n}")
    away = (-2 * (K @ S)) @ V.mT
    away += xp.sum(V * V, axis=-1)[..., None, :]
    found = xp.argmin(away, axis=-1) == xp.arange(n - m, n, device=device(V))
    return leave(admitted, xp.mean(xp.astype(found, V.dtype), axis=-1))

"""One pair's read over the whole filling, taken apart, and how often a read still names the right value.

Both are what `compute.crosstalk.split_read` and a search by hand say, for many numbers of writes at once.
"""

from __future__ import annotations

from typing import Any

from array_api_compat import device

from compute.arrays import Array, admit, leave, whole
from compute.crosstalk import names_of
from compute.filling import BLOCK, blocks, enter
from compute.write_rules import WriteRule


def read_weights(
    K: Array, rule: WriteRule | str, j: int, *, alpha: Any = 1.0, beta: Any = 1.0, block: int = BLOCK
) -> Array:
    """The coefficient of every value in the read of pair j (from 0) after every write, `[*lead, N, N]`.

    K `[*lead, N, d]` as they come.  Row n − 1 is after n writes, column s the weight of vₛ in Sᵀkⱼ, 0 where s is not
    written yet; a row is also what the memory says under kⱼ before pair j itself is written.  Source:
    reads are linear in the values, so a memory of names holds every weight.  ValueError naming K, j, alpha or beta.
    """
    (K,) = admit(ndim=2, K=K).arrays
    N = K.shape[-2]
    j = whole("j", j, 0, N - 1)
    names = names_of(K)
    admitted, rule, alpha, beta = enter(K, names, rule, alpha, beta)
    xp, (K, names) = admitted.xp, admitted.arrays
    asked, rows = K[..., j : j + 1, :], []
    for part in blocks(xp, K, names, rule, alpha, beta, block):
        match = (asked @ K[..., part.start : part.stop, :].mT)[..., 0, :, None]
        rows.append(part.kept[..., None] * (asked @ part.S) + part.decay @ (match * part.U))
    return leave(admitted, xp.concat(rows, axis=-2))


def named_right(S: Array, K: Array, V: Array) -> Array:
    """Share of the keys K `[*lead, m, d]` whose read of S `[*lead, d, d_v]` lies nearest to their own value among
    V `[*lead, n, d_v]`, whose last m rows are those keys' values.  ValueError naming K if there are more keys."""
    admitted = admit(ndim=2, S=S, K=K, V=V)
    xp, (S, K, V) = admitted.xp, admitted.arrays
    m, n = K.shape[-2], V.shape[-2]
    if m > n:
        raise ValueError(f"K must not hold more keys than V has values, got {m} for {n}")
    away = xp.sum(V * V, axis=-1)[..., None, :] - 2 * (K @ S) @ V.mT
    found = xp.argmin(away, axis=-1) == xp.arange(n - m, n, device=device(V))
    return xp.mean(xp.astype(found, V.dtype), axis=-1)

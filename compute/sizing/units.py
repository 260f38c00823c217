"""Bytes for people, and two closed forms of the lessons, in exact ints.

bytes_per: bytes of one number.  ValueError, beginning with the argument's name, on no whole number or one too small.
"""

from __future__ import annotations

from functools import lru_cache

from compute.scalars import whole

UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
"""Binary prefixes: 1 GiB = 2^30 bytes."""


def human_bytes(n: int, digits: int = 4) -> str:
    """An exact byte count in the largest fitting binary unit, to `digits` significant digits: "40 GiB", "3.75 MiB".

    Half a digit goes to the even one; no float is involved.  ValueError naming n or digits.
    """
    try:
        return _human(n, digits)
    except TypeError:  # what cannot be hashed is no number, and is refused without the cache
        return _human.__wrapped__(n, digits)


@lru_cache(maxsize=8192, typed=True)
def _human(n: int, digits: int) -> str:
    n, digits = whole("n", n, None), whole("digits", digits, 1)
    if n < 0:
        return f"-{_human(-n, digits)}"
    if n < 1024:
        return f"{n} B"
    power = min((n.bit_length() - 1) // 10, len(UNITS) - 1)
    full, places, scaled = _rounded(n, power, digits)
    if full >= 1024 and power < len(UNITS) - 1:
        power += 1
        full, places, scaled = _rounded(n, power, digits)
    decimals = f"{scaled % 10**places:0{places}d}".rstrip("0") if places else ""
    return f"{full:,}{'.' if decimals else ''}{decimals} {UNITS[power]}"


def _rounded(n: int, power: int, digits: int) -> tuple[int, int, int]:
    """Whole part, decimal places, and the value in units of the last place."""
    unit = 1 << (10 * power)
    places = max(0, digits - len(str(max(n // unit, 1))))
    scaled, rest = divmod(n * 10**places, unit)
    scaled += 2 * rest > unit or (2 * rest == unit and scaled % 2)
    return scaled // 10**places, places, scaled


def taylor_state_bytes(d_head: int, d_v: int, n_heads: int, bytes_per: int = 4) -> int:
    """Bytes of one layer's decode state under second-order Taylor features: S and z of each of n_heads heads.

    d_phi = 1 + d_head + d_head^2 (arXiv:2402.18668); S holds d_phi × d_v numbers, z holds d_phi.
    """
    d, d_v, heads, size = (
        whole(name, value, 1)
        for name, value in (("d_head", d_head), ("d_v", d_v), ("n_heads", n_heads), ("bytes_per", bytes_per))
    )
    d_phi = 1 + d + d * d
    return heads * (d_phi * d_v + d_phi) * size


def kv_cache_tokens(state_bytes: int, n_kv: int, d_k: int, bytes_per: int = 2) -> int:
    """Smallest number of tokens at which one layer's KV cache takes at least state_bytes.

    The cache holds 2 · n_kv · d_k numbers a token.
    """
    state = whole("state_bytes", state_bytes, 0)
    heads, d, size = (whole(name, value, 1) for name, value in (("n_kv", n_kv), ("d_k", d_k), ("bytes_per", bytes_per)))
    return -(-state // (2 * heads * d * size))

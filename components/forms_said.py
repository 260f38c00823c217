"""Two modes, the words: headlines, sentences and the numbers that stand in the figures, one a token."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from components.forms_run import EPS, LONG, Run, long_sums
from components.formula import mathml
from components.says import decimals, percent
from compute.attention import causal_linear_attention_recurrent, softmax_attention
from compute.cost import attention_flops, state_numbers
from compute.cost_tables import modes
from compute.examples import exact as in_fractions
from compute.examples import exact_kernel, exact_steps
from compute.pitfalls import PITFALLS, Steps, writes
from compute.rounding import stalls_at

SMALL = 99
"""Largest denominator that is said as a fraction."""

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
CELLS = 21
"""Numbers in the picture of the recurrence: φ(k), v, write, φ(q), S, z, num, o, den of a 2 × 2 example."""

START = ("One token is read", "Two tokens are read", "All three tokens are read")


def sci(x: float) -> str:
    """`4.4·10⁻¹⁶`; plain from 0.01 to 9,999, and `0` only for nothing at all."""
    if np.isnan(x):
        return "undefined"
    if x == 0:
        return "0"
    if 0.01 <= abs(x) < 9999.5:
        return decimals(x)
    digits, _, power = f"{x:.1e}".partition("e")
    return f"{digits}·10{str(int(power)).translate(SUPERSCRIPTS)}".replace("-", "−")


def brief(x: float) -> str:
    """Two places below a hundred, one from there on."""
    return decimals(x, 2 if abs(x) < 100 else 1)


def boxed(x: float) -> str:
    """As brief as a box of the picture is wide: of a tiny number its power of ten."""
    if x != x or x == 0 or abs(x) >= 1e-3:
        return brief(x)
    power = str(int(np.floor(np.log10(abs(x)) + 0.5)))
    return f"{'−' * bool(x < 0)}≈10{power.translate(SUPERSCRIPTS)}"


def fraction(x: Fraction | float) -> str:
    """`5/9`; a decimal where the denominator is no longer one to be read, `0/0` where there is none."""
    if x != x:
        return "0/0"
    exact = Fraction(x)
    return str(exact).replace("-", "−") if exact.denominator <= SMALL else f"{float(x):.7f}"


def vector(row: np.ndarray) -> str:
    return "0/0" if any(x != x for x in row) else f"({', '.join(fraction(x) for x in row)})"


def o(t: int) -> str:
    """`o₃`, of the token with index 2."""
    return "o" + str(t + 1).translate(SUBSCRIPTS)


def so_far(gaps: np.ndarray) -> np.ndarray:
    """Largest defined difference of all tokens up to each."""
    return np.maximum.accumulate(np.nan_to_num(gaps))


def numbers(told: Run, exact: Steps | None) -> list[list[str]]:
    """Texts of the cells of the picture: all of a hand example, of a large one only the denominator."""
    if exact is None:
        den = [""] * told.T if told.steps is None else [boxed(x) for x in told.steps.den]
        return [[*[""] * (CELLS - 1), text] for text in den]
    phi_q, phi_k, V = (in_fractions(x) for x in (*told.features, told.V))
    written, said = writes(phi_k, V), []
    S, z = told.form.read(exact.S, exact.z)
    for t in range(told.T):
        parts = (
            phi_k[t],
            V[t],
            written[t].flat,
            phi_q[t],
            S[t].flat,
            z[t],
            exact.num[t],
            exact.O[t],
            [exact.den[t]],
        )
        said.append([fraction(x) for part in parts for x in part])
    return said


def headlines(told: Run, exact: Steps | None) -> list[str]:
    if exact is not None:
        return [_hand_headline(told, exact, t) for t in range(told.T)]
    T, label, gap = told.T, PITFALLS[told.pitfall].label, so_far(told.gaps["recurrent"])
    if told.member is None:
        return [f"Softmax has only the masked matrix: no state of fixed width gives {o(t)}." for t in range(T)]
    if told.pitfall == "none":
        both = [sci(x) for x in np.maximum(gap, so_far(told.gaps["chunkwise"]))]
        said = [f"After {t + 1} of {T} tokens the three forms are at most {both[t]} apart." for t in range(T - 1)]
        chunks = f"in chunks of {told.chunk}" if told.chunk < T else "in one chunk"
        return [*said, f"All {T} tokens {chunks}: three forms, one function, at most {both[-1]} apart."]
    if told.steps is None:
        d_phi, d_v = told.features[1].shape[1], told.V.shape[1]
        return [f"Transposed S: {d_phi:,} features do not fit {d_v} values, and nothing can be read."] * T
    label = label[0].upper() + label[1:] if told.pitfall not in ("bf16", "eps_inside") else label
    return [
        f"{label}: the recurrent output is off by up to {sci(gap[t])} after {t + 1} of {T} tokens." for t in range(T)
    ]


def _hand_headline(told: Run, exact: Steps, t: int) -> str:
    own, right, label = vector(exact.O[t]), vector(exact_steps().O[t]), PITFALLS[told.pitfall].label
    if told.pitfall == "none":
        return f"{START[t]}: every form gives {o(t)} = {own}{', the only value' if t == 0 else ''}."
    if own == right:
        return f"{START[t]}: {label}, and {o(t)} = {own} is right all the same."
    return f"{START[t]}: {label} gives {o(t)} = {own} instead of {right}."


def sentences(told: Run, exact: Steps | None) -> list[str]:
    if exact is not None:
        return [_hand_sentence(told, exact, t) for t in range(told.T)]
    if told.member is None:
        kept = "exp(q·k/√d_k) of every key so far, all of them kept."
        return [f"Row {t + 1} sums to {brief(told.row_sums[t])}: {kept}" for t in range(told.T)]
    return [" ".join(_random_sentence(told, t)) for t in range(told.T)]


def _random_sentence(told: Run, t: int) -> list[str]:
    sums, right = told.row_sums[: t + 1], told.pitfall == "none"
    nearest = sums[np.argmin(np.abs(sums))]
    said = [f"Row {t + 1} sums to {brief(sums[t])}{', which is z·φ(q)' if right else ''}."]
    if told.pitfall == "read_first":
        said.insert(0, "At token 1 an ε of 10⁻⁶ hides 0/0 behind an output of 0.")
    elif told.pitfall == "bf16":
        one, hundredth, single = (stalls_at(*step) for step in ((1, "bfloat16"), (0.01, "bfloat16"), (1, "float32")))
        said.append(f"Adding 1 stalls at {one:.0f}, adding 0.01 at {hundredth:.0f}; float32 counts to {single:,.0f}.")
    elif nearest == 0:
        said.append("A row so far sums to 0: only ε in the denominator gives it an output, 0.")
    elif right and told.member.positivity == "no":
        said.append(f"Nearest to zero so far: {decimals(nearest)}, where rounding grows.")
    if right:
        kept = state_numbers(told.features[1].shape[1], told.V.shape[1])
        handed = sum(start <= t for start, _ in told.chunks[1:])
        said.append(f"{kept:,} numbers handed on {handed}× so far.")
    return said


def _hand_sentence(told: Run, exact: Steps, t: int) -> str:
    kernel = exact_kernel()[t, : t + 1]
    text = f"Row {t + 1} of the matrix, {vector(kernel)}, sums to {fraction(kernel.sum())}"
    if told.pitfall == "transposed":
        unseen = "; S is symmetric here, so nothing shows either" if (exact.S[t] == exact.S[t].T).all() else ""
        return f"{text}. d_φ = d_v = 2, so nothing complains{unseen}."
    if told.pitfall == "bf16":
        return f"{text}. Small whole numbers are exact in bfloat16: three tokens are too few to see it."
    if told.pitfall != "none":
        return f"{text}."
    text += ", which is z·φ(q)."
    if t == 0:
        first = causal_linear_attention_recurrent(told.Q[:1], told.K[:1], told.V[:1], told.member, eps=EPS)
        text += f" Exact only with ε = 0: with 10⁻⁶ in the denominator it would be {first[0, 0]:.10f}."
    elif t == 1:
        soft = softmax_attention(told.Q[:2], told.K[:2], np.eye(2), scale=1.0)[1]
        own = (kernel / kernel.sum()).astype(float)
        text += " Softmax without its temperature would weigh the two keys "
        text += f"{decimals(soft[0])} and {decimals(soft[1])}, elu+1 does {decimals(own[0])} and {decimals(own[1])}."
    return text


def formula(told: Run) -> str:
    if told.member is None:
        return mathml(r"O = \operatorname{softmax}(Q K^\top / \sqrt{d_k} + \text{mask})\, V")
    right, own = PITFALLS["none"].latex, PITFALLS[told.pitfall].latex
    if told.pitfall == "bf16":
        return mathml(rf"{own}, \quad {right}")
    return mathml(rf"S_t = S_{{t-1}} + \phi(k_t)\, v_t^\top, \quad {own}")


def values(told: Run, exact: Steps | None) -> str:
    """The read with its numbers: every step of the hand example, or the shapes of a large one."""
    if exact is not None:
        rows = [
            rf"o_{t + 1} = \dfrac{{{_tex(exact.num[t])}}}{{{fraction(exact.den[t])}}} = {_tex(exact.O[t])}"
            for t in range(told.T)
        ]
        return mathml(r"\begin{array}{l}" + r" \\ ".join(rows) + r"\end{array}", "block")
    if told.member is None:
        return mathml(r"e^{q^\top k/\sqrt{d_k}} = \underset{\infty}{\phi(q)}^\top \phi(k)", "block")
    d_phi, d_v, form = told.features[1].shape[1], told.V.shape[1], told.form
    sizes = (d_phi, d_v) if told.pitfall == "transposed" else (d_v, d_phi)
    query = _sized(form.query, d_phi, 1)
    read = rf"\frac{{{_sized(form.state, *sizes)}\ {query}}}{{{_sized(form.total, 1, d_phi)}\ {query}}}"
    return mathml(rf"{_sized('o_t', d_v, 1)} = {read}", "block")


def _sized(factor: str, rows: int, columns: int) -> str:
    return rf"\underset{{{rows} \times {columns}}}{{{factor}}}"


def _tex(row: np.ndarray) -> str:
    if any(x != x for x in row):
        return r"\text{undefined}"
    entries = (
        rf"\tfrac{{{x.numerator}}}{{{x.denominator}}}" if 1 < x.denominator <= SMALL else fraction(x) for x in row
    )
    return r"\left(" + r",\ ".join(entries) + r"\right)"


def readouts(told: Run) -> list[tuple[str, str]]:
    """Texts of the side column that no token changes."""
    sizes = [stop - start for start, stop in told.chunks]
    whole = f"{sizes.count(told.chunk)} × {told.chunk}"
    d_v = told.V.shape[1]
    if told.features is None:
        gradients, kept = ("needs a state",) * 2, "every key and value"
        flops = f"of the matrix {attention_flops(told.T, told.Q.shape[1], d_v, 'left'):,}"
    else:
        d_phi = told.features[1].shape[1]
        gradients, kept = (
            tuple(sci(gap) for gap in told.gradients),
            f"{d_phi:,} × {d_v} and {d_phi:,}: {state_numbers(d_phi, d_v):,} numbers",
        )
        flops = " · ".join(f"{mode.flops:,}" for mode in modes(told.T, d_phi, d_v, told.chunk))
    return [
        ("forms.loop_gradients", gradients[0]),
        ("forms.chunk_gradients", gradients[1]),
        ("forms.chunks", whole if sizes[-1] == told.chunk else f"{whole} + {sizes[-1]}"),
        ("forms.kept", kept),
        ("forms.flops", flops),
        ("forms.long", f"{percent(long_sums()[2])} short after {LONG:,}"),
    ]

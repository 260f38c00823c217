"""How a pair is written into the memory: four rules, each made from the one before it.

The memory is S, `[*lead, d_phi, d_v]`; reading it with a key k gives Sᵀk.  A rule takes S and one
pair and gives the next S.  Order inside one write: decay, read the error, write.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from array_api_compat import is_array_api_obj

from compute.arrays import Array, admit, admit_like, leave
from compute.scalars import one_of, real


@dataclass(frozen=True)
class WriteRule:
    """One way to write a pair.  `rule(S, k, v, alpha=, beta=)` gives the new memory; S is left as it was.

    S `[*lead, d_phi, d_v]`, k `[*lead, d_phi]` as it comes (no rule normalises it), v `[*lead, d_v]`.
    alpha, the fraction kept: a number, `[*lead]`, or one per row of S `[*lead, d_phi]`.
    beta, the strength of a correction: a number or `[*lead]`.
    A rule ignores what is not in its `uses`.  Raises ValueError that begins with the name of an argument of the wrong
    shape or kind; arrays are not searched for NaN or Inf, a step is too frequent for that.
    """

    word: ClassVar[str]
    label: ClassVar[str]
    latex: ClassVar[str]
    objective: ClassVar[str]
    objective_latex: ClassVar[str]
    used_by: ClassVar[str]
    source: ClassVar[str]
    uses: ClassVar[tuple[str, ...]] = ()
    corrects: ClassVar[bool] = False
    """Whether the write is the difference between v and what the memory already says under k."""

    def __call__(self, S: Array, k: Array, v: Array, *, alpha: Any = 1.0, beta: Any = 1.0) -> Array:
        """The next memory, `[*lead, d_phi, d_v]`; arguments and errors as above."""
        admitted = admit(finite=False, S=S, k=k, v=v)
        S, k, v = admitted.arrays
        if S.ndim < 2:
            raise ValueError(f"S must have at least 2 axes, got shape {tuple(S.shape)}")
        lead, (d_phi, d_v) = tuple(S.shape[:-2]), S.shape[-2:]
        for name, array, shape in (("k", k, (*lead, d_phi)), ("v", v, (*lead, d_v))):
            if tuple(array.shape) != shape:
                raise ValueError(f"{name} must have shape {shape} to fit S, got {tuple(array.shape)}")
        shapes = {lead: 2, (*lead, d_phi): 1}
        keep = gate("alpha", alpha, like=S, shapes=shapes) if "alpha" in self.uses else 1.0
        strength = gate("beta", beta, like=S, shapes={lead: 1}) if "beta" in self.uses else 1.0
        return leave(admitted, self.step(S, k, v, keep, strength))

    def step(self, S: Array, k: Array, v: Array, alpha: Any, beta: Any) -> Array:
        """The arithmetic alone: alpha multiplies S and beta multiplies v by broadcasting."""
        raise NotImplementedError


class Additive(WriteRule):
    """Add the outer product of key and value; nothing is ever taken away."""

    word = "additive"
    label = "additive"
    latex = r"S_t = S_{t-1} + k_t v_t^\top"
    objective = (
        "A gradient step of size one towards a longer read along the value; "
        "it never asks whether the read is already right."
    )
    objective_latex = r"-\langle S^\top k_t,\, v_t \rangle"
    used_by = "linear Transformers, Performer, Based"
    source = "Katharopoulos et al. 2020, Transformers are RNNs, arXiv:2006.16236"

    def step(self, S, k, v, alpha=1.0, beta=1.0):
        return S + k[..., :, None] * v[..., None, :]


class Decay(WriteRule):
    """Shrink the whole memory, then add; what was written a steps ago weighs αᵃ."""

    word = "decay"
    label = "decay α"
    latex = r"S_t = \alpha_t S_{t-1} + k_t v_t^\top"
    objective = (
        "The additive step with a pull of the memory towards zero, whose strength is the fraction that is let go."
    )
    objective_latex = r"-\langle S^\top k_t,\, v_t \rangle + \tfrac{1-\alpha_t}{2}\lVert S\rVert^2"
    used_by = "RetNet and lightning attention (fixed α), Mamba-2 (α from the input), GLA (one α per row)"
    source = "Sun et al. 2023, Retentive Network, arXiv:2307.08621"
    uses = ("alpha",)

    def step(self, S, k, v, alpha=1.0, beta=1.0):
        return Additive().step(alpha * S, k, v)


class Delta(WriteRule):
    """Write β times what is missing: a unit key with β = 1 then reads its new value exactly.

    The error under k shrinks by the factor 1 − β‖k‖², so the rule needs 0 < β‖k‖² < 2.
    """

    word = "delta"
    label = "delta β"
    latex = r"S_t = S_{t-1} + \beta_t\, k_t \left(v_t - S_{t-1}^\top k_t\right)^\top"
    objective = "A gradient step of size β on the squared error of the memory's own read under this key."
    objective_latex = r"\tfrac12 \lVert S^\top k_t - v_t \rVert^2"
    used_by = "fast weight programmers, DeltaNet"
    source = (
        "Schlag, Irie, Schmidhuber 2021, Linear Transformers Are Secretly Fast Weight Programmers, arXiv:2102.11174"
    )
    uses = ("beta",)
    corrects = True

    def step(self, S, k, v, alpha=1.0, beta=1.0):
        return Additive().step(S, k, beta * (v - recall(S, k)))


class GatedDelta(WriteRule):
    """Shrink the memory, then write what the shrunken memory gets wrong."""

    word = "gated_delta"
    label = "gated delta α, β"
    latex = r"S_t = \alpha_t S_{t-1} + \beta_t\, k_t \left(v_t - \alpha_t S_{t-1}^\top k_t\right)^\top"
    objective = "The same step as delta, started from the shrunken memory instead of the old one."
    objective_latex = r"\tfrac12 \lVert S^\top k_t - v_t \rVert^2 \ \text{from}\ S = \alpha_t S_{t-1}"
    used_by = "Gated DeltaNet, Qwen3-Next; Kimi Linear (one α per row)"
    source = "Yang, Kautz, Hatamizadeh 2024, Gated Delta Networks, arXiv:2412.06464"
    uses = ("alpha", "beta")
    corrects = True

    def step(self, S, k, v, alpha=1.0, beta=1.0):
        return Delta().step(alpha * S, k, v, beta=beta)


def recall(S: Array, k: Array) -> Array:
    """Sᵀk, `[*lead, d_v]`: what S `[*lead, d_phi, d_v]` says under k `[*lead, d_phi]`, both let in already."""
    return (k[..., None, :] @ S)[..., 0, :]


def find_rule(rule: WriteRule | str) -> WriteRule:
    """The rule behind a word; a rule passes through.  ValueError names the words there are."""
    return rule if isinstance(rule, WriteRule) else WRITE_RULES[one_of("rule", rule, WRITE_RULES)]()


def gate(name: str, value: Any, *, like: Array, shapes: dict[tuple[int, ...], int]) -> Any:
    """A gate in the dtype of `like`, a float if it is a plain number.  shapes: each allowed one, and the axes it lacks.

    Raises ValueError that begins with the name.
    """
    if not is_array_api_obj(value) or isinstance(value, np.generic):
        return real(name, value)
    value = admit_like(name, value, like=like, finite=False)
    if value.ndim == 0:
        return value
    shape = tuple(value.shape)
    if shape not in shapes:
        allowed = " or ".join(str(s) for s in shapes)
        raise ValueError(f"{name} must be a number or have shape {allowed}, got {shape}")
    return value[(..., *[None] * shapes[shape])]


WRITE_RULES: dict[str, type[WriteRule]] = {rule.word: rule for rule in (Additive, Decay, Delta, GatedDelta)}

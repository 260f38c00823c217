"""Two modes, the numbers: one example run in all forms, one of them perhaps with a mistake."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from components.words import SOFTMAX
from compute.agreement import apart, constant_outputs, gradients_apart, outputs_of_forms, row_sums, shortfall
from compute.attention import FORMS, softmax_attention
from compute.examples import HAND_EPS, HAND_K, HAND_PHI, HAND_Q, HAND_V, random_example
from compute.feature_maps import FEATURE_MAPS, FeatureMap, read_member
from compute.pitfalls import PITFALLS, Recurrence, Steps, recurrent_steps
from compute.rank import kernel_matrix
from compute.rounding import running_sum

HAND, RANDOM = 3, 37
"""Tokens of the two examples."""

D_V = 8
"""Width of the random values; unlike d_φ for most maps, so that a transposed state does not fit."""

CHANNELS = 2
"""Value dimensions that are drawn as curves, and whose gradients are compared."""

FORMS_DRAWN = tuple(FORMS)
EPS = 1e-6

AS_GIVEN = FEATURE_MAPS["identity"]()
"""φ of vectors that are features already: a wide map is then applied once and not by every form."""

LONG, WIDTH, ONES = 4096, 16, 512
"""Tokens and width of elu+1 features whose sum shows what bfloat16 loses, and how many ones do."""


@dataclass(frozen=True)
class Run:
    """One example in every form.  Outputs are NaN where a form does not exist or a mistake does not fit.

    member: None for softmax.  Q and K are tempered already.
    """

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray
    member: FeatureMap | None
    eps: float
    chunk: int
    pitfall: str

    @property
    def T(self) -> int:
        return len(self.V)

    @property
    def by_hand(self) -> bool:
        return self.Q is HAND_Q

    @property
    def own_eps(self) -> float:
        """The hand example is exact without any ε; the mistake about ε needs one."""
        return self.eps or (float(HAND_EPS) if self.pitfall == "eps_inside" else 0.0)

    @cached_property
    def features(self) -> tuple[np.ndarray, np.ndarray] | None:
        return None if self.member is None else (self.member(self.Q), self.member(self.K))

    @cached_property
    def right(self) -> dict[str, np.ndarray]:
        """Outputs of the three forms, each computed by itself."""
        if self.member is None:
            nothing = np.full_like(self.V, np.nan)
            return {**dict.fromkeys(FORMS, nothing), "parallel": softmax_attention(self.Q, self.K, self.V, scale=1.0)}
        return outputs_of_forms(*self.features, self.V, AS_GIVEN, self.eps, self.chunk)

    @cached_property
    def steps(self) -> Steps | None:
        """The recurrence as it is drawn, mistake included; None without a state or where the mistake does not fit."""
        return self._steps(self.V)

    def _steps(self, V: np.ndarray) -> Steps | None:
        misfit = self.features is not None and self.features[1].shape[1] != V.shape[1]
        if self.features is None or (self.pitfall == "transposed" and misfit):
            return None
        return recurrent_steps(*self.features, V, self.own_eps, self.pitfall)

    @cached_property
    def written(self) -> Steps | None:
        """The state as it is drawn: written all the same where only its read does not fit."""
        if self.steps is not None or self.features is None:
            return self.steps
        return recurrent_steps(*self.features, self.V, self.eps)

    @property
    def form(self) -> Recurrence:
        """The recurrence, right or with its mistake."""
        return PITFALLS[self.pitfall]

    @cached_property
    def outputs(self) -> dict[str, np.ndarray]:
        """What is compared: the three forms, the recurrent one with its mistake."""
        if self.pitfall == "none":
            return self.right
        return {**self.right, "recurrent": np.full_like(self.V, np.nan) if self.steps is None else self.steps.O}

    @cached_property
    def gaps(self) -> dict[str, np.ndarray]:
        """Largest difference of each token's output from the parallel form's, NaN where one is undefined: [T]."""
        return {form: apart(self.outputs[form], self.outputs["parallel"]) for form in ("recurrent", "chunkwise")}

    @cached_property
    def constants(self) -> dict[str, np.ndarray]:
        """What recurrent and parallel form return of values that are all one: [T]."""
        ones = np.ones_like(self.V if self.pitfall == "transposed" else self.V[:, :1])
        if self.member is None:
            whole = softmax_attention(self.Q, self.K, ones, scale=1.0)
        else:
            whole = FORMS["parallel"](*self.features, ones, AS_GIVEN, self.eps)
        steps = self._steps(ones)
        own = np.full_like(ones, np.nan) if steps is None else steps.O
        return {"recurrent": constant_outputs(own), "parallel": constant_outputs(whole)}

    @cached_property
    def kernel(self) -> np.ndarray:
        """Kernel of every query with every key, [T, T], not masked."""
        if self.features is None:
            return kernel_matrix(self.Q, self.K, scale=1.0)
        return kernel_matrix(*self.features, AS_GIVEN)

    @cached_property
    def row_sums(self) -> np.ndarray:
        """Sums of the masked rows: the denominators of the parallel form, [T]."""
        return row_sums(self.kernel)

    @cached_property
    def gradients(self) -> tuple[float, float] | None:
        """Loop and chunks against one matrix, for the channels drawn."""
        if self.features is None:
            return None
        G = np.random.default_rng(2).standard_normal((self.T, CHANNELS))
        return gradients_apart(*self.features, self.V[:, :CHANNELS], G, self.eps, chunk=self.chunk)

    @cached_property
    def chunks(self) -> list[tuple[int, int]]:
        return [(start, min(start + self.chunk, self.T)) for start in range(0, self.T, self.chunk)]


@lru_cache(maxsize=64)
def run(example: str, phi: str, d_k: int, seed: int, chunk: int, pitfall: str) -> Run:
    """phi: a map's spelling, or the word softmax.  The hand example has a map, width and draw of its own."""
    if example == "hand":
        return Run(HAND_Q, HAND_K, HAND_V, HAND_PHI, 0.0, min(chunk, HAND), pitfall)
    member = None if phi == SOFTMAX else read_member(phi)
    return Run(*random_example(RANDOM, d_k, D_V, seed), member, EPS, min(chunk, RANDOM), pitfall)


@lru_cache(maxsize=1)
def long_sums() -> tuple[np.ndarray, np.ndarray, float]:
    """Sums of ones, exact and in bfloat16, [ONES + 1]; and how short z of elu+1 falls after LONG random tokens."""
    exact, rounded = (np.append(0.0, running_sum(np.ones(ONES), kind)) for kind in ("float64", "bfloat16"))
    features = HAND_PHI(np.random.default_rng(0).standard_normal((LONG, WIDTH)))
    return exact, rounded, shortfall(features, "bfloat16")

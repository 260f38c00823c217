"""Every public function of `compute` with arguments that it takes: what the tests of the doors walk.

Arguments are found by their names, which the glossary fixes, so a new function is walked as soon as it is written; a
function that means something of its own by a name has a line in OWN.  A function that checks nothing says so in its
docstring, with the words "let in already", and is left out.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from typing import Any

import numpy as np

import compute
from compute import attention, cost, feature_maps, memory, sizing
from compute.agreement import row_sums
from compute.arriving import numerators_at
from compute.crosstalk import mean_stored
from compute.feature_error import ratio_spread, ratios
from compute.keys import KEY_MAKERS
from compute.pair_streams import STREAMS, mean_wanted
from compute.pitfalls import recurrent_steps, writes
from compute.sharpness import limit_weights, match_kernel, match_weights, misplaced
from compute.streams import TOKENS, as_met

T, D_K, D_V = 6, 4, 3
RNG = np.random.default_rng(0)
NAMED_ROOMS = (attention, feature_maps, memory, sizing)
"""Packages and modules that say in __all__ what is public."""

NOT_WALKED = ("arrays", "scalars", "families", "claims", "sweeps")
"""The checks themselves, the ledger's functions without arguments, and what tests hostile questions by itself."""

ELSEWHERE = {"counted", "gate", "enter", "admit_pairs", "spell", "read_member", "read_config", "to_text", "from_text"}
"""Two doors, and what reads addresses and configs, of which `test_families` and `sizing` have hundreds of bad ones."""

Q, K = RNG.standard_normal((2, 2, T, D_K))
V = RNG.standard_normal((2, T, D_V))
SHARES = RNG.uniform(0.1, 1, (2, T))
SQUARE = np.tril(RNG.uniform(0.1, 1, (2, T, T)))
STATE = np.zeros((2, D_K, D_V)), np.zeros((2, D_K))

SAMPLES: dict[str, Any] = {
    **dict(Q=Q, K=K, V=V, G=V, O=V, A=V, B=V, x=V, X=V, gate=V, phi_q=Q, phi_k=K, M=SQUARE, weights=SQUARE),
    **dict(q=Q[:, 0], k=K[:, 0], v=V[:, 0], key=K[0, 0], noise=Q[0, 0], S=RNG.standard_normal((2, D_K, D_V))),
    **dict(z=np.ones((2, D_K)), Omega=RNG.standard_normal((7, D_K)), kappa=SHARES, p=SHARES, w=SHARES, a=SHARES),
    **dict(b=SHARES, terms=SHARES, scores=SHARES, values=np.array([3.0, 2.0, 1.0]), gain=np.ones(D_V), W=np.eye(D_K)),
    **dict(mask=np.ones((2, T), bool), log_alpha=np.full((2, T), -0.1), state=STATE, write=np.full((2, T), 0.5)),
    **dict(alpha=0.9, beta=0.5, phi=feature_maps.FEATURE_MAPS["elu"](), kernel=lambda Q, K: Q @ K.mT),
    **dict(stops=[1, 3], lengths=[1, 3], widths=[2, 4], at=[1, 4], t=[1, 2, 4], rng=np.random.default_rng(1)),
    **dict(
        T=9, d_k=D_K, d_phi=D_K, d_v=D_V, d=D_K, n=3, j=2, m=2, chunk=4, window=3, block=4, draws=3, seed=0, seeds=4
    ),
    **dict(keys=5, n_heads=4, layer=0, n_layers=3, bytes_per=4, features=9, taylor_d=4, every=4, nu=2, digits=4),
    **dict(n_kv=2, d_head=4, batch=2, tp=1, tokens=9, width=4, state_bytes=99, free_bytes=10**12, ranks=1),
    **dict(bytes_per_second=10**12, weight_bytes=10**9, speculative=0, in_flight=2048),
    **dict(
        eps=1e-6, norm_eps=1e-6, rtol=1e-10, scale=0.5, rho=0.5, overlap=0.1, age=1, energy=0.5, signal=1.0, step=1.0
    ),
    **dict(length=1.0, sum_length=1.0, difference_length=0.5, value=1.0),
    **dict(order="left", rule="gated_delta", dtype="float64", kind="positive", pitfall="none", text="favor~m~64"),
    **dict(kv_dtype="bfloat16", state_dtype="float32", conv_dtype="bfloat16", conv_columns="k", mla="latent"),
    **dict(engine="arithmetic", word="minimax-01", shape=sizing.load_model("minimax-01"), options=sizing.Options()),
    **dict(orthogonal=True, d_phi_of=lambda d_k: 2 * d_k),
}

AS_THEY_ARE = {"form", "causal", "normalise", "return_state", "symmetric", "tempered", "name", "prefix_caching"}
"""Switches, and what a complaint calls an array."""

OWN: dict[Any, dict[str, Any]] = {
    **{form: dict(state=STATE[0]) for form in attention.DELTA_FORMS.values()},
    attention.linear_attention_step: dict(log_alpha=np.full(2, -0.1)),
    attention.per_head: dict(log_alpha=np.array([-0.1, -0.2])),
    feature_maps.positive_random_features: dict(X=Q),
    feature_maps.taylor_features: dict(X=Q),
    row_sums: dict(kernel=SQUARE),
    ratios: dict(projections=RNG.standard_normal((3, 4))),
    ratio_spread: dict(at=[0.5]),
    match_weights: dict(q=Q[0, 0], K=K[0]),
    match_kernel: dict(q=Q[0, 0], K=K[0]),
    limit_weights: dict(q=Q[0, 0], K=K[0]),
    misplaced: dict(q=SHARES),
    recurrent_steps: dict(phi_q=Q[0], phi_k=K[0], V=V[0], eps=0),
    writes: dict(phi_k=K[0], V=V[0]),
    as_met: dict(values=np.zeros((TOKENS, 1))),
    mean_wanted: dict(x=SQUARE[0], since=np.zeros(T + 1, int)),
    numerators_at: dict(log_alpha=np.full(2, -0.1)),
    mean_stored: dict(x=SQUARE),
    **{count: dict(t=5) for count in (cost.cache_numbers, cost.softmax_decode_bytes, cost.softmax_decode_flops)},
    sizing.reserve: dict(options=sizing.Options(engine="vllm-0.33")),
}
"""Where a name means something of its own."""


def public() -> dict[str, Callable]:
    """Every function that a reader would import, and every member that can be called, by a name for reports."""
    found: dict[str, Callable] = {}
    for room in NAMED_ROOMS:
        for name in room.__all__:
            if inspect.isfunction(function := getattr(room, name)):
                found[name] = function
    for info in pkgutil.iter_modules(compute.__path__):
        room = importlib.import_module(f"compute.{info.name}")
        if info.name not in NOT_WALKED and room not in NAMED_ROOMS:
            for name, function in inspect.getmembers(room, inspect.isfunction):
                if function.__module__ == room.__name__ and not name.startswith("_"):
                    found[name] = function
    for name in [name for name, function in found.items() if "let in already" in (inspect.getdoc(function) or "")]:
        del found[name]
    for name in ELSEWHERE & set(found):
        del found[name]
    for word, rule in memory.WRITE_RULES.items():
        found[f"rule {word}"] = rule()
    for word, maker in KEY_MAKERS.items():
        found[f"keys {word}"] = maker
    for word, stream in STREAMS.items():
        if word != "hand":  # it has its own pairs, whatever comes
            found[f"stream {word}"] = stream
            OWN.setdefault(stream, dict(K=K[0], V=V[0]))
    for word, phi in feature_maps.FEATURE_MAPS.items():
        found[f"map {word}"] = phi()
        found[f"width of {word}"] = phi().d_phi
    return found


def arguments(function: Callable) -> dict[str, Any]:
    """What the function is called with: all that a bad value could come in by."""
    own = OWN.get(function, {}) if not isinstance(function, feature_maps.FeatureMap) else {}
    names = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    ignored = {"alpha", "beta"} - set(getattr(function, "uses", ("alpha", "beta")))
    given = {**SAMPLES, **own}
    return {name: given[name] for name in names if name not in AS_THEY_ARE | ignored}

"""The states at which copied scripts are tested: every map, rule, mistake and model, and both ends of every axis."""

from __future__ import annotations

from components.lesson import Question
from components.own import paste
from components.words import KEYS, PHIS, PITFALLS, WAYS
from compute.memory import WRITE_RULES
from compute.pair_streams import STREAMS
from compute.sizing import models
from compute.sizing.options import ENGINES

KNOBBED = ("favor~m~16~seed~3", "favor~m~64~orthogonal~false", "trig~m~16", "trig~m~64~orthogonal~true",
           "taylor~symmetric~true", "dpfp~nu~1", "dpfp~nu~31")  # fmt: skip
MAPS = [Question(phi=phi, seed=2) for phi in (*PHIS, *KNOBBED)]
NARROW = [Question(phi=phi, d_k=4) for phi in (*PHIS, "dpfp~nu~1")]
OWN = paste('{"model_type": "llama", "hidden_size": 512, "num_hidden_layers": 3, "num_attention_heads": 8}')

STATES = {
    "sharpness": [
        (question, {"c": c})
        for question in (*MAPS, *NARROW, *(Question(phi=phi, row=101) for phi in PHIS), Question(d_k=64, phi="favor"))
        for c in (0.25, 1.6, 16)
    ]
    + [
        (Question(phi=phi, match=match, single=single), {"c": 4})
        for phi in ("elu", "favor", "trig")
        for match, single in ((0.5, 0), (1.0, 3), (0.8, 10))
    ],
    "memory": [
        *((Question(), {"n": n}) for n in (0, 1, 2, 33, 256)),
        *(
            (Question(keys=keys, rule=rule, alpha=0.9, beta=0.7, seed=1), {"n": 48})
            for keys in KEYS
            for rule in WRITE_RULES
        ),
        *(
            (Question(stream=stream, keys=keys, rule=rule, alpha=0.9, beta=0.7, d_v=16), {"n": n})
            for stream in STREAMS
            for keys, rule, n in (
                ("random", "additive", 3), ("orthonormal", "delta", 70), ("random", "gated_delta", 100),
                ("phi", "decay", 33),
            )
        ),
        *((Question(rule=rule, duel=duel), {"n": 90}) for rule in WRITE_RULES for duel in WRITE_RULES),
        *((Question(keys="correlated", rho=rho), {"n": 20}) for rho in (0, 0.95)),
        *((Question(keys="orthonormal", rule="delta"), {"n": n}) for n in (0, 32, 33)),
        *((Question(keys="phi", phi=q.phi, d_k=q.d_k, seed=q.seed), {"n": 40}) for q in (*MAPS, *NARROW)),
    ],
    "rank": [
        *((question, {"N": N}) for question in (*MAPS, *NARROW) for N in (16, 96, 256)),
        *((Question(phi=phi, mask="causal"), {"N": N}) for phi in PHIS for N in (16, 64)),
        *((Question(phi=phi, precision="float32"), {"N": 128, "rtol": rtol}) for phi in PHIS for rtol in (2, 4.5)),
        *((Question(phi=phi), {"rtol": rtol}) for phi in ("elu", "favor", "softmax") for rtol in (1, 3.5, 11)),
    ],
    "bracketing": [
        (Question(phi=q.phi, head=head), {"T": T}) for q in MAPS for head in (16, 128) for T in (1, 100, 2**20)
    ],
    "forms": [
        *((Question(example="hand", pitfall=word, chunk=2), {"t": t}) for word in PITFALLS for t in (0, 1, 2, 63)),
        (Question(example="hand", phi="softmax", pitfall="read_first"), {"t": 1}),
        *((Question(example="random", phi=q.phi, d_k=q.d_k, seed=1, chunk=10), {"t": 20}) for q in (*MAPS, *NARROW)),
        *(
            (Question(example="random", phi=phi, d_k=d_k, pitfall=pitfall), {"t": t})
            for pitfall in PITFALLS
            for phi, d_k in (("relu", 4), ("elu", 16), ("taylor", 4), ("hedgehog", 4), ("softmax", 16))
            for t in (0, 63)
        ),
    ],
    "random-features": [(Question(d_k=d, seed=d), {"r": r}) for d, r in ((4, 0.25), (64, 8))],
    "normaliser": [
        *((question, {"tokens": t}) for question in (*MAPS, *NARROW) for t in (1, 2, 38, 4096)),
        *((Question(phi="silu", way=way, seed=1), {"tokens": t}) for way in WAYS for t in (1, 38, 4096)),
        (Question(phi="softmax", way="transnormer", d_k=4), {"tokens": 300}),
    ],
    "recall": [
        (Question(d_k=d_k, d_v=d_v, rule=rule), {"pairs": pairs})
        for d_k, d_v, pairs in ((8, 32, 4), (32, 64, 64), (64, 16, 128))
        for rule in WRITE_RULES
    ],
    "sizing": [
        *((Question(model=model), {"T": T}) for model in models() for T in (1, 2**20)),
        *((Question(model=model, batch=3, tp=4, kv=kv, state="bfloat16", columns="k-1", gib=40), {"T": 2**17})
          for model in ("qwen3.8-27b", "gemma-2-9b", "kimi-linear-48b-a3b", "falcon-h1-7b")
          for kv in ("fp8", "q8_0", "int4")),
        (Question(model="deepseek-v3", mla="decompressed", gpu="a100-80"), {"T": 4096}),
        *(
            (Question(model=model, engine=engine, batch=2), {"T": T})
            for model in ("qwen3.8-27b", "gemma-2-9b", "mamba-130m", "llama-3.1-8b", "gla-7b")
            for engine in ENGINES
            for T in (1, 2**17)
        ),
        (Question(model="qwen3.8-27b", exact=123_457, batch=2), {}),
        (Question(own=OWN), {"T": 1000}),
    ],
}  # fmt: skip
"""Every map, rule, kind of keys, mistake and model, and both ends of every axis."""

CASES = [(view, question, at) for view, states in STATES.items() for question, at in [(Question(), {}), *states]]

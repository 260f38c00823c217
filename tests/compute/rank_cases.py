"""Maps and vectors that the tests of ranks share, written apart from the package's own."""

from __future__ import annotations

import numpy as np
import pytest
from attention_cases import elu

from compute.toys import queries_and_keys


def taylor(x):
    squares = (x[..., :, None] * x[..., None, :]).reshape(*x.shape[:-1], -1)
    return np.concatenate([np.ones_like(x[..., :1]), x, squares / 2**0.5], axis=-1)


MAPS = {"softmax": None, "elu": elu, "taylor": taylor}
every_map = pytest.mark.parametrize("phi", MAPS.values(), ids=MAPS)


def toys(N=256, d_k=16, seed=0):
    Q, K = queries_and_keys(d_k, seed)
    return Q[:N], K[:N]

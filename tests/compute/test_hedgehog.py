"""The map that is learned: where it starts, what it learns, what it refuses."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from scipy.special import softmax

from compute.feature_maps import FEATURE_MAPS

W = [[1.0, 0.5, 0.0], [0.0, -1.0, 2.0], [0.3, 0.3, 0.3], [0.0, 0.1, -0.7]]


@pytest.fixture
def vectors():
    rng = np.random.default_rng(11)
    return rng.standard_normal((2, 3, 7, 4)), rng.standard_normal((2, 3, 5, 4))


def test_hedgehog_starts_at_twice_the_sum_of_cosh(vectors):
    Q, K = vectors
    cosh = 2 * np.cosh(Q[..., :, None, :] + K[..., None, :, :]).sum(-1)
    np.testing.assert_allclose(FEATURE_MAPS["hedgehog"]().kernel(Q, K), cosh, rtol=1e-12)


def test_hedgehog_puts_the_positive_half_first():
    phi = FEATURE_MAPS["hedgehog"](W=[[2.0], [1.0]], b=[0.5])
    np.testing.assert_allclose(phi([1.0, 3.0]), [np.exp(5.5), np.exp(-5.5)], rtol=1e-12)


@pytest.mark.parametrize("method", ["kernel", "rows"])
def test_hedgehog_trains_towards_softmax(method):
    rng = np.random.default_rng(0)
    Q, K = (torch.tensor(rng.standard_normal((24, 4))) for _ in range(2))
    target = torch.tensor(softmax((Q @ K.T).numpy(), axis=-1))
    W = torch.eye(4, dtype=torch.float64).requires_grad_()
    b = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    phi = FEATURE_MAPS["hedgehog"](W=W, b=b)
    optimiser = torch.optim.Adam([W, b], lr=0.05)
    losses = []
    for _ in range(60):
        kernel = getattr(phi, method)(Q, K)
        loss = -(target * (kernel / kernel.sum(-1, keepdim=True)).log()).sum(-1).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] - 0.05
    assert b.grad.abs().max() > 0


def test_hedgehogs_are_equal_by_numbers_and_by_identity_of_tensors():
    Hedgehog = FEATURE_MAPS["hedgehog"]
    array = np.eye(4)
    phi = Hedgehog(W=array)
    array[0, 0] = 5.0
    assert phi == Hedgehog(W=np.eye(4).tolist()) and hash(phi) == hash(Hedgehog(W=np.eye(4)))
    assert phi != Hedgehog() and phi != Hedgehog(W=2 * np.eye(4))
    tensor = torch.eye(4)
    assert Hedgehog(W=tensor) == Hedgehog(W=tensor) != Hedgehog(W=tensor.clone())
    assert len({Hedgehog(W=tensor), Hedgehog(W=tensor), Hedgehog(W=np.eye(4)), phi}) == 2
    assert pickle.loads(pickle.dumps(phi)) == phi


def test_hedgehog_refuses_shapes_that_do_not_fit():
    Hedgehog = FEATURE_MAPS["hedgehog"]
    with pytest.raises(ValueError, match=r"^W must have 2 axes"):
        Hedgehog(W=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"^W must be finite"):
        Hedgehog(W=[[np.nan]])
    with pytest.raises(ValueError, match=r"^b must have one entry per column of W, 3, got 2"):
        Hedgehog(W=W, b=[1.0, 2.0])
    with pytest.raises(ValueError, match=r"^W must have d_k = 5 rows"):
        Hedgehog(W=W)(np.ones((2, 5)))
    with pytest.raises(ValueError, match=r"^b must have d_k = 5 entries"):
        Hedgehog(b=[1.0, 2.0]).d_phi(5)

"""The family of feature maps: what each declares is measured."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from latex2mathml.converter import convert

from compute.families import knobs
from compute.feature_maps import FEATURE_MAPS

WORDS = ["identity", "elu", "relu", "silu", "favor", "trig", "taylor", "hedgehog", "dpfp"]
W = [[1.0, 0.5, 0.0], [0.0, -1.0, 2.0], [0.3, 0.3, 0.3], [0.0, 0.1, -0.7]]
MEMBERS = {
    **{word: Map() for word, Map in FEATURE_MAPS.items()},
    "favor iid": FEATURE_MAPS["favor"](m=10, seed=4, orthogonal=False),
    "favor cut block": FEATURE_MAPS["favor"](m=10, seed=4),
    "trig orthogonal": FEATURE_MAPS["trig"](m=10, seed=4, orthogonal=True),
    "taylor symmetric": FEATURE_MAPS["taylor"](symmetric=True),
    "hedgehog learned": FEATURE_MAPS["hedgehog"](W=W, b=(0.1, -0.2, 0.3)),
    "dpfp longest": FEATURE_MAPS["dpfp"](nu=7),
}
every_word = pytest.mark.parametrize("word", WORDS)
every_member = pytest.mark.parametrize("phi", MEMBERS.values(), ids=MEMBERS)


@pytest.fixture
def vectors():
    rng = np.random.default_rng(11)
    return rng.standard_normal((2, 3, 7, 4)), rng.standard_normal((2, 3, 5, 4))


def test_the_registry_lists_the_maps_in_teaching_order():
    assert list(FEATURE_MAPS) == WORDS
    assert all(Map.word == word for word, Map in FEATURE_MAPS.items())


# Declared and measured


@every_member
def test_declared_width_is_the_real_width(phi, vectors):
    assert phi(vectors[0]).shape == (2, 3, 7, phi.d_phi(4))


@every_member
def test_the_printed_width_is_the_declared_one(phi):
    formula = re.sub(r"\\frac\{(.*?)\}\{(.*?)\}", r"((\1)/(\2))", phi.width_latex)
    formula = (
        formula.replace("\\nu", "nu")
        .replace("d_k^2", "d_k * d_k")
        .replace("d_k (", "d_k * (")
        .replace("d'", str(len(W[0])))
    )
    formula = re.sub(r"(?<=[\du]) (?=[a-z\d])", " * ", formula)
    settings = {f.name: getattr(phi, f.name) for f in knobs(phi)}
    assert eval(formula, {"d_k": 4, **settings}) == phi.d_phi(4)


@every_member
def test_declared_positivity_is_measured(phi):
    rng = np.random.default_rng(5)
    x = np.concatenate([rng.standard_normal((400, 4)), -np.abs(rng.standard_normal((20, 4)))])
    features, kernel = phi(x), phi.kernel(x, x)
    measured = (
        "yes"
        if np.all(features > 0)
        else "nonnegative"
        if np.all(features >= 0)
        else "kernel"
        if np.all(kernel > 0)
        else "no"
    )
    assert phi.positivity == measured


@every_member
def test_declared_homogeneity_is_measured(phi, vectors):
    grown = phi(3.0 * vectors[0])
    degrees = [n for n in (1, 2, 3) if np.allclose(grown, 3.0**n * phi(vectors[0]), rtol=1e-12)]
    assert degrees == ([] if phi.homogeneity is None else [phi.homogeneity])


def test_the_rank_bound_is_the_number_of_independent_features():
    x = np.random.default_rng(3).standard_normal((500, 3))
    members = [Map() for word, Map in FEATURE_MAPS.items() if word not in ("favor", "trig")]
    members += [FEATURE_MAPS["favor"](m=9), FEATURE_MAPS["trig"](m=6), FEATURE_MAPS["taylor"](symmetric=True)]
    members += [FEATURE_MAPS["dpfp"](nu=nu) for nu in range(1, 6)]
    for phi in members:
        features = phi(x)
        features = features / (np.linalg.norm(features, axis=0) + 1e-300)
        assert np.linalg.matrix_rank(features, tol=1e-9) == phi.rank_bound(3), phi


def test_taylor_holds_153_distinct_monomials_in_273_features():
    full, merged = FEATURE_MAPS["taylor"](), FEATURE_MAPS["taylor"](symmetric=True)
    assert (full.d_phi(16), full.rank_bound(16), merged.d_phi(16), merged.rank_bound(16)) == (273, 153, 153, 153)
    assert full.d_phi(128) == 16_513


@every_member
def test_the_kernel_is_the_product_of_the_features(phi, vectors):
    Q, K = vectors
    np.testing.assert_allclose(phi.kernel(Q, K), phi(Q) @ phi(K).swapaxes(-1, -2), rtol=1e-11, atol=1e-12)


@every_member
@pytest.mark.parametrize("kind", (np.asarray, torch.tensor))
def test_the_kernel_with_keys_in_pieces_is_the_kernel(phi, kind, vectors):
    Q, K = map(kind, vectors)
    kernel = phi.kernel_from(Q)
    pieces = np.concatenate([np.asarray(kernel(some)) for some in (K[..., :2, :], K[..., 2:, :])], axis=-1)
    np.testing.assert_allclose(pieces, phi(Q) @ phi(K).swapaxes(-1, -2), rtol=1e-10, atol=1e-12)


@every_member
def test_rows_are_the_kernel_up_to_a_positive_factor_per_query(phi, vectors):
    Q, K = vectors
    kernel, rows = phi.kernel(Q, K), phi.rows(Q, K)
    factor = np.sum(np.abs(kernel), axis=-1) / np.maximum(np.sum(np.abs(rows), axis=-1), 1e-300)
    assert np.mean(factor > 0) > 0.9, "a ReLU query without positive entries has no row; few are like that"
    np.testing.assert_allclose(factor[..., None] * rows, kernel, rtol=1e-10, atol=1e-11)


@every_word
def test_a_map_says_what_it_is_and_who_says_so(word):
    Map = FEATURE_MAPS[word]
    phi = Map()
    assert len(Map.__doc__) > 80
    assert phi.label and phi.used_by
    assert "arXiv:" in phi.source
    for formula in filter(None, (phi.latex, phi.kernel_latex, phi.width_latex)):
        assert "\\" not in re.sub(r"<.*?>", "", convert(formula)), "a LaTeX command that MathML does not know"
    for f in knobs(phi):
        low, high = f.metadata["bounds"]
        assert f.metadata["doc"]
        assert low <= f.metadata["offered"][0] <= f.default <= f.metadata["offered"][1] <= high


# Arrays


@every_member
def test_torch_gives_the_same_features_as_numpy(phi, vectors):
    Q, K = vectors
    tQ, tK = torch.tensor(Q), torch.tensor(K)
    np.testing.assert_allclose(phi(tQ).numpy(), phi(Q), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(phi.kernel(tQ, tK).numpy(), phi.kernel(Q, K), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(phi.rows(tQ, tK).numpy(), phi.rows(Q, K), rtol=1e-11, atol=1e-12)


@every_member
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_the_dtype_that_comes_is_the_dtype_that_goes(phi, dtype):
    x = torch.tensor([[0.5, -1.0, 0.25, 1.0]], dtype=dtype)
    given = x.clone()
    out = phi(x)
    assert out.dtype == dtype
    torch.testing.assert_close(out.double(), phi(x.double()), rtol=float(2 * torch.finfo(dtype).eps ** 0.9), atol=1e-6)
    assert torch.equal(x, given)


@every_member
def test_numpy_keeps_float32_and_lifts_integers_to_float64(phi):
    x = np.array([1, -2, 0, 1])
    assert phi(x.astype(np.float32)).dtype == np.float32
    assert phi.rows(x[None].astype(np.float32), x[None].astype(np.float32)).dtype == np.float32
    assert phi(x).dtype == np.float64


@every_member
def test_leading_axes_are_free(phi, vectors):
    Q = vectors[0]
    np.testing.assert_allclose(phi(Q)[1, 2, 3], phi(Q[1, 2, 3]), rtol=1e-12, atol=1e-14)


def test_nan_is_passed_on_and_not_hidden():
    for phi in MEMBERS.values():
        assert np.isnan(phi(np.array([np.nan, 1.0, 1.0, 1.0]))).any(), phi


# Random maps


@pytest.mark.parametrize("word", ["favor", "trig"])
def test_a_seed_names_a_draw(word, vectors):
    Map, x = FEATURE_MAPS[word], vectors[0]
    assert np.array_equal(Map(seed=3)(x), Map(seed=3)(x))
    assert not np.allclose(Map(seed=3)(x), Map(seed=4)(x))
    assert Map(seed=3).redraw(0) == Map(seed=3)
    assert Map(m=20, seed=3).redraw(2) == Map(m=20, seed=5)


def test_a_map_without_randomness_is_its_own_redraw():
    assert all(phi.redraw(3) is phi for phi in MEMBERS.values() if not phi.random)
    assert {phi.word for phi in MEMBERS.values() if phi.random} == {"favor", "trig"}


def test_callers_cannot_spoil_the_directions_that_are_remembered(vectors):
    phi = FEATURE_MAPS["favor"](m=8)
    before = phi(vectors[0]).copy()
    for x in (vectors[0], torch.tensor(vectors[0])):
        Omega = phi.directions_for(x)
        Omega += 1
    assert np.array_equal(phi(vectors[0]), before)


# Refusals


def test_a_map_refuses_what_is_not_an_array_of_numbers():
    with pytest.raises(ValueError, match=r"^x must hold real numbers"):
        FEATURE_MAPS["elu"]()(["a"])
    with pytest.raises(ValueError, match=r"^x must not be empty"):
        FEATURE_MAPS["elu"]()(np.ones((3, 0)))
    with pytest.raises(ValueError, match=r"^d_k must be at least 1"):
        FEATURE_MAPS["favor"]().d_phi(0)

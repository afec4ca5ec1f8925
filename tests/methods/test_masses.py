"""Masses of rows in methods of neighbour graphs: the metric problem, against dense SciPy."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import sklearn

from dualfold import (
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    LocallyLinearEmbedding,
    NeighborhoodPreservingProjection,
)
from dualfold.data import swiss_roll
from dualfold.errors import InvalidInput
from dualfold.methods import hessian_lle, lle, ltsa, modified_lle
from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.weights import reconstruction_weights, weighted_laplacian

WITH_MASSES = sorted(name for name, one in DESCRIPTIONS.items() if one.masses)
N = 80
PROBLEMS = {"standard": lle, "modified": modified_lle, "hessian": hessian_lle, "ltsa": ltsa}


def rows(seed: int = 0) -> tuple[Any, Any]:
    X = swiss_roll(N, random_state=seed).points
    return X, np.random.default_rng(seed).uniform(0.2, 5, N)


def model_of(name: str) -> Any:
    row = DESCRIPTIONS[name]
    return row.estimator_class()(**row.estimator_parameters({"n_components": 2}))


def assert_is(points: Any, expected: Any) -> None:
    """The same but for signs."""
    signs = np.sign(np.sum(points * expected, axis=0))
    np.testing.assert_allclose(points, expected * signs, atol=1e-7 * np.abs(expected).max())


def test_descriptions_say_who_takes_masses():
    taken = {
        name
        for name, one in DESCRIPTIONS.items()
        if "masses" in inspect.signature(one.estimator_class().fit).parameters
    }
    assert sorted(taken) == WITH_MASSES


@pytest.mark.parametrize("name", WITH_MASSES)
def test_equal_masses_are_none_and_a_factor_changes_nothing(name):
    X, masses = rows()
    plain, ones = model_of(name).fit(X), model_of(name).fit(X, masses=np.full(N, 3.0))
    assert_is(ones.embedding_, plain.embedding_)
    one, other = (model_of(name).fit(X, masses=each) for each in (masses, 1e9 * masses))
    assert_is(other.embedding_, one.embedding_)
    assert one.certificate_.level == plain.certificate_.level == "proved"
    assert np.abs(one.embedding_ - plain.embedding_).max() > 1e-3


@pytest.mark.parametrize("constraint", ["degree", "identity"])
def test_eigenmaps_have_masses_in_centring_and_constraint(constraint):
    X, masses = rows(1)
    model = LaplacianEigenmaps(n_neighbors=8, constraint=constraint, coordinates="first")
    points = model.fit_transform(X, masses=masses)
    L, degrees = weighted_laplacian(model.graph_, weights=model.weights, width=model.width)
    B = np.diag(masses / masses.mean() * (degrees if constraint == "degree" else 1.0))
    values, vectors = scipy.linalg.eigh(L.toarray(), B)
    np.testing.assert_allclose(model.eigenvalues_, values[1:3], rtol=1e-8)
    assert_is(points, vectors[:, 1:3])
    np.testing.assert_allclose(points.T @ B @ points, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(points.T @ B @ np.ones(N), 0, atol=1e-10)


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_lle_has_masses_in_centring_and_constraint(method):
    X, masses = rows(2)
    model = LocallyLinearEmbedding(n_neighbors=10, method=method, coordinates="first")
    points = model.fit_transform(X, masses=masses)
    M = np.diag(masses / masses.mean())
    A = np.asarray(PROBLEMS[method](model.graph_).A @ np.eye(N))
    values, vectors = scipy.linalg.eigh((A + A.T) / 2, M)
    np.testing.assert_allclose(model.eigenvalues_, values[1:3], atol=1e-12 * values[-1])
    angles = scipy.linalg.subspace_angles(points, vectors[:, 1:3])
    assert angles.max() < 1e-5
    np.testing.assert_allclose(points.T @ M @ points, np.eye(2), atol=1e-8)
    np.testing.assert_allclose(points.T @ M @ np.ones(N), 0, atol=1e-8)


def test_projections_have_masses_in_centring_and_constraint():
    X, masses = rows(3)
    m = masses / masses.mean()
    lpp = LocalityPreservingProjection(variance_kept=1.0).fit(X, masses=masses)
    L, degrees = weighted_laplacian(lpp.graph_)
    npp = NeighborhoodPreservingProjection(variance_kept=1.0).fit(X, masses=masses)
    W = np.eye(N) - reconstruction_weights(X, npp.graph_.lists).toarray()
    for model, A, weights in ((lpp, L.toarray(), m * degrees), (npp, W.T @ W, m)):
        mean = weights @ X / weights.sum()
        Z = X - mean
        values = scipy.linalg.eigvalsh(Z.T @ A @ Z, (Z.T * weights) @ Z)
        np.testing.assert_allclose(model.mean_, mean, rtol=1e-10)
        np.testing.assert_allclose(model.eigenvalues_, values[:2], rtol=1e-6)
        Y = model.embedding_
        np.testing.assert_allclose((Y.T * weights) @ Y, np.eye(2), atol=1e-8)
        np.testing.assert_allclose(weights @ Y, 0, atol=1e-7 * weights.sum())


def test_rows_that_are_left_out_take_their_masses_along():
    X, masses = rows(4)
    kept = np.arange(3, N)
    one = LaplacianEigenmaps(left_out=[0, 1, 2], coordinates="first").fit(X, masses=masses)
    other = LaplacianEigenmaps(left_out=[], coordinates="first").fit(X[kept], masses=masses[kept])
    factor = np.sqrt(masses[kept].mean() / masses.mean())  # the unit of masses is their mean
    assert_is(one.embedding_[kept] * factor, other.embedding_)


@pytest.mark.parametrize("name", WITH_MASSES)
def test_masses_that_have_no_meaning_are_refused(name):
    X, masses = rows()
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(InvalidInput, match="masses"):
            model_of(name).fit(X, masses=np.where(np.arange(N) == 5, wrong, masses))
    with pytest.raises(InvalidInput, match="masses has 3 numbers for 80 rows"):
        model_of(name).fit(X, masses=[1, 2, 3])
    if "pieces" in inspect.signature(model_of(name).__init__).parameters and "pp" not in name:
        with pytest.raises(InvalidInput, match="masses are for one map of all rows"):
            model_of(name).set_params(pieces="separate").fit(X, masses=masses)


def test_masses_need_rows_in_memory():
    da = pytest.importorskip("dask.array")
    X, masses = rows()
    tiles = da.from_array(X, chunks=(40, 3))
    for model in (LaplacianEigenmaps(), LocalityPreservingProjection()):
        with pytest.raises(InvalidInput, match="masses need all rows in memory"):
            model.fit(tiles, masses=masses)


def test_masses_are_routed():
    X, masses = rows()
    with sklearn.config_context(enable_metadata_routing=True):
        model = LocalityPreservingProjection().set_fit_request(masses=True)
        routed = sklearn.pipeline.make_pipeline(model).fit(X, masses=masses)
    assert_is(
        routed[-1].embedding_, LocalityPreservingProjection().fit(X, masses=masses).embedding_
    )


def test_a_mass_below_0_is_not_to_be_replaced_by_0_which_is_refused():
    masses = np.r_[-1.0, np.ones(29)]
    with pytest.raises(InvalidInput, match="masses are finite numbers above 0"):
        LaplacianEigenmaps().fit(np.random.default_rng(0).normal(size=(30, 2)), masses=masses)

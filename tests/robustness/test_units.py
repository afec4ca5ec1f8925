"""Data in units far from 1: rows times 2^k are the same rows, up to the power.

What returns lengths, or numbers without a unit (searches, measures of maps), is computed in other
units where squares have no room: times a power of 2 and back, which changes no digit. Estimators
return squares (variances, eigenvalues): where these are no doubles, the data are refused.
"""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import dualfold
import dualfold.methods.descriptions
from dualfold import graph, quality
from dualfold.errors import InvalidInput
from dualfold.graph import neighbors_within
from dualfold.weights import affinity, column_means
from tests.robustness.door import LocalWeightsMap, column_deviations
from tests.tools.tables import roll_points

X = roll_points(90, random_state=0)
NEW = roll_points(7, random_state=1)
CLASSES = np.arange(90) % 3
# Of each its coordinates' degree in the units, and whether the bits are the same; the others
# go through LAPACK, or stop a descent by sums that round otherwise.
LOCAL = {"n_neighbors": 8}
METHODS = {
    "pca": (dualfold.PCA(2), 1, True),
    "mds": (dualfold.ClassicalMDS(2), 1, True),
    "isomap": (dualfold.Isomap(**LOCAL), 1, True),
    "eigenmaps": (dualfold.LaplacianEigenmaps(**LOCAL), 0, True),
    "heat eigenmaps": (dualfold.LaplacianEigenmaps(weights="heat", **LOCAL), 0, True),
    "density eigenmaps": (dualfold.LaplacianEigenmaps.named("VALE"), 0, True),
    "diffusion": (dualfold.DiffusionMaps(**LOCAL), 0, True),
    "lle": (dualfold.LocallyLinearEmbedding(**LOCAL), 0, True),
    "modified lle": (dualfold.LocallyLinearEmbedding(method="modified", **LOCAL), 0, True),
    "ltsa": (dualfold.LocallyLinearEmbedding(method="ltsa", **LOCAL), 0, True),
    "hessian lle": (dualfold.LocallyLinearEmbedding(method="hessian", **LOCAL), 0, True),
    "lpp": (dualfold.LocalityPreservingProjection(2), 0, False),
    "orthogonal lpp": (dualfold.OrthogonalLPP(2), 1, False),
    "npp": (dualfold.NeighborhoodPreservingProjection(2), 0, False),
    "orthogonal npp": (dualfold.OrthogonalNPP(2), 1, False),
    "fisher": (dualfold.FisherDiscriminant(), 0, False),
    "unfolding": (dualfold.MaximumVarianceUnfolding(n_neighbors=5), 1, False),
    "point pca": (dualfold.PointPCA(2, random_state=0), 1, False),
    "landmarks": (dualfold.Isomap(landmarks=20, **LOCAL), 1, False),
}
# What is not the same bits: geodesics of landmarks are float32 where these have room, and points
# of a descent are as near to their optimum as its tolerance asks (1e-8 of fourth powers).
NEAR = {"landmarks": 1e-6, "point pca": 1e-4}


@pytest.mark.filterwarnings("ignore::dualfold.errors.PiecesJoined")
@pytest.mark.parametrize("name", METHODS)
def test_rows_in_other_units_have_the_same_map(name):
    estimator, degree, same_bits = METHODS[name]
    ours = estimator.fit(X, CLASSES)
    points, placed = ours.transform(X), ours.transform(NEW)
    level = ours.certificate_.level
    for power in (-500, 500):
        there = estimator.fit(np.ldexp(X, power), CLASSES)
        assert there.certificate_.level == level == "proved", there.certificate_
        found = np.ldexp(there.transform(np.ldexp(X, power)), -degree * power)
        new = np.ldexp(there.transform(np.ldexp(NEW, power)), -degree * power)
        if same_bits:
            np.testing.assert_array_equal(found, points)
            np.testing.assert_array_equal(new, placed)
        else:
            near = NEAR.get(name, 1e-9) * np.abs(points).max()
            np.testing.assert_allclose(found, points, rtol=0, atol=near)
            np.testing.assert_allclose(new, placed, rtol=0, atol=near)


def test_the_certificate_is_about_the_data():
    plain = dualfold.PCA(2).fit(X).certificate_
    there = dualfold.PCA(2).fit(np.ldexp(X, 400)).certificate_
    for name in ("value", "bound", "floor", "eigengap"):
        assert getattr(there, name) == np.ldexp(getattr(plain, name), 800)
    assert there.gap == plain.gap
    assert there.residuals == tuple(np.ldexp(plain.residuals, 800))
    scaled = dualfold.PointPCA(2, random_state=0).fit(np.ldexp(X, 400)).certificate_
    assert "times 2^-4" in scaled.about


@pytest.mark.parametrize("power", [-600, 600])
def test_searches_in_other_units(power):
    plain, there = graph.nearest(X, 5), graph.nearest(np.ldexp(X, power), 5)
    np.testing.assert_array_equal(there.indices, plain.indices)
    np.testing.assert_array_equal(there.distances, np.ldexp(plain.distances, power))
    asked = graph.nearest(np.ldexp(X, power), 5, queries=np.ldexp(NEW, power))
    np.testing.assert_array_equal(
        asked.distances, np.ldexp(graph.nearest(X, 5, queries=NEW).distances, power)
    )
    around = neighbors_within(np.ldexp(X, power), float(np.ldexp(8.0, power)))
    for found, wanted in zip(around[:2], neighbors_within(X, 8.0)[:2], strict=True):
        np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(around[2], np.ldexp(neighbors_within(X, 8.0)[2], power))


def test_numbers_that_no_unit_has_room_for_are_refused():
    both = X.copy()
    both[:, 0] *= 1e200
    both[:, 1] *= 1e-200
    with pytest.raises(InvalidInput, match="no unit has room"):
        graph.nearest(both, 5)


def test_lengths_that_vanish_in_single_precision_are_refused_there():
    tiny = graph.knn(X * 1e-60, 8)
    with pytest.raises(InvalidInput, match="vanish"):
        graph.geodesic_distances(tiny, dtype=np.float32)
    lengths = graph.geodesic_distances(tiny)
    assert lengths.dtype == np.float64
    np.testing.assert_allclose(lengths * 1e60, graph.geodesic_distances(graph.knn(X, 8)), rtol=1e-6)


def everywhere():
    """Every estimator that takes a table of numbers, with few rows in mind."""
    asked = {"n_neighbors": 8, "random_state": 0, "perplexity": 8.0, "max_iter": 250}
    for row in dualfold.methods.descriptions.DESCRIPTIONS.values():
        made = row.estimator_class()()
        known = {name: value for name, value in asked.items() if name in made.get_params()}
        yield pytest.param(made.set_params(**known), id=row.name)


@pytest.mark.filterwarnings("ignore::dualfold.errors.DualfoldWarning")
@pytest.mark.parametrize("estimator", list(everywhere()))
@pytest.mark.parametrize("power", [-1000, -540, -512, 512, 700])
def test_units_whose_squares_are_no_doubles_are_refused_with_the_factor_to_take(estimator, power):
    there = np.ldexp(X, power)
    with pytest.raises(InvalidInput, match=r"by 2\^-?\d+, which changes no digit|vanish|overflow"):
        estimator.fit(there, CLASSES)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


def test_the_factor_of_the_refusal_helps():
    for power in (-900, 900):
        with pytest.raises(InvalidInput) as refused:
            dualfold.Isomap(n_neighbors=8).fit(np.ldexp(X, power))
        verb, by = re.search(r"(divide|multiply) all by 2\^(-?\d+)", str(refused.value)).groups()
        unit = np.ldexp(np.ldexp(X, power), -int(by) if verb == "divide" else int(by))
        ours, plain = (
            dualfold.Isomap(n_neighbors=8).fit(unit),
            dualfold.Isomap(n_neighbors=8).fit(X),
        )
        assert ours.certificate_.level == "proved"
        scale = np.ptp(unit) / np.ptp(X)
        np.testing.assert_array_equal(ours.embedding_, scale * plain.embedding_)


def test_new_rows_whose_squares_overflow_are_refused():
    fitted = dualfold.LocallyLinearEmbedding(n_neighbors=8).fit(X)
    with pytest.raises(InvalidInput, match="overflow"):
        fitted.transform(np.ldexp(NEW, 600))
    assert np.isfinite(fitted.transform(np.ldexp(NEW, -600))).all()


def test_distances_and_problems_whose_squares_vanish_are_refused():
    tiny = graph.knn(np.ldexp(X, -560), 8)
    with pytest.raises(InvalidInput, match="vanish"):
        dualfold.methods.isomap(tiny)
    for rows in (X, X[:2]):  # the covariance, and the Gram matrix of fewer rows than columns
        with pytest.raises(InvalidInput, match="vanish"):
            dualfold.methods.pca(np.ldexp(rows, -535))


@pytest.mark.parametrize("power", [-560, -300, 300, 560])
def test_density_weights_and_local_combinations_in_other_units(power):
    plain, there = graph.knn(X, 8), graph.knn(np.ldexp(X, power), 8)
    weights = [affinity(one, weights="density").of_graph(one) for one in (plain, there)]
    np.testing.assert_array_equal(*weights)
    placed = [
        LocalWeightsMap(np.ldexp(X, unit), X[:, :2], 8, 1e-3)(np.ldexp(NEW, unit))
        for unit in (0, power)
    ]
    np.testing.assert_array_equal(*placed)


def test_few_old_rows_and_more_new_ones():
    rng = np.random.default_rng(3)
    for old, new in ((1, 5), (7, 40), (12, 60), (15, 63), (16, 64), (3, 200)):
        A, B = rng.standard_normal((old, 50)), rng.standard_normal((new, 50))
        k = min(3, old)
        found = graph.nearest(A, k, queries=B)
        lengths = np.sort(np.linalg.norm(B[:, None] - A[None], axis=2), axis=1)[:, :k]
        np.testing.assert_allclose(found.distances, lengths, rtol=1e-12)


def test_a_constant_column_beside_tiny_ones_is_refused():
    both = np.column_stack([np.ones(90), np.ldexp(X, -600)])
    with pytest.raises(InvalidInput, match="no unit has room"):
        graph.nearest(both, 5)


@pytest.mark.parametrize("power", [-1000, -560, 540])
def test_a_column_in_units_of_its_own(power):
    odd = X.copy()
    odd[:, 1] = np.ldexp(X[:, 1], power)
    units = np.ldexp(np.ones(3), [0, power, 0])
    plain = column_deviations(X, column_means(X), constant=0.0)
    # A column alone is added up in another order.
    found = column_deviations(odd, column_means(odd), constant=0.0)
    np.testing.assert_allclose(found, units * plain, rtol=1e-14)
    np.testing.assert_allclose(
        quality.column_correlations(odd, X[:, :2]),
        quality.column_correlations(X, X[:, :2]),
        rtol=1e-13,
    )
    np.testing.assert_allclose(
        quality.column_correlations(sp.csr_array(odd), X[:, :2]),
        quality.column_correlations(X, X[:, :2]),
        rtol=1e-9,
    )
    with pytest.raises(InvalidInput, match=r"column 1 .* multiply it by|overflow"):
        dualfold.FAMD(2).fit(odd)
    with pytest.raises(InvalidInput, match=r"column 1 .* multiply it by|overflow"):
        dualfold.PCA(2, standardize=True).fit(odd)

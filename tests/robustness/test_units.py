"""Data in units far from 1: rows times 2^k are the same rows, up to the power.

Outside of the range in which squares have room, everything is brought to other units by a power
of 2 and back, which changes no digit.
"""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from dualfold import graph
from dualfold.errors import InvalidInput
from dualfold.graph.neighbors import neighbors_within
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

"""Isomap against scikit-learn, identities, flat sheets and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold import PCA, Isomap
from dualfold.errors import DisconnectedGraph
from dualfold.graph import farthest_points, geodesic_distances, join_pieces, knn
from dualfold.methods import isomap, landmark_count, landmark_isomap, mds_of_distances
from tests.graph.door import Landmarks
from tests.tools.angles import principal_sine
from tests.tools.tables import curve_points, digit_points, roll_points

DATA = {
    "roll": roll_points(900, random_state=0),
    "curve": curve_points(800, random_state=0),
    # Whole pixels make ties among neighbours, which everyone breaks in their own way.
    "digits": digit_points(900) + 1e-3 * np.random.default_rng(0).random((900, 64)),
}


def test_isomap_with_all_neighbours_is_classical_scaling():
    X = DATA["digits"][:300]
    ours = dualfold.embed(isomap(knn(X, 299), n_components=4))
    theirs = dualfold.embed(mds_of_distances(cdist(X, X), n_components=4))
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-5)
    assert principal_sine(ours.points, theirs.points) < 1e-4


def test_isomap_lays_a_roll_flat():
    graph = knn(roll_points(3000), 8)
    points = dualfold.embed(isomap(graph)).points
    assert dualfold.residual_variance(graph, points) < 1e-3
    # The rolled-up sheet is as long as its spiral: the first axis spans its geodesics.
    assert np.ptp(points[:, 0]) == pytest.approx(geodesic_distances(graph).max(), rel=0.05)


def test_isomap_needs_one_piece():
    X = np.vstack([DATA["curve"][:200], DATA["curve"][:200] + 100])
    for state in (isomap, lambda graph: landmark_isomap(graph, [0, 1, 2])):
        with pytest.raises(DisconnectedGraph, match="2 pieces"):
            state(knn(X, 8))


def test_all_points_as_landmarks_are_exact():
    graph = knn(DATA["curve"], 8)
    exact = dualfold.embed(isomap(graph))
    by_landmarks = dualfold.embed(landmark_isomap(graph, np.arange(graph.n)))
    np.testing.assert_allclose(by_landmarks.values, exact.values, rtol=1e-5)
    scale = np.abs(exact.points).max()
    np.testing.assert_allclose(by_landmarks.points, exact.points, atol=1e-4 * scale)


def test_landmarks_of_a_flat_sheet_return_it():
    # Landmarks see true distances here, so every point comes back to rounding.
    sheet = np.random.default_rng(0).random((400, 2)) * [3, 1]
    indices = np.arange(0, 400, 40)
    graph = knn(sheet, 399)
    embedding = dualfold.embed(
        landmark_isomap(graph, Landmarks(indices, cdist(sheet[indices], sheet)))
    )
    assert embedding.points.shape == (400, 2)
    np.testing.assert_allclose(
        cdist(embedding.points, embedding.points), cdist(sheet, sheet), atol=1e-10
    )


def test_landmarks_on_a_roll_are_close_to_all_points():
    graph = knn(roll_points(2000, random_state=0), 8)
    exact = dualfold.embed(isomap(graph)).points
    embedding = dualfold.embed(landmark_isomap(graph, farthest_points(graph, 60, start=0)))
    assert embedding.certificate.level == "proved"
    assert len(embedding.solution.vectors) == 60
    assert dualfold.residual_variance(cdist(exact, exact), embedding.points) < 2e-3


def test_negative_eigenvalues_get_no_extent():
    # A cycle is no Euclidean space; enough directions reach its negative eigenvalues.
    angle = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    graph = knn(np.column_stack([np.cos(angle), np.sin(angle)]), 2)
    exact = dualfold.embed(isomap(graph, n_components=24))
    landmark = dualfold.embed(landmark_isomap(graph, np.arange(24), n_components=24))
    assert exact.values.min() < 0
    for embedding in (exact, landmark):
        assert not embedding.points[:, embedding.values < 0].any()
        assert np.isfinite(embedding.points).all()


def test_float32_isomap_needs_no_float64_matrix():
    import tracemalloc

    graph = knn(roll_points(2500, random_state=0), 8)
    tracemalloc.start()
    embedding = dualfold.embed(isomap(graph, dtype=np.float32))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert embedding.certificate.level == "proved"
    # The matrix in float32 is 25 MB, in float64 50 MB; tiles and vectors take the rest.
    assert peak < 25e6 + 22e6


def test_the_number_of_landmarks_follows_the_size():
    """2√n of them, as far as all distances to them take at most 2²⁹ numbers."""
    assert landmark_count(10_000) is None
    assert [landmark_count(n) for n in (10_001, 70_000, 90_000)] == [200, 529, 600]
    assert landmark_count(10**6) == 2**29 // 10**6
    assert all((landmark_count(n) or 0) * n <= 2**29 for n in range(20_000, 10**6, 7_919))


def test_geodesics_keep_the_precision_that_is_asked():
    graph = join_pieces(knn(np.random.default_rng(0).normal(size=(30, 2)), 6))
    assert isomap(graph).A.dtype == np.float64
    assert isomap(graph, dtype=np.float32).A.dtype == np.float32


RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))
DISTANCES = cdist(X, X)


def test_an_infinite_radius_is_everybody():
    from dualfold import Isomap

    whole = Isomap(n_neighbors=None, radius=np.inf)
    found = whole.fit_transform(X)
    assert whole.graph_.n_edges == 40 * 39 // 2
    np.testing.assert_allclose(
        np.abs(found), np.abs(PCA(n_components=2).fit_transform(X)), atol=1e-6
    )
    given = Isomap(n_neighbors=None, radius=np.inf, metric="precomputed").fit_transform(DISTANCES)
    np.testing.assert_allclose(np.abs(given), np.abs(found), atol=1e-6)


OTHER_RNG = np.random.default_rng(0)
WIDE = OTHER_RNG.normal(size=(40, 5))


def same_up_to_signs(one, two, tolerance=1e-6):
    np.testing.assert_allclose(np.abs(one), np.abs(two), atol=tolerance)


def test_a_function_with_parameters_is_a_metric():
    def weighted(one, two, w):
        return float(np.sqrt(np.sum(w * np.square(one - two))))

    w = np.array([1.0, 4.0, 0.25, 1.0, 1.0])
    ours = Isomap(n_neighbors=8, metric=weighted, metric_params={"w": w}).fit_transform(WIDE)
    same_up_to_signs(ours, Isomap(n_neighbors=8).fit_transform(WIDE * np.sqrt(w)))


def test_negative_mass_is_that_of_the_double_centred_geodesics(set_limits):
    turn = np.arange(60) * np.pi / 30
    ring = np.column_stack([np.cos(turn), np.sin(turn)])
    model = Isomap(n_neighbors=2).fit(ring)
    steps = np.abs(np.subtract.outer(np.arange(60), np.arange(60)))
    D = np.minimum(steps, 60 - steps) * 2 * np.sin(np.pi / 60)
    H = np.eye(60) - 1 / 60
    values = np.linalg.eigvalsh(-0.5 * H @ D**2 @ H)
    share = -values[values < 0].sum() / np.abs(values).sum()
    assert share > 0.2
    assert model.negative_mass_ == pytest.approx(share, rel=1e-9)
    assert "all eigenvalues" in model.negative_mass_note_
    line = Isomap(n_neighbors=2, n_components=1).fit(np.linspace(0, 1, 30)[:, None])
    assert line.negative_mass_ == 0
    two = Isomap(n_neighbors=2, pieces="separate").fit(np.vstack([ring, ring + 100]))
    assert two.negative_mass_ == pytest.approx(share, rel=1e-9)
    set_limits("methods._isomap", MAX_SPECTRUM_ROWS=50)
    assert np.isnan(model.negative_mass_)
    assert "60 eigenvalues" in model.negative_mass_note_

"""Fits with rare parameters, each against another way to the same answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.manifold import SpectralEmbedding as Theirs
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

from dualfold import (
    PCA,
    TSNE,
    ClassicalMDS,
    Isomap,
    LaplacianEigenmaps,
    NeighborMap,
    SpectralEmbedding,
    scale,
)
from dualfold.errors import PointsCollapse, TooLarge
from dualfold.saved import rechecked_points
from dualfold.tsne import neighbors as tsne_neighbors
from dualfold.tsne.starts import given_start, principal_points

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))
ROLL = np.sort(RNG.random(60))[:, None] * [6.0, 0.0] + RNG.random((60, 1)) * [0.0, 1.0]
ROLL = np.column_stack([np.cos(ROLL[:, 0]), np.sin(ROLL[:, 0]), ROLL[:, 1]])
FEW = {"perplexity": 5, "max_iter": 250}


def same_up_to_signs(one, two, tolerance=1e-6):
    np.testing.assert_allclose(np.abs(one), np.abs(two), atol=tolerance)


# ---- eigenmaps and their kin


def test_coordinates_that_were_named_decide_how_many_there_are():
    three = LaplacianEigenmaps(3, n_neighbors=8, coordinates="first").fit(ROLL)
    named = LaplacianEigenmaps("auto", n_neighbors=8, coordinates=[0, 2]).fit(ROLL)
    ours, wanted = named.embedding_, three.embedding_[:, [0, 2]]
    # Each by its own scale: the lengths of a map depend on the eigenvalues that it has.
    same_up_to_signs(ours / ours.std(axis=0), wanted / wanted.std(axis=0))
    assert named.certificate_.level == "proved"


def test_equal_sparse_rows_collapse_to_a_point():
    same = sp.csr_array(np.ones((12, 3)))
    with pytest.warns(PointsCollapse, match="all 12 points are the same"):
        LaplacianEigenmaps(n_neighbors=3).fit(same)


def test_a_function_with_parameters_is_a_metric():
    def weighted(one, two, w):
        return float(np.sqrt(np.sum(w * np.square(one - two))))

    w = np.array([1.0, 4.0, 0.25, 1.0, 1.0])
    ours = Isomap(n_neighbors=8, metric=weighted, metric_params={"w": w}).fit_transform(X)
    same_up_to_signs(ours, Isomap(n_neighbors=8).fit_transform(X * np.sqrt(w)))


@pytest.mark.parametrize("affinity", ["function", "lists"])
def test_affinities_by_a_function_or_by_sparse_distances(affinity):
    if affinity == "function":
        ours = SpectralEmbedding(2, affinity=lambda rows: rbf_kernel(rows, gamma=0.1))
        theirs = Theirs(2, affinity="precomputed").fit_transform(rbf_kernel(X, gamma=0.1))
        found = ours.fit_transform(X)
    else:
        near = kneighbors_graph(X, 12, mode="distance")
        settings = {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 8}
        found = SpectralEmbedding(2, **settings).fit_transform(near)
        theirs = Theirs(2, **settings, eigen_solver="arpack", random_state=0).fit_transform(near)
    same_up_to_signs(found, theirs, 1e-5)


# ---- distances


def test_distances_of_single_precision_are_those_of_double():
    single = X.astype(np.float32)
    found = ClassicalMDS(2, metric="manhattan").fit(single)
    wanted = ClassicalMDS(2, metric="manhattan").fit(single.astype(float))
    np.testing.assert_allclose(found.eigenvalues_, wanted.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(
        found.dissimilarity_matrix_, cdist(single.astype(float), single, "cityblock"), rtol=1e-6
    )


def test_data_that_do_not_vary_have_one_component():
    found = PCA(n_components=0.9).fit(np.ones((10, 3)))
    assert found.n_components_ == 1
    assert not found.transform(np.ones((2, 3))).any()


def test_a_share_of_the_variance_by_either_decomposition():
    full = PCA(n_components=0.8, svd_solver="full").fit(X)
    same = PCA(n_components=0.8, svd_solver="covariance_eigh").fit(X)
    assert full.n_components_ == same.n_components_
    np.testing.assert_allclose(full.explained_variance_, same.explained_variance_, rtol=1e-9)


# ---- neighbour maps


def test_neighbour_maps_of_distances_place_by_distances():
    apart = cdist(ROLL, ROLL)
    by_points = NeighborMap(n_neighbors=8, spread=0.05).fit(ROLL)
    by_distances = NeighborMap(n_neighbors=8, spread=0.05, metric="precomputed").fit(apart)
    assert by_distances.divergence_ == pytest.approx(by_points.divergence_, rel=1e-3)
    placed = by_distances.transform(apart[:5])
    np.testing.assert_allclose(placed, by_distances.embedding_[:5], atol=1e-6)


def test_neighbour_maps_of_two_pieces_have_one_spread():
    two = np.vstack([ROLL[:25], ROLL[:25] + 50])
    found = NeighborMap(n_neighbors=6, pieces="separate").fit(two)
    assert found.n_connected_components_ == 2
    for rows in (slice(0, 25), slice(25, 50)):
        part = found.embedding_[rows] - found.embedding_[rows].mean(axis=0)
        np.testing.assert_allclose(np.square(part).mean(axis=0), found.spread_, rtol=1e-6)


# ---- t-SNE


def test_tsne_says_what_it_does_line_by_line(capsys):
    TSNE(verbose=2, **FEW).fit(X)
    said = capsys.readouterr().out
    assert "[t-SNE] Computed 16 nearest neighbors..." in said
    assert "[t-SNE] Mean sigma:" in said
    assert "with early exaggeration" in said
    assert "Finished." in said


def test_tsne_without_repulsion_is_judged_as_an_eigenproblem():
    model = TSNE(attraction=np.inf, perplexity=5)
    points = model.fit_transform(X)
    assert model.judged_points(X, points).level == "proved"
    assert model.judged_points(X, RNG.normal(size=points.shape)).level == "failed"


def test_tsne_places_by_a_metric_with_parameters():
    settings = {"metric": "minkowski", "metric_params": {"p": 3}}
    model = TSNE(**settings, **FEW).fit(X)
    placed = model.transform(X[:4])
    assert np.linalg.norm(placed - model.embedding_[:4]) < 0.3 * np.ptp(model.embedding_)


def test_principal_components_of_very_wide_rows():
    """With more columns than rows they come from the products of rows."""
    wide = RNG.normal(size=(12, 3_000)) * np.geomspace(1, 1e-2, 3_000)
    for rows in (wide, sp.csr_array(wide)):
        found = principal_points(rows, 2)
        same_up_to_signs(found, PCA(n_components=2).fit_transform(wide), 1e-8)
    assert not principal_points(wide[:1], 2)[:, 1:].any()


def test_a_start_that_is_given_is_taken():
    np.testing.assert_array_equal(given_start(X[:, :2], 40, 2), X[:, :2])
    with pytest.raises(ValueError, match="40"):
        given_start(X[:, :3], 40, 2)


def test_a_start_of_no_numbers_is_refused():
    with pytest.raises(ValueError, match="it holds NaN or infinity"):
        given_start(np.full((40, 2), np.nan), 40, 2)


def test_full_tables_of_tsne_have_a_limit(monkeypatch):
    monkeypatch.setattr(tsne_neighbors, "MOST_FULL", 10)
    with pytest.raises(TooLarge, match="keeps 40² affinities"):
        TSNE(method="exact", perplexity=5).fit(X)
    with pytest.raises(TooLarge, match="all distances between 40 rows"):
        TSNE(metric="minkowski", metric_params={"p": 3}, perplexity=5).fit(X)


def test_neighbour_maps_are_judged_by_the_spread_that_they_have():
    fitted = NeighborMap(n_neighbors=8, spread=0.05).fit(ROLL)
    again = rechecked_points(NeighborMap(n_neighbors=8), ROLL, fitted.embedding_)
    assert again.spread == pytest.approx(0.05)
    assert again.value == pytest.approx(fitted.certificate_.value, rel=1e-6)


def test_landmarks_of_a_frame_in_tiles_know_its_columns():
    dask_frame = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(ROLL, columns=["x", "y", "z"])
    rows = scale.table(dask_frame.from_pandas(frame, npartitions=3), landmarks=40)
    model = LaplacianEigenmaps(n_neighbors=8).fit(rows)
    assert list(model.feature_names_in_) == ["x", "y", "z"]
    assert len(model.landmark_rows_) == 40
    assert model.transform(frame).shape == (60, 2)

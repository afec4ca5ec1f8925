"""Outliers and small groups apart: they neither stop a map nor rule it."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from dualfold import DiffusionMaps, LaplacianEigenmaps, LocallyLinearEmbedding
from dualfold.errors import InvalidInput, PiecesJoined, RowsLeftOut
from dualfold.graph import join_pieces, knn, radius
from dualfold.saved import load_model, model_of, rechecked_model, rechecked_points, save_model
from dualfold.weights import affinity

BOTH = [LaplacianEigenmaps, DiffusionMaps]


def cloud(n=400, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


def with_speck(size=12):
    """A cloud, and a few rows far off beside one another."""
    X = cloud()
    X[:size] = 30 + 0.1 * cloud(size, seed=1)
    return X


def share_of_width(points, rows):
    """How much wider the map is because of these rows, in its widest coordinate."""
    rest = np.delete(points, rows, axis=0)
    return (np.ptp(points, axis=0) / np.ptp(rest, axis=0)).max()


@pytest.mark.parametrize("kind", BOTH)
def test_one_outlier_does_not_stop_a_map(kind):
    X = np.random.default_rng(0).normal(size=(2000, 6))
    X[0] = 40
    model = kind().fit(X)
    assert model.certificate_.level == "proved"
    assert np.isfinite(model.embedding_).all()
    assert share_of_width(model.embedding_, [0]) < 1.5


@pytest.mark.parametrize("distance", [30.0, 1e6, 1e150])
def test_an_edge_of_the_default_widths_never_vanishes(distance):
    X = cloud(200)
    X[0], X[1:3] = distance, -distance
    with pytest.warns(PiecesJoined):
        graphs = join_pieces(knn(X, 10)), join_pieces(radius(X, 2.0))
    for graph in graphs:
        assert affinity(graph, weights="adaptive").of_graph(graph).min() > np.exp(-2 - 1e-9)
        assert affinity(graph, weights="heat").of_graph(graph).min() > np.exp(-16 - 1e-9)


@pytest.mark.parametrize("kind", BOTH)
def test_a_speck_is_left_out_and_named(kind):
    X = with_speck()
    with pytest.warns(RowsLeftOut, match=r"12 rows .* left out"):
        model = kind().fit(X)
    assert set(range(12)) <= set(model.left_out_)
    assert "of 400 rows" in model.certificate_.about
    assert "0, 1, 2" in model.certificate_.about
    assert share_of_width(model.embedding_, range(12)) < 1.5
    # The map of the others is theirs alone, and everybody is where a new row would be.
    alone = kind(left_out=()).fit(X[model.rows_])
    np.testing.assert_allclose(model.embedding_[model.rows_], alone.embedding_, atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-5)


def test_a_pair_of_outliers_has_not_the_width_of_the_map():
    X = StandardScaler().fit_transform(load_breast_cancer().data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RowsLeftOut)
        for model in (LaplacianEigenmaps(), LaplacianEigenmaps(weights="heat"), DiffusionMaps()):
            points = model.fit(X).embedding_
            heaviest = np.argsort(-np.abs(points - points.mean(axis=0)).max(axis=1))[:2]
            assert share_of_width(points, heaviest) < 1.5, model


def test_all_rows_are_kept_where_asked():
    X = with_speck(2)
    model = LaplacianEigenmaps(weights="heat", left_out=()).fit(X)
    assert model.rows_ is None
    assert not len(model.left_out_)
    assert share_of_width(model.embedding_, [0, 1]) > 3  # the pair rules, as it was asked to
    with pytest.raises(InvalidInput, match="row numbers"):
        LaplacianEigenmaps(left_out=[-1]).fit(X)
    with pytest.raises(InvalidInput, match="made from features"):
        LaplacianEigenmaps(left_out=[0], graph=knn(X, 10)).fit(X)


@pytest.mark.parametrize("kind", BOTH)
def test_what_was_left_out_is_stored_and_judged(kind, tmp_path):
    X = with_speck()
    with pytest.warns(RowsLeftOut):
        model = kind().fit(X)
    save_model(tmp_path / "m.dualfold", model_of(model))
    again = rechecked_model(load_model(tmp_path / "m.dualfold"), X)
    assert again.level == "proved"
    assert again.about == model.certificate_.about
    fresh = kind(left_out=list(model.left_out_))
    found = rechecked_points(fresh, X, model.embedding_, model.eigenvalues_)
    assert found.level == "proved"
    moved = model.embedding_.copy()
    moved[3] += 0.1
    assert rechecked_points(fresh, X, moved, model.eigenvalues_).level == "failed"


def test_clusters_are_no_specks():
    X = np.vstack([cloud(100), cloud(100, seed=1) + 50])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowsLeftOut)
        warnings.simplefilter("ignore", UserWarning)
        model = LaplacianEigenmaps().fit(X)
    assert not len(model.left_out_)


@pytest.mark.parametrize("kind", [*BOTH, LocallyLinearEmbedding])
def test_rows_with_more_copies_than_neighbours_count_once(kind, tmp_path):
    X = np.vstack([cloud(100), np.repeat(cloud(20), 12, axis=0)])
    model = kind(n_neighbors=8).fit(X)
    np.testing.assert_array_equal(model.rows_, np.arange(100))  # the cloud of 20 is its beginning
    np.testing.assert_allclose(model.embedding_[100::12], model.embedding_[:20], atol=1e-9)
    alone = kind(n_neighbors=8).fit(X[:100])
    np.testing.assert_allclose(model.embedding_[:100], alone.embedding_, atol=1e-9)
    assert "100 rows that differ" in model.certificate_.about
    save_model(tmp_path / "m.dualfold", model_of(model))
    assert rechecked_model(load_model(tmp_path / "m.dualfold"), X).level == "proved"

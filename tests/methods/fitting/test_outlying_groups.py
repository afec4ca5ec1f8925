"""Outliers and small groups apart: they neither stop a map nor dominate it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from dualfold import DiffusionMaps, LaplacianEigenmaps
from dualfold.errors import InvalidInput, RowsLeftOut
from dualfold.graph import knn

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


@pytest.mark.parametrize("kind", BOTH)
def test_a_speck_is_left_out_and_named(kind):
    X = with_speck()
    with pytest.warns(RowsLeftOut, match=r"12 rows, .* left out"):
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


def test_clusters_are_no_specks():
    X = np.vstack([cloud(100), cloud(100, seed=1) + 50])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RowsLeftOut)
        warnings.simplefilter("ignore", UserWarning)
        model = LaplacianEigenmaps().fit(X)
    assert not len(model.left_out_)

"""Landmarks of tables in tiles place the other rows, as rows held out decide."""

from __future__ import annotations

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest

from dualfold import TSNE, DiffusionMaps, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding
from dualfold.errors import InvalidInput
from dualfold.maps.attraction_map import AttractionMap
from dualfold.saved import load_model, model_of, rechecked_model, save_model
from dualfold.scale import table
from dualfold.scale.landmark_fit import HeldOut, placing_cost
from tests.tools.tables import digit_points, roll_points


@pytest.mark.parametrize("method", [LaplacianEigenmaps, Isomap, LocallyLinearEmbedding])
def test_landmarks_place_the_other_rows(method):
    """As a fit of the landmarks alone does, and the cost is measured on rows held out."""
    X = roll_points(2_500, random_state=0)
    rows = table(da.from_array(X, chunks=(600, 3)), landmarks=800)
    model = method(n_neighbors=8)
    places = model.fit_transform(rows)
    alone = method(n_neighbors=8).fit(X[model.landmark_rows_])
    np.testing.assert_allclose(model.embedding_, alone.embedding_, atol=1e-10)
    cost, place = model.placing_cost_, alone.transform
    if cost.rule:  # the rows decided for another one
        assert method is LaplacianEigenmaps
        place = AttractionMap(X[model.landmark_rows_], alone.embedding_, 4, 3.2, np.inf)
    np.testing.assert_allclose(places.compute(), place(X), atol=1e-10)
    assert (cost.held_out, cost.landmarks) == (1_000, 800)
    assert 0 < cost.kept_placed <= 1
    assert f"{cost.landmarks} landmarks of 2,500 rows" in model.certificate_.about
    assert model.certificate_.level == "proved"


def curved_surface(n):
    """Two dimensions, curved in ten columns: its map is a surface, too."""
    rng = np.random.default_rng(0)
    turns = rng.standard_normal((2, 10))
    return np.sin(rng.random((n, 2)) @ turns + rng.uniform(0, 6, 10))


@pytest.mark.parametrize("method", [LaplacianEigenmaps, DiffusionMaps])
@pytest.mark.parametrize("kind", ["groups", "surface"])
def test_rows_held_out_decide_how_rows_are_placed(method, kind):
    """Where a map shows groups a mean of few landmarks keeps more; on a surface Nyström's rule."""
    X = digit_points() if kind == "groups" else curved_surface(1_800)
    rows = table(da.from_array(X, chunks=(600, X.shape[1])), landmarks=700)
    model = method(n_neighbors=10).fit(rows)
    old, others = X[model.landmark_rows_], np.setdiff1d(np.arange(len(X)), model.landmark_rows_)
    alone = method(n_neighbors=10).fit(old)
    beside = HeldOut(old, X[others])
    own = beside.kept_shares(np.vstack([alone.embedding_, alone.transform(X[others])]))
    found = model.transform(X[others])
    kept = beside.kept_shares(np.vstack([model.embedding_, found]))
    cost = model.placing_cost_
    assert bool(cost.rule) == (kind == "groups")
    assert kept.mean() >= own.mean()
    if cost.rule:
        assert "mean of its 5 nearest landmarks" in model.certificate_.about
        assert kept.mean() > own.mean() + 0.01
    else:
        np.testing.assert_allclose(found, alone.transform(X[others]), atol=1e-10)
    # Old rows stay where they are, by either rule.
    np.testing.assert_allclose(model.transform(old), model.embedding_, atol=1e-8)


def test_landmarks_of_neighbour_maps():
    """t-SNE places the other rows among the fitted ones, each on its own."""
    X = digit_points()
    rows = table(da.from_array(X, chunks=(500, X.shape[1])), landmarks=400)
    seen = []
    settings = {"perplexity": 10, "max_iter": 300}
    model = TSNE(**settings, callbacks=lambda *one: seen.append(one[0]))
    places = model.fit_transform(rows)
    assert isinstance(places, da.Array)
    alone = TSNE(**settings).fit(X[model.landmark_rows_])
    np.testing.assert_array_equal(model.embedding_, alone.embedding_)
    np.testing.assert_allclose(places.compute(), alone.transform(X), atol=1e-10)
    cost = model.placing_cost_
    assert (cost.held_out, cost.landmarks) == (1_000, 400)
    assert 0.2 < cost.kept_placed < 1
    assert "400 landmarks of 1,797 rows" in str(model.certificate_.about)
    assert sorted(set(seen)) == sorted(seen)  # the fit that measures the cost is not told
    with pytest.raises(InvalidInput, match="needs features"):
        TSNE(metric="precomputed").fit(rows)


def test_of_few_rows_all_are_landmarks():
    X = roll_points(300, random_state=0)
    model = LaplacianEigenmaps(n_neighbors=8).fit(da.from_array(X, chunks=(100, 3)))
    assert model.placing_cost_ is None
    whole = LaplacianEigenmaps(n_neighbors=8).fit(X)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(whole.embedding_), atol=1e-10)


def test_the_cost_of_placing_sees_a_wrong_map():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3))
    right = X[:, :2]
    turn = np.array([[0.0, -2.0], [2.0, 0.0]])
    rows = HeldOut(X[:300], X[300:])
    same = placing_cost(rows, right[:300] @ turn, right[300:] @ turn, right)
    assert same.moved < 1e-12
    assert same.kept_placed == same.kept_fitted
    wrong = placing_cost(rows, right[:300], rng.standard_normal((100, 2)), right)
    assert wrong.moved > 0.5
    assert wrong.kept_placed < 0.6 * wrong.kept_fitted


@pytest.mark.parametrize("method", [LaplacianEigenmaps, DiffusionMaps])
def test_maps_by_means_of_few_landmarks_are_judged_again(method, tmp_path):
    """A saved model of this rule holds; with another point, count or method it does not."""
    X = digit_points()
    rows = table(da.from_array(X, chunks=(600, 64)), landmarks=700)
    fitted = method(n_neighbors=10).fit(rows)
    model = model_of(fitted)
    assert isinstance(model.map, AttractionMap)
    save_model(tmp_path / "few.model", model)
    model, old = load_model(tmp_path / "few.model"), X[fitted.landmark_rows_]
    assert rechecked_model(model, old).level == "proved"
    moved = model.map.points.copy()
    moved[3] += 1e-3 * np.ptp(moved, axis=0)
    forged = {"points": moved, "n_neighbors": 4, "perplexity": 3.0, "attraction": 2.0}
    for name, value in forged.items():
        wrong = replace(model, map=replace(model.map, **{name: value}))
        assert rechecked_model(wrong, old).level == "failed", name
    settings = model_of(LocallyLinearEmbedding(n_neighbors=10).fit(old)).settings
    with pytest.raises(InvalidInput, match="of kind 'neighbours' holds no answer"):
        rechecked_model(replace(model, settings=settings), old)

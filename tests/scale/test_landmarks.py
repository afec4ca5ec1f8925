"""Landmarks of tables in tiles place the other rows, as rows held out decide."""

from __future__ import annotations

from dataclasses import replace

import dask.array as da
import numpy as np
import pytest

from dualfold import (
    MDS,
    PCA,
    TSNE,
    DiffusionMaps,
    Isomap,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
)
from dualfold.errors import InvalidInput
from dualfold.quality import t_similarity
from dualfold.saved import load_model, model_of, rechecked_model, save_model
from dualfold.scale import kept_neighbors, table
from tests.methods.door import AttractionMap
from tests.quality.door import drawn_rows
from tests.scale.door import HeldOut, drawn_row_numbers, kept_on_maps, rms_motion
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


def test_landmarks_of_least_stress_place_the_other_rows():
    X = roll_points(400, random_state=0)
    rows = table(da.from_array(X, chunks=(150, 3)), landmarks=90)
    model = MDS(max_iter=40)
    places = model.fit_transform(rows).compute()
    alone = MDS(max_iter=40).fit(X[model.landmark_rows_])
    np.testing.assert_allclose(places, alone.transform(X), atol=1e-10)
    assert "90 landmarks of 400 rows" in model.certificate_.about
    with pytest.raises(InvalidInput, match="non-metric"):
        MDS(metric_mds=False).fit(rows)


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
    held = slice(300, None)
    assert rms_motion(right @ turn, right, held) < 1e-12
    wrong = np.vstack([right[:300], rng.standard_normal((100, 2))])
    assert rms_motion(wrong, right, held) > 0.5


def first_columns(rows):
    return rows[:, :2]


def coarse_columns(rows):
    return np.floor(rows[:, :2])


@pytest.mark.parametrize("seed", [1])
def test_neighbours_of_some_rows_are_counted_among_all_rows_of_the_table(seed):
    """As `t_similarity` counts them, with ties in the table and on the map."""
    rng = np.random.default_rng(seed)
    fine, answers = rng.standard_normal((240, 3)), rng.integers(1, 6, (240, 3)) * 1.0
    numbers = np.sort(rng.choice(240, 60, replace=False))
    rules = first_columns, coarse_columns
    for X in (fine, answers):
        rows = table(da.from_array(X, chunks=(70, 3)))
        found = kept_on_maps(rows, numbers, [rule(X[numbers]) for rule in rules], rules, 7)
        for kept, rule in zip(found, rules, strict=True):
            whole = t_similarity(X, rule(X), 7, per_point=True)
            np.testing.assert_allclose(kept, whole[numbers], atol=1e-12)
            for length in (70, 110):
                y = da.from_array(rule(X), chunks=(length, 2))
                every = kept_neighbors(da.from_array(X, chunks=(70, 3)), y, 7, sample=240)
                assert every == pytest.approx(whole.mean())


def test_a_rotated_table_in_tiles_keeps_all_neighbours():
    X = np.random.default_rng(3).integers(1, 6, (500, 4)) * 1.0
    Y = PCA(4).fit_transform(X)
    blocks = [da.from_array(part, chunks=(200, 4)) for part in (X, Y)]
    assert kept_neighbors(*blocks, 10, sample=300) == 1.0
    assert kept_neighbors(*blocks[::-1], 10, sample=300) == 1.0


@pytest.mark.parametrize("seed", [3, 4])
def test_rows_held_out_keep_what_all_placed_rows_of_the_table_keep(seed):
    X = roll_points(4_000, random_state=seed)
    model = Isomap(n_components=2, random_state=seed)
    places = model.fit_transform(table(da.from_array(X, chunks=(900, 3)), landmarks=200)).compute()
    cost = model.placing_cost_
    others = np.setdiff1d(np.arange(len(X)), model.landmark_rows_)
    whole = t_similarity(X, places, 10, per_point=True)[others].mean()
    room = 0.5 * (cost.kept_placed.high - cost.kept_placed.low)  # twice the interval: 4 deviations
    assert cost.kept_placed.low - room <= whole <= cost.kept_placed.high + room
    assert cost.kept_placed.sampled == cost.held_out == 1_000
    assert f"keep {100 * cost.kept_placed:.1f} % of their 10 nearest of all rows" in str(cost)


def test_rows_to_measure_on_are_not_the_landmarks_of_the_same_seed():
    landmarks = drawn_row_numbers(20_000, 1_500, 0)
    subsample = np.random.default_rng(0).choice(20_000, 1_500, replace=False)
    for others in (landmarks, subsample):
        shared = len(np.intersect1d(drawn_rows(20_000, 1_500, 0), others))
        assert shared < 200  # 112 by chance, deviation 10


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
    problem = model_of(LocallyLinearEmbedding(n_neighbors=10).fit(old)).problem
    with pytest.raises(InvalidInput, match="of kind 'neighbours' holds no answer"):
        rechecked_model(replace(model, problem=problem), old)

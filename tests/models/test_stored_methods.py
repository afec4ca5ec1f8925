"""Models of every method with more than points to keep: stored, placed and judged as fitted."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_blobs

from dualfold import (
    TSNE,
    DiffusionMaps,
    FisherDiscriminant,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    MaximumVarianceUnfolding,
    NeighborMap,
    OrthogonalLPP,
)
from dualfold.errors import InvalidInput, RowsLeftOut
from dualfold.saved import load_model, model_of, rechecked_model, rechecked_points, save_model
from tests.methods.points.tsne.problems import DIGITS
from tests.tools.independent_maps import ESTIMATORS, fitted
from tests.tools.tables import curve_points, digit_points, roll_points, strip

BOTH = [LaplacianEigenmaps, DiffusionMaps]


def cloud(n=400, seed=0):
    return np.random.default_rng(seed).normal(size=(n, 4))


def with_speck(size=12):
    """A cloud, and a few rows far off beside one another."""
    X = cloud()
    X[:size] = 30 + 0.1 * cloud(size, seed=1)
    return X


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


@pytest.mark.parametrize("name", ESTIMATORS)
def test_stored_maps_are_judged_by_the_same_choice(name, tmp_path):
    model, X = fitted(name), strip(3)
    save_model(tmp_path / "map", model_of(model))
    loaded = load_model(tmp_path / "map")
    level = model.certificate_.level
    assert rechecked_model(loaded, X).level == level
    again = ESTIMATORS[name](**model.found_parameters())
    stored = (model.embedding_, model.eigenvalues_)
    assert rechecked_points(again, X, *stored).level == level
    moved = model.embedding_ + 0.03 * np.ptp(model.embedding_) * (np.arange(600) == 7)[:, None]
    assert rechecked_points(again, X, moved, stored[1]).level == "failed"
    other = ESTIMATORS[name](coordinates=[0, 4])
    assert rechecked_points(other, X, *stored).level == "failed"
    assert rechecked_points(again, X, stored[0] * [1, 1.01], stored[1]).level == "failed"


def test_a_flat_sheet_has_no_more_digits_than_before():
    model = LocallyLinearEmbedding(n_neighbors=9, method="ltsa", coordinates="independent")
    X = strip(3, 200)
    assert model.fit(X).coordinates_ == (0, 1)
    assert model.certificate_.level in ("proved", "unresolved")
    assert rechecked_model(model_of(model), X).level in ("proved", "unresolved")


def test_pieces_share_the_choice_of_the_largest():
    apart = np.vstack([strip(3), strip(3)[:200] + 50, [[90.0, 90.0], [90.0, 90.1]]])
    model = LaplacianEigenmaps(coordinates="independent", pieces="separate", n_neighbors=8)
    assert model.fit(apart).certificate_.level == "proved"
    assert model.coordinates_ == (0, 2)
    assert rechecked_model(model_of(model), apart).level == "proved"


CURVE = curve_points(200, random_state=0)
APART = np.vstack([CURVE[:90], CURVE[90:150] + 40.0, CURVE[150:] - 60.0])


# A kernel that sees the density: everybody within three widths.
KERNEL = {"n_neighbors": None, "radius": 1.5, "width": 0.5}


@pytest.mark.parametrize(
    "model",
    [
        DiffusionMaps(alpha=0.5, diffusion_time=2.5),
        DiffusionMaps(alpha=0.0, diffusion_time=0.0),
        DiffusionMaps(landmarks=120, **KERNEL),
        DiffusionMaps(pieces="separate", n_neighbors=5),
        LaplacianEigenmaps(pieces="separate", n_neighbors=5, diffusion_time=2.5),
    ],
    ids=str,
)
def test_diffusion_maps_come_back_from_files(model, tmp_path):
    X = APART if model.pieces == "separate" else CURVE
    fitted = clone(model).fit(X)
    save_model(tmp_path / "one.dualfold", model_of(fitted))
    again = load_model(tmp_path / "one.dualfold")
    new = X + 1e-2
    np.testing.assert_array_equal(again.transform(new), fitted.transform(new))
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fitted)).transform(new), fitted.transform(new)
    )
    assert rechecked_model(again, X).level == "proved"
    other = X.copy()
    other[0] += 0.5
    assert rechecked_model(again, other).level == "failed"


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    "settings",
    [
        {"diffusion_time": 3.0},
        {"diffusion_time": 200.0, "alpha": 0.0},
        {"landmarks": 120},
        {"pieces": "separate", "diffusion_time": 3.0},
    ],
    ids=str,
)
def test_stored_points_of_diffusion_maps_are_judged_again(settings, kind):
    X = (APART if "pieces" in settings else CURVE).astype(kind)
    model = DiffusionMaps(**settings).fit(X)
    points, values = model.embedding_, model.eigenvalues_
    again = rechecked_points(clone(model), X, points, values)
    assert again.level == "proved"
    for row in (0, 77, 199):  # landmarks and others
        moved = points.copy()
        moved[row] += 0.05 * np.ptp(points, axis=0)
        assert rechecked_points(clone(model), X, moved, values).level == "failed"
    if "landmarks" not in settings:
        return
    parts = DiffusionMaps(landmarks=120, pieces="separate", n_neighbors=5)
    found = clone(parts).fit(APART).embedding_
    with pytest.raises(InvalidInput, match="judge the model instead"):
        rechecked_points(parts, APART, found)


IRIS, iris_y = load_iris(return_X_y=True)


WINE, wine_y = load_wine(return_X_y=True)


# Fewer rows than features: the scatter within classes is singular.
WIDE, wide_y = make_blobs(40, 100, centers=4, cluster_std=3.0, random_state=0)


@pytest.mark.parametrize(
    ("model", "X", "y"),
    [
        (FisherDiscriminant(), IRIS, iris_y),
        (FisherDiscriminant(2, shrinkage=0.2), WIDE, wide_y),
        (FisherDiscriminant(shrinkage="auto"), WIDE, wide_y),
        (OrthogonalLPP(supervised=True), WINE, wine_y),
    ],
    ids=str,
)
def test_stored_maps_of_labelled_rows_are_judged_again(model, X, y):
    fitted = clone(model).fit(X, y)
    kept = model_of(fitted)
    points, values = fitted.embedding_, fitted.eigenvalues_
    assert rechecked_model(kept, X, y).level == "proved"
    assert rechecked_points(clone(model), X, points, values, y=y).level == "proved"
    other = np.roll(y, 1)
    assert rechecked_model(kept, X, other).level == "failed"
    assert rechecked_points(clone(model), X, points, values, y=other).level == "failed"
    moved = points.copy()
    moved[3] += 0.1 * np.ptp(points, axis=0)
    assert rechecked_points(clone(model), X, moved, values, y=y).level == "failed"
    with pytest.raises(InvalidInput, match="requires y"):
        rechecked_model(kept, X)


RNG = np.random.default_rng(0)
ROLL = np.sort(RNG.random(60))[:, None] * [6.0, 0.0] + RNG.random((60, 1)) * [0.0, 1.0]
ROLL = np.column_stack([np.cos(ROLL[:, 0]), np.sin(ROLL[:, 0]), ROLL[:, 1]])


def test_neighbour_maps_are_judged_by_the_spread_that_they_have():
    fitted = NeighborMap(n_neighbors=8, spread=0.05).fit(ROLL)
    again = rechecked_points(NeighborMap(n_neighbors=8), ROLL, fitted.embedding_)
    assert again.spread == pytest.approx(0.05)
    assert again.value == pytest.approx(fitted.certificate_.value, rel=1e-6)


@pytest.mark.parametrize("attraction", [1.0, np.inf])
def test_a_tsne_map_is_judged_at_the_tolerance_of_the_caller(attraction):
    """A share of the forces (0.01 where none is named), or a gap where the map is spectral."""
    X = np.random.default_rng(7).standard_normal((60, 4))
    model = TSNE(perplexity=9, attraction=attraction, max_iter=400).fit(X)
    again = TSNE(perplexity=9, attraction=attraction)
    usual = 0.01 if attraction == 1 else 1e-4
    for tolerance in ("default", 1e-12, 0.9):
        own = clone(again).judged_points(X, model.embedding_, tolerance)
        for found in (
            rechecked_points(clone(again), X, model.embedding_, tolerance=tolerance),
            rechecked_model(model_of(model), X, tolerance=tolerance),
        ):
            assert found.tolerance == (usual if tolerance == "default" else tolerance)
            assert found.level == own.level
            if attraction == 1:
                assert (found.level == "stationary") == (found.unbalanced <= found.tolerance)
    with pytest.raises(InvalidInput, match="tolerance"):
        rechecked_points(clone(again), X, model.embedding_, tolerance=2.0)


def test_the_spread_of_a_neighbour_map_grows_as_far_as_the_tolerance_allows(tmp_path):
    X = digit_points(80).astype(float)
    model = NeighborMap(tolerance=0.05).fit(X)
    verdict = model.certificate_
    assert verdict.holds
    assert verdict.bound <= verdict.value <= 1.05 * verdict.bound
    wider = [one for one in model.history_ if one[0] > model.spread_]
    assert wider
    assert all(value > 1.05 * bound for _, value, bound in wider)
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_ / 80 / model.spread_,
                               np.eye(2), atol=1e-9)  # fmt: skip
    save_model(tmp_path / "m", model_of(model))
    assert rechecked_model(load_model(tmp_path / "m"), X, tolerance=0.05).level == "proved"
    again = NeighborMap(**model.found_parameters())
    assert rechecked_points(again, X, model.embedding_, tolerance=0.05).level == "proved"
    assert rechecked_points(again, X, model.embedding_ * [1, -1.1]).level == "failed"
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


@pytest.mark.full
def test_neighbour_maps_of_many_rows_are_measured(set_limits):
    of_points = (f"points.neighbor_map.{name}" for name in ("problem", "certificate", "homotopy"))
    for module in ("_neighbor_map", *of_points):
        set_limits(f"methods.{module}", MAX_PAIRED_ROWS=400)
    X = np.random.default_rng(0).uniform(size=(500, 2))
    model = NeighborMap(tolerance=0.02).fit(X)
    verdict = model.certificate_
    assert (verdict.level, verdict.holds) == ("measured", True)
    assert "but for a chance of" in str(verdict)
    assert 0 < verdict.bound < verdict.value < 1.02 * verdict.bound
    again = NeighborMap(**model.found_parameters())
    assert rechecked_points(again, X, model.embedding_, tolerance=0.02).level == "measured"
    turned = model.embedding_[::-1].copy()  # still white, and a bad map
    assert not rechecked_points(again, X, turned, tolerance=0.02).holds
    assert NeighborMap(spread=3.0).fit(X).certificate_.level == "unresolved"


def test_of_many_rows_a_neighbour_map_takes_some_and_places_the_others(set_limits):
    set_limits("methods._neighbor_map", MAX_QUICK_ROWS=80)
    X = digit_points(120)
    with pytest.warns(RowsLeftOut, match="drawn at random"):
        model = NeighborMap(random_state=0, tolerance=0.05).fit(X)
    assert len(model.rows_) == 80
    assert "80 landmarks" in model.certificate_.about
    alone = NeighborMap(tolerance=0.05).fit(X[model.rows_])
    assert alone.divergence_ == pytest.approx(model.divergence_, rel=1e-6)
    others = np.setdiff1d(np.arange(120), model.rows_)
    np.testing.assert_allclose(model.embedding_[others], model.transform(X[others]))
    again = NeighborMap(**(model.get_params() | model.found_parameters()))
    judged = rechecked_points(again, X, model.embedding_, tolerance=0.05)
    assert judged.level == "proved"
    moved = model.embedding_.copy()
    moved[others[0]] += 1
    assert rechecked_points(again, X, moved, tolerance=0.05).level == "failed"


def test_an_unfolding_of_some_rows_is_judged_again(tmp_path):
    X = roll_points(300, random_state=0)
    model = MaximumVarianceUnfolding(n_neighbors=8, landmarks=150, random_state=0).fit(X)
    assert len(model.rows_) == 150
    path = tmp_path / "roll.dualfold"
    save_model(path, model_of(model))
    stored = load_model(path)
    assert rechecked_model(stored, X).level == "proved"
    settings = model.get_params() | model.found_parameters()
    sides = stored.both_sides
    again = rechecked_points(MaximumVarianceUnfolding(**settings), X, model.embedding_, sides=sides)
    assert again.level == "proved"
    assert "150 landmarks" in again.about
    moved = model.embedding_.copy()
    moved[np.setdiff1d(np.arange(300), model.rows_)[0]] += 1
    forged = rechecked_points(MaximumVarianceUnfolding(**settings), X, moved, sides=sides)
    assert forged.level == "failed"


@pytest.fixture(scope="module")
def fitted_tsne():
    return TSNE(perplexity=10).fit(DIGITS)


def test_a_saved_model_places_rows_and_is_judged(fitted_tsne, tmp_path):
    path = tmp_path / "m.dualfold"
    save_model(path, model_of(fitted_tsne))
    model = load_model(path)
    new = digit_points()[300:320].astype(float)
    np.testing.assert_array_equal(model.transform(new), fitted_tsne.transform(new))
    again = rechecked_model(model, DIGITS)
    assert (again.level, again.kl) == ("stationary", fitted_tsne.kl_divergence_)
    forged = model.map.points.copy()
    forged[:50] += 5
    object.__setattr__(model.map, "points", forged)
    assert rechecked_model(model, DIGITS).level == "not stationary"
    object.__setattr__(model.map, "points", fitted_tsne.embedding_)
    object.__setattr__(model.map, "n_neighbors", 5)
    assert rechecked_model(model, DIGITS).level == "failed"

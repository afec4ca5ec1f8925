"""NeighborMap: its spread, its limit of eigenmaps, distances, pieces, placed rows."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist
from typer.testing import CliRunner

from dualfold import LaplacianEigenmaps, NeighborMap
from dualfold.cli import app
from dualfold.data import digits
from dualfold.errors import RowsLeftOut
from dualfold.saved import load_model, model_of, rechecked_model, rechecked_points, save_model

RNG = np.random.default_rng(0)
ROLL = np.sort(RNG.random(60))[:, None] * [6.0, 0.0] + RNG.random((60, 1)) * [0.0, 1.0]
ROLL = np.column_stack([np.cos(ROLL[:, 0]), np.sin(ROLL[:, 0]), ROLL[:, 1]])


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


def test_neighbour_maps_are_judged_by_the_spread_that_they_have():
    fitted = NeighborMap(n_neighbors=8, spread=0.05).fit(ROLL)
    again = rechecked_points(NeighborMap(n_neighbors=8), ROLL, fitted.embedding_)
    assert again.spread == pytest.approx(0.05)
    assert again.value == pytest.approx(fitted.certificate_.value, rel=1e-6)


def test_a_small_spread_is_eigenmaps():
    X = digits().points[:120].astype(float)
    model = NeighborMap(spread=1e-6).fit(X)
    plain = LaplacianEigenmaps(constraint="identity", left_out=()).fit(X)
    assert np.rad2deg(subspace_angles(model.embedding_, plain.embedding_).max()) < 0.5
    assert model.certificate_.level == "proved"


def test_the_spread_grows_as_far_as_the_tolerance_allows(tmp_path):
    X = digits().points[:80].astype(float)
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


def test_many_rows_are_measured(monkeypatch, tmp_path):
    for module in ("problem", "certificate", "homotopy"):
        monkeypatch.setattr(f"dualfold.neighbor_map.{module}.MAX_PAIRED_ROWS", 400)
    monkeypatch.setattr("dualfold.methods._neighbor_map.MAX_PAIRED_ROWS", 400)
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


def test_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("t.csv", digits().points[:60, 10:30], delimiter=",")

    def run(*words, code=0):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == code, result.output
        return result.stdout

    words = ("embed", "t.csv", "-m", "neighbor_map", "-o", "m.csv", "--tolerance", 0.03, "--json")
    found = json.loads(run(*words))
    assert found["certificate"]["level"] == "proved"
    assert found["certificate"]["bound"] > 0
    assert "white" in found["solved"]
    assert found["settings"]["spread"] > 0
    judged = json.loads(run("certify", "t.csv", "m.csv", "--tolerance", 0.03, "--json"))
    assert judged["certificate"]["level"] == "proved"


def test_of_many_rows_some_are_mapped_and_the_others_placed(monkeypatch):
    monkeypatch.setattr("dualfold.methods._neighbor_map.MAX_QUICK_ROWS", 80)
    X = digits().points[:120]
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

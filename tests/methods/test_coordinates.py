"""Independent coordinates: chosen, scaled, placed, stored and judged by the same choice."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsRegressor
from typer.testing import CliRunner

from dualfold import DiffusionMaps, LaplacianEigenmaps, LocallyLinearEmbedding, TraceProblem
from dualfold.cli import app
from dualfold.errors import InvalidInput, Overtone
from dualfold.fitting.overtones import kept_neighbors, overtones, unexplained_share
from dualfold.graph import knn
from dualfold.quality import t_similarity
from dualfold.saved import load_model, model_of, rechecked_model, rechecked_points, save_model
from dualfold.trace.certificate import certify
from dualfold.trace.solvers import Auto, Dense, Factored
from dualfold.trace.solvers.auto import krylov_space_for

ESTIMATORS = {
    "eigenmaps": LaplacianEigenmaps,
    "identity": lambda **more: LaplacianEigenmaps(constraint="identity", **more),
    "diffusion": DiffusionMaps,
    "lle": lambda **more: LocallyLinearEmbedding(n_neighbors=10, **more),
    "modified": lambda **more: LocallyLinearEmbedding(n_neighbors=10, method="modified", **more),
}


@cache
def strip(aspect: float, n: int = 600) -> np.ndarray:
    """Points of a rectangle, its long side along the first axis."""
    points = np.random.default_rng(1).uniform(size=(n, 2)) / [1, aspect]
    points.setflags(write=False)
    return points


@cache
def fitted(name: str, aspect: float = 3):
    with warnings.catch_warnings():
        warnings.simplefilter("error", Overtone)
        return ESTIMATORS[name](coordinates="independent").fit(strip(aspect))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_direction_across_is_found(name):
    model, X = fitted(name), strip(3)
    for axis in (0, 1):
        # Either side of the rectangle can be read off the map, by its nearest points.
        reading = KNeighborsRegressor(5).fit(model.embedding_[::2], X[::2, axis])
        assert reading.score(model.embedding_[1::2], X[1::2, axis]) > 0.8
    assert model.certificate_.level == "proved"
    assert len(model.certificate_.residuals) == 6
    assert f"number 1 and {model.coordinates_[1] + 1}" in model.certificate_.about
    assert len(model.eigenvalues_) == 2
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-6)


@pytest.mark.parametrize("name", ["eigenmaps", "diffusion"])
def test_far_more_neighbours_than_the_first_pair(name):
    with pytest.warns(Overtone, match="coordinate 2 is an overtone.* 0.00"):
        first = ESTIMATORS[name]().fit(strip(3))
    kept = [float(t_similarity(strip(3), m.embedding_, 10)) for m in (first, fitted(name))]
    assert kept[1] > 1.8 * kept[0]
    # Nobody may pick the same as the first two by mistake.
    assert fitted(name).coordinates_ == (0, 2)
    assert first.coordinates_ == (0, 1)


def test_a_square_keeps_its_first_pair():
    model = fitted("eigenmaps", 1.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", Overtone)
        first = LaplacianEigenmaps().fit(strip(1.2))
    assert model.coordinates_ == (0, 1)
    factors = np.sqrt(first.eigenvalues_[0] / first.eigenvalues_)
    off = np.abs(model.embedding_ - first.embedding_ * factors).max()
    assert off < 1e-5 * np.ptp(first.embedding_)  # solvers leave 1e-6


def test_a_long_strip_looks_further():
    X = strip(8, 1_500)
    model = LaplacianEigenmaps(coordinates="independent").fit(X)
    assert len(model.certificate_.residuals) == 20
    with pytest.warns(Overtone):
        first = LaplacianEigenmaps().fit(X)
    kept = [float(t_similarity(X, m.embedding_, 10)) for m in (first, model)]
    assert kept[1] > 1.8 * kept[0]


def test_a_curve_says_so():
    turn = np.linspace(0, 4, 200)
    helix = np.column_stack([np.cos(turn), np.sin(turn), turn])
    with pytest.warns(Overtone, match="the data may be a curve"):
        LaplacianEigenmaps(coordinates="independent").fit(helix)


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


def test_numbers_that_were_chosen_state_the_problem_again():
    model, X = fitted("eigenmaps"), strip(3)
    again = LaplacianEigenmaps(coordinates=model.coordinates_).fit(X)
    np.testing.assert_allclose(abs(again.embedding_), abs(model.embedding_), atol=1e-5)
    assert again.certificate_.level == "proved"
    with pytest.raises(InvalidInput, match="a choice that fitting makes"):
        LaplacianEigenmaps(coordinates="independent").fit(X).statement(X, 2)


@pytest.mark.parametrize("wrong", [[0], [1, 0], [-1, 2], [0.5, 1.0], [0, 0]])
def test_wrong_numbers_are_refused(wrong):
    with pytest.raises(InvalidInput, match="coordinates"):
        LaplacianEigenmaps(coordinates=wrong).fit(strip(3))


def test_pieces_share_the_choice_of_the_largest():
    apart = np.vstack([strip(3), strip(3)[:200] + 50, [[90.0, 90.0], [90.0, 90.1]]])
    model = LaplacianEigenmaps(coordinates="independent", pieces="separate", n_neighbors=8)
    assert model.fit(apart).certificate_.level == "proved"
    assert model.coordinates_ == (0, 2)
    assert rechecked_model(model_of(model), apart).level == "proved"


def test_auto_counts_first_and_chooses_then():
    model = LaplacianEigenmaps("auto", coordinates="independent").fit(strip(3))
    assert model.embedding_.shape[1] == len(model.coordinates_)
    assert "eigengap" in model.n_components_reason_


def test_what_a_function_leaves():
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-1, 1, (2, 1500))
    assert unexplained_share(x[:, None], np.cos(9 * x)) < 0.02
    assert unexplained_share(x[:, None], y) > 0.9
    assert unexplained_share(np.column_stack([x, y]), x * y) < 0.05
    assert [k for k, _ in overtones(np.column_stack([x, y, np.sin(4 * x)]))] == [2]
    assert overtones(np.column_stack([x, x])[:20]) == []


def test_kept_neighbours_are_the_t_similarity():
    X = strip(3)
    Y = np.random.default_rng(2).normal(size=(600, 2)) * 0.05 + X
    rows = np.arange(600)
    expected = float(t_similarity(X, Y, 10))
    assert kept_neighbors(knn(X, 10), Y, rows) == pytest.approx(expected, abs=1e-12)


def test_the_command_line_has_independent_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("strip.csv", strip(3), delimiter=",", header="a,b", comments="")

    def run(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        return result.stdout

    embed = ("embed", "strip.csv", "-m", "eigenmaps", "-o", "map.csv", "--no-standardize", "--json")
    found = json.loads(run(*embed))
    assert found["settings"]["coordinates"] == [0, 2]
    assert "no other choice of 6 coordinates" in found["solved"]
    assert (
        json.loads(run("certify", "strip.csv", "map.csv", "--json"))["certificate"]["level"]
        == "proved"
    )
    found = json.loads(run(*embed, "--force", "--coordinates", "first"))
    assert found["settings"]["coordinates"] == "first"
    assert any("overtone" in notice for notice in found["notices"])
    assert "(in Python: first)" in run("methods", "eigenmaps")


def test_a_second_look_goes_on_from_the_first_and_misses_no_twins():
    """A torus of 21×21 nodes: eigenvalues known, four and eight times over."""
    m = 21
    ring = sp.csr_array(np.roll(np.eye(m), 1, axis=1) + np.roll(np.eye(m), -1, axis=1))
    W = sp.csr_array(sp.kron(ring, sp.eye_array(m)) + sp.kron(sp.eye_array(m), ring))
    L = sp.csr_array(4 * sp.eye_array(m * m) - W)
    problem = TraceProblem(L, None, 6, "min", excluded=np.ones(m * m))
    first = Factored().solve(problem)
    known = np.hstack([first.vectors, first.guard])
    more = replace(problem, count=20)
    found = Factored(start=known).solve(more)
    waves = 2 - 2 * np.cos(2 * np.pi * np.arange(m) / m)
    exact = np.sort(np.add.outer(waves, waves).ravel())[1:21]
    np.testing.assert_allclose(found.values, exact, atol=1e-10)
    assert certify(more, np.hstack([found.vectors, found.guard]), found.values).level == "proved"
    assert found.products < 0.8 * Factored().solve(more).products


def test_a_space_that_grows_has_the_directions_of_one_solve():
    for seed in range(3):
        X = np.random.default_rng(seed).uniform(size=(700, 2)) / [1, 8]
        model = LaplacianEigenmaps(left_out=(), constraint=("degree", "identity")[seed % 2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Overtone)
            problem = model.statement(X, 2).problem
        space = krylov_space_for(problem, Auto())
        exact = Dense().solve(replace(problem, count=20))
        for count in (2, 6, 20):
            found = space.first(count)
            asked = replace(problem, count=count)
            np.testing.assert_allclose(found.values, exact.values[:count], rtol=1e-9)
            whole = np.hstack([found.vectors, found.guard])
            assert certify(asked, whole, found.values).level == "proved"
        # Beyond these it ends, and says so.
        assert space.first(300) is None


def test_a_grid_whose_eigenvalues_repeat():
    """A single vector sees one of two twins: the certificate notices, and all is solved anew."""
    sides = np.arange(24)
    X = np.column_stack([axis.ravel() for axis in np.meshgrid(sides, sides)]).astype(float)
    settings = {"n_neighbors": None, "radius": 1.01, "weights": "binary", "left_out": ()}
    model = LaplacianEigenmaps(coordinates="independent", constraint="identity", **settings).fit(X)
    waves = 2 - 2 * np.cos(np.pi * sides / 24)
    exact = np.sort(np.add.outer(waves, waves).ravel())[1:]
    assert model.coordinates_ == (0, 1)
    np.testing.assert_allclose(model.eigenvalues_, exact[:2], rtol=1e-8)
    assert model.certificate_.level == "proved"


def test_where_nothing_grows():
    """Images are not factored, Gramians have a way of their own, few rows are decomposed."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(500, 500))
    few = LaplacianEigenmaps(left_out=()).statement(strip(1.2, 200), 2).problem
    problems = [TraceProblem(dense + dense.T, None, 2), few]
    for problem in problems:
        assert krylov_space_for(problem, Auto()) is None
    assert krylov_space_for(problems[1], Factored()) is None

"""Independent coordinates: chosen, scaled, placed by the same choice."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor

from dualfold import LaplacianEigenmaps
from dualfold.errors import InvalidInput, Overtone
from dualfold.quality import t_similarity
from tests.tools.independent_maps import ESTIMATORS, fitted
from tests.tools.tables import strip


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


def test_auto_counts_first_and_chooses_then():
    model = LaplacianEigenmaps("auto", coordinates="independent").fit(strip(3))
    assert model.embedding_.shape[1] == len(model.coordinates_)
    assert "eigengap" in model.n_components_reason_


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

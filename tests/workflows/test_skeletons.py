"""The files that a new method or measure starts from keep the contract of all others."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.utils.estimator_checks import check_estimator

from dualfold import embed
from dualfold.graph import knn
from dualfold.methods import eigenmaps
from tests.tools.angles import principal_sine
from tests.tools.tables import roll_points
from tests.workflows.door import Estimate, map_from_parts, parts_of

FOLDER = Path(__file__).parents[2] / "docs" / "dev" / "skeletons"
ROLL = roll_points(200, random_state=0)


def skeleton(name):
    spec = importlib.util.spec_from_file_location(f"skeleton_{name}", FOLDER / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_method_states_a_problem_that_is_solved_and_proved():
    method = skeleton("method")
    answer = embed(method.plain_eigenmaps(knn(ROLL, 8), n_components=3))
    assert answer.certificate.level == "proved"
    known = embed(eigenmaps(knn(ROLL, 8), n_components=3, weights="binary", constraint="identity"))
    assert principal_sine(answer.solution.vectors, known.solution.vectors) < 1e-6


def test_the_estimator_is_one_of_scikit_learn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(skeleton("method").PlainEigenmaps())


@pytest.mark.parametrize("pieces", ["join", "separate"])
def test_the_estimator_fits_places_new_rows_and_can_be_stored(pieces):
    apart = np.vstack([ROLL[:100], ROLL[100:] + 300])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = skeleton("method").PlainEigenmaps(n_neighbors=8, pieces=pieces).fit(apart)
    assert model.certificate_.level == "proved"
    assert model.n_connected_components_ == 2
    new = apart[::7] + 0.01
    again = map_from_parts(parts_of(model.placing_map()))
    np.testing.assert_array_equal(again(new), model.transform(new))
    assert model.statement(ROLL, 2).problem.count == 2


def test_the_measure_is_that_of_brute_force():
    measure, rng = skeleton("measure").nearest_kept, np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 2))
    far, near = cdist(X, X) + np.diag([np.inf] * 60), cdist(Y, Y) + np.diag([np.inf] * 60)
    kept = [far[i].argmin() in np.argsort(near[i])[:5] for i in range(60)]
    np.testing.assert_array_equal(measure(X, Y, per_point=True), kept)
    assert measure(X, Y) == pytest.approx(np.mean(kept))
    assert measure(X, X) == 1.0
    sampled = measure(X, Y, sample=40)
    assert isinstance(sampled, Estimate)
    assert sampled.low <= np.mean(kept) <= sampled.high

"""Fits in several threads at once: each is as it would be alone, and nothing global is lost."""

from __future__ import annotations

import tempfile
import threading
import time
import warnings
from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from dualfold import errors
from dualfold.data import swiss_roll
from dualfold.errors import DualfoldWarning
from tests.robustness.door import preconditioned
from tests.workflows.test_estimator_checks import ESTIMATORS, VARIANTS

THREADS = 4


def at_once(work):
    """The results of `work(place)` in threads that begin together; an error is raised again."""
    start, results, errors = threading.Barrier(THREADS), [None] * THREADS, []

    def run(place):
        try:
            start.wait(timeout=60)
            results[place] = work(place)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=run, args=(place,)) for place in range(THREADS)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]
    return results


def fitted(number, X, y):
    """The points of one of the estimators, from a seed."""
    model = clone([*ESTIMATORS, *VARIANTS][number])
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit_transform(X, y)


@pytest.fixture
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("number", range(len([*ESTIMATORS, *VARIANTS])))
def test_one_kind_of_estimator_in_four_threads_on_the_same_rows(number, quiet):
    X, y = np.abs(swiss_roll(60, random_state=number).points), np.arange(60) % 3
    alone = fitted(number, X, y)
    for points in at_once(lambda _: fitted(number, X, y)):
        np.testing.assert_array_equal(points, alone)


@pytest.mark.full
def test_different_estimators_in_four_threads(quiet):
    X, y = np.abs(swiss_roll(60, random_state=1).points), np.arange(60) % 3
    every = range(len([*ESTIMATORS, *VARIANTS]))
    alone = [fitted(number, X, y) for number in every]

    def work(place):  # each begins with another one
        turned = np.roll(every, place * len(every) // THREADS)
        return {number: fitted(number, X, y) for number in turned}

    for found in at_once(work):
        for number in every:
            np.testing.assert_array_equal(found[number], alone[number])


def test_a_seed_for_pyamg_is_of_one_thread_at_a_time(monkeypatch):
    """It draws from NumPy's global generator, whose state the caller gets back."""
    pyamg = pytest.importorskip("pyamg")
    drawn, before = [], np.random.get_state()[1].copy()  # noqa: NPY002

    def slow(matrix, **_):
        first = np.random.random()  # noqa: NPY002
        time.sleep(0.02)
        drawn.append((first, np.random.random()))  # noqa: NPY002
        return pyamg.multilevel.MultilevelSolver([pyamg.multilevel.MultilevelSolver.Level()])

    monkeypatch.setattr(pyamg, "smoothed_aggregation_solver", slow)
    monkeypatch.setattr(pyamg.multilevel.MultilevelSolver, "aspreconditioner", lambda *_, **__: 0)
    at_once(lambda _: preconditioned._multigrid(sp.csr_array(np.eye(3)), 7))
    assert len(drawn) == THREADS
    assert len(set(drawn)) == 1
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_models_for_tasks_lie_in_one_folder(monkeypatch):
    """A second folder would be forgotten at once, and deleted with the model in it."""
    pytest.importorskip("dask")
    from tests.robustness.door import placing

    def slow():
        time.sleep(0.02)
        return tempfile.TemporaryDirectory()

    monkeypatch.setattr(placing, "MAX_MODEL_BYTES_IN_GRAPH", 0)
    monkeypatch.setattr(placing, "_folder", cache(slow))
    for place, sent in enumerate(at_once(placing.model_for_tasks)):
        assert sent.model() == place


def test_of_folds_in_threads_one_warns(monkeypatch):
    class Slow(type):
        def __hash__(cls):
            time.sleep(0.02)
            return id(cls)

    class Kind(DualfoldWarning, metaclass=Slow):
        pass

    class Search:
        pass

    said, search = [], Search()
    monkeypatch.setattr(errors, "_running_search", lambda: search)
    monkeypatch.setattr(errors.warnings, "warn", lambda warning, **_: said.append(warning))
    at_once(lambda place: errors.warn(Kind(f"fold {place}")))
    assert len(said) == 1

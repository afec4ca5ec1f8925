"""Descents of stress: every step lowers it, from any start, whatever the weights."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.isotonic import IsotonicRegression
from sklearn.manifold import smacof

from dualfold import MDS
from dualfold.errors import InvalidInput
from tests.methods.door import (
    Order,
    StopRule,
    classical_start,
    forces_between,
    guttman_transform,
    stress_descent,
    stress_problem,
    without_coincidences,
)


def distances(n, width, seed):
    return cdist(*[np.random.default_rng(seed).normal(size=(n, width))] * 2)


def random_weights(n, seed):
    W = np.triu(np.random.default_rng(seed).uniform(size=(n, n)) ** 3, 1)
    return W + W.T


@pytest.mark.parametrize("width", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["plain", "weights", "missing", "both"])
def test_forces_are_those_of_the_definition(width, kind):
    n = 21
    D, Y = distances(n, 4, 1), np.random.default_rng(2).normal(size=(n, width))
    W = random_weights(n, 3) if kind in ("weights", "both") else np.ones((n, n))
    known = np.ones((n, n), bool)
    if kind in ("missing", "both"):
        known[2, 7] = known[7, 2] = known[0, 20] = known[20, 0] = False
    given = np.where(known, D, np.nan)
    found = forces_between(
        Y, given, W if kind in ("weights", "both") else None, gaps=not known.all()
    )
    w = W * known
    force, stress = np.zeros_like(Y), 0.0
    for i in range(n):
        for j in range(n):
            if i != j:
                d = np.linalg.norm(Y[i] - Y[j])
                force[i] += w[i, j] * (1 - D[i, j] / d) * (Y[i] - Y[j])
                stress += w[i, j] * (d - D[i, j]) ** 2 / 2
    np.testing.assert_allclose(found.force, force, atol=1e-12)
    assert found.stress == pytest.approx(stress, rel=1e-13)


def test_the_number_of_threads_changes_no_bit():
    D, Y = distances(700, 4, 4), np.random.default_rng(5).normal(size=(700, 2))
    one, four = (forces_between(Y, D, n_jobs=jobs) for jobs in (1, 4))
    assert one.stress == four.stress
    np.testing.assert_array_equal(one.force, four.force)


def test_a_step_is_that_of_smacof():
    rng = np.random.default_rng(2)
    D, Y = distances(15, 4, 6), rng.normal(size=(15, 2))
    theirs = smacof(D, n_components=2, init=Y, n_init=1, max_iter=1, normalized_stress=False)[0]
    np.testing.assert_allclose(guttman_transform(Y, D), theirs, atol=1e-9)


@pytest.mark.parametrize("kind", ["plain", "weights", "missing", "order"])
def test_every_step_lowers_the_stress(kind):
    n = 60
    D = distances(n, 6, 7)
    if kind == "missing":
        hole = np.triu(np.random.default_rng(8).random((n, n)) < 0.3, 1)
        D[hole | hole.T] = np.nan
    weights = random_weights(n, 9) if kind == "weights" else None
    problem = stress_problem(D, weights=weights, ordinal=kind == "order")
    start = np.random.default_rng(10).normal(size=(n, 2))
    found = stress_descent(problem, start, StopRule(tolerance=1e-5, max_steps=2000))
    assert (np.diff(found.stresses) < 0).all()
    assert found.n_steps < 2000


def test_from_the_same_start_it_mostly_ends_no_higher_than_smacof():
    """Single ones may end in another valley."""
    ratios = []
    for seed in range(5):
        D = distances(80, 5, seed)
        start = np.random.default_rng(seed).uniform(size=(80, 2))
        theirs = smacof(D, n_components=2, init=start, n_init=1, normalized_stress=False)[1]
        ours = stress_descent(stress_problem(D), start, StopRule()).stresses[-1]
        ratios.append(ours / theirs)
    assert np.median(ratios) <= 1.01


def test_disparities_are_the_isotonic_regression():
    rng = np.random.default_rng(11)
    D = np.round(distances(25, 3, 12), 1)  # with ties
    Y = rng.normal(size=(25, 2))
    order = Order.of(stress_problem(D, ordinal=True))
    upper = np.triu_indices(25, 1)
    known = D[upper] > 0
    theirs = IsotonicRegression().fit_transform(D[upper][known], cdist(Y, Y)[upper][known])
    ours = order.regression(Y)
    got = np.zeros((25, 25))
    got[order.rows, order.columns] = ours
    np.testing.assert_allclose(got[upper][known], theirs, atol=1e-12)
    matrix = order.matrix(ours)
    assert np.nansum(matrix[upper] ** 2) == pytest.approx(known.sum())


def test_missing_distances_of_a_plane_are_recovered():
    """A third of the pairs is missing, and the others fix the points."""
    rng = np.random.default_rng(13)
    Y = rng.normal(size=(40, 2))
    D = cdist(Y, Y)
    hole = np.triu(rng.random(D.shape) < 0.33, 1)
    given = np.where(hole | hole.T, np.nan, D)
    problem = stress_problem(given)
    found = stress_descent(
        problem, classical_start(problem), StopRule(tolerance=1e-9, max_steps=2000)
    )
    np.testing.assert_allclose(cdist(found.points, found.points), D, atol=1e-5)


def test_a_weight_of_0_is_a_missing_distance():
    D, Y = distances(20, 4, 14), np.random.default_rng(15).normal(size=(20, 2))
    W = np.ones((20, 20))
    W[3, 4] = W[4, 3] = 0
    missing = D.copy()
    missing[3, 4] = missing[4, 3] = np.nan
    ends = [
        stress_descent(problem, Y, StopRule(tolerance=1e-7, max_steps=3000))
        for problem in (stress_problem(D, weights=W), stress_problem(missing))
    ]
    assert ends[0].stresses[-1] == pytest.approx(ends[1].stresses[-1], rel=1e-8)


@pytest.mark.parametrize("n", [30, 400])
def test_the_classical_start_is_that_of_the_gram_matrix(n):
    D = distances(n, 5, 16)
    H = np.eye(n) - 1 / n
    values, vectors = np.linalg.eigh(-0.5 * H @ D**2 @ H)
    theirs = vectors[:, [-1, -2]] * np.sqrt(values[[-1, -2]])
    ours = classical_start(stress_problem(D))
    np.testing.assert_allclose(np.abs(ours), np.abs(theirs), atol=1e-6)


def test_points_in_one_place_and_empty_coordinates_are_left():
    """From either the stress has no slope: a descent would stay."""
    line = np.column_stack([np.arange(6.0), np.zeros(6)])
    random = np.random.RandomState(0)
    apart = 1 - np.eye(6)
    assert np.ptp(without_coincidences(line, apart, random)[:, 1]) > 0
    assert len(np.unique(without_coincidences(np.zeros((6, 2)), apart, random), axis=0)) == 6
    other = random.normal(size=(6, 2))
    assert without_coincidences(other, apart, random) is other


def test_rows_that_are_the_same_start_in_one_place_whatever_the_seed():
    X = np.random.default_rng(0).normal(size=(20, 4))
    X[7] = X[3]
    first, second = (MDS(random_state=seed).fit(X) for seed in (0, 1))
    assert np.array_equal(first.embedding_, second.embedding_)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (np.ones((2, 3)), "square"),
        (np.array([[0.0, np.inf], [np.inf, 0]]), "finite"),
        (np.array([[0.0, -1], [-1, 0]]), "negative"),
        (np.array([[0.0, 2], [1, 0]]), "symmetric"),
        (np.array([[1.0, 2], [2, 0]]), "itself"),
        (np.array([[0.0, 1e200], [1e200, 0]]), "other units"),
        (np.array([[0, 1, np.nan], [1, 0, np.nan], [np.nan, np.nan, 0]]), "2 pieces"),
    ],
)
def test_what_are_no_distances_is_refused(given, words):
    with pytest.raises(InvalidInput, match=words):
        stress_problem(given)


def test_odd_weights_are_refused():
    D = distances(4, 2, 17)
    for weights in (-np.ones((4, 4)), np.ones((3, 3)), np.full((4, 4), np.nan)):
        with pytest.raises(InvalidInput, match=r"weights|square"):
            stress_problem(D, weights=weights)
    with pytest.raises(InvalidInput, match="pieces"):
        stress_problem(D, weights=np.kron(np.eye(2), np.ones((2, 2))))

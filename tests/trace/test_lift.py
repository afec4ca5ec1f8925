"""Lifts: points of vectors, and the vectors behind points."""

import numpy as np
import pytest

from dualfold.errors import InvalidInput, NotConverged
from dualfold.trace import TraceProblem
from dualfold.trace.solvers import Dense
from tests.trace.door import (
    DiffusionLift,
    EdgeLengthScale,
    EigenvalueScale,
    ScaledVectorLift,
    SelectedColumns,
    StoredPoints,
    VectorLift,
    rayleigh_matrix,
)

RNG = np.random.default_rng(0)
A = (lambda M: M @ M.T)(RNG.normal(size=(12, 12)))
MASSES = RNG.uniform(1, 2, size=12)


def solve(problem, tol=None):
    return Dense().solve(problem).vectors


def refuse(problem, tol=None):
    raise NotConverged("no answer")


@pytest.mark.parametrize(
    "lift",
    [
        VectorLift(),
        ScaledVectorLift(),
        DiffusionLift(0.5),
        SelectedColumns((0, 2), EigenvalueScale()),
        SelectedColumns((0, 1, 2, 3), EigenvalueScale()),
    ],
    ids=repr,
)
@pytest.mark.parametrize("sense", ["min", "max"])
def test_the_vectors_behind_points_are_those_that_were_lifted(lift, sense):
    B = None if isinstance(lift, ScaledVectorLift) else MASSES
    problem = TraceProblem(A, B, 4, sense, lift=lift)
    answer = Dense().solve(problem)
    points = problem.lift(answer.vectors, answer.values)
    assert points.shape == (lift.n_points(12), lift.n_coordinates(4))
    V = lift.vectors_behind(problem, StoredPoints(points), solve)
    V = lift.completed_vectors(problem, V, solve)
    np.testing.assert_allclose(np.abs(V), np.abs(answer.vectors), atol=1e-9)
    theta = np.diagonal(rayleigh_matrix(problem, V))
    np.testing.assert_allclose(theta, answer.values)
    own, values = lift.selected_columns(V, theta)
    np.testing.assert_array_equal(lift.with_stored_values(theta, values), theta)
    assert own.shape == points.shape


def test_vectors_without_an_answer_are_not_completed():
    lift = SelectedColumns((0, 2), EigenvalueScale())
    problem = TraceProblem(A, None, 3, lift=lift)
    V = solve(problem)[:, [0, 2]]
    assert lift.completed_vectors(problem, V, refuse) is None
    assert lift.completed_vectors(problem, V[:, :1], solve) is None


def test_a_function_is_a_lift_that_cannot_be_traced_back():
    problem = TraceProblem(A, None, 2, lift=lambda V, values: 2 * V)
    np.testing.assert_array_equal(problem.lift(np.ones((12, 2)), np.ones(2)), 2)
    with pytest.raises(InvalidInput, match="of a FunctionLift cannot be traced back"):
        problem.lift.vectors_behind(problem, StoredPoints(np.ones((12, 2))), solve)


def test_points_that_were_moved_are_centred_in_the_metric_of_the_problem():
    problem = TraceProblem(A, MASSES, 2)
    points = problem.lift.centred_points(problem, RNG.normal(size=(12, 2)) + 5)
    np.testing.assert_allclose(MASSES @ points, 0, atol=1e-12)


def test_selected_columns_are_scaled_by_their_eigenvalues_or_their_edges():
    V = np.random.default_rng(0).normal(size=(50, 3))
    values = np.array([0.01, 0.04, 0.09])
    np.testing.assert_allclose(EigenvalueScale().factors(V, values), [1, 1 / 2, 1 / 3])
    np.testing.assert_allclose(EigenvalueScale(0.04).factors(V, values), [1, 1, 2 / 3])
    edges = (np.arange(49), np.arange(1, 50))
    assert (EdgeLengthScale(edges).factors(V, values) == 1).all()  # alike already
    points = SelectedColumns((0, 2), EdgeLengthScale(edges))(V * [1, 1, 7], values)
    steps = np.mean((points[edges[0]] - points[edges[1]]) ** 2, axis=0)
    assert steps[0] == pytest.approx(steps[1])
    np.testing.assert_allclose(
        SelectedColumns((1,), DiffusionLift(2.0))(V, values), V[:, [1]] * (1 - 0.04) ** 2
    )

"""The vectors that stored points must stand for.

Nothing here is believed: whatever vectors are found, they are judged by a certificate, and
their points are compared with what is stored. A bad guess can only make a map fail.
"""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import DualfoldError, InvalidInput
from dualfold.maps.landmark import LandmarkLift
from dualfold.maps.linear import ProjectionLift, GramProjectionLift
from dualfold.trace import lift as lifts
from dualfold.trace.metric import Identity
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto
from dualfold.weights.row_passes import combined_rows

# Directions of the landmarks' matrix that stored points can tell apart: above this share of
# the eigenvalue of the column. Coordinates kept in float32 tell less.
TOLD_APART, TOLD_APART_SINGLE = 1e-6, 0.1
# Of the directions beside the stored ones: finer than solvers leave theirs.
FINE = 1e-8


def vectors_behind(problem: TraceProblem, points: Array, *, single: bool = False) -> Array:
    """The vectors whose lift the points (n×d) are; `single`: they were kept in float32.

    Columns of length 0 stay 0.
    """
    lift = problem.lift
    if lift is lifts.vectors:
        return points
    if isinstance(lift, lifts.DiffusionLift | lifts.SelectedColumns):
        lengths = np.sqrt(np.einsum("ij,ij->j", points, problem.metric.times(points)))
        return np.asarray(points / np.where(lengths > 0, lengths, 1.0))
    if lift is lifts.scaled_vectors or isinstance(lift, GramProjectionLift):
        return unit_columns(points)
    if isinstance(lift, LandmarkLift):
        return _behind_landmarks(problem, lift, points, single)
    if isinstance(lift, ProjectionLift) and lift.space is not None:
        centred = points - points.mean(axis=0)
        return np.linalg.solve(lift.space.form(lambda Z: Z), lift.space.adjoint(centred))
    if isinstance(lift, ProjectionLift) and not isinstance(problem.metric, Identity):
        return _behind_metric(problem, lift, points)
    if isinstance(lift, ProjectionLift):  # XᵀHXv = nθv, so v is XᵀHy at length 1
        moments = combined_rows(lift.data, unit_columns(points), lift.mean)
        return unit_columns(moments if lift.scale is None else moments / lift.scale[:, None])
    raise InvalidInput(f"the points of {type(lift).__name__} cannot be traced back to vectors")


def nearest_answer(problem: TraceProblem, V: Array) -> Array | None:
    """The answer that V was before it was rounded: a solver's space, turned towards V.

    Found anew since rounding to float32 hides small eigenvalues; judged like any other.
    """
    try:
        U = Auto().solve(problem).vectors
    except DualfoldError:
        return None
    left, sizes, right = np.linalg.svd(U.T @ problem.metric.times(V))
    return np.asarray(U @ (left @ right)) if sizes.min() > 0.5 else None


def completed(problem: TraceProblem, columns: Array) -> Array | None:
    """An answer that has these columns at the places which the problem's lift has chosen.

    The others are a solver's, turned off the columns. None where there is no answer to be had.
    """
    lift = problem.lift
    if not isinstance(lift, lifts.SelectedColumns):
        return columns
    if columns.shape != (problem.n, len(lift.indices)):
        return None
    if len(lift.indices) == problem.count:
        return columns
    try:
        U = Auto(tol=FINE).solve(problem).vectors
    except DualfoldError:
        return None
    shares = U.T @ problem.metric.times(columns)
    rest = U @ np.linalg.qr(shares, mode="complete")[0][:, len(lift.indices) :]
    turn = np.linalg.eigh(problem.sign * problem.quadratic(rest))[1]
    V = np.empty((problem.n, problem.count))
    others = np.setdiff1d(np.arange(problem.count), lift.indices)
    V[:, list(lift.indices)] = columns
    V[:, others] = rest @ (turn if problem.sense == "min" else turn[:, ::-1])
    return V


def stated_values(problem: TraceProblem, theta: Array, values: Array | None) -> Array | None:
    """Eigenvalues that are stated of the coordinates, among those (`theta`) of all directions."""
    if values is None or not isinstance(problem.lift, lifts.SelectedColumns):
        return values
    whole = theta.copy()
    whole[list(problem.lift.indices)] = values
    return whole


def width_of(problem: TraceProblem) -> int:
    """How many coordinates its points have."""
    lift = problem.lift
    return len(lift.indices) if isinstance(lift, lifts.SelectedColumns) else problem.count


def _behind_metric(problem: TraceProblem, lift: ProjectionLift, points: Array) -> Array:
    """An answer whose points are nearest to those that are stored.

    Where features outnumber rows, points alone do not say which directions they come from.
    """
    U = Auto().solve(problem).vectors
    left, _, right = np.linalg.svd(lift(U, np.zeros(U.shape[1])).T @ points)
    return np.asarray(U @ (left @ right))


def unit_columns(columns: Array) -> Array:
    """Columns at length 1; those of length 0 stay."""
    widest = np.abs(columns).max(axis=0, initial=0.0)
    columns = columns / np.where(widest > 0, widest, 1.0)  # squares neither vanish nor overflow
    lengths = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(lengths > 0, lengths, 1.0))


def quotients(problem: TraceProblem, V: Array) -> Array:
    """VᵀAV, with the columns of V at length 1 in B: the values on its diagonal."""
    lengths = np.sqrt(np.einsum("ij,ij->j", V, problem.metric.times(V)))
    return np.asarray(problem.sign * problem.quadratic(V / lengths))


def _behind_landmarks(
    problem: TraceProblem, lift: LandmarkLift, points: Array, single: bool
) -> Array:
    """V with M·V·Θ^-½ = the landmarks' rows, M = ½(δ̄ − δ) between landmarks.

    These rows are not VΘ^½: M holds the shortest paths as they were rounded in either
    direction, the problem their mean. So V is found from M itself, by least squares, where M
    tells directions apart.
    """
    chosen = lift.landmarks
    corners = points[chosen.indices]
    V = unit_columns(corners)
    values = np.diagonal(quotients(problem, V))
    if not np.all(values > 0):
        return V
    squares = np.square(chosen.distances[:, chosen.indices].T, dtype=float)
    M = (lift.mean_squares - squares) / 2
    missing = corners * np.sqrt(values) - M @ V
    left, sizes, right = np.linalg.svd(M)
    clear = sizes[:, None] > (TOLD_APART_SINGLE if single else TOLD_APART) * values
    sizes = np.where(sizes > 0, sizes, 1.0)
    V = V + right.T @ np.where(clear, (left.T @ missing) / sizes[:, None], 0.0)
    return _upright(V)


def _upright(V: Array) -> Array:
    """Orthonormal columns, the last one kept as it is, the first changed most.

    What the last column (θ small) has of the first (θ large) moves its points by their ratio,
    and is known that well; the other way round it hardly matters and is hardly known.
    """
    Q, R = np.linalg.qr(V[:, ::-1])
    return np.asarray((Q * np.where(np.diagonal(R) < 0, -1.0, 1.0))[:, ::-1])

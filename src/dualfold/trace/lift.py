"""From eigenvectors to points and back: the last column of the method table.

Lifts that need more than vectors live with the map of new rows that goes with them: linear ones in
`dualfold.methods.maps.linear_map`, those of landmarks in `dualfold.methods.maps.landmark_map`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, DualfoldError, InvalidInput

if TYPE_CHECKING:
    from dualfold.trace.doubts import StoredPoints
    from dualfold.trace.problem import TraceProblem

# Beyond, squares of coordinates overflow, and infinity agrees with anything.
MAX_COORDINATE = 1e150
# Residual of the vectors that are computed beside stored ones: finer than solvers leave theirs.
COMPLETION_TOLERANCE = 1e-8


class Solve(Protocol):
    """A solver as a function: the vectors of a problem; `tol` None is the solver's own."""

    def __call__(self, problem: TraceProblem, tol: float | None = None) -> Array: ...


class Lift:
    """A function from eigenvectors V (n×k) and their values to points, which knows the way back.

    A subclass defines `__call__` and `vectors_behind`. All else has the answer of lifts whose
    points are the rows of V.
    """

    # Whether point i is row i of V, each column multiplied by a number.
    rows_are_points: ClassVar[bool] = True
    # Whether a column without extent belongs to an eigenvalue of 0.
    is_flat_at_zero: ClassVar[bool] = False

    def __call__(self, V: Array, values: Array) -> Array:
        raise NotImplementedError

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        """The vectors whose lift the stored points are; columns of length 0 stay 0.

        They are a guess that a certificate judges: a bad one can only make a map fail. `solve`
        computes an answer where points alone do not determine the vectors.
        """
        name = type(self).__name__
        raise InvalidInput(f"the points of a {name} cannot be traced back to vectors")

    def completed_vectors(self, problem: TraceProblem, V: Array, solve: Solve) -> Array | None:
        """An answer to the problem that has the coordinates' vectors V; None if there is none."""
        return V

    def selected_columns(self, V: Array, values: Array) -> tuple[Array, Array]:
        """The vectors that are coordinates, and their values."""
        return V, values

    def with_stored_values(self, theta: Array, values: Array) -> Array:
        """`theta`, the values of all vectors, with the coordinates' ones replaced by `values`."""
        return values

    def n_coordinates(self, count: int) -> int:
        """The number of coordinates that points of `count` vectors have."""
        return count

    def flat_columns(self, V: Array) -> Array:
        """The numbers of the vectors that stand for directions along which no row differs."""
        return np.zeros(0, dtype=int)

    def n_points(self, n: int) -> int:
        """The number of points that the vectors of a problem of n rows are lifted to."""
        return n

    def centred_points(self, problem: TraceProblem, points: Array) -> Array:
        """Points that were moved, where the problem has them: around 0 in its metric."""
        weights = problem.metric.times(np.ones((problem.n, 1)))
        return np.asarray(points - (weights.T @ points) / weights.sum(), dtype=points.dtype)

    def agreement_text(self, n_points: int, distance: float) -> str:
        """Sentence for a certificate where the points agree to this share of their extent."""
        return ""

    def rows_to_compare(self) -> Any:
        """Rows by whose places two maps of new rows are compared; None: only by their parts."""
        return None


@dataclass(frozen=True, eq=False)
class FunctionLift(Lift):
    """A function of the caller, of which no way back is known."""

    function: Callable[[Array, Array], Array]

    def __call__(self, V: Array, values: Array) -> Array:
        return self.function(V, values)


def as_lift(lift: Any) -> Lift:
    """A lift, or a function of vectors and values as one."""
    return lift if isinstance(lift, Lift) else FunctionLift(lift)


@dataclass(frozen=True)
class VectorLift(Lift):
    """The points are the eigenvectors themselves (eigenmaps, LLE)."""

    def __call__(self, V: Array, values: Array) -> Array:
        return V

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        return stored.points


def scaled_vectors(V: Array, values: Array) -> Array:
    """V Λ^½; λ ≤ 0 gives no extent."""
    return V * np.sqrt(np.maximum(values, 0.0))


@dataclass(frozen=True)
class ScaledVectorLift(Lift):
    """V Λ^½, so that Gram matrices are reproduced (MDS, Isomap)."""

    is_flat_at_zero: ClassVar[bool] = True

    def __call__(self, V: Array, values: Array) -> Array:
        return scaled_vectors(V, values)

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        return unit_columns(stored.points)


@dataclass(frozen=True, eq=False)
class WeightedVectorLift(ScaledVectorLift):
    """V Λ^½ divided by √w, the `roots`: of a Gram matrix whose rows were multiplied by them."""

    roots: Array

    def __call__(self, V: Array, values: Array) -> Array:
        return np.asarray(scaled_vectors(V, values) / self.roots[:, None])

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        return unit_columns(self.roots[:, None] * stored.points)


class CoordinateScale(Protocol):
    """By how much each coordinate is multiplied: from the vectors and their eigenvalues."""

    def factors(self, V: Array, values: Array) -> Array: ...


@dataclass(frozen=True)
class DiffusionLift(Lift):
    """V·|1 − λ|^t: eigenvectors of a random walk after t = `time` steps; λ is 0 where it rests.

    Also a `CoordinateScale` of selected columns.
    """

    time: float

    def factors(self, V: Array, values: Array) -> Array:
        """Factor of each coordinate."""
        with np.errstate(over="ignore"):
            factors = np.asarray(np.abs(1 - values) ** self.time)
        if not np.isfinite(factors).all():
            raise InvalidInput(
                Argument("diffusion_time", self.time),
                " makes coordinates overflow; give a shorter time",
            )
        return factors

    def __call__(self, V: Array, values: Array) -> Array:
        return np.asarray(V * self.factors(V, values))

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        return _unit_columns_in_metric(problem, stored.points)


@dataclass(frozen=True)
class EigenvalueScale:
    """√(λ_min/λ), λ_min of the coordinates: an eigenvector of a Laplacian varies over 1/√λ.

    Unit vectors become as long as what they measure. Eigenvalues below `floor` count as it:
    they are rounding.
    """

    floor: float = 0.0

    def factors(self, V: Array, values: Array) -> Array:
        """Factor of each coordinate, 1 for the longest."""
        sizes = np.maximum(values, max(self.floor, np.finfo(float).tiny))
        return np.asarray(np.sqrt(sizes.min() / sizes))


@dataclass(frozen=True, eq=False)
class EdgeLengthScale:
    """Edges of one length: coordinates over their root mean square difference along edges.

    What 1/√λ does where A is a Laplacian; the eigenvalues of other matrices say less. Lengths that
    differ by less than `alike` stay as they are: on a square LLE stretches places by more.
    """

    edges: tuple[Array, Array]
    alike: float = 1.5

    def factors(self, V: Array, values: Array) -> Array:
        """Factor of each coordinate, 1 for the longest."""
        i, j = self.edges
        lengths = np.sqrt([np.mean((column[i] - column[j]) ** 2) for column in V.T])
        lengths = np.maximum(lengths, np.finfo(float).tiny)
        if lengths.max() <= self.alike * lengths.min():
            return np.ones(len(lengths))
        return np.asarray(lengths.min() / lengths)


@dataclass(frozen=True)
class SelectedColumns(Lift):
    """The columns `indices` of V, scaled."""

    indices: tuple[int, ...]
    scale: CoordinateScale

    def __call__(self, V: Array, values: Array) -> Array:
        columns, own_values = self.selected_columns(V, values)
        return np.asarray(columns * self.scale.factors(columns, own_values))

    def vectors_behind(self, problem: TraceProblem, stored: StoredPoints, solve: Solve) -> Array:
        return _unit_columns_in_metric(problem, stored.points)

    def completed_vectors(self, problem: TraceProblem, V: Array, solve: Solve) -> Array | None:
        """The vectors that are no coordinates are a solver's, rotated off V."""
        if V.shape != (problem.n, len(self.indices)):
            return None
        if len(self.indices) == problem.count:
            return V
        try:
            U = solve(problem, COMPLETION_TOLERANCE)
        except DualfoldError:
            return None
        shares = U.T @ problem.metric.times(V)
        others = U @ np.linalg.qr(shares, mode="complete")[0][:, len(self.indices) :]
        rotation = np.linalg.eigh(problem.sign * problem.quadratic(others))[1]
        completed = np.empty((problem.n, problem.count))
        completed[:, list(self.indices)] = V
        places = np.setdiff1d(np.arange(problem.count), self.indices)
        completed[:, places] = others @ (rotation if problem.sense == "min" else rotation[:, ::-1])
        return completed

    def selected_columns(self, V: Array, values: Array) -> tuple[Array, Array]:
        columns = list(self.indices)
        return V[:, columns], np.asarray(values)[columns]

    def with_stored_values(self, theta: Array, values: Array) -> Array:
        whole = theta.copy()
        whole[list(self.indices)] = values
        return whole

    def n_coordinates(self, count: int) -> int:
        return len(self.indices)


def unit_columns(columns: Array) -> Array:
    """Columns at length 1; those of length 0 stay."""
    widest = np.abs(columns).max(axis=0, initial=0.0)
    columns = columns / np.where(widest > 0, widest, 1.0)  # squares neither underflow nor overflow
    lengths = np.linalg.norm(columns, axis=0)
    return np.asarray(columns / np.where(lengths > 0, lengths, 1.0))


def _unit_columns_in_metric(problem: TraceProblem, columns: Array) -> Array:
    lengths = np.sqrt(np.einsum("ij,ij->j", columns, problem.metric.times(columns)))
    return np.asarray(columns / np.where(lengths > 0, lengths, 1.0))


def rayleigh_matrix(problem: TraceProblem, V: Array) -> Array:
    """VᵀAV, with the columns of V at length 1 in B: the Rayleigh quotients on its diagonal."""
    lengths = np.sqrt(np.einsum("ij,ij->j", V, problem.metric.times(V)))
    return np.asarray(problem.sign * problem.quadratic(V / lengths))

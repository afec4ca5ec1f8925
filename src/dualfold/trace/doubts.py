"""What can be wrong with stored vectors, eigenvalues and points of a trace problem, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array, Matrix
from dualfold.errors import InvalidInput
from dualfold.trace.lift import MAX_COORDINATE
from dualfold.trace.problem import Gramian, TraceProblem

# Points that differ by more than this from those of their own vectors, relative to the
# extent of their column, were changed: CSV, Parquet and NPY keep every digit.
POINT_TOLERANCE = 1e-6
# The same for coordinates that were rounded to float32 (6e-8), whose vectors are known less well.
POINT_TOLERANCE_FLOAT32 = 1e-5
# A column narrower than this share of the widest is rounding: it has no direction of its own.
FLAT_COLUMN_RATIO = 1e-9
# Columns that were rotated by an angle φ have |v₁ᵀAv₂| ≈ φ|θ₁ − θ₂|; solvers leave 1e-8 of θ.
ROTATION_TOLERANCE = 1e-5
# Singular values below this share of M are 0 to the solvers: a flat sheet has several, whose
# vectors can be rotated freely.
ZERO_SINGULAR_RATIO = 1e-11
# How far a point may be from where its own row of the problem puts it, as a share of the extent;
# solvers leave 1e-6.
ROW_TOLERANCE = 1e-4
# VᵀBV is I up to this; columns stored in float32 are off by 1e-7.
ORTHONORMALITY_TOLERANCE = 2e-6


@dataclass(frozen=True, eq=False)
class StoredPoints:
    """Points (n×d) and eigenvalues (None: none) as a file has them.

    single : whether the points were stored in float32
    """

    points: Array
    values: Array | None = None
    single: bool = False

    @classmethod
    def of(cls, problem: TraceProblem, points: ArrayLike, values: ArrayLike | None) -> StoredPoints:
        """Numbers that a file holds, if they have the shapes of an answer to the problem."""
        Y, stored = np.asarray(points), None if values is None else np.asarray(values)
        for name, array in (("points", Y), ("eigenvalues", stored)):
            if array is not None and array.dtype.kind not in "fiu":
                raise InvalidInput(f"the stored {name} are no real numbers ({array.dtype})")
        count = problem.lift.n_coordinates(problem.count)
        if Y.ndim != 2 or Y.shape[1] != count or (stored is not None and stored.shape != (count,)):
            sizes = "no" if stored is None else stored.size
            raise InvalidInput(
                f"points of shape {Y.shape} and {sizes} eigenvalues were given; this problem "
                f"has {count} coordinates"
            )
        rows = problem.lift.n_points(problem.n)
        if len(Y) != rows:
            raise InvalidInput(f"{len(Y)} points are stored and the data has {rows} rows")
        numbers = None if stored is None else stored.astype(float)
        return cls(Y.astype(float), numbers, Y.dtype == np.float32)

    @property
    def doubt(self) -> str:
        """Why these numbers cannot be judged; "" if they can."""
        Y, values = self.points, self.values
        if not np.isfinite(Y).all() or (values is not None and not np.isfinite(values).all()):
            return "the stored points or eigenvalues hold NaN or infinite entries"
        if float(np.abs(Y).max(initial=0.0)) > MAX_COORDINATE:
            return f"the stored points reach {np.abs(Y).max():.1e}; their squares overflow"
        return ""

    def first_columns(self, count: int) -> StoredPoints:
        """The first coordinates."""
        values = None if self.values is None else self.values[:count]
        return replace(self, points=self.points[:, :count], values=values)


def value_doubts(
    problem: TraceProblem,
    V: Array,
    form: Array,
    stored: Array | None,
    *,
    single: bool = False,
) -> list[str]:
    """Doubts about the columns of V as eigenvectors, and about the stored eigenvalues.

    form : VᵀAV for columns of length 1
    stored : eigenvalues that a file states; None: it states none
    single : whether V was stored in float32
    """
    theta = np.diagonal(form)
    rounding = _quotient_rounding(problem, V, float(np.finfo(np.float32).eps) if single else 0.0)
    allowed = ROTATION_TOLERANCE * np.abs(theta) + rounding
    doubts = []
    square = V.T @ problem.metric.times(V)
    if not np.all(np.abs(square - np.eye(len(square))) <= ORTHONORMALITY_TOLERANCE):
        doubts.append("the columns are not orthonormal")
    pair = np.maximum(allowed[:, None], allowed[None, :])
    mixed = np.abs(form - np.diag(theta))
    if not np.all(mixed <= pair):
        i, j = np.unravel_index(int(np.argmax(mixed / pair)), mixed.shape)
        doubts.append(f"columns {min(i, j) + 1} and {max(i, j) + 1} were turned into each other")
    steps = problem.sign * np.diff(theta)
    if not np.all(steps >= -np.maximum(allowed[1:], allowed[:-1])):
        doubts.append("the columns are not in the order of their values")
    if stored is not None and not np.all(np.abs(stored - theta) <= allowed):
        k = int(np.argmax(np.abs(stored - theta) - allowed))
        doubts.append(
            f"eigenvalue {k + 1} is stored as {stored[k]:.8g}, its column has {theta[k]:.8g}"
        )
    return doubts


def row_doubts(problem: TraceProblem, V: Array, theta: Array) -> list[str]:
    """Where rows of V are points: whether each is where its own equation puts it.

    Row i of AV = BVΘ gives v_i from all other rows. One point of very many can be moved with
    hardly a change of the trace; in its own row the change is (a_ii − θb_ii) times the distance.
    """
    diagonal = _diagonal(problem.A)
    if diagonal is None:
        return []
    masses = problem.metric.diagonal
    residuals = np.abs(problem.sign * problem.descent(V) - problem.metric.times(V) * theta)
    slope = np.abs(diagonal[:, None] - masses[:, None] * theta)
    slope = np.maximum(slope, 0.1 * np.maximum(diagonal[:, None], masses[:, None] * np.abs(theta)))
    allowed = ROW_TOLERANCE * np.ptp(V, axis=0) * slope
    allowed = allowed + _quotient_rounding(problem, V, 0.0) * np.abs(V).max(axis=0, initial=0.0)
    moved = ~(residuals <= allowed).all(axis=1)
    if not moved.any():
        return []
    row = int(np.argmax((residuals / np.maximum(allowed, 1e-300)).max(axis=1)))
    return [f"{int(moved.sum())} points are not where the others put them (row {row + 1} first)"]


def _diagonal(A: Matrix | LinearOperator) -> Array | None:
    """The diagonal of A; None where it is known by its products alone."""
    if isinstance(A, Gramian):
        return np.asarray(A.factor.power(2).sum(axis=0), dtype=float).ravel()
    if isinstance(A, np.ndarray) or sp.issparse(A):
        return np.asarray(A.diagonal(), dtype=float)
    return None


def point_doubts(
    points: Array, stored: Array, *, tolerance: float = POINT_TOLERANCE
) -> tuple[float, list[str]]:
    """Distance of stored points from where they belong, as a share of their column's extent.

    And the doubt, in words, if that is more than `tolerance`.
    """
    if points.shape != stored.shape:
        return np.inf, [f"{len(stored)} points are stored, the data has {len(points)}"]
    if not np.isfinite(points).all():
        return np.inf, ["the points of these vectors overflow, so nothing can be compared"]
    extents = np.ptp(points, axis=0)
    extents = np.maximum(extents, FLAT_COLUMN_RATIO * extents.max(initial=0.0))
    distances = np.abs(points - stored).max(axis=0, initial=0.0)
    extents = np.where((extents == 0) & (distances == 0), 1.0, extents)
    with np.errstate(divide="ignore"):
        share = distances / extents
    if np.all(share <= tolerance):  # NaN is no agreement
        return float(share.max(initial=0.0)), []
    rows = (np.abs(points - stored) / np.where(extents > 0, extents, 1e-300)).max(axis=1)
    changed = int(np.sum(~(rows <= tolerance)))
    return float(share.max()), [
        f"{changed} of {len(stored)} stored points are not where the method puts them (row "
        f"{int(np.argmax(rows)) + 1} is off by {rows.max():.1e} of the extent of the map)"
    ]


def _quotient_rounding(problem: TraceProblem, V: Array, storage: float) -> Array:
    """Bound of what rounding moves vᵀAv/vᵀBv: of products, and by `storage` of the entries of V.

    With E = |A| or |M| and e = (16u + storage)·Ev (for M, ZERO_SINGULAR_RATIO in place of 16u) it
    is about 2|vᵀA|e + eᵀe, in the sizes of whole columns.
    """
    unit = 16 * float(np.finfo(float).eps)
    A, lengths = problem.A, np.einsum("ij,ij->j", V, problem.metric.times(V))
    if isinstance(A, Gramian):  # MV is squared: only its own rounding counts
        error = (ZERO_SINGULAR_RATIO + storage) * np.linalg.norm(abs(A.factor) @ np.abs(V), axis=0)
        image = np.linalg.norm(A.factor @ V, axis=0)
        return np.asarray((2 * error * image + error**2) / lengths)
    size = np.einsum("ij,ij->j", V, V)
    image = np.linalg.norm(problem.descent(V), axis=0) * np.sqrt(size)
    if sp.issparse(A):
        size = np.einsum("ij,ij->j", np.abs(V), abs(A) @ np.abs(V))
    elif isinstance(A, np.ndarray):
        size = np.sqrt(problem.square_norm) * size
    else:
        size = image
    return np.asarray((unit * size + 2 * storage * image + storage**2 * size) / lengths)

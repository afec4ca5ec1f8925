"""What can be wrong with stored vectors, eigenvalues and points, in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.trace.problem import Gramian, TraceProblem

# Points that differ by more than this from those of their own vectors, relative to the
# extent of their column, were changed: CSV, Parquet and NPY keep every digit.
SAME = 1e-6
# Of coordinates that were rounded to float32 (6e-8), whose vectors are known so much less.
SAME_SINGLE = 1e-5
# A column narrower than this share of the widest is rounding: it has no direction of its own.
NO_EXTENT = 1e-9
# Columns that were turned by an angle φ have |v₁ᵀAv₂| ≈ φ|θ₁ − θ₂|; solvers leave 1e-8 of θ.
TURNED = 1e-5
# Singular values below this share of M are 0 to the solvers: a flat sheet has several, whose
# vectors can be turned freely.
FLAT = 1e-11
# How far a point may be from where its own row of the problem puts it, of the extent; what
# solvers leave is 1e-6.
MOVED = 1e-4
# VᵀBV is I to this; columns kept in float32 are off by 1e-7.
UPRIGHT = 2e-6


def value_doubts(
    problem: TraceProblem,
    V: Array,
    form: Array,
    stated: Array | None,
    *,
    single: bool = False,
) -> list[str]:
    """What is wrong with the columns of V as eigenvectors, and with the stated eigenvalues.

    `single`: V was kept in float32.
    """
    theta = np.diagonal(form)
    slack = _rounding(problem, V, float(np.finfo(np.float32).eps) if single else 0.0)
    allowed = TURNED * np.abs(theta) + slack
    doubts = []
    square = V.T @ problem.metric.times(V)
    if not np.all(np.abs(square - np.eye(len(square))) <= UPRIGHT):
        doubts.append("the columns are not orthonormal")
    pair = np.maximum(allowed[:, None], allowed[None, :])
    mixed = np.abs(form - np.diag(theta))
    if not np.all(mixed <= pair):
        i, j = np.unravel_index(int(np.argmax(mixed / pair)), mixed.shape)
        doubts.append(f"columns {min(i, j) + 1} and {max(i, j) + 1} were turned into each other")
    steps = problem.sign * np.diff(theta)
    if not np.all(steps >= -np.maximum(allowed[1:], allowed[:-1])):
        doubts.append("the columns are not in the order of their values")
    if stated is not None and not np.all(np.abs(stated - theta) <= allowed):
        k = int(np.argmax(np.abs(stated - theta) - allowed))
        doubts.append(
            f"eigenvalue {k + 1} is stored as {stated[k]:.8g}, its column has {theta[k]:.8g}"
        )
    return doubts


def row_doubts(problem: TraceProblem, V: Array, theta: Array) -> list[str]:
    """Where rows of V are points: whether each is where its own equation puts it.

    Row i of AV = BVΘ gives v_i from all other rows. One point of very many can be moved with
    hardly a change of the trace; in its own row the change is (a_ii − θb_ii) times the way.
    """
    diagonal = _diagonal(problem.A)
    if diagonal is None:
        return []
    masses = np.asarray(problem.metric.sparse().diagonal())
    residuals = np.abs(problem.sign * problem.descent(V) - problem.metric.times(V) * theta)
    pull = np.abs(diagonal[:, None] - masses[:, None] * theta)
    pull = np.maximum(pull, 0.1 * np.maximum(diagonal[:, None], masses[:, None] * np.abs(theta)))
    allowed = MOVED * np.ptp(V, axis=0) * pull
    allowed = allowed + _rounding(problem, V, 0.0) * np.abs(V).max(axis=0, initial=0.0)
    moved = ~(residuals <= allowed).all(axis=1)
    if not moved.any():
        return []
    row = int(np.argmax((residuals / np.maximum(allowed, 1e-300)).max(axis=1)))
    return [f"{int(moved.sum())} points are not where the others put them (row {row + 1} first)"]


def _diagonal(A: Any) -> Array | None:
    """The diagonal of A; None where it is known by its products alone."""
    if isinstance(A, Gramian):
        return np.asarray(A.factor.power(2).sum(axis=0), dtype=float).ravel()
    if isinstance(A, np.ndarray) or sp.issparse(A):
        return np.asarray(A.diagonal(), dtype=float)
    return None


def displaced(again: Array, stored: Array, *, same: float = SAME) -> tuple[float, list[str]]:
    """How far stored points are from where they belong (share of their column's extent).

    And, in words, if that is farther than `same`.
    """
    if again.shape != stored.shape:
        return np.inf, [f"{len(stored)} points are stored, the data has {len(again)}"]
    if not np.isfinite(again).all():
        return np.inf, ["the points of these vectors overflow, so nothing can be compared"]
    extents = np.ptp(again, axis=0)
    extents = np.maximum(extents, NO_EXTENT * extents.max(initial=0.0))
    off = np.abs(again - stored).max(axis=0, initial=0.0)
    extents = np.where((extents == 0) & (off == 0), 1.0, extents)
    with np.errstate(divide="ignore"):
        share = off / extents
    if np.all(share <= same):  # NaN is no agreement
        return float(share.max(initial=0.0)), []
    rows = (np.abs(again - stored) / np.where(extents > 0, extents, 1e-300)).max(axis=1)
    changed = int(np.sum(~(rows <= same)))
    return float(share.max()), [
        f"{changed} of {len(stored)} stored points are not where the method puts them (row "
        f"{int(np.argmax(rows)) + 1} is off by {rows.max():.1e} of the extent of the map)"
    ]


def _rounding(problem: TraceProblem, V: Array, kept: float) -> Array:
    """How far rounding moves vᵀAv/vᵀBv: of the products, and by `kept` of the entries of V.

    With E = |A| or |M| and e = (16u + kept)·Ev (for M, FLAT in place of 16u) it is about
    2|vᵀA|e + eᵀe, in the sizes of whole columns.
    """
    grain = 16 * float(np.finfo(float).eps)
    A, lengths = problem.A, np.einsum("ij,ij->j", V, problem.metric.times(V))
    if isinstance(A, Gramian):  # MV is squared: only its own rounding counts
        off = (FLAT + kept) * np.linalg.norm(abs(A.factor) @ np.abs(V), axis=0)
        image = np.linalg.norm(A.factor @ V, axis=0)
        return np.asarray((2 * off * image + off**2) / lengths)
    size = np.einsum("ij,ij->j", V, V)
    image = np.linalg.norm(problem.descent(V), axis=0) * np.sqrt(size)
    if sp.issparse(A):
        size = np.einsum("ij,ij->j", np.abs(V), abs(A) @ np.abs(V))
    elif isinstance(A, np.ndarray):
        size = np.sqrt(problem.square_norm) * size
    else:
        size = image
    return np.asarray((grain * size + 2 * kept * image + kept**2 * size) / lengths)

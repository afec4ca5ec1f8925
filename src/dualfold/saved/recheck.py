"""A second look at a stored map: its problem is stated again from the data, and it is judged.

Nothing is solved here, and nothing in the file is believed. From the stored points vectors V are
found. A map holds when

1. `certify` judges V, at the tolerance of whoever asks, as it would anybody's vectors;
2. the columns of V are eigenvectors in their order: |vᵢᵀAvⱼ|, and θᵢ − θᵢ₊₁ of the wrong sign,
   are below `TURNED`·max(|θᵢ|, |θⱼ|), or below what double precision resolves;
3. the stored eigenvalues are those of V, to the same;
4. every stored point, landmark or not, is where the method puts it by V and its own values: to
   `SAME` of the extent of its column.

How V was found does not matter for this.
"""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.levels import checked_tolerance
from dualfold.maps.landmark import FromLandmarks
from dualfold.maps.linear import Projected, ProjectedFromGram
from dualfold.saved.behind import quotients, vectors_behind
from dualfold.trace import lift as lifts
from dualfold.trace.certificate import Certificate, certify
from dualfold.trace.problem import Gramian, TraceProblem

Array = np.ndarray[Any, np.dtype[Any]]

# Points that differ by more than this from those of their own vectors, relative to the
# extent of their column, were changed: CSV, Parquet and NPY keep every digit.
SAME = 1e-6
# A column narrower than this share of the widest is rounding: it has no direction of its own.
NO_EXTENT = 1e-9
# Columns that were turned by an angle φ have |v₁ᵀAv₂| ≈ φ|θ₁ − θ₂|; solvers leave 1e-8 of θ.
TURNED = 1e-5
# VᵀBV is I to this; columns kept in float32 are off by 1e-7.
UPRIGHT = 2e-6
# Beyond, squares of coordinates overflow, and infinity agrees with anything.
LARGEST = 1e150


def rechecked(
    problem: TraceProblem,
    points: Any,
    values: Any = None,
    *,
    tolerance: float = 1e-4,
    fresh: bool = False,
) -> Certificate:
    """Judge stored points (n×d) and eigenvalues `values` against the `problem` they are to solve.

    `values` None: none were stored. A relative gap up to `tolerance` is "proved". `fresh` draws
    the start of a random search from the system, which nobody who made the file could know.
    """
    tolerance = checked_tolerance(tolerance)
    Y, stated = _numbers(problem, points, values)
    doubt = _unusable(Y, stated)
    if doubt:
        return refused(problem, doubt, tolerance)
    single = np.asarray(points).dtype == np.float32
    flat = _without_extent(problem, Y)
    if flat.any():
        return _narrower(problem, Y, stated, flat, tolerance, fresh, single)
    V = vectors_behind(problem, Y, single=single)
    certificate = judged(problem, V, tolerance=tolerance, fresh=fresh)
    if not np.isfinite(certificate.value):  # nothing to compare: V is no answer at all
        return failed(certificate, *([] if certificate.reasons else ["V is no answer"]))
    form = quotients(problem, V)
    doubts = value_doubts(problem, V, form, stated)
    again = np.asarray(problem.lift(V, np.diagonal(form)), dtype=float)
    off, apart = displaced(again, Y)
    if doubts or apart:
        return failed(certificate, *apart, *doubts)
    if isinstance(problem.lift, FromLandmarks):
        words = f"all {len(Y):,} points were placed again and agree to {off:.0e} of the extent"
        return replace(certificate, about=f"{certificate.about}: {words}")
    return certificate


def judged(problem: TraceProblem, V: Array, *, tolerance: float, fresh: bool) -> Certificate:
    """`certify`, with the start of its random search drawn from the system where `fresh`."""
    # `fresh` is on its way into certify; until then it is passed where it is known.
    if "fresh" in inspect.signature(certify).parameters:
        return certify(problem, V, tolerance=tolerance, fresh=fresh)  # type: ignore[call-arg, unused-ignore]
    return certify(problem, V, tolerance=tolerance)


def value_doubts(problem: TraceProblem, V: Array, form: Array, stated: Array | None) -> list[str]:
    """What is wrong with the columns of V as eigenvectors, and with the stated eigenvalues."""
    theta = np.diagonal(form)
    slack = _rounding(problem, V)
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


def displaced(again: Array, stored: Array) -> tuple[float, list[str]]:
    """How far stored points are from where they belong (share of their column's extent).

    And, in words, if that is too far.
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
    if np.all(share <= SAME):  # NaN is no agreement
        return float(share.max(initial=0.0)), []
    rows = (np.abs(again - stored) / np.where(extents > 0, extents, 1e-300)).max(axis=1)
    changed = int(np.sum(~(rows <= SAME)))
    return float(share.max()), [
        f"{changed} of {len(stored)} stored points are not where the method puts them (row "
        f"{int(np.argmax(rows)) + 1} is off by {rows.max():.1e} of the extent of the map)"
    ]


def failed(certificate: Certificate, *doubts: str) -> Certificate:
    """The certificate of a map that does not hold, for these reasons first."""
    reasons = (*doubts, *certificate.reasons)
    return replace(certificate, level="failed", complete=None, reasons=reasons)


def refused(problem: TraceProblem, doubt: str, tolerance: float) -> Certificate:
    """What is said of points that cannot even be compared."""
    nothing = np.full((problem.n, problem.count), np.nan)
    return failed(certify(problem, nothing, tolerance=tolerance), doubt)


def _numbers(problem: TraceProblem, points: Any, values: Any) -> tuple[Array, Array | None]:
    Y, stated = np.asarray(points), None if values is None else np.asarray(values)
    for name, array in (("points", Y), ("eigenvalues", stated)):
        if array is not None and array.dtype.kind not in "fiu":
            raise InvalidInput(f"the stored {name} are no real numbers ({array.dtype})")
    count = problem.count
    if Y.ndim != 2 or Y.shape[1] != count or (stated is not None and stated.shape != (count,)):
        sizes = "no" if stated is None else stated.size
        raise InvalidInput(
            f"points of shape {Y.shape} and {sizes} eigenvalues were given; this problem "
            f"has {count} coordinates"
        )
    rows = _rows_of(problem)
    if rows is not None and len(Y) != rows:
        raise InvalidInput(f"{len(Y)} points are stored and the data has {rows} rows")
    return Y.astype(float), None if stated is None else stated.astype(float)


def _rows_of(problem: TraceProblem) -> int | None:
    lift = problem.lift
    if isinstance(lift, FromLandmarks):
        return int(lift.landmarks.distances.shape[1])
    if isinstance(lift, Projected | ProjectedFromGram):
        return int(lift.data.shape[0])
    return problem.n


def _unusable(Y: Array, stated: Array | None) -> str:
    """Why these numbers cannot be judged; "" if they can."""
    if not np.isfinite(Y).all() or (stated is not None and not np.isfinite(stated).all()):
        return "the stored points or eigenvalues hold NaN or infinite entries"
    if np.abs(Y).max(initial=0.0) > LARGEST:
        return f"the stored points reach {np.abs(Y).max():.1e}; their squares overflow"
    return ""


def _rounding(problem: TraceProblem, V: Array) -> Array:
    """What double precision leaves of |vᵀAv|/vᵀBv, from above but for a factor."""
    eps = float(np.finfo(float).eps)
    lengths = np.einsum("ij,ij->j", V, problem.metric.times(V))
    plain = np.einsum("ij,ij->j", V, V)
    A = problem.A
    if isinstance(A, Gramian):  # MV is squared: only its own rounding counts
        M = abs(A.factor) @ np.abs(V)
        image = np.linalg.norm(A.factor @ V, axis=0)
        return np.asarray(16 * eps * np.linalg.norm(M, axis=0) * image / lengths)
    if sp.issparse(A):
        size = np.einsum("ij,ij->j", np.abs(V), abs(A) @ np.abs(V))
    elif isinstance(A, np.ndarray):
        size = np.sqrt(problem.square_norm) * plain
    else:
        size = np.linalg.norm(problem.descent(V), axis=0) * np.sqrt(plain)
    return np.asarray(16 * eps * size / lengths)


def _without_extent(problem: TraceProblem, Y: Array) -> Array:
    """Which columns hold only rounding; where points are the vectors themselves, none."""
    extents = np.ptp(Y, axis=0)
    if problem.lift is lifts.vectors or not extents.any():
        return np.zeros(len(extents), bool)
    return np.asarray(extents <= NO_EXTENT * extents.max())


def _narrower(
    problem: TraceProblem,
    Y: Array,
    stated: Array | None,
    flat: Array,
    tolerance: float,
    fresh: bool,
    single: bool,
) -> Certificate:
    """The judgement of a map whose last columns have no extent: rightly so?

    ‖A − VΘVᵀ‖ bounds every further eigenvalue (Eckart and Young: V has `kept` columns). Where it
    is rounding, the data has no further direction, and the first ones are all there is.
    """
    kept = int(np.argmax(flat))
    if kept == 0 or not flat[kept:].all():
        return refused(problem, "a column without extent stands before one with extent", tolerance)
    narrow = replace(problem, count=kept)
    points = Y[:, :kept].astype(np.float32) if single else Y[:, :kept]
    first = None if stated is None else stated[:kept]
    certificate = rechecked(narrow, points, first, tolerance=tolerance, fresh=fresh)
    if certificate.level == "failed":
        return certificate
    V = vectors_behind(narrow, Y[:, :kept], single=single)
    left, whole = _left_over(narrow, V)
    room = len(V) * float(np.finfo(problem.A.dtype).eps) * 8
    if not left <= room * whole:
        doubt = f"columns from {kept + 1} on have no extent, and the data may have some there"
        return failed(certificate, doubt)
    if stated is not None and not np.all(np.abs(stated[kept:]) <= room * whole):
        return failed(certificate, f"eigenvalue {kept + 1} is stored, its column has no extent")
    words = f"the first {kept} coordinate(s); the data has no extent in the others"
    about = f"{certificate.about}; {words}" if certificate.about else words
    return replace(certificate, about=about)


def _left_over(problem: TraceProblem, V: Array) -> tuple[float, float]:
    """‖A − VΘVᵀ‖ and ‖A‖ (Frobenius) of a dense A; infinite where it is not known by entries."""
    if not isinstance(problem.A, np.ndarray):
        return np.inf, 1.0
    form = quotients(problem, V)
    square = whole = 0.0
    for start in range(0, len(V), 512):
        rows = slice(start, start + 512)
        tile = problem.A[rows].astype(float)
        whole += float(np.sum(tile**2))
        square += float(np.sum((tile - (V[rows] @ form) @ V.T) ** 2))
    return float(np.sqrt(square)), float(np.sqrt(whole))

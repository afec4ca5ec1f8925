"""A second look at a stored map: its problem is stated again from the data, and it is judged.

Nothing in the file is believed. From the stored points vectors V are found. A map holds when

1. `certify` judges V, at the tolerance of whoever asks, as it would anybody's vectors;
2. the columns of V are eigenvectors in their order: |vᵢᵀAvⱼ|, and θᵢ − θᵢ₊₁ of the wrong sign,
   are below `TURNED`·max(|θᵢ|, |θⱼ|), or below what double precision resolves;
3. the stored eigenvalues are those of V, to the same;
4. every stored point, landmark or not, is where the method puts it by V and its own values: to
   `SAME` of the extent of its column;
5. where the points are V itself, each is where its own row of AV = BVΘ puts it: to `MOVED`.

How V was found does not matter for this. (It is read off the points; only for coordinates that
were rounded to float32 a solver may find what they were before.)
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import checked_tolerance
from dualfold.errors import InvalidInput
from dualfold.maps.landmark import LandmarkLift
from dualfold.maps.linear import ProjectionLift, GramProjectionLift
from dualfold.saved.behind import (
    completed,
    nearest_answer,
    quotients,
    stated_values,
    vectors_behind,
    width_of,
)
from dualfold.saved.doubts import NO_EXTENT, SAME, SAME_SINGLE, displaced, row_doubts, value_doubts
from dualfold.trace import lift as lifts
from dualfold.trace.certificate import TraceCertificate, certify
from dualfold.trace.problem import TraceProblem

# Beyond, squares of coordinates overflow, and infinity agrees with anything.
LARGEST = 1e150


def rechecked(
    problem: TraceProblem,
    points: Any,
    values: Any = None,
    *,
    tolerance: float = 1e-4,
    fresh: bool = False,
) -> TraceCertificate:
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
    V = completed(problem, vectors_behind(problem, Y, single=single))
    if V is None:
        return refused(problem, "the directions beside the stored ones were not found", tolerance)
    certificate = _lifted(problem, V, Y, stated, tolerance, fresh, single)
    if single and certificate.level not in ("proved", "measured"):
        better = nearest_answer(problem, V) if np.isfinite(certificate.value) else None
        if better is not None:
            return _lifted(problem, better, Y, stated, tolerance, fresh, single)
    return certificate


def _lifted(
    problem: TraceProblem,
    V: Array,
    Y: Array,
    stated: Array | None,
    tolerance: float,
    fresh: bool,
    single: bool,
) -> TraceCertificate:
    """The judgement of vectors V and of points and eigenvalues that are said to be theirs."""
    certificate = certify(problem, V, tolerance=tolerance, fresh=fresh)
    if not np.isfinite(certificate.value):  # nothing to compare: V is no answer at all
        return certificate
    form = quotients(problem, V)
    named = stated_values(problem, np.diagonal(form), stated)
    doubts = value_doubts(problem, V, form, named, single=single)
    if points_are_vectors(problem):
        doubts += row_doubts(problem, V, np.diagonal(form))
    again = np.asarray(problem.lift(V, np.diagonal(form)), dtype=float)
    off, apart = displaced(again, Y, same=SAME_SINGLE if single else SAME)
    if doubts or apart:
        return certificate.doubted(*apart, *doubts)
    if isinstance(problem.lift, LandmarkLift):
        words = f"all {len(Y):,} points were placed again and agree to {off:.0e} of the extent"
        return replace(certificate, about=f"{certificate.about}: {words}")
    return certificate


def points_are_vectors(problem: TraceProblem) -> bool:
    """Whether the points are read off V row by row, and not placed by other data."""
    plain = problem.lift in (lifts.vectors, lifts.scaled_vectors)
    return plain or isinstance(problem.lift, GramProjectionLift | lifts.DiffusionLift | lifts.SelectedColumns)


def refused(problem: TraceProblem, doubt: str, tolerance: float) -> TraceCertificate:
    """What is said of points that cannot even be compared."""
    nothing = np.full((problem.n, problem.count), np.nan)
    return certify(problem, nothing, tolerance=tolerance).doubted(doubt)


def _numbers(problem: TraceProblem, points: Any, values: Any) -> tuple[Array, Array | None]:
    Y, stated = np.asarray(points), None if values is None else np.asarray(values)
    for name, array in (("points", Y), ("eigenvalues", stated)):
        if array is not None and array.dtype.kind not in "fiu":
            raise InvalidInput(f"the stored {name} are no real numbers ({array.dtype})")
    count = width_of(problem)
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
    if isinstance(lift, LandmarkLift):
        return int(lift.landmarks.distances.shape[1])
    if isinstance(lift, ProjectionLift | GramProjectionLift):
        return int(lift.data.shape[0])
    return problem.n


def _unusable(Y: Array, stated: Array | None) -> str:
    """Why these numbers cannot be judged; "" if they can."""
    if not np.isfinite(Y).all() or (stated is not None and not np.isfinite(stated).all()):
        return "the stored points or eigenvalues hold NaN or infinite entries"
    if np.abs(Y).max(initial=0.0) > LARGEST:
        return f"the stored points reach {np.abs(Y).max():.1e}; their squares overflow"
    return ""


def _without_extent(problem: TraceProblem, Y: Array) -> Array:
    """Which columns hold only rounding; where points are the vectors themselves, none."""
    extents = np.ptp(Y, axis=0)
    free = problem.lift is lifts.vectors
    free = free or isinstance(problem.lift, lifts.DiffusionLift | lifts.SelectedColumns)
    if free or not extents.any():
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
) -> TraceCertificate:
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
    better = nearest_answer(narrow, V) if single else None
    V = V if better is None else better
    left, whole = _left_over(narrow, V)
    room = len(V) * float(np.finfo(problem.A.dtype).eps) * 8
    if not left <= room * whole:
        doubt = f"columns from {kept + 1} on have no extent, and the data may have some there"
        return certificate.doubted(doubt)
    if stated is not None and not np.all(np.abs(stated[kept:]) <= room * whole):
        return certificate.doubted(f"eigenvalue {kept + 1} is stored, its column has no extent")
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

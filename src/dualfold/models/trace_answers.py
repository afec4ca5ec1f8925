"""A stored answer to a trace problem judged again: its points, or the map that it led to.

The problem is stated again from the data, and nothing in the file is believed. Vectors V are read
off the stored points or the stored map. A stored answer holds when

1. `certify` judges V, at the tolerance of the caller, as it would judge the vectors of a solver;
2. the columns of V are eigenvectors in their order: |vᵢᵀAvⱼ|, and θᵢ − θᵢ₊₁ of the wrong sign,
   are below `ROTATION_TOLERANCE`·max(|θᵢ|, |θⱼ|), or below what double precision resolves;
3. the stored eigenvalues are those of V, to the same;
4. every stored point, landmark or not, is where the method puts it by V and its own values, up to
   `POINT_TOLERANCE` of the extent of its column; of a map, every number is the one that V and the
   data lead to;
5. where rows of V are points, each is where its own row of AV = BVΘ puts it, up to
   `ROW_TOLERANCE`.

How V was found does not matter for this. It is read off the file, except where the file holds
fewer vectors than the problem has, or less precise ones: then a solver computes what is missing.
That is so for points in float32, for independent coordinates among further eigenvectors, and for
Fisher's discriminants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE, Tolerance, tolerance_or
from dualfold.embedding import Embedding
from dualfold.errors import DualfoldError
from dualfold.methods.fitting.estimator import Statement
from dualfold.methods.maps.out_of_sample import OutOfSampleMap, parts_of
from dualfold.trace.certificate import TraceCertificate, certify
from dualfold.trace.doubts import (
    FLAT_COLUMN_RATIO,
    POINT_TOLERANCE,
    POINT_TOLERANCE_FLOAT32,
    StoredPoints,
    point_doubts,
    row_doubts,
    value_doubts,
)
from dualfold.trace.lift import MAX_COORDINATE, rayleigh_matrix
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers import Auto

NOT_COMPLETED = "the directions beside the stored ones were not found"


@dataclass(frozen=True)
class CertifySettings:
    """tolerance : the caller's; "default" is that of the certificate that is made

    fresh : draw the start of a random search from the system, so that whoever made the file
        could not know it
    """

    tolerance: Tolerance = "default"
    fresh: bool = False

    def __post_init__(self) -> None:
        tolerance_or(DEFAULT_TOLERANCE, self.tolerance)  # refuses what is none

    @property
    def largest_gap(self) -> float:
        """The largest relative gap that is "proved"."""
        return tolerance_or(DEFAULT_TOLERANCE, self.tolerance)

    def certificate_of(self, problem: TraceProblem, V: Array) -> TraceCertificate:
        """The certificate of vectors V."""
        return certify(problem, V, tolerance=self.largest_gap, fresh=self.fresh)

    def refusal_of(self, problem: TraceProblem, doubt: str) -> TraceCertificate:
        """The failed certificate of an answer that cannot even be compared."""
        nothing = np.full((problem.n, problem.count), np.nan)
        return certify(problem, nothing, tolerance=self.largest_gap).with_doubts(doubt)


def certify_points(
    problem: TraceProblem,
    points: Any,
    values: Any = None,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    fresh: bool = False,
) -> TraceCertificate:
    """Certificate of stored points as an answer to a trace problem.

    Parameters
    ----------
    problem : TraceProblem
        Problem that the points are an answer to.
    points : array-like of shape (n_samples, n_components)
        Stored points.
    values : array-like of shape (n_components,) or None, default=None
        Stored eigenvalues; None: none were stored.
    tolerance : float, default=1e-4
        Largest relative gap that is "proved".
    fresh : bool, default=False
        Whether to draw the start of a random search from the system, so that whoever made the file
        could not know it.

    Returns
    -------
    TraceCertificate
        What is proved of the points.

    Examples
    --------
    >>> import dualfold
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.models.trace_answers import certify_points
    >>> problem = dualfold.methods.pca(swiss_roll(30, random_state=0).points)
    >>> certify_points(problem, dualfold.embed(problem).points).level
    'proved'
    """
    settings = CertifySettings(tolerance, fresh)
    return certificate_of_points(problem, StoredPoints.of(problem, points, values), settings)


def certificate_of_points(
    problem: TraceProblem, stored: StoredPoints, settings: CertifySettings
) -> TraceCertificate:
    """The certificate of stored points as the answer to a problem."""
    if stored.doubt:
        return settings.refusal_of(problem, stored.doubt)
    flat = _flat_columns(problem, stored.points)
    if flat.any():
        return _certificate_of_flat(problem, stored, flat, settings)
    V = vectors_of_points(problem, stored)
    if V is None:
        return settings.refusal_of(problem, NOT_COMPLETED)
    certificate = _certificate_of_vectors(problem, V, stored, settings)
    if stored.single and certificate.level not in ("proved", "measured"):
        better = _nearest_answer(problem, V) if np.isfinite(certificate.value) else None
        if better is not None:
            return _certificate_of_vectors(problem, better, stored, settings)
    return certificate


def vectors_of_points(problem: TraceProblem, stored: StoredPoints) -> Array | None:
    """The vectors of an answer whose points these are; None where there is none."""
    lift = problem.lift
    V = lift.vectors_behind(problem, stored, solved_vectors)
    return lift.completed_vectors(problem, V, solved_vectors)


def solved_vectors(problem: TraceProblem, tol: float | None = None) -> Array:
    """The vectors of an answer, where a file does not hold enough to read them off."""
    return (Auto() if tol is None else Auto(tol=tol)).solve(problem).vectors


def _certificate_of_vectors(
    problem: TraceProblem, V: Array, stored: StoredPoints, settings: CertifySettings
) -> TraceCertificate:
    """The certificate of vectors V, with doubts about points and eigenvalues stored as theirs."""
    certificate = settings.certificate_of(problem, V)
    if not np.isfinite(certificate.value):  # nothing to compare: V is no answer at all
        return certificate
    form = rayleigh_matrix(problem, V)
    theta = np.diagonal(form)
    doubts = _value_doubts(problem, V, form, stored.values, stored.single)
    if problem.lift.rows_are_points:
        doubts += row_doubts(problem, V, theta)
    again = np.asarray(problem.lift(V, theta), dtype=float)
    tolerance = POINT_TOLERANCE_FLOAT32 if stored.single else POINT_TOLERANCE
    distance, moved = point_doubts(again, stored.points, tolerance=tolerance)
    if doubts or moved:
        return certificate.with_doubts(*moved, *doubts)
    words = problem.lift.agreement_text(len(stored.points), distance)
    return replace(certificate, about=f"{certificate.about}: {words}") if words else certificate


def _value_doubts(
    problem: TraceProblem, V: Array, form: Array, values: Array | None, single: bool = False
) -> list[str]:
    if values is not None:
        values = problem.lift.with_stored_values(np.diagonal(form), values)
    return value_doubts(problem, V, form, values, single=single)


def _nearest_answer(problem: TraceProblem, V: Array) -> Array | None:
    """The answer that V was before it was rounded: a solver's space, rotated towards V.

    Computed again since rounding to float32 hides small eigenvalues; judged like any other.
    """
    try:
        U = solved_vectors(problem)
    except DualfoldError:
        return None
    left, sizes, right = np.linalg.svd(U.T @ problem.metric.times(V))
    return np.asarray(U @ (left @ right)) if sizes.min() > 0.5 else None


def _flat_columns(problem: TraceProblem, Y: Array) -> Array:
    """Which columns hold only rounding; none where a column's length says nothing of its value."""
    extents = np.ptp(Y, axis=0)
    if not problem.lift.is_flat_at_zero or not extents.any():
        return np.zeros(len(extents), bool)
    return np.asarray(extents <= FLAT_COLUMN_RATIO * extents.max())


def _certificate_of_flat(
    problem: TraceProblem, stored: StoredPoints, flat: Array, settings: CertifySettings
) -> TraceCertificate:
    """The certificate of points whose last columns have no extent: rightly so?

    ‖A − VΘVᵀ‖ bounds every further eigenvalue (Eckart and Young: V has `count` columns). Where it
    is rounding, the data has no further direction, and the first ones are all there is.
    """
    count = int(np.argmax(flat))
    if count == 0 or not flat[count:].all():
        doubt = "a column without extent stands before one with extent"
        return settings.refusal_of(problem, doubt)
    narrow, first = problem.with_count(count), stored.first_columns(count)
    certificate = certificate_of_points(narrow, first, settings)
    if certificate.level == "failed":
        return certificate
    V = narrow.lift.vectors_behind(narrow, first, solved_vectors)
    better = _nearest_answer(narrow, V) if stored.single else None
    remainder, norm = _remainder_norm(narrow, V if better is None else better)
    rounding = len(V) * float(np.finfo(problem.A.dtype).eps) * 8 * norm
    if not remainder <= rounding:
        doubt = f"columns from {count + 1} on have no extent, and the data may have some there"
        return certificate.with_doubts(doubt)
    if stored.values is not None and not np.all(np.abs(stored.values[count:]) <= rounding):
        return certificate.with_doubts(
            f"eigenvalue {count + 1} is stored, its column has no extent"
        )
    words = f"the first {count} coordinate(s); the data has no extent in the others"
    about = f"{certificate.about}; {words}" if certificate.about else words
    return replace(certificate, about=about)


def _remainder_norm(problem: TraceProblem, V: Array) -> tuple[float, float]:
    """‖A − VΘVᵀ‖ and ‖A‖ (Frobenius) of a dense A; infinite where it is not known by entries."""
    if not isinstance(problem.A, np.ndarray):
        return np.inf, 1.0
    form = rayleigh_matrix(problem, V)
    remainder = total = 0.0
    for start in range(0, len(V), 512):
        rows = slice(start, start + 512)
        block = problem.A[rows].astype(float)
        total += float(np.sum(block**2))
        remainder += float(np.sum((block - (V[rows] @ form) @ V.T) ** 2))
    return float(np.sqrt(remainder)), float(np.sqrt(total))


def certificate_of_map(
    stated: Statement, map_: OutOfSampleMap, settings: CertifySettings
) -> tuple[TraceCertificate, Array | None]:
    """The certificate of a stored map, and the points that it leads to (None: none at all).

    The vectors that the map is made of are judged, and the map that *they* lead to, with the graph
    and all that belongs to it made from the data, must be the stored one in every number.
    """
    problem, lift = stated.problem, stated.problem.lift
    answer = map_.stored_answer(problem, solved_vectors)
    V = answer.vectors
    width = lift.n_coordinates(problem.count)
    usable = V.ndim == 2 and V.dtype.kind == "f" and V.shape == (problem.n, width)
    if (
        not usable
        or not (np.abs(V).astype(float) <= MAX_COORDINATE).all()
        or not V.any(axis=0).all()
    ):
        doubt = f"the model holds no {width} directions of {problem.n} finite numbers"
        return settings.refusal_of(problem, doubt), None
    completed = lift.completed_vectors(problem, V, solved_vectors)
    if completed is None:
        return settings.refusal_of(problem, NOT_COMPLETED), None
    V = completed
    certificate = settings.certificate_of(problem, V)
    if not np.isfinite(certificate.value):
        return certificate, None
    form = rayleigh_matrix(problem, V)
    doubts = _value_doubts(problem, V, form, answer.values)
    if answer.row_by_row:
        doubts += row_doubts(problem, V, np.diagonal(form))
    embedding = stored_embedding(problem, V, np.diagonal(form).copy(), certificate)
    with np.errstate(over="ignore", invalid="ignore"):
        made = stated.scaling(embedding.solution.values).rule(stated.leads_to(embedding))
        doubts += _map_doubts(made, map_, problem)
    return certificate.with_doubts(*doubts), embedding.points


def stored_embedding(
    problem: TraceProblem, V: Array, theta: Array, certificate: TraceCertificate
) -> Embedding:
    """An answer that a file holds as if it had just been computed."""
    points = np.asarray(problem.lift(V, theta), dtype=float)
    solution = Solution(V, theta, V[:, :0], "stored", "converged", 0)
    values = problem.lift.selected_columns(V, theta)[1]
    return Embedding(points, values, certificate, problem, solution)


def _map_doubts(made: Any, stored: OutOfSampleMap, problem: TraceProblem) -> list[str]:
    """Differences of the stored map from the one that the judged answer leads to."""
    differences = parts_of(made).differences(parts_of(stored))
    rows = problem.lift.rows_to_compare()
    if differences or rows is None:
        return differences
    return point_doubts(made(rows), stored(rows))[1]

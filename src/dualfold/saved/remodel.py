"""A second look at a model file: the map is put together again and compared in every number.

The problem is stated from the data. The vectors that the stored map is made of are judged as
anybody's would be, and the map that *they* lead to, with the graph and all that belongs to it
made from the data, must be the stored one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import checked_tolerance
from dualfold.embedding import Embedding
from dualfold.errors import InvalidInput
from dualfold.estimators.stated import Stated
from dualfold.maps.landmark import GeodesicMap
from dualfold.maps.linear import LinearMap, ProjectionLift
from dualfold.maps.local import LocalWeightsMap
from dualfold.maps.nystrom import NystromMap
from dualfold.maps.piecewise import RescaledMap
from dualfold.saved.agreement import disagreements
from dualfold.saved.behind import (
    completed,
    quotients,
    stated_values,
    unit_columns,
    vectors_behind,
    width_of,
)
from dualfold.saved.doubts import displaced, row_doubts, value_doubts
from dualfold.saved.parts import PlacingMap, parts_of
from dualfold.saved.recheck import LARGEST, refused
from dualfold.trace.certificate import TraceCertificate, certify
from dualfold.trace.lift import shown
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution


def answered(
    stated: Stated, map_: PlacingMap, *, tolerance: float, fresh: bool
) -> tuple[TraceCertificate, Embedding | None]:
    """The certificate of a stored map, and the answer that it holds (None: none at all)."""
    tolerance, problem = checked_tolerance(tolerance), stated.problem
    inner: Any = map_.map if isinstance(map_, RescaledMap) else map_
    V, values = _answer_in(problem, inner)
    usable = V.ndim == 2 and V.dtype.kind == "f" and V.shape == (problem.n, width_of(problem))
    if not usable or not (np.abs(V) <= LARGEST).all() or not V.any(axis=0).all():
        doubt = f"the model holds no {width_of(problem)} directions of {problem.n} finite numbers"
        return refused(problem, doubt, tolerance), None
    whole = completed(problem, V)
    if whole is None:
        doubt = "the directions beside the stored ones were not found"
        return refused(problem, doubt, tolerance), None
    V = whole
    certificate = certify(problem, V, tolerance=tolerance, fresh=fresh)
    if not np.isfinite(certificate.value):
        return certificate, None
    form = quotients(problem, V)
    theta = np.diagonal(form).copy()
    doubts = value_doubts(problem, V, form, stated_values(problem, theta, values))
    if not isinstance(inner, LinearMap):
        doubts += row_doubts(problem, V, theta)
    points = np.asarray(problem.lift(V, theta), dtype=float)
    solution = Solution(V, theta, V[:, :0], "stored", "converged", 0)
    named = shown(problem.lift, V, theta)[1]
    embedding = Embedding(points, named, certificate, problem, solution)
    with np.errstate(over="ignore", invalid="ignore"):
        mine = stated.scaling(theta).rule(stated.leads_to(embedding))
        doubts += _other_map(mine, map_, problem)
    return certificate.doubted(*doubts), embedding


def _answer_in(problem: TraceProblem, map_: Any) -> tuple[Array, Array | None]:
    """The vectors that a map is made of, and the eigenvalues it states."""
    if isinstance(map_, GeodesicMap):
        return unit_columns(_floats(map_.place.directions)), None
    if isinstance(map_, NystromMap):
        values = _floats(map_.values)
        count = width_of(problem)
        fits = values.shape == (count,) and np.isfinite(values).all()
        return _floats(map_.points), values if fits else np.full(count, np.nan)
    if isinstance(map_, LocalWeightsMap):
        return _behind(problem, _floats(map_.points))
    if isinstance(map_, LinearMap):
        lift = problem.lift
        if isinstance(lift, ProjectionLift) and lift.space is None:
            return np.ascontiguousarray(_floats(map_.components).T), None
        fits = map_.components.shape == (problem.count, len(map_.mean))
        if fits and isinstance(lift, ProjectionLift) and lift.data.shape[1] == len(map_.mean):
            return _behind(problem, map_.encode(lift.data))
        return _behind(problem, map_.encode(getattr(lift, "data", None)))
    raise InvalidInput(f"a {type(map_).__name__} holds no answer to this problem")


def _behind(problem: TraceProblem, points: Array) -> tuple[Array, None]:
    fits = points.ndim == 2 and points.shape[1] == width_of(problem)
    if not fits or not (np.abs(points) <= LARGEST).all():
        return np.full((problem.n, width_of(problem)), np.nan), None
    return vectors_behind(problem, points), None


def _floats(numbers: Any) -> Array:
    """Real numbers as float64; anything else as an empty table, which no answer has."""
    found = np.asarray(numbers)
    return found.astype(float) if found.dtype.kind in "fiu" else np.zeros((0, 0))


def _other_map(mine: PlacingMap, stored: PlacingMap, problem: TraceProblem) -> list[str]:
    """How the stored map differs from the one that the judged answer leads to."""
    found = disagreements(parts_of(mine), parts_of(stored))
    data = getattr(problem.lift, "data", None)
    if found or data is None:
        return found
    return displaced(mine(data), stored(data))[1]

"""Judging the maps of a neighbour graph: in one piece, or of each piece by its own problem."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.errors import InPython, InvalidInput
from dualfold.estimators.layout import PiecewiseCertificate, side_by_side
from dualfold.estimators.neighbor_map import NeighborMap
from dualfold.estimators.unfolding import MaximumVarianceUnfolding
from dualfold.graph import Graph, separate
from dualfold.maps.landmark import FromLandmarks
from dualfold.maps.piecewise import PiecewiseMap
from dualfold.saved.agreement import disagreements
from dualfold.saved.behind import completed, quotients, vectors_behind
from dualfold.saved.doubts import SAME, SAME_SINGLE, displaced
from dualfold.saved.model import BothSides, Model
from dualfold.saved.parts import parts_of
from dualfold.saved.recheck import rechecked
from dualfold.saved.remodel import answered
from dualfold.saved.unfolding import rechecked_unfolding
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution


@dataclass(frozen=True)
class Asking:
    """Who asks: the largest gap that passes, and whether random starts come from the system."""

    tolerance: float
    fresh: bool


def judged_piece(
    estimator: Any,
    graph: Graph,
    map_: Any,
    count: int,
    sides: BothSides | None,
    asking: Asking,
) -> tuple[Any, Embedding | None]:
    """The judgement of the map of a graph in one piece, and the answer that it holds."""
    if isinstance(estimator, MaximumVarianceUnfolding):
        points = getattr(map_, "points", np.zeros((0, 0)))
        certificate = _unfolded(estimator, graph, points, sides, asking)
        # `_map` needs only the points of an embedding.
        mine = estimator._map(graph, replace(_NOTHING, points=points))
        return certificate.doubted(*_apart(mine, map_)), None
    if isinstance(estimator, NeighborMap):
        points = np.asarray(getattr(map_, "points", np.zeros((0, 0))))
        certificate = estimator.judged(graph, points, asking.tolerance)
        mine = estimator._map(graph, replace(_NOTHING, points=points))
        return certificate.doubted(*_apart(mine, map_)), None
    return answered(estimator._stated_piece(graph, count), map_, **vars(asking))


def judged_pieces(estimator: Any, graph: Graph, model: Model, asking: Asking) -> Any:
    """Every piece by its own problem, then how they lie side by side."""
    stored: Any = model.map
    found = list(separate(graph))
    if not isinstance(stored, PiecewiseMap) or len(stored.maps) != len(found):
        raise InvalidInput(f"the data has {len(found)} pieces, the model has another number")
    certificates: list[Any] = []
    parts: list[tuple[Array, Any]] = []
    maps: list[Any] = []
    widest = 0
    for number, (rows, part) in enumerate(found):
        place: Any = stored.maps[number]
        if len(rows) == 1 or place is None:
            if not (len(rows) == 1 and place is None):
                raise InvalidInput(f"piece {number + 1} has {len(rows)} points in the data")
            parts.append((rows, None))
            maps.append(None)
            continue
        widest = widest or estimator._asked(stored.points.shape[1], graph.n - 1)
        certificate, answer = _of_piece(estimator, part, place, widest, model, rows, asking)
        certificates.append(certificate)
        parts.append((rows, answer))
        maps.append(estimator._map(part, answer) if answer.problem is not None else place)
    whole = PiecewiseCertificate.of(certificates)
    if whole.level == "failed":  # a piece without an answer has no place either
        return whole
    return whole.doubted(*_laid_out(estimator, graph, model, parts, maps))


def _of_piece(
    estimator: Any, part: Graph, place: Any, widest: int, model: Model, rows: Array, asking: Asking
) -> tuple[Any, Any]:
    """The judgement of one of several pieces, and its answer."""
    count, sides = min(widest, part.n - 1), _sides_of(model.both_sides, rows)
    certificate, answer = judged_piece(estimator, part, place, count, sides, asking)
    if answer is None:
        answer = replace(_NOTHING, points=getattr(place, "points", np.zeros((len(rows), 0))))
    return certificate, answer


def _laid_out(estimator: Any, graph: Graph, model: Model, parts: Any, maps: Any) -> list[str]:
    """What is wrong with the places of the pieces."""
    answers = [answer for _, answer in parts if answer is not None]
    width = answers[0].points.shape[1] if answers else 1
    if any(len(rows) != len(a.points) for rows, a in parts if a is not None):
        return ["a piece does not have the points of the data"]
    layout = side_by_side(parts, graph.n, width)
    plain: Any = PiecewiseMap(
        graph.points, graph.metric, graph.piece_of, layout.points, layout.offsets, tuple(maps)
    )
    return _apart(plain, model.map)


def stored_points(
    estimator: Any,
    graph: Graph,
    points: Array,
    values: Any,
    sides: BothSides | None,
    asking: Asking,
) -> Any:
    """The judgement of stored points of a graph in one piece."""
    if isinstance(estimator, MaximumVarianceUnfolding):
        return _unfolded(estimator, graph, points, sides, asking)
    if isinstance(estimator, NeighborMap):
        return estimator.judged(graph, points, asking.tolerance)
    count = estimator._asked(points.shape[1], graph.n - 1)
    problem = estimator._stated_piece(graph, count).problem
    return rechecked(problem, points, values, **vars(asking))


def stored_around_landmarks(
    estimator: Any,
    graph: Graph,
    X: Any,
    points: Array,
    values: Any,
    sides: BothSides | None,
    asking: Asking,
) -> Any:
    """The judgement of stored points of which some are those of the graph: landmarks, or all but
    the rows left out.

    They by their problem; all others must be where the rule of new points puts them.
    """
    if graph.n_pieces > 1 and estimator.pieces == "separate":
        raise InvalidInput(
            "points around landmarks in several pieces are not judged; judge the model instead: ",
            InPython("rechecked_model"),
        )
    graph, rows = estimator._in_one_piece(graph), estimator.rows_
    certificate = stored_points(estimator, graph, points[rows], values, sides, asking)
    if certificate.level == "failed":
        return certificate
    rule = _rule_behind(estimator, graph, points[rows].astype(float), certificate)
    again = rule(X)
    again[rows] = points[rows]
    same = SAME_SINGLE if points.dtype == np.float32 else SAME
    return certificate.doubted(*displaced(again, points.astype(float), same=same)[1])


def _rule_behind(estimator: Any, graph: Graph, own: Array, certificate: Any) -> Any:
    """The rule of new points that follows from the graph's own ones."""
    if isinstance(estimator, MaximumVarianceUnfolding | NeighborMap):
        return estimator._map(graph, replace(_NOTHING, points=own))
    stated = estimator._stated_piece(graph, own.shape[1])
    V = completed(stated.problem, vectors_behind(stated.problem, own))
    assert V is not None  # a certificate that did not fail has found it before
    theta = np.diagonal(quotients(stated.problem, V)).copy()
    solution = Solution(V, theta, V[:, :0], "stored", "converged", 0)
    return stated.leads_to(Embedding(own, theta, certificate, stated.problem, solution))


def stored_pieces(
    estimator: Any,
    graph: Graph,
    points: Array,
    values: Any,
    sides: BothSides | None,
    asking: Asking,
) -> Any:
    """Stored points of pieces that lie side by side: each piece moved back, then laid out again.

    Stored eigenvalues are those of the largest piece, which comes first.
    """
    width = points.shape[1]
    certificates: list[Any] = []
    parts: list[tuple[Array, Any]] = []
    for rows, part in separate(graph):
        if len(rows) == 1:
            parts.append((rows, None))
            continue
        count = min(width, part.n - 1)
        back = _moved_back(estimator, part, points[rows][:, :count])
        own, known = _sides_of(sides, rows), None if certificates else values
        certificates.append(stored_points(estimator, part, back, known, own, asking))
        parts.append((rows, replace(_NOTHING, points=back)))
    whole = PiecewiseCertificate.of(certificates)
    layout = side_by_side(parts, graph.n, width)
    same = SAME_SINGLE if points.dtype == np.float32 else SAME
    return whole.doubted(*displaced(layout.points, points.astype(float), same=same)[1])


def _moved_back(estimator: Any, graph: Graph, points: Array) -> Array:
    """A piece where its own problem has it: around 0 in the metric of the problem."""
    if isinstance(estimator, MaximumVarianceUnfolding | NeighborMap):
        return points - points.mean(axis=0)
    problem: TraceProblem = estimator._stated_piece(graph, points.shape[1]).problem
    if isinstance(problem.lift, FromLandmarks):
        return points - points[problem.lift.landmarks.indices].mean(axis=0)
    weights = problem.metric.times(np.ones((problem.n, 1)))
    return np.asarray(points - (weights.T @ points) / weights.sum(), dtype=points.dtype)


def _unfolded(
    estimator: Any, graph: Graph, points: Any, sides: BothSides | None, asking: Asking
) -> Any:
    """An unfolding by both its sides; the points must be its leading coordinates."""
    found = rechecked_unfolding(
        graph,
        points,
        sides,
        tolerance=asking.tolerance,
        constraints=estimator.constraints,
        angles=estimator.angles,
    )
    return found.narrowed(estimator.about_rows())


_NOTHING: Any = Embedding(np.zeros((0, 0)), np.zeros(0), None, None, None)  # type: ignore[arg-type]


def _apart(mine: Any, stored: Any) -> list[str]:
    return disagreements(parts_of(mine), parts_of(stored))


def _sides_of(sides: BothSides | None, rows: Array) -> BothSides | None:
    if sides is None:
        return None
    if len(sides.factor) <= int(rows.max()) or sides.weights.shape[0] <= int(rows.max()):
        raise InvalidInput("the model's unfolding has fewer rows than the data")
    weights: Any = sides.weights.tocsr()[rows][:, rows]
    return BothSides(sides.factor[rows], weights)

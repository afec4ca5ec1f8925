"""How stale a frozen map is: the problem of all rows, stated again with what stays frozen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from dualfold.arrays import Array, Rows
from dualfold.certificate import Certificate
from dualfold.errors import DualfoldError, DualfoldWarning, counted
from dualfold.graph.graph import Graph
from dualfold.graph.grown_graphs import graph_without
from dualfold.methods.fitting.estimator import Estimator
from dualfold.methods.fitting.graph_estimator import GraphEstimator
from dualfold.methods.fitting.graph_fit import GraphMethod, connected_graph
from dualfold.methods.maps.moved_map import MovedMap
from dualfold.methods.maps.out_of_sample import OutOfSampleMap
from dualfold.trace.doubts import StoredPoints
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto
from dualfold.trace.staleness import (
    StalenessCertificate,
    certify_frozen,
    feasible_vectors,
    unresolved_staleness,
)

# Iterations after which the objective of points that move says what can be gained.
FURTHER_ROUNDS = 50


def map_staleness(
    estimator: Estimator,
    rule: OutOfSampleMap,
    rows: Rows,
    embedding: Array,
    tolerance: float,
    *,
    graph: Graph | None = None,
    graph_rows: Array | None = None,
    new_pieces: int = 0,
) -> StalenessCertificate:
    """Staleness certificate of a grown map.

    embedding : points of all rows, laid over an older map where the map was fitted again
    graph, graph_rows : neighbour graph of all rows, and their numbers; None for other methods
    new_pieces : as in `graph_staleness`
    """
    reason = why_unstated(estimator)
    if reason:
        return unresolved_staleness(reason, tolerance=tolerance)
    frozen, points, own_rule = frozen_estimator(estimator, rule), embedding, rule
    if isinstance(rule, MovedMap):  # the problem is about points before they were laid over others
        points, own_rule = rule.moved_back(embedding), rule.map
    if isinstance(frozen, GraphEstimator) and graph is not None and graph_rows is not None:
        return graph_staleness(
            frozen,
            graph,
            points[graph_rows],
            tolerance,
            new_pieces=new_pieces,
            has_landmarks=has_landmarks(estimator),
        )
    if hasattr(frozen, "judged_points"):
        return points_staleness(frozen, rows, points)
    problem = frozen.statement(rows, points.shape[1]).problem
    if problem.lift.rows_are_points:
        return trace_staleness(problem, points, tolerance)
    vectors = own_rule.stored_answer(problem, solved_vectors).vectors
    return vector_staleness(problem, vectors, tolerance)


def why_unstated(estimator: Estimator) -> str:
    """Why the problem of a fit cannot be stated for rows that came later; "" where it can."""
    if estimator._weighted:
        return "the map was fitted with weights of rows, and new rows have none"
    if len(getattr(estimator, "encodings_", ())):
        return "the map has a mixed table's rows as numbers alone, and its problem needs the table"
    return ""


def frozen_estimator(estimator: Estimator, rule: OutOfSampleMap) -> Estimator:
    """The estimator, not fitted, with what its fit has found: kernel widths, coordinates."""
    found = estimator.found_parameters() if _has_found(estimator) else {}
    found = {name: value for name, value in found.items() if name == "coordinates"}
    known = estimator.get_params(deep=False)
    kept = {name: value for name, value in rule.frozen_parameters().items() if name in known}
    return clone(estimator).set_params(**found | kept)


def has_landmarks(estimator: Estimator) -> bool:
    """Whether a map is one of landmarks; a file names how many only where some were drawn."""
    if hasattr(estimator, "certificate_"):
        return getattr(estimator, "landmarks_", None) is not None
    asked = getattr(estimator, "landmarks", None)
    return isinstance(asked, int) and not isinstance(asked, bool)


def _has_found(estimator: Estimator) -> bool:
    return hasattr(estimator, "found_parameters") and hasattr(estimator, "certificate_")


def graph_staleness(
    estimator: Estimator,
    graph: Graph,
    points: Array,
    tolerance: float,
    *,
    new_pieces: int = 0,
    has_landmarks: bool = False,
) -> StalenessCertificate:
    """Staleness certificate of a map by a neighbour graph, of all rows that its problem is about.

    new_pieces : pieces of the graph without an old row
    has_landmarks : whether the map is one of landmarks, which place all other rows
    """
    if new_pieces:
        return unresolved_staleness(
            f"new rows make {counted(new_pieces, 'piece')} of the graph without an old row; the "
            "problem does not say how pieces lie to one another, so there is no percentage",
            tolerance=tolerance,
        )
    if estimator.pieces == "separate" and graph.n_pieces > 1:
        return unresolved_staleness(
            "each piece has a problem of its own; fit again to compare", tolerance=tolerance
        )
    if has_landmarks:
        return unresolved_staleness(
            "the problem is about landmarks alone; new rows are only placed",
            tolerance=tolerance,
        )
    method = estimator._method()
    graph, points = _without_copies(graph, points, method)
    graph = connected_graph(graph, method)
    if hasattr(estimator, "judged_points"):
        judged = estimator.judged_points(graph, points, tolerance=tolerance)
        return _as_staleness(judged, "objective", tolerance)
    return trace_staleness(method.problem(graph, points.shape[1]), points, tolerance)


def trace_staleness(problem: TraceProblem, points: Array, tolerance: float) -> StalenessCertificate:
    """Staleness certificate of points of all rows as the answer to a trace problem of all rows."""
    width = problem.lift.n_coordinates(problem.count)
    if width != problem.count or points.shape != (problem.n, width):
        return unresolved_staleness(
            "the coordinates were chosen among further eigenvectors, which the map does not hold",
            tolerance=tolerance,
        )
    solve: Any = None  # the lifts that need a solver have other rows than points
    stored = StoredPoints(np.asarray(points, dtype=float))
    return vector_staleness(problem, problem.lift.vectors_behind(problem, stored, solve), tolerance)


def vector_staleness(
    problem: TraceProblem, frozen: Array, tolerance: float
) -> StalenessCertificate:
    """Staleness certificate of frozen vectors, by an answer that is computed from them."""
    start, _ = feasible_vectors(problem, frozen)
    found = _staleness_from(problem, frozen, Auto(start=start), tolerance)
    if found.level != "unresolved":
        return found
    # A start that is nearly an answer leaves further directions rough, and a certificate needs
    # them to place its floor.
    return _staleness_from(problem, frozen, Auto(), tolerance)


def _staleness_from(
    problem: TraceProblem, frozen: Array, solver: Auto, tolerance: float
) -> StalenessCertificate:
    best = solver.solve(problem)
    answer = np.hstack([best.vectors, best.guard])
    return certify_frozen(problem, frozen, answer, tolerance=tolerance)


def solved_vectors(problem: TraceProblem, tol: float | None = None) -> Array:
    """The vectors of an answer, where a map does not hold enough to read them off."""
    return (Auto() if tol is None else Auto(tol=tol)).solve(problem).vectors


def points_staleness(estimator: Estimator, X: Rows, points: Array) -> StalenessCertificate:
    """Staleness certificate of points that move: the gain of iterations, the balance of forces."""
    before = estimator.judged_points(X, points)
    if not hasattr(estimator, "points_after"):
        return _as_staleness(before, "objective", before.tolerance)
    after = estimator.judged_points(X, estimator.points_after(X, points, FURTHER_ROUNDS))
    gained = max(0.0, before.value - after.value) / abs(before.value) if before.value else 0.0
    certificate = _as_staleness(before, "objective", before.tolerance)
    return replace(certificate, at_least=float(gained))


def staleness_or_reason(
    compute: Callable[[], StalenessCertificate], tolerance: float
) -> StalenessCertificate:
    """Certificate that `compute` returns; where it refuses, "unresolved" with its words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DualfoldWarning)
        try:
            certificate: StalenessCertificate = compute()
        except DualfoldError as refusal:
            return unresolved_staleness(str(refusal), tolerance=tolerance)
    return certificate


def _without_copies(graph: Graph, points: Array, method: GraphMethod) -> tuple[Graph, Array]:
    """Graph and points with one of many copies of a row, where the method takes one."""
    once = None if method.rows is None else method.rows.one_of_each(graph)
    if once is None:
        return graph, points
    gone = np.ones(graph.n, bool)
    gone[once] = False
    return graph_without(graph, gone), points[once]


def _as_staleness(judged: Certificate, measure: Any, tolerance: float) -> StalenessCertificate:
    """The certificate of frozen points of all rows as what it says of the frozen map."""
    level = judged.level
    reasons = judged.reasons
    if level in ("failed", "measured"):  # no answer to the problem of all rows, or no proof
        level = "unresolved"
        reasons = reasons or (str(judged),)
    return StalenessCertificate(
        level=level,
        gap=np.inf if level == "unresolved" else judged.gap,
        value=judged.value,
        bound=judged.bound,
        tolerance=tolerance,
        reasons=reasons,
        about=judged.about,
        measure=measure,
        at_least=np.inf if level == "not stationary" else 0.0,
    )

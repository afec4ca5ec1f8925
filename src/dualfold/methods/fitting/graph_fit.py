"""How a method of a neighbour graph is fitted: one pipeline, from rows to certified points.

    rows ─► graph ─► one piece, or each piece ─► problem ─► answer ─► rule for new rows ─► points

A method is data (`GraphMethod`); `fit_graph_method` is the whole way. Every step makes a new frozen
object.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Rows
from dualfold.errors import (
    Argument,
    DisconnectedGraph,
    InPython,
    InvalidInput,
    Message,
    NotConverged,
    PointsCollapse,
    RowsLeftOut,
    TooLarge,
    warn,
)
from dualfold.graph import Graph, join_pieces, separate
from dualfold.graph.pieces import SEPARATE_MESSAGE, pieces_in_words
from dualfold.methods.fitting.coordinates import (
    AnswerSettings,
    PieceAnswer,
    warn_of_overtones,
)
from dualfold.methods.fitting.dimension import MAX_AUTO_COMPONENTS
from dualfold.methods.fitting.estimator import Stage
from dualfold.methods.fitting.fitted_rows import FittedRows, RowSettings, refuse_few_rows
from dualfold.methods.fitting.outlying_groups import (
    MAX_ROUNDS,
    MIN_TABLE_ROWS,
    outlying_rows,
    rows_of_small_pieces,
    rows_without,
    warn_of_rows_left_out,
)
from dualfold.methods.fitting.piece_layout import side_by_side
from dualfold.methods.fitting.piecewise_certificate import PiecewiseCertificate
from dualfold.methods.maps.piecewise_map import PiecewiseMap


def as_many_as_rows(graph: Graph) -> int:
    """The largest number of coordinates where a method has no other limit."""
    return graph.n


@dataclass(frozen=True, eq=False)
class FewerRows:
    """Policy for rows that cannot be solved for in seconds: half of them, a quarter …

    refuse : raises `TooLarge` for a problem that no solver would answer in reasonable time
    can_draw : whether fewer rows than these may be drawn
    all_rows : what asks for all rows whatever it takes, for messages
    """

    refuse: Callable[[Any], None]
    can_draw: Callable[[int], bool]
    all_rows: Argument


@dataclass(frozen=True, eq=False)
class GraphMethod:
    """A method of a neighbour graph, as data.

    problem : states the problem of a connected graph, for so many coordinates
    rule : the rule for new rows that follows from a graph and its embedding
    graph : the neighbour graph of rows X, or what `given` says about it
    given : a graph or lists of neighbours of all rows, or None
    answer : how the problem is answered, and how many coordinates there are
    pieces : what happens to a graph in several pieces: "join", "separate" or "raise"
    rows : which rows are embedded; None for all, always
    max_components : how many coordinates "auto" may look at
    fewer_rows : for methods that may have too many rows
    leaves_groups_out : whether outlying groups are looked for
    why_connected : why a graph in several pieces has no answer, before what can be done
    masses : of all rows, with the mean 1, in the constraint of a trace problem; None: 1 each
    """

    problem: Callable[[Graph, int], Any]
    rule: Callable[[Graph, Any], Callable[[Rows], Array]]
    graph: Callable[[Any, Any], Graph]
    given: Any
    answer: AnswerSettings
    pieces: str
    rows: RowSettings | None = None
    max_components: Callable[[Graph], int] = as_many_as_rows
    fewer_rows: FewerRows | None = None
    leaves_groups_out: bool = False
    why_connected: str = ""
    masses: Array | None = None

    def problem_of(self, graph: Graph, count: int, rows: FittedRows) -> Any:
        """The problem of a connected graph, with the words that say which rows it is about."""
        problem, scope = self.problem(graph, count), rows.scope()
        if self.masses is not None:
            problem = problem.with_masses(self.masses[rows.embedded_rows])
        return replace(problem, about=scope) if scope else problem


@dataclass(frozen=True, eq=False)
class GraphFit:
    """Fit of a graph method: its answers, points and rule.

    rows, graph, n_pieces : the rows that are embedded, their graph, and its pieces before they
        were joined
    parts : the rows and the answer of each piece; None for the answer of a single point
    points, values, certificate, rule : of all rows together
    """

    rows: FittedRows
    graph: Graph
    n_pieces: int
    parts: tuple[tuple[Array, PieceAnswer | None], ...]
    points: Array
    values: Array
    certificate: Any
    rule: Callable[[Rows], Array]

    @property
    def first(self) -> PieceAnswer | None:
        """The answer of the largest piece."""
        return self.parts[0][1]


def fit_graph_method(X: Rows, method: GraphMethod, stage: Stage) -> GraphFit:
    """Fit a method to the rows of X."""
    with stage("neighbours"):
        rows, graph = rows_and_graph(X, method)
    _warn_of_one_point(graph)
    n_pieces = graph.n_pieces
    if n_pieces > 1 and method.pieces == "separate":
        fit = _fit_each_piece(rows, graph, method, stage)
    else:
        if method.fewer_rows is not None:
            rows, graph, answer = _answer_of_fewer_rows(X, rows, graph, method, stage)
        elif method.leaves_groups_out:
            rows, graph, answer = _answer_without_groups(X, rows, graph, method, stage)
        else:
            graph, answer = _joined_answer(rows, graph, method, stage)
        parts = ((np.arange(graph.n), answer),)
        _warn_of_coordinates(parts, method)
        rule, embedding = method.rule(graph, answer.embedding), answer.embedding
        points, values, certificate = embedding.points, embedding.values, embedding.certificate
        fit = GraphFit(rows, graph, n_pieces, parts, points, values, certificate, rule)
    return replace(fit, points=_points_of_all(X, fit))


def rows_and_graph(
    X: Rows, method: GraphMethod, drawn: Array | None = None
) -> tuple[FittedRows, Graph]:
    """The rows that are embedded, each once where many are copies, and their graph.

    drawn : row numbers to take instead of those that the method draws
    """
    n, settings = int(X.shape[0]), method.rows or RowSettings()
    if drawn is None:
        drawn = settings.landmark_rows(n)
    rows = FittedRows.of(n, drawn)
    graph = method.graph(X, method.given) if drawn is None else graph_of_rows(X, drawn, method)
    once = settings.one_of_each(graph)
    if once is not None:
        rows = replace(rows, pool=rows.pool[once], numbers=rows.pool[once])
        graph = graph_of_rows(X, rows.pool, method)
    left = settings.rows_left(rows)
    if left is not None:
        rows = rows.only(left)
        graph = graph_of_rows(X, left, method)
    return rows, graph


def graph_of_rows(X: Rows, numbers: Array, method: GraphMethod) -> Graph:
    """The graph of some rows alone; a graph that was given is one of all."""
    refuse_few_rows(len(numbers))
    return method.graph(X[numbers], None)


def connected_graph(graph: Graph, method: GraphMethod) -> Graph:
    """The graph in one piece: joined by its shortest links, or refused."""
    if method.pieces == "join" or graph.n_pieces == 1:
        hint = InPython(" (n_connected_components_ is the number of connected components)")
        return join_pieces(graph, otherwise=Message(SEPARATE_MESSAGE, hint))
    verb = "unfolds" if method.why_connected else "embeds"
    raise DisconnectedGraph(
        pieces_in_words(graph),
        f"{method.why_connected}; ",
        Argument("pieces", "join"),
        " joins them by their shortest links, ",
        Argument("pieces", "separate"),
        f" {verb} each on its own",
    )


def _joined_answer(
    rows: FittedRows, graph: Graph, method: GraphMethod, stage: Stage
) -> tuple[Graph, PieceAnswer]:
    with stage("pieces"):
        graph = connected_graph(graph, method)
    return graph, _answer_of_piece(rows, graph, method, stage)


def _answer_of_fewer_rows(
    X: Rows, rows: FittedRows, graph: Graph, method: GraphMethod, stage: Stage
) -> tuple[FittedRows, Graph, PieceAnswer]:
    """All rows, or as many as can be solved for in seconds: half of them, a quarter, …"""
    policy, settings = method.fewer_rows, method.rows
    assert policy is not None and settings is not None  # noqa: PT018
    stated = count = graph.n
    while True:
        try:
            graph, answer = _joined_answer(rows, graph, method, stage)
        except (TooLarge, NotConverged) as refusal:
            if isinstance(refusal, TooLarge):
                settings.refuse_without_features("landmarks", settings.landmarks)
            if settings.landmarks is not None or not policy.can_draw(count):
                raise
            count //= 2
            rows, graph = rows_and_graph(X, method, settings.random_rows(rows.n, count))
            continue
        if count < stated:
            warn(_fewer_rows_in_words(count, rows.n, policy.all_rows))
        return rows, graph, answer


def _answer_without_groups(
    X: Rows, rows: FittedRows, graph: Graph, method: GraphMethod, stage: Stage
) -> tuple[FittedRows, Graph, PieceAnswer]:
    """The answer without outlying groups, round by round until there are none."""
    settings = method.rows
    assert settings is not None
    looks = settings.left_out is None and graph.n >= MIN_TABLE_ROWS and settings.has_features
    if looks and method.pieces == "join" and graph.n_pieces > 1:
        fewer = rows_without(rows, rows_of_small_pieces(graph))
        if fewer is not None:
            rows, graph = fewer, graph_of_rows(X, fewer.embedded_rows, method)
    graph, answer = _joined_answer(rows, graph, method, stage)
    for _ in range(MAX_ROUNDS if looks else 0):
        problem, solution = answer.embedding.problem, answer.embedding.solution
        V = problem.lift.selected_columns(solution.vectors, solution.values)[0]
        fewer = rows_without(rows, outlying_rows(problem, V))
        if fewer is None:
            break
        rows, graph = fewer, graph_of_rows(X, fewer.embedded_rows, method)
        graph, answer = _joined_answer(rows, graph, method, stage)
    left_out = rows.unused_rows
    if looks and len(left_out):
        warn_of_rows_left_out(left_out)
    return replace(rows, left_out=left_out), graph, answer


def _answer_of_piece(
    rows: FittedRows,
    graph: Graph,
    method: GraphMethod,
    stage: Stage,
    before: PieceAnswer | None = None,
) -> PieceAnswer:
    """The answer of one piece; a piece of s points has at most s − 1 directions.

    before : the answer of a larger piece, which has decided what was left open
    """
    wanted: Any = method.answer.n_components if before is None else before.width
    room = max(1, min(MAX_AUTO_COMPONENTS, graph.n - 2, method.max_components(graph)))
    most = room if wanted == "auto" else min(wanted, graph.n - 1)
    if wanted != "auto" and most < wanted and method.pieces != "separate":
        raise InvalidInput(
            Argument("n_components", wanted),
            f" needs more than {wanted} points; there are {graph.n}",
        )
    with stage("problem"):
        problem = method.problem_of(graph, most, rows)
        if method.fewer_rows is not None:
            method.fewer_rows.refuse(problem)
    with stage("solution and certificate"):
        return method.answer.answer(graph, problem, wanted, before)


def _fit_each_piece(rows: FittedRows, graph: Graph, method: GraphMethod, stage: Stage) -> GraphFit:
    """Every piece on its own, side by side; the largest comes first and decides for the others."""
    parts: list[tuple[Array, PieceAnswer | None]] = []
    maps: list[Callable[[Rows], Array] | None] = []
    largest: PieceAnswer | None = None
    for numbers, part in separate(graph):
        if len(numbers) == 1:
            parts.append((numbers, None))
            maps.append(None)
            continue
        answer = _answer_of_piece(rows, part, method, stage, largest)
        largest = largest or answer
        parts.append((numbers, answer))
        maps.append(method.rule(part, answer.embedding))
    drawn = [
        (numbers, None if answer is None else answer.embedding.points) for numbers, answer in parts
    ]
    width = _width_asked(method, largest)
    layout = side_by_side(drawn, graph.n, width)
    embeddings = [answer.embedding for _, answer in parts if answer is not None]
    values = embeddings[0].values if embeddings else np.zeros(width)
    certificates = [piece.certificate for piece in embeddings]
    certificate = PiecewiseCertificate.of(certificates, graph.n_pieces - len(embeddings))
    _warn_of_coordinates(tuple(parts), method)
    rule = PiecewiseMap(
        graph.points, graph.metric, graph.piece_of, layout.points, layout.offsets, tuple(maps)
    )
    return GraphFit(
        rows, graph, graph.n_pieces, tuple(parts), layout.points, values, certificate, rule
    )


def _width_asked(method: GraphMethod, largest: PieceAnswer | None) -> int:
    """Number of coordinates of the map, also where no piece has as many directions."""
    width, settings = largest.width if largest else 1, method.answer
    if not isinstance(settings.coordinates, str):
        return max(width, len(settings.numbers()))
    return width if settings.n_components == "auto" else max(width, int(settings.n_components))


def _points_of_all(X: Rows, fit: GraphFit) -> Array:
    """The points of all rows: those that are not in the graph are placed as new rows."""
    points = fit.points
    if fit.rows.numbers is not None:
        points = fit.rule(X)
        points[fit.rows.numbers] = fit.points
    return points.astype(np.float32) if X.dtype == np.float32 else points


def _warn_of_coordinates(
    parts: tuple[tuple[Array, PieceAnswer | None], ...], method: GraphMethod
) -> None:
    """Overtones among the coordinates of the largest piece are told, once."""
    first = parts[0][1]
    if method.answer.scale is not None and first is not None:
        warn_of_overtones(first.embedding, method.answer)


def _fewer_rows_in_words(count: int, n: int, all_rows: Argument) -> RowsLeftOut:
    return RowsLeftOut(
        f"the neighbours of these {n:,} rows lie on no shape of few dimensions, and solving for "
        f"all of them would take minutes or not arrive; the problem is that of {count:,} rows "
        "drawn at random, and the others are placed as new rows are (",
        Argument("landmarks"),
        " says how many, ",
        all_rows,
        " tries all of them)",
    )


def _warn_of_one_point(graph: Graph) -> None:
    """Identical rows have no map; eigenvectors of their graph are coordinates out of nothing."""
    made = graph.kind != "given"  # a given graph may have edges without length
    if made and graph.n_edges and not graph.lengths.data.any() and _all_equal(graph.points):
        warn(
            PointsCollapse(
                f"all {graph.n} points are the same: there is nothing to map, and coordinates of "
                "them mean nothing. Look at how the data was read or scaled"
            )
        )


def _all_equal(points: Any) -> bool:
    if points is None or sp.issparse(points):
        return points is not None and (points - points[[0] * points.shape[0]]).count_nonzero() == 0
    rows = np.asarray(points)
    return bool((rows == rows[0]).all())

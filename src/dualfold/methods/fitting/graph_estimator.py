"""Estimators of methods that begin with a neighbour graph: scikit-learn's face of `graph_fit`."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array, Metric, Rows, Seed
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, InvalidInput
from dualfold.graph import Graph
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext, known_graph
from dualfold.methods.fitting.coordinates import (
    COORDINATE_CONSTRAINTS,
    AnswerSettings,
    problem_up_to,
    refuse_unknown_coordinates,
)
from dualfold.methods.fitting.estimator import Estimator, Stage, Statement, asked_count, fit_stage
from dualfold.methods.fitting.fitted_rows import FittedRows, RowSettings, has_features
from dualfold.methods.fitting.graph_fit import (
    GraphFit,
    GraphMethod,
    connected_graph,
    fit_graph_method,
    rows_and_graph,
)
from dualfold.methods.fitting.neighborhoods import graph_settings, neighbor_graph
from dualfold.methods.fitting.solver_choice import SOLVER_NAMES, seed_of, solver_named
from dualfold.methods.fitting.tiles import TiledRows
from dualfold.methods.parameters import Constraints, GivenGraph
from dualfold.trace.lift import CoordinateScale
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers.solver import Solver

GRAPH_CONSTRAINTS: Constraints = {
    "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
    "radius": [Interval(Real, 0, None, closed="both"), None],
    "n_components": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
    "neighborhood": [StrOptions({"fixed", "variable"})],
    "metric": [str, callable],
    "p": [Interval(Real, 1, None, closed="left")],
    "metric_params": [dict, None],
    "pieces": [StrOptions({"join", "separate", "raise"})],
    "eigen_solver": [StrOptions(set(SOLVER_NAMES))],
    "tol": [Interval(Real, 0, None, closed="left")],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
    "graph": "no_validation",  # a Graph or a sparse matrix of edge lengths
}
# Those of methods whose coordinates may be chosen, and which may leave rows out.
LEFT_OUT_CONSTRAINTS: Constraints = (
    GRAPH_CONSTRAINTS | COORDINATE_CONSTRAINTS | {"left_out": ["array-like", None]}
)


def in_memory_only() -> InvalidInput:
    """Why masses do not go with a table in tiles."""
    return InvalidInput(
        Argument("masses"),
        " need all rows in memory, and X is a table in tiles; give rows that fit into memory",
    )


class GraphEstimator(Estimator):
    """Estimator whose method is a `GraphMethod`, which `_method()` makes of the parameters.

    Fitted attributes: `embedding_`, `eigenvalues_`, `certificate_`, `graph_`,
    `n_connected_components_`, and `n_components_reason_` when n_components="auto". Where the
    problem may be about some rows only: `rows_` and `landmarks_` (None: all), `left_out_`.
    """

    # The largest gap that is "proved"; an estimator may have it as a parameter.
    tolerance: float = DEFAULT_TOLERANCE
    n_components: Any
    n_neighbors: int | None
    radius: float | None
    neighborhood: str
    metric: Metric
    p: float
    metric_params: dict[str, object] | None
    graph: GivenGraph
    pieces: str
    n_jobs: int | None
    random_state: Seed
    rows_: Array | None
    landmarks_: Array | None
    left_out_: Array
    coordinates_: tuple[int, ...]
    # Parameters that not all of them have.
    landmarks: int | str | None = None
    left_out: Any = None
    weights: str | None = None
    coordinates: Any = "first"
    diffusion_time: float | None = None

    def _method(self, context: FitContext = NO_CONTEXT) -> GraphMethod:
        raise NotImplementedError

    def _fit(self, X: Rows, context: FitContext) -> None:
        method = self._method(context)
        if context.weights is not None:
            self._refuse_masses()
        fit = fit_graph_method(X, method, self._stage())
        self.n_connected_components_, self.graph_ = fit.n_pieces, fit.graph
        self.embedding_, self.certificate_, self._placing = fit.points, fit.certificate, fit.rule
        if method.rows is not None:
            self._rows: FittedRows = fit.rows
            self.rows_, self.landmarks_ = fit.rows.numbers, fit.rows.landmarks
            self.left_out_ = fit.rows.left_out
        if fit.first is not None and fit.first.reason is not None:
            self.n_components_reason_ = fit.first.reason
        if method.answer.scale is not None and fit.first is not None:
            self.coordinates_ = fit.first.coordinates
        self._keep(fit)

    def _keep(self, fit: GraphFit) -> None:
        """Keep of a fit what a method has beside points, rule and certificate."""
        self.eigenvalues_ = fit.values

    def _refuse_masses(self) -> None:
        """`InvalidInput` where masses have no meaning."""
        time = self.diffusion_time
        if self.pieces == "separate" or time is not None:
            wrong = Argument("pieces", "separate") if time is None else Argument("diffusion_time")
            raise InvalidInput(
                Argument("masses"), " are for one map of all rows; leave out ", wrong
            )

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        if context.weights is not None:
            raise in_memory_only()
        rows.fit_landmarks(self)

    def placing_map(self) -> Callable[[Rows], Array]:
        """Return the rule that places new rows.

        With `pieces="separate"` it first decides to which piece a row belongs.

        Returns
        -------
        callable
            A function of an array of rows that returns their points.
        """
        check_is_fitted(self, "embedding_")
        return self._placing

    def second_rule(self, graph: Graph | None, points: Array, landmarks: Any) -> Any:
        """Return another rule for new rows, if the method has one.

        For tables in tiles, held-out rows decide between the two rules.

        Parameters
        ----------
        graph : Graph or None
            Neighbour graph of the landmarks.
        points : ndarray of shape (n_landmarks, n_components)
            Points of the landmarks.
        landmarks : array-like of shape (n_landmarks, n_features)
            Rows of the landmarks.

        Returns
        -------
        object or None
            The rule; None if there is no other one.
        """
        return None

    def stated_graph(self, X: Any) -> StatedGraph:
        """Return the neighbour graph that fitting X would begin with.

        The estimator does not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed.

        Returns
        -------
        StatedGraph
            The graph, the rows that it is about, and the method.
        """
        method = self._method()
        rows, graph = rows_and_graph(copy.copy(self)._checked_rows(X, reset=True), method)
        return StatedGraph(method, rows, graph)

    def graph_of(self, X: Any) -> Graph:
        """Return the neighbour graph that fitting X would embed.

        The graph is not embedded, and the estimator does not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed.

        Returns
        -------
        Graph
            The graph, with its pieces joined unless `pieces="separate"`.
        """
        stated = self.stated_graph(X)
        return stated.graph if self.pieces == "separate" else stated.in_one_piece().graph

    def found_parameters(self) -> dict[str, Any]:
        """Return the parameters that the fit has found.

        With them the estimator states the fitted problem again: landmarks, rows that were left out,
        coordinates.

        Returns
        -------
        dict
            Values of parameters, by name.
        """
        parameters: dict[str, Any] = {}
        if getattr(self, "landmarks_", None) is not None:
            parameters["landmarks"] = len(self.landmarks_)  # type: ignore[arg-type]
        if len(getattr(self, "left_out_", ())):
            parameters["left_out"] = [int(row) for row in self.left_out_]
        if not isinstance(self.coordinates, str) or self.coordinates != "first":
            parameters["coordinates"] = list(self.coordinates_)
        return parameters

    @property
    def nbrs_(self) -> Any:
        """A scikit-learn NearestNeighbors of the data, made when asked for."""
        from sklearn.neighbors import NearestNeighbors

        check_is_fitted(self, "graph_")
        finder = NearestNeighbors(
            n_neighbors=self.n_neighbors or 5,
            radius=1.0 if self.radius is None else self.radius,
            metric=self.metric,
            p=self.p,
            metric_params=self.metric_params,
            n_jobs=self.n_jobs,
        )
        return finder.fit(self.graph_.points)

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        method = self._method(context)
        stated = StatedGraph(method, *rows_and_graph(X, method)).in_one_piece()
        return stated.of_piece(stated.graph, asked_count(self, count, stated.graph.n - 1))

    def _stage(self) -> Stage:
        return partial(fit_stage, self)


@dataclass(frozen=True, eq=False)
class StatedGraph:
    """The graph that a fit would begin with, and what is asked about it."""

    method: GraphMethod
    rows: FittedRows
    graph: Graph

    def with_masses(self, masses: Array) -> StatedGraph:
        """A statement with validated masses of all rows."""
        return replace(self, method=replace(self.method, masses=masses))

    def in_one_piece(self) -> StatedGraph:
        """A statement whose graph is in one piece."""
        return replace(self, graph=connected_graph(self.graph, self.method))

    def of_piece(self, graph: Graph, count: int) -> Statement:
        """The problem of a graph in one piece, and where its answer leads."""
        method = self.method
        problem = method.problem_of(graph, count, self.rows)
        settings = method.answer
        if not settings.takes_first:
            if isinstance(settings.coordinates, str):
                refuse_unknown_coordinates()
            numbers = settings.numbers_for(problem, ())
            problem = problem_up_to(graph, problem, numbers, settings)
        return Statement(problem, lambda answer: method.rule(graph, answer))


def shared_fields(
    estimator: Any, context: FitContext, *, some_rows: bool = True, copies: bool = False
) -> dict[str, Any]:
    """Fields of a `GraphMethod` that follow from the context and from shared parameters.

    some_rows : whether the problem may be about some rows only (`landmarks`, `left_out`)
    copies : whether copies of a row are all embedded
    """
    seed, graph = seed_of(estimator.random_state), known_graph(estimator, context)
    rows = RowSettings(
        landmarks=estimator.landmarks,
        left_out=estimator.left_out,
        without_copies=estimator.pieces == "join" and not copies,
        has_features=has_features(graph, estimator.metric, estimator.weights),
        seed=seed,
    )
    return {
        "graph": partial(neighbor_graph, settings=graph_settings(estimator)),
        "given": graph,
        "pieces": estimator.pieces,
        "rows": rows if some_rows else None,
        "masses": context.weights,
    }


def answer_settings(
    estimator: Any,
    solver: Any,
    scale: Callable[[Graph, TraceProblem], CoordinateScale] | None = None,
) -> AnswerSettings:
    """Answer settings of an estimator; with a scale, its coordinates may be chosen."""
    asked = solver, estimator.tolerance, estimator.n_components
    return (
        AnswerSettings(*asked)
        if scale is None
        else AnswerSettings(*asked, estimator.coordinates, scale)
    )


def eigen_solver(estimator: Any, context: FitContext) -> Solver:
    """The solver that `eigen_solver`, `tol` and `random_state` of an estimator name."""
    seed = seed_of(estimator.random_state)
    return solver_named(estimator.eigen_solver, estimator.tol, seed, context.start)

"""Neighbour maps: attraction along the graph, repulsion between all points."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array
from dualfold.embedding import Embedding, embed
from dualfold.errors import Argument, RowsLeftOut, warn
from dualfold.fitting.coordinates import Answer
from dualfold.fitting.fitted_rows import FittedRows, RowSettings
from dualfold.fitting.graph_estimator import GRAPH_CONSTRAINTS, GraphEstimator, shared_fields
from dualfold.fitting.graph_fit import GraphFit, GraphMethod
from dualfold.fitting.rules import local_map, local_rule
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.maps.out_of_sample import OutOfSampleMap
from dualfold.methods._eigenmaps import eigenmaps
from dualfold.neighbor_map.certificate import (
    NeighborCertificate,
    certify_neighbors,
)
from dualfold.neighbor_map.fantope import fantope_minimum
from dualfold.neighbor_map.homotopy import NeighborAnswer, neighbor_answer, widest_answer
from dualfold.neighbor_map.problem import MAX_PAIRED_ROWS, NeighborProblem, neighbor_problem
from dualfold.trace.solvers import Auto
from dualfold.weights.affinity import Weights, affinity


def neighbor_map(
    graph: Graph,
    *,
    n_components: int = 2,
    spread: float = 0.1,
    weights: Weights = "adaptive",
    width: float | None = None,
) -> NeighborProblem:
    """Neighbours attract, all points repel, and there is a lower bound.

        minimise KL(P‖Q),  q_ij ∝ exp(−‖y_i − y_j‖²),  subject to  YᵀY = n·s·I,  Yᵀ1 = 0

    P are the `weights` of the graph over their sum, s is the `spread`. s → 0 are eigenmaps
    ("identity"); with a larger one points that are no neighbours push each other apart, as in
    stochastic neighbour embedding. The objective is convex in YYᵀ, whose set has a convex hull
    (a Fantope) over which it can be minimised: that bounds every map from below. The bound is
    tight for small spreads and fades as the repulsion grows. Maps are white: clusters that want
    unequal room in the two coordinates do not get it, which t-SNE allows.

    The kernel is that of Hinton and Roweis, "Stochastic neighbor embedding" (2002), in the
    symmetric form of van der Maaten and Hinton (2008); constraint and bound are ours
    (docs/theory.md).
    """
    rule = affinity(one_piece(graph), weights=weights, width=width)
    entries = (rule.of_graph(graph), graph.lengths.indices, graph.lengths.indptr)
    W = sp.csr_array(entries, shape=graph.lengths.shape)
    return neighbor_problem(W, n_components=n_components, spread=spread)


# Rows that take less than a minute of a core (docs/dev/notes/neighbour-maps.md).
MAX_QUICK_ROWS = 1_800
# The solver and the number of coordinates are no choice here.
_GRAPH_CONSTRAINTS = {
    k: v for k, v in GRAPH_CONSTRAINTS.items() if k not in ("eigen_solver", "tol")
}


@dataclass(eq=False, repr=False)
class NeighborMap(GraphEstimator):
    """Neighbours attract, all points repel, and no map can be much better: proved.

    Between eigenmaps (a small spread) and stochastic neighbour embedding (a large one). Without a
    `spread` it grows from eigenmaps on, as long as the proved gap stays within `tolerance`. See
    `dualfold.methods.neighbor_map` for the problem. Of more than 1,800 rows so many are drawn and
    place the others. `landmarks` asks for more: up to 8,000 take minutes and can be proved; more
    than that take seconds, and their bound is "measured", at the map itself.

    Parameters
    ----------
    n_components : number of coordinates
    spread : mean square of each coordinate, in units of the kernel exp(−distance²): the larger,
        the more points repel each other and the weaker the proof; None is the largest that is
        proved within the tolerance
    tolerance : the largest gap (of the divergence, relative to its bound) that is "proved"
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    weights : attraction of linked points: "adaptive" (each point has a width of its own), "heat"
        (one width for all), "binary" or "density" (scaled by the local density)
    width : kernel width of heat weights; None is the root mean square edge length
    max_iter : steps of each descent at the most
    landmarks : map so many rows, drawn at random, and place the others as new points; None takes
        all rows up to 1,800, and so many of more (a warning and the certificate say so)
    reg : the ridge that steadies the weights of new points
    metric : by its name in scikit-learn, or "precomputed": X is a square matrix of distances
    p, metric_params : of the metric, as in scikit-learn's neighbours
    pieces : what happens to a graph in several pieces: "join" by the shortest links (with a
        warning), "separate" (each on its own, side by side) or "raise" an error
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius
    random_state : of the rows that are drawn
    n_jobs : threads of the neighbour search (None: all cores)
    verbose : print each stage and its seconds to standard error

    Attributes
    ----------
    embedding_ : the points, n_samples × n_components
    spread_ : the spread that was given or found
    divergence_ : KL(P‖Q) of the map, in nats
    certificate_ : how far that can be from the least of all white maps; print it
    history_ : for every spread that was tried: (spread, KL, proved bound)
    n_iter_ : steps of the last descent
    graph_ : the `Graph` that was embedded, links that joined pieces included
    n_connected_components_ : in how many pieces it was before
    landmarks_, rows_ : the rows that were mapped; None for all
    left_out_ : None, since no row is left out of the problem for being far away
    nbrs_ : scikit-learn's NearestNeighbors of the data, made when asked for

    Examples
    --------
    >>> from dualfold import NeighborMap
    >>> from dualfold.data import digits
    >>> model = NeighborMap(spread=0.05, tolerance=0.05).fit(digits().points[:100])
    >>> model.certificate_.level
    'proved'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = _GRAPH_CONSTRAINTS | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "spread": [Interval(Real, 0, None, closed="neither"), None],
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "weights": [StrOptions({"adaptive", "heat", "binary", "density"})],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "landmarks": [Interval(Integral, 3, None, closed="left"), None],
        "reg": [Interval(Real, 0, None, closed="left")],
    }

    n_components: int = 2
    _: KW_ONLY
    spread: float | None = None
    tolerance: float = 0.01
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    weights: str = "adaptive"
    width: float | None = None
    max_iter: int = 500
    landmarks: int | None = None
    reg: float = 1e-3
    metric: Any = "minkowski"
    p: float = 2
    metric_params: dict[str, Any] | None = None
    pieces: str = "join"
    random_state: Any = None
    n_jobs: int | None = None
    graph: Any = None
    verbose: bool = False

    def _method(self) -> GraphMethod:
        shared = shared_fields(self)
        return GraphMethod(
            problem=self._neighbor_problem,
            rule=partial(local_rule, estimator=self),
            solver=None,
            draw=partial(self._drawn_rows, settings=shared["rows"]),
            solve=self._answer,
            **shared,
        )

    def _drawn_rows(self, n: int, settings: RowSettings) -> Array | None:
        drawn = settings.landmark_rows(n)
        many = self.landmarks is None and n > MAX_QUICK_ROWS and self.pieces == "join"
        if drawn is not None or not many or not settings.has_features:
            return drawn
        warn(
            RowsLeftOut(
                f"a neighbour map of {n:,} rows would take minutes; it is that of "
                f"{MAX_QUICK_ROWS:,} rows drawn at random, and the others are placed as new rows "
                "are (",
                Argument("landmarks"),
                f" says how many; up to {MAX_PAIRED_ROWS:,} can be proved)",
            )
        )
        return settings.random_rows(n, MAX_QUICK_ROWS)

    def _answer(self, graph: Graph, count: int, rows: FittedRows, before: Answer | None) -> Answer:
        """The map of one piece; the largest decides the spread of the others."""
        stage = self._stage()
        spread = self.spread if before is None else before.details[-1].problem.spread
        with stage("problem"):
            problem = self._neighbor_problem(graph, count, spread or 1.0)
            kind: Any = {"weights": self.weights, "width": self.width}
            flat = eigenmaps(graph, n_components=count, constraint="identity", **kind)
            start = embed(flat, solver=Auto()).solution.vectors
        tried: list[NeighborAnswer] = []
        settings: dict[str, Any] = {"tolerance": self.tolerance, "max_iter": self.max_iter}
        with stage("solution and certificate"):
            if spread is None:
                found = widest_answer(problem, start, report=tried.append, **settings)
            else:
                found = neighbor_answer(problem, start, **settings)
                tried.append(found)
        values = np.full(count, found.problem.size)
        certificate = found.certificate.with_scope(rows.scope())
        embedding: Any = Embedding(
            found.descent.points, values, certificate, found.problem, found.descent
        )
        return Answer(embedding, details=(tried, found))

    def _neighbor_problem(self, graph: Graph, count: int, spread: float = 1.0) -> NeighborProblem:
        kind: Any = self.weights
        return neighbor_map(
            graph, n_components=count, spread=spread, weights=kind, width=self.width
        )

    def judged_points(
        self,
        graph: Graph,
        points: Array,
        *,
        tolerance: float,
        sides: None = None,
        scope: str = "",
    ) -> NeighborCertificate:
        """The certificate of points that are to be the map of a graph in one piece.

        tolerance : the largest gap that is "proved"
        sides : no part of a neighbour map
        scope : which rows the graph is about, in words
        """
        spread = self.spread
        if spread is None:
            spread = float(np.mean(np.square(np.asarray(points, dtype=float))))
        problem = self._neighbor_problem(graph, points.shape[1], spread)
        return certificate_of_points(problem, points, tolerance).with_scope(scope)

    def map_of_points(self, graph: Graph, points: Array) -> OutOfSampleMap:
        """The map of new rows that follows from points of a graph."""
        return local_map(graph, points, self)

    def _keep(self, fit: GraphFit) -> None:
        if fit.first is None:  # single points, which any spread suits
            self.spread_ = 1.0 if self.spread is None else self.spread
            self.divergence_, self.n_iter_, self.history_ = 0.0, 1, []
            return
        tried, found = fit.first.details
        self.spread_ = found.problem.spread
        self.divergence_ = found.certificate.value
        self.n_iter_ = max(1, found.descent.rounds)
        self.history_ = [
            (one.problem.spread, one.certificate.value, one.certificate.bound) for one in tried
        ]

    def found_parameters(self) -> dict[str, Any]:
        """Parameters that state the fitted problem again where they were left open."""
        return super().found_parameters() | {"spread": float(self.spread_)}


def certificate_of_points(
    problem: NeighborProblem, points: Array, tolerance: float
) -> NeighborCertificate:
    """Points judged with the best bound there is, however they were found."""
    verdict = certify_neighbors(problem, points, tolerance=tolerance)
    if verdict.gap <= tolerance or not np.isfinite(verdict.value) or problem.n > MAX_PAIRED_ROWS:
        return verdict
    fine = 0.05 * max(tolerance, 1e-6) * abs(verdict.value)
    near = fantope_minimum(problem, np.asarray(points, dtype=float), tol=fine)
    return certify_neighbors(problem, points, weights=near.weights, tolerance=tolerance)

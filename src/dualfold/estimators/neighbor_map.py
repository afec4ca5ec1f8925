"""Neighbour maps with a bound, as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array
from dualfold.embedding import Embedding, embed
from dualfold.errors import Argument, InvalidInput, RowsLeftOut, warn
from dualfold.estimators.graph_estimator import GRAPH_CONSTRAINTS
from dualfold.estimators.some_rows import SomeRows
from dualfold.estimators.stated import Stated
from dualfold.graph import Graph
from dualfold.graph.metrics import is_precomputed
from dualfold.maps.local import LocalDistancesMap, LocalWeightsMap
from dualfold.maps.out_of_sample import OutOfSampleMap
from dualfold.methods.eigenmaps import eigenmaps
from dualfold.methods.neighbor_map import neighbor_map
from dualfold.neighbor_map.certificate import (
    NeighborCertificate,
    certify_neighbors,
)
from dualfold.neighbor_map.fantope import fantope_minimum
from dualfold.neighbor_map.homotopy import NeighborAnswer, neighbor_answer, widest_answer
from dualfold.neighbor_map.problem import MAX_PAIRED_ROWS, NeighborProblem
from dualfold.trace.solvers import Auto

# Rows that take less than a minute of a core (1,797 digits: 42 s).
QUICK = 1_800
# The solver and the number of coordinates are no choice here.
_GIVEN = {k: v for k, v in GRAPH_CONSTRAINTS.items() if k not in ("eigen_solver", "tol")}


class NeighborMap(SomeRows):
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

    _parameter_constraints: ClassVar[dict[str, Any]] = _GIVEN | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "spread": [Interval(Real, 0, None, closed="neither"), None],
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "weights": [StrOptions({"adaptive", "heat", "binary", "density"})],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "landmarks": [Interval(Integral, 3, None, closed="left"), None],
        "reg": [Interval(Real, 0, None, closed="left")],
    }

    spread_: float

    def __init__(
        self,
        n_components: int = 2,
        *,
        spread: float | None = None,
        tolerance: float = 0.01,
        n_neighbors: int | None = 10,
        radius: float | None = None,
        neighborhood: str = "fixed",
        weights: str = "adaptive",
        width: float | None = None,
        max_iter: int = 500,
        landmarks: int | None = None,
        reg: float = 1e-3,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        pieces: str = "join",
        random_state: Any = None,
        n_jobs: int | None = None,
        graph: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.spread = spread
        self.tolerance = tolerance
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.neighborhood = neighborhood
        self.weights = weights
        self.width = width
        self.max_iter = max_iter
        self.landmarks = landmarks
        self.reg = reg
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.pieces = pieces
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.graph = graph
        self.verbose = verbose

    def _drawn(self, X: Any) -> Array | None:
        drawn = super()._drawn(X)
        many = self.landmarks is None and X.shape[0] > QUICK and self.pieces == "join"
        if drawn is not None or not many or not self._has_rule():
            return drawn
        warn(
            RowsLeftOut(
                f"a neighbour map of {X.shape[0]:,} rows would take minutes; it is that of "
                f"{QUICK:,} rows drawn at random, and the others are placed as new rows are (",
                Argument("landmarks"),
                f" says how many; up to {MAX_PAIRED_ROWS:,} can be proved)",
            )
        )
        return self._random_rows(QUICK)

    def _embedding(self, graph: Graph, fixed: int | None = None) -> Embedding:
        """The map of one piece; the largest settles the spread of the others."""
        count = min(self.n_components if fixed is None else fixed, graph.n - 1)
        if count < self.n_components and self.pieces != "separate":
            raise InvalidInput(
                Argument("n_components", self.n_components),
                f" needs more than {self.n_components} points; there are {graph.n}",
            )
        spread = self.spread if fixed is None else self.spread_
        problem, start = self._asked_of(graph, count, spread or 1.0)
        tried: list[NeighborAnswer] = []
        settings: dict[str, Any] = {"tolerance": self.tolerance, "max_iter": self.max_iter}
        with self._stage("solution and certificate"):
            if spread is None:
                found = widest_answer(problem, start, report=tried.append, **settings)
            else:
                found = neighbor_answer(problem, start, **settings)
                tried.append(found)
        if fixed is None:
            self.spread_ = found.problem.spread
            self.divergence_ = found.certificate.value
            self.history_ = [
                (one.problem.spread, one.certificate.value, one.certificate.bound) for one in tried
            ]
        values = np.full(count, found.problem.size)
        return Embedding(
            found.descent.points,
            values,
            found.certificate.narrowed(self.about_rows()),
            found.problem,
            found.descent,
        )

    def _asked_of(self, graph: Graph, count: int, spread: float) -> tuple[NeighborProblem, Array]:
        """The problem of one piece, and its eigenmaps to begin with."""
        kind: dict[str, Any] = {"weights": self.weights, "width": self.width}
        with self._stage("problem"):
            problem = neighbor_map(graph, n_components=count, spread=spread, **kind)
            flat = eigenmaps(graph, n_components=count, constraint="identity", **kind)
            return problem, embed(flat, solver=Auto()).solution.vectors

    def judged_points(
        self, graph: Graph, points: Array, *, tolerance: float, sides: None = None
    ) -> NeighborCertificate:
        """The certificate of points that are to be the map of a graph in one piece."""
        spread = self.spread
        if spread is None:
            spread = float(np.mean(np.square(np.asarray(points, dtype=float))))
        problem, _ = self._asked_of(graph, points.shape[1], spread)
        return rejudged(problem, points, tolerance).narrowed(self.about_rows())

    def _keep(self, points: Array, values: Array, certificate: Any) -> None:
        self.embedding_ = points
        self.certificate_ = certificate

    def _map(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        return self.map_of_points(graph, embedding.points)

    def map_of_points(self, graph: Graph, points: Array) -> OutOfSampleMap:
        """The map of new rows that follows from points of a graph."""
        k = min(self.n_neighbors or int(np.median(graph.lists.counts)), graph.n)
        if is_precomputed(graph.metric):
            return LocalDistancesMap(graph.points, points, k, self.reg)
        return LocalWeightsMap(graph.points, points, k, self.reg)

    def _stated_piece(self, graph: Graph, count: int) -> Stated:
        raise InvalidInput(
            "a neighbour map answers no trace problem; dualfold.neighbor_map.certify_neighbors "
            "judges it"
        )

    def found_parameters(self) -> dict[str, Any]:
        """Parameters that state the fitted problem again where they were left open."""
        return super().found_parameters() | {"spread": float(self.spread_)}


def rejudged(problem: NeighborProblem, points: Array, tolerance: float) -> NeighborCertificate:
    """Points judged with the best bound there is, however they were found."""
    verdict = certify_neighbors(problem, points, tolerance=tolerance)
    if verdict.gap <= tolerance or not np.isfinite(verdict.value) or problem.n > MAX_PAIRED_ROWS:
        return verdict
    fine = 0.05 * max(tolerance, 1e-6) * abs(verdict.value)
    near = fantope_minimum(problem, np.asarray(points, dtype=float), tol=fine)
    return certify_neighbors(problem, points, weights=near.weights, tolerance=tolerance)

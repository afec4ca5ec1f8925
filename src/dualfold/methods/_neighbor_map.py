"""Neighbour maps: attraction along the graph, repulsion between all points."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array, Metric, Rows, Seed
from dualfold.embedding import Embedding, embed
from dualfold.errors import Argument, InvalidInput, RowsLeftOut, warn
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.methods._eigenmaps import eigenmaps
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext
from dualfold.methods.fitting.coordinates import AnswerSettings, PieceAnswer
from dualfold.methods.fitting.estimator import Statement
from dualfold.methods.fitting.fitted_rows import RowSettings
from dualfold.methods.fitting.graph_estimator import (
    GRAPH_CONSTRAINTS,
    GraphEstimator,
    shared_fields,
)
from dualfold.methods.fitting.graph_fit import GraphFit, GraphMethod
from dualfold.methods.fitting.rules import local_map, local_rule
from dualfold.methods.maps.out_of_sample import OutOfSampleMap
from dualfold.methods.parameters import Constraints, GivenGraph
from dualfold.methods.points.neighbor_map.certificate import (
    NeighborCertificate,
    certify_neighbors,
)
from dualfold.methods.points.neighbor_map.fantope import fantope_minimum
from dualfold.methods.points.neighbor_map.homotopy import (
    NeighborAnswer,
    neighbor_answer,
    widest_answer,
)
from dualfold.methods.points.neighbor_map.problem import (
    MAX_PAIRED_ROWS,
    NeighborProblem,
    neighbor_problem,
)
from dualfold.trace.solvers import Auto
from dualfold.weights.laplacians import Weights, affinity


def neighbor_map(
    graph: Graph,
    *,
    n_components: int = 2,
    spread: float = 0.1,
    weights: Weights = "adaptive",
    width: float | None = None,
) -> NeighborProblem:
    """Neighbour map with a Gaussian kernel, as a problem with a lower bound.

    The problem is::

        minimise KL(P‖Q),  q_ij ∝ exp(−‖y_i − y_j‖²),  subject to  YᵀY = n·s·I,  Yᵀ1 = 0

    P are the weights of the graph divided by their sum, and s is the `spread`. Neighbours attract,
    and all points repel. s → 0 are eigenmaps ("identity").

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.
    spread : float, default=0.1
        Mean square s of each coordinate, in units of the kernel.
    weights : {"adaptive", "binary", "density", "heat", "precomputed"}, default="adaptive"
        Weight of an edge: "heat" is exp(−‖x − y‖²/σ²) with σ = width; "adaptive" gives each row a
        width of its own; "binary" is 1; "density" has widths that follow the local density;
        "precomputed" keeps the affinities of `dualfold.graph.from_affinities`.
    width : float or None, default=None
        Width σ of heat weights; None is the root mean square edge length, or more where the longest
        edge would have a weight of nearly 0.

    Returns
    -------
    NeighborProblem
        The problem.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    See Also
    --------
    NeighborMap : The estimator.
    dualfold.methods.points.neighbor_map.certify_neighbors : Certifies a map.
    tsne : The heavy-tailed kernel, without a bound.

    Notes
    -----
    The kernel is that of stochastic neighbour embedding [1]_ in its symmetric form [2]_. The
    objective is convex in YYᵀ, and the convex hull of the feasible YYᵀ is a Fantope: the minimum
    over it bounds every map from below. The bound is tight for small spreads and becomes weak as
    the repulsion grows. Maps are white: clusters that need unequal room in the coordinates do not
    get it. All pairs of points are counted, O(n²) operations for one value.

    References
    ----------
    .. [1] G. Hinton and S. Roweis, "Stochastic neighbor embedding", Advances in Neural Information
       Processing Systems 15, 2003.
    .. [2] L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine
       Learning Research, 9, 2579–2605, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import radius
    >>> from dualfold.methods import neighbor_map
    >>> problem = neighbor_map(radius(np.arange(6.0)[:, None], 1.0), spread=0.05)
    >>> problem.n, problem.spread
    (6, 0.05)
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


@dataclass(frozen=True, eq=False)
class QuickRows(RowSettings):
    """Landmarks that were asked for, or as many rows as are mapped in less than a minute.

    draws : whether rows are drawn where nobody asked
    """

    draws: bool = False

    def landmark_rows(self, n: int) -> Array | None:
        drawn = super().landmark_rows(n)
        many = self.draws and self.landmarks is None and n > MAX_QUICK_ROWS
        if drawn is not None or not many or not self.has_features:
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
        return self.random_rows(n, MAX_QUICK_ROWS)


@dataclass(frozen=True, eq=False)
class NeighborAnswers(AnswerSettings):
    """Search for the map of a piece; the largest piece decides the spread of the others.

    spread : of the maps; None takes the widest that is proved
    weights, width : of the eigenmaps that the descents begin with
    max_iter : steps of each descent
    """

    spread: float | None = None
    weights: Any = "adaptive"
    width: float | None = None
    max_iter: int = 500

    def answer(
        self, graph: Graph, problem: Any, wanted: int | str, before: PieceAnswer | None
    ) -> PieceAnswer:
        spread = self.spread if before is None else before.details[-1].problem.spread
        flat = eigenmaps(
            graph,
            n_components=problem.count,
            constraint="identity",
            weights=self.weights,
            width=self.width,
        )
        start = embed(flat, solver=Auto()).solution.vectors
        tried: list[NeighborAnswer] = []
        settings: dict[str, Any] = {"tolerance": self.tolerance, "max_iter": self.max_iter}
        if spread is None:
            best = widest_answer(problem, start, report=tried.append, **settings)
        else:
            best = neighbor_answer(replace(problem, spread=spread), start, **settings)
            tried.append(best)
        values = np.full(problem.count, best.problem.size)
        embedding: Any = Embedding(
            best.descent.points, values, best.certificate, best.problem, best.descent
        )
        return PieceAnswer(embedding, details=(tried, best))


@dataclass(eq=False, repr=False)
class NeighborMap(GraphEstimator):
    """Neighbour map with a proved bound: neighbours attract, and all points repel.

    The maps lie between eigenmaps (a small spread) and stochastic neighbour embedding (a large
    one). Without a `spread` it grows, from eigenmaps on, as long as the proved gap stays within
    `tolerance`.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of coordinates.
    spread : float > 0 or None, default=None
        Mean square of each coordinate, in units of the kernel exp(−distance²). A larger one has
        more repulsion and a weaker bound. None is the largest that is proved within the tolerance.
    tolerance : float in [0, 1], default=0.01
        Largest gap of the divergence, relative to its bound, that is "proved".
    n_neighbors : int ≥ 1 or None, default=10
        Number of nearest rows that each row is linked to; None if a `radius` is given.
    radius : float ≥ 0 or None, default=None
        Link each row to all rows within this distance, instead of a fixed number of nearest rows.
    neighborhood : {"fixed", "variable"}, default="fixed"
        "fixed" gives the same number of neighbours to each row; "variable" gives fewer to rows in
        sparse places.
    weights : {"adaptive", "binary", "density", "heat"}, default="adaptive"
        Attraction along an edge: "adaptive" gives each row a kernel width of its own, "heat" one
        width to all, "binary" is 1, and "density" has widths that follow the local density.
    width : float > 0 or None, default=None
        Kernel width σ of heat weights exp(−‖x − y‖²/σ²). None is the root mean square edge length,
        or more where the longest edge would have a weight of nearly 0.
    max_iter : int ≥ 1, default=500
        Maximum number of steps of each descent.
    landmarks : int ≥ 3 or None, default=None
        Number of rows, drawn at random, that are mapped; they place the other rows. None takes all
        rows up to 1,800, and 1,800 of more, with a warning. Up to 8,000 can be proved.
    reg : float ≥ 0, default=0.001
        Ridge of the local weights that place new rows, as a share of the local trace.
    metric : str or callable, default="minkowski"
        Distance between rows, by its name in scikit-learn; "precomputed" means that X is a square
        matrix of distances.

        A function of two rows is a metric, too.
    p : float ≥ 1, default=2
        Power of the Minkowski metric: 2 is the Euclidean, 1 the Manhattan distance. Other metrics
        ignore it.
    metric_params : dict or None, default=None
        Further arguments of the metric, by name.
    pieces : {"join", "raise", "separate"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "separate" embeds each piece by itself, side by side;
        "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`.
    random_state : int, RandomState instance or None, default=None
        Seed of the drawn rows; None means 0, so that runs agree.
    n_jobs : int or None, default=None
        Number of threads of the neighbour search; None uses all cores.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours of the rows of X that are known already, so that none are searched: a
        `dualfold.Graph`, a sparse matrix of edge lengths, or the lists that
        `dualfold.graph.nearest` returns. Lists are used where they are long enough and the metric
        is Euclidean; a graph replaces `n_neighbors` and `radius`.
    verbose : bool or int, default=False
        Whether to print each stage and its seconds to standard error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    spread_ : float
        The spread that was given or found.
    divergence_ : float
        KL(P‖Q) of the map, in nats.
    certificate_ : NeighborCertificate or PiecewiseCertificate
        How far the divergence can be from the least of all white maps; print it.
    history_ : list of tuple
        Spread, divergence and bound of every spread that was tried.
    n_iter_ : int
        Number of steps of the last descent.
    graph_ : Graph
        The neighbour graph that was embedded, with the edges that joined its pieces.
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
    landmarks_ : ndarray of int or None
        The rows that were drawn as landmarks; None if all rows were used.
    rows_ : ndarray of int or None
        The rows that the problem is about; None for all rows.
    left_out_ : ndarray of int
        Empty: no row is left out for being far away.
    nbrs_ : sklearn.neighbors.NearestNeighbors
        Neighbour search over the fitted rows, made when it is asked for.
    landmark_rows_ : ndarray of int
        The rows that were fitted; only for tables in tiles (`dualfold.scale`).
    placing_cost_ : PlacingCost or None
        What it costs that the fitted rows place all others, measured on held-out rows; only for
        tables in tiles.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    TSNE : Keeps more neighbours, without a bound.
    LaplacianEigenmaps : The limit of a small spread.
    dualfold.methods.neighbor_map : The problem that this estimator solves.

    Notes
    -----
    With P the edge weights divided by their sum, and s the spread, the problem is::

        minimise KL(P‖Q),  q_ij ∝ exp(−‖y_i − y_j‖²),  subject to  YᵀY = n·s·I,  Yᵀ1 = 0

    The kernel is that of [1]_ in the symmetric form of [2]_. `transform` places new rows by local
    weights.

    **Proof.** The objective is convex in YYᵀ, and its minimum over the convex hull of these
    matrices (a Fantope) bounds every such map from below. The certificate states the gap to this
    bound, rounding errors included. Beyond 8,000 rows the bound is "measured": true except with a
    stated probability.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). Up to 8,000 rows a step takes O(n²)
    operations and memory, and the bound O(n³) operations. Beyond, a product takes O(n·20^d)
    operations for d coordinates.

    **Failure.** The bound becomes weak as the spread grows. The maps are white: clusters that need
    unequal room in the coordinates do not get it. A table of more than 1,800 rows is mapped by a
    sample unless `landmarks` says otherwise.

    References
    ----------
    .. [1] G. Hinton and S. Roweis, "Stochastic neighbor embedding", Advances in Neural Information
       Processing Systems 15, 2003.
    .. [2] L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine
       Learning Research, 9, 2579–2605, 2008.

    Examples
    --------
    >>> from dualfold import NeighborMap
    >>> from dualfold.data import digits
    >>> model = NeighborMap(spread=0.05, tolerance=0.05).fit(digits().points[:60])
    >>> model.certificate_.level
    'proved'
    """

    _parameter_constraints: ClassVar[Constraints] = _GRAPH_CONSTRAINTS | {
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
    metric: Metric = "minkowski"
    p: float = 2
    metric_params: dict[str, object] | None = None
    pieces: str = "join"
    random_state: Seed = None
    n_jobs: int | None = None
    graph: GivenGraph = None
    verbose: bool = False

    def _method(self, context: FitContext = NO_CONTEXT) -> GraphMethod:
        shared = shared_fields(self, context)
        rows: RowSettings = shared.pop("rows")
        return GraphMethod(
            problem=self._neighbor_problem,
            rule=partial(local_rule, estimator=self),
            answer=NeighborAnswers(
                solver=None,
                tolerance=self.tolerance,
                n_components=self.n_components,
                spread=self.spread,
                weights=self.weights,
                width=self.width,
                max_iter=self.max_iter,
            ),
            rows=QuickRows(**vars(rows), draws=self.pieces == "join"),
            **shared,
        )

    def _neighbor_problem(
        self, graph: Graph, count: int, spread: float | None = None
    ) -> NeighborProblem:
        if spread is None:
            spread = self.spread or 1.0  # where it is left open, the answer decides
        kind: Any = self.weights
        return neighbor_map(
            graph, n_components=count, spread=spread, weights=kind, width=self.width
        )

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        raise InvalidInput(
            "a neighbour map answers no trace problem; "
            "dualfold.methods.points.neighbor_map.certify_neighbors judges it"
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
        """Certify points as the map of a graph in one piece.

        It does not matter how the points were found.

        Parameters
        ----------
        graph : Graph
            Neighbour graph in one piece.
        points : ndarray of shape (n_samples, n_components)
            Points to certify.
        tolerance : float
            Largest relative gap that is "proved".
        sides : None, default=None
            Ignored; a neighbour map has no dual side to store.
        scope : str, default=""
            Which rows the graph is about, in words.

        Returns
        -------
        NeighborCertificate
            The certificate.
        """
        spread = self.spread
        if spread is None:
            spread = float(np.mean(np.square(np.asarray(points, dtype=float))))
        problem = self._neighbor_problem(graph, points.shape[1], spread)
        return certificate_of_points(problem, points, tolerance).with_scope(scope)

    def map_of_points(self, graph: Graph, points: Array) -> OutOfSampleMap:
        """Return the rule for new rows that follows from the points of a graph.

        Parameters
        ----------
        graph : Graph
            Neighbour graph.
        points : ndarray of shape (n_samples, n_components)
            Points of its rows.

        Returns
        -------
        OutOfSampleMap
            New rows by local weights of their neighbours.
        """
        return local_map(graph, points, self)

    def _keep(self, fit: GraphFit) -> None:
        if fit.first is None:  # single points, which any spread suits
            self.spread_ = 1.0 if self.spread is None else self.spread
            self.divergence_, self.n_iter_, self.history_ = 0.0, 1, []
            return
        tried, best = fit.first.details
        self.spread_ = best.problem.spread
        self.divergence_ = best.certificate.value
        self.n_iter_ = max(1, best.descent.rounds)
        self.history_ = [
            (answer.problem.spread, answer.certificate.value, answer.certificate.bound)
            for answer in tried
        ]

    def found_parameters(self) -> dict[str, Any]:
        """Return the parameters that the fit has found.

        With them the estimator states the fitted problem again: landmarks and spread.

        Returns
        -------
        dict
            Values of parameters, by name.
        """
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

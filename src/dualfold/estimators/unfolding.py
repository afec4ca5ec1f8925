"""Maximum variance unfolding as an estimator."""

from __future__ import annotations

import sys
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.embedding import Embedding
from dualfold.errors import Argument, DisconnectedGraph, InvalidInput
from dualfold.estimators.graph_estimator import GRAPH_CONSTRAINTS, GraphEstimator
from dualfold.graph import Graph, separate
from dualfold.graph.pieces import pieces_in_words
from dualfold.maps.local import LocalDistancesMap, LocalWeightsMap
from dualfold.methods.mvu import unfolded
from dualfold.unfolding.connections import Connections, connections
from dualfold.unfolding.solution import Record
from dualfold.unfolding.unfold import Unfolding, unfold

Array = np.ndarray[Any, np.dtype[Any]]


class MaximumVarianceUnfolding(GraphEstimator):
    """Pull the points apart as far as the edges of their neighbour graph let them.

    A semidefinite program, solved with its dual, so that the answer comes with two
    numbers between which the optimum lies. scikit-learn has no counterpart.

    Parameters
    ----------
    n_components : coordinates of the embedding; the answer itself has as many as it needs
        (`factor_`), and `variance_outside_` is the share that the others hold
    n_neighbors, radius, neighborhood, metric, p, metric_params, graph : the neighbour graph,
        as for the other graph methods
    constraints : edges may be "at_most" as long as in the data, or "equal" to that. Equal
        lengths have no interior wherever more points know each other than dimensions hold
        apart; they are kept to `relaxation` of d², and the certificate says so.
    angles : also keep the distances between neighbours of a common point
    solver : "interior_point" (to about 9,000 edges, eight digits), "low_rank" (any number, where
        the graph has small separators, as sheets have), "landmark" (any graph, some percent), or
        "auto": the interior point up to 1,000 edges, low rank beyond, the others where it fails
    tol, max_iter : relative gap at which the solver stops, and its most iterations
    tolerance : the largest relative gap that the certificate calls "proved", whatever the solver;
        with a larger one its level is "within", and it says within how many percent
    pieces : "join" by the shortest links, "separate", or "raise"
    reg : the ridge of the local weights that place new points
    random_state : of the landmarks that "low_rank" and "landmark" begin with
    n_jobs : threads (None: all cores)
    verbose : tell each stage and its seconds on standard error

    Attributes
    ----------
    embedding_, eigenvalues_ : the leading coordinates, and the eigenvalues of K for them
    factor_ : n×r with K = factor_·factor_ᵀ
    dual_weights_ : symmetric sparse matrix of the dual weights
    certificate_ : `level`, `lower`, `upper`, `gap`, `feasibility` and the optimality conditions
    solver_ : the name of the solver whose answer this is
    history_, n_iter_ : a `Record` for each iteration, and their number
    variance_outside_ : share of tr K that is not in `embedding_`
    graph_, n_connected_components_, nbrs_ : as for the other graph methods

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import MaximumVarianceUnfolding
    >>> t = np.linspace(0, 3, 30)
    >>> spiral = np.column_stack([np.cos(t), np.sin(t)])
    >>> model = MaximumVarianceUnfolding(n_components=1, n_neighbors=2).fit(spiral)
    >>> model.certificate_.level
    'proved'
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        key: rule
        for key, rule in GRAPH_CONSTRAINTS.items()
        if key not in ("eigen_solver", "n_components")
    } | {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "constraints": [StrOptions({"at_most", "equal"})],
        "angles": ["boolean"],
        "solver": [StrOptions({"auto", "interior_point", "low_rank", "landmark"})],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "relaxation": [Interval(Real, 0, 1, closed="neither")],
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "reg": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        n_components: int = 2,
        n_neighbors: int | None = 6,
        radius: float | None = None,
        constraints: str = "at_most",
        angles: bool = False,
        solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int | None = None,
        relaxation: float = 1e-4,
        tolerance: float = 1e-4,
        reg: float = 1e-3,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        neighborhood: str = "fixed",
        pieces: str = "join",
        graph: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.constraints = constraints
        self.angles = angles
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.relaxation = relaxation
        self.tolerance = tolerance
        self.reg = reg
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.neighborhood = neighborhood
        self.pieces = pieces
        self.graph = graph
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _fit(self, X: Any) -> None:
        self._unfoldings: list[Unfolding] = []
        super()._fit(X)
        found, n = self._unfoldings, self.graph_.n
        rows = [np.arange(n)]
        if self.n_connected_components_ > 1 and self.pieces == "separate":
            rows = [part for part, _ in separate(self.graph_) if len(part) > 1]
        order = np.argsort(np.concatenate([*rows, _rest(rows, n)]), kind="stable")
        blocks = [unfolding.factor for unfolding in found]
        alone = n - sum(len(part) for part in rows)
        # Pieces know nothing of each other: each has columns of its own.
        stacked = scipy.linalg.block_diag(*blocks) if len(blocks) > 1 else blocks[0]
        self.factor_ = np.vstack([stacked, np.zeros((alone, stacked.shape[1]))])[order]
        weights = sp.block_diag([u.weights for u in found] + [sp.csr_array((alone, alone))])
        self.dual_weights_ = sp.csr_array(sp.csr_array(weights)[order][:, order])
        self.history_ = tuple(record for u in found for record in u.solution.history)
        self.n_iter_ = max(1, max(len(u.solution.history) - 1 for u in found))
        self.solver_ = max(found, key=lambda u: u.problem.n).solution.solver
        total = float(np.sum(self.factor_**2))
        kept = sum(_leading(block, self.n_components) for block in blocks)
        self.variance_outside_ = max(0.0, 1 - kept / total) if total else 0.0

    def _embedding(self, graph: Graph, fixed: int | None = None) -> Embedding:
        wanted = min(self.n_components, graph.n - 1)
        if wanted < self.n_components and self.pieces != "separate":
            raise InvalidInput(
                Argument("n_components", self.n_components),
                f" needs more than {self.n_components} points; there are {graph.n}",
            )
        with self._stage("solution and certificate"):
            unfolding = unfold(
                graph,
                form=self.constraints,  # type: ignore[arg-type]
                angles=self.angles,
                solver=self.solver,  # type: ignore[arg-type]
                n_components=wanted,
                tol=self.tol,
                max_iter=self.max_iter,
                relaxation=self.relaxation,
                tolerance=self.tolerance,
                random_state=self._seed(),
                callback=_shown if self.verbose else None,
            )
        self._unfoldings.append(unfolding)
        return unfolded(unfolding, n_components=wanted)

    def _in_one_piece(self, graph: Graph) -> Graph:
        if self.pieces == "raise" and graph.n_pieces > 1:
            raise DisconnectedGraph(
                pieces_in_words(graph),
                ". Nothing ties the pieces together, so their variance is unbounded and the "
                "problem has no answer; ",
                Argument("pieces", "join"),
                " joins them by their shortest links, ",
                Argument("pieces", "separate"),
                " unfolds each on its own",
            )
        return super()._in_one_piece(graph)

    def _map(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        k = min(self.n_neighbors or int(np.median(graph.lists.counts)), graph.n)
        if isinstance(graph.metric, str) and graph.metric == "precomputed":
            return LocalDistancesMap(graph.points, embedding.points, k, self.reg)
        return LocalWeightsMap(graph.points, embedding.points, k, self.reg)

    def connections(self) -> Connections:
        """What duality says about this unfolding, Isomap, LLE and eigenmaps, as numbers."""
        check_is_fitted(self, "embedding_")
        if len(self._unfoldings) != 1:
            raise InvalidInput(
                "the connections are those of one unfolding and this model has "
                f"{len(self._unfoldings)}, one a piece; use ",
                Argument("pieces", "join"),
            )
        return connections(self._unfoldings[0], n_components=self.n_components)


def _rest(rows: list[Array], n: int) -> Array:
    """The points that stand alone in their piece."""
    return np.setdiff1d(np.arange(n), np.concatenate(rows))


def _leading(factor: Array, count: int) -> float:
    """The variance in the leading coordinates."""
    return float(np.sum(np.linalg.svd(factor, compute_uv=False)[:count] ** 2))


def _shown(record: Record) -> None:
    print(
        f"[MaximumVarianceUnfolding] {record.iteration}: {record.lower:.8g} … {record.upper:.8g}, "
        f"gap {record.gap:.1e}, {record.seconds:.1f} s",
        file=sys.stderr,
    )

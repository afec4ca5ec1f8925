"""Locally linear embedding as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.estimators.chosen import COORDINATE_RULES, ChoosesCoordinates
from dualfold.estimators.graph_estimator import GRAPH_CONSTRAINTS
from dualfold.estimators.some_rows import SolvableRows
from dualfold.graph import Graph
from dualfold.maps.local import LocalWeightsMap
from dualfold.methods import hessian_lle, lle, ltsa, modified_lle
from dualfold.trace.lift import EdgeLengthScale, Scale
from dualfold.trace.problem import TraceProblem
from dualfold.trace.sparse.shifted_matrices import shifted_matrices

# So many rows LAPACK answers at once.
FEW = 400
# Rows without a shape have no gap at which eigenvalues could be counted at once: 10,000 rows of 6
# columns (10 neighbours: 2.8e10 multiply-adds, 2.8e6 a row) took two minutes of processor time and
# stayed unresolved, 5,000 of them (5e9) 5 s. 10,000 images of MNIST need 3.5e9.
LONG, LONG_A_ROW = 1e10, 1.5e6


class LocallyLinearEmbedding(ChoosesCoordinates, SolvableRows):
    """Keep each point the same combination of its neighbours.

    A drop-in for `sklearn.manifold.LocallyLinearEmbedding`. `max_iter`, `hessian_tol` and
    `neighbors_algorithm` are accepted; our solvers need no such help. `inverse_transform`
    carries points of the map back to the features by local weights. See
    `dualfold.methods.lle` for the problem it solves.

    Parameters
    ----------
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    n_components : int, or "auto": up to the widest eigengap among the first ten
    method : "standard", "modified" (several combinations a point: less bent), "hessian" or "ltsa"
    coordinates : "first" eigenvectors, or "independent" ones: those among the first 6 (20, 50 where
        these are overtones) that keep most neighbours, scaled so that edges are as long
        in each; or a list of their numbers, from 0
    landmarks : the problem is that of so many rows, drawn at random, and the others are placed as
        new ones are; None is all rows, or as many as can be solved for in seconds (a warning says
        so): many rows without a shape of few dimensions cannot be factorised
    reg : the ridge that steadies the weights, as a share of the local trace
    modified_tol : changes of weights below it are left out ("modified" only)
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    pieces : what happens to a graph in several pieces: "join" by the shortest links (with a
        warning), "separate" (each on its own, side by side) or "raise" an error
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius; or the lists of `graph.nearest(X, …)`,
        so that they are not searched again
    eigen_solver : how eigenvectors are found; "arpack" is "lanczos"
    tol : of the solver's residuals, if between 0 and 1e-6; else the default, 1e-6
    random_state : of the solver's start
    n_jobs : threads (None: all cores)
    verbose : print each stage and its seconds to standard error

    Attributes
    ----------
    embedding_ : the points, n_samples × n_components
    eigenvalues_ : the value of the problem for each coordinate
    certificate_ : how far from optimal the points can be; print it
    coordinates_ : the numbers, from 0, of the eigenvectors that are the coordinates
    graph_ : the `Graph` that was embedded, links that joined pieces included
    landmarks_, rows_ : the rows whose graph it is; None for all
    left_out_ : None, since no row is left out of the problem for being far away
    n_connected_components_ : in how many pieces it was before
    n_components_reason_ : why so many, in words, where n_components was "auto"
    nbrs_ : scikit-learn's NearestNeighbors of the data, made when asked for
    reconstruction_error_ : the value of the problem, the sum of `eigenvalues_`
    landmark_rows_, placing_cost_ : of tables in tiles (`dualfold.scale`): the rows that were
        fitted, and what it costs that they place the others

    Examples
    --------
    >>> from dualfold import LocallyLinearEmbedding
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(500, random_state=0).points
    >>> model = LocallyLinearEmbedding(n_neighbors=8, method="modified").fit(X)
    >>> model.embedding_.shape, model.certificate_.level
    ((500, 2), 'proved')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        key: rule
        for key, rule in (GRAPH_CONSTRAINTS | COORDINATE_RULES).items()
        if key not in ("metric", "p", "metric_params")
    } | {
        "landmarks": [Interval(Integral, 3, None, closed="left"), None],
        "reg": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"standard", "hessian", "modified", "ltsa"})],
        "hessian_tol": [Interval(Real, 0, None, closed="left")],
        "modified_tol": [Interval(Real, 0, None, closed="left")],
        "neighbors_algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree"})],
    }
    # Weights need coordinates, so the metric is no choice.
    metric, p, metric_params = "euclidean", 2, None

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        n_components: int | str = 2,
        reg: float = 1e-3,
        eigen_solver: str = "auto",
        tol: float = 1e-6,
        max_iter: int = 100,
        method: str = "standard",
        hessian_tol: float = 1e-4,
        modified_tol: float = 1e-12,
        neighbors_algorithm: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
        radius: float | None = None,
        neighborhood: str = "fixed",
        pieces: str = "join",
        graph: Any = None,
        landmarks: int | None = None,
        coordinates: Any = "first",
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.n_components = n_components
        self.reg = reg
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.method = method
        self.hessian_tol = hessian_tol
        self.modified_tol = modified_tol
        self.neighbors_algorithm = neighbors_algorithm
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.radius = radius
        self.neighborhood = neighborhood
        self.pieces = pieces
        self.graph = graph
        self.landmarks = landmarks
        self.coordinates = coordinates
        self.verbose = verbose

    def _problem(self, graph: Graph, count: int) -> TraceProblem:
        if self.method == "hessian":
            problem = hessian_lle(graph, n_components=count)
        elif self.method == "ltsa":
            problem = ltsa(graph, n_components=count)
        elif self.method == "modified":
            problem = modified_lle(
                graph, n_components=count, ridge=self.reg, modified_tol=self.modified_tol
            )
        else:
            problem = lle(graph, n_components=count, ridge=self.reg)
        return self._said(problem)

    def _refuse_hopeless(self, problem: TraceProblem) -> None:
        """The small end of MᵀM is out of reach of products alone: it must be factorised."""
        if self.eigen_solver == "auto" and problem.n > FEW:
            order = shifted_matrices(problem).ordering  # TooLarge where that would take minutes
            long = order.flops > max(LONG, LONG_A_ROW * problem.n)
            if long and self.landmarks is None and self._has_rule():
                raise TooLarge(f"{order.flops:.1e} multiply-adds would take minutes")

    def _drawable(self, count: int) -> bool:
        return count > 2 * FEW and self.eigen_solver == "auto" and self._has_rule()

    def _all_rows(self) -> Argument:
        return Argument("eigen_solver", "preconditioned")

    def _most_components(self, graph: Graph) -> int:
        columns, k = graph.points.shape[1], int(graph.lists.counts.min())
        if self.method == "hessian":  # d(d+3)/2 < k
            return min(columns, int((np.sqrt(9 + 8 * max(k - 1, 0)) - 3) / 2))
        return min(columns, k - 2 if self.method == "ltsa" else k)

    def _scale(self, graph: Graph, problem: TraceProblem) -> Scale:
        edges = sp.triu(graph.lengths).tocoo()
        return EdgeLengthScale((edges.row, edges.col))

    def _map(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        k = min(self.n_neighbors or int(np.median(graph.lists.counts)), graph.n)
        return LocalWeightsMap(graph.points, embedding.points, k, self.reg)

    @property
    def reconstruction_error_(self) -> float:
        """The value of the problem: Σ of the eigenvalues of the coordinates."""
        check_is_fitted(self, "eigenvalues_")
        return float(np.sum(self.eigenvalues_))

    def inverse_transform(self, Y: Any) -> Array:
        """Features for points of the map, by weights found among the embedded points."""
        check_is_fitted(self)
        if not isinstance(self._placing, LocalWeightsMap):
            raise InvalidInput("there is no way back from pieces that were laid side by side")
        return self._placing.inverse(Y)

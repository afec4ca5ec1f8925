"""Isomap as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.estimators.graph_estimator import GRAPH_CONSTRAINTS, GraphEstimator
from dualfold.graph import Graph
from dualfold.graph.geodesics import farthest_points, geodesic_distances
from dualfold.maps.landmark import GeodesicMap
from dualfold.methods.isomap import isomap, landmark_count, landmark_isomap
from dualfold.quality.pair_measures import residual_variance
from dualfold.trace.problem import TraceProblem


class Isomap(GraphEstimator):
    """Keep the distances along the sheet that the points lie on.

    A drop-in for `sklearn.manifold.Isomap`, with landmarks, a choice of neighbourhoods, and a
    certificate. `path_method`, `max_iter` and `neighbors_algorithm` are accepted and chosen by
    us; see `dualfold.methods.isomap` for the problem it solves.

    Parameters
    ----------
    n_neighbors : how many nearest points each one is linked to; None with a radius
    radius : link all points within this distance instead
    n_components : int, or "auto": up to the widest eigengap among the first ten
    landmarks : "auto" (exact up to 10,000 points, about 2√n landmarks beyond), None (exact), or
        a number of landmarks, chosen one by one as the farthest from those before
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    metric : by its name in scikit-learn, or "precomputed": X is a square matrix of distances
    p, metric_params : of the metric, as in scikit-learn's neighbours
    pieces : what happens to a graph in several pieces: "join" by the shortest links (with a
        warning), "separate" (each on its own, side by side) or "raise" an error
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius; or the lists of `graph.nearest(X, …)`,
        so that they are not searched again
    eigen_solver : how eigenvectors are found; "arpack" is "lanczos"
    tol : of the solver's residuals, if between 0 and 1e-6; else the default, 1e-6
    random_state : of the solver's start, and of the first landmark
    n_jobs : threads (None: all cores)
    verbose : print each stage and its seconds to standard error

    Attributes
    ----------
    embedding_ : the points, n_samples × n_components
    eigenvalues_ : the value of the problem for each coordinate
    certificate_ : how far from optimal the points can be; print it
    graph_ : the `Graph` that was embedded, links that joined pieces included
    n_connected_components_ : in how many pieces it was before
    n_components_reason_ : why so many, in words, where n_components was "auto"
    nbrs_ : scikit-learn's NearestNeighbors of the data, made when asked for
    dist_matrix_ : the n×n geodesic distances, computed when asked for and not kept
    residual_variance_ : 1 − R² between geodesic and embedded distances
    landmark_rows_, placing_cost_ : of tables in tiles (`dualfold.scale`): the rows that were
        fitted, and what it costs that they place the others

    Examples
    --------
    >>> from dualfold import Isomap
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(500, random_state=0).points
    >>> model = Isomap(n_neighbors=8).fit(X)
    >>> model.certificate_.level, round(model.residual_variance_, 3)
    ('proved', 0.001)
    >>> model.transform(X[:3]).shape
    (3, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = GRAPH_CONSTRAINTS | {
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "path_method": [StrOptions({"auto", "FW", "D"})],
        "neighbors_algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree"})],
        "landmarks": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        *,
        n_neighbors: int | None = 5,
        radius: float | None = None,
        n_components: int | str = 2,
        eigen_solver: str = "auto",
        tol: float = 0,
        max_iter: int | None = None,
        path_method: str = "auto",
        neighbors_algorithm: str = "auto",
        n_jobs: int | None = None,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        landmarks: int | str | None = "auto",
        neighborhood: str = "fixed",
        pieces: str = "join",
        random_state: Any = None,
        graph: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.n_components = n_components
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.max_iter = max_iter
        self.path_method = path_method
        self.neighbors_algorithm = neighbors_algorithm
        self.n_jobs = n_jobs
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.landmarks = landmarks
        self.neighborhood = neighborhood
        self.pieces = pieces
        self.random_state = random_state
        self.graph = graph
        self.verbose = verbose

    def _problem(self, graph: Graph, count: int) -> TraceProblem:
        chosen = self.landmarks
        if chosen == "auto":
            chosen = landmark_count(graph.n)
        if chosen is not None and int(chosen) < graph.n:
            corners = farthest_points(graph, max(int(chosen), count + 1), random_state=self._seed())
            return landmark_isomap(graph, corners, n_components=count)
        return isomap(graph, n_components=count)

    def _map(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        vectors, values = embedding.solution.vectors, embedding.values
        return GeodesicMap.of(graph, embedding.problem, vectors, values)

    @property
    def dist_matrix_(self) -> Array:
        """The geodesic distances between all points, computed when asked for."""
        check_is_fitted(self, "graph_")
        kind = self.embedding_.dtype
        return geodesic_distances(self.graph_, dtype=kind, n_jobs=self.n_jobs)

    @property
    def residual_variance_(self) -> float:
        """1 − R² between geodesic and embedded distances."""
        check_is_fitted(self, "graph_")
        return float(residual_variance(self.graph_, self.embedding_))

    def reconstruction_error(self) -> float:
        """‖K − YYᵀ‖/n, K the double-centred squared geodesics (scikit-learn's measure)."""
        from dualfold.weights.gram import centred_gram

        K = centred_gram(self.dist_matrix_.astype(float))
        total = float(np.einsum("ij,ij->", K, K)) - float(np.sum(self.eigenvalues_**2))
        return float(np.sqrt(max(total, 0.0))) / len(K)

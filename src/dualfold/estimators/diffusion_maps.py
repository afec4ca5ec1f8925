"""Diffusion maps as an estimator."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.estimators.landmark_tiles import near_mean
from dualfold.estimators.specks import SPECK_CONSTRAINTS, LeavesSpecksOut
from dualfold.graph import Graph
from dualfold.maps.attraction import AttractionMap
from dualfold.maps.nystrom import NystromMap
from dualfold.maps.piecewise import RescaledMap
from dualfold.methods.diffusion_maps import diffusion_maps
from dualfold.trace.lift import DiffusionLift, Scale
from dualfold.trace.problem import TraceProblem
from dualfold.weights.affinity import affinity


class DiffusionMaps(LeavesSpecksOut):
    """Keep where a random walk over neighbours leads.

    With alpha=0, diffusion_time=0 and the same weights these are `LaplacianEigenmaps`, up to one
    factor. See
    `dualfold.methods.diffusion_maps` for the problem it solves.

    Parameters
    ----------
    n_components : int or "auto" (the widest eigengap among the first ten)
    alpha : how much of the density of points is taken out, from 0 (none) to 1 (all of it, so that
        the shape counts alone). The density is seen within a radius of some widths, not among
        a fixed number of neighbours
    diffusion_time : steps t of the walk, 0 or more: coordinate k is scaled by (1 − λ_k)^t, so that
        distances compare walks of t steps
    coordinates : "first" eigenvectors, or "independent" ones: those among the first 6 (20, 50 where
        these are overtones) that keep most neighbours, scaled as by diffusion_time; or a list of
        their numbers, from 0
    n_neighbors, radius : the neighbourhood; one of them is None
    neighborhood : "fixed", or "variable": fewer neighbours where points lie far apart
    weights : the kernel: "heat", "adaptive" (each point has a width of its own), "binary" or
        "density" (widths that follow the local density)
    width : kernel width of heat weights; None is the root mean square edge length, or more where
        the longest edge would weigh nothing
    landmarks : None (all points), or a number of points drawn at random: the problem is that of
        their graph, and the others are placed as new points are, by Nyström's equation
    metric, p, metric_params : as in scikit-learn's neighbours; "precomputed" distances
    pieces : what happens to a graph in several: "join" by the shortest links (with a warning),
        "separate" (each on its own, side by side) or "raise"
    graph : a precomputed neighbour graph over the rows of X (a `Graph` or a sparse matrix of
        edge lengths), instead of n_neighbors and radius
    left_out : rows that are no part of the problem and are placed as new ones are; None looks
        for small groups that would rule a coordinate, () keeps all rows in
    eigen_solver : "auto", "dense", "lanczos" (also "arpack"), "factored" or "preconditioned"
    tol : of the solver's residuals, if between 0 and 1e-6; else the default, 1e-6
    random_state : of the solver's start, and of the landmarks
    n_jobs : threads (None: all cores)
    verbose : print each stage and its seconds to standard error

    Attributes
    ----------
    embedding_ : the points, n_samples × n_components
    eigenvalues_ : the value of the problem for each coordinate: λ = 1 − μ
    transition_eigenvalues_ : μ, of one step of the walk, from the largest after 1
    certificate_ : how far from optimal the points can be (with landmarks: theirs); print it
    coordinates_ : the numbers, from 0, of the eigenvectors that are the coordinates
    graph_ : the `Graph` that was embedded, links that joined pieces included
    landmarks_ : the rows that were drawn; None for all
    left_out_, rows_ : the rows left out of the problem, and those that are in it (None: all)
    n_connected_components_ : in how many pieces it was before
    n_components_reason_ : why so many, in words, where n_components was "auto"
    nbrs_ : scikit-learn's NearestNeighbors of the data, made when asked for
    landmark_rows_, placing_cost_ : of tables in tiles (`dualfold.scale`): the rows that were
        fitted, and what it costs that they place the others

    Examples
    --------
    A ring with nine times as many points on one side, and a map that does not show it:

    >>> import numpy as np
    >>> from dualfold import DiffusionMaps
    >>> turn = np.linspace(0, 1, 300, endpoint=False)
    >>> turn = 2 * np.pi * turn + 0.8 * np.sin(2 * np.pi * turn)
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> model = DiffusionMaps(n_neighbors=None, radius=0.6, width=0.2).fit(ring)
    >>> lengths = np.linalg.norm(model.embedding_, axis=1)
    >>> print(model.certificate_.level, round(lengths.max() / lengths.min(), 1))
    proved 1.1
    >>> dense = DiffusionMaps(alpha=0, n_neighbors=None, radius=0.6, width=0.2).fit(ring)
    >>> lengths = np.linalg.norm(dense.embedding_, axis=1)
    >>> print(round(lengths.max() / lengths.min(), 1))
    9.4
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = SPECK_CONSTRAINTS | {
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "diffusion_time": [Interval(Real, 0, None, closed="left")],
        "weights": [StrOptions({"adaptive", "heat", "binary", "density"})],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "landmarks": [Interval(Integral, 2, None, closed="left"), None],
    }

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        alpha: float = 1.0,
        diffusion_time: float = 1.0,
        coordinates: Any = "first",
        n_neighbors: int | None = 10,
        radius: float | None = None,
        neighborhood: str = "fixed",
        weights: str = "heat",
        width: float | None = None,
        landmarks: int | None = None,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: dict[str, Any] | None = None,
        pieces: str = "join",
        eigen_solver: str = "auto",
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        graph: Any = None,
        left_out: Any = None,
        verbose: bool = False,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.diffusion_time = diffusion_time
        self.coordinates = coordinates
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.neighborhood = neighborhood
        self.weights = weights
        self.width = width
        self.landmarks = landmarks
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.pieces = pieces
        self.eigen_solver = eigen_solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.graph = graph
        self.left_out = left_out
        self.verbose = verbose

    @property
    def transition_eigenvalues_(self) -> Array:
        """The eigenvalues μ of one step of the walk, 1 − λ."""
        return np.asarray(1 - self.eigenvalues_)

    def _problem(self, graph: Graph, count: int) -> TraceProblem:
        problem = diffusion_maps(
            graph,
            n_components=count,
            weights=self.weights,  # type: ignore[arg-type]
            width=self.width,
            alpha=self.alpha,
            diffusion_time=self.diffusion_time,
        )
        return self._said(problem)

    def _second_rule(self, graph: Any, points: Array, landmarks: Any) -> AttractionMap | None:
        return near_mean(self, graph, points, landmarks)

    def _map(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        rule = affinity(graph, weights=self.weights, width=self.width, alpha=self.alpha)  # type: ignore[arg-type]
        problem, solution = embedding.problem, embedding.solution
        vectors, values = problem.lift.selected_columns(solution.vectors, solution.values)
        place = NystromMap(graph, rule, vectors, values, "degree")
        scale = self._scale(graph, problem)
        return RescaledMap(place, times=scale.factors(vectors, values))

    def _scale(self, graph: Graph, problem: TraceProblem) -> Scale:
        return DiffusionLift(self.diffusion_time)

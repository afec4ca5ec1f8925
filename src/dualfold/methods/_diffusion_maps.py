"""Diffusion maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.fitting.coordinates import CoordinateSettings
from dualfold.fitting.graph_estimator import (
    LEFT_OUT_CONSTRAINTS,
    GraphEstimator,
    eigen_solver,
    shared_fields,
)
from dualfold.fitting.graph_fit import GraphMethod
from dualfold.fitting.rules import near_mean, nystrom_rule
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.maps.attraction_map import AttractionMap
from dualfold.methods._eigenmaps import diffused_scale
from dualfold.trace.lift import DiffusionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.affinity import Weights, affinity, laplacian_of


def diffusion_maps(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    alpha: float = 1.0,
    diffusion_time: float = 1.0,
) -> TraceProblem:
    """Keep where a random walk over neighbours leads: near are points that it soon mixes.

        maximise tr(VᵀΠPV)  subject to  VᵀΠV = I,  VᵀΠ1 = 0,   points V|M|^t

    P = Deg⁻¹W is one step of the walk, Π its stationary distribution deg/Σdeg, and W the kernel
    `weights` of `width` with the density taken out: W_ij/(q_i·q_j)^`alpha`, q_i = Σ_j W_ij. 0
    leaves it in (normalised eigenmaps), 1 leaves only the shape of the surface that the points
    lie on (its heat flow), ½ is between (a walk in the potential of the density). M holds the
    eigenvalues μ of the coordinates. With all n − 1 of them distances between points are those
    between their walks after t = `diffusion_time` steps: ‖(P^t)_i − (P^t)_j‖ in the norm of Π⁻¹.

    Stated as min tr(VᵀΠ(I − P)V), which has the same answers: λ = 1 − μ keeps its digits where
    many μ are nearly 1. Fails as eigenmaps do on long shapes. The density is seen where
    neighbours are many in dense places: by a radius of some widths. Among a fixed number of
    neighbours alpha changes little.

    Coifman and Lafon, "Diffusion maps" (2006).
    """
    rule = affinity(one_piece(graph), weights=weights, width=width, alpha=alpha)
    laplacian, degrees = laplacian_of(graph, rule)
    total = degrees.sum()
    ones = np.ones(graph.n)
    return TraceProblem(
        laplacian / total,
        degrees / total,
        n_components,
        "min",
        excluded=ones,
        lift=DiffusionLift(diffusion_time),
    )


@dataclass(eq=False, repr=False)
class DiffusionMaps(GraphEstimator):
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

    _parameter_constraints: ClassVar[dict[str, Any]] = LEFT_OUT_CONSTRAINTS | {
        "alpha": [Interval(Real, 0, 1, closed="both")],
        "diffusion_time": [Interval(Real, 0, None, closed="left")],
        "weights": [StrOptions({"adaptive", "heat", "binary", "density"})],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "landmarks": [Interval(Integral, 2, None, closed="left"), None],
    }

    n_components: int | str = 2
    _: KW_ONLY
    alpha: float = 1.0
    diffusion_time: float = 1.0
    coordinates: Any = "first"
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    weights: str = "heat"
    width: float | None = None
    landmarks: int | None = None
    metric: Any = "minkowski"
    p: float = 2
    metric_params: dict[str, Any] | None = None
    pieces: str = "join"
    eigen_solver: str = "auto"
    tol: float = 0.0
    random_state: Any = None
    n_jobs: int | None = None
    graph: Any = None
    left_out: Any = None
    verbose: bool = False

    @property
    def transition_eigenvalues_(self) -> Array:
        """The eigenvalues μ of one step of the walk, 1 − λ."""
        return np.asarray(1 - self.eigenvalues_)

    def _method(self) -> GraphMethod:
        solver = eigen_solver(self)
        return GraphMethod(
            problem=self._problem,
            rule=self._rule,
            solver=solver,
            coordinates=CoordinateSettings(
                self.coordinates,
                self.n_components,
                solver,
                self.tolerance,
                diffused_scale(self.diffusion_time),
            ),
            leaves_groups_out=True,
            **shared_fields(self),
        )

    def _problem(self, graph: Graph, count: int) -> TraceProblem:
        return diffusion_maps(
            graph,
            n_components=count,
            weights=self.weights,  # type: ignore[arg-type]
            width=self.width,
            alpha=self.alpha,
            diffusion_time=self.diffusion_time,
        )

    def _rule(self, graph: Graph, embedding: Embedding) -> Callable[[Any], Array]:
        kind: Any = self.weights
        rule = affinity(graph, weights=kind, width=self.width, alpha=self.alpha)
        return nystrom_rule(graph, embedding, rule, "degree", DiffusionLift(self.diffusion_time))

    def second_rule(self, graph: Any, points: Array, landmarks: Any) -> AttractionMap | None:
        """New rows at the mean of a few nearest landmarks."""
        return near_mean(self, graph, points, landmarks)

"""Locally linear embedding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.fitting.coordinates import COORDINATE_CONSTRAINTS, CoordinateSettings
from dualfold.fitting.graph_estimator import (
    GRAPH_CONSTRAINTS,
    GraphEstimator,
    eigen_solver,
    shared_fields,
)
from dualfold.fitting.graph_fit import FewerRows, GraphMethod
from dualfold.fitting.rules import local_rule
from dualfold.graph.directed_lists import connected_lists, neighborhoods, with_unlisted_points
from dualfold.graph.graph import Graph
from dualfold.maps.local_map import LocalWeightsMap
from dualfold.trace.lift import EdgeLengthScale
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.sparse.shifted_matrices import shifted_matrices
from dualfold.weights.local_tangents import tangent_alignment, tangent_hessian
from dualfold.weights.reconstruction import (
    reconstruction_null_vectors,
    reconstruction_weights,
    several_weights,
)


def lle(graph: Graph, *, n_components: int = 2, ridge: float = 1e-3) -> TraceProblem:
    """Keep each point the same combination of its neighbours.

        minimise tr(Vᵀ(I−W)ᵀ(I−W)V)  subject to  VᵀV = I,  VᵀN = 0

    Row i of W holds the weights, adding up to 1, with which i's neighbours come closest
    to x_i; `ridge`·trace is added to the diagonal of the local Gram matrices. (I−W)ᵀ(I−W)
    is never formed: its small eigenvalues would drown in rounding.

    N are the null vectors of I−W. The lists are directed: a group of points that list
    only one another is a null vector of its own, in a graph of one piece too. *All* of
    them are excluded, not the constant alone, else the coordinates would be such groups
    against the rest. The price is that every group but the largest comes out as about
    one spot; a `PointsCollapse` warning says how many points that are. More neighbours
    tie them in.

    Preserves local affine structure, not lengths: a sheet may come back sheared or
    unevenly stretched. With more neighbours than columns and a tiny ridge any linear
    image of X is (almost) optimal, so X's own projection wins. Eigenvalues lie close to 0
    (10⁻⁶ to 10⁻¹² of the largest), so solvers that stop early return noise.

    Roweis and Saul, "Nonlinear dimensionality reduction by locally linear embedding"
    (2000).
    """
    points, lists = neighborhoods(graph, n_components=n_components)
    weights = reconstruction_weights(points, lists, ridge=ridge)
    factor = sp.csr_array(sp.eye_array(graph.n) - weights)
    excluded = reconstruction_null_vectors(weights, lists)
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=excluded)


def modified_lle(
    graph: Graph, *, n_components: int = 2, ridge: float = 1e-3, modified_tol: float = 1e-12
) -> TraceProblem:
    """Keep each point several combinations of its neighbours at once.

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    With more neighbours than dimensions many weights reconstruct a point equally well;
    LLE's ridge picks one of them, and the choice bends the result. Here all that are
    about as good take part, s_i rows of F for point i (`several_weights`), which removes
    most of LLE's distortion. Changes of weights below `modified_tol` are left out. Needs
    n_neighbors ≥ n_components. Fails where noise is as large as the neighbourhoods: the
    small directions are then no longer distinct.

    A group of points that list only one another forces no null vector here, since the
    others cannot satisfy all of their combinations at once: only 1 is excluded.

    Zhang and Wang, "MLLE: modified locally linear embedding using multiple weights" (2006).
    """
    points, lists = neighborhoods(graph, n_components=n_components, least=n_components)
    factor = several_weights(
        points, lists, n_components=n_components, ridge=ridge, modified_tol=modified_tol
    )
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=np.ones(graph.n))


def hessian_lle(graph: Graph, *, n_components: int = 2) -> TraceProblem:
    """Coordinates that bend least: their second derivatives along the sheet are small.

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    F estimates the d(d+1)/2 second derivatives of a function on the tangent plane of every
    neighbourhood (`tangent_hessian`). Only affine functions of an isometric chart have
    none, so a sheet that is locally isometric to an open connected part of the plane, even
    one with holes, comes back up to an affine map. Needs
    n_neighbors > n_components·(n_components + 3)/2, and data dense enough for second
    derivatives; noise hurts it first of the four.

    As in the usual implementations a neighbourhood is the listed points without their
    owner; a point that nobody lists is added to its own. (scikit-learn's `hessian_tol`
    guards a division by the sums of F's rows, which are 0 here by construction: nothing
    is divided.)

    Donoho and Grimes, "Hessian eigenmaps: locally linear embedding techniques for
    high-dimensional data" (2003).
    """
    least = n_components * (n_components + 3) // 2 + 1
    points, lists = neighborhoods(graph, n_components=n_components, least=least)
    lists = connected_lists(with_unlisted_points(lists))
    factor = tangent_hessian(points, lists, n_components=n_components)
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=np.ones(graph.n))


def ltsa(graph: Graph, *, n_components: int = 2) -> TraceProblem:
    """Coordinates that are affine in the tangent coordinates of every neighbourhood.

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    ‖Fv‖² adds up, over all neighbourhoods, the squared distance of v from the affine
    functions of the local tangent coordinates (`tangent_alignment`). A flat sheet comes
    back up to an affine map; coordinates are scaled to VᵀV = I. Needs n_neighbors ≥
    n_components + 2: with fewer every function is affine on a neighbourhood. Fails where
    neighbourhoods bend or the tangent is noisy, by folding.

    As in scikit-learn a neighbourhood is the listed points without their owner; a point
    that nobody lists is added to its own, since nothing else would hold it.

    Zhang and Zha, "Principal manifolds and nonlinear dimensionality reduction via tangent
    space alignment" (2004).
    """
    points, lists = neighborhoods(graph, n_components=n_components, least=n_components + 2)
    lists = connected_lists(with_unlisted_points(lists))
    factor = tangent_alignment(points, lists, n_components=n_components)
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=np.ones(graph.n))


# LAPACK answers this many rows at once.
MAX_DENSE_ROWS = 400
# Rows without a shape have no gap at which eigenvalues could be counted at once: beyond these
# multiply-adds, in all and for each row, some rows are drawn (docs/dev/notes/fitted-rows.md).
MAX_FACTOR_FLOPS = 1e10
MAX_FACTOR_FLOPS_A_ROW = 1.5e6


def refuse_long_factorisation(problem: TraceProblem, *, auto: bool, limited: bool) -> None:
    """`TooLarge` where the factorisation of MᵀM, which its small end needs, would take minutes.

    auto : whether the solver is ours to choose; limited : whether fewer rows may be taken
    """
    if auto and problem.n > MAX_DENSE_ROWS:
        flops = shifted_matrices(problem).ordering.flops  # TooLarge where that would take minutes
        most = max(MAX_FACTOR_FLOPS, MAX_FACTOR_FLOPS_A_ROW * problem.n)
        if flops > most and limited:
            raise TooLarge(f"{flops:.1e} multiply-adds would take minutes")


def max_components(graph: Graph, method: str) -> int:
    """How many coordinates the neighbourhoods of a form of LLE can have."""
    columns, k = graph.points.shape[1], int(graph.lists.counts.min())
    if method == "hessian":  # d(d+3)/2 < k
        return min(columns, int((np.sqrt(9 + 8 * max(k - 1, 0)) - 3) / 2))
    return min(columns, k - 2 if method == "ltsa" else k)


def with_unit_variance(problem: TraceProblem) -> TraceProblem:
    """The problem with (1/n)VᵀV = I in place of VᵀV = I, as Roweis and Saul write it.

    Vectors are √n times as long, and values n times as large: those of Σ‖y_i − Σ_j w_ij y_j‖².
    """
    return replace(problem, B=np.full(problem.n, 1 / problem.n))


def step_scale(graph: Graph, problem: TraceProblem) -> EdgeLengthScale:
    """Coordinates whose steps along the edges are equally long."""
    edges = sp.triu(graph.lengths).tocoo()
    return EdgeLengthScale((edges.row, edges.col))


@dataclass(eq=False, repr=False, kw_only=True)
class LocallyLinearEmbedding(GraphEstimator):
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
    unit_variance : coordinates of mean square 1, (1/n)YᵀY = I, as Roweis and Saul write the
        constraint; False is YᵀY = I, as in scikit-learn
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
        for key, rule in (GRAPH_CONSTRAINTS | COORDINATE_CONSTRAINTS).items()
        if key not in ("metric", "p", "metric_params")
    } | {
        "landmarks": [Interval(Integral, 3, None, closed="left"), None],
        "reg": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "method": [StrOptions({"standard", "hessian", "modified", "ltsa"})],
        "hessian_tol": [Interval(Real, 0, None, closed="left")],
        "modified_tol": [Interval(Real, 0, None, closed="left")],
        "unit_variance": ["boolean"],
        "neighbors_algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree"})],
    }
    # Weights need coordinates, so the metric is no choice.
    metric, p, metric_params = "euclidean", 2, None

    n_neighbors: int | None = 5
    n_components: int | str = 2
    reg: float = 1e-3
    eigen_solver: str = "auto"
    tol: float = 1e-6
    max_iter: int = 100
    method: str = "standard"
    hessian_tol: float = 1e-4
    modified_tol: float = 1e-12
    neighbors_algorithm: str = "auto"
    random_state: Any = None
    n_jobs: int | None = None
    radius: float | None = None
    neighborhood: str = "fixed"
    pieces: str = "join"
    graph: Any = None
    landmarks: int | None = None
    coordinates: Any = "first"
    unit_variance: bool = False
    verbose: bool = False

    def _method(self) -> GraphMethod:
        shared = shared_fields(self)
        solver, features = eigen_solver(self), shared["rows"].has_features
        drawable = self.eigen_solver == "auto" and features
        return GraphMethod(
            problem=self._problem,
            rule=partial(local_rule, estimator=self),
            solver=solver,
            max_components=partial(max_components, method=self.method),
            coordinates=CoordinateSettings(
                self.coordinates, self.n_components, solver, self.tolerance, step_scale
            ),
            fewer_rows=FewerRows(
                refuse=partial(
                    refuse_long_factorisation,
                    auto=self.eigen_solver == "auto",
                    limited=self.landmarks is None and features,
                ),
                can_draw=lambda count: count > 2 * MAX_DENSE_ROWS and drawable,
                all_rows=Argument("eigen_solver", "preconditioned"),
            ),
            **shared,
        )

    def _problem(self, graph: Graph, count: int) -> TraceProblem:
        problem = self._problem_of_unit_columns(graph, count)
        return with_unit_variance(problem) if self.unit_variance else problem

    def _problem_of_unit_columns(self, graph: Graph, count: int) -> TraceProblem:
        if self.method == "hessian":
            return hessian_lle(graph, n_components=count)
        if self.method == "ltsa":
            return ltsa(graph, n_components=count)
        if self.method == "modified":
            tol = self.modified_tol
            return modified_lle(graph, n_components=count, ridge=self.reg, modified_tol=tol)
        return lle(graph, n_components=count, ridge=self.reg)

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

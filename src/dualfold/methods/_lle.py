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

from dualfold.arrays import Array, Seed
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.graph.directed_lists import connected_lists, neighborhoods, with_unlisted_points
from dualfold.graph.graph import Graph
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext
from dualfold.methods.fitting.coordinates import COORDINATE_CONSTRAINTS
from dualfold.methods.fitting.graph_estimator import (
    GRAPH_CONSTRAINTS,
    GraphEstimator,
    answer_settings,
    eigen_solver,
    shared_fields,
)
from dualfold.methods.fitting.graph_fit import FewerRows, GraphMethod
from dualfold.methods.fitting.rules import local_rule
from dualfold.methods.fitting.weighted_fit import fit_transform_with_masses, fit_with_masses
from dualfold.methods.maps.local_map import LocalWeightsMap
from dualfold.methods.parameters import Constraints, GivenGraph
from dualfold.trace.lift import EdgeLengthScale
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.sparse.shifted_matrices import prefers_filled_square, shifted_matrices
from dualfold.weights.local_tangents import tangent_alignment, tangent_hessian
from dualfold.weights.reconstruction import (
    reconstruction_null_vectors,
    reconstruction_weights,
    several_weights,
)


def lle(graph: Graph, *, n_components: int = 2, ridge: float = 1e-3) -> TraceProblem:
    """Locally linear embedding (LLE) as a trace problem.

    The problem is::

        minimise tr(Vᵀ(I−W)ᵀ(I−W)V)  subject to  VᵀV = I,  VᵀN = 0

    Row i of W holds the weights, with sum 1, by which the neighbours of i come closest to x_i, and
    the points are V. N holds all null vectors of I − W, not the constant one alone.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.
    ridge : float, default=0.001
        Ridge of the local weights, as a share of the trace of the local Gram matrix.

    Returns
    -------
    TraceProblem
        The problem; (I−W)ᵀ(I−W) is never formed, since its small eigenvalues would be lost in
        rounding.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    See Also
    --------
    LocallyLinearEmbedding : The estimator.
    modified_lle : Several weights for each row.
    npp : The same by a linear map.

    Notes
    -----
    The map [1]_ keeps local affine structure, not lengths: a surface may come back sheared or
    unevenly stretched. The lists of neighbours are directed, so that a group of rows that list only
    one another has a null vector of its own. All groups but the largest are then drawn as about one
    point, and a `PointsCollapse` warning says how many rows these are; more neighbours help. With
    more neighbours than columns and a tiny ridge every linear image of X is almost optimal. I − W
    has O(n·k) entries for k neighbours, and the weights take O(n·k²·(k + D)) operations.

    References
    ----------
    .. [1] S. T. Roweis and L. K. Saul, "Nonlinear dimensionality reduction by locally linear
       embedding", Science, 290(5500), 2323–2326, 2000.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import lle
    >>> graph = knn(swiss_roll(100, random_state=0).points, 8)
    >>> embed(lle(graph)).certificate.level
    'proved'
    """
    points, lists = neighborhoods(graph, n_components=n_components)
    weights = reconstruction_weights(points, lists, ridge=ridge)
    factor = sp.csr_array(sp.eye_array(graph.n) - weights)
    excluded = reconstruction_null_vectors(weights, lists)
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=excluded)


def modified_lle(
    graph: Graph, *, n_components: int = 2, ridge: float = 1e-3, modified_tol: float = 1e-12
) -> TraceProblem:
    """Modified locally linear embedding (MLLE) as a trace problem.

    The problem is::

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    With more neighbours than dimensions many weights reconstruct a row equally well. LLE's ridge
    picks one of them, and the choice bends the result. Here all that are about as good take part:
    s_i rows of F for row i.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.
    ridge : float, default=0.001
        Ridge of the local weights, as a share of the trace of the local Gram matrix.
    modified_tol : float, default=1e-12
        Changes of weights below this size are left out.

    Returns
    -------
    TraceProblem
        The problem.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.
    InvalidInput
        If there are fewer neighbours than coordinates.

    See Also
    --------
    LocallyLinearEmbedding : The estimator, with `method="modified"`.
    lle : One weight vector for each row.

    Notes
    -----
    This removes most of LLE's distortion [1]_. It fails where noise is as large as the
    neighbourhoods: the small directions are then not distinct. Only the constant vector is
    excluded, since a group of rows that list only one another forces no null vector here.

    References
    ----------
    .. [1] Z. Zhang and J. Wang, "MLLE: Modified locally linear embedding using multiple weights",
       Advances in Neural Information Processing Systems 19, 2007.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import modified_lle
    >>> graph = knn(swiss_roll(100, random_state=0).points, 8)
    >>> embed(modified_lle(graph)).certificate.level
    'proved'
    """
    points, lists = neighborhoods(graph, n_components=n_components, least=n_components)
    factor = several_weights(
        points, lists, n_components=n_components, ridge=ridge, modified_tol=modified_tol
    )
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=np.ones(graph.n))


def hessian_lle(graph: Graph, *, n_components: int = 2) -> TraceProblem:
    """Hessian eigenmaps (Hessian LLE) as a trace problem.

    The problem is::

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    F estimates the d(d+1)/2 second derivatives of a function on the tangent plane of every
    neighbourhood. Only affine functions of an isometric chart have none.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.

    Returns
    -------
    TraceProblem
        The problem.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.
    InvalidInput
        If there are not more than d(d+3)/2 neighbours for d coordinates.

    See Also
    --------
    LocallyLinearEmbedding : The estimator, with `method="hessian"`.
    ltsa : First derivatives only.

    Notes
    -----
    A surface that is locally isometric to an open connected part of the plane, even one with holes,
    comes back up to an affine map [1]_. Second derivatives need dense data; of the four forms of
    LLE this one suffers most from noise. A neighbourhood is the listed rows without their owner; a
    row that is in no list is added to its own.

    References
    ----------
    .. [1] D. L. Donoho and C. Grimes, "Hessian eigenmaps: Locally linear embedding techniques for
       high-dimensional data", Proceedings of the National Academy of Sciences, 100(10), 5591–5596,
       2003.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import hessian_lle
    >>> graph = knn(swiss_roll(100, random_state=0).points, 8)
    >>> embed(hessian_lle(graph)).certificate.level
    'proved'
    """
    least = n_components * (n_components + 3) // 2 + 1
    points, lists = neighborhoods(graph, n_components=n_components, least=least)
    lists = connected_lists(with_unlisted_points(lists))
    factor = tangent_hessian(points, lists, n_components=n_components)
    return TraceProblem(Gramian(factor), None, n_components, "min", excluded=np.ones(graph.n))


def ltsa(graph: Graph, *, n_components: int = 2) -> TraceProblem:
    """Local tangent space alignment (LTSA) as a trace problem.

    The problem is::

        minimise tr(VᵀFᵀFV)  subject to  VᵀV = I,  Vᵀ1 = 0

    ‖Fv‖² adds up, over all neighbourhoods, the squared distance of v from the affine functions of
    the local tangent coordinates.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.

    Returns
    -------
    TraceProblem
        The problem.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.
    InvalidInput
        If there are fewer than d + 2 neighbours for d coordinates.

    See Also
    --------
    LocallyLinearEmbedding : The estimator, with `method="ltsa"`.
    hessian_lle : Second derivatives.

    Notes
    -----
    A flat surface comes back up to an affine map [1]_. The method fails, by folding, where
    neighbourhoods bend or the tangent is noisy. As in scikit-learn a neighbourhood is the listed
    rows without their owner; a row that is in no list is added to its own.

    References
    ----------
    .. [1] Z. Zhang and H. Zha, "Principal manifolds and nonlinear dimensionality reduction via
       tangent space alignment", SIAM Journal on Scientific Computing, 26(1), 313–338, 2004.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import ltsa
    >>> graph = knn(swiss_roll(100, random_state=0).points, 8)
    >>> embed(ltsa(graph)).certificate.level
    'proved'
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
    if auto and problem.n > MAX_DENSE_ROWS and not prefers_filled_square(problem):
        flops = shifted_matrices(problem).ordering.flops  # TooLarge where that would take minutes
        most = max(MAX_FACTOR_FLOPS, MAX_FACTOR_FLOPS_A_ROW * problem.n)
        if flops > most and limited:
            raise TooLarge(f"{flops:.1e} multiply-adds would take minutes")


def max_components(graph: Graph, method: str) -> int:
    """The largest number of coordinates that the neighbourhoods of a form of LLE can have."""
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
    """Locally linear embedding (LLE), with its modified, Hessian and tangent forms.

    It keeps each row the same combination of its neighbours. A drop-in replacement for
    `sklearn.manifold.LocallyLinearEmbedding`, with landmarks for large tables, a choice of
    neighbourhoods and coordinates, `inverse_transform`, and a certificate.

    Parameters
    ----------
    n_neighbors : int ≥ 1 or None, default=5
        Number of nearest rows that each row is linked to; None if a `radius` is given.
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" keeps those before the widest eigengap among the first ten.
    reg : float ≥ 0, default=0.001
        Ridge of the local weights, as a share of the local trace.
    eigen_solver : {"auto", "arpack", "dense", "factored", "lanczos", "preconditioned"}, \
            default="auto"
        How eigenvectors are computed: "auto" chooses by the predicted work; "arpack" is another
        name of "lanczos".

        "dense" calls LAPACK, "lanczos" needs products with the matrix only, "factored" factorises
        the shifted sparse matrix, and "preconditioned" uses algebraic multigrid or an incomplete
        factorisation.
    tol : float ≥ 0, default=1e-06
        Relative residual at which the solver stops, if it lies between 0 and 1e-6; any other value
        means 1e-6.
    max_iter : int ≥ 1, default=100
        Ignored; it is accepted so that code written for scikit-learn runs.
    method : {"standard", "hessian", "ltsa", "modified"}, default="standard"
        "standard" keeps one combination of neighbours for each row, "modified" several (less bent),
        "hessian" second derivatives along the surface, "ltsa" the coordinates in local tangent
        planes.
    hessian_tol : float ≥ 0, default=0.0001
        Ignored; it is accepted so that code written for scikit-learn runs.
    modified_tol : float ≥ 0, default=1e-12
        Changes of weights below this size are left out; for the modified method only.
    neighbors_algorithm : {"auto", "ball_tree", "brute", "kd_tree"}, default="auto"
        Ignored; it is accepted so that code written for scikit-learn runs.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's start; None means 0, so that runs agree.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    radius : float ≥ 0 or None, default=None
        Link each row to all rows within this distance, instead of a fixed number of nearest rows.
    neighborhood : {"fixed", "variable"}, default="fixed"
        "fixed" gives the same number of neighbours to each row; "variable" gives fewer to rows in
        sparse places.
    pieces : {"join", "raise", "separate"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "separate" embeds each piece by itself, side by side;
        "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours of the rows of X that are known already, so that none are searched: a
        `dualfold.Graph`, a sparse matrix of edge lengths, or the lists that
        `dualfold.graph.nearest` returns. Lists are used where they are long enough and the metric
        is Euclidean; a graph replaces `n_neighbors` and `radius`.
    landmarks : int ≥ 3 or None, default=None
        Number of rows, drawn at random, that the problem is about; they place the other rows. None
        takes all rows, or as many as can be solved for in seconds, with a warning.

        None draws rows only with `eigen_solver="auto"`.
    coordinates : {"first", "independent"} or array-like of int, default="first"
        "first" takes the first eigenvectors; "independent" takes those among the first 6 (20, 50 if
        these are overtones) that keep the most neighbours, scaled so that edges are equally long in
        each.

        A list gives the numbers of the eigenvectors; the first is 0.
    unit_variance : bool, default=False
        Whether coordinates have mean square 1, (1/n)YᵀY = I, as Roweis and Saul write it; else YᵀY
        = I, as in scikit-learn.
    verbose : bool or int, default=False
        Whether to print each stage and its seconds to standard error.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Value of the problem for each coordinate.
    certificate_ : TraceCertificate or PiecewiseCertificate
        How far from the optimum the points can be; print it. With `pieces="separate"` it holds the
        certificates of the pieces.
    coordinates_ : tuple of int
        Numbers of the eigenvectors that are the coordinates; the first is 0.
    graph_ : Graph
        The neighbour graph that was embedded, with the edges that joined its pieces.
    landmarks_ : ndarray of int or None
        The rows that were drawn as landmarks; None if all rows were used.
    rows_ : ndarray of int or None
        The rows that the problem is about; None for all rows.
    left_out_ : ndarray of int
        Empty: no row is left out for being far away.
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
    n_components_reason_ : str
        Why there are so many coordinates, in words; only with `n_components="auto"`.
    nbrs_ : sklearn.neighbors.NearestNeighbors
        Neighbour search over the fitted rows, made when it is asked for.
    reconstruction_error_ : float
        Value of the problem: the sum of `eigenvalues_`.
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
    LaplacianEigenmaps : Keeps neighbours close.
    Isomap : Keeps lengths along the surface.
    NeighborhoodPreservingProjection : The same by a linear map.
    dualfold.methods.lle : The problem of the standard form.
    dualfold.methods.modified_lle : The problem of the modified form.
    dualfold.methods.hessian_lle : The problem of the Hessian form.
    dualfold.methods.ltsa : The problem of the tangent form.

    Notes
    -----
    With W the weights, of sum 1, by which neighbours come closest to each row, LLE [1]_ solves::

        minimise tr(Vᵀ(I−W)ᵀ(I−W)V)  subject to  VᵀV = I,  VᵀN = 0

    where N holds the null vectors of I − W, and the points are V. The other forms have another
    matrix: [2]_ "modified", [3]_ "hessian", [4]_ "ltsa".

    **Proof.** The certificate bounds the gap to the optimum from singular values, since squared
    ones would be lost in rounding, and a count of eigenvalues by a sparse factorisation. It is
    proved, rounding errors included. Graphs too large to factorise are "measured": true except with
    a stated probability.

    **Masses.** With `fit(X, masses=m)` rows count by their masses in the centring and in the
    constraint. The graph does not change, so that a mass of 2 differs from two equal rows.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). Local weights take O(n·k²·(k + D))
    operations for k neighbours. The small eigenvalues need a sparse factorisation: about O(n^1.5)
    operations for rows on a surface, and up to O(n³) without such a shape, so that of many such
    rows only a sample is fitted unless `landmarks` or `eigen_solver` says otherwise.

    **Failure.** Noise as large as the neighbourhoods. Groups of rows that list only one another are
    drawn as about one point, with a `PointsCollapse` warning. Lengths on the map mean nothing.
    "hessian" needs more than d(d+3)/2 neighbours for d coordinates, "ltsa" at least d + 2.

    References
    ----------
    .. [1] S. T. Roweis and L. K. Saul, "Nonlinear dimensionality reduction by locally linear
       embedding", Science, 290(5500), 2323–2326, 2000.
    .. [2] Z. Zhang and J. Wang, "MLLE: Modified locally linear embedding using multiple weights",
       Advances in Neural Information Processing Systems 19, 2007.
    .. [3] D. L. Donoho and C. Grimes, "Hessian eigenmaps: Locally linear embedding techniques for
       high-dimensional data", Proceedings of the National Academy of Sciences, 100(10), 5591–5596,
       2003.
    .. [4] Z. Zhang and H. Zha, "Principal manifolds and nonlinear dimensionality reduction via
       tangent space alignment", SIAM Journal on Scientific Computing, 26(1), 313–338, 2004.

    Examples
    --------
    >>> from dualfold import LocallyLinearEmbedding
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(300, random_state=0).points
    >>> model = LocallyLinearEmbedding(n_neighbors=8, method="modified").fit(X)
    >>> model.embedding_.shape, model.certificate_.level
    ((300, 2), 'proved')
    """

    _parameter_constraints: ClassVar[Constraints] = {
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
    random_state: Seed = None
    n_jobs: int | None = None
    radius: float | None = None
    neighborhood: str = "fixed"
    pieces: str = "join"
    graph: GivenGraph = None
    landmarks: int | None = None
    coordinates: Any = "first"
    unit_variance: bool = False
    verbose: bool = False

    fit = fit_with_masses
    fit_transform = fit_transform_with_masses

    def _method(self, context: FitContext = NO_CONTEXT) -> GraphMethod:
        shared = shared_fields(self, context)
        features = shared["rows"].has_features
        drawable = self.eigen_solver == "auto" and features
        return GraphMethod(
            problem=self._problem,
            rule=partial(local_rule, estimator=self),
            answer=answer_settings(self, eigen_solver(self, context), step_scale),
            max_components=partial(max_components, method=self.method),
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
        """Return rows for points of the map.

        Each row is a combination of fitted rows, by the weights of the point among the embedded
        points.

        Parameters
        ----------
        Y : array-like of shape (n_samples, n_components)
            Points of the map.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows in the space of the data.

        Raises
        ------
        InvalidInput
            If pieces were embedded separately.
        """
        check_is_fitted(self)
        if not isinstance(self._placing, LocalWeightsMap):
            raise InvalidInput("there is no way back from pieces that were laid side by side")
        return self._placing.inverse(Y)

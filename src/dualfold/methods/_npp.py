"""Neighbourhood preserving projections, plain and orthogonal."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import ClassVar

from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval

from dualfold.arrays import Metric
from dualfold.graph.graph import Graph, coordinates, refuse_sets
from dualfold.methods.fitting.linear import LinearEstimator, LinearMethod
from dualfold.methods.fitting.projection import (
    DEFAULT_VARIANCE_SHARE,
    ORTHOGONAL_VARIANCE_SHARE,
    PROJECTION_CONSTRAINTS,
    projection_method,
)
from dualfold.methods.fitting.weighted_fit import fit_transform_with_masses, fit_with_masses
from dualfold.methods.maps.linear_map import ProjectionLift
from dualfold.methods.parameters import Constraints, GivenGraph
from dualfold.trace.problem import TraceProblem
from dualfold.weights.reconstruction import reconstruction_error, reconstruction_weights
from dualfold.weights.reduction import row_space
from dualfold.weights.row_weights import validated_masses


def npp(
    graph: Graph,
    *,
    n_components: int = 2,
    ridge: float = 1e-3,
    variance_kept: float = 0.99,
    masses: ArrayLike | None = None,
) -> TraceProblem:
    """Neighbourhood preserving projection (NPP) as a trace problem.

    The problem is::

        minimise ‖(I − W)ZV‖²  subject to  VᵀZᵀZV = I,   points ZV

    W holds the weights of LLE. Z holds the centred data in the leading principal directions, which
    keep the share `variance_kept` of the variance: beyond them a direction would win by having no
    extent, or only noise.

    Parameters
    ----------
    graph : Graph
        Neighbour graph with coordinates, from `dualfold.graph`; it may have several pieces.
    n_components : int, default=2
        Number of coordinates.
    ridge : float, default=0.001
        Ridge of the local weights, as a share of the trace of the local Gram matrix.
    variance_kept : float, default=0.99
        Share of the variance that the data are reduced to first; at least `n_components` directions
        stay.
    masses : array-like of shape (n_samples,) or None, default=None
        Masses M of the rows: the constraint is VᵀZᵀMZV = I, and Z is centred by
        the mean with these weights; None gives every row the mass 1.

    Returns
    -------
    TraceProblem
        The problem.

    See Also
    --------
    NeighborhoodPreservingProjection : The estimator.
    orthogonal_npp : By an orthogonal projection.
    lle : The same with Z = I.

    Notes
    -----
    After the linear map each row is rebuilt from its neighbours by the same weights [1]_. Where
    neighbours outnumber the features and there is no ridge, every row is rebuilt exactly, and every
    direction is as good as any other. With r reduced dimensions and k neighbours the cost is
    O(n·k²·(k + D) + n·r² + r³), beside the reduction, O(n·D·min(n, D)).

    References
    ----------
    .. [1] E. Kokiopoulou and Y. Saad, "Orthogonal neighborhood preserving projections: A
       projection-based dimensionality reduction technique", IEEE Transactions on Pattern Analysis
       and Machine Intelligence, 29(12), 2143–2156, 2007.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.data import digits
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import npp
    >>> answer = embed(npp(knn(digits().points[:200], 10)))
    >>> answer.points.shape, answer.certificate.level
    ((200, 2), 'proved')
    """
    refuse_sets(graph)
    points = coordinates(graph)
    W = reconstruction_weights(points, graph.lists, ridge=ridge)
    space = row_space(points, variance_kept=variance_kept, least=n_components).as_white()
    mean, B = space.mean, space.form(lambda Z: Z)
    if masses is not None:
        m = validated_masses(masses, graph.n)
        mean = space.weighted_mean(m)
        B = space.form(lambda Z: m[:, None] * (Z - m @ Z / graph.n))
    lift = ProjectionLift(space.data, mean, space=space)
    return TraceProblem(space.form(reconstruction_error(W)), B, n_components, "min", lift=lift)


def orthogonal_npp(
    graph: Graph,
    *,
    n_components: int = 2,
    ridge: float = 1e-3,
    variance_kept: float = 0.99,
) -> TraceProblem:
    """Orthogonal neighbourhood preserving projection (ONPP) as a trace problem.

    The problem is::

        minimise ‖(I − W)ZV‖²  subject to  VᵀV = I,   points ZV

    with W and Z as in `npp`. Directions have length 1 among the features, so that the map is a view
    of the data, never stretched.

    Parameters
    ----------
    graph : Graph
        Neighbour graph with coordinates, from `dualfold.graph`; it may have several pieces.
    n_components : int, default=2
        Number of coordinates.
    ridge : float, default=0.001
        Ridge of the local weights, as a share of the trace of the local Gram matrix.
    variance_kept : float, default=0.99
        Share of the variance that the data are reduced to first; at least `n_components` directions
        stay.

    Returns
    -------
    TraceProblem
        The problem.

    See Also
    --------
    OrthogonalNPP : The estimator.
    npp : Without orthogonality.

    Notes
    -----
    Of two directions along which rows are rebuilt equally well, the one with less variance costs
    less [1]_. So the problem favours directions of little variance; lower `variance_kept` where the
    map looks like noise.

    References
    ----------
    .. [1] E. Kokiopoulou and Y. Saad, "Orthogonal neighborhood preserving projections: A
       projection-based dimensionality reduction technique", IEEE Transactions on Pattern Analysis
       and Machine Intelligence, 29(12), 2143–2156, 2007.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.data import digits
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import orthogonal_npp
    >>> answer = embed(orthogonal_npp(knn(digits().points[:200], 10)))
    >>> answer.points.shape, answer.certificate.level
    ((200, 2), 'proved')
    """
    refuse_sets(graph)
    points = coordinates(graph)
    W = reconstruction_weights(points, graph.lists, ridge=ridge)
    space = row_space(points, variance_kept=variance_kept, least=n_components)
    lift = ProjectionLift(space.data, space.mean, space=space)
    return TraceProblem(space.form(reconstruction_error(W)), None, n_components, "min", lift=lift)


_RIDGE_CONSTRAINTS: Constraints = PROJECTION_CONSTRAINTS | {
    "reg": [Interval(Real, 0, None, closed="left")],
}


@dataclass(eq=False, repr=False)
class NeighborhoodPreservingProjection(LinearEstimator):
    """Neighbourhood preserving projection (NPP): LLE by a linear map.

    After the map each row is the same combination of its neighbours as before. New rows are placed
    by a matrix. With `supervised=True` neighbours are of the same class.

    Parameters
    ----------
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" keeps those before the widest eigengap among the first ten.
    n_neighbors : int ≥ 1 or None, default=10
        Number of nearest rows that each row is linked to; None if a `radius` is given.
    radius : float ≥ 0 or None, default=None
        Link each row to all rows within this distance, instead of a fixed number of nearest rows.
    neighborhood : {"fixed", "variable"}, default="fixed"
        "fixed" gives the same number of neighbours to each row; "variable" gives fewer to rows in
        sparse places.
    reg : float ≥ 0, default=0.001
        Ridge of the local weights, as a share of the local trace.
    variance_kept : float in (0, 1] or None, default=None
        Share of the variance that the data are reduced to first; at least as many directions as
        coordinates stay. None is 0.99, and 1 solves the problem of the paper, without a reduction.
    metric : str or callable, default="euclidean"
        Distance between rows for the graph, by its name in scikit-learn; "precomputed" is refused,
        since a linear map needs features, and so are distances of sets ("jaccard", "dice").

        A function of two rows is a metric, too.
    pieces : {"join", "raise"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`. Joining adds no neighbours to the weights.
    supervised : bool, default=False
        Whether to link only rows of the same class. A class with too few rows has fewer neighbours,
        and the pieces are not joined.

        The classes are `y` of `fit`.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours of the rows of X that are known already, so that none are searched: a
        `dualfold.Graph`, a sparse matrix of edge lengths, or the lists that
        `dualfold.graph.nearest` returns. Lists are used where they are long enough and the metric
        is Euclidean; a graph replaces `n_neighbors` and `radius`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map: a row for each coordinate.
    mean_ : ndarray of shape (n_features,)
        What is subtracted from the rows.
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Value of the problem for each coordinate.
    certificate_ : TraceCertificate
        How far from the optimum the coordinates can be; print it.
    graph_ : Graph
        The neighbour graph that was embedded, with the edges that joined its pieces.
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
    n_components_ : int
        Number of coordinates.
    n_components_reason_ : str or None
        Why there are so many coordinates, in words; None unless `n_components="auto"`.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    OrthogonalNPP : By an orthogonal projection.
    LocallyLinearEmbedding : Without a linear map.
    dualfold.methods.npp : The problem that this estimator solves.

    Notes
    -----
    With the weights W of LLE, NPP [1]_ solves::

        minimise ‖(I − W)ZV‖²  subject to  VᵀZᵀZV = I

    and the points are ZV, where Z holds the centred data in their leading principal directions.

    **Proof.** The certificate bounds the gap to the optimum of the reduced problem, rounding errors
    included. It says nothing about what no linear map can show.

    **Masses.** With `fit(X, masses=m)` rows count by their masses in the centring and in the
    constraint. The graph does not change, so that a mass of 2 differs from two equal rows.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). The reduction takes O(n·D·min(n, D))
    operations, the problem O(n·k·r + n·r² + r³) for k neighbours and r reduced dimensions. No n×n
    matrix is formed. For tables in tiles (`dualfold.scale`) neighbours are searched over
    partitions. The weights take O(n·k²·(k + D)) operations.

    **Failure.** What is curved stays curved. Where neighbours outnumber the features and there is
    no ridge, every direction is as good as any other.

    References
    ----------
    .. [1] E. Kokiopoulou and Y. Saad, "Orthogonal neighborhood preserving projections: A
       projection-based dimensionality reduction technique", IEEE Transactions on Pattern Analysis
       and Machine Intelligence, 29(12), 2143–2156, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import NeighborhoodPreservingProjection
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = NeighborhoodPreservingProjection().fit(X)
    >>> model.components_.shape, model.certificate_.level
    ((2, 64), 'proved')
    >>> np.allclose(model.transform(X), model.embedding_)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = _RIDGE_CONSTRAINTS

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    reg: float = 1e-3
    variance_kept: float | None = None
    metric: Metric = "euclidean"
    pieces: str = "join"
    supervised: bool = False
    n_jobs: int | None = None
    graph: GivenGraph = None

    fit = fit_with_masses
    fit_transform = fit_transform_with_masses

    def _method(self) -> LinearMethod:
        return projection_method(self, partial(npp, ridge=self.reg), DEFAULT_VARIANCE_SHARE)


@dataclass(eq=False, repr=False)
class OrthogonalNPP(LinearEstimator):
    """Orthogonal NPP (ONPP): LLE by an orthogonal projection.

    The map is a view of the data, never stretched, in which each row is nearly the same combination
    of its neighbours. With `supervised=True` neighbours are of the same class.

    Parameters
    ----------
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" keeps those before the widest eigengap among the first ten.
    n_neighbors : int ≥ 1 or None, default=10
        Number of nearest rows that each row is linked to; None if a `radius` is given.
    radius : float ≥ 0 or None, default=None
        Link each row to all rows within this distance, instead of a fixed number of nearest rows.
    neighborhood : {"fixed", "variable"}, default="fixed"
        "fixed" gives the same number of neighbours to each row; "variable" gives fewer to rows in
        sparse places.
    reg : float ≥ 0, default=0.001
        Ridge of the local weights, as a share of the local trace.
    variance_kept : float in (0, 1] or None, default=None
        Share of the variance that the data are reduced to first; at least as many directions as
        coordinates stay. None is 0.5, or 0.99 if supervised or with an automatic number of
        coordinates; 1 solves the problem of the paper. Directions of little variance cost less
        here, and without a reduction they would be all that is seen.
    metric : str or callable, default="euclidean"
        Distance between rows for the graph, by its name in scikit-learn; "precomputed" is refused,
        since a linear map needs features, and so are distances of sets ("jaccard", "dice").

        A function of two rows is a metric, too.
    pieces : {"join", "raise"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`. Joining adds no neighbours to the weights.
    supervised : bool, default=False
        Whether to link only rows of the same class. A class with too few rows has fewer neighbours,
        and the pieces are not joined.

        The classes are `y` of `fit`.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours of the rows of X that are known already, so that none are searched: a
        `dualfold.Graph`, a sparse matrix of edge lengths, or the lists that
        `dualfold.graph.nearest` returns. Lists are used where they are long enough and the metric
        is Euclidean; a graph replaces `n_neighbors` and `radius`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map: a row for each coordinate.
    mean_ : ndarray of shape (n_features,)
        What is subtracted from the rows.
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Value of the problem for each coordinate.
    certificate_ : TraceCertificate
        How far from the optimum the coordinates can be; print it.
    graph_ : Graph
        The neighbour graph that was embedded, with the edges that joined its pieces.
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
    n_components_ : int
        Number of coordinates.
    n_components_reason_ : str or None
        Why there are so many coordinates, in words; None unless `n_components="auto"`.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    NeighborhoodPreservingProjection : Without orthogonality.
    PCA : The orthogonal projection with the most variance.
    dualfold.methods.orthogonal_npp : The problem that this estimator solves.

    Notes
    -----
    With the weights W of LLE, ONPP [1]_ solves::

        minimise ‖(I − W)ZV‖²  subject to  VᵀV = I

    and the points are ZV, where Z holds the centred data in their leading principal directions.

    **Proof.** The certificate bounds the gap to the optimum of the reduced problem, rounding errors
    included. It says nothing about what no linear map can show.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). The reduction takes O(n·D·min(n, D))
    operations, the problem O(n·k·r + n·r² + r³) for k neighbours and r reduced dimensions. No n×n
    matrix is formed. For tables in tiles (`dualfold.scale`) neighbours are searched over
    partitions. The weights take O(n·k²·(k + D)) operations.

    **Failure.** What is curved stays curved. Of two directions along which rows are rebuilt equally
    well, the one with less variance costs less: where the map looks like noise, lower
    `variance_kept`.

    References
    ----------
    .. [1] E. Kokiopoulou and Y. Saad, "Orthogonal neighborhood preserving projections: A
       projection-based dimensionality reduction technique", IEEE Transactions on Pattern Analysis
       and Machine Intelligence, 29(12), 2143–2156, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import OrthogonalNPP
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = OrthogonalNPP(variance_kept=0.7).fit(X)
    >>> model.components_.shape, model.certificate_.level
    ((2, 64), 'proved')
    >>> np.allclose(model.components_ @ model.components_.T, np.eye(2))
    True
    """

    _parameter_constraints: ClassVar[Constraints] = _RIDGE_CONSTRAINTS

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    reg: float = 1e-3
    variance_kept: float | None = None
    metric: Metric = "euclidean"
    pieces: str = "join"
    supervised: bool = False
    n_jobs: int | None = None
    graph: GivenGraph = None

    def _method(self) -> LinearMethod:
        problem = partial(orthogonal_npp, ridge=self.reg)
        return projection_method(self, problem, ORTHOGONAL_VARIANCE_SHARE)

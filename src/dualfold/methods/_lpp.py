"""Locality preserving projections, plain and orthogonal."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Metric
from dualfold.graph.graph import Graph, coordinates
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
from dualfold.weights.laplacians import Weights, weighted_laplacian
from dualfold.weights.reduction import row_space
from dualfold.weights.row_weights import validated_masses


def lpp(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    variance_kept: float = 0.99,
    centred: bool = True,
    masses: ArrayLike | None = None,
) -> TraceProblem:
    """Locality preserving projection (LPP) as a trace problem.

    The problem is::

        minimise tr(VᵀZᵀLZV)  subject to  VᵀZᵀDegZV = I,   points ZV

    where L = Deg − W is the Laplacian of the edge weights W. Z holds the data in the leading
    principal directions, which keep the share `variance_kept` of the variance: beyond them a
    direction would win by having no extent, or only noise. Z is centred by the degree-weighted
    mean, so that VᵀZᵀDeg1 = 0.

    Parameters
    ----------
    graph : Graph
        Neighbour graph with coordinates, from `dualfold.graph`; it may have several pieces.
    n_components : int, default=2
        Number of coordinates.
    weights : {"heat", "adaptive", "binary", "density", "precomputed"}, default="heat"
        Weight of an edge: "heat" is exp(−‖x − y‖²/σ²) with σ = width; "adaptive" gives each row a
        width of its own; "binary" is 1; "density" has widths that follow the local density;
        "precomputed" keeps the affinities of `dualfold.graph.from_affinities`.
    width : float or None, default=None
        Width σ of heat weights; None is the root mean square edge length, or more where the longest
        edge would have a weight of nearly 0.
    variance_kept : float, default=0.99
        Share of the variance that the data are reduced to first; at least `n_components` directions
        stay.
    centred : bool, default=True
        Whether to centre the rows. False, with `variance_kept=1`, is the problem as He and Niyogi
        print it (Z = X).
    masses : array-like of shape (n_samples,) or None, default=None
        Masses M of the rows: the constraint is VᵀZᵀMDegZV = I, and Z is centred by
        the mean with the weights MDeg; None gives every row the mass 1.

    Returns
    -------
    TraceProblem
        The problem.

    See Also
    --------
    LocalityPreservingProjection : The estimator.
    orthogonal_lpp : By an orthogonal projection.
    eigenmaps : The same with Z = I.

    Notes
    -----
    The map [1]_ shows nothing that no linear map can show. One map serves all pieces of a graph,
    and may draw each of them together. With r reduced dimensions and k neighbours the cost is
    O(n·k·r + n·r² + r³), beside the reduction, O(n·D·min(n, D)).

    References
    ----------
    .. [1] X. He and P. Niyogi, "Locality preserving projections", Advances in Neural Information
       Processing Systems 16, 2004.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.data import digits
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import lpp
    >>> answer = embed(lpp(knn(digits().points[:200], 10)))
    >>> answer.points.shape, answer.certificate.level
    ((200, 2), 'proved')
    """
    laplacian, degrees = weighted_laplacian(graph, weights=weights, width=width)
    if masses is not None:
        degrees = degrees * validated_masses(masses, graph.n)
    points = coordinates(graph)
    space = row_space(points, variance_kept=variance_kept, least=n_components, centred=centred)
    space = space.as_white()
    # Deg − Deg11ᵀDeg/(1ᵀDeg1): the degrees, with the weighted mean taken out.
    means = degrees / degrees.sum() if centred else np.zeros(graph.n)
    return TraceProblem(
        space.form(lambda Z: laplacian @ Z),
        space.form(lambda Z: degrees[:, None] * (Z - means @ Z)),
        n_components,
        "min",
        lift=ProjectionLift(
            space.data, space.weighted_mean(degrees) if centred else space.mean, space=space
        ),
    )


def orthogonal_lpp(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    variance_kept: float = 0.99,
) -> TraceProblem:
    """Orthogonal locality preserving projection as a trace problem.

    The problem is::

        minimise tr(VᵀZᵀLZV)  subject to  VᵀV = I,   points ZV

    with L and Z as in `lpp`. Directions have length 1 among the features, so that the map is a view
    of the data, never stretched.

    Parameters
    ----------
    graph : Graph
        Neighbour graph with coordinates, from `dualfold.graph`; it may have several pieces.
    n_components : int, default=2
        Number of coordinates.
    weights : {"heat", "adaptive", "binary", "density", "precomputed"}, default="heat"
        Weight of an edge: "heat" is exp(−‖x − y‖²/σ²) with σ = width; "adaptive" gives each row a
        width of its own; "binary" is 1; "density" has widths that follow the local density;
        "precomputed" keeps the affinities of `dualfold.graph.from_affinities`.
    width : float or None, default=None
        Width σ of heat weights; None is the root mean square edge length, or more where the longest
        edge would have a weight of nearly 0.
    variance_kept : float, default=0.99
        Share of the variance that the data are reduced to first; at least `n_components` directions
        stay.

    Returns
    -------
    TraceProblem
        The problem.

    See Also
    --------
    OrthogonalLPP : The estimator.
    lpp : Without orthogonality.

    Notes
    -----
    Of two directions along which neighbours are equally alike, the one with less variance costs
    less [1]_. So the problem favours directions of little variance; lower `variance_kept` where the
    map looks like noise.

    References
    ----------
    .. [1] E. Kokiopoulou, J. Chen and Y. Saad, "Trace optimization and eigenproblems in dimension
       reduction methods", Numerical Linear Algebra with Applications, 18(3), 565–602, 2011.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.data import digits
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import orthogonal_lpp
    >>> answer = embed(orthogonal_lpp(knn(digits().points[:200], 10)))
    >>> answer.points.shape, answer.certificate.level
    ((200, 2), 'proved')
    """
    laplacian, degrees = weighted_laplacian(graph, weights=weights, width=width)
    points = coordinates(graph)
    space = row_space(points, variance_kept=variance_kept, least=n_components)
    lift = ProjectionLift(space.data, space.weighted_mean(degrees), space=space)
    return TraceProblem(space.form(lambda Z: laplacian @ Z), None, n_components, "min", lift=lift)


_WEIGHT_CONSTRAINTS: Constraints = PROJECTION_CONSTRAINTS | {
    "weights": [StrOptions({"heat", "binary", "density"})],
    "width": [Interval(Real, 0, None, closed="neither"), None],
}


@dataclass(eq=False, repr=False)
class LocalityPreservingProjection(LinearEstimator):
    """Locality preserving projection (LPP): keep neighbours close by a linear map.

    These are Laplacian eigenmaps among linear maps, so that new rows are placed by a matrix. With
    `supervised=True` neighbours are of the same class.

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
    weights : {"heat", "binary", "density"}, default="heat"
        Weight of an edge: "heat" is exp(−‖x − y‖²/σ²) with σ the width, "binary" is 1, and
        "density" has widths that follow the local density.
    width : float > 0 or None, default=None
        Width σ of heat weights; None is the root mean square edge length, or more where the longest
        edge would have a weight of nearly 0.
    variance_kept : float in (0, 1] or None, default=None
        Share of the variance that the data are reduced to first; at least as many directions as
        coordinates stay. None is 0.99, and 1 solves the problem of the paper, without a reduction.
    centred : bool, default=True
        Whether to centre the rows; False is as He and Niyogi print the problem.
    metric : str or callable, default="euclidean"
        Distance between rows for the graph, by its name in scikit-learn; "precomputed" is refused,
        since a linear map needs features.

        A function of two rows is a metric, too.
    pieces : {"join", "raise"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`.
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
    OrthogonalLPP : By an orthogonal projection.
    LaplacianEigenmaps : Without a linear map.
    FisherDiscriminant : For classes, by their means.
    dualfold.methods.lpp : The problem that this estimator solves.

    Notes
    -----
    With the edge weights W and L = Deg − W, LPP [1]_ solves::

        minimise tr(VᵀZᵀLZV)  subject to  VᵀZᵀDegZV = I

    and the points are ZV, where Z holds the data in their leading principal directions.

    **Proof.** The certificate bounds the gap to the optimum of the reduced problem, rounding errors
    included. It says nothing about what no linear map can show.

    **Masses.** With `fit(X, masses=m)` rows count by their masses in the centring and in the
    constraint. The graph does not change, so that a mass of 2 differs from two equal rows.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). The reduction takes O(n·D·min(n, D))
    operations, the problem O(n·k·r + n·r² + r³) for k neighbours and r reduced dimensions. No n×n
    matrix is formed. For tables in tiles (`dualfold.scale`) neighbours are searched over
    partitions.

    **Failure.** What is curved stays curved. A direction of little extent may win by noise alone:
    lower `variance_kept`.

    References
    ----------
    .. [1] X. He and P. Niyogi, "Locality preserving projections", Advances in Neural Information
       Processing Systems 16, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import LocalityPreservingProjection
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = LocalityPreservingProjection().fit(X)
    >>> model.components_.shape, model.certificate_.level
    ((2, 64), 'proved')
    >>> np.allclose(model.transform(X), model.embedding_)
    True
    """

    _parameter_constraints: ClassVar[Constraints] = _WEIGHT_CONSTRAINTS | {"centred": ["boolean"]}

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    weights: Weights = "heat"
    width: float | None = None
    variance_kept: float | None = None
    centred: bool = True
    metric: Metric = "euclidean"
    pieces: str = "join"
    supervised: bool = False
    n_jobs: int | None = None
    graph: GivenGraph = None

    fit = fit_with_masses
    fit_transform = fit_transform_with_masses

    def _method(self) -> LinearMethod:
        problem = partial(lpp, weights=self.weights, width=self.width, centred=self.centred)
        return projection_method(self, problem, DEFAULT_VARIANCE_SHARE)


@dataclass(eq=False, repr=False)
class OrthogonalLPP(LinearEstimator):
    """Orthogonal LPP: keep neighbours close by an orthogonal projection.

    The map is a view of the data, never stretched. With `supervised=True` neighbours are of the
    same class.

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
    weights : {"heat", "binary", "density"}, default="heat"
        Weight of an edge: "heat" is exp(−‖x − y‖²/σ²) with σ the width, "binary" is 1, and
        "density" has widths that follow the local density.
    width : float > 0 or None, default=None
        Width σ of heat weights; None is the root mean square edge length, or more where the longest
        edge would have a weight of nearly 0.
    variance_kept : float in (0, 1] or None, default=None
        Share of the variance that the data are reduced to first; at least as many directions as
        coordinates stay. None is 0.5, or 0.99 if supervised or with an automatic number of
        coordinates; 1 solves the problem of the paper. Directions of little variance cost less
        here, and without a reduction they would be all that is seen.
    metric : str or callable, default="euclidean"
        Distance between rows for the graph, by its name in scikit-learn; "precomputed" is refused,
        since a linear map needs features.

        A function of two rows is a metric, too.
    pieces : {"join", "raise"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`.
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
    LocalityPreservingProjection : Without orthogonality.
    PCA : The orthogonal projection with the most variance.
    dualfold.methods.orthogonal_lpp : The problem that this estimator solves.

    Notes
    -----
    With the edge weights W and L = Deg − W, orthogonal LPP [1]_ solves::

        minimise tr(VᵀZᵀLZV)  subject to  VᵀV = I

    and the points are ZV, where Z holds the data in their leading principal directions.

    **Proof.** The certificate bounds the gap to the optimum of the reduced problem, rounding errors
    included. It says nothing about what no linear map can show.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). The reduction takes O(n·D·min(n, D))
    operations, the problem O(n·k·r + n·r² + r³) for k neighbours and r reduced dimensions. No n×n
    matrix is formed. For tables in tiles (`dualfold.scale`) neighbours are searched over
    partitions.

    **Failure.** What is curved stays curved. Of two directions along which neighbours are equally
    alike, the one with less variance costs less: where the map looks like noise, lower
    `variance_kept`.

    References
    ----------
    .. [1] E. Kokiopoulou, J. Chen and Y. Saad, "Trace optimization and eigenproblems in dimension
       reduction methods", Numerical Linear Algebra with Applications, 18(3), 565–602, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import OrthogonalLPP
    >>> from dualfold.data import digits
    >>> X = digits().points[:500]
    >>> model = OrthogonalLPP(variance_kept=0.7).fit(X)
    >>> model.components_.shape, model.certificate_.level
    ((2, 64), 'proved')
    >>> np.allclose(model.components_ @ model.components_.T, np.eye(2))
    True
    """

    _parameter_constraints: ClassVar[Constraints] = _WEIGHT_CONSTRAINTS

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    weights: Weights = "heat"
    width: float | None = None
    variance_kept: float | None = None
    metric: Metric = "euclidean"
    pieces: str = "join"
    supervised: bool = False
    n_jobs: int | None = None
    graph: GivenGraph = None

    def _method(self) -> LinearMethod:
        problem = partial(orthogonal_lpp, weights=self.weights, width=self.width)
        return projection_method(self, problem, ORTHOGONAL_VARIANCE_SHARE)

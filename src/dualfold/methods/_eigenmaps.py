"""Laplacian eigenmaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array, Metric, Rows, Seed
from dualfold.embedding import Embedding
from dualfold.errors import InvalidInput
from dualfold.graph import from_affinities
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext
from dualfold.methods.fitting.coordinates import eigenvalue_scale
from dualfold.methods.fitting.graph_estimator import (
    LEFT_OUT_CONSTRAINTS,
    GraphEstimator,
    answer_settings,
    eigen_solver,
    shared_fields,
)
from dualfold.methods.fitting.graph_fit import GraphMethod
from dualfold.methods.fitting.rules import near_mean, nystrom_rule
from dualfold.methods.fitting.weighted_fit import fit_transform_with_masses, fit_with_masses
from dualfold.methods.maps.attraction_map import AttractionMap
from dualfold.methods.parameters import Constraints, GivenGraph
from dualfold.trace.lift import CoordinateScale, DiffusionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.laplacians import Weights, affinity, weighted_laplacian

Constraint = Literal["degree", "identity"]


def eigenmaps(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    constraint: Constraint = "degree",
) -> TraceProblem:
    """Laplacian eigenmaps as a trace problem.

    The problem is one of::

        minimise tr(VᵀLV)  subject to  VᵀDegV = I,  VᵀDeg1 = 0      ("degree": Lv = λ·Deg·v)
                                       VᵀV = I,     Vᵀ1 = 0         ("identity": Lv = λv)

    where L = Deg − W is the Laplacian of the edge weights W, and the points are V.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.
    weights : {"heat", "adaptive", "binary", "density", "precomputed"}, default="heat"
        Weight of an edge: "heat" is exp(−‖x − y‖²/σ²) with σ = width; "adaptive" gives each row a
        width of its own; "binary" is 1; "density" has widths that follow the local density;
        "precomputed" keeps the affinities of `dualfold.graph.from_affinities`.
    width : float or None, default=None
        Width σ of heat weights; None is the root mean square edge length, or more where the longest
        edge would have a weight of nearly 0.
    constraint : {"degree", "identity"}, default="degree"
        "degree" is the normalised map of Belkin and Niyogi; "identity" is LE of Tucker (Proposition
        3.2).

    Returns
    -------
    TraceProblem
        The problem.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    See Also
    --------
    LaplacianEigenmaps : The estimator.
    diffusion_maps : The same as a random walk.
    lpp : The same by a linear map.

    Notes
    -----
    The map [1]_ keeps neighbours close, near ones most. With "identity" and the paper's
    neighbourhoods, Tucker's ALE [2]_ has weights "density" on a fixed and VLE weights "heat" on a
    variable number of neighbours. A long strip has higher harmonics of its long direction among its
    first eigenvectors, so that the first two coordinates lie on a curve: this belongs to the
    method, not to the solver. L has O(n·k) entries for k neighbours.

    References
    ----------
    .. [1] M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
       representation", Neural Computation, 15(6), 1373–1396, 2003.
    .. [2] Lucas Tucker, "Dimensionality reduction and the Fenchel game", manuscript.

    Examples
    --------
    A path of 6 points has the eigenvalues 2 − 2cos(πk/6):

    >>> import numpy as np
    >>> from dualfold import embed
    >>> from dualfold.graph import radius
    >>> from dualfold.methods import eigenmaps
    >>> path = radius(np.arange(6.0)[:, None], 1.0)
    >>> answer = embed(eigenmaps(path, weights="binary", constraint="identity"))
    >>> print(answer.values.round(4), answer.certificate.level)
    [0.2679 1.    ] proved
    """
    laplacian, degrees = weighted_laplacian(one_piece(graph), weights=weights, width=width)
    B = degrees if constraint == "degree" else None
    return TraceProblem(laplacian, B, n_components, "min", excluded=np.ones(graph.n))


def eigenmaps_problem(
    graph: Graph,
    n_components: int,
    *,
    weights: Weights,
    width: float | None,
    constraint: Constraint,
    time: float | None,
) -> TraceProblem:
    """`eigenmaps`, with coordinates after a `time` of diffusion where one is given."""
    problem = eigenmaps(
        graph, n_components=n_components, weights=weights, width=width, constraint=constraint
    )
    return problem if time is None else replace(problem, lift=DiffusionLift(time))


def diffused_scale(time: float) -> Callable[[Graph, TraceProblem], DiffusionLift]:
    """The scale of coordinates after a `time` of diffusion."""
    return lambda graph, problem: DiffusionLift(time)


@dataclass(eq=False, repr=False)
class LaplacianEigenmaps(GraphEstimator):
    """Laplacian eigenmaps: keep neighbours close, near ones most.

    With its defaults it is the normalised map of Belkin and Niyogi.
    `LaplacianEigenmaps.named("LE")`, "VLE", "ALE" and "VALE" are those of Tucker.

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
    weights : {"adaptive", "binary", "density", "heat", "precomputed"}, default="adaptive"
        Weight of an edge: "adaptive" gives each row a kernel width of its own, "heat" one width to
        all, "binary" is 1, and "density" has widths that follow the local density.

        "precomputed" means that X is a square matrix of affinities.
    width : float > 0 or None, default=None
        Kernel width σ of heat weights exp(−‖x − y‖²/σ²). None is the root mean square edge length,
        or more where the longest edge would have a weight of nearly 0.
    constraint : {"degree", "identity"}, default="degree"
        "degree" solves Lv = λ·Deg·v (normalised, as Belkin and Niyogi); "identity" solves Lv = λv
        (as Tucker).
    diffusion_time : float ≥ 0 or None, default=None
        Number t of diffusion steps: coordinate k is multiplied by `|1 − λ_k|^t`, as in diffusion
        maps. None leaves the coordinates as they are.
    coordinates : {"first", "independent"} or array-like of int, default="first"
        "first" takes the first eigenvectors; "independent" takes those among the first 6 (20, 50 if
        these are overtones) that keep the most neighbours, scaled by 1/√λ.

        A list gives the numbers of the eigenvectors; the first is 0.
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
    eigen_solver : {"auto", "arpack", "dense", "factored", "lanczos", "preconditioned"}, \
            default="auto"
        How eigenvectors are computed: "auto" chooses by the predicted work; "arpack" is another
        name of "lanczos".

        "dense" calls LAPACK, "lanczos" needs products with the matrix only, "factored" factorises
        the shifted sparse matrix, and "preconditioned" uses algebraic multigrid or an incomplete
        factorisation.
    tol : float ≥ 0, default=0.0
        Relative residual at which the solver stops, if it lies between 0 and 1e-6; any other value
        means 1e-6.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's start; None means 0, so that runs agree.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours of the rows of X that are known already, so that none are searched: a
        `dualfold.Graph`, a sparse matrix of edge lengths, or the lists that
        `dualfold.graph.nearest` returns. Lists are used where they are long enough and the metric
        is Euclidean; a graph replaces `n_neighbors` and `radius`.
    left_out : array-like of int or None, default=None
        Rows that are not part of the problem and are placed as new rows are. None leaves out small
        groups of rows that so few edges link to the others that they would dominate a coordinate;
        `()` leaves no row out.
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
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
    left_out_ : ndarray of int
        The rows that were left out of the problem.
    rows_ : ndarray of int or None
        The rows that the problem is about; None for all rows.
    landmarks_ : None
        No row is drawn at random: all rows of the problem make the graph.
    n_components_reason_ : str
        Why there are so many coordinates, in words; only with `n_components="auto"`.
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
    DiffusionMaps : The same as a random walk, with a scale and a correction for density.
    SpectralEmbedding : The same, as scikit-learn has it.
    LocalityPreservingProjection : The same by a linear map.
    dualfold.methods.eigenmaps : The problem that this estimator solves.

    Notes
    -----
    With the edge weights W and the Laplacian L = Deg − W, eigenmaps [1]_ solve::

        minimise tr(VᵀLV)  subject to  VᵀDegV = I,  VᵀDeg1 = 0     (constraint="degree")
                                       VᵀV = I,     Vᵀ1 = 0        (constraint="identity")

    and the points are V. Tucker's variants are in [2]_. `transform` places new rows by Nyström's
    equation, as means of their neighbours [3]_.

    **Proof.** The certificate bounds the gap to the optimum from the eigenvectors and a count of
    the eigenvalues below them (the signs of the pivots of a factorisation). It is proved, rounding
    errors included; for graphs that are too large to factorise it is "measured": true except with a
    stated probability.

    **Masses.** With `fit(X, masses=m)` rows count by their masses in the centring and in the
    constraint. The graph does not change, so that a mass of 2 differs from two equal rows.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). The eigenvectors come from a sparse
    factorisation where the graph has small separators (about O(n^1.5) operations and O(n log n)
    memory for rows on a surface), else from products with the sparse matrix, O(n·k) each for k
    neighbours.

    **Failure.** Data that are much longer than wide have higher harmonics (overtones) of the long
    direction among their first eigenvectors, and the map is a curve: use
    `coordinates="independent"`. Lengths on the map mean nothing. A small group of outlying rows can
    dominate a coordinate, which `left_out` prevents.

    References
    ----------
    .. [1] M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data
       representation", Neural Computation, 15(6), 1373–1396, 2003.
    .. [2] Lucas Tucker, "Dimensionality reduction and the Fenchel game", manuscript.
    .. [3] Y. Bengio, J.-F. Paiement, P. Vincent, O. Delalleau, N. Le Roux and M. Ouimet,
       "Out-of-sample extensions for LLE, Isomap, MDS, eigenmaps, and spectral clustering", Advances
       in Neural Information Processing Systems 16, 2004.

    Examples
    --------
    A ring of 12 points, each linked to the next, has the eigenvalue 1 − cos 30° twice:

    >>> import numpy as np
    >>> from dualfold import LaplacianEigenmaps
    >>> turn = np.arange(12) * np.pi / 6
    >>> ring = np.column_stack([np.cos(turn), np.sin(turn)])
    >>> model = LaplacianEigenmaps(n_neighbors=2, weights="binary").fit(ring)
    >>> print(model.eigenvalues_.round(4), model.certificate_.level)
    [0.134 0.134] proved
    """

    _parameter_constraints: ClassVar[Constraints] = LEFT_OUT_CONSTRAINTS | {
        "weights": [StrOptions({"adaptive", "heat", "binary", "density", "precomputed"})],
        "width": [Interval(Real, 0, None, closed="neither"), None],
        "constraint": [StrOptions({"degree", "identity"})],
        "diffusion_time": [Interval(Real, 0, None, closed="left"), None],
    }

    n_components: int | str = 2
    _: KW_ONLY
    n_neighbors: int | None = 10
    radius: float | None = None
    neighborhood: str = "fixed"
    weights: str = "adaptive"
    width: float | None = None
    constraint: str = "degree"
    diffusion_time: float | None = None
    coordinates: Any = "first"
    metric: Metric = "minkowski"
    p: float = 2
    metric_params: dict[str, object] | None = None
    pieces: str = "join"
    eigen_solver: str = "auto"
    tol: float = 0.0
    random_state: Seed = None
    n_jobs: int | None = None
    graph: GivenGraph = None
    left_out: Any = None
    verbose: bool = False

    @classmethod
    def named(cls, name: str, **others: Any) -> Self:
        """Make the estimator of one of Tucker's algorithms.

        The neighbourhoods are those of the paper: "LE" has a fixed number of 10 neighbours and heat
        weights, "ALE" a fixed number of 20 and density weights, "VLE" a variable number up to 18
        and heat weights, "VALE" a variable number up to 18 and density weights. They solve Lv = λv.
        "normalised LE" and so on solve Lv = λ·Deg·v.

        Parameters
        ----------
        name : str
            Name of the algorithm: "LE", "ALE", "VLE" or "VALE", with "normalised " before it or
            not.
        **others : object
            Further parameters of the estimator.

        Returns
        -------
        LaplacianEigenmaps
            The estimator, not yet fitted.

        Raises
        ------
        InvalidInput
            If there is no algorithm of that name.
        """
        settings: dict[str, dict[str, Any]] = {
            "LE": {"n_neighbors": 10, "weights": "heat"},
            "ALE": {"n_neighbors": 20, "weights": "density"},
            "VLE": {"n_neighbors": 18, "neighborhood": "variable", "weights": "heat"},
            "VALE": {"n_neighbors": 18, "neighborhood": "variable", "weights": "density"},
        }
        plain = name.removeprefix("normalised ")
        if plain not in settings:
            raise InvalidInput(
                f"there is no algorithm {name!r}; there are {', '.join(settings)} (Lv = λv) and "
                "the same with 'normalised ' before the name (Lv = λ·Deg·v)"
            )
        constraint = "identity" if plain == name else "degree"
        return cls(**(settings[plain] | {"constraint": constraint, "left_out": ()} | others))

    fit = fit_with_masses
    fit_transform = fit_transform_with_masses

    def _method(self, context: FitContext = NO_CONTEXT) -> GraphMethod:
        shared, time = shared_fields(self, context), self.diffusion_time
        scale = eigenvalue_scale if time is None else diffused_scale(time)
        weights: Any = self.weights
        constraint: Any = self.constraint
        if weights == "precomputed":
            shared["graph"] = _graph_of_affinities
        return GraphMethod(
            problem=partial(
                eigenmaps_problem,
                weights=weights,
                width=self.width,
                constraint=constraint,
                time=time,
            ),
            rule=self._rule,
            answer=answer_settings(self, eigen_solver(self, context), scale),
            leaves_groups_out=True,
            **shared,
        )

    def _rule(self, graph: Graph, embedding: Embedding) -> Callable[[Rows], Array]:
        if self.weights == "precomputed":
            return _refuse_new_affinities
        rule = affinity(graph, weights=self.weights, width=self.width)  # type: ignore[arg-type]
        first = isinstance(self.coordinates, str) and self.coordinates == "first"
        scale: CoordinateScale | None = (
            None if first else eigenvalue_scale(graph, embedding.problem)
        )
        if self.diffusion_time is not None:
            scale = DiffusionLift(self.diffusion_time)
        return nystrom_rule(graph, embedding, rule, self.constraint, scale)

    def second_rule(self, graph: Any, points: Array, landmarks: Rows) -> AttractionMap | None:
        """Return the rule that places a new row at the mean of a few nearest landmarks.

        For tables in tiles, held-out rows decide between this rule and Nyström's.

        Parameters
        ----------
        graph : Graph
            Neighbour graph of the landmarks.
        points : ndarray of shape (n_landmarks, n_components)
            Points of the landmarks.
        landmarks : array-like of shape (n_landmarks, n_features)
            Rows of the landmarks.

        Returns
        -------
        AttractionMap or None
            The rule; None if pieces were embedded separately.
        """
        return near_mean(self, graph, points, landmarks)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = "precomputed" in (self.metric, self.weights)
        return tags


def _graph_of_affinities(X: Rows, given: Any) -> Graph:
    return from_affinities(X)


def _refuse_new_affinities(X: Rows) -> Array:
    raise InvalidInput(
        "new points cannot be placed when the affinities were given; fit on features instead"
    )

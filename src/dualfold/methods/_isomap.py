"""Isomap, of all points and of landmarks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array, Metric, Seed
from dualfold.embedding import Embedding
from dualfold.graph.geodesics import (
    farthest_points,
    geodesic_distances,
    geodesic_kind,
    geodesic_rounding,
    landmarks_at,
)
from dualfold.graph.graph import Graph
from dualfold.graph.pair_sums import geodesic_residual_variance
from dualfold.graph.pieces import one_piece, separate
from dualfold.methods._mds import (
    MAX_SPECTRUM_ROWS,
    NegativeMass,
    negative_mass,
    unknown_mass_note,
)
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext
from dualfold.methods.fitting.graph_estimator import (
    GRAPH_CONSTRAINTS,
    GraphEstimator,
    answer_settings,
    eigen_solver,
    shared_fields,
)
from dualfold.methods.fitting.graph_fit import GraphMethod
from dualfold.methods.fitting.solver_choice import seed_of
from dualfold.methods.maps.landmark_map import GeodesicMap, LandmarkLift
from dualfold.methods.parameters import Constraints, GivenGraph
from dualfold.trace.lift import ScaledVectorLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.gram import MAX_FLOAT64_ROWS, centred_gram
from dualfold.weights.precision import centred_distances_error, joined_sentences, rounding_sentence

# Up to this many points all geodesics are kept.
MAX_EXACT_ROWS = 10_000


def isomap(graph: Graph, *, n_components: int = 2, dtype: Any = None) -> TraceProblem:
    """Isomap as a trace problem: keep the shortest-path distances of a graph.

    The problem is::

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH,   points VΛ^½

    where Δ holds the squared lengths of the shortest paths and H = I − 11ᵀ/n centres. A surface
    that can be laid flat without stretching, and whose outline is convex, is recovered.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.
    dtype : dtype or None, default=None
        Precision of K; None is float64 up to 4,000 rows and float32, half the memory, beyond.

    Returns
    -------
    TraceProblem
        The problem. Where float32 rounds, its field `about` says by how much.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    See Also
    --------
    Isomap : The estimator.
    landmark_isomap : The same for some rows, which place the others.

    Notes
    -----
    K is one dense n×n matrix, and the only one that is made; all shortest paths take O(n²·(k + log
    n)) operations for k neighbours. The method [1]_ fails where an edge cuts across a gap (too many
    neighbours), around holes, which it stretches, and on surfaces that cannot be laid flat: K then
    has large negative eigenvalues.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for
       nonlinear dimensionality reduction", Science, 290(5500), 2319–2323, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import embed
    >>> from dualfold.graph import radius
    >>> from dualfold.methods import isomap
    >>> path = radius(np.arange(6.0)[:, None], 1.0)
    >>> answer = embed(isomap(path, n_components=1))
    >>> print(answer.values, answer.certificate.level)
    [17.5] proved
    """
    dtype = dtype or (np.float64 if graph.n <= MAX_FLOAT64_ROWS else geodesic_kind(graph))
    distances = geodesic_distances(one_piece(graph), dtype=dtype)
    K = centred_gram(distances, out=distances)
    error = centred_distances_error(K, geodesic_rounding(graph, dtype), K.dtype)
    about = rounding_sentence(error, K, K.dtype)
    return TraceProblem(K, None, n_components, "max", lift=ScaledVectorLift(), about=about)


def landmark_count(n: int) -> int | None:
    """Number of landmarks that stand for n rows; None where all rows are used.

    All rows up to 10,000; of more about 2√n, at least 200, at most 1,000, and no more than 2 GiB of
    float32 distances hold.

    Parameters
    ----------
    n : int
        Number of rows.

    Returns
    -------
    int or None
        Number of landmarks.

    See Also
    --------
    landmark_isomap : Isomap of landmarks.

    Examples
    --------
    >>> from dualfold.methods import landmark_count
    >>> landmark_count(10_000), landmark_count(40_000)
    (None, 400)
    """
    if n <= MAX_EXACT_ROWS:
        return None
    return min(1_000, max(200, int(2 * n**0.5)), 2**29 // n)


def landmark_isomap(graph: Graph, landmarks: Any, *, n_components: int = 2) -> TraceProblem:
    """Isomap of some rows as a trace problem; the other rows are placed by them.

    The problem is::

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH over the m landmarks,
        points ½Λ^-½Vᵀ(δ̄ − δ_x)

    where δ_x holds the squared shortest-path distances from x to the landmarks, and δ̄ their means
    over the landmarks. With every row a landmark it is `isomap`.

    Parameters
    ----------
    graph : Graph
        Neighbour graph in one piece, from `dualfold.graph`.
    landmarks : array-like of int or Landmarks
        Row numbers, or what `dualfold.graph.farthest_points` returned, which has the distances
        already.
    n_components : int, default=2
        Number of coordinates.

    Returns
    -------
    TraceProblem
        The problem of the landmarks, whose lift places all rows.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    See Also
    --------
    Isomap : The estimator.
    isomap : The same for all rows.

    Notes
    -----
    m landmarks [1]_ need O(m·n) memory and O(m·n·(k + log n)) operations. The certificate is about
    the m×m problem: it says nothing about how well the landmarks stand for all rows.

    References
    ----------
    .. [1] V. de Silva and J. B. Tenenbaum, "Global versus local methods in nonlinear dimensionality
       reduction", Advances in Neural Information Processing Systems 15, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import embed
    >>> from dualfold.graph import radius
    >>> from dualfold.methods import landmark_isomap
    >>> path = radius(np.arange(6.0)[:, None], 1.0)
    >>> answer = embed(landmark_isomap(path, [0, 5], n_components=1))
    >>> print(np.abs(np.diff(answer.points[:, 0])).round(6))
    [1. 1. 1. 1. 1.]
    """
    chosen = landmarks_at(one_piece(graph), landmarks)
    between = chosen.distances[:, chosen.indices].astype(float)
    K = centred_gram((between + between.T) / 2)
    kind = chosen.distances.dtype
    error = centred_distances_error(K, geodesic_rounding(graph, kind), K.dtype)
    about = joined_sentences(
        f"the {len(chosen.indices)} landmarks; the other points are placed by them",
        rounding_sentence(error, K, kind),
    )
    return TraceProblem(K, None, n_components, "max", lift=LandmarkLift(chosen), about=about)


def isomap_problem(
    graph: Graph, n_components: int, *, landmarks: int | str | None, seed: int = 0
) -> TraceProblem:
    """`isomap` or `landmark_isomap`, as `landmarks` says: "auto" by the number of points."""
    count = landmark_count(graph.n) if landmarks == "auto" else landmarks
    if count is None or int(count) >= graph.n:
        return isomap(graph, n_components=n_components)
    corners = farthest_points(graph, max(int(count), n_components + 1), random_state=seed)
    return landmark_isomap(graph, corners, n_components=n_components)


def geodesic_rule(graph: Graph, embedding: Embedding) -> GeodesicMap:
    """New rows by their geodesics to the landmarks, or to all points."""
    return GeodesicMap.of(graph, embedding.problem, embedding.solution.vectors, embedding.values)


@dataclass(eq=False, repr=False, kw_only=True)
class Isomap(GraphEstimator):
    """Isomap: classical scaling of the shortest-path distances in a neighbour graph.

    Isomap keeps the distances along the surface that the rows lie on. This estimator is a drop-in
    replacement for `sklearn.manifold.Isomap`, with landmarks for large tables, a choice of
    neighbourhoods, and a certificate.

    Parameters
    ----------
    n_neighbors : int ≥ 1 or None, default=5
        Number of nearest rows that each row is linked to; None if a `radius` is given.
    radius : float ≥ 0 or None, default=None
        Link each row to all rows within this distance, instead of a fixed number of nearest rows.
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" keeps those before the widest eigengap among the first ten.
    eigen_solver : {"auto", "arpack", "dense", "factored", "lanczos", "preconditioned"}, \
            default="auto"
        How eigenvectors are computed: "auto" chooses by the predicted work; "arpack" is another
        name of "lanczos".

        "dense" calls LAPACK, "lanczos" needs products with the matrix only, "factored" factorises
        the shifted sparse matrix, and "preconditioned" uses algebraic multigrid or an incomplete
        factorisation.
    tol : float ≥ 0, default=0
        Relative residual at which the solver stops, if it lies between 0 and 1e-6; any other value
        means 1e-6.
    max_iter : int ≥ 1 or None, default=None
        Ignored; it is accepted so that code written for scikit-learn runs.
    path_method : {"auto", "D", "FW"}, default="auto"
        Ignored; it is accepted so that code written for scikit-learn runs.
    neighbors_algorithm : {"auto", "ball_tree", "brute", "kd_tree"}, default="auto"
        Ignored; it is accepted so that code written for scikit-learn runs.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    metric : str or callable, default="minkowski"
        Distance between rows, by its name in scikit-learn; "precomputed" means that X is a square
        matrix of distances.

        A function of two rows is a metric, too.
    p : float ≥ 1, default=2
        Power of the Minkowski metric: 2 is the Euclidean, 1 the Manhattan distance. Other metrics
        ignore it.
    metric_params : dict or None, default=None
        Further arguments of the metric, by name.
    landmarks : int ≥ 2, "auto" or None, default="auto"
        "auto" embeds up to 10,000 rows exactly and, of more, about 2√n landmarks, which place the
        other rows; None embeds all rows; a number is that of the landmarks, which are chosen far
        from one another.
    neighborhood : {"fixed", "variable"}, default="fixed"
        "fixed" gives the same number of neighbours to each row; "variable" gives fewer to rows in
        sparse places.
    pieces : {"join", "raise", "separate"}, default="join"
        What to do with a graph in several pieces (connected components): "join" adds the shortest
        edges between them, with a warning; "separate" embeds each piece by itself, side by side;
        "raise" refuses.

        The error is `dualfold.errors.DisconnectedGraph`, the warning
        `dualfold.errors.PiecesJoined`.
    random_state : int, RandomState instance or None, default=None
        Seed of the solver's start and of the first landmark; None means 0, so that runs agree.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours of the rows of X that are known already, so that none are searched: a
        `dualfold.Graph`, a sparse matrix of edge lengths, or the lists that
        `dualfold.graph.nearest` returns. Lists are used where they are long enough and the metric
        is Euclidean; a graph replaces `n_neighbors` and `radius`.
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
    graph_ : Graph
        The neighbour graph that was embedded, with the edges that joined its pieces.
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
    n_components_reason_ : str
        Why there are so many coordinates, in words; only with `n_components="auto"`.
    nbrs_ : sklearn.neighbors.NearestNeighbors
        Neighbour search over the fitted rows, made when it is asked for.
    dist_matrix_ : ndarray of shape (n_samples, n_samples)
        Shortest-path distances; computed when asked for, and not kept.
    residual_variance_ : float
        1 − R² between the shortest-path distances and the distances of the points.
    negative_mass_ : float
        Share of Σ|λ| that negative eigenvalues of K hold: 0 if the shortest-path distances are
        those of points in space. It is computed when asked for, and NaN beyond 1,500 rows.
    negative_mass_note_ : str
        How `negative_mass_` was found, or why it is not known.
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
    ClassicalMDS : The same with distances that are given.
    MaximumVarianceUnfolding : Keeps edge lengths, and does not stretch holes.
    dualfold.methods.isomap : The problem that this estimator solves.

    Notes
    -----
    Let K = −½HΔH, where Δ holds the squared shortest-path distances and H = I − 11ᵀ/n centres.
    Isomap [1]_ solves::

        maximise tr(VᵀKV)  subject to  VᵀV = I

    and its points are VΛ^½. For large tables only m landmarks are embedded [2]_, and the other rows
    are placed by their distances to these.

    **Proof.** The certificate bounds the gap to the optimum of this problem, rounding errors
    included. With landmarks it is about the m×m problem, and says nothing about how well the
    landmarks stand for all rows. It does not say either that the graph is the right one.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). All shortest paths take O(n²·(k +
    log n)) operations. K is one dense n×n matrix, in double precision up to 4,000 rows and in
    single precision beyond. m landmarks need O(m·n) memory instead.

    **Failure.** An edge that cuts across a gap between two parts of the surface (too many
    neighbours) makes many paths too short. Holes are stretched. A surface that cannot be laid flat,
    such as a sphere, has no faithful map: see `negative_mass_` and `residual_variance_`.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for
       nonlinear dimensionality reduction", Science, 290(5500), 2319–2323, 2000.
    .. [2] V. de Silva and J. B. Tenenbaum, "Global versus local methods in nonlinear dimensionality
       reduction", Advances in Neural Information Processing Systems 15, 2003.

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

    _parameter_constraints: ClassVar[Constraints] = GRAPH_CONSTRAINTS | {
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "path_method": [StrOptions({"auto", "FW", "D"})],
        "neighbors_algorithm": [StrOptions({"auto", "brute", "kd_tree", "ball_tree"})],
        "landmarks": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
    }

    n_neighbors: int | None = 5
    radius: float | None = None
    n_components: int | str = 2
    eigen_solver: str = "auto"
    tol: float = 0
    max_iter: int | None = None
    path_method: str = "auto"
    neighbors_algorithm: str = "auto"
    n_jobs: int | None = None
    metric: Metric = "minkowski"
    p: float = 2
    metric_params: dict[str, object] | None = None
    landmarks: int | str | None = "auto"
    neighborhood: str = "fixed"
    pieces: str = "join"
    random_state: Seed = None
    graph: GivenGraph = None
    verbose: bool = False

    def _method(self, context: FitContext = NO_CONTEXT) -> GraphMethod:
        seed = seed_of(self.random_state)
        return GraphMethod(
            problem=partial(isomap_problem, landmarks=self.landmarks, seed=seed),
            rule=geodesic_rule,
            answer=answer_settings(self, eigen_solver(self, context)),
            **shared_fields(self, context, some_rows=False),
        )

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
        return geodesic_residual_variance(self.graph_, self.embedding_)

    @property
    def negative_mass_(self) -> float:
        """Σ|λ| over the negative eigenvalues of K as a share of Σ|λ|; NaN where it is not known."""
        return self._negative_mass().share

    @property
    def negative_mass_note_(self) -> str:
        """Words on how `negative_mass_` was found, or why it is not known."""
        return self._negative_mass().note

    def _negative_mass(self) -> NegativeMass:
        check_is_fitted(self, "graph_")
        n = self.graph_.n
        if n > MAX_SPECTRUM_ROWS:
            return NegativeMass(np.nan, unknown_mass_note(n))
        grams = [
            centred_gram(geodesic_distances(piece, dtype=np.float64, n_jobs=self.n_jobs))
            for _, piece in separate(self.graph_)
        ]
        return negative_mass(scipy.linalg.block_diag(*grams), np.zeros(0))

    def reconstruction_error(self) -> float:
        """Error of the inner products of the points, as scikit-learn measures it.

        Returns
        -------
        float
            ‖K − YYᵀ‖/n, where K holds the centred squared shortest-path distances and Y the points.
        """
        K = centred_gram(self.dist_matrix_.astype(float))
        total = float(np.einsum("ij,ij->", K, K)) - float(np.sum(self.eigenvalues_**2))
        return float(np.sqrt(max(total, 0.0))) / len(K)

"""Diffusion maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array, Metric, Rows, Seed
from dualfold.embedding import Embedding
from dualfold.graph.graph import Graph
from dualfold.graph.pieces import one_piece
from dualfold.methods._eigenmaps import diffused_scale
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext
from dualfold.methods.fitting.graph_estimator import (
    LEFT_OUT_CONSTRAINTS,
    GraphEstimator,
    answer_settings,
    eigen_solver,
    shared_fields,
)
from dualfold.methods.fitting.graph_fit import GraphMethod
from dualfold.methods.fitting.rules import near_mean, nystrom_rule
from dualfold.methods.maps.attraction_map import AttractionMap
from dualfold.methods.parameters import Constraints, GivenGraph
from dualfold.trace.lift import DiffusionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.laplacians import Weights, affinity, laplacian_of


def diffusion_maps(
    graph: Graph,
    *,
    n_components: int = 2,
    weights: Weights = "heat",
    width: float | None = None,
    alpha: float = 1.0,
    diffusion_time: float = 1.0,
) -> TraceProblem:
    """Diffusion maps as a trace problem.

    The problem is::

        maximise tr(VᵀΠPV)  subject to  VᵀΠV = I,  VᵀΠ1 = 0,   points V·|M|^t

    P = Deg⁻¹W is one step of a random walk over neighbours, Π its stationary distribution deg/Σdeg,
    M the diagonal of the eigenvalues μ, and t = `diffusion_time`. W is the kernel of `weights` and
    `width`, divided by (q_i·q_j)^alpha with q_i = Σ_j W_ij.

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
    alpha : float, default=1.0
        How much of the density of the rows is taken out: 0 takes nothing (normalised eigenmaps), 1
        leaves only the shape of the surface.
    diffusion_time : float, default=1.0
        Number of steps t of the walk.

    Returns
    -------
    TraceProblem
        The problem, stated as min tr(VᵀΠ(I − P)V): λ = 1 − μ keeps its digits where many μ are
        nearly 1.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    See Also
    --------
    DiffusionMaps : The estimator.
    eigenmaps : The same with alpha = 0 and t = 0, up to one factor.

    Notes
    -----
    With all n − 1 coordinates, distances between points are those between walks of t steps [1]_:
    ‖(P^t)_i − (P^t)_j‖ in the norm of Π⁻¹. The method fails as eigenmaps do on long shapes. The
    density is seen within a radius of some widths; among a fixed number of neighbours alpha changes
    little.

    References
    ----------
    .. [1] R. R. Coifman and S. Lafon, "Diffusion maps", Applied and Computational Harmonic
       Analysis, 21(1), 5–30, 2006.

    Examples
    --------
    A ring of 12 points, each linked to the next, has the eigenvalue λ = 1 − cos 30° twice:

    >>> import numpy as np
    >>> from dualfold import embed
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import diffusion_maps
    >>> turn = np.arange(12) * np.pi / 6
    >>> ring = knn(np.column_stack([np.cos(turn), np.sin(turn)]), 2)
    >>> print(embed(diffusion_maps(ring, weights="binary")).values.round(4))
    [0.134 0.134]
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
    """Diffusion maps: keep where a random walk over neighbours leads.

    Two rows are near if walks from them soon reach the same places. With `alpha=0`,
    `diffusion_time=0` and the same weights these are `LaplacianEigenmaps`, up to one factor.

    Parameters
    ----------
    n_components : int ≥ 1 or "auto", default=2
        Number of coordinates; "auto" keeps those before the widest eigengap among the first ten.
    alpha : float in [0, 1], default=1.0
        How much of the density of the rows is taken out, from 0 (none) to 1 (all of it, so that
        only the shape counts). It has an effect within a radius of some widths, and little among a
        fixed number of neighbours.
    diffusion_time : float ≥ 0, default=1.0
        Number of steps t of the walk: coordinate k is multiplied by `|1 − λ_k|^t`, so that
        distances compare walks of t steps.
    coordinates : {"first", "independent"} or array-like of int, default="first"
        "first" takes the first eigenvectors; "independent" takes those among the first 6 (20, 50 if
        these are overtones) that keep the most neighbours, scaled as `diffusion_time` says.

        A list gives the numbers of the eigenvectors; the first is 0.
    n_neighbors : int ≥ 1 or None, default=10
        Number of nearest rows that each row is linked to; None if a `radius` is given.
    radius : float ≥ 0 or None, default=None
        Link each row to all rows within this distance, instead of a fixed number of nearest rows.
    neighborhood : {"fixed", "variable"}, default="fixed"
        "fixed" gives the same number of neighbours to each row; "variable" gives fewer to rows in
        sparse places.
    weights : {"heat", "adaptive", "binary", "density"}, default="heat"
        Kernel: "adaptive" gives each row a kernel width of its own, "heat" one width to all,
        "binary" is 1, and "density" has widths that follow the local density.
    width : float > 0 or None, default=None
        Kernel width σ of heat weights exp(−‖x − y‖²/σ²). None is the root mean square edge length,
        or more where the longest edge would have a weight of nearly 0.
    landmarks : int ≥ 2 or None, default=None
        Number of rows, drawn at random, that the problem is about; they place the other rows by
        Nyström's equation. None takes all rows.
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
        Seed of the solver's start and of the landmarks; None means 0, so that runs agree.
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
        Value of the problem for each coordinate: λ = 1 − μ.
    transition_eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues μ of one step of the walk, the largest after 1 first.
    certificate_ : TraceCertificate or PiecewiseCertificate
        How far from the optimum the points can be; print it. With landmarks it is about theirs.
    coordinates_ : tuple of int
        Numbers of the eigenvectors that are the coordinates; the first is 0.
    graph_ : Graph
        The neighbour graph that was embedded, with the edges that joined its pieces.
    landmarks_ : ndarray of int or None
        The rows that were drawn as landmarks; None if all rows were used.
    left_out_ : ndarray of int
        The rows that were left out of the problem.
    rows_ : ndarray of int or None
        The rows that the problem is about; None for all rows.
    n_connected_components_ : int
        Number of pieces of the graph before they were joined.
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
    LaplacianEigenmaps : The same without a walk.
    dualfold.methods.diffusion_maps : The problem that this estimator solves.

    Notes
    -----
    With the transition matrix P of the walk and its stationary distribution Π, diffusion maps [1]_
    solve::

        maximise tr(VᵀΠPV)  subject to  VᵀΠV = I,  VᵀΠ1 = 0

    and the points are `V·|M|^t` with the eigenvalues M. With all n − 1 coordinates, distances
    between points are those between walks of t steps. `transform` places new rows by Nyström's
    equation.

    **Proof.** The certificate bounds the gap to the optimum from the eigenvectors and a count of
    the eigenvalues below them (the signs of the pivots of a factorisation). It is proved, rounding
    errors included; for graphs that are too large to factorise it is "measured": true except with a
    stated probability.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n). The eigenvectors come from a sparse
    factorisation where the graph has small separators (about O(n^1.5) operations and O(n log n)
    memory for rows on a surface), else from products with the sparse matrix, O(n·k) each for k
    neighbours. With m landmarks n is m, and each other row costs one search for neighbours.

    **Failure.** As with eigenmaps: on long shapes the map is a curve of harmonics (use
    `coordinates="independent"`). `alpha` needs a kernel that sees the density: a `radius` of about
    three widths, not a fixed number of neighbours.

    References
    ----------
    .. [1] R. R. Coifman and S. Lafon, "Diffusion maps", Applied and Computational Harmonic
       Analysis, 21(1), 5–30, 2006.

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

    _parameter_constraints: ClassVar[Constraints] = LEFT_OUT_CONSTRAINTS | {
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

    @property
    def transition_eigenvalues_(self) -> Array:
        """The eigenvalues μ of one step of the walk, 1 − λ."""
        return np.asarray(1 - self.eigenvalues_)

    def _method(self, context: FitContext = NO_CONTEXT) -> GraphMethod:
        scale = diffused_scale(self.diffusion_time)
        return GraphMethod(
            problem=self._problem,
            rule=self._rule,
            answer=answer_settings(self, eigen_solver(self, context), scale),
            leaves_groups_out=True,
            **shared_fields(self, context),
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

    def _rule(self, graph: Graph, embedding: Embedding) -> Callable[[Rows], Array]:
        kind: Any = self.weights
        rule = affinity(graph, weights=kind, width=self.width, alpha=self.alpha)
        return nystrom_rule(graph, embedding, rule, "degree", DiffusionLift(self.diffusion_time))

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

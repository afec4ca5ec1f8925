"""t-SNE, with attraction as a parameter."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array, Metric, Rows, Seed
from dualfold.certificate import DEFAULT_TOLERANCE, Tolerance, tolerance_or
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.metrics import MetricWithParameters, is_precomputed
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext, known_graph
from dualfold.methods.fitting.estimator import Estimator, fit_stage
from dualfold.methods.fitting.tiles import TiledRows
from dualfold.methods.maps.attraction_map import AttractionMap
from dualfold.methods.parameters import Constraints, GivenGraph
from dualfold.methods.points.attracting_lists import NeighborSettings, attracting_lists
from dualfold.methods.points.checks import neighbors_kept
from dualfold.methods.points.descent import descend
from dualfold.methods.points.fit import (
    DescentSettings,
    PointsMethod,
    StatedPoints,
    attracting_count,
    fit_points,
    stated_points,
)
from dualfold.methods.points.force_balance import MAX_UNBALANCED_SHARE
from dualfold.methods.points.schedule import Schedule
from dualfold.methods.points.starts import given_start, spectral_problem
from dualfold.methods.points.tsne.certificate import certify_tsne
from dualfold.methods.points.tsne.input import refuse_odd_input
from dualfold.methods.points.tsne.problem import TsneProblem
from dualfold.trace.certificate import certify
from dualfold.weights.perplexity import conditional_affinities, joint_affinities


def tsne(
    graph: Graph | Lists,
    *,
    n_components: int = 2,
    perplexity: float | None = 30.0,
    attraction: float = 1.0,
) -> TsneProblem:
    """Stochastic neighbour embedding (t-SNE), with attraction as a parameter, as a problem.

    The problem is::

        minimise  ρ·Σ p_ij log(1 + t_ij) + log Σ_{i≠j} 1/(1 + t_ij),   t_ij = ‖y_i − y_j‖²

    which is KL(P‖Q), up to the entropy of P, for the attraction ρ = 1. P is made of the listed
    neighbours.

    Parameters
    ----------
    graph : Graph or Lists
        Neighbour graph or lists, from `dualfold.graph`.
    n_components : int, default=2
        Number of coordinates.
    perplexity : float or None, default=30.0
        Effective number of neighbours; None gives every listed neighbour the same share.
    attraction : float, default=1.0
        Factor ρ of the attraction: about 4 looks like UMAP, and a large one like eigenmaps.

    Returns
    -------
    TsneProblem
        The problem.

    See Also
    --------
    TSNE : The estimator.
    dualfold.methods.points.tsne.certify_tsne : Certifies a map.
    neighbor_map : A Gaussian kernel, with a bound.

    Notes
    -----
    t-SNE [1]_ keeps neighbours better than any method whose answer can be proved optimal. Distances
    between groups, their sizes and densities mean little, and other starts give other maps. A
    larger ρ draws groups together [2]_; in the limit ρ → ∞ the problem is a trace problem
    (`TsneProblem.laplacian`). No bound of the optimum is known.

    References
    ----------
    .. [1] L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine
       Learning Research, 9, 2579–2605, 2008.
    .. [2] J. N. Böhm, P. Berens and D. Kobak, "Attraction-repulsion spectrum in neighbor
       embeddings", Journal of Machine Learning Research, 23(95), 1–32, 2022.

    Examples
    --------
    >>> from dualfold.data import digits
    >>> from dualfold.graph import knn
    >>> from dualfold.methods import tsne
    >>> problem = tsne(knn(digits().points[:100], 15), perplexity=5.0)
    >>> problem.n, problem.attraction
    (100, 1.0)
    """
    lists = graph.lists if isinstance(graph, Graph) else graph
    return TsneProblem(affinities_of_lists(lists, perplexity)[0], n_components, attraction)


def affinities_of_lists(
    lists: Lists, perplexity: float | None, n_jobs: int | None = None
) -> tuple[sp.csr_array, Array]:
    """Joint affinities of listed neighbours, and the widths of the rows' Gaussians."""
    conditional, widths = conditional_affinities(lists, perplexity, n_jobs)
    return joint_affinities(lists, conditional), widths


@dataclass(eq=False, repr=False)
class TSNE(Estimator):
    """Stochastic neighbour embedding (t-SNE): neighbours attract, and all points repel.

    A drop-in replacement for `sklearn.manifold.TSNE`, with its parameters, attributes and schedule;
    the map is the same at every run and for any number of threads, and new rows can be placed.
    `attraction` goes from t-SNE (1) over maps like UMAP's (about 4) to eigenmaps (infinite).

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of coordinates; 4 and more need the exact method.
    perplexity : float > 0, default=30.0
        Effective number of neighbours; three times as many are searched.
    early_exaggeration : float ≥ 1, default=12.0
        Factor of the attraction in the first 250 iterations; half of it, and so on, where the map
        would shrink to a line.
    learning_rate : float > 0 or "auto", default="auto"
        Step length. "auto" is n/(4·exaggeration), at least 50, in the first 250 iterations, then
        n/attraction, and a quarter of that in the last 50.
    max_iter : int ≥ 250, default=1000
        Maximum number of iterations, the first 250 included.
    n_iter_without_progress : int ≥ -1, default=300
        Number of iterations without a better objective after which to stop.
    min_grad_norm : float ≥ 0, default=1e-07
        Stop where the norm of the gradient is below this.
    metric : str or callable, default="euclidean"
        Distance between rows, by its name in scikit-learn; "precomputed" means that X is a square
        matrix of distances.

        A function of two rows is a metric, too.
    metric_params : dict or None, default=None
        Further arguments of the metric, by name.
    init : ndarray of shape (n_samples, n_components) or {"pca", "random", "spectral"}, \
            default="pca"
        Start: "pca", "spectral" (eigenmaps of the affinities), or "random".

        An array is the start itself.
    verbose : bool or int, default=0
        1 or more prints each stage to standard output, as scikit-learn does.
    random_state : int, RandomState instance or None, default=None
        Seed of random starts; nothing else is random.
    method : {"barnes_hut", "exact"}, default="barnes_hut"
        "barnes_hut" takes affinities of neighbours and the fastest way to sum repulsion (a grid in
        1 and 2 dimensions, a tree in 3); "exact" sums over all pairs, with affinities between all
        rows.
    angle : float in [0, 1], default=0.5
        Opening angle of the tree, in 3 dimensions: the smaller, the closer to the exact sums.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.
    attraction : float > 0, default=1.0
        Factor of the attraction: 1 is t-SNE, about 4 looks like UMAP, and inf gives the eigenmaps
        of the affinities.
    n_neighbors : int ≥ 1 or None, default=None
        Number of nearest neighbours with equal affinities, instead of a perplexity.
    graph : Graph, Neighbors, sparse matrix or None, default=None
        Neighbours that are known already: a `dualfold.Graph`, a sparse matrix of edge lengths, or
        the lists that `dualfold.graph.nearest` returns.
    search : {"auto", "exact", "approximate"}, default="auto"
        How neighbours are found: "auto" is exact up to 200,000 rows, and with few columns. Beyond,
        rows are compared with those of near cells, and the certificate states the share of true
        neighbours found, measured on a sample.
    n_starts : int in [1, 10], default=1
        Number of starts, the first of them that of init. The first map is kept, and the certificate
        says how far from it the others ended.
    callbacks : callable, list of callables, tuple of callables or None, default=None
        Function, or several, called every 50 iterations with the iteration, the objective and the
        points. One that returns True stops the descent.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points, in single precision as in scikit-learn.
    kl_divergence_ : float
        KL(P‖Q) of the points, in double precision; NaN with an infinite attraction.
    certificate_ : TsneCertificate or TraceCertificate
        Objective, gradient and neighbours kept; print it. With an infinite attraction it is that of
        the eigenmaps.
    n_iter_ : int
        Number of the last iteration; the first is 0.
    learning_rate_ : float
        Step length of the first 250 iterations.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of the eigenmaps; only with an infinite attraction.
    history_ : ndarray of shape (n_checkpoints, 3)
        A row for each checkpoint: the iteration, the objective (with its exaggeration), and the
        norm of its gradient.
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
    NeighborMap : A neighbour map with a proved bound.
    LaplacianEigenmaps : The limit of a large attraction.
    dualfold.audit : Which groups of a map the data support.
    dualfold.methods.tsne : The problem that this estimator solves.

    Notes
    -----
    With affinities P of neighbours and t_ij = ‖y_i − y_j‖², the problem is::

        minimise  ρ·Σ p_ij log(1 + t_ij) + log Σ_{i≠j} 1/(1 + t_ij)

    which is t-SNE [1]_ for the attraction ρ = 1; other ρ are in [2]_. `transform` places each new
    row on its own, by its nearest fitted rows and the repulsion of all points.

    **Proof.** No bound of the optimum is known. The certificate says whether the forces on the
    points balance ("stationary" or "not stationary"), not how far from optimal the map is. With an
    infinite attraction the gap is proved, as for eigenmaps.

    **Cost.** The exact search for neighbours compares all pairs of rows, O(n²·D) operations for D
    columns; with few columns a kd-tree takes about O(n log n), and beyond 200,000 rows an
    approximate search about O(n√n·D). An iteration takes O(n·k) operations
    for k neighbours, and for the repulsion O(n + g log g) on a grid of g nodes (1 and 2
    coordinates, as in [3]_), O(n log n) by a tree (3 coordinates, [4]_), or O(n²) exactly. The
    certificate sums over all pairs once, O(n²); beyond 200,000 rows by a tree, whose error it
    bounds. Memory is O(n·k).

    **Ctrl-C** after the early exaggeration ends the fit with the map that it has reached, and a
    warning (`dualfold.errors.Interrupted`); a second one raises as usual.

    **Failure.** Distances between groups, their sizes and their densities mean little. A cloud
    without groups may be drawn as several groups: `dualfold.audit` tests them. Other starts give
    other maps; see `n_starts`.

    References
    ----------
    .. [1] L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine
       Learning Research, 9, 2579–2605, 2008.
    .. [2] J. N. Böhm, P. Berens and D. Kobak, "Attraction-repulsion spectrum in neighbor
       embeddings", Journal of Machine Learning Research, 23(95), 1–32, 2022.
    .. [3] G. C. Linderman, M. Rachh, J. G. Hoskins, S. Steinerberger and Y. Kluger, "Fast
       interpolation-based t-SNE for improved visualization of single-cell RNA-seq data", Nature
       Methods, 16, 243–245, 2019.
    .. [4] L. van der Maaten, "Accelerating t-SNE using tree-based algorithms", Journal of Machine
       Learning Research, 15, 3221–3245, 2014.

    Examples
    --------
    >>> from dualfold import TSNE
    >>> from dualfold.data import digits
    >>> X = digits().points[:60]
    >>> model = TSNE(perplexity=10).fit(X)
    >>> model.embedding_.shape, model.certificate_.level
    ((60, 2), 'stationary')
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "perplexity": [Interval(Real, 0, None, closed="neither")],
        "early_exaggeration": [Interval(Real, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "max_iter": [Interval(Integral, 250, None, closed="left")],
        "n_iter_without_progress": [Interval(Integral, -1, None, closed="left")],
        "min_grad_norm": [Interval(Real, 0, None, closed="left")],
        "metric": [str, callable],
        "metric_params": [dict, None],
        "init": [StrOptions({"pca", "spectral", "random"}), np.ndarray],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "method": [StrOptions({"barnes_hut", "exact"})],
        "angle": [Interval(Real, 0, 1, closed="both")],
        "n_jobs": [None, Integral],
        "attraction": [Interval(Real, 0, None, closed="right")],
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), None],
        "graph": "no_validation",
        "search": [StrOptions({"auto", "exact", "approximate"})],
        "n_starts": [Interval(Integral, 1, 10, closed="both")],
        "callbacks": [callable, list, tuple, None],
    }
    # Names of scikit-learn, which its tests set.
    _EXPLORATION_MAX_ITER = 250
    _N_ITER_CHECK = 50
    # Whether Ctrl-C after the exaggeration ends a fit with the map that it has reached.
    _keeps_interrupted = True

    n_components: int = 2
    _: KW_ONLY
    perplexity: float = 30.0
    early_exaggeration: float = 12.0
    learning_rate: Any = "auto"
    max_iter: int = 1000
    n_iter_without_progress: int = 300
    min_grad_norm: float = 1e-7
    metric: Metric = "euclidean"
    metric_params: dict[str, object] | None = None
    init: Any = "pca"
    verbose: int = 0
    random_state: Seed = None
    method: str = "barnes_hut"
    angle: float = 0.5
    n_jobs: int | None = None
    attraction: float = 1.0
    n_neighbors: int | None = None
    graph: GivenGraph = None
    search: str = "auto"
    n_starts: int = 1
    callbacks: Any = None

    def _method(self, context: FitContext = NO_CONTEXT) -> PointsMethod:
        by = None if self.n_neighbors is not None else self.perplexity
        given: Any = self.callbacks
        return PointsMethod(
            name=TsneProblem.method_name,
            value_name="KL divergence",
            problem=TsneProblem,
            judge=certify_tsne,
            neighbors=NeighborSettings(
                n_neighbors=self.n_neighbors,
                perplexity=self.perplexity,
                all_pairs=self.method == "exact",
                metric=self.metric,
                metric_params=self.metric_params,
                search=self.search,
                n_jobs=self.n_jobs,
            ),
            graph=known_graph(self, context),
            affinities=partial(affinities_of_lists, perplexity=by, n_jobs=self.n_jobs),
            n_components=self.n_components,
            attraction=float(self.attraction),
            schedule=Schedule(
                # It would contract a start that is known.
                exaggeration=1.0 if context.start is not None else self.early_exaggeration,
                early_iterations=self._EXPLORATION_MAX_ITER,
                learning_rate=None if self.learning_rate == "auto" else float(self.learning_rate),
                max_iter=self.max_iter,
                patience=self.n_iter_without_progress,
            ),
            descent=DescentSettings(
                exact=self.method == "exact" or self.angle == 0,
                angle=float(self.angle),
                look_every=self._N_ITER_CHECK,
                least_gradient=float(self.min_grad_norm),
                callbacks=(given,) if callable(given) else tuple(given or ()),
                keep_interrupted=self._keeps_interrupted,
            ),
            init=self.init if context.start is None else context.start,
            random_state=self.random_state,
            n_starts=self.n_starts,
            verbose=self.verbose,
            n_jobs=self.n_jobs,
        )

    def _fit(self, X: Rows, context: FitContext) -> None:
        refuse_odd_input(self, X)
        method = self._method(context)
        fit = fit_points(X, method, partial(fit_stage, self))
        problem, schedule = fit.stated.problem, method.schedule
        self.embedding_, self.certificate_ = fit.points, fit.certificate
        self._rows, self._drawn_by = X, attracting_count(fit.stated.lists)
        self.learning_rate_ = schedule.rate(problem, schedule.exaggeration)
        if fit.run is None:
            self.eigenvalues_ = fit.eigenvalues
            self.kl_divergence_, self.n_iter_ = float("nan"), 0
            self.history_ = np.zeros((0, 3))
        else:
            self.kl_divergence_, self.n_iter_ = fit.certificate.kl, fit.run.rounds - 1
            self.history_ = np.array(fit.run.objectives)

    def _stated_points(self, X: Rows) -> StatedPoints:
        """The neighbours and the problem that a fit to the rows of X begins with."""
        return stated_points(X, self._method(), partial(fit_stage, self))

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        rows.fit_landmarks(self)

    def for_comparison(self) -> Any:
        """Return a copy that makes one map, from one start, silently.

        It is used where a map is fitted again only to compare.

        Returns
        -------
        TSNE
            The estimator, not yet fitted.
        """
        single = clone(self).set_params(n_starts=1, verbose=0, callbacks=None)
        single._keeps_interrupted = False
        return single

    def placing_map(self) -> Callable[[Rows], Array]:
        """Return the rule that places new rows.

        Each row is placed on its own: its nearest fitted rows attract it, and all points repel it.

        Returns
        -------
        AttractionMap
            A function of an array of rows that returns their points.
        """
        check_is_fitted(self, "embedding_")
        return self._rule(self._rows, self.embedding_, self._drawn_by)

    def map_of_points(self, X: Any, points: Array) -> AttractionMap:
        """Return the rule for new rows that follows from points as the map of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        points : ndarray of shape (n_samples, n_components)
            Their points.

        Returns
        -------
        AttractionMap
            The rule.
        """
        lists, _ = attracting_lists(X, self._method().neighbors, self.graph)
        return self._rule(X, points, attracting_count(lists))

    def _rule(self, X: Rows, points: Array, drawn_by: int) -> AttractionMap:
        by = float(self.perplexity) if self.n_neighbors is None else None
        metric: Metric = self.metric
        if self.metric_params:
            metric = MetricWithParameters(metric, dict(self.metric_params))
        return AttractionMap(X, points, drawn_by, by, float(self.attraction), metric)

    def judged_points(self, X: Any, points: ArrayLike, tolerance: Tolerance = "default") -> Any:
        """Certify points as this estimator's map of X.

        Nothing is descended: objective, gradient and neighbours kept are those of the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        points : array-like of shape (n_samples, n_components)
            Points to certify.
        tolerance : float or "default", default="default"
            Largest share of the forces that may be unbalanced ("default" is 0.01); with an infinite
            attraction the largest relative gap ("default" is 1e-4).

        Returns
        -------
        TsneCertificate or TraceCertificate
            The certificate.
        """
        checked = self._checked_rows(X, reset=True)
        refuse_odd_input(self, checked)
        stated = self._stated_points(checked)
        problem = stated.problem
        if not np.isfinite(self.attraction):
            eigenmaps = spectral_problem(problem, self.n_components)
            gap = tolerance_or(DEFAULT_TOLERANCE, tolerance)
            return certify(eigenmaps, np.asarray(points, dtype=float), tolerance=gap)
        kept = neighbors_kept(stated.lists, np.asarray(points, dtype=float), self.n_jobs)
        share = tolerance_or(MAX_UNBALANCED_SHARE, tolerance)
        return self._method().judge(
            problem, points, tolerance=share, neighbors_kept=kept, n_jobs=self.n_jobs
        )

    def points_after(self, X: Any, points: ArrayLike, rounds: int) -> Array:
        """Descend from points as this estimator's map of X, without exaggeration.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        points : array-like of shape (n_samples, n_components)
            Where the points begin.
        rounds : int
            Number of iterations.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Where they end.
        """
        checked = self._checked_rows(X, reset=True)
        method, problem = self._method(), self._stated_points(checked).problem
        late = replace(method.schedule.phases(problem)[-1], rounds=rounds)
        start = given_start(np.asarray(points, dtype=float), problem.n, self.n_components)
        exact = method.descent.exact
        return descend(problem, start, [late], exact=exact, n_jobs=self.n_jobs).points

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.metric)
        tags.transformer_tags.preserves_dtype = []
        return tags

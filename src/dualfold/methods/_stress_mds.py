"""Metric and non-metric multidimensional scaling: least stress."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Hidden, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array, Metric, Rows, Seed
from dualfold.certificate import DEFAULT_TOLERANCE, Tolerance, tolerance_or
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.metrics import (
    MetricWithParameters,
    is_euclidean,
    is_precomputed,
    metric_distances,
    refuse_other_width,
)
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import (
    Estimator,
    checked_rows,
    fit_stage,
    fit_with,
)
from dualfold.methods.fitting.fitted_rows import FittedRows, RowSettings
from dualfold.methods.fitting.solver_choice import seed_of
from dualfold.methods.fitting.tiles import TiledRows, tiled_rows
from dualfold.methods.maps.stress_map import StressMap
from dualfold.methods.parameters import Constraints
from dualfold.methods.points.stress.certificate import StressCertificate, certify_stress
from dualfold.methods.points.stress.first_points import (
    classical_start,
    given_start,
    random_start,
    without_coincidences,
)
from dualfold.methods.points.stress.majorization import StopRule, StressDescent, stress_descent
from dualfold.methods.points.stress.problem import StressProblem, stress_problem
from dualfold.weights.gram import symmetrize

# Up to this many rows the n×n distances of a table fit into the memory of most machines.
MAX_EXACT_ROWS = 10_000
# Of more, as many as have bounds are fitted and place the others.
AUTO_LANDMARKS = 3_000


@dataclass(eq=False, repr=False)
class MDS(Estimator):
    """Multidimensional scaling: points whose distances are nearest to given ones.

    A drop-in replacement for `sklearn.manifold.MDS`, with weights of pairs, missing distances, a
    rule for new rows, and a certificate. It minimises stress, where `ClassicalMDS` minimises
    strain.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of coordinates.
    metric_mds : bool, default=True
        Whether the distances themselves are fitted (metric) or their order alone (non-metric);
        non-metric scaling takes a distance of 0 for missing.
    n_init : int ≥ 1, default=1
        Number of random starts, of which the one with the least stress is kept; ignored with
        `init="classical_mds"`.
    init : {"random", "classical_mds"}, default="classical_mds"
        Where the descent begins: at points drawn at random, or at those of classical scaling.
    max_iter : int ≥ 1, default=300
        Largest number of steps.
    verbose : bool or int, default=0
        Whether the stages of the fit are reported on standard error.
    eps : float ≥ 0, default=1e-6
        A descent ends where one step of majorisation would lower the stress by less than this share
        of Σd², and forces balance up to `tolerance`.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of random starts and of landmarks.
    dissimilarity : {"euclidean", "precomputed"}, default="deprecated"
        Former name of `metric`, deprecated in scikit-learn.
    metric : str or callable, default="euclidean"
        Distance between rows, by its name in `sklearn.metrics.pairwise_distances`; "precomputed"
        means that X is a square matrix of distances, in which NaN stands for a missing one.

        A function of two rows is a metric, too.
    metric_params : dict or None, default=None
        Further arguments of the metric, by name.
    normalized_stress : bool or "auto", default="auto"
        Whether `stress_` is Stress-1, √(Σ(d − δ)²/Σd²); "auto" for non-metric scaling alone.
    weights : array-like of shape (n_samples, n_samples) or None, default=None
        Weights of pairs, symmetric and not negative; 0 leaves a pair out. None weighs all pairs the
        same.
    tolerance : float in [0, 1], default=1e-4
        Largest share of the forces that may be unbalanced at the end, and largest relative gap that
        is called "proved".
    landmarks : int ≥ 2, "auto" or None, default="auto"
        "auto" fits up to 10,000 rows exactly and, of more, 3,000 at random, which place the other
        rows; None fits all rows; a number is that of the landmarks. Precomputed distances,
        weights and non-metric scaling fit all rows.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    stress_ : float
        Stress of the fitted points, Σ_{i<j} w(d − δ)², or Stress-1 (`normalized_stress`).
    certificate_ : StressCertificate
        Whether the forces balance, and how far from the least stress the points can be; print it.
    dissimilarity_matrix_ : ndarray of shape (n_samples, n_samples)
        Distances between the fitted rows; with landmarks between these.
    n_iter_ : int
        Number of steps of the best descent.
    landmark_rows_ : ndarray of int
        The rows that were fitted; only with landmarks.
    placing_cost_ : PlacingCost or None
        What it costs that the fitted rows place all others, measured on held-out rows; only for
        tables in tiles.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    ClassicalMDS : Minimises strain, with a proof, and is where this begins.
    Isomap : Classical scaling of distances along a surface.
    dualfold.quality.stress : The stress of any map.

    Notes
    -----
    The problem is::

        minimise  Σ_{i<j} w_ij (‖y_i − y_j‖ − δ_ij)²

    Non-metric scaling [1]_ replaces δ by disparities: the numbers nearest to the distances of the
    points that keep the order of δ; pairs with equal δ have equal ones. The steps are those of
    majorisation (SMACOF [2]_), made longer by a quasi-Newton method where that lowers the stress.

    **Proof.** The stress is not convex in the points. For weights of 1 and up to 3,000 rows the
    certificate has two proved lower bounds of the stress of all points in this dimension (see
    docs/proofs.md): where the map fits well they often prove that it is optimal ("proved",
    "within"), else it says whether the forces balance ("stationary"). For other weights, missing
    distances and non-metric scaling no bound is known.

    **Cost.** A step takes O(n²·d) operations. Memory is that of one n×n matrix of distances;
    non-metric scaling and bounds take several. `transform` needs the distances of each new row to
    the fitted ones.

    **Failure.** Other starts may end at other points (`n_init` with `init="random"` tries several).
    Large distances count most. With many columns all distances are alike, and points of a plane
    cannot have them: the map then shows a disc.

    References
    ----------
    .. [1] J. B. Kruskal, "Multidimensional scaling by optimizing goodness of fit to a nonmetric
       hypothesis", Psychometrika, 29(1), 1–27, 1964.
    .. [2] J. de Leeuw, "Applications of convex analysis to multidimensional scaling", Recent
       Developments in Statistics, 133–145, North-Holland, 1977.

    Examples
    --------
    Three points with distances 1, 1 and 3 fit on no line; no points at all have less stress than
    those found:

    >>> from dualfold import MDS
    >>> model = MDS(1, metric="precomputed").fit([[0, 1, 3], [1, 0, 1], [3, 1, 0]])
    >>> round(model.stress_, 6), model.certificate_.level
    (0.333333, 'proved')
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "metric_mds": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"random", "classical_mds"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "verbose": ["verbose"],
        "eps": [Interval(Real, 0, None, closed="left")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "dissimilarity": [
            StrOptions({"euclidean", "precomputed"}),
            Hidden(StrOptions({"deprecated"})),
        ],
        "metric": [str, callable, Hidden("boolean")],
        "metric_params": [dict, None],
        "normalized_stress": ["boolean", StrOptions({"auto"})],
        "weights": ["array-like", None],
        "tolerance": [Interval(Real, 0, 1, closed="both")],
        "landmarks": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
    }

    n_components: int = 2
    _: KW_ONLY
    metric_mds: bool = True
    n_init: int = 1
    init: str = "classical_mds"
    max_iter: int = 300
    verbose: int = 0
    eps: float = 1e-6
    n_jobs: int | None = None
    random_state: Seed = None
    dissimilarity: str = "deprecated"
    metric: Metric = "euclidean"
    metric_params: dict[str, object] | None = None
    normalized_stress: bool | str = "auto"
    weights: Any = None
    tolerance: float = DEFAULT_TOLERANCE
    landmarks: int | str | None = "auto"
    # A descent from the points of an old map would stay near them.
    refits_from_points: ClassVar[bool] = False

    def fit(self, X: Any, y: Any = None, init: Any = None) -> Self:
        """Embed the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed; with `metric="precomputed"` the square matrix of their distances.
        y : object, default=None
            Ignored.
        init : array-like of shape (n_samples, n_components) or None, default=None
            Points where the descent begins; None follows the parameter `init`.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        InvalidInput
            If X or a parameter cannot be used; the message says what to do. After an error nothing
            is fitted.
        """
        return fit_with(self, X, FitContext(start=init))

    def fit_transform(self, X: Any, y: Any = None, init: Any = None) -> Array:
        """Embed the rows of X and return their points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed, as in `fit`.
        y : object, default=None
            Ignored.
        init : array-like of shape (n_samples, n_components) or None, default=None
            Points where the descent begins, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The points.
        """
        rows = tiled_rows(X)
        self.fit(X, y, init)
        return np.asarray(self.embedding_) if rows is None else rows.transform_with(self)

    def _fit(self, X: Rows, context: FitContext) -> None:
        self.__dict__.pop("landmark_rows_", None)  # of a fit before
        self._warn_of_old_names(X)
        rows = FittedRows.of(X.shape[0], self._landmark_rows(X.shape[0]))
        fitted = X if rows.numbers is None else X[rows.numbers]
        with fit_stage(self, "distances"):
            problem = self._problem(fitted)
        with fit_stage(self, "descent"):
            run = self._best_descent(problem, context.start)
        points = run.points.astype(X.dtype, copy=False)
        with fit_stage(self, "certificate"):
            judged = certify_stress(problem, points, tolerance=self.tolerance, n_jobs=self.n_jobs)
        self.certificate_ = judged.with_scope(rows.scope())
        self.stress_ = self._stated_stress(run)
        self.n_iter_ = run.n_steps
        self.dissimilarity_matrix_ = problem.distances
        self._rows, self._points = fitted, points
        self.embedding_ = points
        if rows.numbers is not None:
            self.landmark_rows_ = rows.numbers
            self.embedding_ = self._embedding_of_all(X, rows.numbers)

    def _embedding_of_all(self, X: Rows, landmarks: Array) -> Array:
        others = np.setdiff1d(np.arange(X.shape[0]), landmarks)
        points = np.empty((X.shape[0], self._points.shape[1]), self._points.dtype)
        points[landmarks] = self._points
        points[others] = self.placing_map()(X[others])
        return points

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        self._refuse_ordinal_placing()
        rows.fit_landmarks(self)

    def _warn_of_old_names(self, X: Rows) -> None:
        """Warn as scikit-learn 1.9 does of names that 1.10 will not have."""
        if isinstance(self.metric, bool):
            warnings.warn(
                f"Use metric_mds={self.metric} instead of metric={self.metric}; scikit-learn 1.10 "
                "drops the latter",
                FutureWarning,
                stacklevel=2,
            )
        if self.dissimilarity != "deprecated":
            if not isinstance(self.metric, bool) and self.metric != "euclidean":
                raise InvalidInput(
                    "You provided both `dissimilarity` and `metric`, which mean the same; give ",
                    Argument("metric"),
                    " alone",
                )
            warnings.warn(
                "The `dissimilarity` parameter is now called `metric`; scikit-learn 1.10 drops it",
                FutureWarning,
                stacklevel=2,
            )
        if X.shape[0] == X.shape[1] and not is_precomputed(self._metric):
            warnings.warn(
                "The provided input is a square matrix. Its rows are taken for observations and "
                "its columns for features; metric='precomputed' takes it for distances",
                stacklevel=2,
            )

    @property
    def _metric(self) -> Any:
        """The metric, with its parameters, whatever it was called."""
        metric = "euclidean" if isinstance(self.metric, bool) else self.metric
        metric = metric if self.dissimilarity == "deprecated" else self.dissimilarity
        if self.metric_params:
            return MetricWithParameters(metric, dict(self.metric_params))
        return metric

    @property
    def _is_ordinal(self) -> bool:
        return not (self.metric if isinstance(self.metric, bool) else self.metric_mds)

    def _landmark_rows(self, n: int) -> Array | None:
        whole = is_precomputed(self._metric) or self.weights is not None or self._is_ordinal
        count = self.landmarks
        if count == "auto":
            count = AUTO_LANDMARKS if n > MAX_EXACT_ROWS else None
        if whole or count is None:
            return None
        return RowSettings(int(count), seed=seed_of(self.random_state)).landmark_rows(n)

    def _problem(self, X: Rows) -> StressProblem:
        metric = self._metric
        distances = X
        if not is_precomputed(metric):
            refuse_other_width(metric, self.metric_params or {}, X.shape[1])
            if is_euclidean(metric) and not sp.issparse(X):  # products of rows lose least so
                rows = np.asarray(X)
                X = rows - rows.mean(axis=0, dtype=float)
            distances = metric_distances(X, None, metric)
            symmetrize(distances)
            np.fill_diagonal(distances, 0.0)
        return stress_problem(
            distances, self.n_components, weights=self.weights, ordinal=self._is_ordinal
        )

    def _best_descent(self, problem: StressProblem, start: Any) -> StressDescent:
        random = check_random_state(self.random_state)
        if start is not None:
            starts = [given_start(start, problem)]
        elif self.init == "classical_mds":
            starts = [classical_start(problem)]
        else:
            starts = [random_start(problem, random) for _ in range(self.n_init)]
        stop = StopRule(
            max_steps=self.max_iter, eps=float(self.eps), tolerance=float(self.tolerance) / 2
        )
        starts = [without_coincidences(Y, problem.distances, random) for Y in starts]
        runs = [stress_descent(problem, Y, stop, self.n_jobs) for Y in starts]
        return min(runs, key=self._stated_stress)

    def _stated_stress(self, run: StressDescent) -> float:
        stress = float(run.stresses[-1])
        normalized = self.normalized_stress
        if self._is_ordinal if normalized == "auto" else normalized:
            return float(np.sqrt(stress / run.squares)) if run.squares > 0 else 0.0
        return stress

    def placing_map(self) -> Callable[[Rows], Array]:
        """Return the rule that places new rows.

        Each row goes where its distances to the fitted rows fit best, the other points fixed.

        Returns
        -------
        StressMap
            A function of an array of rows that returns their points.
        """
        check_is_fitted(self, "certificate_")
        self._refuse_ordinal_placing()
        return self._rule(self._rows, self._points)

    def _rule(self, X: Rows, points: Array) -> StressMap:
        metric = self._metric
        return StressMap(None if is_precomputed(metric) else X, points, metric)

    def _refuse_ordinal_placing(self) -> None:
        if self._is_ordinal:
            raise InvalidInput(
                "non-metric scaling knows the order of distances alone, which places no new rows; ",
                Argument("metric_mds", True),
                " places them",
            )

    def map_of_points(self, X: Any, points: Array) -> StressMap:
        """Return the rule for new rows that follows from points as the map of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        points : ndarray of shape (n_samples, n_components)
            Their points, or those of the landmarks alone.

        Returns
        -------
        StressMap
            The rule.
        """
        chosen = self._landmark_rows(X.shape[0])
        if chosen is None:
            return self._rule(X, points)
        return self._rule(X[chosen], points if len(points) == len(chosen) else points[chosen])

    def judged_points(
        self, X: Any, points: ArrayLike, tolerance: Tolerance = "default"
    ) -> StressCertificate:
        """Certify points as this estimator's map of X.

        Nothing is descended: stress, forces and bounds are those of the points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        points : array-like of shape (n_samples, n_components)
            Points to certify; with landmarks also those of the landmarks alone.
        tolerance : float or "default", default="default"
            Largest share of the forces that may be unbalanced, and largest relative gap that is
            called "proved" ("default" is 1e-4).

        Returns
        -------
        StressCertificate
            The certificate.
        """
        checked = self._checked_rows(X, reset=True)
        rows = FittedRows.of(checked.shape[0], self._landmark_rows(checked.shape[0]))
        Y = np.asarray(points)
        limit = tolerance_or(DEFAULT_TOLERANCE, tolerance)
        if rows.numbers is None:
            return certify_stress(self._problem(checked), Y, tolerance=limit, n_jobs=self.n_jobs)
        everywhere = len(Y) == checked.shape[0]
        problem = self._problem(checked[rows.numbers])
        landmark_points = Y[rows.numbers] if everywhere else Y
        judged = certify_stress(problem, landmark_points, tolerance=limit, n_jobs=self.n_jobs)
        if everywhere and judged.level != "failed":
            others = np.setdiff1d(np.arange(len(Y)), rows.numbers)
            placed = self._rule(checked[rows.numbers], landmark_points)(checked[others])
            off = float(np.abs(placed - Y[others]).max(initial=0.0))
            off /= max(float(np.ptp(Y, axis=0).max()), 1e-300)
            if not off <= PLACED_AGAIN_SHARE:
                judged = judged.with_doubts(f"placed rows are off by {off:.1e} of the map's extent")
        return judged.with_scope(rows.scope())

    def _checked_rows(self, X: Any, *, reset: bool) -> Rows:
        if not is_precomputed(self._metric):
            return super()._checked_rows(X, reset=reset)
        return checked_rows(self, X, reset=reset, sparse=False, finite=not reset)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self._metric)
        return tags


# Rows placed again agree to this share of the extent of the map; float32 has no more digits.
PLACED_AGAIN_SHARE = 1e-5

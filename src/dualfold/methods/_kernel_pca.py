"""Kernel principal component analysis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted

from dualfold.arrays import Array, Rows, Seed
from dualfold.embedding import Embedding, embed
from dualfold.errors import Argument, ConditionFails, InPython, InvalidInput, warn
from dualfold.methods._pca import centred_problem
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import (
    Estimator,
    Statement,
    asked_count,
    checked_rows,
    fit_stage,
)
from dualfold.methods.fitting.preimages import FixedPointPreimages, RidgePreimages
from dualfold.methods.fitting.solver_choice import DENSE_SHARE, seed_of, solver_to_last_digits
from dualfold.methods.fitting.tiles import TiledRows
from dualfold.methods.fitting.weighted_fit import fit_transform_with_weights, fit_with_weights
from dualfold.methods.maps.kernel_map import KernelFeatures, KernelLift, NystromLift
from dualfold.methods.maps.linear_map import LinearMap
from dualfold.methods.parameters import Constraints
from dualfold.trace.lift import unit_columns
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import with_signs
from dualfold.trace.solvers import Auto, Dense
from dualfold.trace.solvers.solver import Solver
from dualfold.weights.column_moments import column_deviations, column_means
from dualfold.weights.gram import MAX_DENSE_ROWS, symmetrize
from dualfold.weights.kernel_matrix import (
    KERNEL_NAMES,
    POSITIVE_KERNELS,
    SHIFTED_KERNELS,
    Kernel,
    KernelProducts,
    centre_kernel,
)
from dualfold.weights.precision import joined_sentences, rounding_sentence
from dualfold.weights.row_passes import numeric_table
from dualfold.weights.row_weights import (
    RowWeights,
    counting_weights,
    present_rows,
    validated_weights,
)

# Beyond MAX_DENSE_ROWS rows, `landmarks="auto"` takes this many.
AUTO_LANDMARKS = 2_000
# Up to this many rows LAPACK is faster than an iteration.
MAX_LAPACK_ROWS = 400
# scikit-learn's limits for eigenvalues of a kernel: below this share of the largest a positive one
# is 0, a negative one is no rounding.
MIN_POSITIVE_SHARE = 1e-12
SIGNIFICANT_NEGATIVE_SHARE = 1e-5
SIGNIFICANT_NEGATIVE = 1e-10


def kernel_pca(
    X: Any,
    *,
    n_components: int = 2,
    kernel: Any = "linear",
    gamma: float | str | None = None,
    degree: float = 3,
    coef0: float = 1,
    sample_weight: ArrayLike | None = None,
) -> TraceProblem:
    """Kernel principal component analysis as a trace problem.

    The problem is::

        maximise tr(VᵀHKHV)  subject to  VᵀV = I,   points VΛ^½

    where K holds the kernel of all pairs of rows and H = I − 11ᵀ/n centres. It is PCA of the
    features whose inner products the kernel is.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, sparse or dense; for "precomputed" the matrix K.
    n_components : int, default=2
        Number of coordinates.
    kernel : str or callable, default="linear"
        Kernel of two rows, as in `KernelPCA`.
    gamma : float, "scale" or None, default=None
        Coefficient of the kernel, as in `KernelPCA`.
    degree : float, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1
        Constant of the polynomial and the sigmoid kernel.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts. With the masses m = w/Σw, H is I − 1mᵀ, and the matrix is
        √w·HKHᵀ·√w; the points are VΛ^½ divided by √w. The problem is about the rows whose weight is
        not 0.

    Returns
    -------
    TraceProblem
        The problem. Beyond 20,000 rows HKH is known by its products, whose kernels are computed
        again each time.

    See Also
    --------
    KernelPCA : The estimator.
    mds_of_distances : The same problem for the kernel −½Δ∘Δ of distances.

    Notes
    -----
    The matrix takes n² numbers and O(n²·D) operations [1]_. It is centred in place.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola and K.-R. Müller, "Nonlinear component analysis as a kernel
       eigenvalue problem", Neural Computation, 10(5), 1299–1319, 1998.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.methods import kernel_pca
    >>> answer = embed(kernel_pca([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]]))
    >>> print(answer.values.round(6), answer.certificate.level)
    [4. 1.] proved
    """
    rows = numeric_table(X)
    given = None if sample_weight is None else validated_weights(sample_weight, rows.shape[0])
    weights = None if given is None else counting_weights(given)
    if kernel == "precomputed":
        K = present_rows(present_rows(np.array(X, dtype=float), given).T, given).T
        return kernel_problem(np.ascontiguousarray(K), None, n_components, weights)
    rows = present_rows(rows, given)
    numbers = {"gamma": gamma_of(gamma, rows, weights), "degree": degree, "coef0": coef0}
    parameters = numbers if isinstance(kernel, str) else {}
    return feature_problem(rows, Kernel(kernel, parameters), n_components, weights)


def kernel_problem(
    K: Array, features: KernelFeatures | None, count: int, weights: RowWeights | None = None
) -> TraceProblem:
    """Problem of a kernel's matrix, which is centred in place; `features` place new rows."""
    words = "" if features else symmetrize(K, "the mean of the kernels there and back")
    centred = centre_kernel(K, weights)
    error = centred.error
    if features is not None:
        shifted = features.shifted_rows(features.rows)
        stated = features.kernel.error_bound(shifted, centred.absolute_means)
        words = "" if stated is not None else "the kernel as its function returns it"
        error += (stated or 0.0) * (1.0 if weights is None else float(weights.values.max()))
    counted = "" if weights is None else weights.about
    about = joined_sentences(words, rounding_sentence(error, K, K.dtype), counted)
    lift = KernelLift(_roots(len(K), weights), features, centred.column_means)
    return TraceProblem(K, None, count, "max", lift=lift, about=about)


def feature_problem(
    X: Any, kernel: Kernel, count: int, weights: RowWeights | None = None
) -> TraceProblem:
    """Problem of rows X: by their matrix, or by its products where that is too large."""
    features = kernel_features(X, kernel)
    shifted = features.shifted_rows(X)
    if X.shape[0] <= MAX_DENSE_ROWS:
        return kernel_problem(kernel.matrix(shifted), features, count, weights)
    A = KernelProducts(shifted, kernel, weights)
    lift = KernelLift(_roots(X.shape[0], weights), features, A.column_means)
    words = "" if weights is None else weights.about
    about = joined_sentences("the kernel by its products, computed in tiles", words)
    return TraceProblem(A, None, count, "max", lift=lift, about=about)


def _roots(n: int, weights: RowWeights | None) -> Array:
    return np.ones(n) if weights is None else weights.roots


def kernel_features(X: Any, kernel: Kernel) -> KernelFeatures:
    """The kernel with the rows of X, which are centred first where that changes nothing."""
    kernel.refuse_rows(X)
    shifts = isinstance(kernel.function, str) and kernel.function in SHIFTED_KERNELS
    return KernelFeatures(X, kernel, column_means(X) if shifts and not sp.issparse(X) else None)


def nystrom_problem(
    X: Any, kernel: Kernel, count: int, landmarks: Array, weights: RowWeights | None = None
) -> TraceProblem:
    """Problem of all rows with the kernel that their kernels with the landmarks determine.

    K̂ = K_nm K_mm⁺ K_mn is at most K where the kernel is positive semidefinite, and equal to it for
    the landmarks: PCA of the n×m features K_nm K_mm^(-½).

    Williams and Seeger, "Using the Nyström method to speed up kernel machines" (2001).
    """
    features = replace(kernel_features(X, kernel), rows=X[landmarks]).with_whitening()
    table = features.table(X)
    problem = centred_problem(table, min(count, table.shape[1]), 1, weights=weights)
    plain: Any = problem.lift
    lift = NystromLift(plain.data, plain.mean, weights=weights, features=features, rows=X)
    about = f"the kernel that {len(landmarks):,} landmarks determine (Nyström)"
    return replace(problem, lift=lift, about=joined_sentences(about, problem.about))


def gamma_of(gamma: float | str | None, X: Any, weights: RowWeights | None = None) -> float:
    """The coefficient of a kernel: a number, 1/D for None, or 1/(the variance of the rows)."""
    if gamma is None:
        return 1 / X.shape[1]
    if gamma != "scale":
        return float(gamma)
    deviations = column_deviations(X, column_means(X, weights), weights, constant=0.0)
    variance = float(np.square(deviations).sum())
    return 1 / variance if variance > 0 else 1.0


@dataclass(eq=False, repr=False)
class KernelPCA(Estimator):
    """Kernel principal component analysis, with a proof that no directions keep more.

    A drop-in replacement for `sklearn.decomposition.KernelPCA`: PCA of features that are known by
    their inner products, the kernel, alone.

    Parameters
    ----------
    n_components : int ≥ 1 or None, default=None
        Number of components; None keeps all whose eigenvalue is not 0.
    kernel : {"additive_chi2", "chi2", "cosine", "laplacian", "linear", "poly", "precomputed", \
            "rbf", "sigmoid"} or callable, default="linear"
        Kernel of two rows, by its name in `sklearn.metrics.pairwise`; "linear" is PCA.

        "precomputed" means that X is the matrix K. A function of two rows is a kernel, too.
    gamma : float ≥ 0, "scale" or None, default=None
        Coefficient of the kernels rbf, laplacian, chi2, poly and sigmoid; None is 1/(number of
        columns), "scale" is 1/(sum of the columns' variances), which depends on no unit.
    degree : float ≥ 0, default=3
        Degree of the kernel poly.
    coef0 : float, default=1
        Constant of the kernels poly and sigmoid.
    kernel_params : dict or None, default=None
        Further arguments of a kernel that is a function.
    alpha : float ≥ 0, default=1.0
        Ridge of the regression that learns the way back.
    fit_inverse_transform : bool, default=False
        Whether to learn the way back from points to rows.
    inverse : {"fixed_point", "ridge"}, default="ridge"
        The way back: a regression, as in scikit-learn, or, for rbf alone, the row whose feature is
        nearest, by a fixed-point iteration from there.
    eigen_solver : {"arpack", "auto", "dense", "randomized"}, default="auto"
        How eigenvectors are computed; all are exact. "dense" is LAPACK, the others iterate.
    tol : float ≥ 0, default=0
        Tolerance of the iteration; 0 is to the last digits.
    max_iter : int ≥ 1 or None, default=None
        Ignored; the iteration ends where it has converged.
    iterated_power : int ≥ 0 or "auto", default="auto"
        Ignored.
    remove_zero_eig : bool, default=False
        Whether to remove components with eigenvalue 0, as `n_components=None` does.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks and of the iteration.
    copy_X : bool, default=True
        Whether to keep a copy of X, for new rows. False keeps a reference, and centres a
        precomputed X in place.
    n_jobs : int or None, default=None
        Number of processes for a kernel that is a function.
    landmarks : int ≥ 2, "auto" or None, default="auto"
        Number of rows whose kernels stand for those of all pairs (Nyström); None takes all pairs,
        auto does so up to 20,000 rows and takes 2,000 landmarks beyond.

    Attributes
    ----------
    eigenvalues_ : ndarray of shape (n_components,)
        Largest eigenvalues of the centred kernel; those within rounding of 0 are 0.
    eigenvectors_ : ndarray of shape (n_samples, n_components)
        Their eigenvectors; with weights those of √w·HKHᵀ·√w, of the rows that count.
    certificate_ : TraceCertificate
        How far from the optimum the components can be; print it.
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    gamma_ : float
        The coefficient that was used.
    X_fit_ : ndarray or sparse matrix of shape (n_samples, n_features)
        The fitted rows, or the landmarks only.
    dual_coef_ : ndarray of shape (n_samples, n_features)
        Coefficients of the regression from points to rows; only if the way back was learnt.
    X_transformed_fit_ : ndarray of shape (n_samples, n_components)
        Points that it was learnt from; only then.
    landmark_rows_ : ndarray of int or None
        Numbers of the landmarks; None where all pairs of rows were used.
    n_components_ : int
        Number of components.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    PCA : The linear kernel, without the n×n matrix.
    ClassicalMDS : The kernel −½Δ∘Δ of distances.
    DiffusionMaps : A kernel that is normalised, on a graph.
    dualfold.methods.kernel_pca : The problem that this estimator solves.

    Notes
    -----
    With K the kernel of all pairs of rows, and H = I − 11ᵀ/n, it solves [1]_::

        maximise tr(VᵀHKHV)  subject to  VᵀV = I

    and its points are VΛ^½. Of a kernel with negative eigenvalues the positive part is shown, with
    a warning where the sums show it; a component whose own eigenvalue is negative is refused, as in
    scikit-learn. The way back is a regression [4]_ or a fixed point [3]_.

    **Proof.** The certificate bounds the gap to the optimum for HKH, rounding errors included; for
    the kernels linear, poly, rbf, sigmoid, cosine and laplacian also those of their entries. With
    landmarks [2]_ it is about the kernel that they determine, which is at most the kernel itself.
    More than 20,000 rows with `landmarks=None` are known by products: there it is "measured".

    **Weights.** With `fit(X, sample_weight=w)` mean and covariance of the features are weighted,
    and so is the variance in `gamma="scale"`. A common factor of w multiplies the eigenvalues and
    changes nothing else. The regression of the way back has no weights, and landmarks are drawn
    without them: repeated rows have other landmarks.

    **Cost.** O(n²·D) operations for the kernel, in n² numbers that are centred in place; the proof
    takes as many once more. m landmarks take O(n·m·(D + m)) operations and n·m numbers. New rows
    take their kernels with all fitted rows.

    **Failure.** The map depends on `gamma`: if it is too large, every row is far from all others,
    and each component shows few of them; if it is very small, rbf is PCA. The first components of a
    curved surface are often functions of one another.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola and K.-R. Müller, "Nonlinear component analysis as a kernel
       eigenvalue problem", Neural Computation, 10(5), 1299–1319, 1998.
    .. [2] C. K. I. Williams and M. Seeger, "Using the Nyström method to speed up kernel machines",
       Advances in Neural Information Processing Systems 13, 682–688, 2001.
    .. [3] S. Mika et al., "Kernel PCA and de-noising in feature spaces", Advances in Neural
       Information Processing Systems 11, 536–542, 1998.
    .. [4] G. H. Bakır, J. Weston and B. Schölkopf, "Learning to find pre-images", Advances in
       Neural Information Processing Systems 16, 449–456, 2004.

    Examples
    --------
    >>> from dualfold import KernelPCA
    >>> from dualfold.data import digits
    >>> model = KernelPCA(3, kernel="rbf", gamma=1e-3).fit(digits().points[:200])
    >>> model.embedding_.shape, model.certificate_.level
    ((200, 3), 'proved')
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [StrOptions({*KERNEL_NAMES, "precomputed"}), callable],
        "gamma": [Interval(Real, 0, None, closed="left"), StrOptions({"scale"}), None],
        "degree": [Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "kernel_params": [dict, None],
        "alpha": [Interval(Real, 0, None, closed="left")],
        "fit_inverse_transform": ["boolean"],
        "inverse": [StrOptions({"ridge", "fixed_point"})],
        "eigen_solver": [StrOptions({"auto", "dense", "arpack", "randomized"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "iterated_power": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "remove_zero_eig": ["boolean"],
        "random_state": ["random_state"],
        "copy_X": ["boolean"],
        "n_jobs": [Integral, None],
        "landmarks": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"}), None],
    }

    n_components: int | None = None
    _: KW_ONLY
    kernel: Any = "linear"
    gamma: float | str | None = None
    degree: float = 3
    coef0: float = 1
    kernel_params: dict[str, Any] | None = None
    alpha: float = 1.0
    fit_inverse_transform: bool = False
    inverse: str = "ridge"
    eigen_solver: str = "auto"
    tol: float = 0
    max_iter: int | None = None
    iterated_power: int | str = "auto"
    remove_zero_eig: bool = False
    random_state: Seed = None
    copy_X: bool = True  # noqa: N815 (scikit-learn's name)
    n_jobs: int | None = None
    landmarks: int | str | None = "auto"

    fit = fit_with_weights
    fit_transform = fit_transform_with_weights

    def _fit(self, X: Rows, context: FitContext) -> None:
        self._refuse_way_back(X)
        weights = context.weights
        for name in ("dual_coef_", "X_transformed_fit_"):  # of a fit before
            self.__dict__.pop(name, None)
        self._present = None if weights is None else np.flatnonzero(weights)
        counting = None if weights is None else counting_weights(weights)
        rows = present_rows(X, weights)
        n = rows.shape[0]
        with fit_stage(self, "problem"):
            problem = self._problem(rows, self.n_components or n, counting)
        with fit_stage(self, "solution and certificate"):
            embedding = embed(problem, solver=self._solver(problem, context.start))
        self._masses = np.full(n, 1 / n) if counting is None else counting.values / counting.total
        self._keep(rows, embedding)
        if self.fit_inverse_transform:
            self._learn_way_back()
        if self._present is not None:  # rows of weight 0 are placed, too
            self.embedding_ = self._map(X)
            if self.landmark_rows_ is not None:
                self.landmark_rows_: Array | None = self._present[self.landmark_rows_]
        self.embedding_ = self.embedding_.astype(X.dtype, copy=False)

    def _keep(self, rows: Any, embedding: Embedding) -> None:
        """Set the fitted attributes, with signs as scikit-learn has them."""
        values = positive_eigenvalues(embedding.values, embedding.problem)
        kept = np.ones(len(values), dtype=bool)
        if self.n_components is None or self.remove_zero_eig:
            kept = values > 0
        values, points = values[kept], embedding.points[:, kept]
        signs = np.where((with_signs(points) == points).all(axis=0), 1.0, -1.0)
        vectors = embedding.solution.vectors[:, kept] * signs
        self.eigenvalues_, self.n_components_ = values, len(values)
        self.embedding_ = np.where(values > 0, points * signs, 0.0)
        unit = vectors
        if self.landmark_rows_ is not None:  # the vectors are those of the features
            unit = unit_columns(np.sqrt(self._masses)[:, None] * self.embedding_)
        self.eigenvectors_ = unit.astype(rows.dtype, copy=False)
        self.certificate_ = embedding.certificate
        lift: Any = embedding.problem.lift
        rule = lift.kernel_map(vectors, values)
        self.X_fit_ = rows if self.landmark_rows_ is None else rows[self.landmark_rows_]
        if self.kernel == "precomputed":
            rule = self._map_of_all_columns(rule, rows.shape[1])
            self._map: Any = rule
            return
        if self.copy_X and self.X_fit_ is rows:
            self.X_fit_ = rows.copy()
        self._map = replace(rule, features=replace(rule.features, rows=self.X_fit_))

    def _map_of_all_columns(self, rule: Any, width: int) -> LinearMap:
        """Map of kernels with all rows that were given: those of weight 0 do not count."""
        if self._present is None:
            return cast("LinearMap", rule)
        mean, components = np.zeros(width), np.zeros((self.n_components_, width))
        mean[self._present], components[:, self._present] = rule.mean, rule.components
        return LinearMap(mean, components)

    def _problem(self, X: Any, count: int, weights: RowWeights | None = None) -> TraceProblem:
        """By all pairs of rows or by landmarks; at most as many directions as rows."""
        count = min(count, X.shape[0])
        self.gamma_ = gamma_of(self.gamma, X, weights)
        self.landmark_rows_ = self._drawn_landmarks(X.shape[0])
        if self.kernel == "precomputed":
            whole = X if self._present is None else X[:, self._present]
            in_place = not self.copy_X and whole.dtype == float and whole.flags.writeable
            K = whole if in_place else whole.astype(float)
            return kernel_problem(K, None, count, weights)
        if self.landmark_rows_ is None:
            return feature_problem(X, self._kernel(), count, weights)
        return nystrom_problem(X, self._kernel(), count, self.landmark_rows_, weights)

    def _kernel(self) -> Kernel:
        if not isinstance(self.kernel, str):
            return Kernel(self.kernel, self.kernel_params or {}, self.n_jobs)
        numbers = {"gamma": self.gamma_, "degree": self.degree, "coef0": self.coef0}
        return Kernel(self.kernel, numbers)

    def _drawn_landmarks(self, n: int) -> Array | None:
        """Row numbers, drawn at random; None where all pairs of rows are used."""
        count = self.landmarks
        if count == "auto":
            count = AUTO_LANDMARKS if n > MAX_DENSE_ROWS else None
        if self.kernel == "precomputed" or count is None or int(count) >= n:
            return None
        rng = np.random.default_rng(seed_of(self.random_state))
        return np.sort(rng.choice(n, int(count), replace=False))

    def _solver(self, problem: TraceProblem, start: Array | None) -> Solver:
        """An iteration for few directions of many rows, which gives way to LAPACK if it is slow."""
        if not isinstance(problem.A, np.ndarray):
            return solver_to_last_digits(problem, start)
        few = problem.count <= problem.n // DENSE_SHARE and problem.n > MAX_LAPACK_ROWS
        if self.eigen_solver == "dense" or not few:
            return Dense()
        return Auto(tol=float(self.tol) or 1e-12, seed=seed_of(self.random_state), start=start)

    def _refuse_way_back(self, X: Rows) -> None:
        if not self.fit_inverse_transform:
            return
        if self.kernel == "precomputed":
            raise InvalidInput(
                "Cannot fit_inverse_transform with a precomputed kernel: there are no rows to go "
                "back to"
            )
        if sp.issparse(X):
            raise InvalidInput(
                Argument("fit_inverse_transform", True),
                " learns rows that are dense, and X is sparse; give X.toarray()",
            )
        if self.inverse == "fixed_point" and self.kernel != "rbf":
            raise InvalidInput(
                Argument("inverse", "fixed_point"),
                " is an iteration for ",
                Argument("kernel", "rbf"),
                " alone; ",
                Argument("inverse", "ridge"),
                " serves every kernel",
            )

    def _learn_way_back(self) -> None:
        rows = slice(None) if self.landmark_rows_ is None else self.landmark_rows_
        points = self.embedding_[rows]
        fitted = RidgePreimages.fit(self._kernel(), points, self.X_fit_, float(self.alpha))
        self.dual_coef_, self.X_transformed_fit_ = fitted.coefficients, fitted.points

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        """Some rows are fitted, and place the others."""
        rows.fit_landmarks(self, context.weights)

    def placing_map(self) -> Callable[[Rows], Array]:
        """Return the rule that places new rows.

        A new row x lies at Λ^(-½)Vᵀ(k − k̄), where k holds its kernels with the fitted rows and k̄
        their means.

        Returns
        -------
        callable
            A function of an array of rows, or of kernels with the fitted rows, that returns points.
        """
        check_is_fitted(self)
        rule: Callable[[Rows], Array] = self._map
        return rule

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        weights = context.weights
        self._present = None if weights is None else np.flatnonzero(weights)
        counting = None if weights is None else counting_weights(weights)
        rows = present_rows(X, weights)
        problem = self._problem(rows, asked_count(self, count, rows.shape[0]), counting)
        lift: Any = problem.lift
        return Statement(problem, lambda a: lift.kernel_map(a.solution.vectors, a.values))

    def inverse_transform(self, X: Any) -> Array:
        """Return rows whose points are near those of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Points of the map.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows in the space of the data.

        Raises
        ------
        NotFittedError
            If the way back was not learnt.
        """
        check_is_fitted(self)
        if not hasattr(self, "dual_coef_"):
            raise NotFittedError(
                "the way back was not learnt; fit with fit_inverse_transform=True to go from "
                "points to rows"
            )
        points = check_array(X, input_name="X", dtype=[np.float64, np.float32])
        ridge = RidgePreimages(self._kernel(), self.X_transformed_fit_, self.dual_coef_)
        rows = ridge(points)
        if self.inverse == "fixed_point":
            fixed = FixedPointPreimages.of(self._map, self.X_transformed_fit_, self._masses)
            rows = fixed(points, rows)
        return np.asarray(rows.astype(points.dtype, copy=False))

    def _checked_rows(self, X: Any, *, reset: bool) -> Rows:
        given = self.kernel == "precomputed"
        checked = checked_rows(self, X, reset=reset, sparse=not given)
        if given and reset and checked.shape[0] != checked.shape[1]:
            raise InvalidInput(
                Argument("kernel", "precomputed"),
                " needs the square matrix of all pairs of rows; the shape of ",
                InPython("X"),
                f" is {checked.shape}",
            )
        return checked

    @property
    def _n_features_out(self) -> int:
        return int(self.eigenvalues_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        dense = isinstance(self.kernel, str) and self.kernel in ("precomputed", *POSITIVE_KERNELS)
        tags.input_tags.sparse = not dense and not self.fit_inverse_transform
        return tags


def positive_eigenvalues(values: Array, problem: TraceProblem) -> Array:
    """Eigenvalues with rounding around 0 set to 0; those that are negative indeed are refused.

    A kernel with negative eigenvalues among those that were not asked for is warned of where the
    sums show it: the positive ones then add up to more than the trace.
    """
    largest = float(values.max(initial=0.0))
    lowest = float(values.min(initial=0.0))
    if lowest < -max(SIGNIFICANT_NEGATIVE_SHARE * largest, SIGNIFICANT_NEGATIVE):
        raise InvalidInput(
            "There are significant negative eigenvalues among the components: the lowest is "
            f"{lowest:.3g}, the largest {largest:.3g}. The kernel is not positive semidefinite; "
            "take another one, or lower ",
            Argument("n_components"),
        )
    A: Any = problem.A
    trace = float(np.trace(A)) if isinstance(A, np.ndarray) else float(A.trace)
    beyond = float(values[values > 0].sum()) - trace
    if beyond > SIGNIFICANT_NEGATIVE_SHARE * max(largest, 0.0):
        warn(
            ConditionFails(
                "the kernel is not positive semidefinite: its negative eigenvalues add up to "
                f"{-beyond:.3g} or less, and its largest is {largest:.3g}. The map shows its "
                "positive part"
            )
        )
    return np.where(values > MIN_POSITIVE_SHARE * largest, values, 0.0)

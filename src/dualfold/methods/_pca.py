"""Principal component analysis as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import assert_all_finite, check_is_fitted, validate_data

from dualfold.arrays import Array
from dualfold.data.labels import Labels
from dualfold.errors import Argument, InvalidInput
from dualfold.estimators.gradient_axes import DESCENTS, DescentSettings, error_history
from dualfold.estimators.linear import LinearEstimator, signed
from dualfold.estimators.loadings import Loadings
from dualfold.estimators.principal_axes import (
    KEPT_WIDTH,
    Count,
    PrincipalAxes,
    kept_moments,
    principal_axes,
    singular_vectors,
)
from dualfold.estimators.probabilistic import ProbabilisticModel
from dualfold.estimators.stated import Scaling, Stated, linear_statement
from dualfold.inputs import numbers_of
from dualfold.maps.linear import LinearMap
from dualfold.methods.pca import Matrix, pca, pca_matrix
from dualfold.scale.moments import Moments, moments_of
from dualfold.scale.table import TiledTable, is_tiled

# Up to this many rows and columns a singular value decomposition costs nothing
# noticeable (scikit-learn draws the line there too).
SMALL = 500
SPARSE_SOLVERS = ("auto", "arpack", "covariance_eigh", *DESCENTS)


class PCA(Loadings, ProbabilisticModel, LinearEstimator):
    """The directions along which the data varies most, with a proof that they are.

    A drop-in for `sklearn.decomposition.PCA`: same parameters, attributes and signs. Every
    `svd_solver` of its is exact here: "full" is a singular value decomposition of the
    centred data (small singular values to full precision), "covariance_eigh" the
    eigenvectors of the D×D covariance, "auto", "arpack" and "randomized" those of the smaller
    of the covariance and the n×n Gram matrix (data too large for either: products with it,
    certified as measured). `copy`, `iterated_power`, `n_oversamples` and
    `power_iteration_normalizer` are accepted and change nothing, nor do `tol` and
    `random_state` but for descents: X is never overwritten, nothing is drawn at random.

    Two further solvers descend on ‖XUUᵀ − X‖² by products with X alone: "gradient" is
    accelerated, takes the best step at every turn and stops when the angle to the optimum is
    at most `tol` (1e-7 for 0); "gradient-paper" is the averaged, normalised descent of
    Tucker's paper, which ends where it ends. Both begin at random (`random_state`) unless
    a start is given.

    Parameters
    ----------
    n_components : int; a share of the variance in (0, 1); "mle" (Minka's estimate); "auto"
        (90 % of the variance; `n_components_reason_` says so in words); None for all
    whiten : divide the coordinates by their standard deviations
    svd_solver : how the directions are found; all but "gradient-paper" are exact
    tol : of "gradient": the angle to the optimum at which it stops; 0 is 1e-7
    random_state : of the start of "gradient" and "gradient-paper"
    standardize : divide each feature by its standard deviation first (divisor n);
        `inverse_transform` undoes it
    gradient_start : "orthonormal" (random; the paper's is scaled to Frobenius norm 1), or an
        array n_features × n_components to descend from
    gradient_step : length of the paper's steps; None is 25/√rounds, as its text has it
        (its author's runs took 1/√rounds)
    gradient_rounds : number of the paper's steps

    Attributes
    ----------
    components_, explained_variance_, explained_variance_ratio_, singular_values_, mean_,
    n_components_, n_samples_, noise_variance_, n_features_in_ : as in scikit-learn
    scale_ : what features are divided by, or None
    loadings_ : n_features × n_components, covariances of features and axes of variance 1
    eigenvalues_ : values of the trace problem (variances with divisor n)
    certificate_ : how far from optimal the directions can be; None for 0 components
    n_components_reason_ : why so many components, in words; None where you said so
    history_, n_iter_ : of descents, a row a step: the share of the variance not explained,
        and a bound of its excess (infinite where there is none)

    Examples
    --------
    >>> from dualfold import PCA
    >>> from dualfold.data import digits
    >>> model = PCA(n_components=0.9).fit(digits().points)  # 90 % of the variance
    >>> model.n_components_, model.certificate_.level
    (21, 'proved')
    >>> print(model.explained_variance_ratio_[:3].round(3))
    [0.149 0.136 0.118]
    """

    _looks_for_gaps = False  # `_checked` does, where the squares would not show them
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [
            Interval(Integral, 0, None, closed="left"),
            Interval(RealNotInt, 0, 1, closed="neither"),
            StrOptions({"mle", "auto"}),
            None,
        ],
        "copy": ["boolean"],
        "whiten": ["boolean"],
        "svd_solver": [
            StrOptions({"auto", "full", "covariance_eigh", "arpack", "randomized", *DESCENTS})
        ],
        "tol": [Interval(Real, 0, None, closed="left")],
        "iterated_power": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "random_state": ["random_state"],
        "standardize": ["boolean"],
        "gradient_start": [StrOptions({"orthonormal"}), "array-like"],
        "gradient_step": [Interval(Real, 0, None, closed="neither"), None],
        "gradient_rounds": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | float | str | None = None,
        *,
        copy: bool = True,
        whiten: bool = False,
        svd_solver: str = "auto",
        tol: float = 0.0,
        iterated_power: int | str = "auto",
        n_oversamples: int = 10,
        power_iteration_normalizer: str = "auto",
        random_state: Any = None,
        standardize: bool = False,
        gradient_start: Any = "orthonormal",
        gradient_step: float | None = None,
        gradient_rounds: int = 10,
    ) -> None:
        self.n_components = n_components
        self.copy = copy
        self.whiten = whiten
        self.svd_solver = svd_solver
        self.tol = tol
        self.iterated_power = iterated_power
        self.n_oversamples = n_oversamples
        self.power_iteration_normalizer = power_iteration_normalizer
        self.random_state = random_state
        self.standardize = standardize
        self.gradient_start = gradient_start
        self.gradient_step = gradient_step
        self.gradient_rounds = gradient_rounds

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit and return the coordinates of X; they are not kept in the estimator."""
        if is_tiled(X):
            return self._transform_tiles(self._fit_tiled(X, y))
        checked = self._checked(X, reset=True)
        self._fit(checked)
        return self.placing_map()(checked).astype(checked.dtype, copy=False)

    # Descents have no use for the scatter matrix that batches are merged in.
    @available_if(lambda self: self.svd_solver not in DESCENTS)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add a batch of rows: afterwards as if all rows so far had been fitted at once.

        Means and scatter matrices of the batches are merged exactly (Chan, Golub and
        LeVeque 1979), so the order and the size of batches do not matter beyond rounding.
        Keeps a D×D matrix; the certificate is that of all rows seen. `fit` begins anew.
        """
        moments: Moments | None = getattr(self, "_moments", None)
        if moments is None and hasattr(self, "components_"):
            raise InvalidInput(
                "this PCA was fitted with `fit`, which keeps its scatter matrix only where it forms"
                f" one of up to {KEPT_WIDTH} features: there is nothing to add to. Give all batches"
                " to partial_fit of a new one (sklearn.base.clone(pca))"
            )
        batch = validate_data(
            self,
            numbers_of(X),
            reset=moments is None,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
        )
        added = Moments.of(batch)
        moments = added if moments is None else moments + added
        if moments.count < 2:
            raise InvalidInput("the first batch has 1 sample; variances need at least 2")
        shape = (moments.count, batch.shape[1])
        name = self._solver_name(shape, sparse=False)
        problem = moments.problem(standardize=self.standardize)
        self._keep(principal_axes(problem, None, self._count_for(name, shape)), shape, batch.dtype)
        self._moments: Moments | None = moments
        return self

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """As for all, but NaN in rows that will be squared shows in the squares."""
        rows = super()._checked(X, reset=reset)
        dense = isinstance(rows, np.ndarray) and pca_matrix(rows.shape) == "covariance"
        squared = dense and self.svd_solver not in DESCENTS and not self.standardize
        if not (reset and squared):
            self._refuse_gaps(rows)
        return rows

    def _refuse_gaps(self, rows: Any) -> None:
        """Raise scikit-learn's error for NaN and infinite entries."""
        assert_all_finite(rows, estimator_name=type(self).__name__, input_name="X")

    def _fit(self, X: Any) -> None:
        name = self._solver_name(X.shape, sparse=sp.issparse(X))
        choose = self._count_for(name, X.shape)
        # scikit-learn's word for the case; tools that look for it find it here too.
        self._fit_svd_solver = name
        matrix: Matrix = "covariance" if name == "covariance_eigh" else "auto"
        matrix = "products" if name in DESCENTS else matrix
        try:
            problem = pca(X, n_components=1, standardize=self.standardize, matrix=matrix)
        except InvalidInput:
            self._refuse_gaps(X)
            raise
        self._moments = kept_moments(problem, X)
        decomposed = None
        if self.svd_solver == "full" or (name == "full" and max(X.shape) <= SMALL):
            decomposed = singular_vectors(X, problem)
        elif name in DESCENTS:
            decomposed = self._descent.solution(problem, choose)
            self.history_ = error_history(problem, decomposed)
            self.n_iter_ = len(self.history_) - 1
        self._keep(principal_axes(problem, decomposed, choose), X.shape, X.dtype)

    def _fit_tiles(self, rows: TiledTable, y: Any) -> None:
        """The same problem, with the scatter matrix added up from those of the tiles."""
        if self.svd_solver in DESCENTS:
            raise InvalidInput(
                Argument("svd_solver", self.svd_solver),
                " goes through all rows at every step, and X is a table in tiles; ",
                Argument("svd_solver", "auto"),
                " goes through them once",
            )
        moments = moments_of(rows)
        shape = (moments.count, rows.width)
        self._fit_svd_solver = "covariance_eigh"
        choose = self._count_for(self._solver_name(shape, sparse=False), shape)
        problem = moments.problem(standardize=self.standardize)
        self._keep(principal_axes(problem, None, choose), shape, rows.dtype)
        self._moments = moments if rows.width <= KEPT_WIDTH else None

    def _keep(self, answer: PrincipalAxes, shape: tuple[int, int], dtype: Any) -> None:
        """Set the fitted attributes in the precision of the data."""
        n, count = shape[0], answer.choice.count
        variances = answer.values * (n / (n - 1))
        total = answer.total * (n / (n - 1))
        left = min(shape) - count
        map_ = answer.map
        self.components_ = signed(map_.components).astype(dtype, copy=False)
        self.mean_ = map_.mean.astype(dtype, copy=False)
        self.scale_ = None if map_.scale is None else map_.scale.astype(dtype, copy=False)
        self.eigenvalues_ = answer.values
        self.certificate_ = answer.certificate
        self.explained_variance_ = variances.astype(dtype, copy=False)
        self.explained_variance_ratio_ = (
            variances / total if total > 0 else np.zeros(count)
        ).astype(dtype, copy=False)
        self.singular_values_ = np.sqrt(variances * (n - 1)).astype(dtype, copy=False)
        self.noise_variance_ = max(0.0, float(total - variances.sum()) / left) if left else 0.0
        self.n_samples_ = n
        self.n_components_ = count
        self.n_components_reason_ = answer.choice.reason or None

    def _solver_name(self, shape: tuple[int, int], *, sparse: bool) -> str:
        """What `svd_solver` stands for on data of that shape (scikit-learn's rules)."""
        if sparse and self.svd_solver not in SPARSE_SOLVERS:
            raise TypeError(
                'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, '
                f'while "{self.svd_solver}" was passed; svd_solver="auto" takes sparse data too'
            )
        if self.svd_solver != "auto":
            return self.svd_solver
        if sparse:
            return "auto" if isinstance(self.n_components, str) else "arpack"
        n, width = shape
        if width <= 1_000 and n >= 10 * width:
            return "covariance_eigh"
        wanted = self.n_components
        few = isinstance(wanted, Integral) and 1 <= int(wanted) < 0.8 * min(shape)
        return "randomized" if few and max(shape) > SMALL else "full"

    def _count_for(self, name: str, shape: tuple[int, int]) -> Count:
        """How the number of components is found, or why it cannot be."""
        wanted, most = self.n_components, min(shape)
        if wanted is None:
            return Count(most - 1 if name == "arpack" and most > 1 else most, shape)
        truncated = name in ("arpack", "randomized", *DESCENTS) and self.svd_solver != "auto"
        if isinstance(wanted, str):
            if truncated:
                raise InvalidInput(
                    Argument("n_components", wanted),
                    " cannot be a string with ",
                    Argument("svd_solver", name),
                    "; use ",
                    Argument("svd_solver", "auto"),
                )
            if wanted == "mle" and shape[0] < shape[1]:
                raise InvalidInput(
                    Argument("n_components", "mle"),
                    " is only supported if n_samples >= n_features; the data has "
                    f"{shape[0]} samples and {shape[1]} features. Use 'auto' or a number",
                )
            return Count(wanted, shape)
        least = 1 if truncated else 0
        if not least <= wanted <= most:
            raise InvalidInput(
                Argument("n_components", wanted),
                f" must be between {least} and min(n_samples, n_features)={most} with ",
                Argument("svd_solver", name),
            )
        if wanted == most and self.svd_solver == "arpack":
            raise InvalidInput(
                Argument("n_components", wanted),
                f" must be strictly less than min(n_samples, n_features)={most} with ",
                Argument("svd_solver", "arpack"),
                "; ",
                Argument("svd_solver", "auto"),
                " gives all of them",
            )
        return Count(wanted if isinstance(wanted, Integral) else float(wanted), shape)

    @property
    def _descent(self) -> DescentSettings:
        settings = (self.gradient_start, self.gradient_step, self.gradient_rounds)
        return DescentSettings(self.svd_solver, *settings, self.tol, self.random_state)

    def placing_map(self) -> Callable[[Any], Array]:
        """The linear map, divided by the standard deviations where it whitens."""
        check_is_fitted(self)
        return Scaling(over=self._deviations if self.whiten else None).rule(self._linear_map)

    def _stated(self, X: Any, count: int, labels: Labels | None = None) -> Stated:
        n, asked = X.shape[0], self._asked(count, min(X.shape))
        problem = pca(X, n_components=asked, standardize=self.standardize)

        def scaling(values: Array) -> Scaling:
            return Scaling(over=_deviations(values * (n / (n - 1))) if self.whiten else None)

        return linear_statement(problem, scaling)

    def inverse_transform(self, X: Any) -> Array:
        """mean + zC, with whitening and standardisation undone."""
        if not self.whiten or is_tiled(X):
            return super().inverse_transform(X)
        check_is_fitted(self)
        return super().inverse_transform(np.asarray(X) * self._deviations)

    @property
    def _deviations(self) -> Array:
        return _deviations(self.explained_variance_)

    @property
    def _linear_map(self) -> LinearMap:
        return LinearMap(self.mean_, self.components_, self.scale_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver in SPARSE_SOLVERS
        return tags


def _deviations(variances: Array) -> Array:
    """What whitening divides by; directions without extent are left finite."""
    return np.maximum(np.sqrt(variances), np.finfo(variances.dtype).eps)

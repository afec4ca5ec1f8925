"""Principal component analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import assert_all_finite, check_is_fitted

from dualfold.arrays import Array
from dualfold.data.column_moments import column_deviations, column_means
from dualfold.data.labels import Labels
from dualfold.errors import Argument, InvalidInput
from dualfold.fitting.estimator import (
    Scaling,
    Statement,
    asked_count,
    checked_rows,
    fit_any_table,
    linear_statement,
)
from dualfold.fitting.linear import LinearEstimator, normalize_signs
from dualfold.fitting.moments import Moments
from dualfold.fitting.principal_axes import (
    DESCENT_SOLVERS,
    MAX_KEPT_WIDTH,
    MAX_SMALL_SIDE,
    SPARSE_SOLVERS,
    PrincipalAxes,
    count_for,
    descent_settings,
    error_history,
    kept_moments,
    principal_axes,
    singular_vectors,
    solver_for,
)
from dualfold.fitting.probabilistic import gaussian_model
from dualfold.fitting.tiles import TiledRows, tiled_rows
from dualfold.graph.number_rows import refuse_column_units, refuse_units
from dualfold.maps.linear_map import GramProjectionLift, ProjectionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.covariance import CentredScatter, scatter, scatter_error, scatter_kind
from dualfold.weights.gram import (
    MAX_DENSE_ROWS,
    gram_kind,
    point_gram,
    point_gram_error,
    refuse_scale,
)
from dualfold.weights.precision import rounding_sentence
from dualfold.weights.row_passes import numeric_table

if TYPE_CHECKING:
    import pandas as pd

Matrix = Literal["auto", "covariance", "gram", "products"]

# Sparse X of more rows and columns than this is known by its products: the matrix (200 MB)
# would take longer to fill than a few hundred products take.
MOST_SPARSE_ROWS = 5_000


def pca(
    X: Any,
    *,
    n_components: int = 2,
    standardize: bool = False,
    matrix: Matrix = "auto",
    precision: type[np.floating] | None = None,
) -> TraceProblem:
    """The directions along which the data varies most.

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX/n       (covariance, D×D)
                                                  A = HXXᵀH/n      (Gram, n×n)

    Preserves variance: no other linear map to so few dimensions loses less (Eckart and
    Young). Fails to see anything curved; a roll stays rolled. The value of the problem
    is the variance kept (divisor n), its points are H·X·V. Both matrices have the same
    values and points: with λ and c of the Gram matrix the points are c√(nλ) and the
    component is XᵀHc/√(nλ). `matrix`="auto" takes the smaller matrix, or where both are too large
    the covariance by its "products" alone (certified as measured, not proved); sparse X
    is not filled on any. `standardize` divides each feature by its standard deviation
    first (features that do not vary stay as they are). A is rounded as every number is;
    where that may count, `about` says how much (`dualfold.weights.precision`). Large tables of
    float32 are multiplied in float32 unless `precision` is np.float64.

    Pearson, "On lines and planes of closest fit to systems of points in space" (1901).
    """
    data = numeric_table(X)
    scale = column_deviations(data, column_means(data)) if standardize else None
    return centred_problem(data, n_components, data.shape[0], matrix, scale, precision=precision)


def centred_problem(
    X: Any,
    count: int,
    divisor: int,
    matrix: Matrix = "auto",
    scale: Any = None,
    *,
    precision: type[np.floating] | None = None,
) -> TraceProblem:
    """XᵀHX/m or HXXᵀH/m with m = `divisor` and features divided by `scale` (None: 1)."""
    data = numeric_table(X)
    if scale is not None:
        refuse_column_units(scale)
    matrix = pca_matrix(data.shape, matrix, sparse=sp.issparse(data))
    if matrix == "covariance":
        total, mean = scatter(data, precision=precision)
        A: Any = (total if scale is None else total / np.outer(scale, scale)) / divisor
        error = scatter_error(data, total, mean, scale, precision=precision) / divisor
        kind = scatter_kind(data, precision)
    else:
        mean = column_means(data)
    if matrix == "gram":
        total = point_gram(data, mean, scale, precision=precision)
        refuse_scale(float(np.trace(total)), data)
        A, kind = total / divisor, gram_kind(data, precision)
        error = point_gram_error(data, total, mean, scale, precision=precision) / divisor
    if matrix == "products":
        A = CentredScatter(data, mean, scale, divisor)
        error, kind = A.product_error, np.float64
    lift: Any = ProjectionLift(data, mean, scale)
    if matrix == "gram":
        lift = GramProjectionLift(data, mean, scale, divisor)
    about = rounding_sentence(error, A, kind)
    return TraceProblem(A, None, count, "max", lift=lift, about=about)


def pca_matrix(shape: tuple[int, int], matrix: Matrix = "auto", *, sparse: bool = False) -> Matrix:
    """The matrix to take for data of this shape: the smaller one, unless that is too large."""
    if matrix not in ("auto", "covariance", "gram", "products"):
        raise InvalidInput(
            Argument("matrix"), f" is {matrix!r}; it is 'auto', 'covariance', 'gram' or 'products'"
        )
    if matrix != "auto":
        return matrix
    if min(shape) > (MOST_SPARSE_ROWS if sparse else MAX_DENSE_ROWS):
        return "products"
    return "gram" if shape[0] < shape[1] else "covariance"


@dataclass(eq=False, repr=False)
class PCA(LinearEstimator):
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
            StrOptions(
                {"auto", "full", "covariance_eigh", "arpack", "randomized", *DESCENT_SOLVERS}
            )
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

    n_components: int | float | str | None = None
    _: KW_ONLY
    copy: bool = True
    whiten: bool = False
    svd_solver: str = "auto"
    tol: float = 0.0
    iterated_power: int | str = "auto"
    n_oversamples: int = 10
    power_iteration_normalizer: str = "auto"
    random_state: Any = None
    standardize: bool = False
    gradient_start: Any = "orthonormal"
    gradient_step: float | None = None
    gradient_rounds: int = 10

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Fit and return the coordinates of X; they are not kept in the estimator."""
        rows = tiled_rows(X)
        if rows is not None:
            fit_any_table(self, X, y)
            return rows.transform_with(self)
        checked = self._checked_rows(X, reset=True)
        self._fit(checked, None)
        return self.placing_map()(checked).astype(checked.dtype, copy=False)

    # Descents have no use for the scatter matrix that batches are merged in.
    @available_if(lambda self: self.svd_solver not in DESCENT_SOLVERS)
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
                f" one of up to {MAX_KEPT_WIDTH} features: there is nothing to add to. Give all "
                "batches to partial_fit of a new one (sklearn.base.clone(pca))"
            )
        batch = checked_rows(self, X, reset=moments is None, least_rows=1)
        added = Moments.of(batch)
        moments = added if moments is None else moments + added
        if moments.count < 2:
            raise InvalidInput("the first batch has 1 sample; variances need at least 2")
        shape = (moments.count, batch.shape[1])
        name = solver_for(self, shape, sparse=False)
        problem = moments.problem(standardize=self.standardize)
        self._keep_axes(
            principal_axes(problem, None, count_for(self, name, shape)), shape, batch.dtype
        )
        self._moments: Moments | None = moments
        return self

    def _checked_rows(self, X: Any, *, reset: bool) -> Any:
        """As for all, but NaN and units of rows that will be squared show in the squares."""
        rows = checked_rows(self, X, reset=reset, finite=False)
        dense = isinstance(rows, np.ndarray) and pca_matrix(rows.shape) == "covariance"
        squared = dense and self.svd_solver not in DESCENT_SOLVERS and not self.standardize
        if not (reset and squared):
            with np.errstate(invalid="ignore"):  # infinities are added up, and refused
                assert_all_finite(rows, estimator_name=type(self).__name__, input_name="X")
            refuse_units(rows, fitted=reset)
        return rows

    def _fit(self, X: Any, labels: Labels | None) -> None:
        name = solver_for(self, X.shape, sparse=sp.issparse(X))
        choose = count_for(self, name, X.shape)
        # scikit-learn's word for the case; tools that look for it find it here too.
        self._fit_svd_solver = name
        matrix: Matrix = "covariance" if name == "covariance_eigh" else "auto"
        matrix = "products" if name in DESCENT_SOLVERS else matrix
        by_svd = self.svd_solver == "full" or (name == "full" and max(X.shape) <= MAX_SMALL_SIDE)
        # As precise as the singular values that it judges.
        precision = np.float64 if by_svd else None
        try:
            problem = pca(
                X,
                n_components=1,
                standardize=self.standardize,
                matrix=matrix,
                precision=precision,
            )
        except InvalidInput:
            with np.errstate(invalid="ignore"):
                assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            raise
        self._moments = kept_moments(problem, X, precision)
        decomposed = None
        if by_svd:
            decomposed = singular_vectors(X, problem)
        elif name in DESCENT_SOLVERS:
            decomposed = descent_settings(self).solution(problem, choose)
            self.history_ = error_history(problem, decomposed)
            self.n_iter_ = len(self.history_) - 1
        self._keep_axes(principal_axes(problem, decomposed, choose), X.shape, X.dtype)

    def _fit_tiles(self, rows: TiledRows, y: Any) -> None:
        """The same problem, with the scatter matrix added up from those of the tiles."""
        if self.svd_solver in DESCENT_SOLVERS:
            raise InvalidInput(
                Argument("svd_solver", self.svd_solver),
                " goes through all rows at every step, and X is a table in tiles; ",
                Argument("svd_solver", "auto"),
                " goes through them once",
            )
        moments = rows.moments()
        shape = (moments.count, rows.width)
        self._fit_svd_solver = "covariance_eigh"
        choose = count_for(self, solver_for(self, shape, sparse=False), shape)
        problem = moments.problem(standardize=self.standardize)
        self._keep_axes(principal_axes(problem, None, choose), shape, rows.dtype)
        self._moments = moments if rows.width <= MAX_KEPT_WIDTH else None

    def _keep_axes(self, answer: PrincipalAxes, shape: tuple[int, int], dtype: Any) -> None:
        """Set the fitted attributes in the precision of the data."""
        n, count = shape[0], answer.choice.count
        variances = answer.values * (n / (n - 1))
        total = answer.total * (n / (n - 1))
        left = min(shape) - count
        map_ = answer.map
        self.components_ = normalize_signs(map_.components).astype(dtype, copy=False)
        # In float64: rounded to float32, a mean far from 0 would be off by more than the spread.
        self.mean_, self.scale_ = map_.mean, map_.scale
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

    def placing_map(self) -> Callable[[Any], Array]:
        """The linear map, divided by the standard deviations where it whitens."""
        check_is_fitted(self)
        over = self._white_deviations() if self.whiten else None
        return Scaling(over).rule(self._linear_map())

    def _statement(self, X: Any, count: int, labels: Labels | None) -> Statement:
        n, asked = X.shape[0], asked_count(self, count, min(X.shape))
        problem = pca(X, n_components=asked, standardize=self.standardize)

        def scaling(values: Array) -> Scaling:
            deviations = _deviations(values * (n / (n - 1)), X.dtype)
            return Scaling(over=deviations if self.whiten else None)

        return linear_statement(problem, scaling)

    def inverse_transform(self, X: Any) -> Array:
        """mean + zC, with whitening and standardisation undone."""
        if not self.whiten or tiled_rows(X) is not None:
            return super().inverse_transform(X)
        check_is_fitted(self)
        points = np.asarray(X)
        kind = np.float32 if points.dtype == np.float32 else np.float64
        return super().inverse_transform((points * self._white_deviations()).astype(kind))

    def _white_deviations(self) -> Array:
        """From the variances in float64: in float32 they may underflow."""
        n = self.n_samples_
        return _deviations(self.eigenvalues_ * (n / (n - 1)), self.components_.dtype)

    @property
    def loadings_(self) -> Array:
        """A row a feature: its covariance with each axis, once that has variance 1.

        components_.T·√explained_variance_; of features of variance 1 it is their correlation.
        """
        check_is_fitted(self)
        return np.asarray(self.components_.T * np.sqrt(self.explained_variance_))

    def loadings_frame(self) -> pd.DataFrame:
        """The loadings as a table: a row a feature by its name, a column an axis."""
        names = getattr(self, "feature_names_in_", None)
        return table_of_loadings(self.loadings_, names, self.get_feature_names_out())

    def get_covariance(self) -> Array:
        """CᵀΛC + σ²(I − CᵀC): the covariance of the probabilistic model, in the data's units.

        σ² is `noise_variance_`, the mean of the variances not kept. It does not depend
        on `whiten`, which changes the coordinates and not the model.
        """
        return gaussian_model(self).covariance().astype(self.components_.dtype, copy=False)

    def get_precision(self) -> Array:
        """The inverse of `get_covariance`, in O(D²·n_components) (orthonormal components).

        Without noise and with directions of no extent there is no inverse; this is then
        the pseudo-inverse.
        """
        return gaussian_model(self).precision().astype(self.components_.dtype, copy=False)

    def score_samples(self, X: Any) -> Array:
        """The log-likelihood of each row under the probabilistic model (Tipping and Bishop)."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False, sparse=False)
        return gaussian_model(self).log_likelihoods(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of the rows of X."""
        return float(np.mean(self.score_samples(X)))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver in SPARSE_SOLVERS
        return tags


def _deviations(variances: Array, kind: Any) -> Array:
    """What whitening divides by; directions without extent are left finite.

    kind : of the coordinates, whose rounding is not to be magnified
    """
    deviations = np.sqrt(np.maximum(variances, 0.0))
    least = np.finfo(kind).eps * deviations.max(initial=0.0)
    return np.maximum(deviations, least or 1.0)


def table_of_loadings(loadings: Array, names: Sequence[str] | None, axes: Any) -> pd.DataFrame:
    """Loadings as a table, a row a feature; features without names are counted from 1."""
    import pandas as pd

    if names is None:
        names = [f"column_{place + 1}" for place in range(len(loadings))]
    return pd.DataFrame(loadings, index=list(names), columns=axes)

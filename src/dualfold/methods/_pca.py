"""Principal component analysis."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import assert_all_finite, check_is_fitted

from dualfold.arrays import Array, DType, Rows, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.number_rows import refuse_column_units, refuse_units
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import (
    Scaling,
    Statement,
    asked_count,
    checked_rows,
    fit_any_table,
    linear_statement,
    unfitted_on_failure,
    weights_if_given,
)
from dualfold.methods.fitting.linear import LinearEstimator, normalize_signs
from dualfold.methods.fitting.moments import Moments
from dualfold.methods.fitting.principal_axes import (
    DESCENT_SOLVERS,
    MAX_KEPT_WIDTH,
    MAX_SMALL_SIDE,
    SPARSE_SOLVERS,
    Count,
    PrincipalAxes,
    count_for,
    error_history,
    gradient_settings,
    kept_moments,
    principal_axes,
    singular_vectors,
    solver_for,
)
from dualfold.methods.fitting.probabilistic import gaussian_model
from dualfold.methods.fitting.tiles import TiledRows, tiled_rows
from dualfold.methods.fitting.weighted_fit import fit_with_weights
from dualfold.methods.maps.linear_map import GramProjectionLift, ProjectionLift
from dualfold.methods.parameters import Constraints, GivenWeights
from dualfold.trace.problem import TraceProblem
from dualfold.weights.column_moments import column_deviations, column_means
from dualfold.weights.covariance import (
    CentredScatter,
    RowShift,
    scatter,
    scatter_error,
    scatter_kind,
    shifted_scatter,
)
from dualfold.weights.gram import (
    MAX_DENSE_ROWS,
    gram_kind,
    point_gram,
    point_gram_error,
    refuse_scale,
)
from dualfold.weights.precision import joined_sentences, rounding_sentence
from dualfold.weights.row_passes import numeric_table
from dualfold.weights.row_weights import RowWeights, present_rows, row_total, weighted_rows

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
    sample_weight: GivenWeights = None,
) -> TraceProblem:
    """Principal component analysis as a trace problem.

    The problem is::

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX/n       (covariance, D×D)
                                                  A = HXXᵀH/n      (Gram, n×n)

    where H = I − 11ᵀ/n centres. Its points are HXV, and its value is the variance that they keep
    (divisor n). Both matrices have the same values and points: with the eigenvalue λ and the
    eigenvector c of the Gram matrix, the points are c√(nλ) and the component is XᵀHc/√(nλ).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; sparse matrices are taken, too.
    n_components : int, default=2
        Number of coordinates.
    standardize : bool, default=False
        Whether to divide each feature by its standard deviation first. Features that do not vary
        stay as they are.
    matrix : {"auto", "covariance", "gram", "products"}, default="auto"
        "covariance" or "gram"; "products" forms neither and multiplies by X only; "auto" takes the
        smaller matrix, or products where both are too large.
    precision : type or None, default=None
        Precision of the products. None multiplies large tables of float32 in float32; `np.float64`
        does not.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts: then A = Σ w(x − x̄)(x − x̄)ᵀ/Σw with the weighted mean x̄, in
        float64. The problem is about the rows whose weight is not 0.

    Returns
    -------
    TraceProblem
        The problem. Where the rounding of A may matter, its field `about` bounds it.

    See Also
    --------
    PCA : The estimator.
    mds : The same problem with the divisor 1.

    Notes
    -----
    No linear map to as few dimensions keeps more variance [1]_, [2]_. To form A takes O(n·D·min(n,
    D)) operations and min(n, D)² numbers. Sparse X stays sparse. Answers by products are certified
    as "measured", not as "proved". PCA sees nothing that is curved: a roll stays rolled.

    References
    ----------
    .. [1] K. Pearson, "On lines and planes of closest fit to systems of points in space", The
       London, Edinburgh, and Dublin Philosophical Magazine and Journal of Science, 2(11), 559–572,
       1901.
    .. [2] C. Eckart and G. Young, "The approximation of one matrix by another of lower rank",
       Psychometrika, 1(3), 211–218, 1936.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.methods import pca
    >>> answer = embed(pca([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0], [2.0, 1.0]], n_components=1))
    >>> print(answer.values, answer.certificate.level)
    [1.] proved
    """
    data, weights = weighted_rows(numeric_table(X), sample_weight)
    scale = column_units(data, weights) if standardize else None
    return centred_problem(
        data, n_components, None, matrix, scale, precision=precision, weights=weights
    )


def column_units(X: Any, weights: RowWeights | None) -> Array:
    """Divisors of features that are standardised."""
    return column_deviations(X, column_means(X, weights), weights)


def centred_problem(
    X: Any,
    count: int,
    divisor: float | None = None,
    matrix: Matrix = "auto",
    scale: Any = None,
    *,
    precision: type[np.floating] | None = None,
    weights: RowWeights | None = None,
    shift: RowShift | None = None,
) -> TraceProblem:
    """XᵀHX/m or HXXᵀH/m with m = `divisor` and features divided by `scale` (None: 1).

    divisor : None is the number of rows, or the sum of their `weights`
    shift : that of dense rows, where it is known and there are no weights
    """
    data = numeric_table(X)
    divisor = row_total(data, weights) if divisor is None else divisor
    if scale is not None:
        refuse_column_units(scale)
    how: Any = {"precision": precision, "weights": weights}
    matrix = pca_matrix(data.shape, matrix, sparse=sp.issparse(data))
    if matrix == "covariance":
        total, mean = (
            scatter(data, **how) if shift is None else shifted_scatter(data, shift, precision)
        )
        A: Any = (total if scale is None else total / np.outer(scale, scale)) / divisor
        error = scatter_error(data, total, mean, scale, shift=shift, **how) / divisor
        kind = scatter_kind(data, **how)
    else:
        mean = column_means(data, weights)
    if matrix == "gram":
        total = point_gram(data, mean, scale, **how)
        refuse_scale(float(np.trace(total)), data)
        A, kind = total / divisor, gram_kind(data, **how)
        error = point_gram_error(data, total, mean, scale, **how) / divisor
    if matrix == "products":
        A = CentredScatter(data, mean, scale, divisor, weights)
        error, kind = A.product_error, np.float64
    lift: Any = ProjectionLift(data, mean, scale, weights=weights)
    if matrix == "gram":
        lift = GramProjectionLift(data, mean, scale, divisor, weights)
    words = "" if weights is None else weights.about
    about = joined_sentences(rounding_sentence(error, A, kind), words)
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
    """Principal component analysis, with a proof that no directions keep more variance.

    A drop-in replacement for `sklearn.decomposition.PCA`, with the same parameters, attributes and
    signs. All solvers of scikit-learn are exact here; two further ones descend along gradients.

    Parameters
    ----------
    n_components : int ≥ 0, float in (0, 1), {"auto", "mle"} or None, default=None
        Number of components; a share of the variance between 0 and 1; "mle" (Minka's estimate);
        "auto" (90 % of the variance); None for all.

        `n_components_reason_` says why there are so many. A share asks for more than this share, as
        in scikit-learn.
    copy : bool, default=True
        Ignored; X is never overwritten.
    whiten : bool, default=False
        Whether to divide the coordinates by their standard deviations.
    svd_solver : {"auto", "arpack", "covariance_eigh", "full", "gradient", "gradient-paper", \
            "randomized"}, default="auto"
        How the directions are computed; all but "gradient-paper" are exact.

        "full" is a singular value decomposition of the centred data, with small singular values to
        full precision; "covariance_eigh" takes the eigenvectors of the D×D covariance; "auto",
        "arpack" and "randomized" take those of the smaller of the covariance and the n×n Gram
        matrix. "gradient" descends on ‖XUUᵀ − X‖² with acceleration and exact steps, by products
        with X only; "gradient-paper" is the averaged, normalised descent of [5]_, which stops after
        `gradient_rounds` steps wherever it is.
    tol : float ≥ 0, default=0.0
        Angle to the optimum at which "gradient" stops; 0 means 1e-7. The other solvers ignore it.
    iterated_power : int ≥ 0 or "auto", default="auto"
        Ignored; it is accepted so that code written for scikit-learn runs.
    n_oversamples : int ≥ 1, default=10
        Ignored; it is accepted so that code written for scikit-learn runs.
    power_iteration_normalizer : {"auto", "LU", "QR", "none"}, default="auto"
        Ignored; it is accepted so that code written for scikit-learn runs.
    random_state : int, RandomState instance or None, default=None
        Seed of the start of "gradient" and "gradient-paper"; the other solvers draw nothing at
        random.
    standardize : bool, default=False
        Whether to divide each feature by its standard deviation (divisor n) first;
        `inverse_transform` undoes it.
    gradient_start : "orthonormal" or array-like of shape (n_features, n_components), \
            default="orthonormal"
        "orthonormal" starts the descents at random ("gradient-paper" scales this start to Frobenius
        norm 1); an array is the start itself.
    gradient_step : float > 0 or None, default=None
        Step length of "gradient-paper"; None is 25/√gradient_rounds, as in the text of the paper.
    gradient_rounds : int ≥ 1, default=10
        Number of steps of "gradient-paper".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map: a row for each coordinate.
    mean_ : ndarray of shape (n_features,)
        Mean of the fitted rows.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each coordinate (divisor n − 1).
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of the variance of the data.
    singular_values_ : ndarray of shape (n_components,)
        Singular values of the centred data.
    noise_variance_ : float
        Mean variance of the directions that are not kept.
    n_components_ : int
        Number of components.
    n_samples_ : int or float
        Number of fitted rows; with weights, their sum.
    scale_ : ndarray of shape (n_features,) or None
        What features are divided by; None without `standardize`.
    loadings_ : ndarray of shape (n_features, n_components)
        Covariance of each feature with each coordinate once that has variance 1.
    eigenvalues_ : ndarray of shape (n_components,)
        Values of the trace problem: variances with divisor n.
    certificate_ : TraceCertificate or None
        How far from the optimum the directions can be; None for 0 components.
    n_components_reason_ : str or None
        Why there are so many components, in words; None where a number was given.
    history_ : ndarray of shape (n_steps + 1, 2)
        Only for descents, a row for each step: the share of the variance that is not explained, and
        a bound of its excess over the optimum (infinite where none is known).
    n_iter_ : int
        Number of steps; only for descents.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    FAMD : PCA for numbers and categories together.
    ClassicalMDS : The same points, from distances.
    RandomProjection : For very many columns.
    dualfold.methods.pca : The problem that this estimator solves.

    Notes
    -----
    PCA solves::

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX/n

    where H = I − 11ᵀ/n centres. No linear map to as few dimensions keeps more variance [1]_.
    `score_samples`, `get_covariance` and `get_precision` belong to the Gaussian model of [2]_;
    "mle" is the estimate of [3]_; `partial_fit` merges batches by the formulas of [4]_.

    **Proof.** The certificate bounds the gap to the optimum, rounding errors included. Tables with
    more than 20,000 rows and more than 20,000 columns (5,000 of both if sparse) are known by their
    products only, and their certificate is "measured": true except with a stated probability.

    **Weights.** With `fit(X, sample_weight=w)` mean and A are weighted, A = Σ w(x − x̄)(x − x̄)ᵀ/Σw,
    and the certificate is about that problem. A common factor of w changes no component,
    coordinate, ratio or eigenvalue. Σw is in the place of n in `explained_variance_`,
    `singular_values_`, `noise_variance_`, `n_samples_`, the lengths of whitened coordinates,
    `score_samples` and "mle", which depend on such a factor.

    **Cost.** O(n·D·min(n, D)) operations for n rows and D columns, and one matrix of min(n, D)²
    numbers beside the data. Sparse X stays sparse. Tables in tiles (`dualfold.scale`) are read
    once.

    **Failure.** PCA sees nothing that is curved: a roll stays rolled. Columns with large units
    dominate; use `standardize`. A few outliers can turn the leading directions.

    References
    ----------
    .. [1] K. Pearson, "On lines and planes of closest fit to systems of points in space", The
       London, Edinburgh, and Dublin Philosophical Magazine and Journal of Science, 2(11), 559–572,
       1901.
    .. [2] M. E. Tipping and C. M. Bishop, "Probabilistic principal component analysis", Journal of
       the Royal Statistical Society: Series B, 61(3), 611–622, 1999.
    .. [3] T. P. Minka, "Automatic choice of dimensionality for PCA", Advances in Neural Information
       Processing Systems 13, 2001.
    .. [4] T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a pairwise algorithm
       for computing sample variances", Technical Report STAN-CS-79-773, Stanford University, 1979.
    .. [5] Lucas Tucker, "Dimensionality reduction and the Fenchel game", manuscript.

    Examples
    --------
    >>> from dualfold import PCA
    >>> from dualfold.data import digits
    >>> model = PCA(n_components=0.9).fit(digits().points)  # more than 90 % of the variance
    >>> model.n_components_, model.certificate_.level
    (21, 'proved')
    >>> print(model.explained_variance_ratio_[:3].round(3))
    [0.149 0.136 0.118]
    """

    _parameter_constraints: ClassVar[Constraints] = {
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
    random_state: Seed = None
    standardize: bool = False
    gradient_start: Any = "orthonormal"
    gradient_step: float | None = None
    gradient_rounds: int = 10

    fit = fit_with_weights

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None, sample_weight: GivenWeights = None) -> Array:
        """Fit and return the coordinates of X.

        The estimator does not keep them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to fit.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How often each row counts, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates.
        """
        rows = tiled_rows(X)
        if rows is not None:
            fit_any_table(self, X, y, sample_weight=sample_weight)
            return rows.transform_with(self)
        with unfitted_on_failure(self):
            checked = self._checked_rows(X, reset=True)
            weights = weights_if_given(sample_weight, checked.shape[0])
            self._fit(checked, FitContext(weights=weights))
        return self.placing_map()(checked).astype(checked.dtype, copy=False)

    # Descents have no use for the scatter matrix that batches are merged in.
    @available_if(lambda self: self.svd_solver not in DESCENT_SOLVERS)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: GivenWeights = None) -> Self:
        """Add a batch of rows.

        Afterwards the estimator is as if all rows so far had been fitted at once: means and scatter
        matrices are merged exactly, so that the order and the size of batches do not matter beyond
        rounding. The certificate is that of all rows so far. `fit` begins anew. A D×D matrix is
        kept.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            A batch of rows; the first has at least 2.
        y : object, default=None
            Ignored.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How often each row of the batch counts, as in `fit`; batches with and without weights
            may be mixed. The weights of all batches so far must add up to more than 1, and are not
            rescaled.

        Returns
        -------
        Self
            The estimator.

        Raises
        ------
        InvalidInput
            If a `fit` before has kept no scatter matrix that rows could be added to, or if all
            rows so far count as one or less.
        """
        moments: Moments | None = getattr(self, "_moments", None)
        if moments is None and hasattr(self, "components_"):
            raise InvalidInput(
                "this PCA was fitted with `fit`, which keeps its scatter matrix only where it forms"
                f" one of up to {MAX_KEPT_WIDTH} features: there is nothing to add to. Give all "
                "batches to partial_fit of a new one (sklearn.base.clone(pca))"
            )
        batch = checked_rows(self, X, reset=moments is None, least_rows=1)
        added = _batch_moments(batch, sample_weight)
        moments = added if moments is None else moments + added
        if moments.count <= 1:
            counted = f"{moments.count:g} sample{'s' if moments.count < 1 else ''}"
            raise InvalidInput(f"the first batch has {counted}; variances need at least 2")
        shape = (moments.rows, batch.shape[1])
        name = solver_for(self, shape, sparse=False)
        problem = moments.problem(standardize=self.standardize)
        choose = count_for(self, name, shape, moments.count)
        self._keep_axes(principal_axes(problem, None, choose), choose, batch.dtype)
        self._moments: Moments | None = moments
        return self

    def _checked_rows(self, X: Any, *, reset: bool) -> Rows:
        """As for all, but NaN and units of rows that will be squared show in the squares."""
        rows = checked_rows(self, X, reset=reset, finite=False)
        dense = isinstance(rows, np.ndarray) and pca_matrix(rows.shape) == "covariance"
        squared = dense and self.svd_solver not in DESCENT_SOLVERS and not self.standardize
        if not (reset and squared):
            with np.errstate(invalid="ignore"):  # infinities are added up, and refused
                assert_all_finite(rows, estimator_name=type(self).__name__, input_name="X")
            refuse_units(rows, fitted=reset)
        return rows

    def _fit(self, X: Rows, context: FitContext) -> None:
        X, counts = weighted_rows(X, context.weights)
        name = solver_for(self, X.shape, sparse=sp.issparse(X))
        choose = count_for(self, name, X.shape, row_total(X, counts))
        # scikit-learn's word for the case; tools that look for it find it here too.
        self._fit_svd_solver = name
        matrix: Matrix = "covariance" if name == "covariance_eigh" else "auto"
        matrix = "products" if name in DESCENT_SOLVERS else matrix
        by_svd = self.svd_solver == "full" or (name == "full" and max(X.shape) <= MAX_SMALL_SIDE)
        # As precise as the singular values that it judges.
        precision = np.float64 if by_svd else None
        shift = RowShift.of(X) if counts is None else None
        how: Any = {"precision": precision, "weights": counts, "shift": shift}
        try:
            scale = column_units(X, counts) if self.standardize else None
            problem = centred_problem(X, 1, None, matrix, scale, **how)
        except InvalidInput:
            with np.errstate(invalid="ignore"):
                assert_all_finite(X, estimator_name=type(self).__name__, input_name="X")
            raise
        self._moments = kept_moments(problem, X, **how)
        decomposed = None
        if by_svd:
            decomposed = singular_vectors(X, problem, counts)
        elif name in DESCENT_SOLVERS:
            decomposed = gradient_settings(self).solution(problem, choose)
            self.history_ = error_history(problem, decomposed)
            self.n_iter_ = len(self.history_) - 1
        self._keep_axes(principal_axes(problem, decomposed, choose), choose, X.dtype)

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        """Fit a table in tiles: its scatter matrix is added up from those of the tiles."""
        if self.svd_solver in DESCENT_SOLVERS:
            raise InvalidInput(
                Argument("svd_solver", self.svd_solver),
                " goes through all rows at every step, and X is a table in tiles; ",
                Argument("svd_solver", "auto"),
                " goes through them once",
            )
        moments = rows.moments(context.weights)
        shape = (moments.rows, rows.width)
        self._fit_svd_solver = "covariance_eigh"
        choose = count_for(self, solver_for(self, shape, sparse=False), shape, moments.count)
        problem = moments.problem(standardize=self.standardize)
        self._keep_axes(principal_axes(problem, None, choose), choose, rows.dtype)
        self._moments = moments if rows.width <= MAX_KEPT_WIDTH else None

    def _keep_axes(self, answer: PrincipalAxes, asked: Count, dtype: DType) -> None:
        """Set the fitted attributes in the precision of the data."""
        n, count = asked.total, answer.choice.count
        variances = answer.values * (n / (n - 1))
        total = answer.total * (n / (n - 1))
        # With weights as frequencies there are more rows than were given.
        left = min(max(asked.shape[0], int(n)), asked.shape[1]) - count
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

    def placing_map(self) -> Callable[[Rows], Array]:
        """Return the linear map that places new rows.

        Returns
        -------
        callable
            The map, divided by the standard deviations where it whitens.
        """
        check_is_fitted(self)
        over = self._white_deviations() if self.whiten else None
        return Scaling(over).rule(self._linear_map())

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        X, counts = weighted_rows(X, context.weights)
        n, asked = row_total(X, counts), asked_count(self, count, min(X.shape))
        problem = pca(X, n_components=asked, standardize=self.standardize, sample_weight=counts)

        def scaling(values: Array) -> Scaling:
            deviations = _deviations(values * (n / (n - 1)), X.dtype)
            return Scaling(over=deviations if self.whiten else None)

        return linear_statement(problem, scaling)

    def inverse_transform(self, X: Any) -> Array:
        """Return the rows whose coordinates are those of X.

        The rows are mean + zC, with whitening and standardisation undone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Points of the map.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows in the space of the data.
        """
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
        """Covariance of each feature with each coordinate once that has variance 1.

        For features of variance 1 it is the correlation.
        """
        check_is_fitted(self)
        return np.asarray(self.components_.T * np.sqrt(self.explained_variance_))

    def loadings_frame(self) -> pd.DataFrame:
        """Return the loadings as a data frame.

        Returns
        -------
        pandas.DataFrame
            A row for each feature, by its name, and a column for each coordinate.
        """
        names = getattr(self, "feature_names_in_", None)
        return table_of_loadings(self.loadings_, names, self.get_feature_names_out())

    def get_covariance(self) -> Array:
        """Return the covariance of the Gaussian model.

        It is CᵀΛC + σ²(I − CᵀC) in the units of the data, where σ² is `noise_variance_`. It does
        not depend on `whiten`, which changes the coordinates and not the model.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            The covariance.
        """
        return gaussian_model(self).covariance().astype(self.components_.dtype, copy=False)

    def get_precision(self) -> Array:
        """Return the inverse of the covariance of the Gaussian model.

        Orthonormal components make it cheap, O(D²·n_components). Where there is no noise and a
        direction has no extent, it is the pseudo-inverse.

        Returns
        -------
        ndarray of shape (n_features, n_features)
            The inverse of `get_covariance`.
        """
        return gaussian_model(self).precision().astype(self.components_.dtype, copy=False)

    def score_samples(self, X: Any) -> Array:
        """Return the log-likelihood of each row under the Gaussian model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.

        Returns
        -------
        ndarray of shape (n_samples,)
            Log-likelihood of each row.
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False, sparse=False)
        return gaussian_model(self).log_likelihoods(rows)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows under the Gaussian model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to score.
        y : object, default=None
            Ignored.

        Returns
        -------
        float
            The mean over all rows.
        """
        return float(np.mean(self.score_samples(X)))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.svd_solver in SPARSE_SOLVERS
        return tags


def _batch_moments(batch: Any, sample_weight: GivenWeights) -> Moments:
    """Moments of rows that are added to others: their weights count as they are."""
    weights = weights_if_given(sample_weight, batch.shape[0])
    if weights is None:
        return Moments.of(batch)
    return Moments.of(present_rows(batch, weights), weights=RowWeights(weights[weights > 0]))


def _deviations(variances: Array, kind: DType) -> Array:
    """Divisors of a whitening; directions without extent are left finite.

    kind : of the coordinates, whose rounding is not to be magnified
    """
    deviations = np.sqrt(np.maximum(variances, 0.0))
    least = np.finfo(kind).eps * deviations.max(initial=0.0)
    return np.maximum(deviations, least or 1.0)


def table_of_loadings(loadings: Array, names: Sequence[str] | None, axes: Any) -> pd.DataFrame:
    """Loadings as a table, a row a feature; features without names are counted from 1."""
    import pandas as pd

    if names is None:
        names = [f"column_{number + 1}" for number in range(len(loadings))]
    return pd.DataFrame(loadings, index=list(names), columns=axes)

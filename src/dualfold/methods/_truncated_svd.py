"""Truncated singular value decomposition: PCA without centring, for sparse tables of counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array, DType, Rows, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.methods._pca import pca_matrix
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import Stage, asked_count
from dualfold.methods.fitting.linear import (
    LinearEstimator,
    LinearFit,
    LinearMethod,
    normalize_signs,
)
from dualfold.methods.fitting.principal_axes import (
    MAX_SMALL_SIDE,
    Count,
    PrincipalAxes,
    principal_axes,
    singular_vectors,
)
from dualfold.methods.fitting.tiles import TiledRows
from dualfold.methods.fitting.weighted_fit import fit_transform_with_weights, fit_with_weights
from dualfold.methods.maps.linear_map import GramProjectionLift, LinearMap, ProjectionLift
from dualfold.methods.parameters import Constraints, GivenWeights
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.weights.column_moments import column_deviations, column_means
from dualfold.weights.covariance import CentredScatter
from dualfold.weights.gram import gram_kind, point_gram, point_gram_error, refuse_scale
from dualfold.weights.precision import joined_sentences, rounding_sentence
from dualfold.weights.row_passes import numeric_table
from dualfold.weights.row_weights import RowWeights, weighted_rows


def truncated_svd(
    X: Any, *, n_components: int = 2, sample_weight: GivenWeights = None
) -> TraceProblem:
    """Truncated singular value decomposition as a trace problem.

    The problem is::

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀX       (D×D)
                                                  A = XXᵀ       (n×n)

    Nothing is subtracted from the columns. Its values are the squares of the largest singular
    values of X, and its points are XV.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; a sparse matrix stays sparse.
    n_components : int, default=2
        Number of coordinates.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts: then A = Σ wxxᵀ, of rows that were multiplied by √w. The problem
        is about the rows whose weight is not 0.

    Returns
    -------
    TraceProblem
        The problem, with the smaller of the two matrices. If both are too large, A is known by its
        products with X and Xᵀ.

    See Also
    --------
    TruncatedSVD : The estimator.
    pca : The same with columns that are centred.

    Notes
    -----
    XV is the best approximation of X by so few columns times an orthonormal matrix [1]_. To form A
    takes O(n·D·min(n, D)) operations for a dense X. Products take as many as X has entries.

    References
    ----------
    .. [1] C. Eckart and G. Young, "The approximation of one matrix by another of lower rank",
       Psychometrika, 1(3), 211–218, 1936.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.methods import truncated_svd
    >>> answer = embed(truncated_svd([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]], n_components=1))
    >>> print(answer.values.round(6), answer.certificate.level)
    [9.] proved
    """
    data, weights = weighted_rows(numeric_table(X), sample_weight)
    rows = _rows_times_roots(data, weights)
    (n, width), sparse = data.shape, sp.issparse(data)
    origin, words = np.zeros(width), "" if weights is None else weights.about
    lift: Any = ProjectionLift(data, origin, weights=weights)
    matrix = pca_matrix(data.shape, sparse=sparse)
    if matrix == "products" and not sparse:
        A: Any = CentredScatter(rows, origin, None, 1)
        about = joined_sentences(rounding_sentence(A.product_error, A, np.float64), words)
        return TraceProblem(A, None, n_components, "max", lift=lift, about=about)
    # The shorter side has the smaller matrix.
    short = rows if n < width else sp.csr_array(rows.T) if sparse else rows.T
    if n < width:
        lift = GramProjectionLift(data, origin, None, 1, weights)
    if matrix == "products":
        factor = rows if short is not rows else sp.csr_array(rows.T)
        return TraceProblem(Gramian(factor), None, n_components, "max", lift=lift, about=words)
    zero = np.zeros(short.shape[1])
    total = point_gram(short, zero)
    trace = float(np.trace(total))
    refuse_scale(trace, data)
    error = point_gram_error(short, total, zero)
    if weights is not None:  # roots and products with them are rounded, in both factors
        error += 4 * np.finfo(float).eps * trace
    about = joined_sentences(rounding_sentence(error, total, gram_kind(short)), words)
    return TraceProblem(total, None, n_components, "max", lift=lift, about=about)


def _rows_times_roots(X: Rows, weights: RowWeights | None) -> Any:
    """√w·x of every row x; X itself without weights."""
    if weights is None:
        return X
    if sp.issparse(X):
        return sp.csr_array(sp.diags_array(weights.roots) @ X)
    return X * weights.roots[:, None]


@dataclass(eq=False, repr=False)
class TruncatedSVD(LinearEstimator):
    """Truncated singular value decomposition (LSA), to the last digits and with a certificate.

    A drop-in replacement for `sklearn.decomposition.TruncatedSVD`. It is PCA without centring, so
    that a sparse table, such as the TF-IDF of texts, is never filled.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of components, at most the number of columns; rows that are fewer make it fewer.
    algorithm : {"arpack", "randomized"}, default="randomized"
        Both are the same exact solver here. As in scikit-learn, "arpack" refuses as many components
        as rows or columns.
    n_iter : int ≥ 0, default=5
        Ignored; the iteration ends where it has converged.
    n_oversamples : int ≥ 1, default=10
        Ignored.
    power_iteration_normalizer : {"LU", "QR", "auto", "none"}, default="auto"
        Ignored.
    random_state : int, RandomState instance or None, default=None
        Ignored; the same rows give the same components.
    tol : float ≥ 0, default=0.0
        Ignored; singular values are computed to rounding.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Right singular vectors of X, one for each row.
    singular_values_ : ndarray of shape (n_components,)
        The largest singular values of X.
    eigenvalues_ : ndarray of shape (n_components,)
        Their squares, the values of the trace problem.
    certificate_ : TraceCertificate
        How far from the optimum the components can be; print it.
    explained_variance_ : ndarray of shape (n_components,)
        Variance of each coordinate (divisor n), around its mean.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of the variance of all columns. The first is not always the largest.
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows; not there after a fit of a table in tiles.
    mean_ : ndarray of shape (n_features,)
        Zeros: nothing is subtracted.
    n_components_ : int
        Number of components.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    PCA : The same with centred columns; it takes sparse tables, too.
    RandomProjection : No fit at all.
    dualfold.methods.truncated_svd : The problem that this estimator solves.

    Notes
    -----
    It solves::

        maximise tr(VᵀXᵀXV)  subject to  VᵀV = I

    and its points are XV: no matrix of this rank is nearer to X than XVVᵀ [1]_. Of the TF-IDF of
    texts the coordinates are known as latent semantic analysis [2]_.

    **Proof.** The certificate bounds the gap to the optimum, rounding errors included. Sparse
    tables of more than 5,000 rows and columns are known by their products: there the certificate is
    a proof if a sparse factorisation is predicted to fit, else it is "measured", with the chance
    that it is wrong.

    **Weights.** With `fit(X, sample_weight=w)` it is the decomposition of rows that were multiplied
    by √w. A common factor c of w changes no component, coordinate or ratio; it multiplies
    `eigenvalues_` by c and `singular_values_` by √c.

    **Cost.** O(n·D·min(n, D)) operations for dense tables, with one matrix of min(n, D)² numbers.
    Large sparse tables take a few products with X and Xᵀ for each component, and about
    3·n_components vectors of min(n, D) numbers.

    **Failure.** The first component is near the mean row, which says little about differences
    between rows; PCA subtracts it.

    References
    ----------
    .. [1] C. Eckart and G. Young, "The approximation of one matrix by another of lower rank",
       Psychometrika, 1(3), 211–218, 1936.
    .. [2] S. Deerwester, S. T. Dumais, G. W. Furnas, T. K. Landauer and R. Harshman, "Indexing by
       latent semantic analysis", Journal of the American Society for Information Science, 41(6),
       391–407, 1990.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from dualfold import TruncatedSVD
    >>> counts = sp.csr_array([[2, 1, 0, 0], [1, 2, 0, 0], [0, 0, 1, 1]])
    >>> model = TruncatedSVD(2).fit(counts)
    >>> print(model.singular_values_.round(6), model.certificate_.level)
    [3.       1.414214] proved
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "algorithm": [StrOptions({"arpack", "randomized"})],
        "n_iter": [Interval(Integral, 0, None, closed="left")],
        "n_oversamples": [Interval(Integral, 1, None, closed="left")],
        "power_iteration_normalizer": [StrOptions({"auto", "QR", "LU", "none"})],
        "random_state": ["random_state"],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    n_components: int = 2
    _: KW_ONLY
    algorithm: str = "randomized"
    n_iter: int = 5
    n_oversamples: int = 10
    power_iteration_normalizer: str = "auto"
    random_state: Seed = None
    tol: float = 0.0

    fit = fit_with_weights
    fit_transform = fit_transform_with_weights

    def _method(self) -> LinearMethod:
        return LinearMethod(self._fit_rows, self._problem, self._fit_table)

    def _problem(self, X: Rows, count: int, context: FitContext) -> TraceProblem:
        asked = asked_count(self, count, min(X.shape))
        return truncated_svd(X, n_components=asked, sample_weight=context.weights)

    def _fit_rows(self, X: Rows, context: FitContext, stage: Stage) -> LinearFit:
        data, counting = weighted_rows(X, context.weights)
        count = self._component_count(data.shape)
        with stage("problem"):
            problem = truncated_svd(data, n_components=1, sample_weight=counting)
        small = max(data.shape) <= MAX_SMALL_SIDE
        decomposed = singular_vectors(data, problem, counting, divisor=1) if small else None
        with stage("solution and certificate"):
            axes = principal_axes(problem, decomposed, count)
        points = LinearMap(axes.map.mean, normalize_signs(axes.map.components))(data)
        means = column_means(data, counting)
        total = np.square(column_deviations(data, means, counting, constant=0.0)).sum()
        middle = np.average(points, axis=0, weights=None if counting is None else counting.values)
        spread = np.square(column_deviations(points, middle, counting, constant=0.0))
        fit = _fit_of_axes(axes, spread, float(total), X.dtype)
        return replace(fit, points=points.astype(X.dtype, copy=False))

    def _fit_table(self, rows: TiledRows, y: Any, context: FitContext) -> LinearFit:
        """Fit of a table in tiles, from its scatter matrix and its mean."""
        moments = rows.moments(context.weights)
        count = self._component_count((moments.rows, rows.width))
        axes = principal_axes(moments.uncentred_problem(), None, count)
        covariance = moments.scatter / moments.count
        variances = np.einsum("ij,jk,ik->i", axes.map.components, covariance, axes.map.components)
        return _fit_of_axes(axes, variances, float(np.trace(covariance)), rows.dtype)

    def _component_count(self, shape: tuple[int, int]) -> Count:
        wanted, (n, width) = int(self.n_components), shape
        if wanted > width or (self.algorithm == "arpack" and wanted >= min(shape)):
            needed = f"at most n_features={width}"
            if self.algorithm == "arpack":
                needed = f"less than min(n_samples, n_features)={min(shape)}"
            raise InvalidInput(
                Argument("n_components", wanted),
                f" must be {needed} with ",
                Argument("algorithm", self.algorithm),
            )
        return Count(min(wanted, n), shape, n)


def _fit_of_axes(axes: PrincipalAxes, variances: Array, total: float, kind: DType) -> LinearFit:
    """The fitted attributes, in the precision of the data."""
    assert axes.certificate is not None  # there is one component at least
    shares = variances / total if total > 0 else np.zeros(len(variances))
    attributes = {
        "singular_values_": np.sqrt(axes.values),
        "explained_variance_": variances,
        "explained_variance_ratio_": shares,
    }
    return LinearFit(
        normalize_signs(axes.map.components).astype(kind, copy=False),
        axes.map.mean,
        axes.values,
        axes.certificate,
        attributes={name: x.astype(kind, copy=False) for name, x in attributes.items()},
    )

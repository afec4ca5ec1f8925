"""Correspondence analysis: the rows and the columns of a contingency table on one map."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array, Rows
from dualfold.embedding import embed
from dualfold.errors import Argument, InvalidInput, RowNumbers, RowsLeftOut, counted, warn
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import Stage, asked_count
from dualfold.methods.fitting.linear import (
    LinearEstimator,
    LinearFit,
    LinearMethod,
    linear_fit,
    linear_fit_of_tiles,
)
from dualfold.methods.fitting.solver_choice import solver_to_last_digits
from dualfold.methods.fitting.tiles import TiledRows
from dualfold.methods.fitting.weighted_fit import fit_transform_with_weights, fit_with_weights
from dualfold.methods.maps.profile_map import ProfileLift, ProfileMap, profiles, row_sums
from dualfold.methods.parameters import Constraints, GivenWeights
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.weights.gram import gram_kind, point_gram, point_gram_error
from dualfold.weights.precision import joined_sentences, rounding_sentence
from dualfold.weights.row_passes import numeric_table
from dualfold.weights.row_weights import RowWeights, present_rows, weighted_rows

# A dense matrix of the columns up to here; products with the table beyond.
MAX_COLUMNS = 5_000


def correspondence_analysis(
    X: Any, *, n_components: int = 2, sample_weight: GivenWeights = None
) -> TraceProblem:
    """Correspondence analysis as a trace problem.

    The problem is::

        maximise tr(VᵀSᵀSV)  subject to  VᵀV = I,   S = D_r^(−½)(P − rcᵀ)D_c^(−½)

    where P = X/ΣX, and r and c are the sums of its rows and columns, the masses. The points are
    D_r^(−½)SV, those of the rows; the columns are at D_c^(−½)VΛ^½. Distances between rows are those
    of their profiles in the χ² metric.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Counts, or other numbers ≥ 0 that may be added up; a sparse matrix stays sparse.
    n_components : int, default=2
        Number of coordinates.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts: its counts are multiplied by it.

    Returns
    -------
    TraceProblem
        The problem. Of many columns, or of a sparse table, A is known by its products, and the
        trivial vector √c is excluded.

    Raises
    ------
    InvalidInput
        If an entry is negative, or all are 0.

    See Also
    --------
    CorrespondenceAnalysis : The estimator.
    famd : Multiple correspondence analysis, of categories.

    Notes
    -----
    The sum of all values is the inertia χ²/ΣX of the table [1]_. To form A takes O(n·m²) operations
    for m columns. Rows with few counts are far from all others: their profiles are chance.

    References
    ----------
    .. [1] M. J. Greenacre, "Theory and Applications of Correspondence Analysis", Academic Press,
       London, 1984.

    Examples
    --------
    >>> from dualfold import embed
    >>> from dualfold.methods import correspondence_analysis
    >>> table = [[20, 5, 1], [4, 18, 6], [2, 6, 17]]
    >>> print(embed(correspondence_analysis(table)).values.round(4))
    [0.4699 0.1686]
    """
    data, weights = weighted_rows(numeric_table(X), sample_weight)
    masses, shares = _masses(data, weights)
    scale = np.sqrt(np.where(shares > 0, shares, 1.0))
    lift = ProfileLift(data, shares, scale=scale, weights=weights)
    words = "" if weights is None else weights.about
    if sp.issparse(data) or data.shape[1] > MAX_COLUMNS:
        roots = sp.diags_array(np.sqrt(masses))
        factor = sp.csr_array(
            roots @ sp.csr_array(profiles(data), dtype=np.float64) @ sp.diags_array(1 / scale)
        )
        trivial = np.sqrt(shares)
        return TraceProblem(
            Gramian(factor), None, n_components, "max", excluded=trivial, lift=lift, about=words
        )
    present = masses > 0  # rows without counts have no profile, and no part in the problem
    residual = (profiles(data) - shares) * np.sqrt(masses)[:, None] / scale
    zero = np.zeros(int(present.sum()))
    columns = np.ascontiguousarray(residual[present].T)
    A = point_gram(columns, zero)
    error = point_gram_error(columns, A, zero) + _residual_error(data, weights, A)
    rounding = rounding_sentence(error, A, gram_kind(columns))
    about = joined_sentences(words, rounding)
    return TraceProblem(A, None, n_components, "max", lift=lift, about=about)


def _residual_error(data: Array, weights: RowWeights | None, A: Array) -> float:
    """A bound of what the rounding of masses and profiles changes in A = SᵀS.

    Sums of n or m numbers ≥ 0, their quotients and roots are right to k = (2n + 2m + 8)·eps, as a
    share; of whole numbers the sums are exact. So S is off by
    δ ≤ k(‖D_r^½(profiles)D_c^(−½)‖ + 1) ≤ k(√(1 + tr A) + 1) in the Frobenius norm, and A by
    2‖S‖δ + δ².
    """
    whole = weights is None and np.array_equal(data, np.floor(data)) and data.sum() < 2**53
    share = (8 if whole else 2 * sum(data.shape) + 8) * float(np.finfo(np.float64).eps)
    inertia = max(float(np.trace(A)), 0.0)
    off = 2 * share * (np.sqrt(1 + inertia) + 1)  # twice: these are the computed numbers
    return float(2 * np.sqrt(inertia) * off + off**2)


def _masses(data: Any, weights: RowWeights | None = None) -> tuple[Array, Array]:
    """The shares of the rows and of the columns in all counts; zeros alone are refused."""
    rows, columns = row_sums(data), data.sum(axis=0, dtype=np.float64)
    if weights is not None:
        rows, columns = rows * weights.values, weights.values @ data
    if not rows.sum() > 0:
        raise InvalidInput(Argument("X"), " holds zeros only, and so no counts to analyse")
    columns = np.asarray(columns, dtype=np.float64).ravel()
    return rows / rows.sum(), columns / columns.sum()


def _warn_of_empty_rows(rows: Array) -> None:
    if not len(rows):
        return
    many = len(rows) > 1
    warn(
        RowsLeftOut(
            f"{counted(len(rows), 'row')} {'have' if many else 'has'} no counts (the first is ",
            RowNumbers(int(rows[0])),
            "), and so no profile: "
            + ("they are at the origin and count" if many else "it is at the origin and counts")
            + " for nothing",
        )
    )


@dataclass(eq=False, repr=False)
class CorrespondenceAnalysis(LinearEstimator):
    """Correspondence analysis (CA): the rows and columns of a table of counts on one map.

    X is a contingency table: how often each row category meets each column category. Rows whose
    profiles (shares of the columns) are alike are near each other.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of coordinates, at most one less than the smaller side of the table.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        Principal coordinates of the rows; not for tables in tiles.
    column_embedding_ : ndarray of shape (n_features, n_components)
        Principal coordinates of the columns.
    row_masses_ : ndarray of shape (n_samples,)
        Share of all counts that each row has; not for tables in tiles.
    column_masses_ : ndarray of shape (n_features,)
        Share of all counts that each column has.
    eigenvalues_ : ndarray of shape (n_components,)
        Inertia of each coordinate.
    total_inertia_ : float
        Inertia of the table, χ² divided by the sum of counts.
    explained_inertia_ratio_ : ndarray of shape (n_components,)
        Share of each coordinate in it.
    components_ : ndarray of shape (n_components, n_features)
        The linear map of profiles, as `mean_` and `scale_` shift and divide them.
    mean_ : ndarray of shape (n_features,)
        Profile of all rows together, the column masses.
    scale_ : ndarray of shape (n_features,)
        Their square roots.
    certificate_ : TraceCertificate
        How far from the optimum the coordinates can be; print it.
    n_components_ : int
        Number of coordinates.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    FAMD : Categories of rows, and numbers; with categories alone it is multiple CA.
    PCA : Numbers whose differences count, not their shares.
    dualfold.methods.correspondence_analysis : The problem that this estimator solves.

    Notes
    -----
    CA [1]_ solves::

        maximise tr(VᵀSᵀSV)  subject to  VᵀV = I,   S = D_r^(−½)(P − rcᵀ)D_c^(−½)

    where P = X/ΣX has the row sums r and the column sums c. Rows are at D_r^(−½)SV and columns at
    D_c^(−½)VΛ^½. Distances between two rows, and between two columns, are χ² distances; those
    between a row and a column mean nothing, only directions do.

    **Proof.** The certificate bounds the gap to the optimum of this problem, rounding errors
    included. It says nothing about chance: a table without any dependence has a map, too (its χ²
    test tells).

    **Cost.** O(n·m² + m³) operations for m columns; sparse tables stay sparse.

    **Failure.** Rows and columns with few counts lie far outside. Rows without counts have no
    profile, and are put at the origin with a warning. If the profiles change along one line,
    the second coordinate is an arch of the first.

    References
    ----------
    .. [1] M. J. Greenacre, "Theory and Applications of Correspondence Analysis", Academic Press,
       London, 1984.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import CorrespondenceAnalysis
    >>> table = np.array([[20, 5, 1], [4, 18, 6], [2, 6, 17]])
    >>> model = CorrespondenceAnalysis(n_components=1).fit(table)
    >>> print(model.explained_inertia_ratio_.round(3), model.certificate_.level)
    [0.736] proved
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
    }

    n_components: int = 2

    fit = fit_with_weights
    fit_transform = fit_transform_with_weights

    def _method(self) -> LinearMethod:
        return LinearMethod(self._fit_counts, self._problem, self._fit_tiles_of_counts)

    def _problem(self, X: Rows, count: int, context: FitContext) -> TraceProblem:
        count = asked_count(self, count, min(X.shape) - 1)
        return correspondence_analysis(X, n_components=count, sample_weight=context.weights)

    def _fit_tiles_of_counts(self, rows: TiledRows, y: Any, context: FitContext) -> LinearFit:
        """Fit of counts in tiles in one pass: the scatter of profiles, weighted by their sums."""
        moments = rows.profile_moments(context.weights)
        shares = moments.mean
        self._refuse_shape((moments.rows, len(shares)))
        scale = np.sqrt(np.where(shares > 0, shares, 1.0))
        problem = moments.scaled_problem(scale, moments.count, shares > 0)
        answer = embed(problem.with_count(self.n_components))
        inertia = float(np.trace(np.asarray(problem.A)))
        return linear_fit_of_tiles(
            answer.problem,
            answer.solution,
            answer.certificate,
            rows.dtype,
            scale_=scale,
            column_masses_=shares,
            total_inertia_=inertia,
            explained_inertia_ratio_=answer.values / (inertia or 1.0),
        )

    def _refuse_shape(self, shape: tuple[int, int]) -> None:
        """Tables with too few rows or columns for the coordinates."""
        if shape[1] < 2:
            raise InvalidInput(
                Argument("X"), " has 1 feature(s), and a contingency table has two columns or more"
            )
        most = min(shape) - 1
        if self.n_components > most:
            raise InvalidInput(
                Argument("n_components", self.n_components),
                f" asks for too many coordinates; {shape[0]} rows and {shape[1]} columns have "
                f"{most} beside the trivial one",
            )

    def _fit_counts(self, X: Rows, context: FitContext, stage: Stage) -> LinearFit:
        weights = context.weights
        self._refuse_shape(present_rows(X, weights).shape)
        with stage("problem"):
            problem: Any = correspondence_analysis(
                X, n_components=self.n_components, sample_weight=weights
            )
        with stage("solution and certificate"):
            embedding = embed(problem, solver=solver_to_last_digits(problem))
        A, lift = problem.A, problem.lift
        counting = np.ones(X.shape[0], bool) if weights is None else weights > 0
        masses = np.zeros(X.shape[0])
        masses[counting] = _masses(lift.data, lift.weights)[0]
        _warn_of_empty_rows(np.flatnonzero(counting & (masses == 0)))
        inertia = float(A.trace) - 1 if isinstance(A, Gramian) else float(np.trace(A))
        return linear_fit(
            embedding,
            X.dtype,
            scale_=lift.scale,
            row_masses_=masses,
            column_masses_=lift.mean,
            total_inertia_=inertia,
            explained_inertia_ratio_=embedding.values / (inertia or 1.0),
        )

    @property
    def column_embedding_(self) -> Array:
        """Principal coordinates of the columns, shape (n_features, n_components)."""
        check_is_fitted(self)
        lengths = np.sqrt(np.maximum(self.eigenvalues_, 0.0))
        points = self.components_.T * lengths / self.scale_[:, None]
        return np.where(self.column_masses_[:, None] > 0, points, 0.0)

    def _linear_map(self) -> ProfileMap:
        return ProfileMap(self.mean_, self.components_, self.scale_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

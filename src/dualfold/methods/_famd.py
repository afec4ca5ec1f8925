"""Factor analysis of mixed data."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from dualfold.arrays import Array, Rows
from dualfold.embedding import embed
from dualfold.errors import Argument, InPython, InvalidInput
from dualfold.graph.number_rows import refuse_units
from dualfold.inputs import frame_of, numbers_of
from dualfold.methods._pca import centred_problem, pca, table_of_loadings
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
from dualfold.methods.parameters import Constraints, GivenWeights
from dualfold.trace.problem import TraceProblem
from dualfold.weights.column_moments import column_deviations, column_means
from dualfold.weights.encoding import (
    Encoding,
    Number,
    Time,
    category,
    encoded_columns,
    features_of,
    indicators,
    sources_of,
)
from dualfold.weights.row_passes import numeric_table
from dualfold.weights.row_weights import weighted_rows

if TYPE_CHECKING:
    import pandas as pd


def famd(
    X: Any,
    *,
    n_components: int = 2,
    indicators: Array | None = None,
    sample_weight: GivenWeights = None,
) -> TraceProblem:
    """Factor analysis of mixed data as a trace problem.

    The problem is::

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = ZᵀHZ/n

    where H = I − 11ᵀ/n centres. In Z each column of numbers is divided by its standard deviation,
    and each level of a category is a column of 0 and 1, divided by √p for a level that the share p
    of the rows has.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Columns of numbers, and a column of 0 and 1 for each level of a category.
    n_components : int, default=2
        Number of coordinates.
    indicators : ndarray of bool of shape (n_features,) or None, default=None
        Which columns are those of levels; None for none. `FAMD` and `dualfold.data.prepare` make
        such columns.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts, as in `pca`: means, deviations and shares p are weighted.

    Returns
    -------
    TraceProblem
        The problem.

    See Also
    --------
    FAMD : The estimator, which takes a data frame.
    pca : Numbers only.

    Notes
    -----
    With numbers alone it is PCA of the standardised columns; with K categories alone it is multiple
    correspondence analysis, whose eigenvalues are those of A divided by K, and whose coordinates
    are those here divided by √K [1]_, [2]_. A column of numbers has the weight 1, a category the
    number of its levels less one. The cost is that of `pca`. Many rare levels (p below 1 %) are a
    problem: each of them is far from everything, by 1/√p.

    References
    ----------
    .. [1] B. Escofier, "Traitement simultané de variables qualitatives et quantitatives en analyse
       factorielle", Les Cahiers de l'Analyse des Données, 4(2), 137–146, 1979.
    .. [2] J. Pagès, "Analyse factorielle de données mixtes", Revue de Statistique Appliquée, 52(4),
       93–111, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import embed
    >>> from dualfold.methods import famd
    >>> table = np.array([[1.0, 1, 0], [2.0, 1, 0], [3.0, 0, 1], [9.0, 0, 1]])
    >>> levels = np.array([False, True, True])
    >>> print(embed(famd(table, n_components=1, indicators=levels)).values.round(3))
    [1.723]
    """
    data, weights = weighted_rows(numeric_table(X), sample_weight)
    mean = column_means(data, weights)
    scale = column_deviations(data, mean, weights)
    if indicators is not None:
        scale = np.where(indicators, np.sqrt(np.maximum(mean, 0.0)), scale)
        scale = np.where(scale > 0, scale, 1.0)
    return centred_problem(data, n_components, scale=scale, weights=weights)


@dataclass(eq=False, repr=False)
class FAMD(LinearEstimator):
    """Factor analysis of mixed data: PCA for numbers and categories together.

    X is a data frame. Columns of numbers are standardised; text, categories and true/false become a
    column of 0 and 1 for each level, weighted by its rarity. An array is a table of numbers. New
    rows are weighted by the shares of the fitted rows; a level that none of these had, and a
    missing one, count as the average.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of coordinates.
    columns : {"mixed", "prepared"}, default="mixed"
        "mixed" means columns as a table has them; "prepared" means columns that
        `dualfold.data.prepare` made, which are scaled already.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_encoded)
        The linear map of the encoded columns, those of numbers and of levels.
    mean_ : ndarray of shape (n_encoded,)
        Their means.
    scale_ : ndarray of shape (n_encoded,) or None
        What they are divided by.
    encodings_ : tuple of Encoding
        How the columns of the data frame were encoded; empty for an array.
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    eigenvalues_ : ndarray of shape (n_components,)
        Variance of each coordinate (divisor n).
    n_components_ : int
        Number of coordinates.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        Its share of the variance of the encoded columns.
    loadings_ : ndarray of shape (n_encoded, n_components)
        Covariance of each encoded column, as it is scaled, with each coordinate once that has
        variance 1.
    certificate_ : TraceCertificate
        How far from the optimum the coordinates can be; print it.
    n_features_in_ : int
        Number of columns of the fitted X.
    feature_names_in_ : ndarray of str
        Names of these columns, if X had names.

    See Also
    --------
    PCA : Numbers only.
    dualfold.data.prepare : Reads a table, fills missing values and encodes its columns.
    dualfold.methods.famd : The problem that this estimator solves.

    Notes
    -----
    FAMD [1]_, [2]_ solves::

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = ZᵀHZ/n

    where Z holds standardised numbers, and for each level of a category 0 and 1 divided by √p, with
    p the share of the rows that have it. With categories alone it is multiple correspondence
    analysis: with K columns its eigenvalues are those here divided by K, and its coordinates those
    here divided by √K.

    **Proof.** The certificate bounds the gap to the optimum of this problem, rounding errors
    included.

    **Weights.** With `fit(X, sample_weight=w)` means, deviations and shares p are weighted, with
    the masses w/Σw. A common factor of w changes nothing.

    **Cost.** That of PCA for as many columns as there are numbers and levels. Tables in tiles
    (`dualfold.scale`) are read once, or twice if they have categories.

    **Failure.** Each rare level is far from everything, by 1/√p, so that many of them dominate the
    map: join levels that few rows have. Missing values in fitted rows are refused;
    `dualfold.data.prepare` fills them in.

    References
    ----------
    .. [1] B. Escofier, "Traitement simultané de variables qualitatives et quantitatives en analyse
       factorielle", Les Cahiers de l'Analyse des Données, 4(2), 137–146, 1979.
    .. [2] J. Pagès, "Analyse factorielle de données mixtes", Revue de Statistique Appliquée, 52(4),
       93–111, 2004.

    Examples
    --------
    >>> import pandas as pd
    >>> from dualfold import FAMD
    >>> table = pd.DataFrame({"size": [1.0, 2.0, 3.0, 9.0], "kind": ["a", "a", "b", "b"]})
    >>> model = FAMD(n_components=1).fit(table)
    >>> print(model.eigenvalues_.round(3), model.certificate_.level)
    [1.723] proved
    """

    _accepts_sparse = False
    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "columns": [StrOptions({"mixed", "prepared"})],
    }

    n_components: int = 2
    _: KW_ONLY
    columns: Literal["mixed", "prepared"] = "mixed"

    fit = fit_with_weights
    fit_transform = fit_transform_with_weights

    def _for_encoded_columns(
        self, encodings: tuple[Encoding, ...], means: Array, *, weighted: bool
    ) -> Self:
        """A new estimator that takes the columns of these encodings, and has no answer."""
        names = np.array([encoding.name for encoding in encodings], dtype=object)
        expecting = self._for_columns(len(names), names, weighted=weighted)
        expecting.encodings_, expecting.mean_ = encodings, means
        return expecting

    def _checked_rows(self, X: Any, *, reset: bool) -> Rows:
        """Columns of 0, 1 and numbers; those of a frame as they were when it was fitted."""
        X = frame_of(numbers_of(X))
        if reset:
            self.encodings_ = _encodings(X)
        if not getattr(self, "encodings_", ()):
            return super()._checked_rows(X, reset=reset)
        if not hasattr(X, "iloc"):
            raise InvalidInput(
                Argument("X"), " must be a data frame with the columns that were fitted"
            )
        validate_data(self, X, reset=reset, skip_check_array=True)
        rows = encoded_columns(self.encodings_, {str(name): column for name, column in X.items()})
        gap = ~np.isfinite(rows)
        if reset and gap.any():
            name = sources_of(self.encodings_)[int(np.argmax(gap.any(axis=0)))]
            raise InvalidInput(
                f"'{name}' contains NaN or has gaps; leave these rows out",
                InPython(", or let dualfold.data.prepare fill them in"),
            )
        shares = indicators(self.encodings_)
        if not reset and gap[:, ~shares].any():
            name = sources_of(self.encodings_)[int(np.argmax(gap.any(axis=0) & ~shares))]
            raise InvalidInput(f"'{name}' contains NaN or has gaps; fill them in first")
        rows = rows if reset else np.where(gap, self.mean_, rows)
        refuse_units(rows, fitted=reset)
        return rows

    @property
    def loadings_(self) -> Array:
        """Covariance of each encoded column with each coordinate once that has variance 1.

        Columns are scaled as in the problem: for a column of numbers it is the correlation.
        """
        check_is_fitted(self)
        return np.asarray(self.components_.T * np.sqrt(self.eigenvalues_))

    def loadings_frame(self) -> pd.DataFrame:
        """Return the loadings as a data frame.

        Returns
        -------
        pandas.DataFrame
            A row for each column of numbers and each level, and a column for each coordinate.
        """
        names = features_of(self.encodings_) or getattr(self, "feature_names_in_", None)
        return table_of_loadings(self.loadings_, names, self.get_feature_names_out())

    def _refuse_many(self, count: int, shape: tuple[int, int]) -> None:
        if count > min(shape):
            raise InvalidInput(
                Argument("n_components", count),
                f" asks for too many coordinates; {shape[0]} rows and {shape[1]} columns have "
                f"{min(shape)}",
            )

    def _problem(self, X: Rows, count: int, sample_weight: GivenWeights = None) -> TraceProblem:
        rows, weights = weighted_rows(X, sample_weight)
        self._refuse_many(count, rows.shape)
        if self.columns == "prepared":
            return pca(rows, n_components=count, sample_weight=weights)
        shares: Array | None = indicators(self.encodings_) if self.encodings_ else None
        return famd(rows, n_components=count, indicators=shares, sample_weight=weights)

    def _method(self) -> LinearMethod:
        return LinearMethod(self._fit_rows, self._problem_for, self._fit_encoded_tiles)

    def _problem_for(self, X: Rows, count: int, context: FitContext) -> TraceProblem:
        return self._problem(X, asked_count(self, count, min(X.shape)), context.weights)

    def _fit_rows(self, X: Rows, context: FitContext, stage: Stage) -> LinearFit:
        with stage("problem"):
            problem = self._problem(X, self.n_components, context.weights)
        with stage("solution and certificate"):
            embedding = embed(problem, solver=solver_to_last_digits(problem))
        A: Any = problem.A
        total = float(A.trace()) if hasattr(A, "trace") else float(np.nan)
        ratio = embedding.values / (total or 1.0)
        scale = getattr(problem.lift, "scale", None)
        return linear_fit(embedding, X.dtype, scale_=scale, explained_variance_ratio_=ratio)

    def _fit_encoded_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> LinearFit:
        """Two passes: the levels of categories, then the scatter of the columns of 0, 1, numbers.

        Of numbers alone there is nothing to look for, and one pass is enough.
        """
        self.encodings_ = rows.encodings() if rows.is_frame else ()
        moments = rows.encoded_moments(self.encodings_, context.weights)
        width = len(moments.mean)
        self._refuse_many(self.n_components, (moments.rows, width))
        shares = indicators(self.encodings_) if self.encodings_ else np.zeros(width, bool)
        scale: Array | None = None
        if self.columns == "mixed":
            scale = np.where(shares, np.sqrt(np.maximum(moments.mean, 0.0)), moments.deviations)
            scale = np.where(scale > 0, scale, 1.0)
        problem = moments.scaled_problem(scale, moments.count, shares)
        problem = problem.with_count(self.n_components)
        answer = embed(problem, solver=solver_to_last_digits(problem))
        dtype = np.dtype(np.float64) if self.encodings_ else rows.dtype
        total = float(np.trace(np.asarray(problem.A)))
        ratio = answer.solution.values / (total or 1.0)
        return linear_fit_of_tiles(
            problem,
            answer.solution,
            answer.certificate,
            dtype,
            scale_=scale,
            explained_variance_ratio_=ratio,
        )


def _encodings(X: Any) -> tuple[Encoding, ...]:
    """Encodings of the columns of a data frame; () where they are numbers already."""
    if not hasattr(X, "iloc"):
        return ()
    numbers = {str(name) for name in X.select_dtypes("number").columns}
    if len(numbers) == X.shape[1]:
        return ()
    dates = {str(name) for name in X.select_dtypes(["datetime", "datetimetz"]).columns}
    encodings: dict[str, Encoding] = {name: Number(name) for name in numbers}
    encodings |= {name: Time(name) for name in dates}
    return tuple(
        encodings[name] if name in encodings else category(name, X.iloc[:, number])
        for number, name in enumerate(map(str, X.columns))
    )

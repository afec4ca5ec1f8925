"""Canonical correlation analysis: what two tables of the same rows have in common."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import r2_score
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_array, check_is_fitted

from dualfold.arrays import Array, Rows
from dualfold.embedding import embed
from dualfold.errors import Argument, ConditionFails, InvalidInput, counted, warn
from dualfold.graph.number_rows import refuse_units
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import Stage
from dualfold.methods.fitting.linear import LinearEstimator, LinearFit, LinearMethod, linear_fit
from dualfold.methods.fitting.solver_choice import solver_to_last_digits
from dualfold.methods.fitting.tiles import TiledRows
from dualfold.methods.fitting.weighted_fit import fit_with_weights
from dualfold.methods.maps.linear_map import LinearMap, ProjectionLift
from dualfold.methods.parameters import Constraints, GivenWeights
from dualfold.trace.problem import TraceProblem
from dualfold.weights.column_moments import column_deviations, column_means
from dualfold.weights.labels import Labels, labels_of, validated_labels
from dualfold.weights.reduction import RowSpace, row_space
from dualfold.weights.row_weights import RowWeights, row_total, weighted_rows


def cca(
    X: Any,
    Y: Any,
    *,
    n_components: int = 2,
    added_variance: float = 0.0,
    scale: bool = True,
    sample_weight: GivenWeights = None,
) -> TraceProblem:
    """Canonical correlation analysis as a trace problem.

    The problem is::

        maximise tr(VᵀAV)  subject to  VᵀBV = I,   A = XᵀHP_YHX,   B = XᵀHX

    where H = I − 11ᵀ/n centres and P_Y projects onto the columns of HY. The eigenvalues are the
    squares of the canonical correlations. Inverses are pseudo-inverses: V lies in the space of the
    rows of X.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The first table.
    Y : array-like of shape (n_samples, n_targets)
        The second table, of the same rows.
    n_components : int, default=2
        Number of pairs of coordinates.
    added_variance : float, default=0.0
        What is added to the diagonal of both covariances, as a share of the mean variance of the
        columns.
    scale : bool, default=True
        Whether columns are divided by their standard deviations. Without added variance the
        correlations do not depend on it.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts; None counts every row once.

    Returns
    -------
    TraceProblem
        The problem.

    Raises
    ------
    InvalidInput
        If more coordinates are asked for than the smaller rank of the two tables.

    See Also
    --------
    CCA : The estimator.
    fisher_discriminant : The case where Y holds classes.

    Notes
    -----
    The analysis [1]_ costs O(n·(p² + q²) + p³ + q³) for p and q columns. It fails where columns are
    nearly as many as rows: correlations of 1 mean nothing then, and added variance or fewer columns
    are needed.

    References
    ----------
    .. [1] H. Hotelling, "Relations between two sets of variates", Biometrika, 28(3–4), 321–377,
       1936.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import embed
    >>> from dualfold.methods import cca
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 5.0], [4.0, 1.0]])
    >>> answer = embed(cca(X, X[:, :1] ** 2, n_components=1))
    >>> print(np.sqrt(answer.values).round(4))
    [0.965]
    """
    return _pair(X, Y, added_variance, scale, sample_weight).problem(n_components)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Two tables of the same rows, each in white coordinates of its row space.

    x, y : their row spaces; ridges : what the ridge adds to the unit matrix of each
    data : the rows of the first table that count, as they were given
    scaled : both tables, as they are compared
    about : what was done to the weights
    """

    x: RowSpace
    y: RowSpace
    ridges: tuple[Array, Array]
    data: Array
    scaled: tuple[_Scaled, _Scaled]
    about: str

    @property
    def n_trivial(self) -> int:
        """Number of correlations that are 1 for any two tables of these ranks."""
        ranks = len(self.x.deviations) + len(self.y.deviations)
        return max(0, ranks - (self.data.shape[0] - 1))

    def problem(self, count: int) -> TraceProblem:
        """The problem on the side of X."""
        most = min(len(self.x.deviations), len(self.y.deviations))
        if count > most:
            raise InvalidInput(
                f"`n_components` upper bound is {most}. Got {count} instead. Reduce "
                "`n_components`. There are as many pairs as the smaller rank: X has rank "
                f"{len(self.x.deviations)}, y has {len(self.y.deviations)}"
            )
        Z = self.y.coordinates(slice(None)) / np.sqrt(1 + self.ridges[1])
        A = self.x.form(lambda W: Z @ (Z.T @ W))
        B = self.x.form(lambda W: W) + np.diag(self.ridges[0])
        first = self.scaled[0]
        lift = _WeightLift(self.data, first.mean, scale=first.deviations, space=self.x)
        return TraceProblem(A, B, count, "max", lift=lift, about=self.about)

    def directions_of_y(self, V: Array) -> Array:
        """Directions of y that answer those of X, in scaled columns."""
        images = self.x.coordinates(slice(None)) @ V
        return self.y.directions(self.y.adjoint(images) / (1 + self.ridges[1])[:, None])


def _pair(X: Rows, Y: Any, ridge: float, scale: bool, sample_weight: GivenWeights = None) -> _Pair:
    given, target = np.asarray(X), np.asarray(Y)
    if len(given) != len(target):
        raise InvalidInput(
            Argument("y"), f" has {len(target)} rows and X has {len(given)}; both need the same"
        )
    data, weights = weighted_rows(given, sample_weight)
    first, second = scaled_columns(data, scale, weights), _scaled_target(Y, scale, sample_weight)
    for part, name in ((first, "X"), (second, "y")):
        if not part.table.any():
            raise InvalidInput(
                Argument(name),
                " has no column that varies, and what is constant correlates with "
                "nothing; give other columns",
            )
    x, y = (row_space(part.table, variance_kept=1.0, centred=False) for part in (first, second))
    ridges = [
        ridge * float(np.square(part.table).mean()) / np.square(space.deviations)
        for part, space in ((first, x), (second, y))
    ]
    about = "" if weights is None else weights.about
    return _Pair(x.as_white(), y.as_white(), (ridges[0], ridges[1]), data, (first, second), about)


@dataclass(frozen=True, eq=False)
class _Scaled:
    """Columns of mean 0, of standard deviation 1 (divisor n − 1 or Σw − 1) where asked for.

    table : rows multiplied by the square roots of their weights
    """

    table: Array
    mean: Array
    deviations: Array


def scaled_columns(rows: Array, scale: bool, weights: RowWeights | None) -> _Scaled:
    """The columns of a table as they are compared."""
    rows = rows.astype(np.float64, copy=False)
    rows = rows[:, None] if rows.ndim == 1 else rows
    mean = column_means(rows, weights)
    deviations = np.ones(rows.shape[1])
    if scale:
        n = row_total(rows, weights)
        deviations = column_deviations(rows, mean, weights) * np.sqrt(n / ((n - 1) or 1))
        deviations = np.where(deviations > 0, deviations, 1.0)
    table = (rows - mean) / deviations
    return _Scaled(table if weights is None else table * weights.roots[:, None], mean, deviations)


def _scaled_target(Y: Any, scale: bool, sample_weight: GivenWeights) -> _Scaled:
    rows, weights = weighted_rows(np.asarray(Y), sample_weight)
    return scaled_columns(rows, scale, weights)


@dataclass(frozen=True, eq=False)
class _WeightLift(ProjectionLift):
    """Directions as long as scikit-learn has them.

    What a direction adds to those before it, its weights, has length 1.
    """

    def linear_map(self, V: Array, values: Array) -> LinearMap:
        plain = super().linear_map(V, values)
        rotations = weights_and_rotations(plain.components.T)[1]
        return replace(plain, components=np.ascontiguousarray(rotations.T))

    def vectors_behind(self, problem: TraceProblem, stored: Any, solve: Any) -> Array:
        V = super().vectors_behind(problem, stored, solve)
        lengths = np.sqrt(np.einsum("ij,ij->j", V, problem.metric.times(V)))
        return V / np.where(lengths > 0, lengths, 1.0)


def weights_and_rotations(directions: Array) -> tuple[Array, Array]:
    """Orthonormal weights that span the directions one after the other, and these as long.

    A direction that is 0 stays 0.
    """
    Q, R = np.linalg.qr(directions)
    lengths = np.diagonal(R)
    real = np.abs(lengths) > 0
    weights = np.where(real, Q * np.sign(lengths), 0.0)
    return weights, directions / np.where(real, np.abs(lengths), 1.0)


@dataclass(eq=False, repr=False)
class CCA(LinearEstimator):
    """Canonical correlation analysis (CCA): pairs of directions of two tables that correlate most.

    It takes the parameters of `sklearn.cross_decomposition.CCA` and has its attributes, but solves
    the eigenproblem instead of iterating, and certifies it.

    Parameters
    ----------
    n_components : int ≥ 1, default=2
        Number of pairs of coordinates, at most the smaller rank of the two tables.
    scale : bool, default=True
        Whether columns are divided by their standard deviations.
    max_iter : int ≥ 1, default=500
        Ignored: nothing is iterated. It is there for scikit-learn's signature.
    tol : float ≥ 0, default=1e-06
        Ignored, as `max_iter`.
    copy : bool, default=True
        Ignored: the tables are never changed.
    added_variance : float ≥ 0, default=0.0
        What is added to the diagonal of both covariances, as a share of the mean variance of the
        columns; 0 takes pseudo-inverses and adds nothing.

    Attributes
    ----------
    correlations_ : ndarray of shape (n_components,)
        Canonical correlations, the largest first; with added variance, less than those of the
        scores.
    n_trivial_ : int
        How many correlations are 1 for any tables of these ranks, whatever they hold.
    x_weights_ : ndarray of shape (n_features, n_components)
        Orthonormal vectors that span the rotations of X one after the other.
    y_weights_ : ndarray of shape (n_targets, n_components)
        The same of y.
    x_loadings_ : ndarray of shape (n_features, n_components)
        Regression of the scaled columns of X on its scores.
    y_loadings_ : ndarray of shape (n_targets, n_components)
        The same of y.
    x_rotations_ : ndarray of shape (n_features, n_components)
        Linear map from scaled columns of X to scores.
    y_rotations_ : ndarray of shape (n_targets, n_components)
        The same of y.
    coef_ : ndarray of shape (n_targets, n_features)
        Linear map that predicts y from the centred X.
    intercept_ : ndarray of shape (n_targets,)
        Mean of y.
    components_ : ndarray of shape (n_components, n_features)
        `x_rotations_`, a row for each coordinate.
    mean_ : ndarray of shape (n_features,)
        Means of the columns of X.
    scale_ : ndarray of shape (n_features,)
        What these columns are divided by.
    n_iter_ : list of int
        Ones: every pair is found at once.
    embedding_ : ndarray of shape (n_samples, n_components)
        Scores of X.
    eigenvalues_ : ndarray of shape (n_components,)
        Squares of the correlations.
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
    FisherDiscriminant : The case where y holds classes.
    PCA : One table.
    dualfold.methods.cca : The problem that this estimator solves.

    Notes
    -----
    CCA [1]_ solves::

        maximise tr(VᵀAV)  subject to  VᵀBV = I,   A = XᵀHP_YHX,   B = XᵀHX

    where H centres and P_Y projects onto the columns of Y; its values are squares of correlations.

    **Proof.** The certificate bounds the gap to the optimum, rounding errors included. It says
    nothing about correlations of new rows.

    **Cost.** O(n·(p² + q²) + p³ + q³) operations for tables of p and q columns, and a copy of both.

    **Weights.** With `fit(X, y, sample_weight=w)` means and covariances are weighted.

    **Failure.** Where the ranks of both tables add up to n or more (after centring), some
    correlations are 1 for any data. They are called trivial, with a warning: take fewer columns, or
    a `added_variance`.

    References
    ----------
    .. [1] H. Hotelling, "Relations between two sets of variates", Biometrika, 28(3–4), 321–377,
       1936.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import CCA
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.normal(size=(200, 1))
    >>> X, Y = (shared + rng.normal(size=(200, 3)) for _ in range(2))
    >>> model = CCA(n_components=1).fit(X, Y)
    >>> print(model.correlations_.round(2), model.certificate_.level)
    [0.79] proved
    """

    _accepts_sparse = False
    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "scale": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "copy": ["boolean"],
        "added_variance": [Interval(Real, 0, None, closed="left")],
    }

    n_components: int = 2
    _: KW_ONLY
    scale: bool = True
    max_iter: int = 500
    tol: float = 1e-06
    copy: bool = True
    added_variance: float = 0.0

    fit = fit_with_weights

    def _uses_labels(self) -> bool:
        return True

    def _target(self, y: Any, n: int) -> Any:
        """Columns of numbers, or a column of 0 and 1 for each class."""
        self._y_classes = labels_of(y, n).classes if _holds_classes(y) else None
        columns = target_columns(y, n, self._y_classes)
        refuse_units(columns, fitted=True, name="y")
        self._y_ndim = np.asarray(y).ndim if self._y_classes is None else 2
        return columns

    def _checked_target(self, y: Any, n: int) -> Array:
        """The columns of y of n other rows, as many as were fitted."""
        columns, fitted = target_columns(y, n, self._y_classes), len(self.intercept_)
        if columns.shape[1] != fitted:
            given = counted(columns.shape[1], "column")
            raise InvalidInput(Argument("y"), f" has {given} and was fitted with {fitted}")
        return columns

    def _method(self) -> LinearMethod:
        return LinearMethod(self._fit_pair, self._problem, self._refuse_tiles)

    def _problem(self, X: Rows, count: int, context: FitContext) -> TraceProblem:
        return self._pair_of(X, context).problem(self.n_components)

    def _pair_of(self, X: Rows, context: FitContext) -> _Pair:
        return _pair(X, context.target, self.added_variance, self.scale, context.weights)

    def _refuse_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> LinearFit:
        super(LinearEstimator, self)._fit_tiles(rows, y, context)
        raise AssertionError  # it has raised

    def _fit_pair(self, X: Rows, context: FitContext, stage: Stage) -> LinearFit:
        with stage("problem"):
            pair = self._pair_of(X, context)
            problem = pair.problem(self.n_components)
        with stage("solution and certificate"):
            embedding = embed(problem, solver=solver_to_last_digits(problem))
        if pair.n_trivial and not self.added_variance:
            warn(_trivial(pair, self.n_components))
        fit = linear_fit(embedding, np.float64)
        return replace(fit, attributes=self._attributes(pair, fit, embedding))

    def _attributes(self, pair: _Pair, fit: LinearFit, embedding: Any) -> dict[str, Any]:
        (first, second), x_scale = (part.table for part in pair.scaled), pair.scaled[0].deviations
        y_mean, y_scale = pair.scaled[1].mean, pair.scaled[1].deviations
        x_weights, x_rotations = weights_and_rotations(fit.components.T)
        answers = pair.directions_of_y(embedding.solution.vectors)
        # Scores of y rise with those of X.
        signs = np.sign(np.einsum("ij,ij->j", second @ answers, first @ x_rotations))
        y_weights, y_rotations = weights_and_rotations(answers * np.where(signs < 0, -1.0, 1.0))
        x_loadings, y_loadings = (
            _loadings(table, table @ rotations)
            for table, rotations in ((first, x_rotations), (second, y_rotations))
        )
        return {
            "correlations_": np.sqrt(np.clip(fit.values, 0.0, 1.0)),
            "n_trivial_": pair.n_trivial,
            "n_iter_": [1] * len(fit.values),
            "x_weights_": x_weights,
            "y_weights_": y_weights,
            "x_loadings_": x_loadings,
            "y_loadings_": y_loadings,
            "x_rotations_": x_rotations,
            "y_rotations_": y_rotations,
            "coef_": (x_rotations @ y_loadings.T * y_scale).T / x_scale,
            "intercept_": y_mean,
            "scale_": x_scale,
            "_y_scale": y_scale,
        }

    def transform(self, X: Any, y: Any = None, copy: bool = True) -> Any:
        """Compute the scores of rows, of X alone or of both tables.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the first table.
        y : array-like of shape (n_samples, n_targets) or None, default=None
            The same rows of the second table, or None.
        copy : bool, default=True
            Ignored: X is never changed.

        Returns
        -------
        ndarray of shape (n_samples, n_components), or a pair of such
            Scores of X, or scores of X and of y.
        """
        scores = super().transform(X)
        if y is None:
            return scores
        target = self._checked_target(y, len(scores))
        return scores, ((target - self.intercept_) / self._y_scale) @ self.y_rotations_

    def fit_transform(self, X: Any, y: Any = None, sample_weight: GivenWeights = None) -> Any:
        """Fit both tables and compute their scores.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The first table.
        y : array-like of shape (n_samples, n_targets) or None, default=None
            The second table; None is refused.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How often each row counts, as in `fit`.

        Returns
        -------
        tuple of two ndarray of shape (n_samples, n_components)
            Scores of X and of y.
        """
        return self.fit(X, y, sample_weight).transform(X, y)

    def predict(self, X: Any, copy: bool = True) -> Array:
        """Predict y from X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the first table.
        copy : bool, default=True
            Ignored: X is never changed.

        Returns
        -------
        ndarray of shape (n_samples, n_targets) or (n_samples,)
            The predictions; a column for each class where y holds classes.
        """
        check_is_fitted(self)
        rows = self._checked_rows(X, reset=False)
        predicted = (rows - self.mean_) @ self.coef_.T + self.intercept_
        return predicted.ravel() if self._y_ndim == 1 else predicted

    def score(self, X: Any, y: Any, sample_weight: GivenWeights = None) -> float:
        """Return the share of the variance of y that the predictions explain, R².

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the first table.
        y : array-like of shape (n_samples, n_targets)
            The same rows of the second table.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            How often each row counts; None counts every row once.

        Returns
        -------
        float
            The mean of R² over the columns of y.
        """
        predicted = self.predict(X)
        target = self._checked_target(y, len(predicted))
        return float(r2_score(target, predicted.reshape(target.shape), sample_weight=sample_weight))

    def inverse_transform(self, X: Any, y: Any = None) -> Any:
        """Compute the rows whose scores these are, as the loadings tell.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores of the first table.
        y : array-like of shape (n_samples, n_components) or None, default=None
            Scores of the second table, or None.

        Returns
        -------
        ndarray of shape (n_samples, n_features), or a pair with (n_samples, n_targets)
            Rows of X, or of X and of y.
        """
        check_is_fitted(self)
        scores = check_array(X, input_name="X", dtype=np.float64)
        rows = scores @ self.x_loadings_.T * self.scale_ + self.mean_
        if y is None:
            return rows
        others = check_array(y, input_name="y", dtype=np.float64)
        return rows, others @ self.y_loadings_.T * self._y_scale + self.intercept_


def _holds_classes(y: Any) -> bool:
    """Whether y is a column of text, or of objects that are no numbers."""
    if isinstance(y, Labels):
        return True
    given = np.asarray(y)
    if given.dtype.kind == "O" and given.ndim and given.size == len(given):
        return not all(isinstance(x, Real) for x in given.flat)
    return given.dtype.kind in "US"


def target_columns(y: Any, n: int, classes: Array | None) -> Array:
    """The second table of n rows: numbers, or a column of 0 and 1 for each of the `classes`."""
    if classes is None:
        columns = check_array(y, input_name="y", ensure_2d=False, dtype=np.float64)
    else:
        names = y.classes[y.codes] if isinstance(y, Labels) else validated_labels(y)
        columns = _class_columns(names.tolist(), classes.tolist())
    if len(columns) != n:
        raise InvalidInput(
            Argument("y"), f" has {len(columns)} rows and X has {n}; both need the same rows"
        )
    return np.asarray(columns.reshape(n, -1))


def _class_columns(names: list[Any], classes: list[Any]) -> Array:
    places = {name: number for number, name in enumerate(classes)}
    unknown = [name for name in names if name not in places]
    if unknown:
        raise InvalidInput(Argument("y"), f" holds the class {unknown[0]!r}, which was not fitted")
    return np.eye(len(classes))[[places[name] for name in names]]


def _loadings(table: Array, scores: Array) -> Array:
    lengths = np.square(scores).sum(axis=0)
    return np.asarray(table.T @ scores / np.where(lengths > 0, lengths, 1.0))


def _trivial(pair: _Pair, count: int) -> ConditionFails:
    ranks = len(pair.x.deviations), len(pair.y.deviations)
    trivial = min(pair.n_trivial, count)
    return ConditionFails(
        f"X has rank {ranks[0]} and y rank {ranks[1]} on {pair.data.shape[0]} rows, so "
        f"{trivial} of the correlations asked for ({count}) {'is' if trivial == 1 else 'are'} 1 "
        "whatever the tables hold; take fewer columns, or give ",
        Argument("added_variance"),
    )

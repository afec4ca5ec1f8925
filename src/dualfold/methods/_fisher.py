"""Fisher's discriminant."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.arrays import Array, Rows
from dualfold.embedding import embed
from dualfold.errors import Argument, InvalidInput, PointsCollapse, warn
from dualfold.methods.fitting.context import FitContext
from dualfold.methods.fitting.estimator import Stage, labels_for
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
from dualfold.methods.maps.linear_map import projection_lift
from dualfold.methods.parameters import Constraints
from dualfold.trace.problem import TraceProblem
from dualfold.weights.class_scatter import (
    ClassScatter,
    class_scatter,
    class_scatter_of,
    class_totals,
    ledoit_wolf_scatter,
)
from dualfold.weights.labels import Labels, labels_of
from dualfold.weights.row_passes import numeric_table
from dualfold.weights.row_weights import RowWeights, validated_weights, weighted_rows

Shrinkage = float | Literal["auto"] | None


def fisher_discriminant(
    X: Any,
    labels: Any,
    *,
    n_components: int | None = None,
    shrinkage: Shrinkage = None,
    sample_weight: ArrayLike | None = None,
) -> TraceProblem:
    """Fisher's discriminant (LDA) as a trace problem.

    The problem is::

        maximise tr(VᵀS_bV)  subject to  VᵀS_wV = I,   points HXV

    where S_w is the mean covariance of the classes, S_t the covariance of all rows, and S_b = S_t −
    S_w that of the class means. c classes have at most c − 1 such directions.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; sparse matrices are taken, too.
    labels : array-like of shape (n_samples,)
        Class of each row; every class has at least two rows.
    n_components : int or None, default=None
        Number of directions; None takes all of them.
    shrinkage : float in [0, 1), "auto" or None, default=None
        Share between 0 and 1 by which S_w and S_t are moved towards (tr S/D)·I; "auto" is the
        estimate of Ledoit and Wolf for each class and for all rows; None is 0.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How often each row counts: means and covariances are weighted. The problem is about the rows
        whose weight is not 0.

    Returns
    -------
    TraceProblem
        The problem.

    Raises
    ------
    InvalidInput
        If more directions are asked for than there are, or if a class has one row only.

    See Also
    --------
    FisherDiscriminant : The estimator.

    Notes
    -----
    The discriminant [1]_ tells classes apart that spread alike around different means. It fails
    where classes differ by their spread, or lie around one another. With few rows for many features
    S_w is singular, and shrinkage [2]_ is needed. A direction along which no row differs then
    scores tr S_b/tr S_w, and may be among the answers, with a warning: drop columns that do not
    vary. The cost is O(n·D² + D³).

    References
    ----------
    .. [1] R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of
       Eugenics, 7(2), 179–188, 1936.
    .. [2] O. Ledoit and M. Wolf, "A well-conditioned estimator for large-dimensional covariance
       matrices", Journal of Multivariate Analysis, 88(2), 365–411, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dualfold import embed
    >>> from dualfold.methods import fisher_discriminant
    >>> print(embed(fisher_discriminant(*load_iris(return_X_y=True))).values.round(4))
    [32.1919  0.2854]
    """
    table = numeric_table(X)
    classes = labels_of(labels, table.shape[0])
    data, weights = weighted_rows(table, sample_weight)
    if data is not table:
        present = validated_weights(sample_weight, table.shape[0]) > 0
        classes = classes.of_rows(np.flatnonzero(present))
    totals = class_totals(classes, weights)
    classes.of_two_or_more("the spread within a class is not known from one row", totals)
    if shrinkage == "auto":
        spread = ledoit_wolf_scatter(data, classes, weights)
    else:
        spread = class_scatter(data, classes, float(shrinkage or 0.0), weights)
    problem = discriminant_problem(spread, len(classes.classes), n_components, data, weights)
    return problem if weights is None else replace(problem, about=weights.about)


def discriminant_problem(
    spread: ClassScatter,
    classes: int,
    n_components: int | None,
    data: Any = None,
    weights: RowWeights | None = None,
) -> TraceProblem:
    """The problem of the matrices of `classes` classes; without `data` it has a map, no points."""
    most = min(classes - 1, len(spread.within))
    count = most if n_components is None else n_components
    if count > most:
        raise InvalidInput(
            Argument("n_components", count),
            f" asks for too many directions; {classes} classes in {len(spread.mean)} "
            f"features have {most} at most; lower ",
            Argument("n_components"),
            f" to {most}",
        )
    lift = projection_lift(data, spread.mean, spread.space, weights)
    return TraceProblem(spread.between, spread.within, count, "max", lift=lift)


def warn_of_flat_directions(problem: TraceProblem, V: Array) -> None:
    """`PointsCollapse` where coordinates stand for directions along which no row differs."""
    flat = problem.lift.flat_columns(V)
    if len(flat):
        numbers = ", ".join(str(column + 1) for column in flat)
        stand = "s {} stand for directions" if len(flat) > 1 else " {} stands for a direction"
        warn(
            PointsCollapse(
                f"coordinate{stand.format(numbers)} "
                "along which no row differs: 0 for all rows, arbitrary for new ones. Shrinkage "
                "lets such score more than the next discriminant; drop columns that do not vary, "
                "reduce the features first (PCA), or lower ",
                Argument("n_components"),
            )
        )


@dataclass(eq=False, repr=False)
class FisherDiscriminant(LinearEstimator):
    """Fisher's linear discriminant (LDA): a linear map that tells classes apart.

    The directions are those of `sklearn.discriminant_analysis.LinearDiscriminantAnalysis` with
    `solver="eigen"`, certified; the points are centred. It does not predict: put any classifier
    after it.

    Parameters
    ----------
    n_components : int ≥ 1 or None, default=None
        Number of coordinates; None takes all, one less than the classes (or as many as features).
    shrinkage : float in [0, 1), "auto" or None, default=None
        Share by which covariances are moved towards a multiple of I; "auto" is the estimate of
        Ledoit and Wolf; None is 0. It is needed where features outnumber rows.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The linear map: a row for each coordinate.
    mean_ : ndarray of shape (n_features,)
        Mean of the fitted rows.
    embedding_ : ndarray of shape (n_samples, n_components)
        The points of the fitted rows.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    eigenvalues_ : ndarray of shape (n_components,)
        Scatter between classes divided by scatter within them, for each coordinate.
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
    LocalityPreservingProjection : With `supervised=True`, more coordinates than classes.
    PCA : Without classes.
    dualfold.methods.fisher_discriminant : The problem that this estimator solves.

    Notes
    -----
    Fisher's discriminant [1]_ solves::

        maximise tr(VᵀS_bV)  subject to  VᵀS_wV = I

    where S_w is the mean covariance of the classes, and S_b the covariance of all rows less S_w.
    `shrinkage` replaces S by (1 − s)·S + s·(tr S/D)·I [2]_.

    **Proof.** The certificate bounds the gap to the optimum, rounding errors included. It says
    nothing about how well the classes of new rows can be told apart.

    **Weights.** With `fit(X, y, sample_weight=w)` means and covariances are weighted; a class needs
    two rows, or one with a weight of 2 or more. A common factor of w changes nothing but
    `shrinkage="auto"`, which takes Σw for the number of rows.

    **Cost.** O(n·D² + D³) operations and D² numbers for n rows and D columns. Tables in tiles
    (`dualfold.scale`) are read once.

    **Failure.** There are at most as many coordinates as classes less one. Classes that differ by
    their spread and not by their means, or that lie around one another, are not told apart. Where
    features outnumber rows the problem needs `shrinkage`, and separates the fitted rows better than
    new ones. Every class needs two rows.

    References
    ----------
    .. [1] R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of
       Eugenics, 7(2), 179–188, 1936.
    .. [2] O. Ledoit and M. Wolf, "A well-conditioned estimator for large-dimensional covariance
       matrices", Journal of Multivariate Analysis, 88(2), 365–411, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dualfold import FisherDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FisherDiscriminant().fit(X, y)
    >>> print(model.eigenvalues_.round(4), model.certificate_.level)
    [32.1919  0.2854] proved
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "shrinkage": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"}), None],
    }

    n_components: int | None = None
    _: KW_ONLY
    shrinkage: Shrinkage = None

    fit = fit_with_weights
    fit_transform = fit_transform_with_weights

    def _uses_labels(self) -> bool:
        return True

    def _method(self) -> LinearMethod:
        return LinearMethod(self._fit_classes, self._problem, self._fit_class_tiles)

    def _problem(self, X: Rows, count: int | None, context: FitContext) -> TraceProblem:
        return fisher_discriminant(
            X,
            context.target,
            n_components=self.n_components or count,
            shrinkage=self.shrinkage,
            sample_weight=context.weights,
        )

    def _fit_classes(self, X: Rows, context: FitContext, stage: Stage) -> LinearFit:
        with stage("problem"):
            problem = self._problem(X, None, context)
        with stage("solution and certificate"):
            embedding = embed(problem, solver=solver_to_last_digits(problem))
        warn_of_flat_directions(problem, embedding.solution.vectors)
        labels: Labels = context.target
        if context.weights is not None:
            labels = labels.of_rows(np.flatnonzero(context.weights))
        return linear_fit(embedding, X.dtype, classes_=labels.classes)

    def _fit_class_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> LinearFit:
        """Fit of a table in tiles: counts, means and scatter of classes are added up."""
        if y is None:
            labels_for(self, y, 0)  # says what is needed
        if self.shrinkage == "auto":
            raise InvalidInput(
                Argument("shrinkage", "auto"),
                " needs all rows at once, and X is a table in tiles; give a number between 0 and 1",
            )
        moments = rows.class_moments(y, context.weights)
        n, classes = moments.counts.sum(), len(moments.classes)
        spread = class_scatter_of(
            moments.within, moments.between, moments.mean, n, classes, float(self.shrinkage or 0.0)
        )
        problem = discriminant_problem(spread, classes, self.n_components)
        answer = embed(problem, solver=solver_to_last_digits(problem))
        warn_of_flat_directions(problem, answer.solution.vectors)
        return linear_fit_of_tiles(
            problem, answer.solution, answer.certificate, rows.dtype, classes_=moments.classes
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.shrinkage != "auto"  # Ledoit and Wolf's needs all entries
        return tags

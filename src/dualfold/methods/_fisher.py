"""Fisher's discriminant as an estimator."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from dualfold.data.labels import Labels
from dualfold.embedding import embed
from dualfold.errors import Argument, InvalidInput
from dualfold.estimators.base import solver_to_last_digits
from dualfold.estimators.linear import LinearEstimator
from dualfold.estimators.stated import Stated, linear_statement
from dualfold.methods.fisher import Shrinkage, discriminant_problem, fisher_discriminant
from dualfold.scale.classes import class_moments_of
from dualfold.scale.table import TiledTable
from dualfold.weights.class_scatter import class_scatter_of


class FisherDiscriminant(LinearEstimator):
    """Draw classes apart by a linear map (linear discriminant analysis, LDA).

    The directions of `sklearn.discriminant_analysis.LinearDiscriminantAnalysis` with
    solver="eigen", certified; the points are centred. It does not predict: put any classifier
    after it. See `dualfold.methods.fisher_discriminant` for the problem it solves.

    Parameters
    ----------
    n_components : number of coordinates; None is as many as there are, one less than classes
    shrinkage : None, a share between 0 and 1 by which covariances are moved towards a multiple of
        I, or "auto" (Ledoit and Wolf). Needed where features outnumber rows

    Attributes
    ----------
    components_, mean_ : the map; embedding_ : the fitted points
    classes_ : the labels, sorted
    eigenvalues_ : scatter between classes over scatter within them, for each coordinate
    certificate_ : how far from optimal the coordinates can be; print it
    n_components_ : number of coordinates

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from dualfold import FisherDiscriminant
    >>> X, y = load_iris(return_X_y=True)
    >>> model = FisherDiscriminant().fit(X, y)
    >>> print(model.eigenvalues_.round(4), model.certificate_.level)
    [32.1919  0.2854] proved
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "shrinkage": [Interval(Real, 0, 1, closed="left"), StrOptions({"auto"}), None],
    }

    def __init__(self, n_components: int | None = None, *, shrinkage: Shrinkage = None) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def _uses_labels(self) -> bool:
        return True

    def _fit_labelled(self, X: Any, labels: Labels) -> None:
        with self._stage("problem"):
            problem = fisher_discriminant(
                X, labels, n_components=self.n_components, shrinkage=self.shrinkage
            )
        with self._stage("solution and certificate"):
            embedding = embed(problem, solver=solver_to_last_digits(problem))
        self.classes_ = labels.classes
        self._keep_map(embedding, X.dtype)

    def _fit_tiles(self, rows: TiledTable, y: Any) -> None:
        """The same problem, with counts, means and scatter of classes added up from the tiles."""
        if y is None:
            self._labels(y, 0)  # says what is needed
        if self.shrinkage == "auto":
            raise InvalidInput(
                Argument("shrinkage", "auto"),
                " needs all rows at once, and X is a table in tiles; give a number between 0 and 1",
            )
        moments = class_moments_of(rows, y)
        n, classes = int(moments.counts.sum()), len(moments.classes)
        found = class_scatter_of(
            moments.within, moments.between, moments.mean, n, classes, float(self.shrinkage or 0.0)
        )
        problem = discriminant_problem(found, classes, self.n_components)
        answer = embed(problem, solver=solver_to_last_digits(problem))
        self.classes_ = moments.classes
        self._keep_answer(problem, answer.solution, answer.certificate, rows.dtype)

    def _stated(self, X: Any, count: int, labels: Labels | None = None) -> Stated:
        assert labels is not None  # `_uses_labels` says so
        asked = self.n_components or count
        problem = fisher_discriminant(X, labels, n_components=asked, shrinkage=self.shrinkage)
        return linear_statement(problem)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.shrinkage != "auto"  # Ledoit and Wolf's needs all entries
        return tags

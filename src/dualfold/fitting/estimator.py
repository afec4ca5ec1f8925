"""What all estimators share: scikit-learn's conventions around a certified embedding."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from dualfold.arrays import Array
from dualfold.data.labels import Labels, labels_of
from dualfold.descriptions import DESCRIPTIONS
from dualfold.errors import InvalidInput
from dualfold.estimators.progress import TellsProgress
from dualfold.estimators.stated import Stated
from dualfold.estimators.tiled import TakesTiles
from dualfold.graph.metrics import check_distances, exact_doubles, is_precomputed
from dualfold.inputs import numbers_of, refuse_text
from dualfold.kernels.sparse import refuse_damaged
from dualfold.notebook import drawn_map
from dualfold.scale.table import is_tiled
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto, Dense, Factored, Lanczos, Preconditioned, Solver

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# scikit-learn's names of solvers, and ours.
SOLVERS = ("auto", "dense", "arpack", "lanczos", "factored", "preconditioned")


class CertifiedBase(TakesTiles, TellsProgress, BaseEstimator):
    """Fits an embedding that knows how good it is.

    Subclasses set `embedding_` (or `components_`), `eigenvalues_` and `certificate_` in
    `_fit(X)`; those that use the classes of the rows in `_fit_labelled(X, labels)`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _accepts_sparse: ClassVar[bool] = True
    _looks_for_gaps: ClassVar[bool] = True  # NaN and infinite entries, in a pass of its own
    embedding_: Array

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed X (n_samples × n_features).

        `y`, a class for each row, is read by methods that use labels and ignored by the others.
        X may also be a table that is read in tiles (`dualfold.scale`), a data frame of pandas or
        polars, an Arrow table, an `xarray.DataArray`, or an AnnData, whose matrix X is taken.
        """
        if is_tiled(X):
            with self._whole_or_unfitted():
                self._fit_tiled(X, y)
        else:
            self._fit_checked(X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Embed X and return the points; `y` as in `fit`."""
        if is_tiled(X):
            return self._transform_tiles(self._fit_tiled(X, y))
        self._fit_checked(X, y)
        return np.asarray(self.embedding_)

    def _fit_checked(self, X: Any, y: Any) -> None:
        with self._whole_or_unfitted():
            checked = self._checked(X, reset=True)
            labels = self._labels(y, checked.shape[0]) if self._uses_labels() else None
            with self._telling(X):
                if labels is None:
                    self._fit(checked)
                else:
                    self._fit_labelled(checked, labels)

    @contextlib.contextmanager
    def _whole_or_unfitted(self) -> Iterator[None]:
        """A fit that does not end, by an error or Ctrl-C, leaves nothing fitted.

        Else half of an old and half of a new answer would stand side by side. What is set on an
        estimator otherwise (callbacks, the kind of output) stays.
        """
        try:
            yield
        except BaseException:
            stays = set(self.get_params(deep=False))
            for name in list(vars(self)):
                # scikit-learn keeps callbacks, routing and the kind of output under such names;
                # a method that was replaced is no part of a fit.
                of_others = "callback" in name or name.startswith(("_sklearn", "_metadata"))
                if name not in stays and not of_others and not hasattr(type(self), name):
                    delattr(self, name)
            raise

    def _fit(self, X: Any) -> None:
        raise NotImplementedError

    def _fit_labelled(self, X: Any, labels: Labels) -> None:
        raise NotImplementedError

    def _uses_labels(self) -> bool:
        """Whether y is read. Pipelines hand y to every step, so it must have been asked for."""
        return False

    def _labels(self, y: Any, n: int) -> Labels:
        if y is None:
            raise InvalidInput(
                f"{self} requires y to be passed, but the target y is None; give a class for each "
                "row: fit(X, y)"
            )
        return labels_of(y, n)

    def plot(
        self, X: Any = None, *, color: Any = None, title: str = "", color_name: str = ""
    ) -> Figure:
        """Draw the map; a notebook shows the figure, `savefig("map.png")` keeps it.

        X : rows to place and draw; None draws those that were fitted, where they are kept
        color : one value for each point: numbers and dates give a colour bar, words a legend
        title, color_name : above the map; what the colours stand for
        """
        check_is_fitted(self)
        points = getattr(self, "embedding_", None) if X is None else self._placed(X)
        if points is None:
            raise InvalidInput(
                f"{type(self).__name__} keeps no points of its own; give the rows: plot(X)"
            )
        row = next((one for one in DESCRIPTIONS.values() if one.estimator == type(self).__name__),
                   None)  # fmt: skip
        return drawn_map(
            points, color, title=title, color_name=color_name, verdict=str(self.certificate_),
            equal=row is None or row.lengths,
        )  # fmt: skip

    def _placed(self, X: Any) -> Any:
        if not hasattr(self, "transform"):
            raise InvalidInput(
                f"{type(self).__name__} places no new rows; plot() draws those that were fitted"
            )
        return self.transform(X)

    def stated(self, X: Any, n_components: int, y: Any = None) -> Stated:
        """The problem that fitting X would solve, for so many coordinates; nothing is solved.

        n_components : those of an answer; they count where the estimator's own leave it open
        y : as in `fit`
        """
        checked = self._checked(X, reset=True)
        labels = self._labels(y, checked.shape[0]) if self._uses_labels() else None
        return self._stated(checked, n_components, labels)

    def _stated(self, X: Any, count: int, labels: Labels | None = None) -> Stated:
        raise InvalidInput(
            f"{type(self).__name__} optimises nothing, so there is no problem to state and no "
            "optimum to compare with; `dualfold.quality.report` measures any map"
        )

    def _asked(self, count: int, most: int) -> int:
        """As many coordinates as the parameter says, else `count`; of `most` at the most."""
        wanted: Any = getattr(self, "n_components", count)
        whole = isinstance(wanted, Integral) and not isinstance(wanted, bool)
        return max(1, min(int(wanted) if whole else count, most))

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """X as a float array or CSR matrix; float32 stays float32."""
        X = numbers_of(X)
        refuse_damaged(X, "X")
        refuse_long_integers(X)
        try:
            return validate_data(
                self,
                X,
                reset=reset,
                accept_sparse="csr" if self._accepts_sparse else False,
                dtype=[np.float64, np.float32],
                ensure_min_samples=2 if reset else 1,
                ensure_all_finite=self._looks_for_gaps,
            )
        except (TypeError, ValueError) as trouble:
            refuse_text(X, trouble)
            raise

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.target_tags.required = self._uses_labels()
        return tags


class CertifiedEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CertifiedBase):
    """One that places new points, too, by the rule that `placing_map()` hands out."""

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Embed X and return the points, `embedding_` itself (not their places as new ones)."""
        return CertifiedBase.fit_transform(self, X, y)

    def transform(self, X: Any) -> Array:
        """The places of new points in the embedding."""
        if is_tiled(X):
            return self._transform_tiles(X)
        check_is_fitted(self)
        checked = self._checked(X, reset=False)
        if is_precomputed(getattr(self, "metric", None)):
            check_distances(checked.data if sp.issparse(checked) else checked.ravel())
        points = self.placing_map()(checked)
        return points.astype(np.float32) if checked.dtype == np.float32 else points

    def placing_map(self) -> Callable[[Any], Array]:
        """The rule that places new points, which `dualfold.saved` keeps as data."""
        raise NotImplementedError

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def refuse_long_integers(X: Any) -> None:
    """Integers that float64 cannot hold; rounded in silence, they would make proofs untrue."""
    numbers = X.tocsr().data if sp.issparse(X) else X  # some formats keep no array of numbers
    if hasattr(X, "dtypes") and hasattr(X, "select_dtypes"):
        numbers = X.select_dtypes("integer").to_numpy()
    if isinstance(numbers, np.ndarray) and numbers.dtype.kind in "iu":
        exact_doubles(numbers, "X")


def solver_named(name: str, tol: float = 0.0, seed: int = 0) -> Solver:
    """The solver of that name; a tolerance of 0 leaves the default."""
    settings: dict[str, Any] = {"seed": seed} | ({"tol": tol} if 0 < tol < 1e-6 else {})
    return {
        "auto": Auto(**settings),
        "dense": Dense(),
        "arpack": Lanczos(**settings),
        "lanczos": Lanczos(**settings),
        "factored": Factored(**settings),
        "preconditioned": Preconditioned(**settings),
    }[name]


# Up to this many rows LAPACK beats an iteration to 10 digits on a dense matrix, whatever
# the number of vectors (measured: 2,000 rows, 2 vectors, 0.67 s against 0.81 s), and
# beyond when more than one vector in 20 is wanted.
DENSE_ROWS, DENSE_SHARE = 2_000, 20


def solver_to_last_digits(problem: TraceProblem) -> Solver:
    """For dense matrices: tighter than the default, since drop-ins are compared by digits."""
    if problem.n <= DENSE_ROWS or problem.count > problem.n // DENSE_SHARE:
        return Dense()
    return Auto(tol=1e-10)

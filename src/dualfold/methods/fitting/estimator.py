"""What all estimators share: scikit-learn's conventions around a fit that is certified.

`fit` checks X, hands it to the method's `_fit(X, context)` and leaves nothing fitted where that
fails. The steps of a fit are functions (`graph_fit`, `linear`); an estimator only holds what they
return.
"""

from __future__ import annotations

import contextlib
import copy
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from inspect import signature
from numbers import Integral, Real
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    _fit_context,
    clone,
)
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from dualfold.arrays import Array, Metric, Rows
from dualfold.embedding import Embedding
from dualfold.errors import InvalidInput
from dualfold.graph.metrics import check_distances, exact_doubles, is_precomputed
from dualfold.graph.number_rows import refuse_units
from dualfold.inputs import numbers_of, refuse_text
from dualfold.kernels.reports import tally
from dualfold.kernels.sparse import canonical_rows
from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.methods.fitting.context import NO_CONTEXT, FitContext
from dualfold.methods.fitting.tiles import TiledRows, tiled_rows
from dualfold.methods.maps.piecewise_map import RescaledMap
from dualfold.methods.parameters import Constraints
from dualfold.notebook import drawn_map
from dualfold.trace.problem import TraceProblem
from dualfold.weights.labels import Labels, labels_of
from dualfold.weights.row_weights import counting_weights, validated_masses, validated_weights

if TYPE_CHECKING:
    from matplotlib.figure import Figure


try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""


# `with stage("neighbours"):` around a step of a fit.
Stage = Callable[[str], AbstractContextManager[None]]


@contextmanager
def fit_task(estimator: Any, X: Rows) -> Iterator[None]:
    """The whole fit, as the root task of the callbacks."""
    if not hasattr(estimator, "_init_callback_context"):
        yield
        return
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator, X=X)
    yield
    root.call_on_fit_task_end(estimator=estimator, X=X)


@contextmanager
def fit_stage(estimator: Any, name: str) -> Iterator[None]:
    """A step of a fit: callbacks and, if the estimator is verbose, standard error are told."""
    begin = perf_counter()
    root = getattr(estimator, "_callback_fit_ctx", None)
    task = None if root is None else root.subcontext(task_name=name)
    if task is not None:
        task.call_on_fit_task_begin(estimator=estimator)
    try:
        yield
        # As in scikit-learn, what fails does not end: callbacks are only torn down.
        if task is not None:
            task.call_on_fit_task_end(estimator=estimator)
    finally:
        seconds = perf_counter() - begin
        tally(f"seconds: {name}", seconds)
        if estimator.verbose:
            print(f"[{type(estimator).__name__}] {name}: {seconds:.2f} s", file=sys.stderr)


@dataclass(frozen=True, eq=False)
class Scaling:
    """Divisors of the coordinates (whitening), or None."""

    over: Array | None = None

    def rule(self, rule: Any) -> Any:
        """The rule of new points, scaled as they are."""
        return rule if self.over is None else RescaledMap(rule, over=self.over)

    def undone(self, points: Array) -> Array:
        """The points before they were scaled."""
        return points if self.over is None else points * self.over


@dataclass(frozen=True, eq=False)
class Statement:
    """Problem that an estimator states for its data, and where an answer leads.

    Attributes
    ----------
    problem : TraceProblem
        The problem.
    leads_to : callable
        Function of an answer that returns the rule for new rows.
    scaling : callable
        Function of the eigenvalues that returns the scaling of the coordinates.

    Examples
    --------
    >>> from dualfold import PCA
    >>> PCA(2).statement([[0.0, 1.0], [2.0, 3.0], [5.0, 5.0]], 2).problem.count
    2
    """

    problem: TraceProblem
    leads_to: Callable[[Embedding], Any]
    scaling: Callable[[Array], Scaling] = field(default_factory=lambda: no_scaling)


def _growth() -> Any:
    """The room of maps that grow, which stands above the methods; loaded where it is asked for."""
    return import_module("dualfold.models")


def no_scaling(values: Array) -> Scaling:
    """Scaling of coordinates that are those of the problem."""
    return Scaling()


def linear_statement(
    problem: TraceProblem, scaling: Callable[[Array], Scaling] = no_scaling
) -> Statement:
    """Statement of a problem whose answers are linear maps of the features."""
    lift: Any = problem.lift
    return Statement(problem, lambda a: lift.linear_map(a.solution.vectors, a.values), scaling)


class Estimator(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallbackSupportMixin, BaseEstimator
):
    """Fits an embedding that knows how good it is, and places new rows.

    A method writes `_fit(X, context)`, which sets `embedding_` (or `components_`), `eigenvalues_`
    and `certificate_`; `placing_map()`, the rule for new rows; and, where it has one, `_stated`,
    the problem that a fit would solve, and `_fit_tiles`.
    """

    _parameter_constraints: ClassVar[Constraints] = {}
    _accepts_sparse: ClassVar[bool] = True
    # What no rule for new rows reads: it does not go to workers.
    _unused_for_new_rows: ClassVar[tuple[str, ...]] = ("_moments", "history_", "callbacks")
    # What to do with tables in tiles that a method does not read.
    _instead_of_tiles: ClassVar[str] = (
        "Fit it on rows that fit into memory; docs/scale.md lists the methods that read tiles"
    )
    # Parameters that not all of them have, with the values that stand for their absence.
    metric: Metric | None = None
    metric_params: dict[str, object] | None = None
    p: float = 2
    n_components: Any = None
    supervised: bool = False
    verbose: bool | int = False
    # Whether a map that is fitted again begins with the points of the one before.
    refits_from_points: ClassVar[bool] = True
    # Whether the rows of the fit had weights.
    _weighted: bool = False
    embedding_: Array

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Embed the rows of X.

        X may also be a sparse matrix (for most methods), a data frame of pandas or polars, an Arrow
        table, an `xarray.DataArray`, an AnnData (its matrix X is used), or a table that is read in
        tiles (`dualfold.scale`).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed.
        y : array-like of shape (n_samples,) or None, default=None
            Class of each row, for methods that learn from classes; the others ignore it.

        Returns
        -------
        Self
            The fitted estimator.

        Raises
        ------
        InvalidInput
            If X or a parameter cannot be used; the message says what to do. After an error nothing
            is fitted.

        Warns
        -----
        DualfoldWarning
            If the fit is not what one may expect: pieces of a graph were joined, rows were left out
            or placed by others, points collapse, or a certificate failed. The subclasses are in
            `dualfold.errors`.
        """
        fit_any_table(self, X, y)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Embed the rows of X and return their points.

        These are the points of the fit itself, `embedding_`, not the places that X would get as new
        rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed, as in `fit`.
        y : array-like of shape (n_samples,) or None, default=None
            Class of each row, as in `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The points. For a table in tiles they come in the form of the table, for example as a
            Dask array.
        """
        rows = fit_any_table(self, X, y)
        return np.asarray(self.embedding_) if rows is None else rows.transform_with(self)

    def transform(self, X: Any) -> Array:
        """Place new rows in the fitted map.

        No row is fitted: the map stays as it is, and each row is placed on its own.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, with the columns that were fitted.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Their points.
        """
        check_is_fitted(self)
        rows = tiled_rows(X)
        if rows is not None:
            return rows.transform_with(self)
        checked: Any = self._checked_rows(X, reset=False)
        if is_precomputed(self.metric):
            check_distances(checked.data if sp.issparse(checked) else checked.ravel())
        points = self.placing_map()(checked)
        return points.astype(np.float32) if checked.dtype == np.float32 else points

    def placing_map(self) -> Callable[[Rows], Array]:
        """Return the rule that places new rows.

        `transform` applies it after checking its input, and `dualfold.saved` stores it as data.

        Returns
        -------
        callable
            A function of an array of rows that returns their points.
        """
        raise NotImplementedError

    def extend(self, X: Any = None, *, without: Any = (), old: Any = None) -> Any:
        """Add rows to the map; old points keep their places.

        New rows are placed as `transform` places them. The estimator does not change: what it
        returns is a map of all rows that can grow again, be fitted again, and says how far it is
        from the best map of all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None, default=None
            Rows that come, with the columns that were fitted; None: none come.
        without : array-like of int, default=()
            Numbers of fitted rows that leave; the first row is 0.
        old : array-like of shape (n_fitted, n_features) or None, default=None
            The rows that were fitted, for estimators that do not keep them, as `PCA`.

        Returns
        -------
        UpdatedMap
            The map of all rows; its `staleness_`, `new_rows_` and `verdict()` judge it.

        Raises
        ------
        InvalidInput
            If the rows do not have the columns of the map, or the estimator keeps no rows and
            `old` is not given.
        """
        return _growth().map_of_estimator(self, old).extend(X, without=without)

    def refit(self, X: Any, *, anchor: Any = None, old_rows: Any = None) -> Any:
        """Fit again to more rows, and lay the new map over an old one.

        The fit starts from what is known. The estimator does not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to fit.
        anchor : estimator, UpdatedMap or None, default=None
            Map whose places are kept as far as possible; None is this one.
        old_rows : array-like of int or None, default=None
            Numbers in X of the rows of that map, in their order; None: the first ones, or all rows
            for estimators that keep no points, as `PCA`.

        Returns
        -------
        UpdatedMap
            The new map; its `registration_` says how far old points moved.
        """
        growth = _growth()
        anchor = self if anchor is None else anchor
        if not isinstance(anchor, growth.UpdatedMap):
            rows = anchor._checked_rows(X, reset=False)
            # A linear map keeps no points, and has a place for every row.
            points = getattr(anchor, "embedding_", None)
            kept = rows.shape[0] if points is None else len(points)
            first = rows[:kept] if old_rows is None else rows[np.asarray(old_rows)]
            anchor = growth.map_of_estimator(anchor, first)
        return anchor.refit(X, old_rows=old_rows)

    def plot(
        self, X: Any = None, *, color: Any = None, title: str = "", color_name: str = ""
    ) -> Figure:
        """Draw the map.

        A notebook shows the figure; `figure.savefig("map.png")` stores it. The certificate stands
        below the map.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None, default=None
            Rows to place and draw. None draws the fitted rows, if the estimator keeps their points.
        color : array-like of shape (n_samples,) or None, default=None
            One value for each point: numbers and dates give a colour bar, words a legend.
        title : str, default=""
            Title above the map.
        color_name : str, default=""
            What the colours stand for.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        InvalidInput
            If there are no points to draw, or if new rows cannot be placed.
        """
        check_is_fitted(self)
        if X is not None and not hasattr(self, "transform"):
            raise InvalidInput(
                f"{type(self).__name__} places no new rows; plot() draws those that were fitted"
            )
        points = getattr(self, "embedding_", None) if X is None else self.transform(X)
        if points is None:
            raise InvalidInput(
                f"{type(self).__name__} keeps no points of its own; give the rows: plot(X)"
            )
        return map_of_points(self, points, color, title, color_name)

    def statement(self, X: Any, n_components: int, y: Any = None, weights: Any = None) -> Statement:
        """State the problem that fitting X would solve.

        Nothing is solved, and the estimator does not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to embed.
        n_components : int
            Number of coordinates, where the estimator leaves it open.
        y : array-like of shape (n_samples,) or None, default=None
            Class of each row, as in `fit`.
        weights : array-like of shape (n_samples,) or None, default=None
            Weights or masses of the rows, for methods whose `fit` takes them.

        Returns
        -------
        Statement
            The trace problem, and the rule for new rows that follows from an answer to it.

        Raises
        ------
        InvalidInput
            If the method optimises nothing, or solves no trace problem.
        """
        mine: Any = copy.copy(self)
        mine._validate_params()
        checked = mine._checked_rows(X, reset=True)
        labels = labels_for(mine, y, checked.shape[0])
        valid = None
        if weights is not None:
            weighted = "sample_weight" in signature(mine.fit).parameters
            valid = (validated_weights if weighted else validated_masses)(weights, checked.shape[0])
        return mine._statement(checked, n_components, FitContext(target=labels, weights=valid))

    def _fit(self, X: Rows, context: FitContext) -> None:
        raise NotImplementedError

    def _fit_tiles(self, rows: TiledRows, y: Any, context: FitContext) -> None:
        raise InvalidInput(
            f"{type(self).__name__} needs all rows at once, and X is a table in tiles. "
            f"{self._instead_of_tiles}"
        )

    def _statement(self, X: Rows, count: int, context: FitContext) -> Statement:
        raise InvalidInput(
            f"{type(self).__name__} optimises nothing, so there is no problem to state and no "
            "optimum to compare with; `dualfold.quality.report` measures any map"
        )

    def _uses_labels(self) -> bool:
        """Whether y is read. Pipelines hand y to every step, so it must have been asked for."""
        return bool(self.supervised)

    def _target(self, y: Any, n: int) -> Any:
        """Target of n rows; classes, unless a method takes something else."""
        return labels_of(y, n)

    def _checked_rows(self, X: Any, *, reset: bool) -> Rows:
        return checked_rows(self, X, reset=reset, sparse=self._accepts_sparse)

    def _for_columns(self, width: int, names: Array | None, *, weighted: bool) -> Self:
        """A new estimator with these parameters that takes rows of such columns, and has no answer.

        weighted : whether the rows had weights that its map was made with
        """
        expecting: Self = clone(self)
        expecting.n_features_in_ = width
        if names is not None:
            expecting.feature_names_in_ = names
        expecting._weighted = weighted
        return expecting

    @classmethod
    @cache  # scikit-learn reads the constructor's signature at every fit
    def _parameter_names(cls) -> tuple[str, ...]:
        return tuple(super()._get_param_names())

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return list(cls._parameter_names())

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.pairwise = is_precomputed(self.metric)
        tags.target_tags.required = self._uses_labels()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


@_fit_context(prefer_skip_nested_validation=True)
def fit_with(
    estimator: Any,
    X: Rows,
    context: FitContext,
    y: Any = None,
    *,
    sample_weight: ArrayLike | None = None,
    masses: ArrayLike | None = None,
) -> Any:
    """Fit an estimator to the rows of X with what is known of them already.

    The estimator comes back fitted, its parameters unchanged. `sample_weight` and `masses` are for
    estimators whose `fit` takes them.
    """
    fit_any_table(estimator, X, y, sample_weight=sample_weight, masses=masses, context=context)
    return estimator


def fit_any_table(
    estimator: Any,
    X: Rows,
    y: Any,
    *,
    sample_weight: Any = None,
    masses: Any = None,
    context: FitContext = NO_CONTEXT,
) -> TiledRows | None:
    """Fit the rows of X; returns X as a table in tiles if it is one.

    sample_weight, masses : for estimators that count rows, or give them masses
    context : the graph and the start that are known
    """
    rows = tiled_rows(X)
    with unfitted_on_failure(estimator):
        if rows is not None:
            validate_data(estimator, rows.meta, reset=True, skip_check_array=True)
            weights = weights_if_given(sample_weight, rows.n_rows)
            counted = weights if masses is None else masses  # masses are refused there
            estimator._fit_tiles(rows, y, replace(context, weights=counted))
            if weights is not None:  # what problems of rows in memory say themselves
                words = counting_weights(weights).about
                estimator.certificate_ = estimator.certificate_.with_scope(words)
        else:
            checked = estimator._checked_rows(X, reset=True)
            n = checked.shape[0]
            labels = labels_for(estimator, y, n)
            weights = weights_if_given(sample_weight, n)
            if masses is not None:
                weights = validated_masses(masses, n)
            with fit_task(estimator, X):
                estimator._fit(checked, replace(context, target=labels, weights=weights))
        estimator._weighted = sample_weight is not None or masses is not None
    return rows


def weights_if_given(sample_weight: Any, n: int) -> Array | None:
    """The validated weights of n rows; None where none are given."""
    if sample_weight is None:
        return None
    lazy = hasattr(sample_weight, "compute")  # of Dask: 8 bytes a row
    return validated_weights(sample_weight.compute() if lazy else sample_weight, n)


@contextlib.contextmanager
def unfitted_on_failure(estimator: Any) -> Iterator[None]:
    """A fit that does not end, by an error or Ctrl-C, leaves nothing fitted.

    Else half of an old and half of a new answer would stand side by side. What is set on an
    estimator otherwise (callbacks, the kind of output) stays.
    """
    try:
        yield
    except BaseException:
        stays = set(estimator.get_params(deep=False))
        for name in list(vars(estimator)):
            # scikit-learn keeps callbacks, routing and the kind of output under such names;
            # a method that was replaced is no part of a fit.
            of_others = "callback" in name or name.startswith(("_sklearn", "_metadata"))
            is_method = callable(getattr(type(estimator), name, None))
            if name not in stays and not of_others and not is_method:
                delattr(estimator, name)
        raise


def labels_for(estimator: Any, y: Any, n: int) -> Labels | None:
    """The classes of n rows where the estimator uses them, else None."""
    if not estimator._uses_labels():
        return None
    if y is None:
        raise InvalidInput(
            f"{estimator} requires y to be passed, but the target y is None; give a class for each "
            "row: fit(X, y)"
        )
    return estimator._target(y, n)


def checked_rows(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    sparse: bool = True,
    finite: bool = True,
    least_rows: int | None = None,
) -> Any:
    """X as a float array or CSR matrix, every entry stored once; float32 stays float32.

    reset : whether X is fitted, so that its width and column names are kept
    sparse, finite : whether sparse matrices are taken; whether NaN, infinity and numbers whose
        squares leave double precision are refused here
    least_rows : fewer are refused (None: fewer than 2 to fit, fewer than 1 to transform)
    """
    X = numbers_of(X)
    X = canonical_rows(X, "X") if sp.issparse(X) else X
    refuse_unrepresentable(X)
    try:
        with np.errstate(invalid="ignore"):  # infinities are added up, and refused
            rows = validate_data(
                estimator,
                X,
                reset=reset,
                accept_sparse="csr" if sparse else False,
                dtype=[np.float64, np.float32],
                ensure_min_samples=least_rows or (2 if reset else 1),
                ensure_all_finite=finite,
            )
    except (TypeError, ValueError) as trouble:
        refuse_text(X, trouble)
        raise
    if finite:
        refuse_units(rows, fitted=reset)
    return rows


def refuse_unrepresentable(X: Any) -> None:
    """Numbers that float64 cannot hold; rounded in silence, they would make proofs untrue.

    They are integers beyond 2⁵³ and long doubles, also as Python objects.
    """
    numbers = X.data if sp.issparse(X) else X
    if hasattr(X, "dtypes") and hasattr(X, "select_dtypes"):
        numbers = X.select_dtypes("integer").to_numpy()
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "iufO":
        return
    plain = numbers.dtype.kind == "f" and numbers.dtype.itemsize <= 8
    objects = numbers.dtype.kind == "O" and not all(isinstance(x, Real) for x in numbers.flat)
    if not plain and not objects:  # other objects are refused where they become numbers
        exact_doubles(numbers, "X")


def asked_count(estimator: Any, count: int, most: int) -> int:
    """As many coordinates as the estimator's parameter says, else `count`; `most` at the most."""
    wanted = estimator.n_components
    whole = isinstance(wanted, Integral) and not isinstance(wanted, bool)
    return max(1, min(int(wanted) if whole else count, most))


def map_of_points(
    estimator: Any, points: ArrayLike, color: Any, title: str, color_name: str
) -> Figure:
    """The figure of an estimator's points, to scale where lengths in its maps mean something."""
    name = type(estimator).__name__
    row = next(
        (description for description in DESCRIPTIONS.values() if description.class_name == name),
        None,
    )
    return drawn_map(
        points,
        color,
        title=title,
        color_name=color_name,
        verdict=str(estimator.certificate_),
        equal=row is None or row.lengths,
        columns=_columns_on_map(estimator),
    )


def _columns_on_map(estimator: Any) -> dict[str, Array] | None:
    """Places of the columns by their names, where an estimator has some."""
    points = getattr(estimator, "column_embedding_", None)
    if points is None:
        return None
    names = getattr(estimator, "feature_names_in_", range(1, len(points) + 1))
    return {str(name): point for name, point in zip(names, points, strict=True)}

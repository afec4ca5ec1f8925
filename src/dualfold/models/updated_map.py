"""A map that is updated: rows come and leave, old points stay, its staleness is certified."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph.graph import Graph
from dualfold.graph.growth import graph_without, grown_graph, refuse_fixed_graph, stacked_rows
from dualfold.methods.fitting.estimator import checked_rows
from dualfold.methods.fitting.tiles import tiled_rows
from dualfold.methods.maps.moved_map import MovedMap
from dualfold.methods.maps.out_of_sample import OutOfSampleMap
from dualfold.models.estimator_fits import (
    fitted_from,
    fitted_rows_and_points,
    known_lists,
    lengths_have_meaning,
    sources_of_rows,
)
from dualfold.models.new_rows import NewRows, compared_with_old
from dualfold.models.registration import MovementTest, Registration, registration
from dualfold.models.staleness import map_staleness, staleness_or_reason, why_unstated
from dualfold.models.verdict import MapVerdict, Thresholds, verdict_of
from dualfold.quality.map_comparison import procrustes
from dualfold.trace.staleness import StalenessCertificate, unresolved_staleness

# Rows of a table in tiles that are placed together.
TILE_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class UpdatedMap:
    """A fitted map after rows came or left, or after it was fitted again; print it.

    `extend` of a fitted estimator returns one. Old points keep their bits, new rows are placed by
    the rule of the fit, and the neighbour graph is the one of all rows. Nothing is changed in
    place: `extend` and `refit` return another map.

    Attributes
    ----------
    estimator : estimator
        The estimator with the parameters of the map.
    rule : OutOfSampleMap
        Rule that places rows; it stays as it was fitted.
    rows : ndarray or csr_array of shape (n_samples, n_features)
        All rows, in the order in which they came.
    embedding_ : ndarray of shape (n_samples, n_components)
        Their points.
    batch_ : ndarray of int of shape (n_samples,)
        With which update each row came; 0 for rows that were fitted.
    source_ : ndarray of int of shape (n_samples,)
        Number of each row among those that the rule was made of; -1 for rows that came later.
    graph_ : Graph or None
        Neighbour graph of all rows that the problem is about; None for methods without a graph.
    graph_rows_ : ndarray of int or None
        Numbers of these rows.
    certificate_ : Certificate or None
        Certificate of the fit.
    registration_ : Registration or None
        How the map was laid over an older one; None if it was not fitted again.
    anchor_rows : ndarray of int or None
        Numbers of the rows that the older map was fitted to, and in `anchor_points` their points
        on it.
    anchor_points : ndarray or None
        Points of these rows on the older map.
    seconds : float
        Seconds that the last fit took.
    n_fitted : int
        Number of rows that the rule was made of.
    stored : Model or None
        The stored model that the map came from.
    staleness_ : StalenessCertificate
        How far the frozen map is from the best map of all rows; computed when it is first asked
        for.
    new_rows_ : NewRows or None
        What the rows that came last have changed; None if no row came. Computed when it is first
        asked for.

    See Also
    --------
    dualfold.models.model_of : Makes a model of it, to be stored.

    Examples
    --------
    >>> from dualfold import Isomap
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(400, random_state=0).points
    >>> grown = Isomap(n_neighbors=10).fit(X[:300]).extend(X[300:])
    >>> grown.embedding_.shape, grown.staleness_.level
    ((400, 2), 'within')
    >>> grown.verdict().word
    'keep'
    """

    estimator: Any
    rule: OutOfSampleMap
    rows: Any
    embedding_: Array
    batch_: Array
    source_: Array
    graph_: Graph | None = None
    graph_rows_: Array | None = None
    certificate_: Any = None
    registration_: Registration | None = None
    anchor_rows: Array | None = field(default=None, repr=False)
    anchor_points: Array | None = field(default=None, repr=False)
    seconds: float = 0.0
    n_fitted: int = 0
    stored: Any = field(default=None, repr=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.embedding_)

    def transform(self, X: Any) -> Array:
        """Place rows on the map without adding them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows with the columns of the map.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Their points.
        """
        points = self.rule(self._checked_rows(X))
        return np.asarray(points).astype(self.embedding_.dtype, copy=False)

    def extend(self, X: Any = None, *, without: Any = ()) -> UpdatedMap:
        """Add rows, and let others leave.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None, default=None
            Rows that come, with the columns that were fitted; also a table in tiles
            (`dualfold.scale`). None: none come.
        without : array-like of int, default=()
            Numbers of the rows of this map that leave; the first row is 0.

        Returns
        -------
        UpdatedMap
            The map after the update. This one does not change.

        Raises
        ------
        InvalidInput
            If the rows do not have the columns of the map, or numbers are none of its rows.
        """
        staying = self._without_rows(without)
        tiles = None if X is None else tiled_rows(X)
        if tiles is not None:
            for start in range(0, tiles.n_rows, TILE_ROWS):
                block = np.arange(start, min(tiles.n_rows, start + TILE_ROWS))
                staying = staying._with(tiles.rows_at(block), self.batch_.max() + 1)
            return staying
        return staying if X is None else staying._with(X, self.batch_.max() + 1)

    def _with(self, X: Any, batch: int) -> UpdatedMap:
        new = self._checked_rows(X)
        points = np.asarray(self.rule(new)).astype(self.embedding_.dtype, copy=False)
        grown: dict[str, Any] = {}
        if self.graph_ is not None and self.graph_rows_ is not None:
            numbers = self.n_rows + np.arange(len(points))
            grown["graph_"] = grown_graph(self.graph_, new)
            grown["graph_rows_"] = np.concatenate([self.graph_rows_, numbers])
        return replace(
            self,
            rows=stacked_rows(self.rows, new),
            embedding_=np.concatenate([self.embedding_, points]),
            batch_=np.concatenate([self.batch_, np.full(len(points), batch)]),
            source_=np.concatenate([self.source_, np.full(len(points), -1)]),
            **grown,
        )

    def _without_rows(self, numbers: Any) -> UpdatedMap:
        gone = _row_mask(numbers, self.n_rows)
        if not gone.any():
            return self
        if (~gone).sum() < 2:
            raise InvalidInput(
                Argument("without"),
                f" leaves {counted(int((~gone).sum()), 'row')}; at least 2 must stay",
            )
        shrunk: dict[str, Any] = {}
        if self.graph_ is not None and self.graph_rows_ is not None:
            in_graph = gone[self.graph_rows_]
            place = np.cumsum(~gone) - 1
            shrunk["graph_"] = (
                graph_without(self.graph_, in_graph) if in_graph.any() else self.graph_
            )
            shrunk["graph_rows_"] = place[self.graph_rows_[~in_graph]]
        return replace(
            self,
            rows=self.rows[~gone],
            embedding_=self.embedding_[~gone],
            batch_=self.batch_[~gone],
            source_=self.source_[~gone],
            registration_=None,
            anchor_rows=None,
            anchor_points=None,
            **shrunk,
        )

    def _checked_rows(self, X: Any) -> Any:
        estimator = self.estimator
        if hasattr(estimator, "n_features_in_"):
            checked = estimator._checked_rows(X, reset=False)
        else:
            checked = checked_rows(clone(estimator), X, reset=True, least_rows=1)
        width = self.rule.n_columns
        if checked.shape[1] != width:
            raise InvalidInput(
                f"the rows have {counted(checked.shape[1], 'column')}, the map was made for {width}"
            )
        return checked

    @cached_property
    def staleness_(self) -> StalenessCertificate:
        """How far the frozen map is from the best map of all rows."""
        return self.staleness()

    def staleness(self, tolerance: float = DEFAULT_TOLERANCE) -> StalenessCertificate:
        """Certify how far the frozen map is from the best map of all rows.

        Parameters
        ----------
        tolerance : float in [0, 1], default=1e-4
            Largest gap that is called "proved".

        Returns
        -------
        StalenessCertificate
            The distance; `dualfold.trace.staleness` says how it is proved.
        """
        return staleness_or_reason(
            lambda: map_staleness(
                self.estimator,
                self.rule,
                self.rows,
                self.embedding_,
                tolerance,
                graph=self.graph_,
                graph_rows=self.graph_rows_,
                new_pieces=len(self._pieces_without(self.batch_ > 0)),
            ),
            tolerance,
        )

    def _pieces_without(self, is_new: Array) -> tuple[Array, ...]:
        """The rows of each piece of the graph that holds new rows alone."""
        if self.graph_ is None or self.graph_rows_ is None:
            return ()
        pieces, new = self.graph_.piece_of, is_new[self.graph_rows_]
        has_old = np.bincount(pieces, weights=~new) > 0
        return tuple(self.graph_rows_[pieces == piece] for piece in np.flatnonzero(~has_old))

    @cached_property
    def new_rows_(self) -> NewRows | None:
        """What the rows that came last have changed; None if no row came."""
        last = int(self.batch_.max())
        if last == 0 or not (self.batch_ < last).any():
            return None
        is_new = self.batch_ == last
        fitted = self.rule.fitted_rows()
        metric = "euclidean" if fitted is None else fitted[1]
        X = self.rule.compared_rows(self.rows)
        pieces = self._pieces_without(is_new)
        moves = hasattr(self.estimator, "judged_points")
        return compared_with_old(
            X,
            self.embedding_,
            is_new,
            metric,
            pieces,
            points_pull=moves,
            from_graph=self.graph_ is not None,
        )

    def verdict(
        self,
        *,
        max_gap: float = 0.1,
        max_foreign: float = 0.2,
        max_kept_loss: float = 0.2,
        level: float = 0.005,
        certified: bool = True,
    ) -> MapVerdict:
        """Say whether to keep the map or to fit again.

        Parameters
        ----------
        max_gap : float, default=0.1
            Distance from the best map of all rows beyond which to fit again.
        max_foreign : float, default=0.2
            Share of the new rows that may lie in places of their own.
        max_kept_loss : float, default=0.2
            How much smaller the share of neighbours kept may be for new rows than for old ones.
        level : float, default=0.005
            Share of updates by rows of the old kind that may raise a false alarm: 1 in 20 series of
            ten updates.
        certified : bool, default=True
            Whether to certify how stale the map is, which may take as long as a fit.

        Returns
        -------
        MapVerdict
            "keep", "keep but look here" or "fit again", with the reasons.
        """
        limits = Thresholds(max_gap, max_foreign, max_kept_loss, level)
        stale = self.staleness_ if certified else unresolved_staleness("it was not asked for")
        n_apart = sum(len(rows) for rows in self._pieces_without(self.batch_ > 0))
        return verdict_of(stale, self.new_rows_, limits, n_apart)

    def refit(self, X: Any = None, *, old_rows: Any = None) -> UpdatedMap:
        """Fit again, from what is known, and lay the new map over this one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or None, default=None
            Rows to fit; None fits all rows of this map.
        old_rows : array-like of int or None, default=None
            Numbers in X of the rows of this map, in their order; None: its first ones.

        Returns
        -------
        UpdatedMap
            The new map; its `registration_` says how far old points moved.

        Raises
        ------
        InvalidInput
            If the map was fitted with weights of rows, or to a mixed table that it encoded.
        """
        reason = why_unstated(self.estimator)
        if reason:
            raise InvalidInput(f"{reason}; fit an estimator to all rows and use its own extend()")
        rows = self.rows if X is None else self._checked_rows(X)
        numbers = np.arange(self.n_rows) if old_rows is None else np.asarray(old_rows)
        if (
            len(numbers) != self.n_rows
            or not _row_mask(numbers, rows.shape[0]).sum() == self.n_rows
        ):
            raise InvalidInput(
                Argument("old_rows"),
                f" names {len(numbers):,} of {rows.shape[0]:,} rows; one number is needed for each "
                f"of the {self.n_rows:,} rows of the map (use `extend(without=…)` for rows that "
                "left)",
            )
        begin = perf_counter()
        start = self._start(rows, numbers)
        known = known_lists(self.graph_, self.n_rows) if X is None else None
        estimator = fitted_from(clone(self.estimator), rows, start, known)
        seconds = perf_counter() - begin
        values = getattr(estimator, "eigenvalues_", None)
        fresh = map_of_estimator(estimator, rows)
        own = fresh.embedding_
        found = registration(
            self.embedding_, own[numbers], numbers, values, lengths_have_meaning(estimator)
        )
        rule = MovedMap(fresh.rule, found.rotation, found.scale, found.shift)
        return replace(
            fresh,
            rule=rule,
            embedding_=rule.moved(own).astype(own.dtype, copy=False),
            registration_=found,
            anchor_rows=numbers[self.batch_ == 0],
            anchor_points=self.embedding_[self.batch_ == 0],
            seconds=seconds,
            stored=self.stored,
        )

    def _start(self, rows: Any, numbers: Array) -> Array:
        """Where the points of a fit begin: old ones at their places, the others placed."""
        points = np.asarray(self.rule(rows), dtype=float)
        points[numbers] = self.embedding_
        return points

    def movement_test_seconds(self, repeats: int = 19) -> float:
        """Predict the cost of `movement_test` by the seconds that the last fit took.

        Parameters
        ----------
        repeats : int, default=19
            Number of samples.

        Returns
        -------
        float
            Seconds.
        """
        _, old_points = self._anchor()
        return repeats * self.seconds * len(old_points) / self.n_rows

    def movement_test(self, repeats: int = 19, *, random_state: int = 0) -> MovementTest:
        """Ask whether old points moved more than another sample would have moved them.

        Maps of random samples of all rows, as many as there were old rows, are laid over this one.
        If the old rows are such a sample and their map was a fit, each order of the movements is as
        likely: the chance needs no other assumption. `movement_test_seconds` predicts the cost.

        Parameters
        ----------
        repeats : int, default=19
            Number of samples; 19 resolve a chance of 1 in 20.
        random_state : int, default=0
            Seed of the samples.

        Returns
        -------
        MovementTest
            The movement, those of the samples, and the chance.

        Raises
        ------
        InvalidInput
            If the map was not fitted again.
        """
        old_rows, old_points = self._anchor()
        scale = 1.0 if lengths_have_meaning(self.estimator) else "best"
        points = np.asarray(self.embedding_, dtype=float)
        n_old = len(old_rows)
        observed = _median_movement(points[old_rows], old_points, scale)
        draw = np.random.default_rng(random_state)
        moved = np.empty(repeats)
        for number in range(repeats):
            some = np.sort(draw.choice(self.n_rows, n_old, replace=False))
            other = map_of_estimator(clone(self.estimator).fit(self.rows[some]), self.rows[some])
            moved[number] = _median_movement(points[some], other.embedding_, scale)
        chance = float(1 + np.sum(moved >= observed)) / (repeats + 1)
        return MovementTest(observed, moved, chance)

    def _anchor(self) -> tuple[Array, Array]:
        """The rows that the older map was fitted to, and their points on it."""
        if self.anchor_rows is None or self.anchor_points is None:
            raise InvalidInput("no point has moved: this map was not fitted again; call refit()")
        if len(self.anchor_rows) == self.n_rows:
            raise InvalidInput(
                "the older map was fitted to all rows of this one, so that every sample of as many "
                "rows is the same; add rows first: extend(X).refit()"
            )
        return self.anchor_rows, self.anchor_points

    def __str__(self) -> str:
        parts = [
            f"{self.n_rows:,} rows, {int(np.sum(self.batch_ > 0)):,} of them added after the fit."
        ]
        if self.registration_ is not None:
            parts.append(str(self.registration_))
        if (self.batch_ > 0).any():
            parts += [f"Staleness: {self.staleness_}.", str(self.new_rows_ or "")]
            parts.append(f"Verdict: {self.verdict()}.")
        return " ".join(filter(None, parts))

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers, lists and strings, as JSON takes them.

        Returns
        -------
        dict
            Numbers of rows, staleness, what the new rows changed, registration and verdict.
        """
        new, moved = self.new_rows_, self.registration_
        return {
            "rows": self.n_rows,
            "added": int(np.sum(self.batch_ > 0)),
            "staleness": self.staleness_.to_dict(),
            "new_rows": None if new is None else new.to_dict(),
            "registration": None if moved is None else moved.to_dict(),
            "verdict": self.verdict().to_dict(),
        }


def map_of_estimator(estimator: Any, old: Any = None) -> UpdatedMap:
    """Return the map of a fitted estimator, before any update.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator of dualfold whose rule places new rows.
    old : array-like of shape (n_samples, n_features) or None, default=None
        The rows that it was fitted to, for estimators that keep none.

    Returns
    -------
    UpdatedMap
        All rows of the fit, with their points.

    Raises
    ------
    InvalidInput
        If the estimator places no new rows from features, or keeps no rows and none are given.

    See Also
    --------
    UpdatedMap.extend : Adds rows to it.

    Examples
    --------
    >>> from dualfold import Isomap
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.models import map_of_estimator
    >>> X = swiss_roll(120, random_state=0).points
    >>> map_of_estimator(Isomap(n_neighbors=8).fit(X)).n_rows
    120
    """
    check_is_fitted(estimator)
    rule = estimator.placing_map()
    if not isinstance(rule, OutOfSampleMap):
        raise InvalidInput(
            f"this {type(estimator).__name__} places no new rows from features, so that its map "
            "cannot grow; fit on features"
        )
    graph = getattr(estimator, "graph_", None)
    rows, points, numbers = fitted_rows_and_points(estimator, rule, old)
    held, in_graph = rule.fitted_rows(), None
    if graph is not None:
        refuse_fixed_graph(graph)
        in_graph = np.arange(rows.shape[0]) if numbers is None else np.asarray(numbers)
    return UpdatedMap(
        estimator=estimator,
        rule=rule,
        rows=rows,
        embedding_=points,
        batch_=np.zeros(rows.shape[0], int),
        source_=sources_of_rows(rule, rows.shape[0], numbers),
        graph_=graph,
        graph_rows_=in_graph,
        certificate_=estimator.certificate_,
        n_fitted=rows.shape[0] if held is None else held[0].shape[0],
    )


def _median_movement(points: Array, other: Array, scale: Any) -> float:
    radius = float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))) or 1.0
    return float(np.median(procrustes(points, other, scale=scale).residuals)) / radius


def _row_mask(numbers: Any, n: int) -> Array:
    """Which of n rows are named."""
    rows = np.asarray(numbers)
    mask = np.zeros(n, bool)
    if rows.size == 0:
        return mask
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or rows.min() < 0 or rows.max() >= n:
        raise InvalidInput(
            Argument("without"), f" is a list of row numbers from 0 to {n - 1}, each at most once"
        )
    mask[rows] = True
    return mask

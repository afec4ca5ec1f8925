"""A map that is updated: rows come and leave, old points stay, its staleness is certified."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from dualfold.arrays import Array, Rows
from dualfold.certificate import DEFAULT_TOLERANCE
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph.graph import Graph
from dualfold.graph.grown_graphs import graph_without, grown_graph, refuse_fixed_graph
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
from dualfold.models.growth import Growth
from dualfold.models.new_rows import NewRows, compared_with_old
from dualfold.models.registration import MovementTest, Registration, registration
from dualfold.models.staleness import map_staleness, staleness_or_reason, why_unstated
from dualfold.models.verdict import MapVerdict, Thresholds, verdict_of
from dualfold.quality.map_comparison import procrustes
from dualfold.trace.staleness import StalenessCertificate, unresolved_staleness

# Rows of a table in tiles that are placed together.
TILE_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class Refit:
    """Fit of a map that was laid over an older one.

    registration : how far old points moved
    rows, points : numbers of the rows that the older map was fitted to, and their points on it
    seconds : what the fit took
    """

    registration: Registration
    rows: Array
    points: Array
    seconds: float


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
    fitted : ndarray or csr_array
        Rows that the rule was made of.
    growth : Growth
        Which of these rows are still on the map, which rows came, and the points of all.
    graph_ : Graph or None
        Neighbour graph of all rows that the problem is about; None for methods without a graph.
    certificate_ : Certificate or None
        Certificate of the fit.
    refit_ : Refit or None
        How the map was laid over an older one; None if it was not fitted again.
    stored : Model or None
        The stored model that the map came from.
    rows : ndarray or csr_array of shape (n_samples, n_features)
        All rows, in the order in which they came.
    embedding_ : ndarray of shape (n_samples, n_components)
        Their points.
    batch_ : ndarray of int of shape (n_samples,)
        With which update each row came; 0 for rows that were fitted.
    registration_ : Registration or None
        How far old points moved; None if the map was not fitted again.
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
    fitted: Rows
    growth: Growth
    graph_: Graph | None = None
    certificate_: Any = None
    refit_: Refit | None = field(default=None, repr=False)
    stored: Any = field(default=None, repr=False)

    @cached_property
    def rows(self) -> Rows:
        """All rows, in the order in which they came."""
        return self.growth.all_rows(self.fitted)

    @property
    def embedding_(self) -> Array:
        """Points of all rows."""
        return self.growth.points

    @property
    def batch_(self) -> Array:
        """With which update each row came; 0 for rows that were fitted."""
        return self.growth.batch

    @property
    def registration_(self) -> Registration | None:
        """Movement that laid the map over an older one; None if it was not fitted again."""
        return None if self.refit_ is None else self.refit_.registration

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
        graph = None if self.graph_ is None else grown_graph(self.graph_, new)
        return replace(self, growth=self.growth.with_rows(new, points, batch), graph_=graph)

    def _without_rows(self, numbers: object) -> UpdatedMap:
        gone = _row_mask(numbers, self.n_rows)
        if not gone.any():
            return self
        if (~gone).sum() < 2:
            raise InvalidInput(
                Argument("without"),
                f" leaves {counted(int((~gone).sum()), 'row')}; at least 2 must stay",
            )
        graph, in_graph = self.graph_, self.growth.graph_rows
        if graph is not None and in_graph is not None and gone[in_graph].any():
            graph = graph_without(graph, gone[in_graph])
        return replace(self, growth=self.growth.without(gone), graph_=graph, refit_=None)

    def _checked_rows(self, X: Any) -> Rows:
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
        """Distance of the frozen map from the best map of all rows."""
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
                graph_rows=self.growth.graph_rows,
                new_pieces=len(self._pieces_without(self.growth.is_new)),
            ),
            tolerance,
        )

    def _pieces_without(self, is_new: Array) -> tuple[Array, ...]:
        """The rows of each piece of the graph that holds new rows alone."""
        in_graph = self.growth.graph_rows
        if self.graph_ is None or in_graph is None:
            return ()
        pieces, new = self.graph_.piece_of, is_new[in_graph]
        has_old = np.bincount(pieces, weights=~new) > 0
        return tuple(in_graph[pieces == piece] for piece in np.flatnonzero(~has_old))

    @cached_property
    def new_rows_(self) -> NewRows | None:
        """Changes by the rows that came last; None if no row came."""
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
        n_apart = sum(len(rows) for rows in self._pieces_without(self.growth.is_new))
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
        fitted = fresh.embedding_
        movement = registration(
            self.embedding_, fitted[numbers], numbers, values, lengths_have_meaning(estimator)
        )
        rule = MovedMap(fresh.rule, movement.rotation, movement.scale, movement.shift)
        points = rule.moved(fitted).astype(fitted.dtype, copy=False)
        old = ~self.growth.is_new
        return replace(
            fresh,
            rule=rule,
            growth=replace(fresh.growth, points=points),
            refit_=Refit(movement, numbers[old], self.embedding_[old], seconds),
            stored=self.stored,
        )

    def _start(self, rows: Rows, numbers: Array) -> Array:
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
        refit = self._refit_of_some()
        return repeats * refit.seconds * len(refit.points) / self.n_rows

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
        refit = self._refit_of_some()
        scale = 1.0 if lengths_have_meaning(self.estimator) else "best"
        points = np.asarray(self.embedding_, dtype=float)
        n_old = len(refit.rows)
        observed = _median_movement(points[refit.rows], refit.points, scale)
        draw = np.random.default_rng(random_state)
        moved = np.empty(repeats)
        for number in range(repeats):
            sample = np.sort(draw.choice(self.n_rows, n_old, replace=False))
            other = map_of_estimator(
                clone(self.estimator).fit(self.rows[sample]), self.rows[sample]
            )
            moved[number] = _median_movement(points[sample], other.embedding_, scale)
        chance = float(1 + np.sum(moved >= observed)) / (repeats + 1)
        return MovementTest(observed, moved, chance)

    def _refit_of_some(self) -> Refit:
        """The last fit, which old points were laid over, if other rows were fitted, too."""
        if self.refit_ is None:
            raise InvalidInput("no point has moved: this map was not fitted again; call refit()")
        if len(self.refit_.rows) == self.n_rows:
            raise InvalidInput(
                "the older map was fitted to all rows of this one, so that every sample of as many "
                "rows is the same; add rows first: extend(X).refit()"
            )
        return self.refit_

    def __str__(self) -> str:
        parts = [f"{self.n_rows:,} rows, {self.growth.n_added:,} of them added after the fit."]
        if self.registration_ is not None:
            parts.append(str(self.registration_))
        if self.growth.n_added:
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
            "added": self.growth.n_added,
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
    >>> from dualfold.saved import map_of_estimator
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
    held, n = rule.fitted_rows(), rows.shape[0]
    in_graph = None
    if graph is not None:
        refuse_fixed_graph(graph)
        in_graph = np.arange(n) if numbers is None else np.asarray(numbers)
    source = sources_of_rows(rule, n, numbers)
    # The rule of a map of some rows holds these alone.
    fitted = rows if held is None or held[0].shape[0] == n else held[0]
    growth = Growth(
        fitted.shape[0], source, rows[source < 0], points, np.zeros(n, int), graph_rows=in_graph
    )
    return UpdatedMap(
        estimator, rule, fitted, growth, graph_=graph, certificate_=estimator.certificate_
    )


def _median_movement(points: Array, other: Array, scale: float | str) -> float:
    radius = float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))) or 1.0
    return float(np.median(procrustes(points, other, scale=scale).residuals)) / radius


def _row_mask(numbers: object, n: int) -> Array:
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

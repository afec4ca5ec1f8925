"""Does a map show overall order: large distances, and columns that rise along it?"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit

from dualfold.arrays import Array
from dualfold.inputs import random_generator
from dualfold.quality.column_directions import (
    N_REARRANGED_MAPS,
    ColumnDirection,
    column_directions,
    rearranged_maps,
)
from dualfold.quality.estimate import INTERVAL_CONFIDENCE, Estimate, drawn_rows, limits_of
from dualfold.quality.space import EuclideanSpace, Space, subspace
from dualfold.quality.unrelated_columns import UnrelatedOrder, order_of_unrelated_columns

# Where words change, in correlations of ranks beyond chance: half, a quarter and a sixteenth of
# the variance of the ranks is explained. Conventions, chosen by known tables
# (docs/calibration.md#the-verdict-on-a-map).
LAYOUT_GRADES = ((0.7, "good"), (0.5, "fair"), (0.25, "poor"), (-np.inf, "hardly any"))
MIN_ORDER_CORRELATION = LAYOUT_GRADES[0][0]
# Where it is fair or good, and as much is shown of columns that are not related.
TRIVIAL = "trivial"
LAYOUT_WORDS = ("good", "fair", TRIVIAL, "poor", "hardly any")
SHOWN_GRADES = LAYOUT_WORDS[:2]
# From here nearly all order is there, whether columns are related or not.
MIN_NEARLY_ALL = 0.95
# Of the columns of a table: fewer are the order of a few, not of the table.
MIN_ORDERED_SHARE = 0.1
# All pairs of up to MAX_EXACT_ROWS rows are compared; of more, 20 pairs of each of 1,000 rows.
MAX_EXACT_ROWS = 150
MAX_POOL_ROWS = 2_000
MAX_PAIR_ROWS = 1_000
PAIRS_PER_ROW = 20
N_BATCHES = 20
# Of wider tables as many columns are drawn.
MAX_COLUMNS = 200
MAX_NAMED_COLUMNS = 3


@dataclass(frozen=True)
class Layout:
    """Overall order of the data, as far as a map shows it.

    distances : Spearman's correlation of the distances before and after, over pairs of rows
    chance : what it is in one of 20 maps with the same visible groups, their places and the rows
        inside permuted (without groups: with permuted rows)
    columns : the direction of each column that was looked at
    n_components : coordinates of the map
    unrelated : what principal components hardly pass of the same columns, each permuted on its own;
        None where the map shows less than "fair", or this was not measured

    The grade is that of the distances, or of the columns where these say more. A column is in order
    from a held-out correlation r of 0.7, beyond chance. Of independent columns a map of d axes
    shows d at most (Σr² ≤ d); so the columns in order count where they are more than d with
    Σr² > d (and more than of unrelated columns), not counting as many as rearranged maps have:
    "good" for a tenth of all columns, "fair" for fewer.

    Two axes of four columns hold half of everything, whatever the columns are. So order is
    "trivial" where unrelated columns have as much of it, unless the map shows nearly all order.

    >>> print(Layout(0.8, 0.1, (), 2))
    good: rank correlation of distances 0.80 (by chance up to 0.10)
    """

    distances: float
    chance: float
    columns: tuple[ColumnDirection, ...]
    n_components: int
    unrelated: UnrelatedOrder | None = None

    @property
    def beyond_chance(self) -> float:
        """Order of the distances: 0 as the same groups at random places, 1 all in order."""
        left = 1 - self.chance
        return (float(self.distances) - self.chance) / left if left > 0 else 0.0

    @property
    def ordered_columns(self) -> tuple[ColumnDirection, ...]:
        """The columns that rise along a straight direction, the best first."""
        ordered = [
            column
            for column in self.columns
            if column.correlation >= MIN_ORDER_CORRELATION and column.is_beyond_chance
        ]
        return tuple(sorted(ordered, key=lambda column: -column.correlation))

    @property
    def ordered_by_chance(self) -> int:
        """The most columns that rise so on one of the rearranged maps."""
        each = zip(*(column.permuted for column in self.columns if column.permuted), strict=True)
        return max((sum(r >= MIN_ORDER_CORRELATION for r in column) for column in each), default=0)

    @property
    def grade(self) -> str:
        """good, fair, trivial, poor, or hardly any."""
        word = next(word for least, word in LAYOUT_GRADES if self.beyond_chance >= least)
        if self._is_ordered_by_columns:
            many = self._n_ordered >= MIN_ORDERED_SHARE * len(self.columns)
            return "good" if many else word if word in SHOWN_GRADES else "fair"
        return TRIVIAL if word in SHOWN_GRADES and self._is_trivial else word

    @property
    def _is_trivial(self) -> bool:
        """Whether distances are in order no more than those of unrelated columns are."""
        if self.unrelated is None or self.beyond_chance >= MIN_NEARLY_ALL:
            return False
        return float(self.distances) <= self.unrelated.distances

    @property
    def _n_ordered(self) -> int:
        return len(self.ordered_columns) - self.ordered_by_chance

    @property
    def _is_ordered_by_columns(self) -> bool:
        """Whether more columns are in order than unrelated ones can be."""
        squares = sum(column.correlation**2 for column in self.ordered_columns)
        most = 0.0 if self.unrelated is None else self.unrelated.squares
        return self._n_ordered > self.n_components and squares > max(self.n_components, most)

    @property
    def column_words(self) -> str:
        """The best columns with the axis that they follow; "" without any."""
        best = self.ordered_columns[:MAX_NAMED_COLUMNS]
        titles: dict[int, list[str]] = {}
        for column in best:
            titles.setdefault(column.axis, []).append(column.title)
        return "; ".join(
            f"{', '.join(names)} along axis {axis + 1}" for axis, names in titles.items()
        )

    def __str__(self) -> str:
        unrelated = ""
        if self.unrelated is not None:
            unrelated = f"; unrelated columns: {self.unrelated.distances:.2f}"
        interval = ""
        if isinstance(self.distances, Estimate):
            interval = f"95 %: {self.distances.low:.2f} to {self.distances.high:.2f}; "
        text = (
            f"{self.grade}: rank correlation of distances {float(self.distances):.2f} ({interval}"
            f"by chance up to {self.chance:.2f}{unrelated})"
        )
        if not self.columns:
            return text
        best = self.ordered_columns[:MAX_NAMED_COLUMNS]
        named = ", ".join(
            f"{column.title} {column.correlation:.2f} (by chance up to {column.chance:.2f})"
            for column in best
        )
        count = (
            f"{len(self.ordered_columns)} of {len(self.columns)} features rise along a straight "
            f"line with a correlation of {MIN_ORDER_CORRELATION} or more"
        )
        chance = f" (by chance up to {self.ordered_by_chance})"
        return f"{text}; {count}{chance}{': ' if named else ''}{named}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; of the columns the best hundred."""
        columns = sorted(self.columns, key=lambda column: -column.correlation)[:100]
        return {
            "grade": self.grade,
            "distances": float(self.distances),
            "low": limits_of(self.distances)[0],
            "high": limits_of(self.distances)[1],
            "chance": self.chance,
            "beyond_chance": self.beyond_chance,
            "unrelated": None if self.unrelated is None else self.unrelated.distances,
            "columns_in_order": [column.title for column in self.ordered_columns],
            "columns_by_chance": self.ordered_by_chance,
            "columns_tested": len(self.columns),
            "columns": [column.to_dict() for column in columns],
            "text": str(self),
        }


def layout_of(
    x: Space,
    Y: ArrayLike,
    columns: Mapping[str, Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    blocks: Sequence[Hashable] | None = None,
    random_state: int = 0,
) -> Layout:
    """Overall order of a space, as far as the map Y shows it.

    columns : name → values, one for each row (see `column_directions`); None: those of the table
        that distances are taken in, if it is one
    names : of the columns of that table
    blocks : of each of these columns, as `order_of_unrelated_columns` takes them
    """
    points = np.asarray(Y, dtype=float)
    columns = _columns_of(x, names) if columns is None else columns
    chosen = _drawn_columns(columns, random_state)
    directions = column_directions(chosen, points, random_state=random_state) if chosen else []
    pool = drawn_rows(x.n, MAX_POOL_ROWS, random_state)
    measured, shown = (x, points) if pool is None else (subspace(x, pool), points[pool])
    pairs = _drawn_pairs(measured.n, random_state)
    distances = measured.distances_to(pairs.columns, pairs.rows)
    before = _ranks(distances[pairs.counted])
    after = _distances_on(shown, pairs)
    value = _correlation(before, after)
    by_chance = [
        _correlation(before, _distances_on(rearranged, pairs))
        for rearranged in rearranged_maps(shown, N_REARRANGED_MAPS, random_state)
    ]
    if len(pairs.rows) < measured.n:
        value = _with_interval(value, before, after)
    layout = Layout(value, max(0.0, *by_chance), tuple(directions), points.shape[1])
    if layout.grade not in SHOWN_GRADES or not isinstance(measured, EuclideanSpace):
        return layout
    # A map of all columns is the table itself; of many columns unrelated ones show next to nothing.
    if not layout.n_components < measured.width <= MAX_COLUMNS:
        return layout

    def kept_order(table: Array, its_map: Array) -> float:
        return _correlation(_ranks(_distances_on(table, pairs)), _distances_on(its_map, pairs))

    unrelated = order_of_unrelated_columns(
        measured.points,
        layout.n_components,
        kept_order,
        least_square=MIN_ORDER_CORRELATION**2,
        blocks=blocks,
        random_state=random_state,
    )
    return replace(layout, unrelated=unrelated)


def _columns_of(x: Space, names: Sequence[str] | None) -> dict[str, Any]:
    """The columns of a table; none of a space of distances."""
    if not isinstance(x, EuclideanSpace):
        return {}
    if names is None or len(names) != x.width:
        names = [f"column {column + 1}" for column in range(x.width)]
    return {name: x.points[:, column] for column, name in enumerate(names)}


def _drawn_columns(columns: Mapping[str, Any], random_state: int) -> dict[str, Any]:
    names = list(columns)
    if len(names) > MAX_COLUMNS:
        drawn = random_generator(random_state).choice(len(names), MAX_COLUMNS, replace=False)
        names = [names[i] for i in np.sort(drawn)]
    return {name: columns[name] for name in names}


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Some rows, others for each of them, and which of these pairs count: each once."""

    rows: Array
    columns: Array
    counted: Array

    @cached_property
    def ends(self) -> tuple[Array, Array]:
        """The two rows of each pair that counts."""
        first = np.broadcast_to(self.rows[:, None], self.columns.shape)
        return first[self.counted], self.columns[self.counted]


def _drawn_pairs(n: int, random_state: int) -> _Pairs:
    """All pairs of few rows; of more a number of others for each of some rows."""
    if n <= MAX_EXACT_ROWS:
        rows = np.arange(n, dtype=np.int32)
        columns = (rows[:, None] + np.arange(1, n, dtype=np.int32)) % n
        return _Pairs(rows, columns.astype(np.int32), rows[:, None] < columns)
    rng = random_generator([random_state, n])
    rows = rng.permutation(n)[: min(MAX_PAIR_ROWS, n - 1)].astype(np.int32)
    steps = rng.integers(1, n, (len(rows), PAIRS_PER_ROW))
    columns = ((rows[:, None] + steps) % n).astype(np.int32)
    return _Pairs(rows, columns, np.ones(columns.shape, dtype=bool))


def _distances_on(Y: Array, pairs: _Pairs) -> Array:
    first, second = pairs.ends
    offsets = Y.take(second, axis=0) - Y.take(first, axis=0)
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", offsets, offsets)))


def _ranks(values: Array) -> Array:
    """From 1 on, of equal values their mean; SciPy's function takes twice as long."""
    order = np.argsort(values)
    ordered = values[order]
    firsts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ends = np.append(firsts[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((firsts + 1 + ends) / 2, ends - firsts)
    return ranks


def _correlation(before: Array, distances: Array) -> float:
    """Pearson's of ranks with the ranks of distances on a map; 0 where one does not vary."""
    first, second = before - before.mean(), _ranks(distances)
    second -= second.mean()
    size = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / size if size > 0 else 0.0


def _with_interval(value: float, before: Array, after: Array) -> Estimate:
    """By the spread between batches of rows, which are in the order of the pairs."""
    batches = np.array_split(np.arange(len(after)), N_BATCHES)
    each = [_correlation(_ranks(before[rows]), after[rows]) for rows in batches]
    quantile = float(stdtrit(N_BATCHES - 1, 0.5 + INTERVAL_CONFIDENCE / 2))
    half = quantile * float(np.std(each, ddof=1)) / N_BATCHES**0.5
    pairs = len(after)
    return Estimate(value, max(-1.0, value - half), min(1.0, value + half), pairs)

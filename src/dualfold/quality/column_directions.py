"""Which columns rise along a straight direction of a map, and how surely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from dualfold.arrays import Array
from dualfold.certificate import plain
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.number_rows import rows_in_units
from dualfold.inputs import random_generator
from dualfold.quality.estimate import drawn_rows
from dualfold.quality.visible_groups import map_groups

# The largest of 19 is passed by chance in one of 20 cases.
N_REARRANGED_MAPS = 19
# Rows times columns that are looked at: about a second.
MAX_SORTED_NUMBERS = 200_000
MAX_ROWS = 2_000
MIN_ROWS = 200
# Values of a column that each half of the rows needs.
MIN_HALF_VALUES = 8
# Levels of a category that are looked at, the most frequent ones.
MAX_LEVELS = 20
LINES_PER_CATEGORY = 5  # of most, when the work is estimated
# Coordinates farther out count as if they were here: few far rows must not turn all directions.
FIT_QUANTILES = (0.01, 0.99)


@dataclass(frozen=True)
class ColumnDirection:
    """The straight direction of a map along which a column rises best.

    name : of the column; level : of a category, the level that rises best (else None)
    direction : unit vector in the units of the map, towards high values; zeros where the column
        has too few values or does not vary
    correlation : Spearman's of the column with the places along its direction, which comes from
        other rows; 1: it rises all along
    chance : what the same column reaches in one of 20 maps whose rows are permuted
    axes : Spearman's correlation with each axis on its own
    rows : how many values it was computed from
    permuted : the correlation on each of the 19 maps with permuted rows that chance comes from

    >>> ColumnDirection("age", (1.0, 0.0), 0.8, 0.1, (0.8, 0.1), 500).is_beyond_chance
    True
    """

    name: str
    direction: tuple[float, ...]
    correlation: float
    chance: float
    axes: tuple[float, ...]
    rows: int
    level: str | None = None
    permuted: tuple[float, ...] = field(default=(), repr=False)

    @property
    def is_beyond_chance(self) -> bool:
        """Whether the correlation is above what permuted rows reach."""
        return self.correlation > self.chance

    @property
    def axis(self) -> int:
        """The axis that it is closest to, counted from 0."""
        return int(np.argmax(np.abs(self.axes)))

    @property
    def title(self) -> str:
        """Name of the column, with the level of a category."""
        return self.name if self.level is None else f"{self.name}={self.level}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {key: plain(value) for key, value in vars(self).items() if key != "permuted"}


def column_directions(
    columns: Mapping[str, Any], Y: ArrayLike, *, sample: int | None = None, random_state: int = 0
) -> list[ColumnDirection]:
    """Straight directions of a map along which columns rise.

    The direction is that of the linear regression of the column's ranks on the coordinates. Half of
    the rows give it, and Spearman's correlation is taken on the other half; then the halves change
    places, and the correlation is the mean of both.

    Parameters
    ----------
    columns : mapping or data frame
        Names and values: numbers, dates or categories, one value for each row of the map. Missing
        values are left out. Each level of a category counts as a column of 0 and 1, and the level
        with the highest correlation is returned.
    Y : array-like of shape (n_samples, n_components)
        Map.
    sample : int or None, default=None
        Number of rows to look at; None: 2,000, fewer where there are more than 100 columns, so that
        it takes about a second.
    random_state : int, default=0
        Seed of the sample, of the halves and of the permutations.

    Returns
    -------
    list of ColumnDirection
        One for each column, in their order: `name`, `level` of a category, the unit vector
        `direction` towards high values, the `correlation`, what `chance` reaches,
        `is_beyond_chance`, and the number of the nearest `axis`.

    Raises
    ------
    InvalidInput
        If a column does not hold one value for each row.

    See Also
    --------
    column_correlations : Pearson's correlations with the axes.
    dualfold.judging.map_judgement : What a map shows of its data, columns included.

    Notes
    -----
    Chance is what permuted rows reach in one of 20 cases. A map of groups at random places has a
    direction for each column, too: so rows are permuted inside of each visible group, and the
    places of the groups are permuted.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import column_directions
    >>> rng = np.random.default_rng(0)
    >>> Y = rng.normal(size=(300, 2))
    >>> found = column_directions({"up": np.exp(Y[:, 1]), "noise": rng.normal(size=300)}, Y)
    >>> [(one.name, one.axis, one.is_beyond_chance) for one in found]
    [('up', 1, True), ('noise', 1, False)]
    """
    points = rows_in_units(Y, "Y")[0].astype(float)
    rows = _drawn_rows(columns, len(points), sample, random_state)
    units = points[rows].std(axis=0)
    units[units == 0] = 1.0
    scaled = points[rows] / units
    maps = [scaled, *rearranged_maps(scaled, N_REARRANGED_MAPS, random_state)]
    pulled_in = [
        (places, np.clip(places, *np.quantile(places, FIT_QUANTILES, axis=0))) for places in maps
    ]
    known: dict[str, ColumnDirection] = {}
    for mask, batch in _batches(columns, rows, len(points)):
        seen = [(places[mask], inner[mask]) for places, inner in pulled_in]
        known |= _directions_of_batch(batch, seen, units)
    none = (0.0,) * points.shape[1]
    return [known.get(name, ColumnDirection(name, none, 0.0, 1.0, none, 0)) for name in columns]


def _drawn_rows(columns: Any, n: int, sample: int | None, random_state: int) -> Array:
    """Row numbers in random order, fewer of more columns.

    In random order: the first half is a random one, and ties of places are broken at random.
    """
    kinds = [getattr(getattr(columns[name], "dtype", None), "kind", "O") for name in columns]
    width = sum(1 if kind in "biufmM" else LINES_PER_CATEGORY for kind in kinds)
    size = int(np.clip(MAX_SORTED_NUMBERS // max(width, 1), MIN_ROWS, MAX_ROWS))
    rows = drawn_rows(n, sample or size, random_state)
    rows = np.arange(n) if rows is None else rows
    return np.asarray(random_generator([random_state, n]).permutation(rows))


def rearranged_maps(Y: Array, count: int, random_state: int) -> list[Array]:
    """Maps with the visible groups of Y at permuted places, and rows permuted in each of them.

    They show what a map reaches that has these groups and no order. Without groups they are Y with
    permuted rows. Rows of no group are permuted among themselves.
    """
    codes = map_groups(Y).codes if len(Y) > 1 else np.zeros(len(Y), dtype=int)
    members = [np.flatnonzero(codes == code) for code in np.unique(codes)]
    grouped = [rows for rows in members if codes[rows[0]] >= 0]
    centers = np.array([Y[rows].mean(axis=0) for rows in grouped]).reshape(-1, Y.shape[1])
    rng = random_generator([random_state, count])
    maps = []
    for _ in range(count):
        moved = Y.copy()
        for rows, shift in zip(grouped, rng.permutation(centers) - centers, strict=True):
            moved[rows] += shift
        for rows in members:
            moved[rows] = moved[rng.permutation(rows)]
        maps.append(moved)
    return maps


@dataclass(frozen=True, eq=False)
class _Values:
    """A column as numbers, NaN where missing; of a category codes of its levels."""

    numbers: Array
    levels: tuple[str, ...] = ()


def _column_values(column: Any, name: str, rows: Array, n: int) -> _Values:
    shape = np.shape(column)
    if shape != (n,):
        raise InvalidInput(
            Argument("columns"),
            f" must hold one value for each of {n} rows; the shape of {name!r} is {shape}",
        )
    given = np.asarray(column)[rows]
    if given.dtype.kind in "mM":
        return _Values(np.where(np.isnat(given), np.nan, given.astype("int64").astype(float)))
    if given.dtype.kind in "biuf":
        return _Values(_finite_numbers(given))
    present = np.array([value is not None and value == value for value in given.tolist()], bool)
    if all(isinstance(value, Real) for value in given[present]):
        return _Values(_finite_numbers(np.where(present, given, np.nan)))
    codes = np.full(len(rows), np.nan)
    levels, codes[present] = np.unique(given[present].astype(str), return_inverse=True)
    return _Values(codes, tuple(levels.tolist()))


def _finite_numbers(values: Array) -> Array:
    numbers = values.astype(float)
    return np.asarray(np.where(np.isfinite(numbers), numbers, np.nan))


@dataclass(frozen=True, eq=False)
class _Batch:
    """Columns with values in the same rows; `owners` and `levels` name each of the lines."""

    lines: list[Array]
    owners: list[str]
    levels: list[str | None]


def _batches(columns: Any, rows: Array, n: int) -> Iterator[tuple[Array, _Batch]]:
    """Columns by the rows in which they have values, as (rows, batch)."""
    batches: dict[bytes, tuple[Array, _Batch]] = {}
    half = len(rows) // 2
    for name in columns:
        column = _column_values(columns[name], name, rows, n)
        present = np.isfinite(column.numbers)
        if min(present[:half].sum(), present[half:].sum()) < MIN_HALF_VALUES:
            continue
        _, batch = batches.setdefault(present.tobytes(), (present, _Batch([], [], [])))
        lines, levels = _lines_of(column, column.numbers[present])
        batch.lines.extend(lines)
        batch.owners.extend([name] * len(lines))
        batch.levels.extend(levels)
    yield from ((mask, batch) for mask, batch in batches.values() if batch.lines)


def _lines_of(column: _Values, present: Array) -> tuple[list[Array], list[str | None]]:
    """The numbers that stand for a column: itself, or one line of 0 and 1 for each level."""
    if not column.levels:
        return [present], [None]
    counts = np.bincount(present.astype(int), minlength=len(column.levels))
    frequent = np.argsort(-counts, kind="stable")[:MAX_LEVELS]
    enough = (counts >= MIN_HALF_VALUES) & (len(present) - counts >= MIN_HALF_VALUES)
    chosen = [int(code) for code in frequent if enough[code]]
    lines = [(present == code).astype(float) for code in chosen]
    return lines, [column.levels[code] for code in chosen]


def _directions_of_batch(
    batch: _Batch, maps: list[tuple[Array, Array]], units: Array
) -> dict[str, ColumnDirection]:
    """maps : the map and the rearranged ones, each as it is and with far rows pulled in."""
    ranks = rankdata(np.array(batch.lines), axis=1)
    ranks -= ranks.mean(axis=1, keepdims=True)
    real, *chance = (_held_out_correlations(ranks, *both) for both in maps)
    gradients = _gradients(ranks, maps[0][1]) / units
    axes = np.column_stack(
        [_rank_correlations(ranks, np.broadcast_to(axis, ranks.shape)) for axis in maps[0][0].T]
    )
    owners, directions = np.array(batch.owners, dtype=object), dict[str, ColumnDirection]()
    for name in dict.fromkeys(batch.owners):
        lines = np.flatnonzero(owners == name)
        if not ranks[lines].any():
            continue
        best = lines[int(np.argmax(real[lines]))]
        permuted = tuple(float(line[lines].max()) for line in chance)
        length = float(np.linalg.norm(gradients[best])) or 1.0
        directions[name] = ColumnDirection(
            name,
            tuple((gradients[best] / length).tolist()),
            float(real[best]),
            max(permuted),
            tuple(axes[best].tolist()),
            ranks.shape[1],
            batch.levels[best],
            permuted,
        )
    return directions


def _held_out_correlations(ranks: Array, Y: Array, pulled_in: Array) -> Array:
    """Correlations of lines with directions from the other half of the rows; means of both."""
    half = len(Y) // 2
    halves = slice(0, half), slice(half, None)
    total = np.zeros(len(ranks))
    for fit, held in (halves, halves[::-1]):
        gradients = _gradients(ranks[:, fit], pulled_in[fit])
        total += _rank_correlations(ranks[:, held], gradients @ Y[held].T)
    return total / 2


def _gradients(ranks: Array, Y: Array) -> Array:
    """Coefficients of the regression of each line on the coordinates."""
    centred = Y - Y.mean(axis=0)
    return np.asarray(ranks @ centred @ np.linalg.pinv(centred.T @ centred, hermitian=True))


def _rank_correlations(ranks: Array, places: Array) -> Array:
    """Pearson's correlation of each line of ranks with the ranks of places.

    Equal places are ordered as the rows are, which is at random.
    """
    order = np.argsort(places, axis=1, kind="stable")
    along = np.arange(ranks.shape[1]) - (ranks.shape[1] - 1) / 2
    # A sample of ranks is not centred, so centre it.
    seen = ranks - ranks.mean(axis=1, keepdims=True)
    size = np.linalg.norm(seen, axis=1) * np.linalg.norm(along)
    products = np.take_along_axis(seen, order, axis=1) @ along
    return np.divide(products, size, out=np.zeros(len(ranks)), where=size > 0)

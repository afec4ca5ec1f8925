"""How large a page may be, and which columns, neighbours, pictures and rows it then shows."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.judging.map_meaning import shared_by_neighbors
from dualfold.view.page_columns import Column, column_of, packed_numbers, values_of
from dualfold.view.page_data import PageParts, as_json

BYTES_PER_MB = 1_000_000
# Most mail servers accept a file of this size, and it opens in a few seconds.
DEFAULT_MB = 20.0
# Bytes that the data of the smallest page take.
MIN_DATA_BYTES = 500
# Rows of the trial page that says what a row takes.
TRIAL_ROWS = 500
# Rows whose neighbours say how much a column has to do with the neighbourhoods.
SAMPLED_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Features:
    """Columns that are made when they are needed: a table may hold far more than a page can.

    column : from the place of a column to its values
    filled : name → what was filled in for the maps, a value for each gap of the column
    """

    names: tuple[str, ...]
    column: Callable[[int], Array]
    filled: Mapping[str, Any] = field(default_factory=dict)

    def page_column(self, place: int, n: int, *, rounded: bool = False) -> Column:
        """The column as a page has it."""
        name = self.names[place]
        made = column_of(name, self.column(place), n, "feature", rounded=rounded)
        if name in self.filled and made.kind == "number":
            made.content["filled"] = packed_numbers(self.filled[name], rounded=True)
        return made


def features_of(given: Any, n: int, taken: Container[str] = ()) -> Features:
    """The columns of a table; those whose names are `taken` are on the page already.

    given : a DataFrame, a mapping from names to values, an n×D matrix (dense or sparse), or
        (names, matrix)
    """
    if given is None:
        return Features((), lambda place: np.empty(n))
    if isinstance(given, tuple):
        names, matrix = given
        return without_names(_matrix(matrix, n, tuple(map(str, names))), taken)
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        keys = list(given.columns if hasattr(given, "columns") else given.keys())
        found = Features(tuple(map(str, keys)), lambda place: values_of(given[keys[place]]))
        return without_names(found, taken)
    return without_names(_matrix(given, n, None), taken)


def _matrix(matrix: Any, n: int, names: tuple[str, ...] | None) -> Features:
    rows = matrix if hasattr(matrix, "tocsc") else np.asarray(matrix)
    if rows.ndim != 2 or rows.shape[0] != n:
        raise InvalidInput(
            Argument("features"),
            f" must be a table of the same {n} rows; its shape is {rows.shape}",
        )
    names = names or tuple(f"column {place + 1}" for place in range(rows.shape[1]))
    if len(names) != rows.shape[1]:
        raise InvalidInput(
            Argument("features"), f" has {rows.shape[1]} columns and {len(names)} names for them"
        )
    if isinstance(rows, np.ndarray):
        return Features(names, lambda place: rows[:, place])
    by_column = rows.tocsc()
    return Features(names, lambda place: _dense(by_column, place))


def _dense(matrix: Any, place: int) -> Array:
    """Column of a sparse matrix (arrays and matrices of SciPy are cut alike by slices)."""
    return np.asarray(matrix[:, place : place + 1].toarray(), dtype=float)[:, 0]


def without_names(found: Features, taken: Container[str]) -> Features:
    """Columns whose names are not taken."""
    left = [place for place, name in enumerate(found.names) if name not in taken]
    if len(left) == len(found.names):
        return found
    names = tuple(found.names[place] for place in left)
    return replace(found, names=names, column=lambda place: found.column(left[place]))


def _most_shared_first(features: Features, neighbors: Any, n: int) -> list[int]:
    """The places of the columns, those first that neighbours share most; as given without any."""
    places = list(range(len(features.names)))
    if neighbors is None:
        return places
    sampled = np.random.default_rng(0).choice(n, min(n, SAMPLED_ROWS), replace=False)
    known = np.asarray(neighbors)
    shared = [shared_by_neighbors(features.column(place), sampled, known) for place in places]
    return sorted(places, key=lambda place: -shared[place])


def fit_to_size(
    parts: PageParts, features: Features, fixed_bytes: int, most_mb: float | None
) -> tuple[PageParts, tuple[Message, ...]]:
    """As much as `most_mb` megabytes hold beside the bytes of every page, and what is left out.

    Left out first are columns of the table, then neighbours, pictures of rows, and rows.
    """
    room = np.inf if most_mb is None else most_mb * BYTES_PER_MB - fixed_bytes
    limit = "" if most_mb is None else f"{most_mb:g} MB"
    if room < MIN_DATA_BYTES:
        raise InvalidInput(
            Argument("most_mb", most_mb),
            f" is too little: a page without any data takes {fixed_bytes / BYTES_PER_MB:.1f} MB",
        )
    left_out: list[str] = []
    size = parts.size
    if size > room and parts.neighbors is not None:
        parts = replace(
            parts, maps=[replace(shown, neighbors=None, tied=None) for shown in parts.maps]
        )
        left_out.append("the neighbours in the data are left out")
        size = parts.size
    if size > room and parts.images is not None:
        parts = replace(parts, images=None)
        left_out.append("the pictures of the rows are left out")
        size = parts.size
    if size > room:
        parts = _fewer_rows(parts, size, int(room))
        left_out.append(
            f"the page shows {parts.n:,} of {parts.total:,} rows, drawn at random; quality "
            "was measured before"
        )
        size = parts.size
        features = Features((), features.column)
    columns, words = _columns_within(parts, features, int(min(room - size, 2**62)))
    said = [f"{one}, so that the page is no larger than {limit}" for one in (*left_out, *words)]
    # Readers of the page cannot change its size, its maker can.
    notices = tuple(Message(one, " (", Argument("most_mb"), ")") for one in said)
    parts = replace(parts, columns=[*parts.columns, *columns], notices=tuple(said))
    return parts, notices


def _fewer_rows(parts: PageParts, size: int, room: int) -> PageParts:
    size += len(as_json(packed_numbers(np.arange(parts.n))))  # the numbers of rows that remain
    rng = np.random.default_rng(parts.seed)
    drawn = rng.permutation(parts.n)
    few = min(TRIAL_ROWS, parts.n // 2)
    small = parts.of_rows(np.sort(drawn[:few])).size
    each = max((size - small) / (parts.n - few), 1e-9)
    count = int(few + 0.97 * (room - small) / each)
    if count < 2:
        raise InvalidInput(
            Argument("most_mb"), f" leaves {room:,} bytes for the rows, and that is room for none"
        )
    return parts.of_rows(np.sort(drawn[: min(count, parts.n)]))


def _columns_within(
    parts: PageParts, features: Features, room: int
) -> tuple[list[Column], list[str]]:
    """All of them if there is room, in seven digits if that helps, else those shared most."""
    n, total = parts.n, len(features.names)
    if total == 0:
        return [], []
    # Base64 makes four bytes of three; names and ends of scales take less than the rest.
    rounded = total * (4 / 3 * 8 * n + 300) > room
    order = _most_shared_first(features, parts.neighbors, n) if rounded else range(total)
    kept: dict[int, Column] = {}
    for place in order:
        column = features.page_column(place, n, rounded=rounded)
        room -= len(as_json(column.content)) + 1
        if room < 0 and rounded:
            break
        kept[place] = column
    words = []
    if len(kept) < total:
        which = "that neighbours share most" if parts.neighbors is not None else "that come first"
        words = [f"of the {total:,} columns of the table the page has the {len(kept):,} {which}"]
    elif rounded and any(column.content.get("type") == "f4" for column in kept.values()):
        words = ["the numbers of the table are kept to seven digits"]
    return [kept[place] for place in sorted(kept)], words

"""From a file to features: what was asked for, what was read, what there is to say about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dualfold.cli.wording import shown
from dualfold.errors import Argument, InvalidInput, Message

if TYPE_CHECKING:
    import numpy as np

    from dualfold.cli.talk import Voice
    from dualfold.data import Table
    from dualfold.data.scales import Standard
    from dualfold.descriptions import Description

# Scales that differ more than this are rarely meant: one unit drowns the others.
MOST_SCALE_RATIO = 100.0

# Bytes of a file that are read in a second; by order of magnitude, for a guess that says so.
TEXT_RATE, PACKED_RATE = 3e7, 2e7


@dataclass(frozen=True)
class Reading:
    """How a table is to be read; kept with every map, so that it can be read so again."""

    source: str
    color: str | None = None
    identifier: str | None = None
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    missing: Any = "raise"
    standardize: bool = False
    format: str | None = None
    thousands: str | None = None
    array: str | None = None
    gap_markers: tuple[str, ...] = ()
    labels: str | None = None

    def settings(self) -> dict[str, Any]:
        """JSON-ready, without the source, which may move."""
        names = [name for name in type(self).__annotations__ if name not in ("source", *LISTS)]
        chosen: dict[str, Any] = {name: getattr(self, name) for name in names}
        return chosen | {name: list(getattr(self, name)) for name in LISTS}

    @classmethod
    def again(cls, source: str, settings: dict[str, Any]) -> Reading:
        """The reading that `settings` tells of."""
        known = {key: value for key, value in settings.items() if key in cls.__annotations__}
        known |= {name: tuple(known.get(name, ())) for name in LISTS}
        return cls(**(known | {"source": source}))


LISTS = ("exclude", "keep", "gap_markers")


@dataclass(frozen=True, eq=False)
class Data:
    """A table that was read, its features as methods see them, and what was remarked."""

    reading: Reading
    table: Table
    X: Any
    standard: Standard | None
    remarks: tuple[Message, ...]

    @property
    def notices(self) -> list[str]:
        """Everything that was said about the table, as the command line says it."""
        return [shown(notice) for notice in (*self.table.notices, *self.remarks)]

    @property
    def scales_differ(self) -> bool:
        """Whether standardizing was recommended."""
        return any("standardize" in remark.arguments for remark in self.remarks)

    def label(self, name: str | None) -> Any:
        return None if name is None else self.table.labels[name]

    @property
    def classes(self) -> Any:
        """The labels that methods learn from."""
        return self.label(self.reading.labels)

    @property
    def colors(self) -> Any:
        """The column to colour by; dates in words are dates."""
        return colors_of(self.label(self.reading.color))


def colors_of(values: Any) -> Any:
    """What is drawn as colours; dates in words become dates, so that they have an order."""
    from dualfold.data.dates import as_dates

    dates = None if values is None else as_dates(values)
    return values if dates is None else dates


def read(reading: Reading, voice: Voice) -> Data:
    """Read the table and tell what was decided about it."""
    with voice.doing(f"reading {reading.source}", seconds_to_read(reading.source)):
        table = _table(reading)
    for notice in table.notices:
        voice.note(notice)
    with voice.doing("loading"):  # after reading, so that a wrong file is told at once
        import dualfold.estimators.graph_estimator  # noqa: F401 (heavy; told apart from reading)
    standard, X, remarks = None, table.X, list[Message]()
    if reading.standardize:
        from dualfold.data.scales import standard_of

        standard = standard_of(table.X)
        X = standard.applied(table.X)
    else:
        remarks += _scale_remarks(table)
    remarks += _color_remarks(reading.color, table)
    for remark in remarks:
        voice.note(remark)
    return Data(reading, table, X, standard, tuple(remarks))


def seconds_to_read(source: str) -> float | None:
    """A guess from the size of the file."""
    import os

    if source == "-" or not os.path.isfile(source):
        return None
    packed = source.lower().endswith((".gz", ".parquet", ".h5ad"))
    return os.path.getsize(source) / (PACKED_RATE if packed else TEXT_RATE)


def _table(reading: Reading) -> Table:
    from dualfold.data import read_table

    names = ("color", "identifier", "labels")
    apart = {option: getattr(reading, option) for option in names}
    try:
        return read_table(
            reading.source,
            format=reading.format,
            exclude=tuple(name for name in reading.exclude if name not in apart.values()),
            label_columns=tuple(dict.fromkeys(name for name in apart.values() if name)),
            keep=reading.keep,
            missing=reading.missing,
            thousands=reading.thousands,
            array=reading.array,
            gap_markers=reading.gap_markers,
        )
    except InvalidInput as error:
        # read_table has one argument where the commands have several options.
        options = {name: Argument(option, name) for option, name in reversed(apart.items())}
        raise InvalidInput(
            *(
                options[part.value]
                if isinstance(part, Argument) and part.name == "label_columns"
                else part
                for part in error.message.parts
            )
        ) from error


def _color_remarks(color: str | None, table: Table) -> list[Message]:
    from dualfold.data.dates import ambiguous_dates

    if color is None or not ambiguous_dates(table.labels[color]):
        return []
    return [
        Message(
            Argument("color", color),
            ": nothing tells the days from the months of dates as "
            f"'{table.labels[color][0]}', so they are coloured as words without an order; write "
            "them as 2021-12-31",
        )
    ]


def _scale_remarks(table: Table) -> list[Message]:
    import numpy as np

    from dualfold.data.scales import ranges

    found = ranges(table.X)
    varying = np.flatnonzero(found)
    if len(varying) < 2:
        return []
    order = varying[np.argsort(found[varying], kind="stable")]
    # Among hundreds of pixels a few are nearly always empty; that is no other unit.
    narrow, wide = order[len(order) // 20], order[-1]
    ratio = found[wide] / found[narrow]
    if ratio < MOST_SCALE_RATIO:
        return []
    times = f"{ratio:,.0f}" if ratio < 1e9 else f"{ratio:.0e}"
    return [
        Message(
            f"the columns differ in scale: '{table.names[wide]}' spans {times} times as much "
            f"as '{table.names[narrow]}' and so decides the distances; ",
            Argument("standardize", True),
            " gives every column the same weight",
        )
    ]


def twins(X: Any) -> np.ndarray[Any, Any]:
    """How often each different row occurs, the most frequent first."""
    import numpy as np

    weights = np.random.default_rng(0).standard_normal(X.shape[1])
    key = np.asarray(X @ weights).ravel()
    order = np.argsort(key, kind="stable")
    # Equal rows have equal keys up to rounding, so they stand side by side.
    before, after = X[order[:-1]], X[order[1:]]
    if isinstance(X, np.ndarray):
        same = np.all(before == after, axis=1)
    else:
        same = np.asarray(abs(before - after).sum(axis=1)).ravel() == 0
    groups = np.concatenate([[0], np.cumsum(~same)])
    return np.sort(np.bincount(groups))[::-1]


def twin_remarks(X: Any, *, n_components: Any, n_neighbors: int | None) -> list[str]:
    """What identical rows do to a map: coordinates out of nothing, islands in a graph."""
    counts = twins(X)
    n = X.shape[0]
    if len(counts) == 1:
        return [f"all {n} rows are the same: there is nothing to map, the coordinates mean nothing"]
    if isinstance(n_components, int) and len(counts) <= n_components:
        return [
            f"only {len(counts)} of {n} rows are different, which span {len(counts) - 1} "
            f"direction{'s' if len(counts) > 2 else ''}: of {n_components} coordinates the others "
            "are invented"
        ]
    if n_neighbors is None or counts[0] <= n_neighbors + 1:
        return []
    return [
        Message(
            f"{counts[0]} rows are identical, more than the {n_neighbors} neighbours a row has: "
            "such rows only know one another and where they lie is arbitrary; leave out repeated "
            "rows, or take ",
            Argument("n_neighbors", counts[0]),
            " or more",
        )
    ]


def refuse_too_many(data: Data, n_components: Any, method: Description) -> None:
    """More coordinates than the rows or columns allow."""
    from dualfold.data.notices import listed

    n, width = data.X.shape
    if n < 2:
        raise InvalidInput(f"a map needs 2 rows or more, but {data.reading.source} has {n}")
    room = n - 1 if method.needs_graph else width
    if method.linear:
        room = min(room, width)
    if not isinstance(n_components, int) or n_components <= room:
        return
    if room == n - 1:
        given = f"{n} rows allow {room}"
    elif width > 1:
        given = f"there are only {width} columns of numbers ({listed(data.table.names)})"
    else:
        given = f"'{data.table.names[0]}' is the only column of numbers"
    raise InvalidInput(
        f"{n_components} coordinates were asked for, but {given}; ",
        Argument("n_components", room),
        " is the most",
    )

"""The table of a command: read, and checked for what a method needs."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.data.notices import quoted_names
from dualfold.data.prepared import prepare, prepared_columns
from dualfold.data.reading import READING_OPTIONS
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.methods.descriptions import DESCRIPTIONS

if TYPE_CHECKING:
    from dualfold.arrays import Array, Matrix
    from dualfold.data import Prepared, Reading
    from dualfold.exploration.listener import Listener
    from dualfold.exploration.plan import Plan
    from dualfold.methods.descriptions import Description

# Read in a second, by order of magnitude: the line of a stage calls its time a guess.
TEXT_BYTES_PER_SECOND = 3e7
PACKED_BYTES_PER_SECOND = 2e7
SHEET_BYTES_PER_SECOND = 1e6
JSON_BYTES_PER_SECOND = 6e6


def read_input(source: Any, reading: Reading, listener: Listener) -> Prepared:
    """Read the table, a file or one in memory, and note what was decided about it."""
    file = isinstance(source, str | os.PathLike)
    name = os.fspath(source) if file else f"the {type(source).__name__}"
    with listener.stage(f"reading {name}", seconds_to_read(name) if file else None):
        data = prepared_columns(source, reading) if reading.is_of_text else prepare(source, reading)
    if reading.is_of_text:
        from dualfold.data.text.text_features import with_text

        with listener.stage("weighing terms"):
            data = with_text(data)
    for notice in data.table.notices:
        listener.note(notice)
    with listener.stage("loading"):  # after reading, so that a wrong file is refused without delay
        import dualfold.methods.fitting.graph_estimator  # noqa: F401 (heavy)
    for remark in data.remarks:
        listener.note(remark)
    return data


def reading_for(reading: Reading, *plans: Plan) -> Reading:
    """The reading that methods need: distances, sets, counts as they are, FAMD's columns scaled."""
    if any(plan.method.counts for plan in plans):
        return _reading_of_counts(reading)
    if any(plan.of_distances or plan.of_sets for plan in plans):
        return replace(reading, mixed="given")
    if reading.standardize is None and any(plan.method.scaled for plan in plans):
        return replace(reading, standardize=True)
    return reading


def _reading_of_counts(reading: Reading) -> Reading:
    """The reading of a contingency table; choices that would change the counts are refused."""
    changes: dict[str, object] = {
        name: getattr(reading, name)
        for name, option in READING_OPTIONS.items()
        if option.changes_counts
    }
    changes |= {"mixed": reading.mixed if reading.mixed == "gower" else None}
    changes |= {"missing": reading.missing if reading.missing in ("mean", "impute") else None}
    for name, value in changes.items():
        if value:
            raise InvalidInput(
                Argument(name, value),
                " would change the numbers, and correspondence analysis takes counts as they "
                "are; leave it out",
            )
    return replace(reading, mixed="counts")


def seconds_to_read(source: str) -> float | None:
    """A guess from the size of the file."""
    if source == "-" or not os.path.isfile(source):
        return None
    rates = {
        (".gz", ".parquet", ".h5ad"): PACKED_BYTES_PER_SECOND,
        (".xlsx",): SHEET_BYTES_PER_SECOND,
        (".jsonl", ".ndjson"): JSON_BYTES_PER_SECOND,
    }
    rates_of_ending = [rate for endings, rate in rates.items() if source.lower().endswith(endings)]
    return os.path.getsize(source) / (*rates_of_ending, TEXT_BYTES_PER_SECOND)[0]


def duplicate_counts(X: Matrix) -> Array:
    """Number of rows equal to each different row, the largest first."""
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


def duplicate_remarks(
    X: Matrix, n_components: int | float | str, n_neighbors: int | None
) -> list[str]:
    """Remarks on what identical rows do to a map: coordinates without meaning, pieces."""
    counts = duplicate_counts(X)
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
            "such rows are neighbours of one another only, and where they lie is arbitrary; leave "
            "out repeated rows, or take ",
            Argument("n_neighbors", counts[0]),
            " or more",
        )
    ]


def max_coordinates(data: Prepared, method: Description) -> int:
    """As many coordinates as the rows and columns of a table allow."""
    n, width = data.X.shape
    if n < 2:
        raise InvalidInput(f"a map needs 2 rows or more, but {data.source} has {n}")
    # Graphs and affinities of rows leave out the direction in which all rows are the same.
    most = n - 1 if method.needs_graph or "affinity" in method.options else width
    most = min(most, width) if method.linear else most
    # Of a contingency table one direction is trivial.
    return min(n, width) - 1 if method.counts else most


def refuse_too_many_coordinates(
    data: Prepared, n_components: int | float | str, method: Description
) -> None:
    """More coordinates than the rows or columns allow."""
    n, width = data.X.shape
    most = max_coordinates(data, method)
    if not isinstance(n_components, int) or n_components <= most:
        return
    if most == n - 1:
        given = f"{n} rows allow {most}"
    elif width > 1:
        given = f"there are only {width} columns of numbers ({quoted_names(data.table.names)})"
    else:
        given = f"'{data.table.names[0]}' is the only column of numbers"
    raise InvalidInput(
        f"{n_components} coordinates were asked for, but {given}; ",
        Argument("n_components", most),
        " is the most",
    )


def refuse_scaled_distances(reading: Reading, *plans: Plan) -> None:
    """Distances are no columns: scaling them column by column makes other ones."""
    given = [plan for plan in plans if plan.options.get("metric") == "precomputed"]
    if given and reading.standardize:
        raise InvalidInput(
            "the table holds distances (",
            Argument("metric", "precomputed"),
            "), which cannot be standardised; leave out ",
            Argument("standardize"),
        )
    for plan in plans if given else ():
        if "metric" not in plan.method.options:
            raise InvalidInput(
                f"{plan.method.name} needs columns of numbers and the table holds distances (",
                Argument("metric", "precomputed"),
                "); take a method that has the option",
            )


def refuse_weight(weight: str | None, *plans: Plan) -> None:
    """Weights of rows for methods that take none."""
    wrong = [plan.method.name for plan in plans if not (plan.method.weighted or plan.method.masses)]
    if weight is None or not wrong:
        return
    able = [row.name for row in DESCRIPTIONS.values() if row.weighted or row.masses]
    raise InvalidInput(
        Argument("weight", weight),
        f" has no use for {' and '.join(wrong)}, in whose problem rows have no weights; those that "
        f"take them are {', '.join(able)}",
    )


def refuse_labels(labels: str | None, *plans: Plan) -> None:
    """Classes that no method reads, and methods without the classes that they need."""
    able = [plan for plan in plans if plan.method.takes_labels]
    using = [plan for plan in able if plan.uses_labels]
    if labels is None and using:
        raise InvalidInput(
            f"{using[0].method.name} learns from classes; ",
            Argument("labels", "COLUMN"),
            " says which column holds them",
        )
    if labels is not None and not using:
        more = ("give ", Argument("supervised", True), ", too")
        instead = more if able else (Argument("color"), " colours by a column")
        raise InvalidInput(
            Argument("labels"),
            f" has no use for {' and '.join(plan.method.name for plan in plans)}; ",
            *instead,
        )


def refuse_images(data: Prepared, shape: tuple[int, int] | None) -> None:
    """Refuse, before any work, rows that are no pictures of this shape."""
    width = data.table.X.shape[1]
    if shape is not None and shape[0] * shape[1] != width:
        raise InvalidInput(
            f"pictures of {shape[0]}×{shape[1]} have {shape[0] * shape[1]} pixels, but a row has "
            f"{width} columns; give ",
            Argument("images"),
            " the shape of a row",
        )

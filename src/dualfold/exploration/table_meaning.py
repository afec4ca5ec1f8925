"""What a map means in the words of its table."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from dualfold.data.prepared import colors_of
from dualfold.exploration.job import SCORED_NEIGHBORS
from dualfold.judging.map_meaning import BEST_COLOR_REASON, MapMeaning, map_meaning
from dualfold.judging.zoom_names import GroupNames, zoom_names

if TYPE_CHECKING:
    from dualfold.data import Prepared
    from dualfold.exploration.job import FittedMap
    from dualfold.quality.map_verdict import MapVerdict
    from dualfold.quality.space import Space

# Columns of numbers that are looked at; of wider tables those that follow the axes best.
MAX_NUMBER_COLUMNS = 300
# Whole numbers of a class that are names of groups.
MAX_CLASS_NUMBERS = 30
# Of the words about an axis in a picture, whose side is about this long.
MAX_TITLE_LETTERS = 48
# A column that looks like the answer colours the map; else the one that the map separates best.
TARGET_REASON = "its name and its values are those of an answer, so it is no feature"


def meaning_of_map(
    fitted: FittedMap, data: Prepared, quality: MapVerdict | None = None
) -> MapMeaning | None:
    """What the axes and groups mean; None where there are too few rows.

    quality : the verdict on the map, for what the data say about its groups
    """
    points = np.asarray(fitted.points, dtype=float)
    if len(points) <= SCORED_NEIGHBORS:
        return None
    columns, orders = _telling_columns(fitted, data, points)
    verdicts: tuple[str, ...] = () if quality is None else quality.groups.verdicts
    return map_meaning(columns, points, verdicts=verdicts, orders=orders)


def names_of_groups(fitted: FittedMap, data: Prepared, x: Space) -> GroupNames:
    """The groups of a map at three levels of zoom, named by terms or columns, and tested.

    x : the rows as measures take them
    """
    points = np.asarray(fitted.points, dtype=float)
    if len(points) <= SCORED_NEIGHBORS:
        return GroupNames((), len(points))
    if data.text is not None and data.text.weights is not None:
        text = {"terms": data.text.terms, "weights": data.text.weights}
        return zoom_names(x, points, {}, **text)
    columns, orders = _telling_columns(fitted, data, points)
    columns |= {name: _class_words(name, columns[name]) for name in _classes_of(data, columns)}
    return zoom_names(x, points, columns, orders=orders)


def _classes_of(data: Prepared, columns: dict[str, Any]) -> list[str]:
    """Columns that were named or found as classes, and hold few whole numbers."""
    named = (data.reading.color, data.reading.labels, *data.suspected_targets)
    return [
        name
        for name in named
        if name in columns
        and np.asarray(columns[name]).dtype.kind in "iu"
        and len(np.unique(columns[name])) <= MAX_CLASS_NUMBERS
    ]


def _class_words(name: str, values: Any) -> Any:
    return np.array([f"{name} {value}" for value in values], dtype=object)


def _telling_columns(
    fitted: FittedMap, data: Prepared, points: Any
) -> tuple[dict[str, Any], dict[str, tuple[str, ...]]]:
    """Columns that may tell groups apart, and the levels of those with an order."""
    columns = _label_columns(data)
    ordered = [one for one in data.encodings if one.kind == "ordered" and one.name in columns]
    columns |= {one.name: one.values(columns[one.name])[:, 0] for one in ordered}
    if not fitted.job.of_distances:
        columns |= _number_columns(data, points)
    return columns, {one.name: one.levels for one in ordered}


def first_color(data: Prepared, meaning: MapMeaning | None) -> tuple[str | None, str]:
    """The column to colour by at first, and why; no reason where the caller named it."""
    if data.reading.color is not None:
        return data.reading.color, ""
    if data.color_name is not None:
        return data.color_name, TARGET_REASON
    of_counts = data.reading.mixed == "counts"  # whose columns are on the map themselves
    best = None if meaning is None or of_counts else meaning.best_column
    return best, BEST_COLOR_REASON if best is not None else ""


def values_of_column(data: Prepared, name: str | None) -> Any:
    """A column to colour by, as figures take it; None for None."""
    if name is None:
        return None
    if name in data.labels:
        return colors_of(data.labels[name])
    names, X = data.numbers
    column = X[:, [names.index(name)]]
    dense = column.toarray() if hasattr(column, "toarray") else np.asarray(column)
    return dense[:, 0]


def axis_titles(fitted: FittedMap, meaning: MapMeaning | None) -> list[str]:
    """For pictures: each axis with what it explains and, below, the columns that it follows."""
    titles = fitted.axis_titles
    if meaning is None or not meaning.directions:
        return titles
    # matplotlib reads $…$ as a formula.
    words = [one.text("→", "←").replace("$", r"\$") for one in meaning.axes]
    short = [textwrap.shorten(one, MAX_TITLE_LETTERS, placeholder=" …") for one in words]
    return [
        f"{title}\n{text}" if text else title for title, text in zip(titles, short, strict=True)
    ]


def _label_columns(data: Prepared) -> dict[str, Any]:
    """Categories, dates and what was kept apart; no names of rows."""
    known = {name: colors_of(values) for name, values in data.labels.items()}
    apart = (data.reading.identifier, *data.reading.text)
    return {name: values for name, values in known.items() if name not in apart}


def _number_columns(data: Prepared, points: Any) -> dict[str, Any]:
    """Numbers as they were read, counts as shares of their row; of many those that follow axes."""
    names, X = data.numbers
    if data.reading.mixed == "counts":
        from dualfold.methods.maps.profile_map import profiles

        X = profiles(X)
    places = np.arange(len(names))
    if len(names) > MAX_NUMBER_COLUMNS:
        follows = _strongest_correlations(X, points)
        places = np.sort(np.argsort(-follows, kind="stable")[:MAX_NUMBER_COLUMNS])
    some = X[:, places]
    dense = some.toarray() if hasattr(some, "toarray") else np.asarray(some)
    return {names[place]: dense[:, at] for at, place in enumerate(places)}


def _strongest_correlations(X: Any, points: Any) -> Any:
    """Of each column with any axis, without its sign; 0 where it has missing values."""
    centred = points - points.mean(axis=0)
    centred = centred / np.maximum(np.sqrt((centred**2).sum(axis=0)), np.finfo(float).tiny)
    n = X.shape[0]
    sums = np.asarray(X.sum(axis=0), dtype=float).ravel()
    squares = (X.multiply(X) if hasattr(X, "multiply") else X * X).sum(axis=0)
    spread = np.sqrt(np.maximum(np.asarray(squares, dtype=float).ravel() - sums**2 / n, 0))
    along = np.abs(np.asarray(X.T @ centred)).max(axis=1)
    found = np.divide(along, spread, out=np.zeros(len(sums)), where=spread > 0)
    return np.nan_to_num(found)

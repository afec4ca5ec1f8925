"""The colour of a map and the titles of its axes, by what its table says."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from dualfold.data.prepared import colors_of
from dualfold.judging.map_meaning import BEST_COLOR_REASON, MapMeaning

if TYPE_CHECKING:
    from dualfold.arrays import Array
    from dualfold.data import Prepared
    from dualfold.exploration.fitted_map import FittedMap

# Of the words about an axis in a picture, whose side is about this long.
MAX_TITLE_LETTERS = 48
# A column that looks like the answer colours the map; else the one that the map separates best.
TARGET_REASON = "its name and its values are those of an answer, so it is no feature"


def first_color(data: Prepared, meaning: MapMeaning | None) -> tuple[str | None, str]:
    """The column to colour by at first, and why; no reason where the caller named it."""
    if data.reading.color is not None:
        return data.reading.color, ""
    if data.color_name is not None:
        return data.color_name, TARGET_REASON
    of_counts = data.reading.mixed == "counts"  # whose columns are on the map themselves
    best = None if meaning is None or of_counts else meaning.best_column
    return best, BEST_COLOR_REASON if best is not None else ""


def label_columns(data: Prepared) -> dict[str, Array]:
    """The labels of a table as a page colours by them."""
    return {name: colors_of(values) for name, values in data.table.labels.items()}


def values_of_column(data: Prepared, name: str | None) -> Array | None:
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

"""Columns, row names and pictures of a page, as arrays that a browser can take over."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.view.colors import MOST_CLASSES, POINT_MARKERS, coloring_of, word_of

# Of all thumbnails together: a byte each, and base64 adds a third. Larger ones shrink.
MAX_THUMBNAIL_PIXELS = 24_000_000
MAX_EXACT_NUMBER = 2**53  # whole numbers up to here are numbers of a browser, too
# Types of whole numbers that `page_parts/data.js` reads, smallest first.
WHOLE_NUMBER_TYPES = (("u1", 0, 2**8 - 1), ("i2", -(2**15), 2**15 - 1), ("i4", -(2**31), 2**31 - 1))


@dataclass(frozen=True, eq=False)
class Column:
    """Column of a page.

    given : its values, for figures
    kind : "class", "number" or "date"
    content : JSON-ready, for the browser
    group : "label" for what was given to colour by, "feature" for the table of the maps
    classes : all classes it can have, in the order of their colours; () for those it has
    """

    name: str
    given: Array
    kind: Literal["class", "number", "date"]
    content: dict[str, Any]
    group: str = "label"
    classes: tuple[str, ...] = ()

    def of_rows(self, rows: Array) -> Column:
        """Column of these rows alone."""
        return column_of(self.name, self.given[rows], len(rows), self.group, classes=self.classes)


@dataclass(frozen=True, eq=False)
class RowImages:
    """Picture of each row: n×h×w bytes, 0 the paper and 255 the ink."""

    pixels: Array

    @property
    def content(self) -> dict[str, object]:
        _, h, w = self.pixels.shape
        return {"h": h, "w": w, "pixels": base64_of(self.pixels, np.uint8)}


def base64_of(values: Any, kind: Any) -> str:
    """Numbers as base64 of their bytes, little end first: the browser reads them as they are."""
    ordered = np.ascontiguousarray(values, dtype=np.dtype(kind).newbyteorder("<"))
    return base64.b64encode(ordered.tobytes()).decode("ascii")


def packed_numbers(values: Any, *, rounded: bool = False) -> dict[str, object]:
    """Numbers in the smallest type that holds each of them; fractions in seven digits if `rounded`.

    "single" says that seven digits are what is known of them (of single precision, or rounded),
    and "rounded" that the table has more.
    """
    numbers = np.asarray(values)
    kind = "f8"
    if numbers.size and np.isfinite(numbers).all():
        low, high = numbers.min(), numbers.max()
        whole = [name for name, least, most in WHOLE_NUMBER_TYPES if least <= low and high <= most]
        if whole and np.array_equal(numbers, np.floor(numbers)):
            kind = whole[0]
    if kind != "f8":
        return {"type": kind, "values": base64_of(numbers, kind)}
    with np.errstate(over="ignore"):
        small = numbers.astype(np.float32)
    known = np.isfinite(numbers)
    same = np.array_equal(small.astype(float), numbers.astype(float), equal_nan=True)
    # Rounding must not make infinity of a number, nor another number of a count or a year.
    whole_numbers = np.array_equal(numbers[known], np.floor(numbers[known]))
    rounded = rounded and not same and not whole_numbers and bool(np.isfinite(small[known]).all())
    kind = "f4" if same or rounded else "f8"
    facts = {"single": rounded or numbers.dtype == np.float32, "rounded": rounded}
    said = {name: True for name, holds in facts.items() if holds}
    return {"type": kind, "values": base64_of(numbers, kind), **said}


def columns_of(
    columns: Any, n: int, classes: Mapping[str, Sequence[str]] | None = None
) -> list[Column]:
    """Every column of a DataFrame or mapping, in its order.

    classes : column → its classes in the order of their colours, whichever the rows have
    """
    known = classes or {}
    if columns is None:
        return []
    if not hasattr(columns, "keys") and not hasattr(columns, "columns"):
        raise InvalidInput(
            Argument("columns"),
            " must be a DataFrame or a mapping from names to one value for each row; it is a "
            f"{type(columns).__name__}",
        )
    keys = list(columns.columns if hasattr(columns, "columns") else columns.keys())
    return [
        column_of(str(key), values_of(columns[key]), n, classes=known.get(str(key), ()))
        for key in keys
    ]


def first_color(columns: list[Column], n: int) -> str | None:
    """The first column, unless it is text that names most rows: then one with a full legend.

    None where all of them name rows, or have one class.
    """
    levels = {column.name: len(column.content.get("labels", ())) for column in columns}
    told = [c for c in columns if c.kind != "class" or 2 <= levels[c.name] <= n // 2]
    if told and told[0] is columns[0]:
        return told[0].name
    shown = [c for c in told if 2 <= levels[c.name] <= MOST_CLASSES]
    best = next(iter(shown or [c for c in told if c.kind != "class"]), None)
    return None if best is None else best.name


def row_numbers(rows: Any, n: int) -> Array | None:
    """The number of each row in its table, counted from 1; None for 1, 2, 3, …"""
    if rows is None:
        return None
    given = np.asarray(rows)
    if given.shape != (n,) or given.dtype.kind not in "iu":
        raise InvalidInput(
            Argument("rows"),
            f" must be one whole number for each row ({n}); they have shape {given.shape} and "
            f"type {given.dtype}",
        )
    return None if np.array_equal(given, np.arange(1, n + 1)) else given


def row_names(names: Any, n: int) -> list[str] | None:
    """Name of each row, or None for the numbers of the rows."""
    if names is None:
        return None
    given = [str(name) for name in names]
    if len(given) != n:
        raise InvalidInput(
            Argument("names"), f" must be one for each row ({n}), but there are {len(given)}"
        )
    return given


def thumbnails(
    images: tuple[int, int, Any], n: int, most: float = MAX_THUMBNAIL_PIXELS
) -> RowImages:
    """Pictures of 0 to 255, darkest the largest number, of at most `most` pixels together."""
    h, w, rows = int(images[0]), int(images[1]), np.asarray(images[2])
    if rows.shape not in ((n, h * w), (n, h, w)):
        raise InvalidInput(
            Argument("images"),
            f" must be (h, w, rows) with {n} rows of h·w = {h * w} pixels; the rows have "
            f"shape {rows.shape}",
        )
    pixels = rows.reshape(n, h, w)
    while pixels.size > most and min(pixels.shape[1:]) > 8:
        pixels = _half_size(pixels)
    if pixels.dtype != np.uint8:
        known = pixels[np.isfinite(pixels)].astype(float)
        low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
        stretch = 255 / (high - low) if high > low else 0.0
        pixels = np.nan_to_num((pixels.astype(np.float32) - low) * stretch).clip(0, 255)
        pixels = np.round(pixels).astype(np.uint8)
    return RowImages(pixels)


def _half_size(pixels: Array) -> Array:
    """Each 2×2 block becomes its mean; an odd last line is left out."""
    n, h, w = pixels.shape
    even = pixels[:, : h // 2 * 2, : w // 2 * 2].reshape(n, h // 2, 2, w // 2, 2)
    small = even.mean(axis=(2, 4), dtype=np.float32)
    return small.astype(np.uint8) if pixels.dtype == np.uint8 else small


def values_of(column: Any) -> Array:
    """A column as an array of numbers, dates, or objects with None where nothing is."""
    kind = str(getattr(column, "dtype", ""))
    if kind[:3] in ("Int", "UIn", "Flo") and hasattr(column, "isna"):  # pandas' nullable numbers
        gaps = bool(column.isna().any())
        return np.asarray(column.to_numpy(dtype=float, na_value=np.nan) if gaps else column, float)
    values = np.asarray(column)
    if values.dtype.kind in "iu" and values.size and _largest(values) > MAX_EXACT_NUMBER:
        return values.astype(str)  # longer than a number of a browser: text keeps every digit
    if values.dtype.kind in "iufM":
        return values
    if values.dtype.kind == "b":
        return values.astype(str)
    import pandas as pd

    objects = np.array(list(values), dtype=object) if values.ndim == 1 else values
    gaps_at = np.asarray(pd.isna(objects))
    words = np.array([word_of(value) for value in objects], dtype=object)
    words[gaps_at] = None
    return words


def _largest(whole_numbers: Array) -> int:
    return max(-int(whole_numbers.min()), int(whole_numbers.max()))


def column_of(
    name: str,
    values: Array,
    n: int,
    group: str = "label",
    *,
    rounded: bool = False,
    classes: Sequence[str] = (),
) -> Column:
    """Words, few whole numbers and dates as classes or a scale, as in the figures.

    rounded : seven digits of a number are enough; classes : those of `Column`
    """
    if values.shape != (n,):
        raise InvalidInput(
            f"column {name!r} must have one value for each row ({n}), "
            f"but its shape is {values.shape}"
        )
    colors = coloring_of(values, n, classes)
    if colors.scale is None:
        return replace(_classes(name, values, colors.classes, group), classes=tuple(classes))
    date = values.dtype.kind == "M"
    numbers = values.astype("datetime64[ms]").astype(np.int64) if date else values
    numbers = numbers.astype(float)
    if date:
        numbers[np.isnat(values)] = np.nan
    kind: Literal["number", "date"] = "date" if date else "number"
    scale = scale_of(numbers, rounded=rounded and not date)
    return Column(name, values, kind, {"name": name, "kind": kind, "group": group, **scale}, group)


def scale_of(numbers: Array, *, rounded: bool = False) -> dict[str, object]:
    """Numbers and the ends of their colours, cut as in the figures."""
    norm = coloring_of(np.asarray(numbers, dtype=float), len(numbers)).scale
    assert norm is not None
    return {
        **packed_numbers(numbers, rounded=rounded),
        "low": float(norm.norm.vmin),
        "high": float(norm.norm.vmax),
        "cut": norm.extend != "neither",
    }


def _classes(
    name: str, values: Array, classes: tuple[tuple[str, str, str], ...], group: str
) -> Column:
    """Every distinct label once; the legend's slot of each; one code a row."""
    words = np.array(["" if value is None else word_of(value) for value in values], dtype=object)
    order: dict[str, int] = {}
    codes = np.array([order.setdefault(word, len(order)) for word in words], dtype=np.int32)
    slots = {label: place for place, (label, _, _) in enumerate(classes)}
    last = len(classes) - 1
    # "missing" is the last slot where there is one, "others" the one before it (or the last).
    rest = last - 1 if "" in order and len(classes) > 1 else last
    content = {
        "name": name,
        "kind": "class",
        "group": group,
        "labels": list(order),
        "slots": [last if word == "" else slots.get(word, rest) for word in order],
        **packed_numbers(codes),
        "legend": [[label, hue, POINT_MARKERS.index(marker)] for label, hue, marker in classes],
    }
    return Column(name, values, "class", content, group)

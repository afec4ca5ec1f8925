"""From a column of anything to one colour a point and a key that explains it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput

# Okabe and Ito (2008), ordered by contrast, without yellow and black, which vanish on
# white or look like text; the seventh is ours, since grey means "other" and "missing".
FEW_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#5B2A86")
# Found by a search (simulated annealing) for ten colours of middle lightness whose closest two
# are as far apart as can be, for ordinary sight and for three kinds of colour-blindness as
# Machado, Oliveira and Fernandes (2009) simulate them. In units of Oklab the closest two are
# 0.10 apart; for sequences made by hand it is 0.03 to 0.06
# (`tests/view/test_figures.py` measures it).
MANY_COLORS = (
    *("#176fd8", "#f17f00", "#891c1f", "#46a7a9", "#5d2b84"),
    *("#d2cd19", "#b24287", "#796f2d", "#b09dfe", "#4ee7c5"),
)
# More than ten colours cannot be distinguished; a second shape makes twenty classes of them.
POINT_MARKERS = ("o", "^")
MOST_CLASSES = len(MANY_COLORS) * len(POINT_MARKERS)
OTHER_COLOR = "#d0d0d0"
MISSING_COLOR = "#d0d0d0"
PLAIN_COLOR = "#0072B2"
CONTINUOUS_MAP = "viridis"
SCALE_LEVELS = 128  # of a continuous scale; finer steps than the eye can tell apart in points


@dataclass(frozen=True, eq=False)
class ColorScale:
    """The key of continuous colours: a norm and a colour map, and which ends are cut."""

    norm: Any
    colors: Any
    extend: str
    dates: bool


@dataclass(frozen=True, eq=False)
class Coloring:
    """Colour and shape of each point, and what they mean.

    palette : the colours, m×3
    codes : index into the palette, one for each point
    shapes : index into POINT_MARKERS, one for each point
    classes : (label, colour, marker) for categories
    scale : for continuous values
    """

    palette: Array
    codes: Array
    shapes: Array
    classes: tuple[tuple[str, str, str], ...] = ()
    scale: ColorScale | None = None


def coloring_of(color: Any, n: int, order: Sequence[str] = ()) -> Coloring:
    """Numbers become a scale, words and few whole numbers classes, None one plain colour.

    order : all classes there can be, so that maps that lack some give the others the same colours
    """
    if color is None:
        return Coloring(_rgb(PLAIN_COLOR)[None], np.zeros(n, np.int64), np.zeros(n, np.int8))
    if np.shape(color) != (n,):
        raise InvalidInput(
            Argument("color"),
            f" must be one value for each point ({n}), but its shape is {np.shape(color)}",
        )
    values = np.asarray(color)
    if values.dtype.kind == "M":
        from matplotlib.dates import date2num

        return _continuous(np.asarray(date2num(values), dtype=float), dates=True)
    if values.dtype.kind == "f":
        return _continuous(values.astype(float), dates=False)
    if values.dtype.kind in "iu" and len(np.unique(values)) > MOST_CLASSES:
        return _continuous(values.astype(float), dates=False)
    return _categorical(values, order)


def _continuous(values: Array, *, dates: bool) -> Coloring:
    import matplotlib
    from matplotlib.colors import Normalize

    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    extend = "neither"
    if len(finite) >= 100:
        inner = np.percentile(finite, [1, 99])
        # A few outliers must not squeeze all others into one colour.
        if 0 < inner[1] - inner[0] < (high - low) / 3:
            extend = "both"
            low, high = float(inner[0]), float(inner[1])
    norm = Normalize(low, high if high > low else low + 1.0)
    colors = matplotlib.colormaps[CONTINUOUS_MAP]
    with np.errstate(invalid="ignore"):
        levels = np.clip(np.asarray(norm(values)) * (SCALE_LEVELS - 1) + 0.5, 0, SCALE_LEVELS - 1)
    codes = np.where(np.isfinite(values), levels, SCALE_LEVELS).astype(np.int64)
    palette = np.vstack([colors(np.linspace(0, 1, SCALE_LEVELS))[:, :3], _rgb(MISSING_COLOR)])
    shapes = np.zeros(len(values), np.int8)
    return Coloring(palette, codes, shapes, scale=ColorScale(norm, colors, extend, dates))


def _categorical(values: Array, order: Sequence[str] = ()) -> Coloring:
    words = np.array(["" if _absent(value) else word_of(value) for value in values], dtype=object)
    labels, codes, counts = np.unique(words.astype(str), return_inverse=True, return_counts=True)
    known = [place for place, label in enumerate(labels) if label]
    cut = len(known) > MOST_CLASSES
    if cut:  # the largest classes keep a colour of their own
        by_size = sorted(known, key=lambda place: (-counts[place], labels[place]))
        known = by_size[: MOST_CLASSES - 1]
    known.sort(key=lambda place: _reading_order(str(labels[place])))
    places = list(range(len(known)))
    if order:
        known.sort(key=lambda place: order.index(str(labels[place])))
        places = [order.index(str(labels[place])) for place in known]
    hues = FEW_COLORS if max(len(known), len(order)) <= len(FEW_COLORS) else MANY_COLORS
    turn_of = np.full(len(labels), -1)
    turn_of[known] = places
    turns = turn_of[codes]
    classes = [
        (str(labels[place]), hues[turn % len(hues)], POINT_MARKERS[turn // len(hues)])
        for turn, place in zip(places, known, strict=True)
    ]
    if cut:
        classes.append(
            (f"{len([w for w in labels if w]) - len(known)} others", OTHER_COLOR, POINT_MARKERS[0])
        )
    if "" in labels:
        classes.append(("missing", MISSING_COLOR, POINT_MARKERS[0]))
    palette = np.array([_rgb(hue) for hue in (*hues, OTHER_COLOR)])
    shown = np.where(turns < 0, len(hues), turns % len(hues))
    return Coloring(palette, shown, np.maximum(turns, 0) // len(hues), tuple(classes))


def word_of(value: object) -> str:
    """A value as its table has it: a whole number among words without a decimal point.

    >>> word_of(3.0), word_of("3.0")
    ('3', '3.0')
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _absent(value: object) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _reading_order(label: str) -> tuple[int, float, str]:
    """Numbers by size ("2" before "10"), then words."""
    try:
        return (0, float(label), label)
    except ValueError:
        return (1, 0.0, label)


def _rgb(name: str) -> Array:
    from matplotlib.colors import to_rgb

    return np.array(to_rgb(name))

"""What the axes of a map mean: the columns that rise or fall along each of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.certificate import plain
from dualfold.quality.column_directions import ColumnDirection

__all__ = ["AxisMeaning", "axis_meanings"]

# Columns that are named at an axis; of more, those that follow it best.
MAX_NAMED_COLUMNS = 4
# A column with a weaker correlation explains less than a tenth of the order along an axis.
MIN_CORRELATION = 0.3
# Beside the best column of an axis, one of half its correlation says little.
MIN_SHARE_OF_BEST = 0.5
TINY = 1e-12


@dataclass(frozen=True)
class AxisMeaning:
    """The columns that an axis of a map follows.

    axis : counted from 0
    rising, falling : (column, correlation) of those that rise and fall along it, best first

    >>> print(AxisMeaning(0, (("carat", 0.9), ("x", 0.8)), (("table", -0.5),)))
    axis 1: carat, x ↑; table ↓
    >>> print(AxisMeaning(1))
    axis 2: no column rises or falls along it beyond chance
    """

    axis: int
    rising: tuple[tuple[str, float], ...] = ()
    falling: tuple[tuple[str, float], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of all of them."""
        return tuple(name for name, _ in (*self.rising, *self.falling))

    def text(self, rises: str = "↑", falls: str = "↓") -> str:
        """The columns with signs for rising and falling; "" where there are none."""
        both = ((self.rising, rises), (self.falling, falls))
        return "; ".join(
            f"{', '.join(name for name, _ in columns)} {sign}" for columns, sign in both if columns
        )

    def __str__(self) -> str:
        words = self.text() or "no column rises or falls along it beyond chance"
        return f"axis {self.axis + 1}: {words}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "axis": self.axis + 1,
            "rising": [[name, plain(value)] for name, value in self.rising],
            "falling": [[name, plain(value)] for name, value in self.falling],
            "text": str(self),
        }


def axis_meanings(directions: Iterable[ColumnDirection], n_axes: int) -> tuple[AxisMeaning, ...]:
    """For each axis of a map the columns that it follows, by their rank correlation with it.

    directions : of the columns, by `column_directions`. Only those are named whose correlation with
        the axis is above what permuted rows reach along any direction, of all columns together:
        about one of 20 maps of 30 to 60 rows without any relation has a name, larger ones fewer.
    """
    known = list(directions)
    pairs = zip(known, _limits_of_chance(known), strict=True)
    beyond = [(direction, limit) for direction, limit in pairs if direction.correlation > limit]
    return tuple(_axis_meaning(beyond, axis) for axis in range(n_axes))


def _limits_of_chance(directions: Sequence[ColumnDirection]) -> list[float]:
    """Limit for each column: as far above its own mean as the farthest of all columns."""
    permuted = [np.array(column.permuted or (column.chance,)) for column in directions]
    centers = [(float(r.mean()), max(float(r.std()), TINY)) for r in permuted]
    each = zip(permuted, centers, strict=True)
    farthest = max((float((r.max() - mean) / sd) for r, (mean, sd) in each), default=0.0)
    # A further value lies farther from a mean and a spread that do not know it.
    count = max((len(r) for r in permuted), default=0)
    farthest *= ((count + 1) / max(count - 1, 1)) ** 0.5
    return [
        max(column.chance, mean + farthest * sd)
        for column, (mean, sd) in zip(directions, centers, strict=True)
    ]


def _axis_meaning(directions: Sequence[tuple[ColumnDirection, float]], axis: int) -> AxisMeaning:
    """directions : each with its limit."""
    along = [
        (direction.title, direction.axes[axis])
        for direction, limit in directions
        if abs(direction.axes[axis]) > limit
    ]
    best = max((abs(value) for _, value in along), default=0.0)
    least = max(MIN_CORRELATION, MIN_SHARE_OF_BEST * best)
    named = sorted((pair for pair in along if abs(pair[1]) >= least), key=lambda p: -abs(p[1]))
    named = named[:MAX_NAMED_COLUMNS]
    return AxisMeaning(
        axis,
        rising=tuple(pair for pair in named if pair[1] > 0),
        falling=tuple(pair for pair in named if pair[1] < 0),
    )

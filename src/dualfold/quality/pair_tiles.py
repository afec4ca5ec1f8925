"""Tiles of all pairs of points, with their distances in the data and on the map."""

from __future__ import annotations

from collections.abc import Callable

from dualfold.arrays import Array
from dualfold.quality.space import EuclideanSpace, Space


def each_pair_tile(
    x: Space,
    y: Space,
    rows: Array | None,
    whole: Callable[[Array, Array, slice, Array], None],
    once: Callable[[Array, Array, slice], None],
) -> None:
    """Go through all pairs of points in tiles, on all threads.

    whole : takes distances before and after to all points, the places of the rows and their names
    once : takes distances to the points from the first of the rows on; pairs are met once, which
        saves half of the products. It is called where all rows of two tables are measured
    """

    def tile(places: slice, names: Array) -> None:
        if rows is None and isinstance(x, EuclideanSpace) and isinstance(y, EuclideanSpace):
            once(x.later_rows(names), y.later_rows(names), places)
        else:
            whole(x.rows(names), y.rows(names), places, names)

    x.each_tile(tile, rows)

"""Sums over the pairs of each row of two sets of distances, and the correlation that they give."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.graph.geodesics import geodesic_distances
from dualfold.graph.graph import Graph
from dualfold.graph.number_rows import rows_in_units
from dualfold.kernels import c_constant, kernel, kernels_by_dtype
from dualfold.kernels.reports import steps
from dualfold.kernels.threads import in_threads, row_slices, thread_count

N_PAIR_SUMS = c_constant("PAIR_SUMS")
_MAX_TILE_ROWS = 128
_TILE_DISTANCES = 1 << 23
UNMEASURABLE_DISTANCES = (
    "some distances are NaN or infinite: cosine and correlation have none for constant rows (drop "
    "those), a graph in several pieces none between them (measure each piece on its own)"
)

_pair_sums = kernel("pair_sums")
_row_distances = kernels_by_dtype("row_distances")


class TypicalPair(NamedTuple):
    """Distances d and δ near those of all pairs: sums around them lose no digits.

    shift : is taken off d and δ
    scale : of δ, is taken off d
    """

    shift: Array
    scale: float

    @classmethod
    def of(cls, before: Array, after: Array) -> TypicalPair:
        """The mean distances from one row to all others, and the best factor between them."""
        square = float(after @ after)
        scale = float(before @ after) / square if square > 0 else 1.0
        return cls(np.array([before.mean(), after.mean()]), scale)


def sums_of_rows(
    before: Array, after: Array, selves: Array, typical: TypicalPair, out: Array
) -> None:
    """Into `out`, m×9 as in pair_sums.c: the sums over the pairs of each row but that with itself.

    before, after : distances from m rows to n points; row i meets itself at selves[i]
    """
    m, n = before.shape
    _pair_sums(before, after, n, m, selves, *typical, out)


def correlation_of_sums(total: Array, n: int, shift: Array) -> Array:
    """Pearson's correlation over all pairs of n points; 0 where one side does not vary.

    total : the nine sums, or m×9 of several totals
    """
    pairs = n * (n - 1)
    x, y, xx, xy, yy = (total[..., column] for column in range(5))
    vary = (xx - x * x / pairs), (yy - y * y / pairs)
    # Equal distances vary by rounding only: n of their last bits, squared.
    flat = [v <= 1e-28 * pairs * s**2 for v, s in zip(vary, shift, strict=True)]
    with np.errstate(divide="ignore", invalid="ignore"):
        r = (xy - x * y / pairs) / np.sqrt(vary[0]) / np.sqrt(vary[1])
    return np.where(flat[0] | flat[1], 0.0, np.clip(r, -1, 1))


def geodesic_residual_variance(graph: Graph, points: ArrayLike) -> float:
    """1 − R² of the geodesics and the Euclidean distances of as many points, over all pairs."""
    rows, _ = rows_in_units(points, "points")
    n, width = rows.shape
    # Squares of squares of distances have room in units of a power of 2 near the longest edge.
    power = int(np.frexp(graph.lengths.data.max(initial=0.0))[1])

    def distances(names: Array) -> tuple[Array, Array]:
        before, after = geodesic_distances(graph, names, n_jobs=1), np.empty((len(names), n))
        if not np.isfinite(before).all():
            raise InvalidInput(UNMEASURABLE_DISTANCES)
        _row_distances[rows.dtype](rows, n, width, names, len(names), after)
        return np.ldexp(before.astype(float), -power), after

    typical = TypicalPair.of(*(part[0, 1:] for part in distances(np.zeros(1, np.int32))))
    sums = np.empty((n, N_PAIR_SUMS))

    def tile(part: slice) -> None:
        names = np.arange(part.start, part.stop, dtype=np.int32)
        sums_of_rows(*distances(names), names, typical, sums[part])

    tiles = list(row_slices(n, max(1, min(_MAX_TILE_ROWS, _TILE_DISTANCES // n))))
    with steps("comparing distances", len(tiles)) as done:
        in_threads(tile, tiles, thread_count(), done)
    return float(1 - correlation_of_sums(sums.sum(axis=0), n, typical.shift) ** 2)

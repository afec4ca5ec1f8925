"""Measures that compare distances before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.graph.forest import in_threads
from dualfold.graph.geodesics import geodesic_distances
from dualfold.graph.graph import Graph
from dualfold.kernels import kernel, thread_count

Array = np.ndarray[Any, np.dtype[Any]]

# Rows of distances looked at together: enough for every thread to have a share.
ROWS = 1024
SHARE = 128

_distance_sums = {
    np.dtype(real): kernel(
        f"distance_sums{bits}",
        None,
        *["int64"] * 4,
        f"{real}[]",
        *["float64[]"] * 3,
    )
    for real, bits in (("float32", 32), ("float64", 64))
}


def residual_variance(distances: Any, points: Any, *, n_jobs: int | None = None) -> float:
    """1 − R² between given distances and those of the embedded points; 0 is perfect.

    `distances` is an n×n matrix or a `Graph`, which stands for its geodesics (computed
    some rows at a time, never all together). R is the correlation over all pairs of
    different points. Neither a scale between the two nor a constant added to every
    distance matters. 1 when one side does not vary at all.

    Tenenbaum, de Silva and Langford (2000), note 42.
    """
    Y = np.asarray(points, dtype=float)
    _check(distances, Y)
    n, threads = len(Y), thread_count(n_jobs)
    across = np.ascontiguousarray(Y.T)
    sums, shift = np.empty((n, 5)), np.zeros(2)
    for start, given in _row_tiles(distances, n, n_jobs):
        if start == 0 and n > 1:
            # Sums around a typical value lose no digits where sums around 0 would.
            shift = _tile_sums(0, given[:1], across, shift, 1)[0, :2] / (n - 1)
        sums[start : start + len(given)] = _tile_sums(start, given, across, shift, threads)
    x, y, xx, xy, yy = sums.sum(axis=0)
    if not np.isfinite(xy):
        raise InvalidInput(
            "the distances or points hold NaN or infinite entries; a graph in several pieces gives "
            "infinite geodesics: measure each piece on its own"
        )
    pairs = max(n * (n - 1), 1)
    vary_x, vary_y = xx - x * x / pairs, yy - y * y / pairs
    # Equal distances vary by rounding only: n of their last bits, squared.
    if vary_x <= 1e-28 * pairs * shift[0] ** 2 or vary_y <= 1e-28 * pairs * shift[1] ** 2:
        return 1.0
    return float(1 - (xy - x * y / pairs) ** 2 / vary_x / vary_y)


def _row_tiles(distances: Any, n: int, n_jobs: int | None) -> Iterator[tuple[int, Array]]:
    """(first row, some rows), in float32 or float64."""
    for first in range(0, n, ROWS):
        rows = np.arange(first, min(n, first + ROWS))
        if isinstance(distances, Graph):
            yield first, geodesic_distances(distances, rows, n_jobs=n_jobs)
        else:
            tile = np.asarray(distances[first : first + ROWS])
            kind = tile.dtype if tile.dtype in _distance_sums else float
            yield first, np.ascontiguousarray(tile, dtype=kind)


def _tile_sums(start: int, given: Array, across: Array, shift: Array, threads: int) -> Array:
    """Σ(x, y, x², xy, y²) of each row against all other points, around `shift`."""
    sums = np.empty((len(given), 5))

    def share(first: int) -> None:
        rows = slice(first, first + SHARE)
        width, n = across.shape
        _distance_sums[given.dtype](
            n, width, start + first, len(given[rows]), given[rows], across, shift, sums[rows]
        )

    in_threads(share, range(0, len(given), SHARE), threads)
    return sums


def _check(distances: Any, Y: Array) -> None:
    shape = (distances.n,) * 2 if isinstance(distances, Graph) else np.shape(distances)
    if Y.ndim != 2 or shape != (len(Y), len(Y)):
        raise InvalidInput(
            "distances between all pairs of points and as many embedded points are needed; the "
            f"distances have shape {shape}, the points {Y.shape}"
        )

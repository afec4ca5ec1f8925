"""Ranks of given pairs by counting, never by sorting.

Of the points around i, j has the ranks from 1 + #{l: d(i, l) < low} to #{l: d(i, l) ≤ high}, low
and high being d(i, j) less and more the width of a tie (0: ties are exact). In few dimensions the
distances are recomputed where they are needed. In many, float32 products decide all but the
closest comparisons. With f the centred and scaled points as stored (`graph.lower_bounds`), K
columns and u = 2⁻²⁴,

    |v − ‖f_i − f_l‖²| ≤ c(|f_i|² + |f_l|²),  v = |f_i|² + |f_l|² − 2f_i·f_l,  c = (K + 16)u

whatever the order of the sums (sixteen for the outer sums and the rounded squares), and
storing moved each point by at most δ: (t + δ)² ≤ t²(1 + s) + δ²(1 + 1/s). So with
e_i = c|f_i|² + 2δ_i²(1 + 1/s) and T, T' the scaled squares of low and high,

    v + e_i + e_l < T/(1 + s)  proves l nearer,   v − e_i − e_l > T'(1 + s)  proves it farther,

and the few pairs in between (a few in a thousand on MNIST) get their true distances.
"""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from dualfold.arrays import Array
from dualfold.graph.distances import pair_distances
from dualfold.graph.lower_bounds import Frame, frame_of
from dualfold.graph.panels import PANEL_POINTS, panel_blocks, round_robin
from dualfold.kernels import c_constant, kernel, kernels_by_dtype
from dualfold.kernels.reports import steps
from dualfold.kernels.threads import in_threads, row_slices

# Up to this many columns distances are recomputed where they are needed.
FEW_COLUMNS = c_constant("FEW_COLUMNS")
ROWS_PER_CHUNK = 64
# s above; near 2u, where both of its terms are equally small.
_SLACK_SHARE = 2.0**-22
# For the float64 rounding of true distances and of the thresholds.
_ROUNDING_MARGIN = 1e-9
_BUFFER_PAIRS = 1 << 18
_LIMIT_ROWS_PER_CHUNK = 1024
_NUMBERS_PER_CHUNK = 1 << 21

_count_panels = kernel("count_panels")
_settle_counts = kernels_by_dtype("settle_counts")
_count_given = kernel("count_given")
_count_direct = kernel("count_direct")


class Ranks(NamedTuple):
    """Ranks from 1. Points as far as each other share theirs: `first` to `last`, both m×k."""

    first: Array
    last: Array


def given_ranks(distances: Array, columns: Array, widths: Callable[[Array], Array]) -> Ranks:
    """Ranks from rows of distances that are infinite where a row meets itself.

    widths : of ties at such distances (m×k)
    """
    rows, k = columns.shape
    limits = np.take_along_axis(distances, columns.astype(np.int64), axis=1)
    low, high = _tie_limits(limits, widths(limits))
    below, within = (np.zeros((rows, k), dtype=np.int32) for _ in range(2))
    _count_given(distances, distances.shape[1], rows, k, low, high, below, within)
    return Ranks(below + 1, below + within)


def euclidean_ranks(
    X: Array,
    rows: Array | None,
    columns: Array,
    threads: int,
    widths: Callable[[Array], Array] | None = None,
) -> Ranks:
    """The ranks of `columns` (m×k) among the points around each of the m rows (None: all).

    widths : of ties at given distances (m×k); None where they are exact
    """
    asked = np.arange(len(X), dtype=np.int32) if rows is None else rows.astype(np.int32)
    columns = np.ascontiguousarray(columns, dtype=np.int32)
    if columns.size == 0:
        return Ranks(*(np.zeros(columns.shape, dtype=np.int32) for _ in range(2)))
    apart = listed_distances(X, asked, columns, threads)
    limits = _tie_limits(apart, 0.0 if widths is None else widths(apart))
    if X.shape[1] <= FEW_COLUMNS:
        return _direct_ranks(X, asked, limits, threads)
    return _panel_ranks(X, rows, asked, limits, threads)


def _tie_limits(distances: Array, widths: Array | float) -> tuple[Array, Array]:
    return np.maximum(distances - widths, 0.0), distances + widths


def listed_distances(X: Array, asked: Array, columns: Array, threads: int) -> Array:
    """The distances from the rows `asked` to `columns`, m×k."""
    distances = np.empty(columns.shape)

    def share(some: slice) -> None:
        every = np.repeat(asked[some], columns.shape[1])
        distances[some] = pair_distances(X, X, every, columns[some].ravel()).reshape(
            -1, columns.shape[1]
        )

    in_threads(share, row_slices(len(asked), _LIMIT_ROWS_PER_CHUNK), threads)
    return distances


def _direct_ranks(X: Array, asked: Array, limits: tuple[Array, Array], threads: int) -> Ranks:
    across = np.ascontiguousarray(X.T, dtype=np.float64)
    shape = limits[0].shape
    below, within = (np.zeros(shape, dtype=np.int32) for _ in range(2))

    def share(some: slice) -> None:
        rows = asked[some], len(asked[some]), shape[1]
        counts = (part[some] for part in (*limits, below, within))
        _count_direct(across, *X.shape, *rows, *counts)

    shares = list(row_slices(len(asked), ROWS_PER_CHUNK))
    with steps("counting ranks", len(shares)) as done:
        in_threads(share, shares, threads, done)
    return Ranks(below + 1, below + within)


class _Panels:
    """Points packed for `count_panels`."""

    def __init__(self, X: Array, frame: Frame) -> None:
        n, depth = X.shape
        self.panels = -(-n // PANEL_POINTS)
        self.vectors = np.zeros((self.panels, depth, PANEL_POINTS), dtype=np.float32)
        self.square = np.full(self.panels * PANEL_POINTS, np.inf, dtype=np.float32)
        self.error = np.zeros(self.panels * PANEL_POINTS, dtype=np.float32)
        # As many rows as make whole panels.
        step = PANEL_POINTS * max(1, _NUMBERS_PER_CHUNK // (PANEL_POINTS * depth))
        for first in range(0, n, step):
            some = frame.coordinates(X[first : first + step])
            for start in range(0, len(some.vectors), PANEL_POINTS):
                few = some.vectors[start : start + PANEL_POINTS]
                self.vectors[(first + start) // PANEL_POINTS, :, : len(few)] = few.T
            square = np.einsum("ij,ij->i", some.vectors, some.vectors, dtype=np.float64)
            error = 1.01 * (depth + 16) * 2.0**-24 * square
            error += 2.02 * some.slack**2 * (1 + 1 / _SLACK_SHARE)
            here = slice(first, first + len(square))
            self.square[here] = square
            self.error[here] = np.nextafter(error.astype(np.float32), np.float32(np.inf))


def _by_panel(values: Array, panels: int, padding: float) -> Array:
    """m×k numbers as [panel][k][PANEL]."""
    rows, k = values.shape
    padded = np.full((panels * PANEL_POINTS, k), padding, dtype=values.dtype)
    padded[:rows] = values
    return np.ascontiguousarray(padded.reshape(panels, PANEL_POINTS, k).transpose(0, 2, 1))


def _thresholds(limits: tuple[Array, Array], scale: float, panels: int) -> tuple[Array, Array]:
    """Below the first certainly nearer, above the second certainly farther."""
    low, high = ((limit * scale) ** 2 for limit in limits)
    near = (low * ((1 - _ROUNDING_MARGIN) / (1 + _SLACK_SHARE))).astype(np.float32)
    far = (high * ((1 + _ROUNDING_MARGIN) * (1 + _SLACK_SHARE))).astype(np.float32)
    near = np.nextafter(near, np.float32(-np.inf))
    far = np.nextafter(far, np.float32(np.inf))
    return _by_panel(near, panels, -np.inf), _by_panel(far, panels, -np.inf)


def _panel_ranks(
    X: Array, rows: Array | None, asked: Array, limits: tuple[Array, Array], threads: int
) -> Ranks:
    frame = frame_of(X, None, None)
    others = _Panels(X, frame)
    mutual = rows is None
    own_rows = X if rows is None else np.ascontiguousarray(X[rows])
    own = others if rows is None else _Panels(own_rows, frame)
    near, far = _thresholds(limits, frame.scale, own.panels)
    last = np.ascontiguousarray(far.max(axis=1))
    shape = limits[0].shape
    k = shape[1]
    counts = np.zeros((own.panels, k, PANEL_POINTS), dtype=np.int32)
    settled, within = (np.zeros(shape, dtype=np.int32) for _ in range(2))
    selves = np.full(own.panels * PANEL_POINTS, -1, dtype=np.int32)
    selves[: len(asked)] = asked
    free: SimpleQueue[tuple[Array, Array, Array]] = SimpleQueue()
    for _ in range(threads):
        pair = (np.empty(_BUFFER_PAIRS, dtype=np.int32) for _ in range(2))
        free.put((*pair, np.empty(1, dtype=np.int64)))  # type: ignore[arg-type]

    squares = own.square, others.square, own.error, others.error
    points = own.vectors, others.vectors, X.shape[1], *squares
    rule = k, near, far, last, counts, selves

    def tile(across: tuple[tuple[int, int], tuple[int, int]]) -> None:
        row, column, position = buffers = free.get()
        position[0] = 0
        while position[0] >= 0:
            where = *across[0], *across[1], mutual
            found = _count_panels(*points, *rule, *where, row, column, _BUFFER_PAIRS, position)
            pairs = row, column, found, k, *limits, settled, within, mutual
            _settle_counts[X.dtype](own_rows, X, X.shape[1], *pairs)
        free.put(buffers)

    blocks = panel_blocks(others.panels)
    if mutual:  # each pair once; blocks meet so that no two threads count for one point
        with steps("counting ranks", len(blocks) * (len(blocks) + 1) / 2) as done:
            for meeting in round_robin(len(blocks)):
                in_threads(tile, [(blocks[a], blocks[b]) for a, b in meeting], threads, done)
    else:
        step = max(1, min(32, -(-own.panels // (2 * threads))))
        strips = [(a, min(own.panels, a + step)) for a in range(0, own.panels, step)]

        def strip(some: tuple[int, int]) -> None:
            for block in blocks:
                tile((some, block))

        with steps("counting ranks", len(strips)) as done:
            in_threads(strip, strips, threads, done)
    flat = counts.transpose(0, 2, 1).reshape(-1, k)[: len(asked)]
    below = flat + settled
    return Ranks(below + 1, below + within)

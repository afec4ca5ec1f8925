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
from dualfold.kernels.arithmetic import SINGLE_ROUNDOFF
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, row_slices

# Up to this many columns distances are recomputed where they are needed.
FEW_COLUMNS = c_constant("FEW_COLUMNS")
# Thresholds that a kernel compares at once: docs/dev/notes/quality.md
_LIMIT_BLOCK = c_constant("LIMIT_BLOCK")
ROWS_PER_CHUNK = 64
# s above; near 2u, where both of its terms are equally small.
SLACK_SHARE = 2.0**-22
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


class RisingLimits(NamedTuple):
    """Limits low and high of the k ties of each row, in the order of their distances.

    low : m×k, in whole blocks that end in infinity, for kernels search them
    high : m×k
    order : m×k, the columns that they came from

    Widths must be such that both limits rise with the distance.
    """

    low: Array
    high: Array
    order: Array

    @classmethod
    def of(cls, distances: Array, widths: Array | float) -> RisingLimits:
        order = np.argsort(distances, axis=1)
        low, high = (
            np.take_along_axis(limit, order, axis=1)
            for limit in (np.maximum(distances - widths, 0.0), distances + widths)
        )
        return cls(_in_blocks(low), high, order)

    def zero_counts(self, padded_rows: int | None = None) -> tuple[Array, Array]:
        """Arrays that kernels count into: `reached`, m×(k + 1), and `within`, m×k."""
        rows, k = self.high.shape
        reached = np.zeros((padded_rows or rows, k + 1), dtype=np.int32)
        return reached, np.zeros((rows, k), dtype=np.int32)

    def ranks(self, reached: Array, within: Array) -> Ranks:
        """Ranks in the order of the columns.

        reached : points by the number of lower limits that they reach
        within : points from low to high
        """
        rows, k = self.high.shape
        below = np.cumsum(reached[:rows, :k], axis=1, dtype=np.int32)
        ranks = Ranks(*(np.empty((rows, k), dtype=np.int32) for _ in range(2)))
        for rank, values in zip(ranks, (below + 1, below + within), strict=True):
            np.put_along_axis(rank, self.order, values, axis=1)
        return ranks


def _in_blocks(rising: Array) -> Array:
    """Rows of thresholds, the last block filled with infinity."""
    rows, k = rising.shape
    out = np.full((rows, -(-k // _LIMIT_BLOCK) * _LIMIT_BLOCK), np.inf, dtype=rising.dtype)
    out[:, :k] = rising
    return out


def given_ranks(distances: Array, columns: Array, widths: Callable[[Array], Array]) -> Ranks:
    """Ranks from rows of distances that are infinite where a row meets itself.

    widths : of ties at such distances (m×k)
    """
    rows, k = columns.shape
    given = np.take_along_axis(distances, columns.astype(np.int64), axis=1)
    limits = RisingLimits.of(given, widths(given))
    counts = limits.zero_counts()
    _count_given(distances, distances.shape[1], rows, k, limits.low, limits.high, *counts)
    return limits.ranks(*counts)


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
    given = listed_distances(X, asked, columns, threads)
    limits = RisingLimits.of(given, 0.0 if widths is None else widths(given))
    if X.shape[1] <= FEW_COLUMNS:
        return _direct_ranks(X, asked, limits, threads)
    return _panel_ranks(X, rows, asked, limits, threads)


def listed_distances(X: Array, asked: Array, columns: Array, threads: int) -> Array:
    """The distances from the rows `asked` to `columns`, m×k."""
    distances = np.empty(columns.shape)

    def share(part: slice) -> None:
        every = np.repeat(asked[part], columns.shape[1])
        distances[part] = pair_distances(X, X, every, columns[part].ravel()).reshape(
            -1, columns.shape[1]
        )

    in_threads(share, row_slices(len(asked), _LIMIT_ROWS_PER_CHUNK), threads)
    return distances


def _direct_ranks(X: Array, asked: Array, limits: RisingLimits, threads: int) -> Ranks:
    across = np.ascontiguousarray(X.T, dtype=np.float64)
    counts = limits.zero_counts()

    def share(part: slice) -> None:
        rows = asked[part], len(asked[part]), limits.high.shape[1]
        parts = (array[part] for array in (limits.low, limits.high, *counts))
        _count_direct(across, *X.shape, *rows, *parts)

    shares = list(row_slices(len(asked), ROWS_PER_CHUNK))
    with steps("counting ranks", len(shares)) as done:
        in_threads(share, shares, threads, done)
    tally("ranked pairs", len(asked) * len(X))
    return limits.ranks(*counts)


class PackedPoints:
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
            stored = frame.coordinates(X[first : first + step])
            for start in range(0, len(stored.vectors), PANEL_POINTS):
                few = stored.vectors[start : start + PANEL_POINTS]
                self.vectors[(first + start) // PANEL_POINTS, :, : len(few)] = few.T
            square = np.einsum("ij,ij->i", stored.vectors, stored.vectors, dtype=np.float64)
            error = 1.01 * (depth + 16) * SINGLE_ROUNDOFF * square
            error += 2.02 * stored.slack**2 * (1 + 1 / SLACK_SHARE)
            here = slice(first, first + len(square))
            self.square[here] = square
            self.error[here] = np.nextafter(error.astype(np.float32), np.float32(np.inf))


def rank_thresholds(limits: RisingLimits, scale: float, panels: int) -> tuple[Array, Array]:
    """Below the first (k a row) certainly nearer, above the second certainly farther.

    The second are k + 1 a row: the largest of none, of the first, …, of all.
    """
    rows, k = limits.high.shape
    low, high = ((limit * scale) ** 2 for limit in (limits.low[:, :k], limits.high))
    near, far = (
        np.full((panels * PANEL_POINTS, count), -np.inf, dtype=np.float32) for count in (k, k + 1)
    )
    near[:rows] = low * ((1 - _ROUNDING_MARGIN) / (1 + SLACK_SHARE))
    far[:rows, 1:] = high * ((1 + _ROUNDING_MARGIN) * (1 + SLACK_SHARE))
    near[:rows] = np.nextafter(near[:rows], np.float32(-np.inf))
    far[:rows, 1:] = np.nextafter(far[:rows, 1:], np.float32(np.inf))
    return _in_blocks(near), far


def _panel_ranks(
    X: Array, rows: Array | None, asked: Array, limits: RisingLimits, threads: int
) -> Ranks:
    frame = frame_of(X, None, None)
    others = PackedPoints(X, frame)
    mutual = rows is None
    own_rows = X if rows is None else np.ascontiguousarray(X[rows])
    own_panels = others if rows is None else PackedPoints(own_rows, frame)
    near, far = rank_thresholds(limits, frame.scale, own_panels.panels)
    last = np.ascontiguousarray(far[:, -1])
    k = limits.high.shape[1]
    reached, within = limits.zero_counts(len(near))
    settled = reached[: len(asked)], within
    selves = np.full(own_panels.panels * PANEL_POINTS, -1, dtype=np.int32)
    selves[: len(asked)] = asked
    free: SimpleQueue[tuple[Array, Array, Array]] = SimpleQueue()
    for _ in range(threads):
        pair = (np.empty(_BUFFER_PAIRS, dtype=np.int32) for _ in range(2))
        free.put((*pair, np.empty(1, dtype=np.int64)))  # type: ignore[arg-type]

    squares = own_panels.square, others.square, own_panels.error, others.error
    points = own_panels.vectors, others.vectors, X.shape[1], *squares
    rule = k, near, far, last, reached, selves

    def tile(across: tuple[tuple[int, int], tuple[int, int]]) -> None:
        row, column, position = buffers = free.get()
        position[0] = 0
        while position[0] >= 0:
            where = *across[0], *across[1], mutual
            n_pairs = _count_panels(*points, *rule, *where, row, column, _BUFFER_PAIRS, position)
            tally("distances", n_pairs)
            pairs = row, column, n_pairs, k, limits.low, limits.high, *settled, mutual
            _settle_counts[X.dtype](own_rows, X, X.shape[1], *pairs)
        free.put(buffers)

    blocks = panel_blocks(others.panels)
    if mutual:  # each pair once; blocks meet so that no two threads count for one point
        with steps("counting ranks", len(blocks) * (len(blocks) + 1) / 2) as done:
            for meeting in round_robin(len(blocks)):
                in_threads(tile, [(blocks[a], blocks[b]) for a, b in meeting], threads, done)
    else:
        step = max(1, min(32, -(-own_panels.panels // (2 * threads))))
        strips = [(a, min(own_panels.panels, a + step)) for a in range(0, own_panels.panels, step)]

        def strip(own_block: tuple[int, int]) -> None:
            for block in blocks:
                tile((own_block, block))

        with steps("counting ranks", len(strips)) as done:
            in_threads(strip, strips, threads, done)
    tally("ranked pairs", len(asked) * len(X) // (2 if mutual else 1))
    return limits.ranks(reached, within)

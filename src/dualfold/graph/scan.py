"""Exact search: every pair whose lower bound is within reach gets its true distance.

Each point starts with a reach, the true distance of its k-th neighbour in cheap
approximate lists. All pairs are scanned by their float32 lower bounds
(`coordinates`); a pair not proved to be out of reach gets its true distance, and
as better neighbours come in the reach shrinks. Nothing else can be a neighbour,
so when the scan ends every row is proved, ties included. Where float32 can prove
nothing, all pairs get their true distance: slow, but right.

In a self-join each pair is looked at once and serves both points. Blocks meet as
in a round-robin tournament, so threads never touch the same point.
"""

from __future__ import annotations

from queue import SimpleQueue

import numpy as np

from dualfold.graph.forest import NO_NEIGHBOR
from dualfold.graph.initial_radius import (
    forest_guess,
    listed_radius,
    places_in_order,
    query_radius,
    sample_guess,
)
from dualfold.graph.lower_bounds import SLACK_SHARE, Coordinates
from dualfold.graph.narrowing import SecondStage
from dualfold.graph.neighbor_lists import without_self
from dualfold.graph.number_rows import pair_distances
from dualfold.graph.panels import PANEL_POINTS, Buffers, Packed, panel_blocks, round_robin
from dualfold.kernels import kernel, kernels_by_dtype
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, row_slices

__all__ = [
    "ReverseNeighbors",
    "pairs_between",
    "pairs_within",
    "rerank_lists",
    "scan_queries",
    "scan_self",
]

_sort_heaps = kernel("sort_heaps")
_settle = kernels_by_dtype("settle")


def _empty_heaps(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full((n, k), np.inf), np.full((n, k), NO_NEIGHBOR, dtype=np.int32)


def scan_self(
    X: np.ndarray,
    points: Coordinates,
    scale: float,
    k: int,
    threads: int,
    closer: Coordinates | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other rows of every row of X: (indices, distances), sorted.

    closer : the rows in more directions, for a second look at what the scan leaves
    """
    n = len(X)
    narrowed = None
    if closer is None:
        lists, order = forest_guess(points, k, threads)
        reach = listed_radius(X, lists, threads)[order]
    else:
        lists, order = sample_guess(points, k, threads)
        narrowed = SecondStage(closer, order, scale)
        reach = narrowed.reach(places_in_order(lists, order), threads)
    packed = Packed.of(points, order)
    allowed = packed.allowed(reach, scale)
    distances, indices = _empty_heaps(n, k)
    buffers, blocks = Buffers(threads), panel_blocks(packed.panels)

    def tile(pair: tuple[int, int]) -> None:
        first, second = pair
        found = buffers.found(
            packed, packed, allowed, allowed, blocks[first], blocks[second], first == second
        )
        for row, column, bound, count in found:
            if narrowed is not None:
                for block in {first, second}:
                    narrowed.shorten(reach, *(PANEL_POINTS * panel for panel in blocks[block]))
                looks, count = count, narrowed.kept(row, column, bound, count)
                tally("second looks", looks)
                tally("distances", count - looks)
            _settle[X.dtype](
                X, X, X.shape[1], row, column, bound, count, k, scale, SLACK_SHARE, 1,
                order, distances, indices, reach, allowed, packed.slack, order,
            )  # fmt: skip

    with steps("comparing points", len(blocks) * (len(blocks) + 1) / 2) as done:
        for meeting in round_robin(len(blocks)):
            in_threads(tile, meeting, threads, done)
    _sort_heaps(distances, indices, 0, n, k)
    _fill_short_lists(X, points, scale, indices, distances, threads)
    return indices, distances


def _fill_short_lists(
    X: np.ndarray,
    points: Coordinates,
    scale: float,
    indices: np.ndarray,
    distances: np.ndarray,
    threads: int,
) -> None:
    """Fill the lists of rows whose reach was too short for all of their neighbours."""
    rows = np.flatnonzero(indices[:, -1] == NO_NEIGHBOR)
    if not len(rows):
        return
    asked = Coordinates(points.vectors[rows], points.square[rows], points.slack[rows])
    found = scan_queries(X, points, X[rows], asked, scale, indices.shape[1] + 1, threads)
    indices[rows], distances[rows] = without_self(*found, rows)


def scan_queries(
    X: np.ndarray,
    points: Coordinates,
    queries: np.ndarray,
    query_points: Coordinates,
    scale: float,
    k: int,
    threads: int,
    reach: np.ndarray | None = None,
    reached: ReverseNeighbors | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k rows of X nearest to every query.

    reach : if known, for each query a distance within which it has k of them
    reached : gets what lies within the reach of the rows of X, too
    """
    if reach is None:
        reach = query_radius(X, points, queries, query_points, k)
    rows = Packed.of(query_points, np.arange(len(queries), dtype=np.int32))
    columns = Packed.of(points, np.arange(len(X), dtype=np.int32))
    allowed = rows.allowed(reach, scale)
    both = None if reached is None else reached.allowed(columns)
    distances, indices = _empty_heaps(len(queries), k)
    buffers, blocks = Buffers(threads), panel_blocks(columns.panels)

    def strip(block: tuple[int, int]) -> None:
        for across in blocks:
            for row, column, bound, count in buffers.found(
                rows, columns, allowed, both, block, across, False
            ):
                if reached is not None:
                    reached.add(row[:count], column[:count], bound[:count])
                _settle[X.dtype](
                    queries, X, X.shape[1], row, column, bound, count, k, scale, SLACK_SHARE, 0,
                    rows.names, distances, indices, reach, allowed, rows.slack, columns.names,
                )  # fmt: skip

    strips = panel_blocks(rows.panels)
    with steps("comparing points", len(strips)) as done:
        in_threads(strip, strips, threads, done)
    _sort_heaps(distances, indices, 0, len(queries), k)
    return indices, distances


class ReverseNeighbors:
    """Gathers the pairs (query, row of X) at a distance within the reach of the row.

    reach : one for each row of X
    """

    def __init__(self, queries: np.ndarray, X: np.ndarray, scale: float, reach: np.ndarray) -> None:
        self.queries, self.X, self.scale, self.reach = queries, X, scale, reach
        self.kept: SimpleQueue[tuple[np.ndarray, np.ndarray, np.ndarray]] = SimpleQueue()
        self.most = np.empty(0, np.float32)

    def allowed(self, columns: Packed) -> np.ndarray:
        """What the rows of X allow, in the units of the scan."""
        self.most = columns.allowed(self.reach, self.scale)
        return self.most

    def add(self, row: np.ndarray, column: np.ndarray, bound: np.ndarray) -> None:
        """Pairs that the scan found, for one reason or the other."""
        able = bound <= self.most[column]
        row, column = row[able], column[able]
        distance = pair_distances(self.queries, self.X, row, column)
        near = distance <= self.reach[column]
        self.kept.put((row[near], column[near], distance[near]))

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All of them: queries, rows of X, distances, in no particular order."""
        return _concatenated_pairs(self.kept)


def _concatenated_pairs(
    kept: SimpleQueue[tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = [kept.get() for _ in range(kept.qsize())]
    if not parts:
        return np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0)
    return tuple(np.concatenate(part) for part in zip(*parts, strict=True))  # type: ignore[return-value]


def rerank_lists(
    X: np.ndarray,
    points: Coordinates,
    scale: float,
    lists: tuple[np.ndarray, np.ndarray],
    k: int,
    threads: int,
) -> tuple[np.ndarray, np.ndarray]:
    """The k truly nearest of each approximate list (lower bounds, indices).

    A list whose bound exceeds the k-th true distance so far is not looked at further.
    """
    bounds, index = lists
    n, length = index.shape
    names = np.arange(n, dtype=np.int32)
    reach, allowed = np.full(n, np.inf), np.full(n, np.inf, dtype=np.float32)
    distances, indices = _empty_heaps(n, k)
    step = max(1, (1 << 18) // length)

    def rank(some: slice) -> None:
        real = index[some] != NO_NEIGHBOR
        row = np.broadcast_to(names[some, None], real.shape)[real]
        _settle[X.dtype](
            X, X, X.shape[1], row, index[some][real], bounds[some][real], len(row),
            k, scale, SLACK_SHARE, 0, names, distances, indices, reach, allowed, points.slack,
            names,
        )  # fmt: skip
        _sort_heaps(distances, indices, some.start, some.stop, k)

    in_threads(rank, row_slices(n, step), threads)
    return indices, distances


def pairs_within(
    X: np.ndarray, points: Coordinates, scale: float, radius: float, threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs row < column at distance <= radius, in no particular order."""
    packed = Packed.of(points, np.arange(len(X), dtype=np.int32))
    reach = np.full(len(X), float(radius))
    return _near_pairs(X, X, packed, packed, scale, reach, threads, upper=True)


def pairs_between(
    Q: np.ndarray,
    query_points: Coordinates,
    X: np.ndarray,
    points: Coordinates,
    scale: float,
    reach: np.ndarray,
    threads: int,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs (row q of Q, row x of X) at a distance <= reach[x], in no particular order."""
    old = Packed.of(points, np.arange(len(X), dtype=np.int32))
    new = Packed.of(query_points, np.arange(len(Q), dtype=np.int32))
    x, q, distances = _near_pairs(X, Q, old, new, scale, reach, threads, upper=False)
    return q, x, distances


def _near_pairs(
    X: np.ndarray,
    Y: np.ndarray,
    rows: Packed,
    columns: Packed,
    scale: float,
    reach: np.ndarray,
    threads: int,
    *,
    upper: bool,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs within the reach of their row; `upper`: those of X with itself, row < column."""
    allowed = rows.allowed(reach, scale)
    buffers = Buffers(threads)
    strips, across = panel_blocks(rows.panels), panel_blocks(columns.panels)
    kept: SimpleQueue[tuple[np.ndarray, np.ndarray, np.ndarray]] = SimpleQueue()

    def strip(first: int) -> None:
        for second in range(first if upper else 0, len(across)):
            for row, column, _, count in buffers.found(
                rows, columns, allowed, None, strips[first], across[second],
                upper and first == second,
            ):  # fmt: skip
                row, column = row[:count], column[:count]
                distance = pair_distances(X, Y, row, column)
                near = distance <= reach[row]
                kept.put((row[near], column[near], distance[near]))

    with steps("comparing points", len(strips)) as done:
        in_threads(strip, range(len(strips)), threads, done)
    return _concatenated_pairs(kept)

"""Exact search: every pair whose lower bound is within the radius gets its true distance.

Each row starts with a search radius, the true distance of its k-th neighbour in approximate
lists. All pairs are scanned by their float32 lower bounds (`lower_bounds`); a pair not proved
to be out of the radius gets its true distance, and as better neighbours come in the radius
shrinks. Nothing else can be a neighbour, so when the scan ends every row is proved, ties
included. Where float32 can prove nothing, all pairs get their true distance: slow, but right.

In a self-join each pair is compared once and serves both rows. Blocks meet as in a
round-robin tournament, so threads never write to the same row.
"""

from __future__ import annotations

from queue import SimpleQueue

import numpy as np

from dualfold.graph.distances import pair_distances
from dualfold.graph.forest import NO_NEIGHBOR
from dualfold.graph.initial_radius import (
    listed_radius,
    places_in_order,
    query_radius,
    sample_guess,
)
from dualfold.graph.lower_bounds import SLACK_SHARE, Coordinates
from dualfold.graph.neighbor_lists import Pairs, joined_pairs, without_self
from dualfold.graph.panels import Block, Packed, PanelScan, SecondStage, round_robin
from dualfold.kernels import kernel, kernels_by_dtype
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, row_slices

_LIST_ENTRIES_PER_CHUNK = 1 << 18

_sort_heaps = kernel("sort_heaps")
_settle = kernels_by_dtype("settle")


class _Heaps:
    """The k nearest rows so far of each row or query, and the radius that they leave.

    mutual : whether a pair serves both of its rows
    """

    def __init__(
        self, rows: Packed, columns: Packed, k: int, radius: np.ndarray, mutual: bool
    ) -> None:
        n = len(radius)
        self.distances = np.full((n, k), np.inf)
        self.indices = np.full((n, k), NO_NEIGHBOR, dtype=np.int32)
        self.rows, self.columns, self.mutual = rows, columns, mutual
        self.radius, self.thresholds = radius, rows.thresholds(radius)

    def add(self, row: np.ndarray, column: np.ndarray, bound: np.ndarray, count: int) -> None:
        """Take in the true distances of the first `count` pairs."""
        rows, columns, X = self.rows, self.columns, self.columns.table
        tables = rows.table, X, X.shape[1]
        rule = self.indices.shape[1], columns.scale, SLACK_SHARE, int(self.mutual)
        lists = rows.names, self.distances, self.indices
        limits = self.radius, self.thresholds, rows.slack, columns.names
        _settle[X.dtype](*tables, row, column, bound, count, *rule, *lists, *limits)

    def sorted_lists(self) -> tuple[np.ndarray, np.ndarray]:
        """(indices, distances), nearest first."""
        _sort_heaps(self.distances, self.indices, 0, *self.indices.shape)
        return self.indices, self.distances


def scan_self(
    points: Coordinates, k: int, threads: int, closer: Coordinates | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The k nearest other rows of every row: (indices, distances), sorted.

    closer : the rows in more directions, for a second stage
    """
    second = None
    lists, order = sample_guess(points, k, threads)
    if closer is None:
        radius = listed_radius(points.table, lists, threads)[order]
    else:
        second = SecondStage(closer, order)
        radius = second.guessed_radius(places_in_order(lists, order), threads)
    packed = Packed.of(points, order)
    heaps = _Heaps(packed, packed, k, radius, mutual=True)
    scan = PanelScan(packed, packed, heaps.thresholds, heaps.thresholds, threads)
    blocks = packed.blocks

    def tile(pair: tuple[int, int]) -> None:
        rows, columns = (blocks[block] for block in pair)
        for row, column, bound, count in scan.candidates(rows, columns, upper=rows == columns):
            if second is not None:
                for block in {rows, columns}:
                    second.shorten(radius, block)
                scanned, count = count, second.keep_candidates(row, column, bound, count)
                tally("second looks", scanned)
                tally("distances", count - scanned)
            heaps.add(row, column, bound, count)

    with steps("comparing points", len(blocks) * (len(blocks) + 1) / 2) as done:
        for meeting in round_robin(len(blocks)):
            in_threads(tile, meeting, threads, done)
    indices, distances = heaps.sorted_lists()
    fill_short_lists(points, indices, distances, threads)
    return indices, distances


def fill_short_lists(
    points: Coordinates, indices: np.ndarray, distances: np.ndarray, threads: int
) -> None:
    """Search again for the rows whose guessed radius was too short for all of their neighbours."""
    rows = np.flatnonzero(indices[:, -1] == NO_NEIGHBOR)
    if len(rows):
        lists = scan_queries(points, points.rows(rows), indices.shape[1] + 1, threads)
        indices[rows], distances[rows] = without_self(*lists, rows)


def scan_queries(
    points: Coordinates,
    queries: Coordinates,
    k: int,
    threads: int,
    radius: np.ndarray | None = None,
    reverse: ReverseNeighbors | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """The k rows nearest to every query: (indices, distances), sorted.

    radius : if known, for each query a distance within which it has k of them
    reverse : gets the pairs within the radius of the row, too
    """
    radius = query_radius(points, queries, k) if radius is None else radius
    rows, columns = Packed.of(queries), Packed.of(points)
    heaps = _Heaps(rows, columns, k, radius, mutual=False)
    both = None if reverse is None else reverse.set_thresholds(columns)
    scan = PanelScan(rows, columns, heaps.thresholds, both, threads)
    strips, across = rows.blocks, columns.blocks

    def strip(block: Block) -> None:
        for other in across:
            for row, column, bound, count in scan.candidates(block, other):
                if reverse is not None:
                    reverse.add(row[:count], column[:count], bound[:count])
                heaps.add(row, column, bound, count)

    with steps("comparing points", len(strips)) as done:
        in_threads(strip, strips, threads, done)
    return heaps.sorted_lists()


class ReverseNeighbors:
    """Collects the pairs (query, row) at a distance within the radius of the row.

    radius : one for each row
    """

    def __init__(self, points: Coordinates, queries: Coordinates, radius: np.ndarray) -> None:
        self.queries, self.X, self.radius = queries.table, points.table, radius
        self.kept: SimpleQueue[Pairs] = SimpleQueue()
        self.thresholds = np.empty(0, np.float32)

    def set_thresholds(self, columns: Packed) -> np.ndarray:
        """The thresholds of the rows, in the units of the scan."""
        self.thresholds = columns.thresholds(self.radius)
        return self.thresholds

    def add(self, row: np.ndarray, column: np.ndarray, bound: np.ndarray) -> None:
        """Candidates of the scan, of queries or of rows."""
        able = bound <= self.thresholds[column]
        row, column = row[able], column[able]
        pairs = Pairs(row, column, pair_distances(self.queries, self.X, row, column))
        self.kept.put(pairs.where(pairs.distances <= self.radius[column]))

    def pairs(self) -> Pairs:
        """All of them: queries, rows, distances, in no particular order."""
        return joined_pairs(self.kept.get() for _ in range(self.kept.qsize()))


def rerank_lists(
    points: Coordinates, lists: tuple[np.ndarray, np.ndarray], k: int, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k truly nearest of each approximate list (lower bounds, indices).

    Entries whose bound exceeds the k-th true distance so far get no true distance.
    """
    bounds, index = lists
    n, length = index.shape
    X, names = points.table, np.arange(n, dtype=np.int32)
    radius, thresholds = np.full(n, np.inf), np.full(n, np.inf, dtype=np.float32)
    distances, indices = np.full((n, k), np.inf), np.full((n, k), NO_NEIGHBOR, dtype=np.int32)
    rule = k, points.scale, SLACK_SHARE, 0
    state = names, distances, indices, radius, thresholds, points.slack, names

    def rank(part: slice) -> None:
        real = index[part] != NO_NEIGHBOR
        row = np.broadcast_to(names[part, None], real.shape)[real]
        pairs = row, index[part][real], bounds[part][real], len(row)
        _settle[X.dtype](X, X, X.shape[1], *pairs, *rule, *state)
        _sort_heaps(distances, indices, part.start, part.stop, k)

    in_threads(rank, row_slices(n, max(1, _LIST_ENTRIES_PER_CHUNK // length)), threads)
    return indices, distances


def pairs_within(points: Coordinates, radius: float, threads: int) -> Pairs:
    """All pairs row < column at distance <= radius, in no particular order."""
    packed = Packed.of(points)
    return _near_pairs(packed, packed, np.full(len(packed.names), float(radius)), threads)


def pairs_between(
    queries: Coordinates, points: Coordinates, radius: np.ndarray, threads: int
) -> Pairs:
    """All pairs (query, row) at a distance <= the radius of the row, in no particular order."""
    x, q, distances = _near_pairs(Packed.of(points), Packed.of(queries), radius, threads)
    return Pairs(q, x, distances)


def _near_pairs(rows: Packed, columns: Packed, radius: np.ndarray, threads: int) -> Pairs:
    """Pairs within the radius of their row; of a table with itself those with row < column."""
    scan = PanelScan(rows, columns, rows.thresholds(radius), None, threads)
    strips, across = rows.blocks, columns.blocks
    is_self_join = rows is columns
    kept: SimpleQueue[Pairs] = SimpleQueue()

    def strip(first: int) -> None:
        for second in range(first if is_self_join else 0, len(across)):
            on_diagonal = is_self_join and first == second
            batches = scan.candidates(strips[first], across[second], upper=on_diagonal)
            for row, column, _, count in batches:
                row, column = row[:count], column[:count]
                distance = pair_distances(rows.table, columns.table, row, column)
                kept.put(Pairs(row, column, distance).where(distance <= radius[row]))

    with steps("comparing points", len(strips)) as done:
        in_threads(strip, range(len(strips)), threads, done)
    return joined_pairs(kept.get() for _ in range(kept.qsize()))

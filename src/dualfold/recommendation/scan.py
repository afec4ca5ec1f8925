"""How many neighbours: a scan that looks for pieces and short cuts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.graph.builders import knn
from dualfold.graph.geodesics import geodesic_distances
from dualfold.graph.graph import Graph
from dualfold.graph.neighbors import nearest

__all__ = ["NeighborScan", "Scanned", "neighbor_scan", "worst_of"]

COUNTS = (5, 7, 10, 14, 20, 28)
LANDMARKS = 100
# Longer lists straighten all paths alike: on clouds of 1 to 10 dimensions and 300 points or more at
# most 9 % of the far pairs lose 30 % more than near ones do. One edge between two turns of a roll
# does that to 20 % of them and more (8 rolls of 700 and 8 of 1,000 points).
SHORTENED, MOST_SHORTENED = 0.7, 0.12
# The largest piece of a graph must hold so much of the points to be looked at.
WHOLE = 0.9


@dataclass(frozen=True)
class Scanned:
    """What became of one number of neighbours.

    n_neighbors : that number
    pieces, largest : of the graph, and the share of the points in the largest
    shortened : the share of far pairs whose path lost 30 % more than paths of near pairs, against
        the sparsest graph
    """

    n_neighbors: int
    pieces: int
    largest: float
    shortened: float

    @property
    def short_cut(self) -> bool:
        """Whether paths collapse."""
        return self.shortened > MOST_SHORTENED

    @property
    def usable(self) -> bool:
        """In one piece, nearly, and without short cuts."""
        return self.largest >= WHOLE and not self.short_cut


@dataclass(frozen=True)
class NeighborScan:
    """Several numbers of neighbours on the same points."""

    rows: tuple[Scanned, ...]

    @property
    def usable(self) -> tuple[int, ...]:
        """In one piece, nearly, and without short cuts."""
        return tuple(row.n_neighbors for row in self.rows if row.usable)

    @property
    def rejected(self) -> tuple[int, ...]:
        """Those with short cuts."""
        return tuple(row.n_neighbors for row in self.rows if row.short_cut)

    @property
    def chosen(self) -> int:
        """10 where it is usable, else the nearest that is; else the fewest without a short cut."""
        some = self.usable or tuple(r.n_neighbors for r in self.rows if not r.short_cut)
        some = some or (self.rows[0].n_neighbors,)
        return min(some, key=lambda k: (abs(k - 10), k))

    def __str__(self) -> str:
        said = f"{self.chosen} neighbours"
        if self.rejected:
            said += f"; {_listed(self.rejected)} make short cuts"
        apart = [row for row in self.rows if row.largest < WHOLE]
        if apart:
            said += (
                f"; with {_listed([row.n_neighbors for row in apart])} the graph is in pieces "
                f"({apart[-1].pieces})"
            )
        return said


def worst_of(scans: Sequence[NeighborScan]) -> NeighborScan:
    """Of several samples: a number of neighbours is as good as it is on the worst of them."""
    columns = zip(*(scan.rows for scan in scans), strict=True)
    return NeighborScan(
        tuple(
            Scanned(
                rows[0].n_neighbors,
                max(row.pieces for row in rows),
                min(row.largest for row in rows),
                max(row.shortened for row in rows),
            )
            for rows in columns
        )
    )


def neighbor_scan(
    X: Any,
    counts: Sequence[int] = COUNTS,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NeighborScan:
    """Join each point to its k nearest for growing k, and see when paths collapse.

    The first graph whose largest piece holds 90 % of the points is the yardstick: its lists are
    the shortest, so it is the least likely to have an edge from one turn of a roll to the next.
    More neighbours straighten its paths a little; one short cut makes a large share of the far
    pairs near at once (Balasubramanian and Schwartz, "The Isomap algorithm and topological
    stability", 2002).

    X : a table of numbers
    counts : the numbers of neighbours; those of n/3 and more are left out
    random_state, n_jobs : seed of the landmarks; threads (None: all cores)
    """
    n = X.shape[0]
    some = sorted({k for k in counts if 1 <= k < max(3, n / 3)}) or [1]
    lists = nearest(X, some[-1], n_jobs=n_jobs)
    rng = np.random.default_rng(random_state)
    landmarks = np.sort(rng.choice(n, min(n, LANDMARKS), replace=False))
    rows, yardstick = [], None
    for k in some:
        graph = knn(X, k, known=lists.first(k), n_jobs=n_jobs)
        paths = np.asarray(geodesic_distances(graph, landmarks, n_jobs=n_jobs), dtype=float)
        largest = _largest(graph)
        shortened = 0.0 if yardstick is None else _shortened(yardstick, paths)
        if yardstick is None and largest >= WHOLE:
            yardstick = paths
        rows.append(Scanned(k, graph.n_pieces, largest, shortened))
    return NeighborScan(tuple(rows))


def _largest(graph: Graph) -> float:
    return float(np.bincount(graph.piece_of).max() / graph.n)


def _shortened(before: Array, after: Array) -> float:
    """The share of far pairs that are far less far now than near pairs make one expect."""
    known = np.isfinite(before) & (before > 0)
    if not known.any():  # copies of one row
        return 0.0
    limits = np.quantile(before[known], (0.1, 0.4, 0.5))
    near = known & (before >= limits[0]) & (before <= limits[1])
    far = known & (before >= limits[2])
    straightened = float(np.median(after[near] / before[near]))
    return float(np.mean(after[far] < SHORTENED * straightened * before[far]))


def _listed(numbers: Sequence[int]) -> str:
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

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
from dualfold.graph.number_rows import rows_in_units
from dualfold.inputs import random_generator

__all__ = ["NeighborScan", "ScanRow", "neighbor_scan", "worst_of"]

NEIGHBOR_COUNTS = (5, 7, 10, 14, 20, 28)
MAX_LANDMARKS = 100
# A far pair whose path keeps less, for what near pairs keep, is shortened. Longer lists straighten
# all paths alike; a short cut shortens more pairs than this share (docs/dev/notes/audits.md).
SHORTENED_RATIO = 0.7
MAX_SHORTENED_SHARE = 0.12
# The largest piece of a usable graph holds at least this share of the points.
MIN_PIECE_SHARE = 0.9


@dataclass(frozen=True)
class ScanRow:
    """Number of neighbours, and the graph that it gives.

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
        """Whether far paths collapse, as short cuts make them."""
        return self.shortened > MAX_SHORTENED_SHARE

    @property
    def usable(self) -> bool:
        """In one piece, nearly, and without short cuts."""
        return self.largest >= MIN_PIECE_SHARE and not self.short_cut


@dataclass(frozen=True)
class NeighborScan:
    """Several numbers of neighbours on the same points."""

    rows: tuple[ScanRow, ...]

    @property
    def usable(self) -> tuple[int, ...]:
        """In one piece, nearly, and without short cuts."""
        return tuple(row.n_neighbors for row in self.rows if row.usable)

    @property
    def with_short_cuts(self) -> tuple[int, ...]:
        """Numbers of neighbours with short cuts."""
        return tuple(row.n_neighbors for row in self.rows if row.short_cut)

    @property
    def best_n_neighbors(self) -> int:
        """10 where it is usable, else the nearest that is; else the fewest without a short cut."""
        some = self.usable or tuple(r.n_neighbors for r in self.rows if not r.short_cut)
        some = some or (self.rows[0].n_neighbors,)
        return min(some, key=lambda k: (abs(k - 10), k))

    def __str__(self) -> str:
        text = f"{self.best_n_neighbors} neighbours"
        if self.with_short_cuts:
            # What is seen is a collapse; on data without a thin sheet no short cut makes it.
            text += (
                f"; with {number_list(self.with_short_cuts)} long paths become much shorter, as "
                "by short cuts"
            )
        in_pieces = [row for row in self.rows if row.largest < MIN_PIECE_SHARE]
        if in_pieces:
            last = in_pieces[-1]
            pieces = f"{last.pieces} pieces"
            if len(in_pieces) > 1:
                pieces = f"several pieces ({last.pieces} with {last.n_neighbors})"
            numbers = number_list([row.n_neighbors for row in in_pieces])
            text += f"; with {numbers} the graph has {pieces}"
        return text


def worst_of(scans: Sequence[NeighborScan]) -> NeighborScan:
    """Scan of several samples: a number of neighbours is as good as on the worst of them."""
    columns = zip(*(scan.rows for scan in scans), strict=True)
    return NeighborScan(
        tuple(
            ScanRow(
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
    counts: Sequence[int] = NEIGHBOR_COUNTS,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> NeighborScan:
    """Neighbour graphs for growing numbers of neighbours, and when their paths collapse.

    The first graph whose largest piece holds 90 % of the points is the yardstick: its lists are the
    shortest, so it is the least likely to have an edge from one turn of a roll to the next. More
    neighbours straighten its paths a little; one short cut makes a large share of the far pairs
    near.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data.
    counts : sequence of int, default=(5, 7, 10, 14, 20, 28)
        Numbers of neighbours; those of n/3 and more are left out.
    random_state : int, default=0
        Seed of the landmarks from which paths are computed.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    NeighborScan
        `best_n_neighbors`; `usable` numbers of neighbours; those `with_short_cuts`; `rows` with the
        pieces of each graph and the share of its paths that collapsed. `print` it.

    See Also
    --------
    recommend : Uses it on subsamples.

    References
    ----------
    .. [1] M. Balasubramanian and E. L. Schwartz, "The Isomap algorithm and topological stability",
       Science, 295(5552), 7, 2002.

    Examples
    --------
    >>> from dualfold.data import swiss_roll
    >>> from dualfold.recommendation import neighbor_scan
    >>> found = neighbor_scan(swiss_roll(200, random_state=0).points, (5, 28))
    >>> found.best_n_neighbors, found.with_short_cuts
    (5, (28,))
    """
    X, _ = rows_in_units(X)
    n = len(X)
    some = sorted({k for k in counts if 1 <= k < max(3, n / 3)}) or [1]
    lists = nearest(X, some[-1], n_jobs=n_jobs)
    rng = random_generator(random_state)
    landmarks = np.sort(rng.choice(n, min(n, MAX_LANDMARKS), replace=False))
    rows, yardstick = [], None
    for k in some:
        graph = knn(X, k, known=lists.first(k), n_jobs=n_jobs)
        paths = np.asarray(geodesic_distances(graph, landmarks, n_jobs=n_jobs), dtype=float)
        largest = _largest_piece_share(graph)
        shortened = 0.0 if yardstick is None else _shortened_share(yardstick, paths)
        if yardstick is None and largest >= MIN_PIECE_SHARE:
            yardstick = paths
        rows.append(ScanRow(k, graph.n_pieces, largest, shortened))
    return NeighborScan(tuple(rows))


def _largest_piece_share(graph: Graph) -> float:
    return float(np.bincount(graph.piece_of).max() / graph.n)


def _shortened_share(before: Array, after: Array) -> float:
    """The share of far pairs whose paths lost far more than those of near pairs."""
    known = np.isfinite(before) & (before > 0)
    if not known.any():  # all rows are equal
        return 0.0
    limits = np.quantile(before[known], (0.1, 0.4, 0.5))
    near = known & (before >= limits[0]) & (before <= limits[1])
    far = known & (before >= limits[2])
    straightened = float(np.median(after[near] / before[near]))
    return float(np.mean(after[far] < SHORTENED_RATIO * straightened * before[far]))


def number_list(numbers: Sequence[Any]) -> str:
    """Numbers or names as a sentence has them."""
    words = [str(number) for number in numbers]
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"

"""New rows on a map of attraction and repulsion: each finds its own place among the old points.

A new row x has affinities p_j to its nearest old rows, as the old ones have to one another, and
goes where they balance the repulsion of all old points:

    minimise over y   ρ·Σ p_j log(1 + ‖y − y_j‖²) + log Σ_j 1/(1 + ‖y − y_j‖²)

from the mean Σ p_j y_j. Old points stay, and new ones do not see one another, so that a row's place
does not depend on which others come along.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import RowsFarAway, warn
from dualfold.graph.graph import Lists
from dualfold.graph.neighbors import nearest
from dualfold.kernels import kernel
from dualfold.kernels.threads import Threads, in_threads, row_slices, thread_count
from dualfold.tsne.grid import Grid
from dualfold.weights.perplexity import conditional_affinities

_all_pairs = kernel("all_pairs_repulsion")
# Steps of the fixed-point iteration, half of each taken, none longer than the kernel is wide.
ROUNDS, DAMPING, LONGEST = 60, 0.5, 1.0
# Old points up to which the repulsion is summed over all of them.
MOST_BY_PAIRS = 1_500
ROWS = 1024  # new rows of a part of the work


@dataclass(frozen=True, eq=False)
class NeighborMap:
    """The place of new rows on a map of neighbours.

    features, points : the old rows and their places
    n_neighbors, perplexity : how many old rows draw a new one, and the perplexity of their
        affinities (None: all draw alike)
    attraction : ρ; infinite: the mean of the neighbours, by their affinities
    metric : of the features

    A row that is equal to an old one takes its place.
    """

    features: Any
    points: Array
    n_neighbors: int
    perplexity: float | None
    attraction: float = 1.0
    metric: Any = "euclidean"

    def __call__(self, X: Any) -> Array:
        found = nearest(self.features, self.n_neighbors, queries=X, metric=self.metric)
        self._warn_of_far_rows(found.distances[:, 0])
        n, k = found.indices.shape
        lists = Lists(np.arange(0, n * k + 1, k), found.indices.ravel(), found.distances.ravel())
        affinities = conditional_affinities(lists, self.perplexity)[0].reshape(n, k)
        placed = np.empty((n, self.points.shape[1]))
        grid = self._grid  # made before threads ask for it

        def work(rows: slice) -> None:
            placed[rows] = self._placed(found.indices[rows], affinities[rows], grid)

        in_threads(work, row_slices(n, ROWS), thread_count())
        same = found.distances[:, 0] == 0
        placed[same] = self._old[found.indices[same, 0]]
        return placed

    def _warn_of_far_rows(self, distances: Array) -> None:
        """`RowsFarAway` for rows with these distances to the nearest old one."""
        far = np.flatnonzero(distances > self._width)
        if len(far):
            which = ", ".join(map(str, far[:5])) + (" …" if len(far) > 5 else "")
            warn(
                RowsFarAway(
                    f"{len(far):,} of {len(distances):,} new rows (counted from 0: {which}) are "
                    "farther from every old row than old rows are from one another, so that their "
                    "places say nothing about them; look at units and columns. "
                    "quality.conformal_p_values tells which rows are unlike the old ones"
                )
            )

    @cached_property
    def _width(self) -> float:
        """No two old rows are farther apart: twice the longest distance from one of them."""
        n = len(self.points)
        return 2 * float(
            nearest(self.features, n, queries=self.features[:1], metric=self.metric).distances.max()
        )

    @cached_property
    def _old(self) -> Array:
        return np.ascontiguousarray(self.points, dtype=float)

    @cached_property
    def _grid(self) -> Grid | None:
        """The sums of the old points, where a grid holds them: made once, for any new rows."""
        n, width = self._old.shape
        if n <= MOST_BY_PAIRS or width > 2 or not np.isfinite(self.attraction):
            return None
        low, high = self._old.min(axis=0), self._old.max(axis=0)
        margin = 0.05 * (high - low) + 2
        grid = Grid(np.vstack([self._old, low - margin, high + margin]))
        grid.holds(np.vstack([low - margin, high + margin]))
        grid.spread(self._old)
        grid.convolve(Threads(1), 1)
        return grid

    def _placed(self, near: Array, affinities: Array, grid: Grid | None) -> Array:
        """Rows by themselves: nothing here mixes two of them."""
        around = self._old[near]  # rows × neighbours × coordinates
        width = around.shape[2]
        Y = np.column_stack([(affinities * around[:, :, c]).sum(axis=1) for c in range(width)])
        if not np.isfinite(self.attraction):
            return Y
        for _ in range(ROUNDS):
            apart = [Y[:, c, None] - around[:, :, c] for c in range(width)]
            square = 1.0 + sum(one * one for one in apart)
            weights = self.attraction * affinities / square
            pull = np.column_stack([(weights * one).sum(axis=1) for one in apart])
            force = pull - self._pushed(Y, grid)
            step = DAMPING * force / weights.sum(axis=1)[:, None]
            length = np.sqrt((step * step).sum(axis=1))
            Y = Y - step * (LONGEST / np.maximum(length, LONGEST))[:, None]
        return Y

    def _pushed(self, Y: Array, grid: Grid | None) -> Array:
        """What all old points do to each row: their push over their sum φ."""
        n, width = Y.shape
        phi, push = np.empty(n), np.empty((n, width))
        if grid is None:
            apart = np.ascontiguousarray(self._old.T)
            _all_pairs(0, n, len(self._old), width, 0, np.ascontiguousarray(Y), apart, phi, push)
        else:
            low, high = grid.edges()
            grid.reader(np.clip(Y, low, high), phi, push)(slice(0, n))
        return push / np.maximum(phi, 1e-12)[:, None]

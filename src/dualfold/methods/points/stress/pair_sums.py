"""The stress of points, and the forces along their pairs, in one pass over the distances.

    force_i = Σ_j w_ij (1 − δ_ij/d_ij)(y_i − y_j),   half the gradient of σ

Rows are computed each on its own, so that the bits do not depend on the number of threads, and
distances between points are never stored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.threads import in_threads, row_slices, thread_count

_stress_rows = kernel("stress_rows")
ROW_SUMS = c_constant("ROW_SUMS")
# Pairs of one chunk of work.
CHUNK_PAIRS = 2**18


@dataclass(frozen=True, eq=False)
class StressSums:
    """Sums along the pairs, from which forces and stress follow.

    stress : Σ_{i<j} w(d − δ)²
    squares : Σ_{i<j} w d²
    force : n×d, half the gradient
    sizes : of each point, Σ_j w|d − δ|: the norms of all forces on it
    torn : pairs in one place that should lie apart; σ has no gradient there
    """

    stress: float
    squares: float
    force: Array
    sizes: Array
    torn: int

    @property
    def unbalanced(self) -> float:
        """The norm of the forces that remain over that of all forces; 1 where σ has a kink."""
        total = float(np.linalg.norm(self.sizes))
        if self.torn:
            return 1.0
        return min(1.0, float(np.linalg.norm(self.force)) / total) if total > 0 else 0.0


def row_sums_and_forces(
    points: Array,
    old: Array,
    distances: Array,
    weights: Array | None = None,
    *,
    gaps: bool = False,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Sums (`StressSums`) and force of each of `points`, from its distances to the `old` ones.

    distances, weights : p×n (None: 1), in float64; gaps : whether distances are missing (NaN)
    """
    rows, (n, width) = len(points), old.shape
    columns = np.ascontiguousarray(old.T)
    points = np.ascontiguousarray(points)
    sums, force = np.empty((rows, ROW_SUMS)), np.empty((rows, width))

    def work(part: slice) -> int:
        of = n, width, int(gaps), points, columns, distances, weights
        return int(_stress_rows(part.start, part.stop, *of, sums, force))

    states = in_threads(work, row_slices(rows, max(1, CHUNK_PAIRS // n)), thread_count(n_jobs))
    if any(states):
        raise MemoryError("the forces on points need a few kilobytes more than there are")
    return sums, force


def forces_between(
    Y: Array,
    distances: Array,
    weights: Array | None = None,
    *,
    gaps: bool = False,
    n_jobs: int | None = None,
) -> StressSums:
    """The forces between points Y (n×d) that have `distances` (n×n)."""
    sums, force = row_sums_and_forces(Y, Y, distances, weights, gaps=gaps, n_jobs=n_jobs)
    total = sums.sum(axis=0)
    stress, squares = float(total[0]) / 2, float(total[2]) / 2
    return StressSums(stress, squares, force, sums[:, 1], int(total[3]))

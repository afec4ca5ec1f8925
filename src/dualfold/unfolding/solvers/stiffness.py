"""The Newton matrix of points held by edges: sparse blocks, one r×r block a neighbour.

Moving the points Y (n×r) by Δ changes the barrier function of `barrier.py` to second
order by ½⟨Δ, HΔ⟩ with

    H = (L(w) − (1 − σ)·diag(m)) ⊗ I_r + Σ_e c_e (b_e b_eᵀ) ⊗ (y_e y_eᵀ)

b_e = e_i − e_j, y_e = y_i − y_j: the stiffness matrix of a net of springs that also pull
when turned. Its blocks sit where the graph has edges, so one ordering of the graph
serves every r, and a sheet of 10,000 points is factorised in a fraction of a second.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.trace.sparse.factorisation import (
    Factorisation,
    Ordering,
    factorise,
    fill_reducing_ordering,
)
from dualfold.unfolding.problem import UnfoldingProblem

# The shift σ (in units of S = L(w) − diag(m), whose wanted eigenvalues are of size 1) starts
# here. Rotations of all points are free, so without it H is singular; the step is then
# right to a relative σ along the softest directions.
LEAST_SHIFT = 1e-7
# Where H is indefinite the missing part is 1 − λ₂(L(w)) at most: mostly between these.
FIRST_SHIFT = 0.03
MOST_SHIFT = 1e6


@dataclass(frozen=True, eq=False)
class Net:
    """Where the blocks of H lie, for points tied by the edges of one problem."""

    problem: UnfoldingProblem
    ordering: Ordering  # of the graph itself: one row a point

    @classmethod
    def of(cls, problem: UnfoldingProblem, *, most_flops: float | None = None) -> Net:
        pattern = problem.laplacian(np.ones(problem.m))
        return cls(problem, fill_reducing_ordering(pattern, most_flops=most_flops))

    @cached_property
    def _slots(self) -> tuple[Array, Array, Array]:
        """Sorted rows of the pattern, and which of (edges, edges back, points) is in each."""
        n, m = self.problem.n, self.problem.m
        i, j = self.problem.edges.T
        everyone = np.arange(n)
        rows = np.concatenate([i, j, everyone])
        columns = np.concatenate([j, i, everyone])
        numbers = np.arange(1, 2 * m + n + 1)
        slots = sp.csr_array((numbers, (rows, columns)), shape=(n, n))
        slots.sort_indices()
        return slots.indptr, slots.indices, slots.data - 1

    @cached_property
    def ends(self) -> sp.csr_array:
        """n×m of ones: sums what edges carry into their two ends."""
        i, j = self.problem.edges.T
        both = np.tile(np.arange(self.problem.m), 2)
        shape = (self.problem.n, self.problem.m)
        return sp.csr_array((np.ones(len(both)), (np.concatenate([i, j]), both)), shape=shape)

    def stiffness(self, weights: Array, bend: Array, apart: Array, shift: float) -> sp.csr_array:
        """H for weights w, curvatures c (`bend`) and edge vectors y_e (`apart`, m×r)."""
        n, r = self.problem.n, apart.shape[1]
        blocks = (bend[:, None] * apart)[:, :, None] * apart[:, None, :]
        unit = np.arange(r)
        blocks[:, unit, unit] += weights[:, None]
        own = (self.ends @ blocks.reshape(-1, r * r)).reshape(n, r, r)
        own[:, unit, unit] -= (1 - shift) * self.problem.mass[:, None]
        start, columns, slot = self._slots
        blocks *= -1
        entries = np.concatenate([blocks, blocks, own])[slot]
        return sp.csr_array(sp.bsr_array((entries, columns, start), shape=(n * r, n * r)).tocsr())

    def factorised(
        self, weights: Array, bend: Array, apart: Array, shift: float
    ) -> tuple[Factorisation, float]:
        """L D Lᵀ of H, with σ raised until H is positive beside the translations.

        H moves all points together with −(1 − σ)·diag(m), so that r signs are negative
        while σ < 1; the pivots' signs tell, as a proof, whether there are more.
        """
        r = apart.shape[1]
        order = blocked(self.ordering, r)
        while True:
            factor = factorise(self.stiffness(weights, bend, apart, shift), order)
            expected = r if shift < 1 else 0
            if (factor.negative == expected and not factor.zero) or shift > MOST_SHIFT:
                return factor, shift
            shift = max(FIRST_SHIFT, 2 * shift)
            if 0.9 < shift < 1.1:  # at 1 the translations have no sign
                shift = 1.2


def blocked(ordering: Ordering, r: int) -> Ordering:
    """The same order of elimination when each row stands for a block of r rows."""
    if r == 1:
        return ordering
    inside = np.arange(r)
    own = np.diff(ordering.first).astype(np.int64) * r
    below = np.diff(ordering.row_start) * r
    panel_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(own * (own + below))])

    def spread(rows: Array) -> Array:
        return np.ascontiguousarray((rows[:, None] * r + inside).ravel(), dtype=np.int32)

    return replace(
        ordering,
        permutation=spread(ordering.permutation),
        factor_entries=int(panel_start[-1] - np.sum(own * (own - 1) // 2)),
        flops=ordering.flops * r**3,
        longest_row=ordering.longest_row * r + r - 1,
        first=(ordering.first * r).astype(np.int32),
        row_start=ordering.row_start * r,
        rows=spread(ordering.rows),
        panel_start=panel_start,
    )

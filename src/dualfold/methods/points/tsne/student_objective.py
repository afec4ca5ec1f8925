"""The objective of t-SNE and its gradient at given points, from all pairs, with error bounds.

Up to `MOST_BY_PAIRS` points every pair is summed in double precision. Beyond, a tree sums groups
that are far away at their centroids, and the error of that is bounded pair by pair
(`kernels/repulsion_tree.c`). No sum holds a point's pair with itself.

Rounding, with u = 2⁻⁵³: 1 + t of d coordinates is right to (d + 3)u of itself, so that 1/(1 + t) is
right to (d + 4)u and log(1 + t) to (d + 3)u in absolute terms and 4u of itself; a sum of m terms of
one sign is right to m·u of itself, and one by `math.fsum` to u. A pair's part of the gradient is at
most min(½, D) of its part of φ or P, D the width of the map, and is rounded by that share.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels import kernel
from dualfold.kernels.arithmetic import SMALLEST_NORMAL
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF as _U
from dualfold.kernels.reports import long_call
from dualfold.kernels.threads import Threads, thread_count
from dualfold.methods.points.forces import row_shares
from dualfold.methods.points.objective import Objective, norm
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.tsne.repulsion import ByPairs, ByTree

_attraction = kernel("edge_attraction")
_costs = kernel("edge_costs")
# Up to this many points all pairs are summed (docs/dev/notes/tsne-grid.md).
MAX_ROWS_BY_PAIRS = 200_000
SECONDS_A_PAIR = 1.2e-9
# The tree's angle for larger maps: the bound is about 1e-3 of the repulsion there.
TREE_ANGLE = 0.15
# Of Σ p·log p in units of u: a logarithm, a product, and NumPy's pairwise sum of up to 2⁴⁰ terms.
_ENTROPY_ROUNDING = 80


class TsneObjective(Objective):
    """F and ∇F of t-SNE at some points, with proved errors."""

    error: float
    gradient_error: float

    @property
    def kl(self) -> float:
        """KL(P‖Q), which F is with the attraction 1."""
        return self.plain_value


def student_objective(problem: AttractionProblem, Y: Array, n_jobs: int | None) -> TsneObjective:
    """The objective at finite points, with the rounding bounds that hold for Student's t."""
    n, width = Y.shape
    exact = n <= MAX_ROWS_BY_PAIRS or width > 3
    pairs: ByPairs | ByTree = (
        ByPairs(n, width) if exact else ByTree(n, width, TREE_ANGLE, bounded=True)
    )
    pull, costs, P = np.zeros_like(Y), np.zeros(n), problem.P

    def edges(rows: slice) -> None:
        for sums, out in ((_attraction, pull), (_costs, costs)):
            sums(rows.start, rows.stop, n, width, P.indptr, P.indices, P.data, Y, out)

    threads = thread_count(n_jobs)
    seconds = SECONDS_A_PAIR * n**2 / threads if exact else 2e-5 * n
    pool = Threads(threads)
    with long_call("all pairs", seconds):
        pool.map(edges, row_shares(n, 4 * threads))
        pairs.after(Y, pool, threads)
    return _objective_from_sums(
        problem, _Sums(pull, math.fsum(costs), pairs, norm(np.ptp(Y, axis=0)))
    )


@dataclass(frozen=True, eq=False)
class _Sums:
    """Parts of an objective: attraction, its cost, repulsion by `pairs`, the map's width."""

    pull: Array
    cost: float
    pairs: ByPairs | ByTree
    width_of_map: float


def _objective_from_sums(problem: AttractionProblem, sums: _Sums) -> TsneObjective:
    rho, Z = problem.attraction, math.fsum(sums.pairs.phi)
    log_Z, push = math.log(Z), sums.pairs.push / Z
    pairs = sums.pairs
    off_Z = float(pairs.off.sum()) / Z if isinstance(pairs, ByTree) else 0.0
    # Beyond one half the tree's sum says nothing.
    off_Z = off_Z * _above(problem.n) if off_Z < 0.4 else 1.0
    from_tree = -math.log1p(-off_Z) if off_Z < 1 else math.inf
    return TsneObjective(
        value=rho * sums.cost + log_Z - problem.entropy,
        plain_value=sums.cost + log_Z - problem.entropy,
        error=_value_rounding(problem, sums, log_Z) + from_tree,
        gradient=4 * (rho * sums.pull - push),
        gradient_error=_gradient_error(problem, sums, Z, off_Z),
        pull=4 * rho * norm(sums.pull),
        push=4 * norm(push),
        exact=not isinstance(pairs, ByTree),
    )


def _value_rounding(problem: AttractionProblem, sums: _Sums, log_Z: float) -> float:
    """Bound of the rounding of F and KL."""
    n, width = sums.pull.shape
    rho, mass = max(problem.attraction, 1.0), float(problem.P.sum())
    of_cost = rho * ((width + 4) * mass + (_longest_row(problem) + 12) * sums.cost)
    of_Z = n + width + 8 + 8 * abs(log_Z)
    return _above(n) * _U * (of_cost + of_Z + _ENTROPY_ROUNDING * abs(problem.entropy))


def _gradient_error(problem: AttractionProblem, sums: _Sums, Z: float, off_Z: float) -> float:
    """Bound of the error of ‖∇F‖, by rounding and by a tree whose Z is right to `off_Z` of it."""
    n, width = sums.pull.shape
    sizes = problem.attraction * norm(problem.P.sum(axis=1)) + norm(sums.pairs.phi) / Z
    terms = _longest_row(problem) + (2 + width) * n + width + 16
    rounding = 2 * math.sqrt(width) * terms * _U * sizes * min(1.0, 2 * sums.width_of_map)
    if sums.width_of_map > 0:
        rounding += SMALLEST_NORMAL  # what underflows
    if not isinstance(sums.pairs, ByTree):
        return rounding * _above(n)
    if not off_Z < 1:
        return math.inf
    by_tree = 4 * (norm(sums.pairs.off_push) + norm(sums.pairs.push) * off_Z) / Z / (1 - off_Z)
    return (rounding + by_tree) * _above(n)


def _longest_row(problem: AttractionProblem) -> int:
    return int(np.diff(problem.P.indptr).max(initial=0))


def _above(n: int) -> float:
    """A factor for bounds that are themselves sums over n rows, rounded."""
    return 1 + 1e-9 + 4 * n * _U

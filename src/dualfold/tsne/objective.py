"""The objective of t-SNE and its gradient at given points, from all pairs, with error bounds.

Up to `MOST_BY_PAIRS` points every pair is summed in double precision. Beyond, a tree sums groups
that are far away at their centroids, and the error of that is bounded pair by pair
(`kernels/repulsion_tree.c`). Rounding: with u = 2⁻⁵³ a term 1/(1 + t) of d coordinates is right to
(d + 4)u of itself, a sum of m terms of one sign to m·u of itself, so that Z is right to
(n + d + 8)u, its logarithm to that in absolute terms, and Σp·log(1 + t) to
(m + d + 8)u of itself, m the longest row, and as much for the sum over rows. Terms of the
gradient are at most half of those of φ and of P, whose sums bound what rounding does to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels import kernel
from dualfold.kernels.reports import long_call
from dualfold.kernels.threads import Threads, thread_count
from dualfold.tsne.problem import TsneProblem
from dualfold.tsne.repulsion import ByPairs, ByTree, shares

_attraction = kernel("edge_attraction")
_costs = kernel("edge_costs")
# Up to this many points all pairs are summed (docs/dev/notes/tsne-grid.md).
MAX_ROWS_BY_PAIRS = 200_000
SECONDS_A_PAIR = 1.2e-9
# The tree's angle for larger maps: the bound is about 1e-3 of the repulsion there.
TREE_ANGLE = 0.15
_U = 2.0**-53


@dataclass(frozen=True, eq=False)
class Objective:
    """F and ∇F at some points.

    value : F; kl : KL(P‖Q), the same where the attraction is 1
    error : how far `value` can be from F, by rounding and by the tree
    gradient : ∇F, n × d; its norm is right to `gradient_error`
    pull, push : norms of the attractive and of the repulsive part of the gradient
    exact : whether all pairs were summed
    """

    value: float
    kl: float
    error: float
    gradient: Array
    gradient_error: float
    pull: float
    push: float
    exact: bool

    @property
    def slope(self) -> float:
        """‖∇F‖."""
        return float(np.linalg.norm(self.gradient))

    @property
    def unbalanced_share(self) -> float:
        """‖∇F‖ over the norms of attraction and repulsion: 0 where all forces balance."""
        forces = self.pull + self.push
        return (self.slope + self.gradient_error) / forces if forces > 0 else 0.0


def tsne_objective(problem: TsneProblem, points: Any, n_jobs: int | None = None) -> Objective:
    """F, KL and ∇F of a problem at `points` (n × d), from all pairs.

    n_jobs : threads (None: all cores); the bits do not depend on them

    >>> import numpy as np, scipy.sparse as sp
    >>> two = TsneProblem(sp.csr_array(np.array([[0, 0.5], [0.5, 0]])), count=1)
    >>> tsne_objective(two, [[0.0], [1.0]]).kl  # p and q are both ½
    0.0
    """
    Y = problem.checked_points(points)
    n, width = Y.shape
    exact = n <= MAX_ROWS_BY_PAIRS or width > 3
    all_pairs: Any = ByPairs(n, width) if exact else ByTree(n, width, TREE_ANGLE, bounded=True)
    pull, costs, P = np.zeros_like(Y), np.zeros(n), problem.P

    def edges(rows: slice) -> None:
        for of, out in ((_attraction, pull), (_costs, costs)):
            of(rows.start, rows.stop, n, width, P.indptr, P.indices, P.data, Y, out)

    threads = thread_count(n_jobs)
    seconds = SECONDS_A_PAIR * n**2 / threads if exact else 2e-5 * n
    pool = Threads(threads)
    with long_call("all pairs", seconds):
        pool.map(edges, shares(n, 4 * threads))
        Z = all_pairs.after(Y, pool, threads)
    sums = _Sums(pull, float(costs.sum()), all_pairs, Z, exact)
    return _objective_from_sums(problem, sums)


@dataclass(frozen=True, eq=False)
class _Sums:
    """What an objective is made of: attraction, its cost, repulsion by `pairs`, and Z."""

    pull: Array
    cost: float
    pairs: Any
    Z: float
    exact: bool


def _objective_from_sums(problem: TsneProblem, sums: _Sums) -> Objective:
    pull, cost, pairs, Z, exact = sums.pull, sums.cost, sums.pairs, sums.Z, sums.exact
    n, width = pull.shape
    rho, push = problem.attraction, pairs.push / Z
    off_Z = 0.0 if exact else float(pairs.off.sum()) / Z
    missing = -np.log1p(-min(off_Z, 0.5)) if off_Z < 0.5 else np.inf
    # |P|'s longest row bounds the sums along it; logs of p are right to a unit each.
    longest = int(np.diff(problem.P.indptr).max(initial=0))
    rounding = (longest + n + width + 16) * _U * (rho * cost + 1) + 8 * _U * abs(problem.entropy)
    gradient = 4 * (rho * pull - push)
    pulled, pushed = 4 * rho * float(np.linalg.norm(pull)), 4 * float(np.linalg.norm(push))
    # A pull p·d/(1 + d²) is at most p/2, and a push d/(1 + d²)² at most half of 1/(1 + d²).
    sizes = rho * np.linalg.norm(problem.P.sum(axis=1)) + np.linalg.norm(pairs.phi) / Z
    off = 2 * np.sqrt(width) * (longest + 2 * n + width + 16) * _U * float(sizes)
    if not exact:
        apart = 4 * float(np.linalg.norm(pairs.off_push)) / Z
        off += apart + pushed * off_Z / (1 - min(off_Z, 0.5))
    return Objective(
        value=rho * cost + float(np.log(Z)) - problem.entropy,
        kl=cost + float(np.log(Z)) - problem.entropy,
        error=float(rounding + missing),
        gradient=gradient,
        gradient_error=float(off),
        pull=pulled,
        push=pushed,
        exact=exact,
    )

"""The bound of a neighbour map of many rows, at the map itself: it holds but for a stated chance.

For the weights q of the map, exp(−t)/S, the bound of `neighbor_bound` needs three things: S and
Σ q t, which are sums over all pairs (`gaussian_sums`: products with exp(−t), right to a stated
error), since H(q) = log S + Σ q t; and the d smallest eigenvalues of M = 2·Laplacian(P − q), known
by its products too. A random search finds them but for a chance (`trace.search`): so the level is
"measured", never "proved".

Errors, with ε that of the sums: S is off by n²ε, hence by r = n²ε/S of itself; Σ w t =
2Σ_i |y_i|²(W1)_i − 2Σ_k y_kᵀWy_k by ε(2nΣ|y|² + 2Σ_k ‖y_k‖₁²); products with M by
4r(1/n + the largest degree) in norm. The search adds up rounding of its own for a fixed matrix;
ours changes from product to product, so that it is allowed for 64 times over.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from dualfold.arrays import Array
from dualfold.neighbor_map.gaussian_sums import GaussianSums
from dualfold.neighbor_map.problem import NeighborProblem, edge_attraction
from dualfold.trace.certificate import certify
from dualfold.trace.problem import TraceProblem
from dualfold.trace.proof.random_search import MISS

_U = 2.0**-53
# Directions beside the wanted ones, the basis they are found in, and how often it begins anew.
GUARDS, BASIS, RESTARTS = 3, 40, 100
# Of the sum of eigenvalues: a thousandth of what the relaxation loses on any set that was measured.
FINE = 1e-5


def searched_bound(problem: NeighborProblem, Y: Array) -> tuple[float, float, float]:
    """KL of white points Y from above, what no map falls below, and the chance that it does."""
    n, d = Y.shape
    sums = GaussianSums(Y)
    rows, times = np.split(sums.times(np.column_stack([np.ones(n), Y])), [1], axis=1)
    total, off = float(rows.sum()), sums.error + 4 * _U
    relative = 1.01 * n**2 * off / total if total > 0 else np.inf
    if not relative < 0.01:
        return np.inf, -np.inf, MISS
    pulled, known = edge_attraction(problem, Y), problem.negative_entropy
    # Sums over edges, rows first; logarithms, and the few last additions.
    rounded = (len(problem.P.data) + 64) * _U * (pulled + abs(known) + abs(np.log(total)) + 1)
    value = pulled + float(np.log(total)) + known + 2 * relative + rounded
    squares = np.einsum("ij,ij->i", Y, Y)
    spread = 2 * float(squares @ rows[:, 0]) - 2 * float(np.vdot(Y, times))
    sizes = 2 * n * float(squares.sum()) + 2 * float((np.abs(Y).sum(axis=0) ** 2).sum())
    entropy = float(np.log(total)) + spread / total
    lost = 2 * relative + 1.01 * (off * sizes + 2 * relative * abs(spread)) / total + rounded
    least, chance, off_slope = _smallest_sum(problem, Y, sums, rows[:, 0] / total, total, relative)
    bound = known + entropy - lost + problem.size * (least - 64 * d * off_slope)
    return value, bound, chance


def _smallest_sum(
    problem: NeighborProblem, Y: Array, sums: GaussianSums, degrees: Array, total: float, off: float
) -> tuple[float, float, float]:
    """The sum of the d smallest eigenvalues of M from below, its chance, and M's error in norm."""
    n, P = problem.n, problem.P
    own = (problem.degrees - degrees)[:, None]

    def times(V: Array) -> Array:
        V = V.reshape(n, -1)
        return np.asarray(2 * (own * V - (P @ V - sums.times(V) / total)))

    M = LinearOperator((n, n), matvec=times, matmat=times, dtype=float)
    asked = TraceProblem(M, None, problem.count, "min", excluded=np.ones((n, 1)))
    verdict = certify(asked, _lowest(times, Y), tolerance=FINE)
    edges = float(problem.degrees.max()) * (int(np.diff(P.indptr).max()) + 8) * _U
    error = 1.1 * (4 * off * (1 / n + float(degrees.max())) + 4 * edges)
    # A route that needs no search rests on a guess of the norm of M: no better than a search.
    return float(verdict.bound), max(verdict.chance, MISS), error


def _lowest(times: Any, Y: Array) -> Array:
    """Directions near the smallest eigenvalues off the vector 1; no more than a hint.

    The map's own are among the candidates: where forces balance they are eigenvectors.
    """
    n, d = Y.shape
    M = LinearOperator((n, n), matvec=times, dtype=float)
    settings: dict[str, Any] = {"k": d + GUARDS, "ncv": BASIS, "maxiter": RESTARTS, "tol": 1e-4}
    try:
        found = eigsh(M, which="SA", v0=Y.sum(axis=1), **settings)[1]
    except ArpackNoConvergence as stopped:
        found = stopped.eigenvectors
    both = np.column_stack([Y, found])
    basis = np.linalg.qr(both - both.mean(axis=0))[0]
    values, turns = np.linalg.eigh(basis.T @ times(basis))
    return np.asarray(basis @ turns[:, np.argsort(values)][:, : d + GUARDS])

"""What no neighbour map can fall below, proved.

For *any* symmetric probabilities q on the pairs, whatever they came from, Gibbs' inequality says
log Σ exp(−t) ≥ H(q) − Σ q t, H(q) = −Σ q log q. So for every feasible map, G = YYᵀ,

    KL(P‖Q) ≥ Σ p log p + H(q) + ⟨M, G⟩ ≥ Σ p log p + H(q) + n·s·Σ_{i≤d} λ_i(M),

M = 2·Laplacian(P − q), λ_i its eigenvalues orthogonal to 1 from the smallest on: the trace of
UᵀMU over orthonormal U is never less (Ky Fan). The best q belongs to the minimum of the convex
problem over the Fantope, and the bound is then that minimum.

Rounding, with u = 2⁻⁵³: q are the numbers w_ij over their exact sum S. Sums of n rows of n terms
are off by (2n + 8)u of the sum of sizes, whatever their order; logarithms by 8u. The entries of M
as computed belong to a matrix within ε = 16(2n + 32)u·max_i(deg_P + deg_q)_i of M in norm (rows
summed; S enters with its own error). Adding c·11ᵀ, c ≥ 0, moves the eigenvalue 0 of the vector 1 up
and no other; the d smallest eigenvalues of all n then add up to no more than those orthogonal to 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.neighbor_map.problem import NeighborProblem, slope
from dualfold.trace.certificate import certify
from dualfold.trace.problem import TraceProblem

_U = 2.0**-53
# All eigenvectors of so many rows are found in seconds.
MOST_DECOMPOSED = 1_500


def neighbor_bound(problem: NeighborProblem, weights: Any) -> float:
    """A proved lower bound of KL(P‖Q), in nats, over all maps of the problem; −∞ if there is none.

    weights : symmetric n×n, not negative, the diagonal 0: they are q but for a factor. Those that
        come near the minimum of the relaxed problem give the best bound, any give a true one
    """
    w = checked_weights(problem, weights)
    n, d = problem.n, problem.count
    total = float(w.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(w > 0, w * np.log(np.where(w > 0, w, 1.0)), 0.0)
    share = (2 * n + 8) * _U
    sizes = float(np.abs(logs).sum()) / total
    entropy = float(np.log(total)) - float(logs.sum()) / total
    off = 1.1 * (share * (1 + 3 * sizes) + 16 * _U * (1 + abs(np.log(total)) + sizes))
    least = smallest_sum(slope(problem, w), d)
    reach = float((problem.degrees + w.sum(axis=1) / total).max())
    error = 16 * (2 * n + 32) * _U * reach
    trace = problem.size * (least - d * error)
    known = problem.negative_entropy + entropy + trace
    p = problem.P.data
    off += (len(p) + 16) * _U * float(np.abs(p * np.log(p)).sum())
    off += 8 * _U * (abs(problem.negative_entropy) + abs(entropy) + abs(trace))
    return float(known - off)


def checked_weights(problem: NeighborProblem, weights: Any) -> Array:
    """Weights of pairs that the bound may use."""
    w = np.asarray(weights, dtype=float)
    if w.shape != (problem.n, problem.n) or not (w >= 0).all() or not np.isfinite(w.sum()):
        raise InvalidInput(
            f"weights of pairs must be {problem.n}×{problem.n} finite numbers, none below 0"
        )
    if not np.array_equal(w, w.T) or np.diagonal(w).any() or not w.sum() > 0:
        raise InvalidInput("weights of pairs must be symmetric, not all 0, with a diagonal of 0")
    return w


def smallest_sum(M: Array, count: int) -> float:
    """A proved lower bound of the sum of the `count` smallest eigenvalues of M off the vector 1.

    M·1 is 0 to what `neighbor_bound` allows for; −∞ where nothing was proved.
    """
    n = len(M)
    values, Q = np.linalg.eigh(M) if n <= MOST_DECOMPOSED else _lowest(M, count)
    lift = float(np.abs(values).max())
    lifted = M + lift / n
    rounding = _U * (float(np.abs(M).sum(axis=1).max()) * 1.01 + lift)
    if n <= MOST_DECOMPOSED:
        return _decomposed(lifted, count) - count * rounding
    verdict = certify(TraceProblem(lifted, None, count, "min"), Q, tolerance=1e-10)
    proved = verdict.level in ("proved", "within") and np.isfinite(verdict.bound)
    return float(verdict.bound) - count * rounding if proved else -np.inf


def _decomposed(S: Array, count: int) -> float:
    """From all eigenpairs: |λ_i(S) − λ̂_i| ≤ ω|λ̂_i| + ρ, ω ≥ ‖QᵀQ − I‖, ρ ≥ ‖S − QΛ̂Qᵀ‖.

    (Ostrowski for QΛ̂Qᵀ, Weyl for the rest, as in `leading`; products of m terms are rounded by
    (m + 4)u, of m and of Σ|λ̂|, in Frobenius norms.)
    """
    values, Q = np.linalg.eigh(S)
    m, u = len(S), 1.02 * (len(S) + 4) * _U
    skew = float(np.linalg.norm(Q.T @ Q - np.eye(m))) * 1.01 + u * m
    left = float(np.linalg.norm(S - (Q * values) @ Q.T)) * 1.01 + u * m * float(
        np.abs(values).max()
    )
    low = np.sort(values - skew * np.abs(values) - left)[:count]
    return float(low.sum()) * 1.0 - 4 * count * _U * float(np.abs(low).sum())


def _lowest(M: Array, count: int) -> tuple[Array, Array]:
    """The smallest eigenpairs and the largest value, by LAPACK; no more than a hint."""
    import scipy.linalg

    n = len(M)
    top = scipy.linalg.eigh(M, eigvals_only=True, subset_by_index=[n - 1, n - 1])
    values, Q = scipy.linalg.eigh(M, subset_by_index=[0, min(count + 5, n - 1)])
    nonconstant = np.abs(Q.sum(axis=0)) < 0.5 * np.sqrt(n)
    return np.concatenate([values, top]), Q[:, nonconstant]

"""Lower bounds of the divergence of all neighbour maps: proved, or but for a chance.

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
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF as _U
from dualfold.methods.points.neighbor_map.gaussian_sums import GaussianSums
from dualfold.methods.points.neighbor_map.problem import NeighborProblem, edge_attraction, slope
from dualfold.trace.certificate import certify
from dualfold.trace.problem import TraceProblem
from dualfold.trace.proof.decomposition import all_eigenvalues
from dualfold.trace.proof.random_search import MISS_CHANCE

# All eigenvectors of a matrix of this size are found in seconds.
MAX_DECOMPOSED_ROWS = 1_500
# Of the iteration that finds directions for the random search.
GUARD_VECTORS = 3
SEARCH_BASIS_COLUMNS = 40
MAX_RESTARTS = 100
# Of the sum of eigenvalues: far less than what the relaxation loses
# (docs/dev/notes/neighbour-maps.md).
EIGENSUM_TOLERANCE = 1e-5


def neighbor_bound(problem: NeighborProblem, weights: Any) -> float:
    """Compute a proved lower bound of KL(P‖Q) over all maps of a problem.

    Parameters
    ----------
    problem : NeighborProblem
        The problem.
    weights : array-like of shape (n, n)
        Symmetric weights of pairs, not negative, with diagonal 0. Any give a true bound; those near
        the minimum of the relaxed problem give the best.

    Returns
    -------
    float
        The bound in nats; −∞ if there is none.

    Raises
    ------
    InvalidInput
        If the weights are not of this form.

    See Also
    --------
    certify_neighbors : The gap between a map and this bound.

    Notes
    -----
    By Gibbs' inequality log Σ exp(−t) ≥ H(q) − Σ q·t for any probabilities q on the pairs, so
    KL(P‖Q) ≥ Σ p log p + H(q) + n·s·Σ_{i≤d} λ_i(M), with M = 2·Laplacian(P − q) and its smallest
    eigenvalues λ_i orthogonal to 1. The rounding of all steps is included.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from dualfold.methods.points.neighbor_map import neighbor_bound, neighbor_problem
    >>> W = sp.csr_array([[0.0, 1.0, 0.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> problem = neighbor_problem(W, n_components=1, spread=0.1)
    >>> bool(0 < neighbor_bound(problem, W.toarray() + 0.5 * (1 - np.eye(3))) < 0.5)
    True
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
    values, Q = np.linalg.eigh(M) if n <= MAX_DECOMPOSED_ROWS else _lowest(M, count)
    lift = float(np.abs(values).max())
    lifted = M + lift / n
    rounding = _U * (float(np.abs(M).sum(axis=1).max()) * 1.01 + lift)
    if n <= MAX_DECOMPOSED_ROWS:
        return _decomposed_sum(lifted, count) - count * rounding
    verdict = certify(TraceProblem(lifted, None, count, "min"), Q, tolerance=1e-10)
    proved = verdict.level in ("proved", "within") and np.isfinite(verdict.bound)
    return float(verdict.bound) - count * rounding if proved else -np.inf


def _decomposed_sum(S: Array, count: int) -> float:
    """Sum of the least eigenvalues, from enclosures of all."""
    values, radii = all_eigenvalues(S)
    low = np.sort(values - radii)[:count]
    return float(low.sum()) - 4 * count * _U * float(np.abs(low).sum())


def _lowest(M: Array, count: int) -> tuple[Array, Array]:
    """The smallest eigenpairs and the largest value, by LAPACK; no more than a hint."""
    import scipy.linalg

    n = len(M)
    top = scipy.linalg.eigh(M, eigvals_only=True, subset_by_index=[n - 1, n - 1])
    values, Q = scipy.linalg.eigh(M, subset_by_index=[0, min(count + 5, n - 1)])
    nonconstant = np.abs(Q.sum(axis=0)) < 0.5 * np.sqrt(n)
    return np.concatenate([values, top]), Q[:, nonconstant]


def searched_bound(problem: NeighborProblem, Y: Array) -> tuple[float, float, float]:
    """KL of white points Y from above, a lower bound for all maps, and the chance that it is wrong.

    For the weights q of the map, exp(−t)/S, the bound of `neighbor_bound` needs three things: S
    and Σ q t, which are sums over all pairs (`gaussian_sums`: products with exp(−t), right to a
    stated error), since H(q) = log S + Σ q t; and the d smallest eigenvalues of
    M = 2·Laplacian(P − q), which is also known by its products. A random search finds them but for
    a chance (`trace.proof.random_search`): so the level is "measured", never "proved".

    Errors, with ε that of the sums: S is off by n²ε, hence by r = n²ε/S of itself; Σ w t =
    2Σ_i |y_i|²(W1)_i − 2Σ_k y_kᵀWy_k by ε(2nΣ|y|² + 2Σ_k ‖y_k‖₁²); products with M by
    4r(1/n + the largest degree) in norm. The search adds up its own rounding for a fixed matrix;
    ours changes from product to product, so that 64 times as much is allowed for it.
    """
    n, d = Y.shape
    sums = GaussianSums(Y)
    rows, times = np.split(sums.times(np.column_stack([np.ones(n), Y])), [1], axis=1)
    total, off = float(rows.sum()), sums.error + 4 * _U
    relative = 1.01 * n**2 * off / total if total > 0 else np.inf
    if not relative < 0.01:
        return np.inf, -np.inf, MISS_CHANCE
    pulled, known = edge_attraction(problem, Y), problem.negative_entropy
    # Sums over edges, rows first; logarithms, and the few last additions.
    rounded = (len(problem.P.data) + 64) * _U * (pulled + abs(known) + abs(np.log(total)) + 1)
    value = pulled + float(np.log(total)) + known + 2 * relative + rounded
    squares = np.einsum("ij,ij->i", Y, Y)
    spread = 2 * float(squares @ rows[:, 0]) - 2 * float(np.vdot(Y, times))
    sizes = 2 * n * float(squares.sum()) + 2 * float((np.abs(Y).sum(axis=0) ** 2).sum())
    entropy = float(np.log(total)) + spread / total
    lost = 2 * relative + 1.01 * (off * sizes + 2 * relative * abs(spread)) / total + rounded
    least, chance, off_slope = _searched_smallest_sum(
        problem, Y, sums, rows[:, 0] / total, total, relative
    )
    bound = known + entropy - lost + problem.size * (least - 64 * d * off_slope)
    return value, bound, chance


def _searched_smallest_sum(
    problem: NeighborProblem, Y: Array, sums: GaussianSums, degrees: Array, total: float, off: float
) -> tuple[float, float, float]:
    """The sum of the d smallest eigenvalues of M from below, its chance, and M's error in norm."""
    n, P = problem.n, problem.P
    diagonal = (problem.degrees - degrees)[:, None]

    def times(V: Array) -> Array:
        V = V.reshape(n, -1)
        return np.asarray(2 * (diagonal * V - (P @ V - sums.times(V) / total)))

    M = LinearOperator((n, n), matvec=times, matmat=times, dtype=float)
    asked = TraceProblem(M, None, problem.count, "min", excluded=np.ones((n, 1)))
    verdict = certify(asked, _searched_directions(times, Y), tolerance=EIGENSUM_TOLERANCE)
    edges = float(problem.degrees.max()) * (int(np.diff(P.indptr).max()) + 8) * _U
    error = 1.1 * (4 * off * (1 / n + float(degrees.max())) + 4 * edges)
    # A route that needs no search rests on a guess of the norm of M: no better than a search.
    return float(verdict.bound), max(verdict.chance, MISS_CHANCE), error


def _searched_directions(times: Any, Y: Array) -> Array:
    """Directions near the smallest eigenvalues off the vector 1; no more than a hint.

    The map's own are among the candidates: where forces balance they are eigenvectors.
    """
    n, d = Y.shape
    M = LinearOperator((n, n), matvec=times, dtype=float)
    settings: dict[str, Any] = {
        "k": d + GUARD_VECTORS,
        "ncv": SEARCH_BASIS_COLUMNS,
        "maxiter": MAX_RESTARTS,
        "tol": 1e-4,
    }
    try:
        vectors = eigsh(M, which="SA", v0=Y.sum(axis=1), **settings)[1]
    except ArpackNoConvergence as stopped:
        vectors = stopped.eigenvectors
    both = np.column_stack([Y, vectors])
    basis = np.linalg.qr(both - both.mean(axis=0))[0]
    values, turns = np.linalg.eigh(basis.T @ times(basis))
    return np.asarray(basis @ turns[:, np.argsort(values)][:, : d + GUARD_VECTORS])

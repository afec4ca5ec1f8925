"""Neighbour maps: near points attract, all points repel, by a Gaussian kernel.

    minimise KL(P‖Q) = Σ p_ij log(p_ij/q_ij),   q_ij = exp(−t_ij)/Σ exp(−t),   t_ij = ‖y_i − y_j‖²
    over n×d points with YᵀY = n·s·I and Yᵀ1 = 0

Sums run over all ordered pairs i ≠ j. P is symmetric and sums to 1; the `spread` s says how far
the map reaches: s → 0 are the eigenmaps of P. Maps are white by construction: all coordinates have
the same spread and are uncorrelated, which t-SNE leaves free.

What is minimised is convex in the Gram matrix YYᵀ, and that gives a lower bound
(`neighbor_bound`): docs/theory.md has the derivation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.methods.points.neighbor_map.gaussian_sums import GaussianSums, coefficient_count

# Up to this many rows all pairs are summed without a comparison of costs.
MAX_ALWAYS_PAIRED_ROWS = 300
# Up to this many rows matrices of all pairs are formed (docs/dev/notes/neighbour-maps.md).
MAX_PAIRED_ROWS = 8_000
# Squared distances are about 4 times the spread: here their rounding, 2⁻⁵³ of them, is nearly 1.
MAX_RESOLVED_SPREAD = 1e15
# Of the largest: the direction of a smaller singular value is rounding.
LEAST_SINGULAR_SHARE = 1e-13
# Where the mean of exp(−t) is smaller, the points' own share of 1 hides it in sums by polynomials.
MIN_MEAN_KERNEL = 1e-6


@dataclass(frozen=True, eq=False)
class NeighborProblem:
    """The problem of a neighbour map by a Gaussian kernel, as data.

    It is to minimise KL(P‖Q) with q_ij = exp(−t_ij)/Σ exp(−t) and t_ij = ‖y_i − y_j‖², over centred
    n×d points with YᵀY = n·s·I. Maps are white: their coordinates are uncorrelated and have the
    same spread.

    Parameters
    ----------
    P : csr_array of shape (n, n)
        Symmetric affinities without a diagonal, whose sum is 1.
    count : int
        Number d of coordinates.
    spread : float
        The mean square s of each coordinate; s → 0 leads to the eigenmaps of P.
    about : str, default=""
        What the problem is about, in words.

    See Also
    --------
    neighbor_problem : The problem of the weights of a graph.
    dualfold.NeighborMap : The estimator.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from dualfold.methods.points.neighbor_map.problem import NeighborProblem
    >>> pair = NeighborProblem(sp.csr_array([[0.0, 0.5], [0.5, 0.0]]), count=1, spread=0.1)
    >>> pair.n, pair.size
    (2, 0.2)
    """

    P: sp.csr_array
    count: int
    spread: float
    about: str = ""

    def __post_init__(self) -> None:
        if not (np.isfinite(self.spread) and self.spread > 0):
            raise InvalidInput(Argument("spread", self.spread), " must be a positive number")
        if self.spread > MAX_RESOLVED_SPREAD:
            raise InvalidInput(
                Argument("spread", self.spread),
                " makes squared distances so long that their rounding exceeds 1, and maps cannot "
                f"be compared; give {MAX_RESOLVED_SPREAD:g} at the most (beyond 50 none is proved)",
            )
        if not 1 <= self.count <= self.n - 1:
            raise InvalidInput(
                f"{self.n} points have at most {self.n - 1} coordinates; lower ",
                Argument("n_components"),
            )

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.P.shape[0])

    @property
    def size(self) -> float:
        """The sum of squares n·s of each coordinate."""
        return self.n * self.spread

    @cached_property
    def negative_entropy(self) -> float:
        """The sum Σ p log p."""
        p = self.P.data[self.P.data > 0]
        return float(np.sum(p * np.log(p)))

    @cached_property
    def degrees(self) -> Array:
        """Row sums of P."""
        return np.asarray(self.P.sum(axis=1)).ravel()


def neighbor_problem(W: sp.csr_array, *, n_components: int, spread: float) -> NeighborProblem:
    """State the problem whose affinities are proportional to the weights of a graph.

    Parameters
    ----------
    W : csr_array of shape (n, n)
        Symmetric weights, positive and finite; the diagonal is ignored.
    n_components : int
        Number of coordinates.
    spread : float
        The mean square of each coordinate.

    Returns
    -------
    NeighborProblem
        The problem.

    Raises
    ------
    InvalidInput
        If the weights are negative, not finite or all 0, or a number is out of its range.

    See Also
    --------
    dualfold.methods.neighbor_map : The problem of a graph.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from dualfold.methods.points.neighbor_map import neighbor_problem
    >>> W = sp.csr_array([[0.0, 3.0], [3.0, 0.0]])
    >>> neighbor_problem(W, n_components=1, spread=0.1).P.toarray()
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    W = sp.csr_array(W, dtype=float)
    W = sp.csr_array(W - sp.diags_array(W.diagonal()))
    W.eliminate_zeros()
    if not W.nnz or not (W.data > 0).all() or not np.isfinite(W.data).all():
        raise InvalidInput("weights must be positive and finite, and there must be some")
    W = (W + W.T) / 2
    return NeighborProblem(sp.csr_array(W / W.sum()), n_components, float(spread))


def white_basis(points: Array) -> Array:
    """The nearest centred points with orthonormal columns (the polar factor)."""
    left, sizes, right = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    kept = sizes > LEAST_SINGULAR_SHARE * sizes[0]
    if kept.all():
        return np.asarray(left @ right)
    # Points along fewer directions leave the others open, but these must be centred, too.
    n, d = points.shape
    first = np.column_stack([np.ones(n), left[:, kept], np.eye(n, d + 1)])
    return np.asarray(np.linalg.qr(first)[0][:, 1 : d + 1])


def squared_distances(Y: Array) -> Array:
    """t_ij = ‖y_i − y_j‖² by differences, so that each is known to its own last digits."""
    t = np.zeros((len(Y), len(Y)))
    for column in Y.T:
        differences = column[:, None] - column[None, :]
        t += differences * differences
    return t


def least_distance(t: Array) -> float:
    """The smallest t between different points."""
    diagonal = t.diagonal().copy()
    np.fill_diagonal(t, np.inf)
    least = float(t.min())
    np.fill_diagonal(t, diagonal)
    return least


def kernel(t: Array) -> Array:
    """exp(−t) between different points, but for a factor that makes the largest 1."""
    w = np.exp(np.minimum(least_distance(t) - t, 0.0))  # the diagonal would overflow
    np.fill_diagonal(w, 0.0)
    return np.asarray(w)


def log_sum(t: Array, w: Array) -> float:
    """log Σ exp(−t), w being the kernel."""
    return float(np.log(w.sum())) - least_distance(t)


def divergence(problem: NeighborProblem, Y: Array) -> float:
    """KL(P‖Q) of a map, in nats."""
    return sum(divergence_parts(problem, Y))


def divergence_parts(problem: NeighborProblem, Y: Array) -> tuple[float, float, float]:
    """Σ p t, log Σ exp(−t) and Σ p log p, which add up to it."""
    t = squared_distances(np.asarray(Y, dtype=float))
    return attraction(problem, t), log_sum(t, kernel(t)), problem.negative_entropy


def attraction(problem: NeighborProblem, t: Array) -> float:
    """Σ p_ij t_ij."""
    rows = np.repeat(np.arange(problem.n), np.diff(problem.P.indptr))
    return float(problem.P.data @ t[rows, problem.P.indices])


def edge_attraction(problem: NeighborProblem, Y: Array) -> float:
    """Σ p_ij t_ij, from the points that are linked alone."""
    rows = np.repeat(np.arange(problem.n), np.diff(problem.P.indptr))
    differences = Y[rows] - Y[problem.P.indices]
    return float(problem.P.data @ np.einsum("ij,ij->i", differences, differences))


@dataclass(frozen=True, eq=False)
class PairShares:
    """Q by its products.

    log_total : log Σ exp(−t)
    degrees : row sums of Q
    times : from V to Q·V
    """

    log_total: float
    degrees: Array
    times: Callable[[Array], Array]


def pair_shares(Y: Array) -> PairShares:
    """Q of the points Y: by polynomials where these are cheaper than all pairs."""
    n = len(Y)
    few = n <= MAX_PAIRED_ROWS and (n <= MAX_ALWAYS_PAIRED_ROWS or coefficient_count(Y) > n)
    if not few:
        sums = GaussianSums(Y)
        rows = sums.times(np.ones((n, 1)))[:, 0]
        total = float(rows.sum())
        if total > MIN_MEAN_KERNEL * n**2 or n > MAX_PAIRED_ROWS:
            total = max(total, sums.error)
            return PairShares(float(np.log(total)), rows / total, lambda V: sums.times(V) / total)
    t = squared_distances(Y)
    w = kernel(t)
    total = float(w.sum())
    return PairShares(log_sum(t, w), w.sum(axis=1) / total, lambda V: np.asarray(w @ V) / total)


def slope_times(problem: NeighborProblem, shares: PairShares, V: Array) -> Array:
    """M·V, M = 2·Laplacian(P − Q): the gradient in the Gram matrix."""
    degrees = problem.degrees - shares.degrees
    return np.asarray(2 * (degrees[:, None] * V - (problem.P @ V - shares.times(V))))


def slope(problem: NeighborProblem, w: Array) -> Array:
    """M itself, n×n, with M·1 = 0 to rounding."""
    M = w / (0.5 * float(w.sum()))
    rows = np.repeat(np.arange(problem.n), np.diff(problem.P.indptr))
    M[rows, problem.P.indices] -= 2 * problem.P.data
    np.fill_diagonal(M, 0.0)
    np.fill_diagonal(M, -M.sum(axis=1))
    return np.asarray(M)

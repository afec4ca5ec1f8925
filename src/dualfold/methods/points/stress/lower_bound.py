"""Lower bounds of the least stress, for weights of 1 (theorem and proof in docs/proofs.md).

With t = ‖y_i − y_j‖², a pair adds f(t) = (√t − δ)², which is convex in t, and t is linear in the
Gram matrix K = YYᵀ. Any e > 0 for a pair gives a tangent of f, and, on the distances that a point
of least stress can have, a parabola under f that touches it at t = e². So any numbers e give true
bounds, and the search for good ones (`rank_bound`) need not be trusted:

convex_bound : tangents alone; K ⪰ 0, and n·tr K = Σδ² − σ at a minimum. It holds for points in
    any number of dimensions, and is sharp where no further dimension would lower the stress.
rank_bound : parabolas; K has at most d positive eigenvalues and no others. Their sum is a
    distance from K to a fixed matrix, whose best approximation by such a K is known from its
    eigenvalues.

Both count their rounding, with u = 2⁻⁵³: sums over all pairs are off by n²u of the sum of sizes,
whatever their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from scipy.spatial.distance import cdist

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF as _U
from dualfold.trace.certificate import certify
from dualfold.trace.problem import TraceProblem
from dualfold.trace.proof.decomposition import all_eigenvalues

# Larger matrices of distances take minutes and several copies.
MAX_BOUND_ROWS = 3_000
# All eigenvalues of a matrix of this size are found in half a second.
MAX_DECOMPOSED_ROWS = 1_000
# Up to this many rows LAPACK finds leading eigenvectors faster than an iteration.
MAX_LAPACK_ROWS = 150
# Pairs that all steps of the search for parabolas look at, and the most steps.
SEARCH_PAIRS = 2_000_000
MAX_SEARCH_STEPS = 40
# Of the way to the distances of the relaxed minimum that the first step goes; what it is
# multiplied by after a step that raised the bound, and after one that did not.
FIRST_STEP_SHARE = 0.3
STEP_GROWTH = 1.2
STEP_SHRINKAGE = 0.5
LEAST_STEP_SHARE = 1e-6
# A tangent touches at no less than this share of the given distance: at 0 it would be vertical.
LEAST_TOUCHING_SHARE = 1e-3
# Parabolas touch where points lie up to this many times farther apart than their given distance;
# beyond, one pair would cost all others their curvature.
MAX_TOUCHING_RATIO = 4.0
# The tolerance of the proof of a sum of eigenvalues; any proof that is found is used.
SUM_TOLERANCE = 1e-10
# More than the rounding of the few operations that make an entry.
ENTRY_ROUNDING = 32 * _U


def convex_bound(D: Array, Y: Array) -> float:
    """A number that the stress of no points, of any dimension, falls below; −∞ where it is none.

    D : n×n distances, symmetric; Y : points near a minimum, whose distances the tangents touch at

    Tangents with slopes g < 1 (g ≤ 1 where δ = 0) give σ ≥ −Σ δ²g/(1 − g) + ⟨G, K⟩, G the Laplacian
    of g, which is taken as computed. Where this is below 0 nothing is proved.
    """
    n = len(D)
    e = np.maximum(cdist(Y, Y), LEAST_TOUCHING_SHARE * D)
    ratio = np.divide(D, e, out=np.zeros_like(D), where=e > 0)
    g = np.where(D > 0, np.minimum(1 - ratio, 1 - 2.0**-40), 1.0)
    np.fill_diagonal(g, 0.0)
    g = (g + g.T) / 2
    terms = np.where(D > 0, D**2 * g / np.where(D > 0, 1 - g, 1.0), 0.0)
    constant = -float(terms.sum()) / 2
    constant -= ((n * n + 8) * _U + ENTRY_ROUNDING) * float(np.abs(terms).sum())
    square = float((D**2).sum()) / 2
    G = np.diag(g.sum(axis=1)) - g
    if not constant + _rayleigh_quotient(G) * square / n > 0:
        return -np.inf
    least = _least_eigenvalue(G) - 2 * (n + 8) * _U * float(np.abs(g).sum(axis=1).max())
    # σ(1 + λ/n) ≥ constant + λΣδ²/n at a minimum; less of λ is less of the bound.
    rounding = (2 * n * n + 64) * _U * (abs(constant) + abs(least) * square / n)
    if not n + least > 0:
        return -np.inf
    value = (constant + least * square / n - rounding) / (1 + least / n)
    return float(value) * (1 - ENTRY_ROUNDING)


def _rayleigh_quotient(G: Array) -> float:
    """About the smallest eigenvalue of G off the vector 1, never below it."""
    return float(_edge_pairs(-G - np.abs(G).sum() / len(G) ** 2, 1)[0][0]) * -1


def _least_eigenvalue(G: Array) -> float:
    """A proved lower bound of the eigenvalues of the Laplacian G off the vector 1."""
    n = len(G)
    lift = float(np.abs(G).sum(axis=1).max())
    lifted = G + lift / n
    rounding = 4 * _U * (n + 4) * lift
    if n <= MAX_DECOMPOSED_ROWS:
        values, radii = all_eigenvalues(lifted)
        return float((values - radii).min()) - rounding
    hint = _edge_pairs(-lifted, 4)[1]
    verdict = certify(TraceProblem(lifted, None, 1, "min"), hint, tolerance=SUM_TOLERANCE)
    proved = verdict.level in ("proved", "within") and np.isfinite(verdict.bound)
    return float(verdict.bound) - rounding if proved else -np.inf


@dataclass(frozen=True, eq=False)
class QuadraticBound:
    """σ ≥ constant + 2‖M − N‖², N any matrix with at most d positive eigenvalues and no others.

    M : −½·SτS with the vector s projected out
    image : its product with s/‖s‖ before that
    constant, sizes : and the sum of sizes of what it is added up from
    error : how far rounding can have moved M in the Frobenius norm
    """

    M: Array
    image: Array
    constant: float
    sizes: float
    error: float


@dataclass(frozen=True, eq=False)
class Parabolas:
    """Parabolas under the stress of each pair, σ ≥ Σ_{i<j} a + w(t − τ)², for points that can be.

    D : given distances
    reach : upper bounds of the distances in points of least stress
    s : weights of the points, w = s_i²s_j²; s_i s_j(reach + δ) ≤ 1 for i ≠ j
    touching : e, where parabolas touch, n×n; 0 where δ = 0, where they touch at 0
    diagonal : τ_ii; t_ii = 0 is written as a parabola that is subtracted again
    """

    D: Array
    reach: Array
    s: Array
    touching: Array
    diagonal: Array

    @classmethod
    def of(cls, D: Array, stress: float, e: Array | None = None) -> Parabolas:
        """Parabolas that touch at e (None: at the given distances); points have at most `stress`.

        Points of least stress satisfy ‖y_i − ȳ‖ ≤ Σ_j δ_ij/n and |d_ij − δ_ij|² ≤ σ.
        """
        n = len(D)
        radius = D.mean(axis=1) * (1 + 2 * (n + 8) * _U)
        reach = np.minimum(np.add.outer(radius, radius), D + np.sqrt(stress) * (1 + 8 * _U))
        reach *= 1 + 8 * _U
        limits = reach + D
        if e is not None:  # w·e(reach + e)² ≤ δ, but for a few pairs, which touch nearer
            ratio = np.divide(e, D, out=np.ones_like(e), where=D > 0)
            roots = np.sqrt(np.minimum(ratio, MAX_TOUCHING_RATIO))
            limits = np.maximum(limits, (reach + np.minimum(e, MAX_TOUCHING_RATIO * D)) * roots)
        plain = cls(D, reach, _largest_weights(limits), D, np.zeros(n))
        return plain if e is None else plain.touching_at(e)._with_balanced_diagonal()

    def touching_at(self, e: Array, diagonal: Array | None = None) -> Parabolas:
        """Parabolas that touch at e, or nearer where a parabola would not stay below.

        It stays below where w·e(reach + e)² ≤ δ, as it does at e = δ.
        """
        e = np.maximum(e, LEAST_TOUCHING_SHARE * self.D) * (self.D > 0)
        rows, columns = np.nonzero(self._excess(e) > (1 - 64 * _U) * self.D)
        at, D, reach = e[rows, columns], self.D[rows, columns], self.reach[rows, columns]
        limit = D / (self.s[rows] * self.s[columns]) ** 2
        for _ in range(6):  # Newton's method from above for a convex, rising function
            height = at * (reach + at) ** 2 - (1 - 1e-9) * limit
            at = np.where(height > 0, at - height / ((reach + at) * (reach + 3 * at)), at)
        stays = at * (reach + at) ** 2 <= (1 - 64 * _U) * limit
        e[rows, columns] = np.where(stays, at, np.minimum(at, D))
        chosen = self.diagonal if diagonal is None else diagonal
        return replace(self, touching=e, diagonal=chosen)

    def _excess(self, e: Array) -> Array:
        """w·e(reach + e)²."""
        longer = self.reach + e
        longer *= longer
        longer *= e
        longer *= np.outer(self.s**2, self.s**2)
        return longer

    def _with_balanced_diagonal(self) -> Parabolas:
        """Parabolas with τ_ii that make balanced points Y, whose distances are e, fixed points.

        SY then belongs to the eigenvectors of M, and the bound is the stress of Y where its
        eigenvalues are the largest.
        """
        e = self.touching
        slope = np.divide(e - self.D, e, out=np.zeros_like(e), where=e > 0)
        return replace(self, diagonal=slope.sum(axis=1) / (2 * self.s**4))

    @cached_property
    def quadratic(self) -> QuadraticBound:
        """The sum of all parabolas, with M and its rounding.

        −½s_i s_j τ_ij is the difference of A = ½s_i s_j e² and C = (1 − δ/e)/(4s_i s_j), and
        Σ_{i<j} a = Σ_{i<j} (e − δ)² − 2‖C‖².
        """
        s, e = self.s, self.touching
        pairs = np.outer(s, s)
        off = (e - self.D) * (e > 0)
        C = np.divide(off, 4 * e * pairs, out=np.zeros_like(e), where=e > 0)
        pairs *= 0.5 * e * e
        square, slopes = float(np.vdot(off, off)), float(np.vdot(C, C))
        sizes = float(np.linalg.norm(pairs)) + np.sqrt(slopes)
        M = np.subtract(C, pairs, out=C)
        np.fill_diagonal(M, -0.5 * s**2 * self.diagonal)
        sizes += float(np.linalg.norm(np.diagonal(M)))
        unit = s / np.linalg.norm(s)
        image = M @ unit
        error = 1.01 * (ENTRY_ROUNDING + 16 * (len(s) + 8) * _U) * sizes
        left = np.outer(unit, image - unit * float(unit @ image) / 2)
        left += left.T
        M -= left
        added = float((s**4 * self.diagonal**2).sum()) / 2
        constant = square / 2 - 2 * slopes - added
        return QuadraticBound(M, image, constant, square + 2 * slopes + 2 * added, error)

    def relaxed_minimum(self, count: int) -> tuple[float, Array]:
        """About the bound, and the eigenpairs it is attained with, scaled by their values' roots.

        The best K is S⁻¹ZZᵀS⁻¹ for these Z.
        """
        values, vectors = _edge_pairs(self.quadratic.M, count)
        top = np.maximum(values, 0.0)
        M = self.quadratic.M
        tail = float(np.vdot(M, M)) - float((top**2).sum())
        return self.quadratic.constant + 2 * tail, vectors * np.sqrt(top)

    def relaxed_squares(self, Z: Array) -> Array:
        """t = k1ᵀ + 1kᵀ − 2K of the relaxed minimum; the best k need not be the diagonal of K."""
        s, length = self.s, float(np.linalg.norm(self.s))
        unit = s / length
        image = -2 * self.quadratic.image + 2 * Z @ (Z.T @ unit)
        k = (image - unit * float(unit @ image) / 2) / (length * s)
        points = Z / s[:, None]
        return np.asarray(np.add.outer(k, k) - 2 * (points @ points.T))

    def proved_bound(self, count: int) -> float:
        """Stress that no points in `count` dimensions fall below, rounding included."""
        known = self.quadratic
        n = len(known.M)
        root = max(np.sqrt(_tail_below(known.M, count)) * (1 - 4 * _U) - known.error, 0.0)
        rounding = ((n * n + 8) * _U + ENTRY_ROUNDING) * (known.sizes + 2 * root**2)
        return float(known.constant + 2 * root**2 - rounding)


def _largest_weights(limits: Array) -> Array:
    """s with s_i·s_j·limits_ij ≤ 1 for i ≠ j that no single s_i could exceed."""
    limits = limits.copy()
    np.fill_diagonal(limits, 0.0)
    longest = limits.max(axis=1)
    s = 1 / np.sqrt(np.where(longest > 0, longest, 1.0))
    for i in np.argsort(-s, kind="stable"):
        most = float((limits[i] * s).max())
        s[i] = (1 - 16 * _U) / most if most > 0 else s[i]
    return np.asarray(s)


def rank_bound(D: Array, Y: Array, count: int, stress: float, steps: int | None = None) -> float:
    """A number that the stress of no points in `count` dimensions falls below.

    D : n×n distances; Y : points near a minimum; stress : at least theirs
    steps : of the search for good parabolas (None: as many as their work allows)

    The search goes from the better of two starts, parabolas that touch at the given distances and
    at those of Y, towards the distances of the relaxed minimum. Where Y fits well, the second
    start alone often proves that no points have less stress than Y.
    """
    n = len(D)
    if steps is None:
        steps = min(MAX_SEARCH_STEPS, SEARCH_PAIRS // n**2)
    starts = (Parabolas.of(D, stress), Parabolas.of(D, stress, cdist(Y, Y)))
    minima = [(*parabolas.relaxed_minimum(count), parabolas) for parabolas in starts]
    value, Z, best = max(minima, key=lambda parabolas: parabolas[0])
    share = FIRST_STEP_SHARE
    for _ in range(steps):
        t = best.relaxed_squares(Z)
        e = np.sqrt((1 - share) * best.touching**2 + share * np.maximum(t, 0.0))
        tried = best.touching_at((e + e.T) / 2, best.diagonal - share * np.diagonal(t))
        tried_value, tried_Z = tried.relaxed_minimum(count)
        if tried_value > value:
            value, Z, best = tried_value, tried_Z, tried
            share = min(1.0, share * STEP_GROWTH)
        else:
            share *= STEP_SHRINKAGE
        if share < LEAST_STEP_SHARE or value > (1 - 1e-9) * stress:
            break
    return best.proved_bound(count)


def _edge_pairs(M: Array, count: int) -> tuple[Array, Array]:
    """The `count` largest eigenpairs of M, at most all; no more than a hint."""
    n = len(M)
    count = min(count, n)
    if n <= MAX_LAPACK_ROWS or count > n // 8:
        values, vectors = np.linalg.eigh(M)
        return values[::-1][:count], vectors[:, ::-1][:, :count]
    start = np.cos(np.arange(n) * 1.7)
    try:
        values, vectors = eigsh(M, k=count, which="LA", v0=start, tol=1e-5, maxiter=300)
    except ArpackNoConvergence as stopped:
        if len(stopped.eigenvalues) < count:
            values, vectors = np.linalg.eigh(M)
            return values[::-1][:count], vectors[:, ::-1][:, :count]
        values, vectors = stopped.eigenvalues, stopped.eigenvectors
    order = np.argsort(values)[::-1]
    return values[order], vectors[:, order]


def _tail_below(M: Array, count: int) -> float:
    """At most Σλ² but for the `count` largest positive eigenvalues of M, proved."""
    n = len(M)
    if count >= n or n <= MAX_DECOMPOSED_ROWS:
        values, radii = all_eigenvalues(M)
        rest = max(n - count, 0)
        # Eigenvalues and enclosures are both in order; of the largest, negative ones count.
        sizes = np.concatenate([np.abs(values[:rest]), -values[rest:]]) - radii
        return float(np.square(np.maximum(sizes, 0.0)).sum()) * (1 - 4 * n * _U)
    _, V = _edge_pairs(M, count + 2)
    verdict = certify(TraceProblem(M, None, count, "max"), V, tolerance=SUM_TOLERANCE)
    if verdict.level not in ("proved", "within") or not np.isfinite(verdict.bound):
        return 0.0
    Q = np.linalg.qr(V[:, :count])[0]
    square = float((M**2).sum())
    rounding = 4 * (n + 16) * _U * np.sqrt(square)
    theta = np.linalg.eigvalsh(Q.T @ (M @ Q))[::-1] - rounding
    room = max(float(verdict.bound) - float(theta.sum()), 0.0)
    # Squares are convex: with the room on the first, the sum is largest.
    top = np.maximum(theta, 0.0)
    upper = (top[0] + room) ** 2 + float(np.square(top[1:]).sum())
    return max(square * (1 - (n * n + 8) * _U) - upper * (1 + 16 * _U), 0.0)

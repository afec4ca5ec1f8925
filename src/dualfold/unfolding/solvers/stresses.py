"""Weights that bound every K, from weights that bound only the K of a face.

On a face that keeps cliques rigid, weights stay small at small gaps; but S = L(w) − M ⪰ 0 holds on
the face alone. Every dependency a of a clique (Ka = 0, Σ a_i = 0, `rigid`) brings Laplacians of the
clique's edges, for each b with Σ b_i = 0 on its points:

    abᵀ + baᵀ      whose Σ w d² is ⟨abᵀ + baᵀ, K⟩ = 0, and which are 0 on the face,

and aaᵀ, which is semidefinite as well. So they change S beside the face and cost nothing. In a
basis of the face and the basis that is dual to the dependencies,

    S = [ F  C ]        abᵀ + baᵀ changes the one column of C that belongs to a,
        [ Cᵀ D ]        q·aaᵀ the one entry of D.

S ⪰ 0 needs D ⪰ CᵀF⁻¹C. First each column of C is brought as near to 0 as three or four numbers
can, in the metric F⁻¹; then multiples q of aaᵀ balance what is left. F is made larger before, by a
multiple of the weights: its smallest eigenvalues are those of the gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem

# Multiples of aaᵀ are this many times what the balance needs.
BALANCE_RATIO = 1.5
# Directions of b that the face hardly sees are left out of a least-squares problem.
SEEN_SHARE = 1e-12


@dataclass(frozen=True, eq=False)
class _Stress:
    """A dependency on the points of a clique, and the clique's edges by their two ends there."""

    points: Array
    shares: Array
    edges: Array
    ends: tuple[Array, Array]

    def weights(self, laplacian: Array) -> Array:
        """The weights of its edges that have this Laplacian."""
        return np.asarray(-laplacian[self.ends])


@dataclass(frozen=True, eq=False)
class _Blocks:
    """Parts of S that `balanced_weights` needs: the factor of F, E⁻¹C with F = EEᵀ, and D."""

    factor: Array
    across: Array
    rest: Array


class Stresses:
    """The dependencies of a problem's cliques, beside the face that they leave.

    rows : `rigid.clique_dependencies`
    basis : of the face, in coordinates √mass·y
    """

    def __init__(self, problem: UnfoldingProblem, rows: sp.csr_array, basis: Array) -> None:
        root = np.sqrt(problem.mass)[:, None]
        self.problem = problem
        self.places = basis / root
        self.dual = np.linalg.pinv(rows.toarray() / root.T) / root
        keys = problem.edges[:, 0] * problem.n + problem.edges[:, 1]
        self.stresses = [self._stress(rows, k, keys) for k in range(rows.shape[0])]

    def _stress(self, rows: sp.csr_array, k: int, keys: Array) -> _Stress:
        inside = slice(rows.indptr[k], rows.indptr[k + 1])
        order = np.argsort(rows.indices[inside])
        points, shares = rows.indices[inside][order].astype(np.intp), rows.data[inside][order]
        i, j = np.array(list(combinations(range(len(points)), 2))).T
        edges = np.searchsorted(keys, points[i] * self.problem.n + points[j])
        return _Stress(points, shares, edges, (i, j))

    def balanced_weights(self, weights: Array, margin: float) -> Array | None:
        """Weights for every K, with Σ w d² larger by the share `margin` of that of the face.

        None where S is not definite on the face, to rounding.
        """
        w = (1 + margin) * weights
        blocks = self._blocks(w)
        if blocks is None:
            return None
        across = scipy.linalg.solve_triangular(blocks.factor, self.places.T, lower=True)
        for stress, column in zip(self.stresses, blocks.across.T, strict=True):
            a = stress.shares
            free = np.linalg.svd(np.vstack([np.ones(len(a)), a]))[2][2:].T
            seen = across[:, stress.points] @ free
            b = free @ np.linalg.lstsq(seen, -column, rcond=SEEN_SHARE)[0]
            w[stress.edges] += stress.weights(np.outer(a, b) + np.outer(b, a))
        blocks = self._blocks(w)
        if blocks is None:
            return None
        for stress, q in zip(self.stresses, _balance(blocks), strict=True):
            w[stress.edges] += stress.weights(q * np.outer(stress.shares, stress.shares))
        return w

    def _blocks(self, weights: Array) -> _Blocks | None:
        laplacian, mass = self.problem.laplacian(weights), self.problem.mass[:, None]
        beside = laplacian @ self.dual
        on_face = self.places.T @ (laplacian @ self.places)
        on_face.flat[:: len(on_face) + 1] -= 1
        try:
            factor = np.linalg.cholesky(on_face)
        except np.linalg.LinAlgError:
            return None
        across = scipy.linalg.solve_triangular(factor, self.places.T @ beside, lower=True)
        return _Blocks(factor, across, self.dual.T @ (beside - mass * self.dual))


def _balance(blocks: _Blocks) -> Array:
    """q ≥ 0 with diag(q) ⪰ CᵀF⁻¹C − D.

    Multiples in the ratio of the norms of the columns of E⁻¹C: in the ratio of their squares the
    largest would be a hundred times as large, and equal ones would all be as large as the largest.
    Either costs digits, because weights are rounded to doubles.
    """
    needed = blocks.across.T @ blocks.across - blocks.rest
    sizes = np.sqrt(np.sum(blocks.across**2, axis=0) + np.abs(np.diagonal(blocks.rest)))
    root = np.sqrt(sizes)
    largest = np.linalg.eigvalsh(needed / root / root[:, None])[-1]
    return np.asarray(BALANCE_RATIO * max(0.0, float(largest)) * sizes)

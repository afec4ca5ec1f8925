"""Equal lengths kept by stiff springs, solved by an interior point in doubles.

    maximise tr K − ½ Σ_e (q_e − d_e²)²/t_e          K ⪰ 0,  q_e = K_ii + K_jj − 2K_ij
    minimise Σ w d² + ½ Σ t w²                       S = L(w) − M ⪰ 0,  any signs

Equal lengths alone have no interior (a clique of more points than dimensions fixes a singular
block of K), and their dual need not be attained. With the compliances t > 0 both sides have
an interior and one solution each, with q = d² + tw. Steps are as in `interior_point`; the Schur
matrix gets t on its diagonal and is scaled to a unit diagonal, because late on its entries differ
by ten orders of magnitude.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lapack

from dualfold.arrays import Array
from dualfold.unfolding.solvers.interior_point import CentralPath, PrimalDualPair
from dualfold.unfolding.solvers.semidefinite import (
    edge_products,
    longest_step,
    lower_factor,
    mehrotra_ratio,
    step_shares,
)

# Shares of the way to the boundary, by how far the predictor got.
BOUNDARY_SHARE = 0.9
MAX_BOUNDARY_SHARE = 0.99
MAX_STEPS = 60
# Where Cholesky breaks down this is added to the unit diagonal, four times as much each time.
FIRST_RIDGE = 1e-15
EIGENBASIS_GAP = 0.1  # from this gap on, products are formed in the eigenbasis of X


@dataclass(frozen=True, eq=False)
class ElasticPoint:
    """X in coordinates √mass·y, weights w, and S = L(w) − I off √mass."""

    X: Array
    weights: Array
    S: Array

    @property
    def gap(self) -> float:
        """⟨X, S⟩/tr X: the gap of the problem with the lengths that X has."""
        return float(np.sum(self.X * self.S) / np.trace(self.X))


def elastic_point(path: CentralPath, softness: float, enough: float) -> tuple[ElasticPoint, Array]:
    """The point that steps in doubles reach, until the gap is `enough`, and t = softness·d⁴/c.

    c is the bound of the first weights: then tw/d² does not depend on units.
    """
    squared = path.problem.squared
    best = elastic_first(path)
    compliance = softness * squared**2 / float(best.weights @ squared)
    for here in elastic_steps(path, best, compliance):
        best = here if here.gap < 10 * best.gap else best
        if here.gap < enough or float(here.weights @ squared) < 0:
            break
    return best, compliance


def elastic_steps(
    path: CentralPath, first: ElasticPoint, compliance: Array
) -> Iterator[ElasticPoint]:
    """The points after each step in doubles, until rounding ends them, MAX_STEPS at most."""
    here = first
    for _ in range(MAX_STEPS):
        following = _step(path, here, compliance)
        if following is None or not np.isfinite(following.gap):
            return
        here = following
        yield here


def elastic_first(path: CentralPath) -> ElasticPoint:
    """Weights inside the cone, the same for edges of the same length, and X that suits them."""
    w, S, inverse = path.first_weights()
    size = float(path.problem.squared.sum() / path.edge_values(inverse).sum())
    return ElasticPoint(size * inverse, w, S)


def _step(path: CentralPath, here: ElasticPoint, compliance: Array) -> ElasticPoint | None:
    """Predictor and corrector step; None when rounding has spoiled the matrices."""
    p, X, w, S = path.problem, here.X, here.weights, here.S
    factor_S, factor_X = lower_factor(S + path.along), lower_factor(X + path.along)
    if factor_S is None or factor_X is None:
        return None
    inverse = path.inverse_off_u(factor_S)
    solve = _schur(p.edges, path.in_point_units(X), path.in_point_units(inverse), compliance)
    products = float(np.sum(X * S))
    mu = products / (p.n - 1)
    pair = PrimalDualPair.of(X, inverse, late=here.gap < EIGENBASIS_GAP)

    def direction(level: float, affine: tuple[Array, sp.csr_array] | None) -> tuple[Any, ...]:
        ideal = level * inverse
        if affine is not None:
            ideal = ideal - pair.product(*affine)
        change = solve(path.edge_values(ideal) - p.squared - compliance * w)
        dS = path.scaled_laplacian(change)
        return path.without_u(ideal - X - pair.product(None, dS)), dS, change

    def reach(move: tuple[Any, ...], share: float) -> tuple[float, float]:
        primal, dual = longest_step(factor_X, move[0]), longest_step(factor_S, move[1])
        return step_shares(share, primal, dual)

    affine = direction(0.0, None)
    primal, dual = reach(affine, 1.0)
    after = float(np.sum((X + primal * affine[0]) * (S + dual * affine[1].toarray())))
    target = mehrotra_ratio(products, after, primal, dual) * mu
    move = direction(target, affine[:2])
    primal, dual = reach(
        move, BOUNDARY_SHARE + (MAX_BOUNDARY_SHARE - BOUNDARY_SHARE) * min(primal, dual)
    )
    w = w + dual * move[2]
    return ElasticPoint(X + primal * move[0], w, path.scaled_laplacian(w).toarray() - path.centring)


def _schur(edges: Array, K: Array, R: Array, diagonal: Array) -> Callable[[Array], Array]:
    """Solves with the Schur matrix, ridged where rounding has made it indefinite."""
    H = edge_products(edges, K, R)
    m = len(edges)
    H = np.tril(H)
    H.flat[:: m + 1] += diagonal
    scale = 1 / np.sqrt(np.diagonal(H))
    H *= scale[:, None] * scale
    full = H + np.tril(H, -1).T
    ridge, status = FIRST_RIDGE, 1
    while status:
        H.flat[:: m + 1] = 1 + ridge
        factor, status = lapack.dpotrf(H, lower=1, clean=0)
        ridge *= 4

    def solve(rhs: Array) -> Array:
        x = lapack.dpotrs(factor, scale * rhs, lower=1)[0]
        x = x + lapack.dpotrs(factor, scale * rhs - full @ x, lower=1)[0]
        return np.asarray(scale * x)

    return solve

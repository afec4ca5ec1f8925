"""Equal lengths where every K with these lengths lives: an interior point in doubles.

With a basis U of the vectors off all dependencies (`rigid`), K = UZUᵀ, and of the lengths only
independent ones are left (of the ten of a clique of five points in space, six):

    maximise tr Z   subject to  c_eᵀZc_e = d_e² + t_e w_e,  Z ≻ 0,      c_e = Uᵀ(e_i − e_j)
    minimise Σ w d² + ½ Σ t w²   subject to  S = Σ w_e c_e c_eᵀ − I ≻ 0

Directions are those of Nesterov and Todd, GᵀSG = G⁻¹ZG⁻ᵀ = diag(d), with Mehrotra's corrector.
Z and S are kept as products of factors and never formed, so that their small eigenvalues stay
good: between the largest and the smallest are fourteen orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import lapack

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solvers.positive_step import longest_step, lower_factor

START = 2.0  # how far λ₂ of the first weights lies above 1
SHARE, MOST_SHARE = 0.9, 0.99  # of the way to the boundary, by how far the predictor got
# Where Cholesky breaks down this is added to the unit diagonal, four times as much each time.
RIDGE = 1e-15
# A row of C is independent of others when this much of its square is left (on rolls 1e-6 and more
# is, or 1e-13).
INDEPENDENT = 1e-10
SOFTNESS = 1e-15  # of t, in units of d⁴ over the first bound


@dataclass(frozen=True, eq=False)
class Face:
    """The basis U (columns, in coordinates √mass·y) and the edges whose lengths are independent."""

    basis: Array
    edges: Array
    rows: Array  # c_e of those edges


def face_of(problem: UnfoldingProblem, dependencies: sp.csr_array) -> Face:
    """Where K lives, and which lengths say all there is to say of it."""
    root = np.sqrt(problem.mass)
    off = np.vstack([root / np.linalg.norm(root), dependencies.toarray() / root])
    U = np.linalg.qr(off.T, mode="complete")[0][:, len(off) :]
    i, j = problem.edges.T
    places = U / root[:, None]
    C = places[i] - places[j]
    unit = C / np.linalg.norm(C, axis=1, keepdims=True)
    H = unit @ unit.T
    np.square(H, out=H)
    pivots, rank = lapack.dpstrf(H, lower=1, tol=INDEPENDENT, overwrite_a=1)[1:3]
    kept = np.sort(pivots[:rank] - 1)
    return Face(U, kept, C[kept])


@dataclass(frozen=True, eq=False)
class FacePoint:
    """Z = FFᵀ, S = EEᵀ, the weights, the gap ⟨Z, S⟩/tr Z; `off`: how far lengths are off."""

    F: Array
    E: Array
    weights: Array
    gap: float
    off: float


def first_point(face: Face, squared: Array) -> FacePoint:
    """Weights inside the cone, the same for edges of the same length, and Z that suits them."""
    C, even = face.rows, 1.0 / np.sqrt(squared)
    laplacian = (C.T * even) @ C
    least = float(np.linalg.eigvalsh(laplacian)[0])
    w = START * even / least
    S = START / least * laplacian - np.eye(C.shape[1])
    E = np.linalg.cholesky(S)
    F = scipy.linalg.solve_triangular(E, np.eye(len(E)), lower=True).T
    lengths = np.sum((C @ F) ** 2, axis=1)
    return FacePoint(np.sqrt(squared.sum() / lengths.sum()) * F, E, w, np.inf, np.inf)


def face_steps(face: Face, squared: Array, first: FacePoint) -> Iterator[FacePoint]:
    """Points along the path, until rounding ends it."""
    compliance = SOFTNESS * squared**2 / float(first.weights @ squared)
    here: FacePoint | None = first
    while here is not None:
        here = _step(face.rows, squared, compliance, here)
        if here is not None:
            yield here


class _Scaled:
    """Z and S where both are diag(d), and the edges there."""

    def __init__(self, C: Array, squared: Array, compliance: Array, here: FacePoint) -> None:
        product = here.E.T @ here.F
        values, Q = np.linalg.eigh(product.T @ product)
        self.d = d = np.sqrt(np.maximum(values, np.finfo(float).tiny))
        self.G = here.F @ Q / np.sqrt(d)
        self.inverse = here.E @ (product @ Q / d) / np.sqrt(d)  # G⁻ᵀ
        self.V = C @ self.G
        self.solve = _schur(self.V, compliance)
        own = np.sum((self.V * np.sqrt(d)) ** 2, axis=1)
        self.away = own - squared - compliance * here.weights
        self.root = np.diag(np.sqrt(d))

    def direction(self, level: float, affine: tuple | None) -> tuple[Array, Array, Array]:
        """Changes of Z, S and w towards ZS = level·I; `affine` is that of level 0."""
        d, V = self.d, self.V
        ideal = np.diag(level / d - d)
        if affine is not None:
            ideal -= (affine[0] @ affine[1] + affine[1] @ affine[0]) / (d[:, None] + d)
        change = self.solve(self.away + np.sum((V @ ideal) * V, axis=1))
        dS = (V.T * change) @ V
        return ideal - dS, dS, change

    def reach(self, move: tuple[Array, Array, Array], share: float) -> tuple[float, float]:
        """The shares of a move that Z and S can go."""
        primal, dual = longest_step(self.root, move[0]), longest_step(self.root, move[1])
        return min(1.0, share * primal), min(1.0, share * dual)


def _step(C: Array, squared: Array, compliance: Array, here: FacePoint) -> FacePoint | None:
    """One predictor and corrector; None when rounding has spoiled the matrices."""
    at = _Scaled(C, squared, compliance, here)
    D = np.diag(at.d)
    affine = at.direction(0.0, None)
    a, b = at.reach(affine, 1.0)
    before = float(at.d @ at.d)
    after = float(np.sum((D + a * affine[0]) * (D + b * affine[1])))
    left = min(1.0, max(after / before, 1e-10) ** max(2.0, 3 * min(a, b) ** 2))
    move = at.direction(left * before / len(D), affine[:2])
    a, b = at.reach(move, SHARE + (MOST_SHARE - SHARE) * min(a, b))
    inner_Z, inner_S = lower_factor(D + a * move[0]), lower_factor(D + b * move[1])
    if inner_Z is None or inner_S is None:
        return None
    return _at(C, squared, at.G @ inner_Z, at.inverse @ inner_S, here.weights + b * move[2])


def _at(C: Array, squared: Array, F: Array, E: Array, weights: Array) -> FacePoint:
    gap = float(np.sum((E.T @ F) ** 2) / np.sum(F**2))
    lengths = np.sum((C @ F) ** 2, axis=1)
    return FacePoint(F, E, weights, gap, float(np.max(np.abs(lengths / squared - 1))))


def _schur(V: Array, compliance: Array) -> Callable[[Array], Array]:
    """Solves with (VVᵀ)∘² + diag(t), ridged where rounding has made it indefinite."""
    H = V @ V.T
    np.square(H, out=H)
    H.flat[:: len(H) + 1] += compliance
    scale = 1 / np.sqrt(np.diagonal(H))
    H *= scale[:, None] * scale
    ridge, status = 0.0, 1
    while status:
        factor = H.copy()
        factor.flat[:: len(H) + 1] += ridge
        factor, status = lapack.dpotrf(factor.T, lower=0, clean=0, overwrite_a=1)
        ridge = max(RIDGE, 4 * ridge)

    def solve(rhs: Array) -> Array:
        x = lapack.dpotrs(factor, scale * rhs, lower=0)[0]
        x = x + lapack.dpotrs(factor, scale * rhs - H @ x, lower=0)[0]
        return np.asarray(scale * x)

    return solve

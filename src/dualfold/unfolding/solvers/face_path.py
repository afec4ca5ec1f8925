"""Equal lengths on the smallest face that holds every K with these lengths: an interior point.

With a basis U of the vectors orthogonal to all dependencies (`rigid`), K = UZUᵀ, and of the
lengths only independent ones are left (of the ten of a clique of five points in space, six):

    maximise tr Z   subject to  c_eᵀZc_e = d_e² + t_e w_e,  Z ≻ 0,      c_e = Uᵀ(e_i − e_j)
    minimise Σ w d² + ½ Σ t w²   subject to  S = Σ w_e c_e c_eᵀ − I ≻ 0

Directions are those of Nesterov and Todd, GᵀSG = G⁻¹ZG⁻ᵀ = diag(d), with Mehrotra's corrector.
Z and S are kept as products of factors and never formed, so that their small eigenvalues stay
good: between the largest and the smallest are fourteen orders.

A full step has the given lengths, to rounding: they are linear in Z. Places that are nearly rigid
(three points nearly on a line) make combinations of lengths nearly dependent, and the Schur
matrix has eigenvalues below 10⁻¹⁵ of the largest. Where doubles leave lengths off, it is formed
and factorised in double-doubles, and so is the change of S, which sums up weights of 10¹⁰. All
else is in doubles: lengths are good to 10⁻¹³ (docs/dev/notes/unfolding-equal-lengths.md).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.linalg import lapack

from dualfold.arrays import Array
from dualfold.kernels.arithmetic.double_double import (
    DoubleDouble,
    backward,
    cholesky,
    forward,
    products,
)
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solvers.semidefinite import (
    longest_step,
    lower_factor,
    mehrotra_ratio,
    step_shares,
)

FIRST_EIGENVALUE = 2.0  # λ₂ of the first weights
# Shares of the way to the boundary, by how far the predictor got.
BOUNDARY_SHARE = 0.9
MAX_BOUNDARY_SHARE = 0.99
# Added to the unit diagonal in doubles, four times as much each time that Cholesky breaks down: a
# factor whose pivots are all rounding has meaningless solutions (the note has other values).
FIRST_RIDGE = 1e-14
# A row of C is independent of others when this much of its square is left.
INDEPENDENT_SHARE = 1e-10
# t in units of d⁴ over the first bound: in doubles, and in double-doubles, which come so near to
# the given lengths that 1e-15 would be visible in them.
SPRING_COMPLIANCE = 1e-15
PRECISE_COMPLIANCE = 1e-17
# Doubles do not resolve the Schur matrix when the lengths stay off by more than this share of what
# they were off before, and by more than RESOLVED_TOLERANCE of d².
UNRESOLVED_SHARE = 0.3
RESOLVED_TOLERANCE = 1e-10
# From a misfit to the change of w that takes it away, and to V^T diag(w) V.
Solver = Callable[[Array], tuple[Array, Array]]
CHUNK_ROWS = 256  # rows of a product in double-doubles in one chunk


@dataclass(frozen=True, eq=False)
class Face:
    """The basis U (columns, in coordinates √mass·y) and the edges whose lengths are independent."""

    basis: Array
    edges: Array
    rows: Array  # c_e of those edges


def face_of(problem: UnfoldingProblem, dependencies: sp.csr_array) -> Face:
    """The face that holds K, and independent lengths that determine all others."""
    root = np.sqrt(problem.mass)
    U = face_basis(problem, dependencies.toarray())
    i, j = problem.edges.T
    places = U / root[:, None]
    C = places[i] - places[j]
    unit = C / np.linalg.norm(C, axis=1, keepdims=True)
    H = unit @ unit.T
    np.square(H, out=H)
    pivots, rank = lapack.dpstrf(H, lower=1, tol=INDEPENDENT_SHARE, overwrite_a=1)[1:3]
    kept = np.sort(pivots[:rank] - 1)
    return Face(U, kept, C[kept])


def face_basis(problem: UnfoldingProblem, dependencies: Array) -> Array:
    """Orthonormal columns √mass·y that are orthogonal to all dependencies, and to the masses."""
    root = np.sqrt(problem.mass)
    off = np.vstack([root / np.linalg.norm(root), dependencies / root])
    return np.asarray(np.linalg.qr(off.T, mode="complete")[0][:, len(off) :])


@dataclass(frozen=True, eq=False)
class FacePoint:
    """Z = FFᵀ, S = EEᵀ, the weights, the gap ⟨Z, S⟩/tr Z.

    off : how far lengths are off, as a share of d² at most
    precise : whether doubles have left lengths off, so that the next steps are in double-doubles
    """

    F: Array
    E: Array
    weights: Array
    gap: float
    off: float
    precise: bool = False


class FacePath:
    """The constants of one problem: rows c_e, lengths d² and the unit of compliances t."""

    def __init__(self, face: Face, squared: Array) -> None:
        self.rows, self.squared = face.rows, squared
        self.first = self._first()
        self.unit = squared**2 / float(self.first.weights @ squared)

    def _first(self) -> FacePoint:
        """Weights inside the cone, the same for edges of the same length, and Z that suits them."""
        C, even = self.rows, 1.0 / np.sqrt(self.squared)
        laplacian = (C.T * even) @ C
        least = float(np.linalg.eigvalsh(laplacian)[0])
        w = FIRST_EIGENVALUE * even / least
        E = np.linalg.cholesky(FIRST_EIGENVALUE / least * laplacian - np.eye(C.shape[1]))
        F = scipy.linalg.solve_triangular(E, np.eye(len(E)), lower=True).T
        size = float(self.squared.sum() / np.sum((C @ F) ** 2))
        return FacePoint(np.sqrt(size) * F, E, w, np.inf, np.inf)

    def step(self, here: FacePoint, least_gap: float) -> FacePoint | None:
        """Predictor and corrector step, to a gap not below `least_gap`.

        None when rounding has spoiled the matrices.
        """
        at = _Scaled(self, here)
        D = np.diag(at.d)
        affine = at.direction(0.0, None)
        a, b = at.reach(affine, 1.0)
        before = float(at.d @ at.d)
        after = float(np.sum((D + a * affine[0]) * (D + b * affine[1])))
        level = max(
            mehrotra_ratio(before, after, a, b) * before, least_gap * float(np.sum(here.F**2))
        ) / len(D)
        move = at.direction(level, affine[:2])
        a, b = at.reach(move, BOUNDARY_SHARE + (MAX_BOUNDARY_SHARE - BOUNDARY_SHARE) * min(a, b))
        inner_Z, inner_S = lower_factor(D + a * move[0]), lower_factor(D + b * move[1])
        if inner_Z is None or inner_S is None:
            return None
        F, E = at.G @ inner_Z, at.inverse @ inner_S
        gap = float(np.sum((E.T @ F) ** 2) / np.sum(F**2))
        off = self._share(np.sum((self.rows @ F) ** 2, axis=1) - self.squared)
        unsolved = self._share(at.misfit(move[0], move[2]))
        precise = here.precise or unsolved > max(UNRESOLVED_SHARE * here.off, RESOLVED_TOLERANCE)
        return FacePoint(F, E, here.weights + b * move[2], gap, off, precise)

    def bounds(self, weights: Array, margin: float) -> bool:
        """Whether weights larger by this share bound every Z, to rounding: S ≻ 0."""
        C = self.rows
        S = (C.T * ((1 + margin) * weights)) @ C
        S.flat[:: len(S) + 1] -= 1
        return lower_factor(S) is not None

    def _share(self, misfit: Array) -> float:
        return float(np.max(np.abs(misfit) / self.squared, initial=0.0))


class _Scaled:
    """Z and S where both are diag(d), and the edges there."""

    def __init__(self, path: FacePath, here: FacePoint) -> None:
        product = here.E.T @ here.F
        values, Q = np.linalg.eigh(product.T @ product)
        self.d = d = np.sqrt(np.maximum(values, np.finfo(float).tiny))
        self.G = here.F @ Q / np.sqrt(d)
        self.inverse = here.E @ (product @ Q / d) / np.sqrt(d)  # G⁻ᵀ
        self.V = path.rows @ self.G
        self.compliance = (PRECISE_COMPLIANCE if here.precise else SPRING_COMPLIANCE) * path.unit
        self.solve = (_precise_schur if here.precise else _schur)(self.V, self.compliance)
        sizes = np.sum((self.V * np.sqrt(d)) ** 2, axis=1)
        self.away = sizes - path.squared - self.compliance * here.weights
        self.root = np.diag(np.sqrt(d))

    def direction(self, level: float, affine: tuple[Any, ...] | None) -> tuple[Array, Array, Array]:
        """Changes of Z, S and w towards ZS = level·I; `affine` is that of level 0."""
        d = self.d
        ideal = np.diag(level / d - d)
        if affine is not None:
            ideal -= (affine[0] @ affine[1] + affine[1] @ affine[0]) / (d[:, None] + d)
        change, dS = self.solve(self.misfit(ideal, 0.0))
        return ideal - dS, dS, change

    def misfit(self, dZ: Array, change: Array | float) -> Array:
        """Error of lengths after changes of Z and w."""
        moved = np.sum((self.V @ dZ) * self.V, axis=1)
        return np.asarray(self.away + moved - self.compliance * change)

    def reach(self, move: tuple[Array, Array, Array], share: float) -> tuple[float, float]:
        """The shares of a move that Z and S can go."""
        primal, dual = longest_step(self.root, move[0]), longest_step(self.root, move[1])
        return step_shares(share, primal, dual)


def _schur(V: Array, compliance: Array) -> Solver:
    """Solves with (VVᵀ)∘² + diag(t), ridged against its rounding."""
    H = V @ V.T
    np.square(H, out=H)
    H.flat[:: len(H) + 1] += compliance
    scale = 1 / np.sqrt(np.diagonal(H))
    H *= scale[:, None] * scale
    ridge, status = FIRST_RIDGE, 1
    while status:
        factor = H.copy()
        factor.flat[:: len(H) + 1] += ridge
        factor, status = lapack.dpotrf(factor.T, lower=0, clean=0, overwrite_a=1)
        ridge *= 4

    def solve(rhs: Array) -> tuple[Array, Array]:
        x = lapack.dpotrs(factor, scale * rhs, lower=0)[0]
        x = scale * (x + lapack.dpotrs(factor, scale * rhs - H @ x, lower=0)[0])
        weighted = (V.T * x) @ V
        return x, (weighted + weighted.T) / 2  # a Cholesky factor sees one half of it

    return solve


def _precise_schur(V: Array, compliance: Array) -> Solver:
    """Schur matrix in double-doubles."""
    both = np.diag_indices(len(V))
    H = _lower_products(DoubleDouble(V), DoubleDouble(V))
    for first in range(0, len(V), CHUNK_ROWS):  # a product has ten arrays on the way
        rows = slice(first, first + CHUNK_ROWS)
        H.put(rows, H[rows] * H[rows])
    H.put(both, H[both] + DoubleDouble(compliance))
    factor = cholesky(H)
    if factor is None:
        return _schur(V, compliance)
    columns = DoubleDouble(V.T)

    def solve(rhs: Array) -> tuple[Array, Array]:
        x = backward(factor, forward(factor, DoubleDouble(rhs[None])))
        half = _lower_products(columns, columns * x).high
        return x.high[0], np.tril(half) + np.tril(half, -1).T

    return solve


def _lower_products(A: DoubleDouble, B: DoubleDouble) -> DoubleDouble:
    """The lower triangle of ABᵀ."""
    size = len(A.high)
    out = DoubleDouble(np.zeros((size, size)))
    for first in range(0, size, CHUNK_ROWS):
        stop = min(size, first + CHUNK_ROWS)
        out.put((slice(first, stop), slice(0, stop)), products(A[first:stop], B[:stop]))
    return out

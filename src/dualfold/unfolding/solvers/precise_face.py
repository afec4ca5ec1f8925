"""The path of `face_path` in double-doubles: for the last digits of the lengths.

What else than cliques is rigid, or nearly so, leaves Z with eigenvalues down to 10⁻¹², and the
square of that in the Schur matrix: in doubles lengths stay off by 10⁻⁷. Here they go on towards
those asked, at a gap that is held (nothing is won below that of the weights).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.pairs import Pairs, backward, cholesky, forward, inverse, products
from dualfold.unfolding.solvers.face_path import Face, FacePoint
from dualfold.unfolding.solvers.precise_path import longest

SHARE, MOST_SHARE = 0.9, 0.99  # of the way to the boundary, by how far the predictor got
LEAST_SOFTNESS = 1e-16  # of the springs, in units of d⁴ over the bound


class PreciseFace:
    """The constants of one solve: rows c_e and lengths d²."""

    def __init__(self, face: Face, squared: Array, first: FacePoint) -> None:
        self.basis, self.squared = face.basis, squared
        self.rows = Pairs(np.ascontiguousarray(face.rows))
        self.columns = Pairs(np.ascontiguousarray(face.rows.T))
        F = Pairs(np.ascontiguousarray(first.F))
        self.Z = products(F, F).symmetric()
        self.weights = Pairs(first.weights)
        self.compliance = LEAST_SOFTNESS * squared**2 / float(first.weights @ squared)

    @property
    def points(self) -> Array:
        """UZ^½ in doubles, the largest column first."""
        values, vectors = np.linalg.eigh(self.Z.high)
        sizes = np.sqrt(np.maximum(values[::-1], 0.0))
        return self.basis @ (vectors[:, ::-1] * sizes)

    def steps(self, gap: float) -> Iterator[Array]:
        """Points ever nearer to the lengths, at a gap not below `gap`, until rounding ends it."""
        while self._step(gap):
            yield self.points

    def _step(self, gap: float) -> bool:
        Z, S = self.Z, self._laplacian(self.weights) - Pairs(np.eye(len(self.Z.high)))
        factor_Z, factor_S = cholesky(Z), cholesky(S)
        if factor_Z is None or factor_S is None:
            return False
        R = inverse(factor_S)
        solve = self._schur(R)
        if solve is None:
            return False
        asked = Pairs(self.squared) + self.weights * self.compliance

        def direction(level: float, affine: tuple | None) -> tuple[Pairs, Pairs, Pairs]:
            ideal = R * level
            if affine is not None:
                ideal = ideal - products(products(affine[0], affine[1]), R).symmetric()
            change = solve(self._lengths(ideal) - asked)
            dS = self._laplacian(change)
            return ideal - Z - products(products(Z, dS), R).symmetric(), dS, change

        def reach(move: tuple[Pairs, Pairs, Pairs], share: float) -> tuple[float, float]:
            primal, dual = longest(factor_Z, move[0]), longest(factor_S, move[1])
            return min(1.0, share * primal), min(1.0, share * dual)

        affine = direction(0.0, None)
        a, b = reach(affine, 1.0)
        before = (Z * S).total()
        after = ((Z + affine[0] * a) * (S + affine[1] * b)).total()
        left = min(1.0, max(after / before, 1e-10) ** max(2.0, 3 * min(a, b) ** 2))
        level = max(left * before, gap * float(np.trace(Z.high))) / len(Z.high)
        move = direction(level, affine[:2])
        a, b = reach(move, SHARE + (MOST_SHARE - SHARE) * min(a, b))
        self.Z, self.weights = (Z + move[0] * a).symmetric(), self.weights + move[2] * b
        return True

    def _laplacian(self, w: Pairs) -> Pairs:
        weighted = self.columns * Pairs(w.high[None], w.low[None])
        return products(self.columns, weighted).symmetric()

    def _lengths(self, A: Pairs) -> Pairs:
        return (products(self.rows, A) * self.rows).row_sums()

    def _schur(self, R: Pairs) -> Callable[[Pairs], Pairs] | None:
        """Solves with (c_eᵀZc_f)(c_eᵀRc_f) + diag(t); None where that is not definite."""
        H = products(products(self.rows, self.Z), self.rows)
        H = H * products(products(self.rows, R), self.rows)
        both = np.diag_indices(len(self.squared))
        H.put(both, H[both] + Pairs(self.compliance))
        factor = cholesky(H)
        if factor is None:
            return None
        return lambda rhs: backward(factor, forward(factor, rhs[None]))[0]

"""Unfolding inside the span of a few directions: a small convex program, solved by Newton.

    maximise  tr Q + μ Σ_e log(d_e² − φ_eᵀQφ_e) + ν log det Q,   K = ΦQΦᵀ

ν = mμ/p: with less, Q reaches the boundary of the cone before it has rotated the right way, and
stays there. Φ is n×p and diag(m)-orthonormal, φ_e = Φ_i − Φ_j. The program in Q is convex, so
the best use of the given directions is found. The low-rank solver starts from it, and landmarks
end with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy.linalg as sla

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem

# Eigenvalues of Q that only the log det holds up are ν/(λ − 1), λ > 1 an eigenvalue of L(w)
# in the span: of size ν. Directions this many times above are in use.
IN_USE_RATIO = 3.0
STAGE_RATIO = 0.2  # of μ from stage to stage
BOUNDARY_SHARE = 0.95  # share of the way there that a step may go
CENTRED_DECREMENT = 0.05  # decrement/(mμ) at which a stage ends
MAX_STEPS_PER_STAGE = 25
MAX_STAGES = 40
ARMIJO_SHARE = 1e-4  # Armijo's constant of sufficient decrease
MAX_HALVINGS = 40
DEPENDENT_TOLERANCE = (
    1e-10  # directions this close to the span of the others, relatively, are dropped
)
CHUNK_NUMBERS = 4_000_000  # entries of the feature matrix in one chunk (32 MB)


@dataclass(frozen=True, eq=False)
class SpanPoint:
    """Q in the span, the slacks of the edges, and μ."""

    Q: Array
    slack: Array
    mu: float

    @property
    def nu(self) -> float:
        """ν: the log det takes as large a share of the gap as all edges do."""
        return self.mu * len(self.slack) / len(self.Q)


@dataclass(frozen=True, eq=False)
class Span:
    """A problem restricted to K = ΦQΦᵀ."""

    problem: UnfoldingProblem
    basis: Array
    stretches: Array  # m×p, the φ_e

    @classmethod
    def of(cls, problem: UnfoldingProblem, directions: Array) -> Span:
        """The span of these columns, centred and made orthonormal."""
        root = np.sqrt(problem.mass)[:, None]
        Phi, R, _ = sla.qr(
            root * problem.centred_points(directions), mode="economic", pivoting=True
        )
        size = np.abs(np.diagonal(R))
        Phi = Phi[:, size > DEPENDENT_TOLERANCE * size[0]] / root
        return cls(problem, Phi, Phi[problem.edges[:, 0]] - Phi[problem.edges[:, 1]])

    def lengths(self, Q: Array) -> Array:
        """φ_eᵀQφ_e for every edge."""
        return np.asarray(np.einsum("ep,ep->e", self.stretches @ Q, self.stretches))

    def start(self) -> SpanPoint:
        """A Q well inside, and the μ at which it is nearest to balanced."""
        p = self.basis.shape[1]
        rough = self.stretches.T @ (self.stretches / self.problem.squared[:, None])
        Q = np.linalg.inv(rough + DEPENDENT_TOLERANCE * np.trace(rough) * np.eye(p))
        Q *= 0.5 / np.max(self.lengths(Q) / self.problem.squared)
        slack = self.problem.squared - self.lengths(Q)
        pull = self.stretches.T @ (self.stretches / slack[:, None])
        return SpanPoint(Q, slack, float(np.trace(Q) / np.trace(pull @ Q)))

    def _features(self) -> Iterator[tuple[slice, Array]]:
        """Rows svec(φ_eφ_eᵀ), some at a time."""
        p = self.basis.shape[1]
        a, b = np.triu_indices(p)
        twice = np.where(a == b, 1.0, np.sqrt(2.0))
        rows = max(1, CHUNK_NUMBERS // len(a))
        for first in range(0, len(self.stretches), rows):
            part = slice(first, first + rows)
            E = self.stretches[part]
            yield part, E[:, a] * E[:, b] * twice

    def _newton(self, at: SpanPoint, inverse: Array) -> tuple[Array, float]:
        """The Newton direction in Q, and its slope."""
        mu, nu, s, p = at.mu, at.nu, at.slack, len(at.Q)
        size = p * (p + 1) // 2
        H, gradient = np.zeros((size, size)), np.zeros(size)
        for part, F in self._features():
            weights = mu / s[part]
            H += F.T @ (F * (weights / s[part])[:, None])
            gradient += F.T @ weights
        H += nu * _squared_in_svec(inverse)
        gradient -= _svec(np.eye(p) + nu * inverse)
        move = -sla.solve(H, gradient, assume_a="pos")
        return _smat(move, p), float(gradient @ move)

    def step(self, at: SpanPoint) -> tuple[SpanPoint, float]:
        """Newton step at the μ of `at`, and the decrement/(mμ) before it."""
        mu, nu, s = at.mu, at.nu, at.slack
        half = sla.solve_triangular(np.linalg.cholesky(at.Q), np.eye(len(at.Q)), lower=True)
        M, slope = self._newton(at, half.T @ half)
        along, spectrum = self.lengths(M) / s, np.linalg.eigvalsh(half @ M @ half.T)
        wall = 1 / max(along.max(), -spectrum[0], BOUNDARY_SHARE)
        length = min(1.0, BOUNDARY_SHARE * wall)
        for _ in range(MAX_HALVINGS):
            rise = -length * np.trace(M) - mu * np.sum(np.log1p(-length * along))
            rise -= nu * np.sum(np.log1p(length * spectrum))
            if rise <= ARMIJO_SHARE * length * slope:
                break
            length *= 0.5
        Q = at.Q + length * (M + M.T) / 2
        slack = self.problem.squared - self.lengths(Q)
        return SpanPoint(Q, slack, mu), -slope / (len(s) * mu)

    def centre_of(self, at: SpanPoint) -> SpanPoint:
        """The centre for the μ of `at`, roughly."""
        for _ in range(MAX_STEPS_PER_STAGE):
            at, decrement = self.step(at)
            if decrement < CENTRED_DECREMENT:
                break
        return at

    def point_at_gap(self, at: SpanPoint, gap: float) -> SpanPoint:
        """The centre for a μ so small that mμ ≤ gap·tr K."""
        at = self.centre_of(at)
        for _ in range(MAX_STAGES):
            needed = gap * float(np.trace(at.Q)) / len(at.slack)
            if at.mu <= needed:
                break
            at = self.centre_of(SpanPoint(at.Q, at.slack, max(STAGE_RATIO * at.mu, 0.9 * needed)))
        return at

    def points(self, at: SpanPoint, least: int = 1) -> Array:
        """Y with YYᵀ = ΦQΦᵀ, largest column first, without the directions not in use.

        `least` columns are kept in any case.
        """
        values, turn = np.linalg.eigh(at.Q)
        used = values > IN_USE_RATIO * at.nu
        used[-min(least, len(used)) :] = True
        Y = self.basis @ (turn[:, used] * np.sqrt(values[used]))
        return np.ascontiguousarray(Y[:, ::-1])


def _svec(M: Array) -> Array:
    a, b = np.triu_indices(len(M))
    return np.asarray(M[a, b] * np.where(a == b, 1.0, np.sqrt(2.0)))


def _smat(v: Array, p: int) -> Array:
    a, b = np.triu_indices(p)
    M = np.zeros((p, p))
    M[a, b] = M[b, a] = v / np.where(a == b, 1.0, np.sqrt(2.0))
    return M


def _squared_in_svec(P: Array) -> Array:
    """The matrix of M ↦ PMP on symmetric M, in svec coordinates."""
    a, b = np.triu_indices(len(P))
    twice = np.where(a == b, 1.0, np.sqrt(2.0))
    direct = P[np.ix_(a, a)] * P[np.ix_(b, b)]
    crossed = P[np.ix_(a, b)] * P[np.ix_(b, a)]
    return np.asarray((direct + crossed) / 2 * np.outer(twice, twice))

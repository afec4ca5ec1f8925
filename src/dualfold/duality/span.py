"""Unfolding inside the span of a few directions: a small convex program, solved by Newton.

    maximise  tr Q + μ Σ_e log(d_e² − φ_eᵀQφ_e) + ν log det Q,   K = ΦQΦᵀ

Φ is n×p and diag(m)-orthonormal, φ_e = Φ_i − Φ_j. Whatever directions are offered,
the best use of them is found and nothing is lost, because the program in Q is convex:
this starts the low-rank solver from smooth directions and gives it the new columns
that the dual asks for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg as sla

from dualfold.duality.barrier import LEASH, TO_THE_WALL
from dualfold.duality.unfolding import UnfoldingProblem

Array = np.ndarray[Any, np.dtype[Any]]

# ν/μ. The p terms of log det stand beside m logarithms, so that they take a share p/m of
# this of the gap; smaller means more steps.
INNER_SHARE = 1e-2
# Eigenvalues of Q that only the log det holds up are ν/(λ − 1), λ > 1 an eigenvalue of L(w)
# in the span: of size ν. Directions this many times above are in use.
IN_USE = 30.0
SHRINK = 0.2  # of μ from level to level; a primal–dual step crosses that at once
CENTRED = 0.05  # decrement/(mμ) at which a level counts as done
MOST_STEPS = 25  # a level
CHUNK = 4_000_000  # numbers of the feature matrix made at a time (32 MB)


@dataclass(frozen=True, eq=False)
class Inner:
    """Q in the span, the weights and slacks of the edges, and the level μ."""

    Q: Array
    weights: Array
    slack: Array
    level: float


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
        Phi, _ = np.linalg.qr(root * problem.centred(directions))
        Phi = Phi / root
        return cls(problem, Phi, Phi[problem.edges[:, 0]] - Phi[problem.edges[:, 1]])

    def lengths(self, Q: Array) -> Array:
        """φ_eᵀQφ_e for every edge."""
        return np.asarray(np.einsum("ep,ep->e", self.stretches @ Q, self.stretches))

    def start(self, points: Array | None = None, level: float | None = None) -> Inner:
        """A Q well inside: that of the given points (in the span), or a multiple of 1/λ.

        Without a level, the one for which Q is nearest to balanced: μ·tr K' = tr K.
        """
        p = self.basis.shape[1]
        if points is None:
            rough = self.stretches.T @ (self.stretches / self.problem.squared[:, None])
            Q = np.linalg.inv(rough + 1e-12 * np.trace(rough) * np.eye(p))
            Q *= 0.5 / np.max(self.lengths(Q) / self.problem.squared)
        else:
            C = self.basis.T @ (self.problem.mass[:, None] * points)
            # A little of every direction makes Q definite; a tenth of the room stays free.
            spread = np.einsum("ep,ep->e", self.stretches, self.stretches)
            Q = C @ C.T
            room = float(np.min((self.problem.squared - self.lengths(Q)) / spread))
            Q = Q + 0.1 * room * np.eye(p)
        slack = self.problem.squared - self.lengths(Q)
        if level is None:
            pull = self.stretches.T @ (self.stretches / slack[:, None])
            level = float(np.trace(Q) / np.trace(pull @ Q))
        return Inner(Q, level / slack, slack, level)

    def _features(self) -> Iterator[tuple[slice, Array]]:
        """Rows svec(φ_eφ_eᵀ), some at a time."""
        p = self.basis.shape[1]
        a, b = np.triu_indices(p)
        twice = np.where(a == b, 1.0, np.sqrt(2.0))
        rows = max(1, CHUNK // len(a))
        for first in range(0, len(self.stretches), rows):
            part = slice(first, first + rows)
            E = self.stretches[part]
            yield part, E[:, a] * E[:, b] * twice

    def step(self, at: Inner) -> tuple[Inner, float]:
        """One primal–dual Newton step at the level of `at`, and the decrement/(mμ) before it."""
        mu, nu, w, s = at.level, INNER_SHARE * at.level, at.weights, at.slack
        p = len(at.Q)
        size = p * (p + 1) // 2
        H, pull = np.zeros((size, size)), np.zeros(size)
        for part, F in self._features():
            H += F.T @ (F * (w[part] / s[part])[:, None])
            pull += F.T @ (mu / s[part])
        R = np.linalg.cholesky(at.Q)
        half = sla.solve_triangular(R, np.eye(p), lower=True)
        inverse = half.T @ half
        H += nu * _squared_in_svec(inverse)
        gradient = pull - _svec(np.eye(p)) - nu * _svec(inverse)
        H[np.diag_indices(size)] *= 1 + 1e-13
        move = -sla.cho_solve(sla.cho_factor(H), gradient)
        M = _smat(move, p)
        along = self.lengths(M)
        shrinking = np.linalg.eigvalsh(half @ M @ half.T)[0]
        wall = min(
            float(np.min(s[along > 0] / along[along > 0], initial=np.inf)),
            -1 / shrinking if shrinking < 0 else np.inf,
        )
        length = min(1.0, TO_THE_WALL * wall)
        slope = float(gradient @ move)
        spectrum = np.linalg.eigvalsh(half @ M @ half.T)
        while length > 1e-9:
            rise = -length * np.trace(M) - mu * np.sum(np.log1p(-length * along / s))
            rise -= nu * np.sum(np.log1p(length * spectrum))
            if rise <= 1e-4 * length * slope:
                break
            length *= 0.5
        Q = at.Q + length * M
        slack = self.problem.squared - self.lengths(Q)
        change = mu / s - w + (w / s) * along
        room = float(np.min(-w[change < 0] / change[change < 0], initial=np.inf))
        weights = w + min(1.0, TO_THE_WALL * room) * change
        weights = np.clip(weights, mu / slack / LEASH, mu / slack * LEASH)
        return Inner((Q + Q.T) / 2, weights, slack, mu), -slope / (len(s) * mu)

    def centred(self, at: Inner) -> Inner:
        """The centre of the level of `at`, roughly."""
        for _ in range(MOST_STEPS):
            at, decrement = self.step(at)
            if decrement < CENTRED:
                break
        return at

    def down_to(self, at: Inner, gap: float) -> Inner:
        """Levels lowered until mμ ≤ gap·tr K."""
        at = self.centred(at)
        while len(at.slack) * at.level > gap * np.trace(at.Q):
            least = gap * float(np.trace(at.Q)) / len(at.slack)
            level = max(SHRINK * at.level, 0.9 * least)
            at = self.centred(Inner(at.Q, at.weights, at.slack, level))
        return at

    def points(self, at: Inner) -> Array:
        """Y with YYᵀ = ΦQΦᵀ, largest column first, without the directions not in use."""
        values, turn = np.linalg.eigh(at.Q)
        used = values > min(IN_USE * INNER_SHARE * at.level, values[-1])
        used[-1] = True
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

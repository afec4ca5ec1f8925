"""Thick-restart block Lanczos for matrices that are known by their products alone.

The block is narrow, however many directions are wanted: as wide as it takes for a sparse product
with it to cost a fraction of as many single ones. New directions are the images of the last block,
all of the basis is orthonormal, and a residual is read off the last block's coefficients, so that
no images are stored and no residual is computed.

A narrow block can miss copies of a repeated eigenvalue. So a converged answer is tried once more: a
random block begins a new space beside it, and what that finds better is taken in.

K. Wu and H. Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems" (2000).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.kernels.reports import descent
from dualfold.kernels.threads import one_blas_thread
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution, with_signs
from dualfold.trace.solvers.subspace import Iteration, Progress

# Columns of a block: wider ones need more products, narrower ones cost more each
# (docs/dev/notes/trace-solvers.md).
BLOCK_COLUMNS = 8
# Blocks between two evaluations of the Ritz values.
CHECKPOINT_BLOCKS = 4
# Blocks of the random space that a converged answer is compared with.
TRIAL_BLOCKS = 4
# Share of a full basis that a restart keeps.
KEPT_SHARE = 0.6
# Directions beyond the wanted ones that are returned: a certificate counts in the gap behind them.
GUARD_VECTORS = 7
# A part that is this much shorter than the whole is orthonormal to rounding after one more pass.
SAFE_LENGTH_RATIO = 1e-6
# Residuals below this many units of the largest Ritz value are rounding. Larger ones, up
# to the second number, are rounding where they have not halved for some checkpoints.
ROUNDING_UNITS = 4
MAX_ROUNDING_UNITS = 64
STALLED_CHECKPOINTS = 4


@dataclass(eq=False)
class KrylovBasis:
    """Orthonormal Q with H = QᵀAQ, and the next block W with AQ = QH + W·coupling·(last rows)."""

    problem: TraceProblem
    Q: Array
    H: Array
    rng: np.random.Generator
    size: int = 0
    products: int = 0
    W: Array = field(default_factory=lambda: np.zeros((0, 0)))
    coupling: Array = field(default_factory=lambda: np.zeros((0, 0)))

    @classmethod
    def begin(cls, problem: TraceProblem, memory: int, seed: int) -> KrylovBasis:
        room = problem.n - problem.excluded_basis.shape[1]
        memory = min(memory, room)
        Q, H = np.empty((problem.n, memory), order="F"), np.zeros((memory, memory))
        basis = cls(problem, Q, H, np.random.default_rng(seed))
        basis.begin_random_block()
        return basis

    @property
    def is_full(self) -> bool:
        return self.size + self.W.shape[1] > self.Q.shape[1]

    @property
    def is_whole_space(self) -> bool:
        return not self.W.shape[1]

    def begin_random_block(self) -> None:
        """W: random directions off Q, as many as there is room for; nothing couples to them."""
        columns = min(BLOCK_COLUMNS, self._room())
        drawn = self.rng.standard_normal((self.problem.n, columns))
        self.W = self._orthonormal_off(self._part_off(drawn)[0])
        self.coupling = np.zeros((self.W.shape[1], 1))

    def grow(self) -> None:
        """Take W into the basis; its images' new part is the next W."""
        fresh = slice(self.size, self.size + self.W.shape[1])
        self.Q[:, fresh] = self.W
        self.size = fresh.stop
        image = self.problem.descent(np.ascontiguousarray(self.W))
        self.products += self.W.shape[1]
        off, shares = self._part_off(image)
        self.H[: self.size, fresh] = shares
        self.H[fresh, : self.size] = shares.T
        self.W = self._orthonormal_off(off, float(np.abs(shares).max(initial=0.0)))
        self.coupling = self.W.T @ off
        if not self.W.shape[1]:  # the space is invariant, or all there is
            self.begin_random_block()

    def ritz(self) -> tuple[Array, Array]:
        """The Ritz values, ascending, and their coordinates in the basis."""
        form = self.H[: self.size, : self.size]
        theta, S = scipy.linalg.eigh((form + form.T) / 2)
        return theta, S

    def residuals(self, S: Array) -> Array:
        """‖AQs − θQs‖ of Ritz vectors: what the last block's images have off the basis."""
        last = self.coupling.shape[1]
        return np.asarray(np.linalg.norm(self.coupling @ S[self.size - last : self.size], axis=0))

    def shrink(self, S: Array, theta: Array) -> None:
        """Keep the Ritz vectors QS alone; W couples to them as before."""
        keep, last = S.shape[1], self.coupling.shape[1]
        self.coupling = self.coupling @ S[self.size - last : self.size]
        self.Q[:, :keep] = self.Q[:, : self.size] @ S
        self.H[:keep, :keep] = np.diag(theta)
        self.size = keep

    def _room(self) -> int:
        return self.problem.n - self.problem.excluded_basis.shape[1] - self.size

    def _part_off(self, Y: Array) -> tuple[Array, Array]:
        """(Y − QQᵀY, QᵀY), also off the excluded directions."""
        Q, Y = self.Q[:, : self.size], self.problem.without_excluded(Y)
        shares = Q.T @ Y
        return Y - Q @ shares, shares

    def _orthonormal_off(self, Y: Array, size: float = 0.0) -> Array:
        """An orthonormal basis of Y's columns, off Q; `size` is that of what Y was taken off of.

        What is left of Y may be rounding, most of it along Q; so Q is taken off once more, at
        length 1. Such directions are as good as random ones, and hardly couple to anything.
        """
        lengths, turn = _lengths_and_axes(Y)
        size = max(size, float(lengths.max(initial=0.0)))
        real = lengths > np.finfo(float).eps * size
        W = (Y @ (turn[:, real] / lengths[real]))[:, : self._room()]
        if not W.shape[1]:
            return W
        safe = float(lengths[real].min()) > SAFE_LENGTH_RATIO * size
        for _ in range(1 if safe else 2):
            W = self._part_off(W)[0]
            lengths, turn = _lengths_and_axes(W)
            near = lengths.min() > 0.5  # else far from orthonormal: Householder's reflections
            W = W @ (turn / lengths) @ turn.T if near else np.linalg.qr(W)[0]
        return W


def _lengths_and_axes(Y: Array) -> tuple[Array, Array]:
    """The singular values of Y, falling, and its right singular vectors, from YᵀY."""
    squares, turn = scipy.linalg.eigh(Y.T @ Y)
    return np.sqrt(np.maximum(squares[::-1], 0.0)), turn[:, ::-1]


def iterate_block_krylov(problem: TraceProblem, settings: Iteration) -> Solution:
    """Minimise sign·A over orthonormal V off N, by images of narrow blocks."""
    with one_blas_thread(), descent("iterating", 1.0) as report:
        basis = KrylovBasis.begin(problem, settings.memory, settings.seed)
        tried: Array | None = None  # the values that a random block was tried beside
        left = CHECKPOINT_BLOCKS
        seen: list[float] = []
        while True:
            basis.grow()
            left -= 1
            if left > 0 and not basis.is_full and not basis.is_whole_space:
                continue
            left = CHECKPOINT_BLOCKS
            theta, S = basis.ritz()
            excess = _worst_excess(basis, settings.tol, theta, S)
            report(excess)
            seen.append(excess)
            if excess <= MAX_ROUNDING_UNITS / ROUNDING_UNITS and _has_stalled(seen):
                excess = min(excess, _worst_excess(basis, settings.tol, theta, S, rounded=True))
            if basis.is_whole_space:
                return _solution(basis, theta, S, settings.name, converged=True)
            if excess <= 1:
                values = theta[: problem.count]
                if tried is not None and _agree(values, tried, settings.tol, theta):
                    return _solution(basis, theta, S, settings.name, converged=True)
                tried, left = values, TRIAL_BLOCKS
                shown = min(basis.size, problem.count + GUARD_VECTORS)
                basis.shrink(S[:, :shown], theta[:shown])
                basis.begin_random_block()
                continue
            stopped = settings.watch is not None and settings.watch(
                Progress(basis.products, excess)
            )
            if stopped or basis.products >= settings.most_products:
                return _solution(basis, theta, S, settings.name, converged=False)
            if basis.is_full:
                keep = max(problem.count + BLOCK_COLUMNS, int(KEPT_SHARE * basis.size))
                keep = min(keep, basis.size - BLOCK_COLUMNS)
                basis.shrink(S[:, :keep], theta[:keep])


def _has_stalled(seen: list[float]) -> bool:
    """Whether the last checkpoints did not halve what those before had reached."""
    recent, before = seen[-STALLED_CHECKPOINTS:], seen[:-STALLED_CHECKPOINTS]
    return bool(before) and min(recent) > min(before) / 2


def _worst_excess(
    basis: KrylovBasis, tol: float, theta: Array, S: Array, *, rounded: bool = False
) -> float:
    """The largest residual of a wanted direction over its target; ∞ where there are too few."""
    count = basis.problem.count
    if basis.size < count + 1 and not basis.is_whole_space:
        return float("inf")
    units = MAX_ROUNDING_UNITS if rounded else ROUNDING_UNITS
    rounding = units * np.finfo(float).eps * float(np.abs(theta).max())
    target = np.maximum(tol * np.abs(theta[:count]), rounding)
    return float((basis.residuals(S[:, :count]) / np.maximum(target, 1e-300)).max())


def _agree(values: Array, tried: Array, tol: float, theta: Array) -> bool:
    """Whether a random space beside the answer found nothing better."""
    size = float(np.abs(theta).max())
    return bool((tried - values <= max(tol, 1e-12) * size).all())


def _solution(
    basis: KrylovBasis, theta: Array, S: Array, name: str, *, converged: bool
) -> Solution:
    problem, count = basis.problem, basis.problem.count
    shown = min(basis.size, count + GUARD_VECTORS)
    X = basis.Q[:, : basis.size] @ S[:, :shown]
    return Solution(
        with_signs(X[:, :count]),
        problem.sign * theta[:count],
        X[:, count:],
        name,
        "converged" if converged else "stopped",
        basis.products,
    )

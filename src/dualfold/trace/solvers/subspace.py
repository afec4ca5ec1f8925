"""The one iteration behind the Lanczos, the preconditioned and the factored solver.

A block Davidson method: a growing B-orthonormal basis Q, Rayleigh–Ritz on it, and
new directions T(AX − BXΘ) from the current residuals. With T = B⁻¹ the basis is a
block Krylov space, so this is thick-restart block Lanczos; with T an approximate
inverse it is what LOBPCG does with a longer memory; with T = (A − σB)⁻¹ it is
shift-invert Lanczos. Residuals always come from A itself: a rough T does not make the
solution less exact.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array
from dualfold.kernels.reports import descent
from dualfold.kernels.threads import one_blas_thread
from dualfold.trace.metric import Diagonal, Identity
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.solution import Solution, with_signs
from dualfold.trace.solvers.dense import eigenpairs

# Ritz vectors beyond the block that are returned as guard vectors: they cost nothing, and let a
# certificate place its floor further up where the first eigengap is too narrow to resolve.
EXTRA_GUARD_VECTORS = 5
# Directions beyond the block that go through T before the first round.
START_GUARDS = 2


class Directions(Protocol):
    """T: turns residuals, or the Ritz vectors they belong to, into new directions.

    `ritz` are all Ritz values of the basis, ascending.
    """

    @property
    def products(self) -> int:
        """Products with A that were spent inside so far."""

    def __call__(self, residuals: Array, vectors: Array, ritz: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class Through:
    """T = a linear map that needs no products with A: an inverse, a rough one, B⁻¹."""

    inverse: Callable[[Array], Array]
    products = 0

    def __call__(self, residuals: Array, vectors: Array, ritz: Array) -> Array:
        return self.inverse(residuals)


@dataclass(frozen=True, eq=False)
class _InStandardForm:
    """T for u = B^½v."""

    directions: Directions
    root: Array

    @property
    def products(self) -> int:
        return self.directions.products

    def __call__(self, residuals: Array, vectors: Array, ritz: Array) -> Array:
        return self.root * self.directions(self.root * residuals, vectors / self.root, ritz)


@dataclass(frozen=True)
class Progress:
    """Where an iteration stands: worst residual relative to its target."""

    products: int
    excess: float


@dataclass
class Basis:
    """Q with its images AQ and BQ, and the projected matrix H = QᵀAQ."""

    problem: TraceProblem
    Q: Array
    AQ: Array
    BQ: Array | None
    H: Array
    size: int = 0

    @classmethod
    def empty(cls, problem: TraceProblem, room: int) -> Basis:
        shape = (problem.n, room)
        return cls(
            problem,
            np.empty(shape, order="F"),
            np.empty(shape, order="F"),
            None if isinstance(problem.metric, Identity) else np.empty(shape, order="F"),
            np.zeros((room, room)),
        )

    def images(self) -> tuple[Array, Array, Array]:
        Q, AQ = self.Q[:, : self.size], self.AQ[:, : self.size]
        return Q, AQ, Q if self.BQ is None else self.BQ[:, : self.size]

    def extend(self, W: Array) -> int:
        """Add the part of W that is new; returns how many directions that was."""
        problem = self.problem
        Q, _, BQ = self.images()
        W = problem.without_excluded(W)
        lengths = np.sqrt(np.maximum(np.einsum("ij,ij->j", W, problem.metric.times(W)), 0.0))
        W = W[:, lengths > 0] / lengths[lengths > 0]
        for _ in range(2):  # the second pass removes what rounding left of the first
            W = problem.without_excluded(W - Q @ (BQ.T @ W))
            W = _orthonormal(W, problem)
            if not W.shape[1]:
                return 0
        added = min(W.shape[1], self.Q.shape[1] - self.size)
        W = W[:, :added]
        fresh = slice(self.size, self.size + added)
        AW = problem.descent(W)
        self.Q[:, fresh], self.AQ[:, fresh] = W, AW
        if self.BQ is not None:
            self.BQ[:, fresh] = problem.metric.times(W)
        self.size += added
        Q = self.Q[:, : self.size]
        self.H[: self.size, fresh] = Q.T @ AW
        self.H[fresh, : self.size] = self.H[: self.size, fresh].T
        return added

    def restart(self, S: Array, values: Array) -> None:
        """Shrink the basis to the Ritz vectors Q·S."""
        keep = S.shape[1]
        for images in (self.Q, self.AQ, self.BQ):
            if images is not None:
                images[:, :keep] = images[:, : self.size] @ S
        self.size = keep
        self.H[:keep, :keep] = np.diag(values)


@dataclass(frozen=True)
class Iteration:
    """Settings of `iterate`.

    block : directions that are iterated together (None: one more than are wanted)
    memory : directions stored before the basis is shrunk (at least three blocks)
    watch : is called with the progress of every iteration, and stops the run by returning True
    travel : how many directions of the block take a step in an iteration: the first that have not
        converged (None: all)
    start : directions to begin with beside random ones, n×any number
    powers : how often the first directions go through T before the first round
    """

    name: str
    tol: float
    most_products: int
    block: int | None = None
    memory: int = 0
    seed: int = 0
    watch: Callable[[Progress], bool] | None = None
    travel: int | None = None
    start: Array | None = None
    powers: int = 0


def iterate(problem: TraceProblem, directions: Directions, settings: Iteration) -> Solution:
    """Minimise sign·A over B-orthonormal V off N, by residuals sent through T."""
    if isinstance(problem.metric, Diagonal):
        root = np.sqrt(problem.metric.entries)[:, None]
        standard = _standard_form(problem, root)
        if settings.start is not None:
            settings = replace(settings, start=root * settings.start)
        solution = iterate(standard, _InStandardForm(directions, root), settings)
        V = with_signs(solution.vectors / root)
        return replace(solution, vectors=V, guard=solution.guard / root)
    # A dense A earns its threads in A·V; everything else here is tall and thin.
    threads = nullcontext() if isinstance(problem.A, np.ndarray) else one_blas_thread()
    with threads, descent("iterating", 1.0) as report:

        def stops(progress: Progress) -> bool:
            report(progress.excess)
            return settings.watch is not None and settings.watch(progress)

        return _iterate(problem, directions, settings, stops)


def _iterate(
    problem: TraceProblem,
    directions: Directions,
    settings: Iteration,
    watch: Callable[[Progress], bool],
) -> Solution:
    n, count = problem.n, problem.count
    room = n - problem.excluded_basis.shape[1]
    block = min(room, settings.block or count + 1)
    memory = min(room, max(settings.memory, 3 * block, 2 * block + 12))
    basis = Basis.empty(problem, memory)
    rng = np.random.default_rng(settings.seed)
    travel = block if settings.travel is None else min(block, settings.travel)
    own = basis.extend(_first_directions(problem, directions, settings, travel, rng))
    # A certificate of MᵀM uses residuals below what A·Q resolves: one iteration more.
    rounds_left = 1 if isinstance(problem.A, Gramian) else 0
    largest = (
        0.0  # of all Ritz values so far: the size of A (may be 0), in whose units A·Q is rounded
    )

    while True:
        theta, S = eigenpairs(basis.H[: basis.size, : basis.size])
        shown = min(block, basis.size)
        Q, AQ, BQ = basis.images()
        X = Q @ S[:, :shown]
        BX = X if BQ is Q else BQ @ S[:, :shown]
        residual = AQ @ S[:, :shown] - BX * theta[:shown]
        largest = max(largest, float(np.abs(theta).max()))
        target = settings.tol * np.abs(theta[:shown]) + 64 * np.finfo(float).eps * largest
        excess = _dual_norms(residual, problem) / np.maximum(target, np.finfo(float).tiny)
        worst = float(excess[:count].max()) if shown >= count else np.inf
        products = own + directions.products
        status: Literal["converged", "stopped"] | None = None
        if worst <= 1 or basis.size == room:
            status = "converged"
        elif products >= settings.most_products or watch(Progress(products, worst)):
            status = "stopped"
        once_more = worst <= 1 and rounds_left > 0 and basis.size < room
        if status is not None and not once_more:
            break
        rounds_left -= int(once_more)
        wanted = excess > (0 if once_more else 1)
        # The guard vectors take steps while any wanted direction does: they find the
        # copies of a repeated eigenvalue that a single direction cannot find.
        wanted[count:] = True
        wanted &= np.cumsum(wanted) <= travel
        if basis.size + int(wanted.sum()) > memory:
            keep = min(basis.size - 1, max(block, memory // 2))
            basis.restart(S[:, :keep], theta[:keep])
        added = basis.extend(directions(residual[:, wanted], X[:, wanted], theta))
        if not added:  # the residuals lie in the basis already: an invariant subspace
            added = basis.extend(rng.standard_normal((n, block)))
        own += added

    V = Q @ S[:, : min(basis.size, block + EXTRA_GUARD_VECTORS)]
    vectors, values = _in_own_sense(problem, V[:, :count], theta[:count])
    return Solution(vectors, values, V[:, count:], settings.name, status, products)


def _first_directions(
    problem: TraceProblem,
    directions: Directions,
    settings: Iteration,
    travel: int,
    rng: np.random.Generator,
) -> Array:
    """Random directions beside those of a start, sent through T `settings.powers` times.

    The widest space that T takes at no more cost, without images and projections: that saves as
    many rounds of the iteration, each of which takes longer (docs/dev/notes/trace-solvers.md).
    """
    count = _random_directions(settings, travel, problem.count)
    room = problem.n - problem.excluded_basis.shape[1]
    wider = count + START_GUARDS if settings.powers and settings.start is None else count
    W = rng.standard_normal((problem.n, min(room, wider)))
    if settings.start is not None:
        W = np.hstack([W, settings.start])
    for _ in range(settings.powers):
        W = problem.metric.times(problem.without_excluded(W))
        W = _orthonormal(directions(W, W, np.zeros(0)), problem)
    return W


def _random_directions(settings: Iteration, travel: int, count: int) -> int:
    """Number of random directions that an iteration begins with.

    A start with all wanted directions needs only those that fill the block, but one at the least:
    what the start has nothing of must be found.
    """
    known = 0 if settings.start is None else settings.start.shape[1]
    return travel if known < count else max(1, travel - known)


def _in_own_sense(problem: TraceProblem, V: Array, theta: Array) -> tuple[Array, Array]:
    """The directions with the values that the problem asks for, not their negatives."""
    if isinstance(problem.A, Gramian):
        # H was made from A·Q and knows values to units of ‖A‖ only: once more, from M·V.
        squares, turn = eigenpairs(problem.quadratic(V))
        return with_signs(V @ turn), problem.sign * squares
    return with_signs(V), problem.sign * theta


def _standard_form(problem: TraceProblem, root: Array) -> TraceProblem:
    """Problem for u = B^½v in place of v: B becomes I, and its images need not be kept."""
    A: Any = problem.A
    scale, excluded = 1 / root[:, 0], root * problem.excluded_basis
    if sp.issparse(A):
        # The factors first: their product is the same for (i, j) and (j, i), to the last bit.
        data = A.data * (np.repeat(scale, np.diff(A.indptr)) * scale[A.indices])
        A = sp.csr_array((data, A.indices, A.indptr), shape=A.shape)
        if np.isfinite(data).all():
            return problem.congruent(A, Identity(problem.n), excluded)
    else:
        columns = scale[:, None]
        A = LinearOperator(
            A.shape,
            matvec=lambda v: scale * (problem.A @ (scale * v)),
            matmat=lambda V: columns * (problem.A @ (columns * V)),
            dtype=np.dtype(float),
        )
    return TraceProblem(A, None, problem.count, problem.sense, excluded)


def _dual_norms(R: Array, problem: TraceProblem) -> Array:
    """‖r‖ in the B⁻¹ norm, column by column."""
    squares = np.einsum("ij,ij->j", R, problem.metric.solve(R))
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _orthonormal(W: Array, problem: TraceProblem) -> Array:
    """A B-orthonormal basis of the numerically independent part of W's columns."""
    if not W.shape[1]:
        return W
    gram = W.T @ problem.metric.times(W)
    values, S = eigenpairs(gram)
    # Directions whose squared length fell by 1e-20 against the others are rounding.
    good = values > max(values.max(), 0.0) * 1e-20
    good &= values > 0
    return W @ (S[:, good] / np.sqrt(values[good]))

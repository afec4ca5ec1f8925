"""Gradient descent on the projection error: the paper's, and one that converges.

With A positive semidefinite (a covariance) and U of full rank, the best directions minimise

    f(U) = tr(A) − 2tr(UᵀAU) + tr(UᵀAU·UᵀU),     ∇f = 2(AU·UᵀU + U·UᵀAU − 2AU)

which is ‖XUUᵀ − X‖² for A = XᵀX (Tucker, "Dimensionality reduction and the Fenchel game",
Theorem 1.7). On orthonormal U it is the trace problem, and ∇f = −2(AU − U·UᵀAU): twice the
residual of an eigenproblem. Only products with A are needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, Message
from dualfold.trace.metric import Identity
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution, with_signs
from dualfold.trace.solvers.solver import Solver

# Directions beyond the wanted ones: they show the eigengap, and the descent then
# converges with the eigengap behind them, not with the one before them.
MIN_GUARD_VECTORS = 4
# Residuals below this share of the largest value are rounding.
ROUNDING_SHARE = 1e-13


@dataclass(frozen=True)
class Gradient(Solver):
    """Accelerated descent for PCA, with the best step in every iteration.

    Each step minimises the error exactly over the span of the point, its gradient and the last step
    (Rayleigh and Ritz), so that no step size has to be chosen. It stops when the gradient bounds
    the largest angle to the optimal subspace (Davis and Kahan).

    Parameters
    ----------
    tol : float, default=1e-7
        Sine of the largest angle at which it stops.
    most_steps : int, default=5000
        Largest number of steps.
    seed : int, default=0
        Seed of the random start.
    start : array-like of shape (n, k) or None, default=None
        The first directions; None draws them.

    See Also
    --------
    PaperGradient : The descent as it was published.
    dualfold.PCA : Offers it as `svd_solver="gradient"`.

    Notes
    -----
    The rate is that of conjugate gradients, √(eigengap), and not that of plain descent.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.trace import TraceProblem
    >>> from dualfold.trace.solvers import Gradient
    >>> problem = TraceProblem(np.diag([4.0, 2.0, 1.0]), count=1, sense="max")
    >>> round(float(Gradient().solve(problem).values[0]), 6)
    4.0
    """

    tol: float = 1e-7
    most_steps: int = 5_000
    seed: int = 0
    start: ArrayLike | None = field(default=None, compare=False)

    def attempt(self, problem: TraceProblem) -> Solution:
        room = _plain_room(problem, "Gradient")
        width = min(problem.count + max(MIN_GUARD_VECTORS, problem.count // 4), room)
        X = problem.without_excluded(_start(self.start, problem.n, width, self.seed))
        X = np.linalg.qr(X)[0]
        AX = problem.descent(X)
        products, step = width, 0
        values, X, AX = _ritz(X, AX, width)
        P, AP = X[:, :0], AX[:, :0]
        history: list[tuple[float, float]] = []
        while True:
            residuals = AX - X * values
            sine, excess, rounding_left = _distances(values, residuals, problem.count)
            history.append((float(values[: problem.count].sum()), excess))
            done = sine <= self.tol or rounding_left or width == room
            if done or step == self.most_steps:
                break
            W = _new_directions(problem.without_excluded(residuals), np.hstack([X, P]))
            if not W.shape[1]:  # the whole space is spanned: nothing is left to try
                done = True
                break
            AW = problem.descent(W)
            products, step = products + W.shape[1], step + 1
            values, X, AX, P, AP = _best_combination((X, P, W), (AX, AP, AW), width)
        return Solution(
            vectors=with_signs(X[:, : problem.count]),
            values=problem.sign * values[: problem.count],
            guard=X[:, problem.count :],
            solver="Gradient",
            status="converged" if done else "stopped",
            products=products,
            story=(f"{step} steps; sine of the largest angle at most {sine:.1e}",),
            history=np.array(history),
        )

    def remedy(self) -> Message:
        return Message(
            "raise ", Argument("most_steps"), ", loosen ", Argument("tol"), ", or use Auto()"
        )


@dataclass(frozen=True)
class PaperGradient(Solver):
    """Tucker's averaged, normalised descent for PCA, as described in the text.

    From a random orthonormal matrix of Frobenius norm 1 it takes steps of one length against the
    gradient and averages the iterates; the answer is the nearest orthonormal matrix. Nothing makes
    it converge.

    Parameters
    ----------
    rounds : int, default=10
        Number of steps.
    step : float or None, default=None
        Length of a step; None is 25/√rounds, as in the text.
    seed : int, default=0
        Seed of the random start.
    start : array-like of shape (n, k) or None, default=None
        The first directions; None draws them.

    See Also
    --------
    Gradient : A descent that converges.
    dualfold.PCA : Offers it as `svd_solver="gradient-paper"`.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Remark 6.23.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.trace import TraceProblem
    >>> from dualfold.trace.solvers import PaperGradient
    >>> problem = TraceProblem(np.diag([4.0, 2.0, 1.0]), count=1, sense="max")
    >>> PaperGradient().attempt(problem).vectors.shape
    (3, 1)
    """

    rounds: int = 10
    step: float | None = None
    seed: int = 0
    start: ArrayLike | None = field(default=None, compare=False)

    def attempt(self, problem: TraceProblem) -> Solution:
        _plain_room(problem, "PaperGradient")
        count, length = problem.count, self.step
        length = 25 / np.sqrt(self.rounds) if length is None else float(length)
        if self.start is None:
            U = np.linalg.qr(_start(None, problem.n, count, self.seed))[0] / np.sqrt(count)
        else:
            U = _start(self.start, problem.n, count, self.seed)
        average = np.zeros_like(U)
        history = []
        for _ in range(self.rounds):
            gradient, value = _projection_error(problem, U)
            history.append((value, np.inf))
            size = float(np.linalg.norm(gradient))
            U = U - length * gradient / size if size > 0 else U
            average += U / self.rounds
        left, _, right = scipy.linalg.svd(average, full_matrices=False)
        V = left @ right
        values = np.diagonal(problem.quadratic(V))
        history.append((float(values.sum()), np.inf))
        return Solution(
            vectors=V,
            values=problem.sign * values,
            guard=V[:, :0],
            solver="PaperGradient",
            status="stopped",
            products=count * (self.rounds + 1),
            story=(f"{self.rounds} steps of length {length:.4g}",),
            history=np.array(history),
        )


def _projection_error(problem: TraceProblem, U: Array) -> tuple[Array, float]:
    """∇f/2 and f less tr(A), at any U."""
    AU = -problem.descent(U)
    inner, gram = U.T @ AU, U.T @ U
    gradient = AU @ gram + U @ inner - 2 * AU
    return gradient, float(np.einsum("ij,ij->", inner, gram) - 2 * np.trace(inner))


def _plain_room(problem: TraceProblem, name: str) -> int:
    """Number of directions off N; refuses problems that f does not describe."""
    if not isinstance(problem.metric, Identity) or problem.sense != "max":
        raise InvalidInput(
            f"{name} minimises the error of a projection: it takes maxima with B = I (PCA). Use "
            "Auto() for other problems"
        )
    return problem.n - problem.excluded_basis.shape[1]


def _start(given: ArrayLike | None, n: int, width: int, seed: int) -> Array:
    """The first n×width matrix: what was given, filled up with random columns."""
    drawn = np.random.default_rng(seed).standard_normal((n, width))
    if given is None:
        return drawn
    start = np.asarray(given, dtype=float)
    if start.ndim != 2 or len(start) != n or not np.isfinite(start).all():
        raise InvalidInput(f"the start must be a finite array of {n} rows, a column a direction")
    kept = min(start.shape[1], width)
    drawn[:, :kept] = start[:, :kept]
    return drawn


def _ritz(Q: Array, AQ: Array, width: int) -> tuple[Array, Array, Array]:
    values, S = np.linalg.eigh(Q.T @ AQ)
    return values[:width], Q @ S[:, :width], AQ @ S[:, :width]


def _distances(values: Array, residuals: Array, count: int) -> tuple[float, float, bool]:
    """Bounds of the sine and of the relative excess, and whether only rounding is left."""
    lengths = np.linalg.norm(residuals, axis=0)
    wanted = float(np.linalg.norm(lengths[:count]))
    at_rounding = wanted <= ROUNDING_SHARE * np.sqrt(count) * float(np.abs(values).max())
    if len(values) == count:
        return np.inf, np.inf, at_rounding
    eigengap = float(values[count] - lengths[count] - values[count - 1])
    if eigengap <= 0:
        return np.inf, np.inf, at_rounding
    kept = max(float(np.abs(values[:count].sum())), np.finfo(float).tiny)
    return wanted / eigengap, wanted**2 / eigengap / kept, at_rounding


def _new_directions(residuals: Array, known: Array) -> Array:
    """An orthonormal basis of the residuals off the known directions."""
    lengths = np.linalg.norm(residuals, axis=0)
    W = residuals[:, lengths > 0] / lengths[lengths > 0]
    for _ in range(2):  # twice is enough: the second pass removes the first one's rounding
        W = W - known @ (known.T @ W)
    if not W.shape[1]:
        return W
    Q, R, _ = scipy.linalg.qr(W, mode="economic", pivoting=True)
    kept = min(int((np.abs(np.diagonal(R)) > 1e-8).sum()), len(known) - known.shape[1])
    Q = Q[:, :kept]
    Q = Q - known @ (known.T @ Q)
    return np.linalg.qr(Q)[0]


def _best_combination(
    parts: tuple[Array, Array, Array], images: tuple[Array, Array, Array], width: int
) -> tuple[Array, Array, Array, Array, Array]:
    """The minimum over the span of point, last step and gradient, and the step to it.

    The step is kept orthonormal to the point by small matrices alone (Hetmaniuk and
    Lehoucq 2006), so its image under A needs no further product.
    """
    Q, AQ = np.hstack(parts), np.hstack(images)
    values, S = np.linalg.eigh(Q.T @ AQ)
    C = S[:, :width]
    moved = C.copy()
    moved[:width] = 0
    moved -= C @ (C.T @ moved)
    moved -= C @ (C.T @ moved)
    basis, R, _ = scipy.linalg.qr(moved, mode="economic", pivoting=True)
    size = np.abs(np.diagonal(R))
    basis = basis[:, size > 1e-10]
    return values[:width], Q @ C, AQ @ C, Q @ basis, AQ @ basis

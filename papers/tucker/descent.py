"""Tucker's descent for PCA, written out: what the library's solver does not show of it.

`dualfold.trace.solvers.PaperGradient` is the same descent and hands out the polar factor of
the average alone; the remarks are about the average itself, and the last step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array


@dataclass(frozen=True)
class Scatter:
    """S = XᵀX of centred X, with its eigenvalues and vectors, largest first."""

    matrix: Array
    values: Array
    vectors: Array

    @classmethod
    def of(cls, X: Array) -> Scatter:
        centred = X - X.mean(axis=0)
        matrix = centred.T @ centred
        values, vectors = np.linalg.eigh(matrix)
        return cls(matrix, values[::-1], vectors[:, ::-1])

    def excess(self, U: Array) -> float:
        """‖XUUᵀ − X‖² less the least it can be with as many columns."""
        SU = self.matrix @ U
        bent = float(np.einsum("ij,ij->", U.T @ SU, U.T @ U)) - 2 * float(np.vdot(U, SU))
        return float(self.values[: U.shape[1]].sum()) + bent

    def gradient(self, U: Array) -> Array:
        """Theorem 1.7."""
        SU = self.matrix @ U
        return np.asarray(2 * (SU @ (U.T @ U) + U @ (U.T @ SU) - 2 * SU))

    def distance(self, U: Array) -> float:
        """From U to the nearest minimiser, of which there is one for every rotation."""
        k = U.shape[1]
        overlap = np.linalg.svd(U.T @ self.vectors[:, :k], compute_uv=False).sum()
        return float(np.sqrt(max(np.vdot(U, U) + k - 2 * overlap, 0.0)))


@dataclass(frozen=True)
class Walk:
    """The average of w₁ … w_T, the last of them, and the longest gradient met."""

    average: Array
    last: Array
    steepest: float


def random_start(scatter: Scatter, k: int, rng: np.random.Generator) -> Array:
    """Orthonormal columns, scaled to Frobenius norm 1."""
    return np.asarray(np.linalg.qr(rng.standard_normal((len(scatter.matrix), k)))[0] / np.sqrt(k))


def normalised_descent(scatter: Scatter, start: Array, radius: float, rounds: int) -> Walk:
    """Steps of length R/√T along the gradient, whatever its own length."""
    U, average, steepest = start, np.zeros_like(start), 0.0
    for _ in range(rounds):
        gradient = scatter.gradient(U)
        length = float(np.linalg.norm(gradient))
        steepest = max(steepest, length)
        U = U - radius / np.sqrt(rounds) * gradient / length
        average += U / rounds
    return Walk(average, U, steepest)


def orthonormal(U: Array) -> Array:
    """The nearest orthonormal matrix: the polar factor."""
    left, _, right = np.linalg.svd(U, full_matrices=False)
    return np.asarray(left @ right)

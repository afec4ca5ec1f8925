"""The functions that people minimise: quadratics, regressions, norms, entropies.

Regressions are sums over rows; `sample(rows)` is the gradient of some of them, scaled by
N/|rows| so that it is right on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.special import expit, log_softmax, logsumexp, softmax, xlogy

from dualfold.errors import InvalidInput
from dualfold.games.convex import ROUNDING, Convex, Support
from dualfold.games.sets import Ball, Box, L1Ball, Simplex

Array = np.ndarray[Any, np.dtype[Any]]


def norm(order: Literal[1, 2, "inf"], weight: float = 1.0) -> Support:
    """weight·‖x‖ of order 1, 2 or "inf", as the support function of the dual ball."""
    if order == 1:
        return Support(Box(-weight, weight))
    if order == 2:
        return Support(Ball(weight))
    if order == "inf":
        return Support(L1Ball(weight))
    raise InvalidInput(f"a norm is of order 1, 2 or 'inf', not {order!r}")


@dataclass(frozen=True, eq=False)
class Quadratic(Convex):
    """½xᵀQx + qᵀx + c with Q ⪰ 0; affine where Q is 0.

        f*(y) = ½(y−q)ᵀQ⁺(y−q) − c    for y − q in the range of Q, else ∞

    >>> f = Quadratic(np.diag([1.0, 4.0]), np.array([1.0, 0.0]))
    >>> f.conjugate(np.array([3.0, 4.0]))
    4.0
    """

    matrix: Array
    linear: Array | float = 0.0
    constant: float = 0.0

    def __post_init__(self) -> None:
        values, _ = self._spectrum
        if values[0] < -1e-10 * max(values[-1], -values[0]):  # rounding of a semidefinite one
            raise InvalidInput(
                f"the matrix of a convex quadratic is positive semidefinite, but this one has "
                f"the eigenvalue {values[0]:.3g}"
            )

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh((self.matrix + self.matrix.T) / 2)
        return values, vectors

    @property
    def smoothness(self) -> float:
        return float(self._spectrum[0][-1])

    @property
    def strong_convexity(self) -> float:
        least = float(self._spectrum[0][0])
        return least if least > len(self.matrix) * 1e-15 * self.smoothness else 0.0

    def value(self, x: Array) -> float:
        return float(x @ (self.matrix @ x)) / 2 + float(np.sum(self.linear * x)) + self.constant

    def subgradient(self, x: Array) -> Array:
        return self.matrix @ x + self.linear

    def maximiser(self, y: Array) -> Array:
        values, vectors = self._spectrum
        parts = vectors.T @ (y - self.linear)
        curved = values > ROUNDING * max(float(values[-1]), 0.0)
        if np.linalg.norm(parts[~curved]) > 1e-9 * (1 + np.linalg.norm(y)):
            raise InvalidInput(
                "⟨x, y⟩ − f(x) has no maximum: y − q lies outside the range of Q, so f*(y) = ∞"
            )
        return np.asarray(vectors[:, curved] @ (parts[curved] / values[curved]))

    def conjugate(self, y: Array) -> float:
        try:
            x = self.maximiser(y)
        except InvalidInput:
            return np.inf
        return float((y - self.linear) @ x) / 2 - self.constant

    def proximal(self, x: Array, weight: float) -> Array:
        values, vectors = self._spectrum
        return np.asarray(
            vectors @ ((vectors.T @ (x - weight * self.linear)) / (1 + weight * values))
        )


@dataclass(frozen=True, eq=False)
class LeastSquares(Convex):
    """½‖Ax − b‖², one row an observation."""

    rows: Array
    targets: Array

    @cached_property
    def _quadratic(self) -> Quadratic:
        A, b = self.rows, self.targets
        return Quadratic(A.T @ A, -A.T @ b, float(b @ b) / 2)

    @property
    def smoothness(self) -> float:
        return self._quadratic.smoothness

    @property
    def strong_convexity(self) -> float:
        return self._quadratic.strong_convexity

    def value(self, x: Array) -> float:
        return float(np.sum((self.rows @ x - self.targets) ** 2)) / 2

    def subgradient(self, x: Array) -> Array:
        return self.rows.T @ (self.rows @ x - self.targets)

    def sample(self, x: Array, chosen: Array) -> Array:
        """The gradient guessed from the rows `chosen`, right on average."""
        rows = self.rows[chosen]
        scale = len(self.rows) / len(chosen)
        return scale * (rows.T @ (rows @ x - self.targets[chosen]))

    def maximiser(self, y: Array) -> Array:
        return self._quadratic.maximiser(y)

    def conjugate(self, y: Array) -> float:
        return self._quadratic.conjugate(y)

    def proximal(self, x: Array, weight: float) -> Array:
        return self._quadratic.proximal(x, weight)


@dataclass(frozen=True, eq=False)
class Logistic(Convex):
    """Σ log(1 + exp(−label·⟨row, x⟩)) with labels ±1, the loss of logistic regression.

        f*(y) = Σ p_i log p_i + (1−p_i) log(1−p_i)    where y = −Σ p_i label_i row_i

    The p are unique, and the conjugate closed, when the rows are independent.
    """

    rows: Array
    labels: Array

    def __post_init__(self) -> None:
        if not np.all(np.abs(self.labels) == 1):
            raise InvalidInput("labels are +1 and −1; map classes to these two first")

    @cached_property
    def smoothness(self) -> float:
        return float(np.linalg.norm(self.rows, 2)) ** 2 / 4

    @property
    def gradient_bound(self) -> float:
        return float(np.linalg.norm(self.rows, axis=1).sum())

    def value(self, x: Array) -> float:
        return float(np.sum(np.logaddexp(0.0, -self.labels * (self.rows @ x))))

    def subgradient(self, x: Array) -> Array:
        return -self.rows.T @ (self.labels * expit(-self.labels * (self.rows @ x)))

    def sample(self, x: Array, chosen: Array) -> Array:
        """The gradient guessed from the rows `chosen`, right on average."""
        rows, labels = self.rows[chosen], self.labels[chosen]
        scale = len(self.rows) / len(chosen)
        return -scale * (rows.T @ (labels * expit(-labels * (rows @ x))))

    def conjugate(self, y: Array) -> float:
        signed = -(self.rows * self.labels[:, None]).T
        if np.linalg.matrix_rank(signed) < len(self.rows):
            raise self._lacks("conjugate (its rows are dependent)")
        p = np.linalg.lstsq(signed, y, rcond=None)[0]
        off = float(np.linalg.norm(signed @ p - y))
        if off > 1e-9 * (1 + np.linalg.norm(y)) or p.min() < -ROUNDING or p.max() > 1 + ROUNDING:
            return np.inf
        p = p.clip(0.0, 1.0)
        return float(np.sum(xlogy(p, p) + xlogy(1 - p, 1 - p)))


@dataclass(frozen=True, eq=False)
class LargestAffine(Convex):
    """max_i ⟨row_i, x⟩ + offset_i: every polyhedral function, with corners."""

    rows: Array
    offsets: Array | float = 0.0

    @property
    def gradient_bound(self) -> float:
        return float(np.linalg.norm(self.rows, axis=1).max())

    def value(self, x: Array) -> float:
        return float(np.max(self.rows @ x + self.offsets))

    def subgradient(self, x: Array) -> Array:
        return np.asarray(self.rows[int(np.argmax(self.rows @ x + self.offsets))])


@dataclass(frozen=True)
class Entropy(Convex):
    """Σ x log x on the simplex; its conjugate is the logarithm of Σ exp(y)."""

    @property
    def strong_convexity(self) -> float:
        return 1.0  # Pinsker: even in the larger ℓ1 norm

    def value(self, x: Array) -> float:
        return float(np.sum(xlogy(x, x))) if Simplex().contains(x) else np.inf

    def subgradient(self, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(x) + 1)

    def maximiser(self, y: Array) -> Array:
        return np.asarray(softmax(y))

    def conjugate(self, y: Array) -> float:
        return float(logsumexp(y))


@dataclass(frozen=True)
class LogSumExp(Convex):
    """width·log Σ exp(x/width): a smooth largest entry, at most width·log d above it."""

    width: float = 1.0

    @property
    def smoothness(self) -> float:
        return 1 / self.width

    def value(self, x: Array) -> float:
        return self.width * float(logsumexp(x / self.width))

    def subgradient(self, x: Array) -> Array:
        return np.exp(log_softmax(x / self.width))

    def maximiser(self, y: Array) -> Array:
        return np.asarray(self.width * np.log(y))

    def conjugate(self, y: Array) -> float:
        return self.width * Entropy().value(y)


@dataclass(frozen=True)
class Huber(Convex):
    """Σ ½x² where |x| ≤ width, width·|x| − ½width² beyond: a bowl with straight sides.

    f*(y) = ½‖y‖²    where every |y_i| ≤ width, else ∞
    """

    width: float = 1.0

    @property
    def smoothness(self) -> float:
        return 1.0

    def value(self, x: Array) -> float:
        inner = np.clip(x, -self.width, self.width)
        return float(np.sum(inner * (x - inner / 2)))

    def subgradient(self, x: Array) -> Array:
        return np.clip(x, -self.width, self.width)

    def conjugate(self, y: Array) -> float:
        return float(y @ y) / 2 if np.abs(y).max() <= self.width * (1 + ROUNDING) else np.inf

    def proximal(self, x: Array, weight: float) -> Array:
        far = weight * self.width
        return np.where(np.abs(x) <= self.width + far, x / (1 + weight), x - far * np.sign(x))

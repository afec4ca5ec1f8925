"""Quadratic functions: given by a matrix, or by the rows of a regression.

The regression is a sum over rows; `sample(rows)` is the gradient of some of them, scaled by
N/|rows| so that it is right on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    SizedMatrix,
    dot,
    gram_interval,
    interval,
    largest_eigenvalue,
    least_eigenvalue,
)
from dualfold.theory.games.convex_functions import DOMAIN_ROUNDING, Convex
from dualfold.theory.games.doubles import doubles, number, table, vector


@dataclass(frozen=True, eq=False)
class Quadratic(Convex):
    """The function ½xᵀQx + qᵀx + c with Q ⪰ 0.

    A Q whose least eigenvalue cannot be distinguished from 0 is accepted, and `concavity` bounds
    how far below 0 it can be; a Q that is clearly indefinite is refused. Only the symmetric part of
    Q matters.

    Parameters
    ----------
    matrix : ndarray of shape (d, d)
        The matrix Q.
    linear : ndarray or float, default=0.0
        The vector q.
    constant : float, default=0.0
        The number c.

    Raises
    ------
    InvalidInput
        If Q is indefinite or not square.

    See Also
    --------
    LeastSquares : The function ½‖Ax − b‖².

    Notes
    -----
    The conjugate is ½(y − q)ᵀQ⁺(y − q) − c if y − q is in the range of Q, and infinite otherwise.

    Examples
    --------
    >>> f = Quadratic(np.diag([1.0, 4.0]), np.array([1.0, 0.0]))
    >>> f.conjugate(np.array([3.0, 4.0]))
    4.0
    """

    matrix: Array
    linear: Array | float = 0.0
    constant: float = 0.0

    rounding_bounded = True

    def __post_init__(self) -> None:
        matrix = table(self.matrix, "the matrix of a quadratic")
        linear = doubles(self.linear, "the linear part of a quadratic")
        n = len(matrix)
        if matrix.shape != (n, n) or linear.shape not in ((), (n,)):
            raise InvalidInput(
                f"a quadratic has a square matrix and one linear entry for each of its rows, but "
                f"the shapes are {matrix.shape} and {linear.shape}"
            )
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "linear", linear)
        constant = number(self.constant, "the constant of a quadratic", least=-np.inf)
        object.__setattr__(self, "constant", constant)
        values, _ = self._spectrum
        if values[0] < -1e-10 * max(values[-1], -values[0]):  # rounding of a semidefinite one
            raise InvalidInput(
                f"the matrix of a convex quadratic is positive semidefinite, but this one has "
                f"the eigenvalue {values[0]:.3g}"
            )

    @cached_property
    def _exact_matrix(self) -> SizedMatrix:
        return SizedMatrix(self.matrix)

    @cached_property
    def _symmetric(self) -> Interval:
        """(Q + Qᵀ)/2, exact where Q is symmetric."""
        if np.array_equal(self.matrix, self.matrix.T):
            return Interval(self.matrix)
        half = (interval(self.matrix) + self.matrix.T) * 0.5
        return Interval((half.mid + half.mid.T) / 2, half.off)

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        values, vectors = np.linalg.eigh(self._symmetric.mid)
        return values, vectors

    @cached_property
    def smoothness(self) -> float:
        return max(0.0, largest_eigenvalue(self._symmetric))

    @cached_property
    def _least(self) -> float:
        return least_eigenvalue(self._symmetric)

    @property
    def strong_convexity(self) -> float:
        return max(0.0, self._least)

    @property
    def concavity(self) -> float:
        return max(0.0, -self._least)

    def value(self, x: Array) -> float:
        return float(x @ (self.matrix @ x)) / 2 + float(np.sum(self.linear * x)) + self.constant

    def subgradient(self, x: Array) -> Array:
        return self._symmetric.mid @ x + self.linear

    def value_interval(self, x: Array) -> Interval:
        square = dot(x, self._exact_matrix @ x) * 0.5
        return square + dot(self.linear, x) + self.constant

    def slope_interval(self, x: Array) -> Interval:
        if not np.any(self._symmetric.off):
            return self._exact_matrix @ x + self.linear
        return self._symmetric @ x + self.linear

    def maximiser(self, y: Array) -> Array:
        values, vectors = self._spectrum
        parts = vectors.T @ (y - self.linear)
        curved = values > DOMAIN_ROUNDING * max(float(values[-1]), 0.0)
        if np.linalg.norm(parts[~curved]) > 1e-9 * (1 + np.linalg.norm(y)):
            raise InvalidInput(
                "⟨x, y⟩ − f(x) has no maximum: y − q lies outside the range of Q, so f*(y) = ∞"
            )
        return np.asarray(vectors[:, curved] @ (parts[curved] / values[curved]))

    def closed_conjugate(self, y: Array) -> float:
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
    """The function ½‖Ax − b‖², the loss of linear regression.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, d)
        The matrix A, one row for each observation.
    targets : ndarray of shape (n_samples,)
        The vector b.

    See Also
    --------
    Quadratic : The function given by a matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import LeastSquares
    >>> f = LeastSquares(np.eye(2), np.array([1.0, 2.0]))
    >>> f.value(np.zeros(2)), f.subgradient(np.zeros(2))
    (2.5, array([-1., -2.]))
    """

    rows: Array
    targets: Array
    rounding_bounded = True

    def __post_init__(self) -> None:
        rows = table(self.rows, "the rows of least squares", squared=True)
        object.__setattr__(self, "rows", rows)
        targets = vector(self.targets, "the targets of least squares", len(rows))
        object.__setattr__(self, "targets", targets)

    @cached_property
    def _quadratic(self) -> Quadratic:
        A, b = self.rows, self.targets
        return Quadratic(A.T @ A, -A.T @ b, float(b @ b) / 2)

    @cached_property
    def smoothness(self) -> float:
        return max(0.0, largest_eigenvalue(gram_interval(self.rows)))

    @cached_property
    def strong_convexity(self) -> float:
        return max(0.0, least_eigenvalue(gram_interval(self.rows)))

    def value_interval(self, x: Array) -> Interval:
        off = self._exact_matrix @ x - self.targets
        return dot(off, off) * 0.5

    def slope_interval(self, x: Array) -> Interval:
        return self._exact_matrix.transpose @ (self._exact_matrix @ x - self.targets)

    @cached_property
    def _exact_matrix(self) -> SizedMatrix:
        return SizedMatrix(self.rows)

    def value(self, x: Array) -> float:
        return float(np.sum((self.rows @ x - self.targets) ** 2)) / 2

    def subgradient(self, x: Array) -> Array:
        return self.rows.T @ (self.rows @ x - self.targets)

    @property
    def n_terms(self) -> int:
        return len(self.rows)

    def sample(self, x: Array, chosen: Array) -> Array:
        """Estimate the gradient from some rows, without bias.

        Parameters
        ----------
        x : ndarray of shape (d,)
            The point.
        chosen : ndarray of int
            Numbers of the rows.

        Returns
        -------
        ndarray of shape (d,)
            The estimate.
        """
        rows = self.rows[chosen]
        scale = len(self.rows) / len(chosen)
        return scale * (rows.T @ (rows @ x - self.targets[chosen]))

    def maximiser(self, y: Array) -> Array:
        return self._quadratic.maximiser(y)

    def closed_conjugate(self, y: Array) -> float:
        return self._quadratic.conjugate(y)

    def proximal(self, x: Array, weight: float) -> Array:
        return self._quadratic.proximal(x, weight)

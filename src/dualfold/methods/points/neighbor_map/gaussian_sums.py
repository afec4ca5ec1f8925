"""Products with the matrix exp(−‖y_i − y_j‖²) of many points in few dimensions.

The kernel is a product over the axes, and on an axis of half-width h a polynomial of degree m − 1
in both its points: interpolation at m nodes of Chebyshev. For any ρ > 1 it is off by at most

    E = 4·exp(h²b²)·ρ^(1−m)/(ρ − 1),   b = (ρ − 1/ρ)/2,

in one point (|exp(−(x − y)²)| ≤ exp(Im(x)²) on Bernstein's ellipse; Trefethen, *Approximation
Theory*, theorem 8.2, where aliasing is the same for these nodes), and by (1 + Λ)E in both, Λ ≤ 1 +
(2/π)·log m. So n points take n·m^d multiply-adds a product instead of n²: m is 18 to 26 for maps
of a spread of 0.1, 50 for 1.

Rounding, with u = 2⁻⁵³: polynomials are cos(k·arccos z), off by 4mu; the m² coefficients of an
axis, sums of m products no larger than 4, by 4mu each; a product sums n and then m^d terms. With
κ the product over the axes of the sums of the coefficients' sizes, an entry of a product with v is
off by at most `error`·Σ|v|, error = (1 + (1 + Λ)E)^d − 1 + (n + 8dm³ + 16dh)κu.
"""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF as _U
from dualfold.kernels.threads import row_slices

# The largest error of the polynomials on each axis: below the rounding of a sum of 1,000 terms.
POLYNOMIAL_TOLERANCE = 1e-14
# Numbers of one tile of rows in a product.
TILE_NUMBERS = 1_000_000
# Multiply-adds of a product with one column. Maps of more than three coordinates, or with a few
# points very far out, would need more, and hundreds of products.
MAX_PRODUCT_FLOPS = 5e8
# Units of rounding of an axis: for each of m³, in coefficients and polynomials, and of h.
ORDER_ROUNDINGS = 8
WIDTH_ROUNDINGS = 16
# More than products of errors and the rounding of the bound itself add.
HIGHER_ORDER_FACTOR = 1.01


def coefficient_count(points: Array) -> float:
    """Number of coefficients of the polynomials: multiply-adds of a point in a product."""
    return float(np.prod([_order(float(half))[0] for half in np.ptp(points, axis=0) / 2]))


class GaussianSums:
    """The matrix W of exp(−‖y_i − y_j‖²) between different points, by its products.

    error : an entry of a product with v is right to this times Σ|v|
    """

    def __init__(self, points: Array) -> None:
        Y = np.asarray(points, dtype=float)
        low, high = Y.min(axis=0), Y.max(axis=0)
        halves = np.maximum((high - low) / 2, np.finfo(float).tiny)
        orders = [_order(float(half)) for half in halves]
        if len(Y) * coefficient_count(Y) > MAX_PRODUCT_FLOPS:
            raise TooLarge(
                f"{len(Y):,} points of {Y.shape[1]} coordinates reach {float(halves.max()):.3g} "
                "kernel widths from their middle, too far for sums over all pairs; a smaller "
                "spread has nearer ones, and fewer coordinates or rows take less"
            )
        angles = np.arccos(np.clip((Y - (low + high) / 2) / halves, -1, 1))
        self._polynomials = [
            np.cos(angles[:, [axis]] * np.arange(order)) for axis, (order, _) in enumerate(orders)
        ]
        self._coefficients = [
            _coefficients(order, float(half))
            for (order, _), half in zip(orders, halves, strict=True)
        ]
        self.n = len(Y)
        self.error = self._error_bound(orders, halves)

    def _error_bound(self, orders: list[tuple[int, float]], halves: Array) -> float:
        """`error` of the module's docstring: of interpolation, axis by axis, and of rounding."""
        interpolated, roundings, sizes = 1.0, float(self.n), 1.0
        for (order, axis_error), half, C in zip(orders, halves, self._coefficients, strict=True):
            interpolated *= 1 + (2 + 2 / np.pi * np.log(order)) * axis_error
            roundings += ORDER_ROUNDINGS * order**3 + WIDTH_ROUNDINGS * half
            sizes *= HIGHER_ORDER_FACTOR * float(np.abs(C).sum())
        return HIGHER_ORDER_FACTOR * (interpolated - 1 + roundings * sizes * _U)

    def times(self, V: Array) -> Array:
        """W·V, V of n rows."""
        V = V.reshape(self.n, -1)
        first, others = self._polynomials[0], self._polynomials[1:]
        shape = [len(C) for C in self._coefficients]
        wide = int(np.prod(shape[1:]))
        image = np.empty_like(V, dtype=float)
        moments = np.zeros((V.shape[1], shape[0], wide))
        tiles = list(row_slices(self.n, max(1, TILE_NUMBERS // wide)))
        for rows in tiles:
            rest = _rowwise([factor[rows] for factor in others], rows.stop - rows.start)
            for j in range(V.shape[1]):
                moments[j] += (first[rows] * V[rows, j, None]).T @ rest
        spread = [self._with_kernel(Z.reshape(shape)).reshape(shape[0], wide) for Z in moments]
        for rows in tiles:
            rest = _rowwise([factor[rows] for factor in others], rows.stop - rows.start)
            for j, Z in enumerate(spread):
                image[rows, j] = np.einsum("ij,ij->i", first[rows] @ Z, rest)
        return np.asarray(image - V)  # a point's own share is 1

    def _with_kernel(self, moments: Array) -> Array:
        """The coefficients of every axis, one after the other."""
        for axis, C in enumerate(self._coefficients):
            moments = np.moveaxis(np.tensordot(C, moments, axes=(1, axis)), 0, axis)
        return moments


def _order(half: float) -> tuple[int, float]:
    """The least number of nodes that is fine enough, and the E that it has."""
    rho = np.exp(np.linspace(0.01, 6, 600))
    height = (half * (rho - 1 / rho) / 2) ** 2 + np.log(4) - np.log(rho - 1)

    def off(order: int) -> float:
        return float((height - (order - 1) * np.log(rho)).min())

    order = 4
    while off(order) > np.log(POLYNOMIAL_TOLERANCE) and order < MAX_PRODUCT_FLOPS:
        order += 1 + order // 16
    return order, 1.01 * float(np.exp(min(off(order), 700.0)))


def _coefficients(order: int, half: float) -> Array:
    """C, with exp(−(x − y)²) = Σ C_kl T_k(x/h) T_l(y/h) at the nodes."""
    turns = np.pi * (np.arange(order) + 0.5) / order
    nodes = half * np.cos(turns)
    cosines = 2 / order * np.cos(np.arange(order)[:, None] * turns)
    cosines[0] /= 2
    return np.asarray(cosines @ np.exp(-(np.subtract.outer(nodes, nodes) ** 2)) @ cosines.T)


def _rowwise(factors: list[Array], rows: int) -> Array:
    """Row by row, all products of one entry from each factor."""
    products = np.ones((rows, 1))
    for factor in factors:
        products = (products[:, :, None] * factor[:, None, :]).reshape(rows, -1)
    return products

"""Disparities: the numbers nearest to the distances of points that keep the order of given ones.

Non-metric scaling (Kruskal 1964) minimises, over points and over disparities d̂ that do not fall
where the given distances rise,

    Σ_{i<j} w_ij (d_ij − d̂_ij)²   subject to   Σ_{i<j} w_ij d̂_ij² = Σ_{i<j} w_ij

For given points the best d̂ is the isotonic regression of their distances, a projection onto a
cone, brought to this norm. Pairs with equal given distances have equal disparities (the secondary
approach to ties, as in scikit-learn). A given distance of 0 is missing, as there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from dualfold.arrays import Array
from dualfold.methods.points.stress.problem import StressProblem


@dataclass(frozen=True, eq=False)
class Order:
    """The pairs i < j with a given distance above 0, from the smallest distance to the largest.

    rows, columns : of the pairs
    group : number of the first pair of each group of equal distances
    weights : of the pairs; None for 1
    given : their distances
    """

    rows: Array
    columns: Array
    group: Array
    weights: Array | None
    given: Array
    n: int

    @classmethod
    def of(cls, problem: StressProblem) -> Order:
        n = problem.n
        rows, columns = (part.astype(np.int32) for part in np.triu_indices(n, 1))
        given = problem.distances[rows, columns]
        weights = None if problem.weights is None else problem.weights[rows, columns]
        known = given > 0 if weights is None else (given > 0) & (weights > 0)
        order = np.flatnonzero(known)
        order = order[np.argsort(given[order], kind="stable")]
        given = given[order]
        group = np.flatnonzero(np.diff(given, prepend=-1.0) > 0)
        weights = None if weights is None else weights[order]
        return cls(rows[order], columns[order], group, weights, given, n)

    def regression(self, Y: Array) -> Array:
        """The disparities of points Y, pair by pair."""
        lengths = pair_lengths(Y, self.rows, self.columns)
        w = np.ones_like(lengths) if self.weights is None else self.weights
        return self._regression(lengths, w)

    def _regression(self, lengths: Array, w: Array) -> Array:
        sums = np.add.reduceat(w, self.group)
        means = np.add.reduceat(w * lengths, self.group) / sums
        levels = isotonic_regression(means, weights=sums).x
        sizes = np.diff(self.group, append=len(lengths))
        return np.repeat(levels, sizes)

    def fitted(self, Y: Array) -> tuple[Array, float]:
        """The disparities of Y as a matrix, and the factor that brings Y nearest to them."""
        lengths = pair_lengths(Y, self.rows, self.columns)
        w = np.ones_like(lengths) if self.weights is None else self.weights
        levels = self._regression(lengths, w)
        square, top = float((w * lengths**2).sum()), float((w * levels**2).sum())
        if not square > 0 or not top > 0:
            return self.matrix(levels), 1.0
        # The regression is a projection onto a cone: its product with the lengths is its square.
        return self.matrix(levels), float(np.sqrt(float(w.sum()) * top)) / square

    def matrix(self, disparities: Array) -> Array:
        """The disparities as n×n distances of the norm above; NaN where none is given."""
        w = np.ones_like(disparities) if self.weights is None else self.weights
        square = float((w * disparities**2).sum())
        scale = np.sqrt(float(w.sum()) / square) if square > 0 else 0.0
        D = np.full((self.n, self.n), np.nan)
        D[self.rows, self.columns] = D[self.columns, self.rows] = scale * disparities
        np.fill_diagonal(D, 0.0)
        return D


def pair_lengths(Y: Array, rows: Array, columns: Array) -> Array:
    """‖y_i − y_j‖ of listed pairs."""
    square = np.zeros(len(rows))
    for c in range(Y.shape[1]):
        column = np.ascontiguousarray(Y[:, c])
        square += (column[rows] - column[columns]) ** 2
    return np.sqrt(square)

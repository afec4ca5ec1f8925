"""Sets of matrices, of solutions of equations, and products of sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dualfold.errors import InvalidInput
from dualfold.games.sets import ConvexSet, Simplex

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Spectrahedron(ConvexSet):
    """{X symmetric, X ⪰ 0, tr X = total}: the simplex of matrices. Points are n×n arrays."""

    total: float = 1.0

    def project(self, x: Array) -> Array:
        values, vectors = np.linalg.eigh((x + x.T) / 2)
        return (vectors * Simplex(self.total).project(values)) @ vectors.T

    def minimiser(self, slope: Array) -> Array:
        _, vectors = np.linalg.eigh((slope + slope.T) / 2)
        return self.total * np.outer(vectors[:, 0], vectors[:, 0])

    def reach(self, x: Array) -> float:
        return float(np.linalg.norm(x)) + self.total

    @property
    def diameter(self) -> float:
        return self.total * float(np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class AffineSet(ConvexSet):
    """{x : matrix·x = values}, by least squares where the equations have no solution."""

    matrix: Array
    values: Array

    @cached_property
    def _directions(self) -> tuple[Array, Array]:
        """An orthonormal basis of the rows, and the solution in their span."""
        left, size, rows = np.linalg.svd(self.matrix, full_matrices=False)
        rank = int(np.sum(size > 1e-12 * size.max(initial=0.0)))  # a little over rounding
        rows = rows[:rank]
        return rows, rows.T @ (left[:, :rank].T @ self.values / size[:rank])

    def project(self, x: Array) -> Array:
        rows, solution = self._directions
        return x - rows.T @ (rows @ x) + solution

    def minimum(self, slope: Array) -> float:
        rows, solution = self._directions
        rest = slope - rows.T @ (rows @ slope)
        flat = float(np.linalg.norm(rest)) <= 1e-12 * float(np.linalg.norm(slope))
        return float(slope @ solution) if flat else -np.inf


@dataclass(frozen=True, eq=False)
class Product(ConvexSet):
    """K₁ × K₂ × …: x is cut into pieces of the given sizes, one for each set."""

    sets: tuple[ConvexSet, ...]
    sizes: tuple[int, ...]

    def _pieces(self, x: Array) -> list[tuple[ConvexSet, Array]]:
        if len(self.sets) != len(self.sizes) or sum(self.sizes) != len(x):
            raise InvalidInput(
                f"{len(self.sets)} sets with sizes {self.sizes} cannot share {len(x)} "
                "coordinates; give one size for each set, adding up to the dimension"
            )
        return list(zip(self.sets, np.split(x, np.cumsum(self.sizes)[:-1]), strict=True))

    def project(self, x: Array) -> Array:
        return np.concatenate([part.project(piece) for part, piece in self._pieces(x)])

    def minimiser(self, slope: Array) -> Array:
        return np.concatenate([part.minimiser(piece) for part, piece in self._pieces(slope)])

    def minimum(self, slope: Array) -> float:
        return sum(part.minimum(piece) for part, piece in self._pieces(slope))

    def reach(self, x: Array) -> float:
        return float(np.linalg.norm([part.reach(piece) for part, piece in self._pieces(x)]))

    @property
    def diameter(self) -> float:
        return float(np.linalg.norm([part.diameter for part in self.sets]))

"""Sets of matrices, of solutions of equations, and products of sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels.arithmetic import EPS
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    SizedMatrix,
    dot,
    interval,
    least_eigenvalue,
    length,
    upper_product,
    upper_sum,
)
from dualfold.theory.games.convex_sets import ConvexSet
from dualfold.theory.games.doubles import number, table, vector
from dualfold.theory.games.planes import Share, difference, lower_sum
from dualfold.theory.games.polytopes import Simplex


@dataclass(frozen=True)
class Spectrahedron(ConvexSet):
    """The set {X symmetric, X ⪰ 0, tr X = total}, the simplex of matrices.

    Points are n×n arrays.

    Parameters
    ----------
    total : float, default=1.0
        The trace.

    See Also
    --------
    VonNeumann : The divergence that suits it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Spectrahedron
    >>> Spectrahedron().project(np.diag([3.0, 0.0]))
    array([[1., 0.],
           [0., 0.]])
    """

    total: float = 1.0
    rounding_bounded = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "total", number(self.total, "the trace of a spectrahedron"))

    def project(self, x: Array) -> Array:
        values, vectors = np.linalg.eigh((x + x.T) / 2)
        return (vectors * Simplex(self.total).project(values)) @ vectors.T

    def minimiser(self, slope: Array) -> Array:
        _, vectors = np.linalg.eigh((slope + slope.T) / 2)
        return self.total * np.outer(vectors[:, 0], vectors[:, 0])

    def reach(self, x: Array) -> float:
        return upper_sum(length(x), self.total)

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        symmetric = (interval(slope) + slope.T) * 0.5
        low = least_eigenvalue(symmetric)
        _, vectors = np.linalg.eigh(symmetric.mid)
        v = vectors[:, 0]  # Rayleigh: no eigenvalue's least is above this quotient
        high = (dot(v, SizedMatrix(slope) @ v) / dot(v, v)).high()
        middle = (low + high) / 2
        least = Interval(middle, max(high - middle, middle - low) * (1 + 4 * EPS))
        return self.total * least - dot(slope, origin)

    def outside_distance(self, x: Array) -> float:
        # The symmetric part, lifted until it is positive and scaled to its trace, is inside.
        symmetric = (interval(x) + x.T) * 0.5
        lift = max(0.0, -least_eigenvalue(symmetric))
        lifted = upper_product(float(len(x)), lift)
        trace = interval(x.diagonal()).sum()
        off = max((trace + lifted - self.total).high(), (self.total - trace).high(), 0.0)
        return upper_sum(length(interval(x) - symmetric), lifted, off)

    @property
    def diameter(self) -> float:
        return self.total * float(np.sqrt(2.0))


@dataclass(frozen=True, eq=False)
class AffineSet(ConvexSet):
    """Solutions {x : matrix·x = values}, by least squares where the equations have none.

    Parameters
    ----------
    matrix : ndarray of shape (n_equations, d)
        The matrix.
    values : ndarray of shape (n_equations,)
        The right-hand sides.

    See Also
    --------
    Product : Several sets, each for some of the coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import AffineSet
    >>> AffineSet(np.array([[1.0, 1.0]]), np.array([2.0])).project(np.zeros(2)).round(6)
    array([1., 1.])
    """

    matrix: Array
    values: Array
    rounding_bounded = True

    def __post_init__(self) -> None:
        matrix = table(self.matrix, "the matrix of an affine set")
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(
            self, "values", vector(self.values, "the values of an affine set", len(matrix))
        )

    @cached_property
    def _directions(self) -> tuple[Array, Array]:
        """An orthonormal basis of the rows, and the solution in their span."""
        left, size, rows = np.linalg.svd(self.matrix, full_matrices=False)
        rank = int(np.sum(size > 1e-12 * size.max(initial=0.0)))  # a little over rounding
        rows = rows[:rank]
        return rows, rows.T @ (left[:, :rank].T @ self.values / size[:rank])

    @cached_property
    def _squares(self) -> Array:
        """The squared singular values that count."""
        return np.linalg.svd(self.matrix, compute_uv=False)[: len(self._directions[0])] ** 2

    def project(self, x: Array) -> Array:
        rows, solution = self._directions
        return x - rows.T @ (rows @ x) + solution

    def minimum(self, slope: Array) -> float:
        rows, solution = self._directions
        rest = slope - rows.T @ (rows @ slope)
        flat = float(np.linalg.norm(rest)) <= 1e-12 * float(np.linalg.norm(slope))
        return float(slope @ solution) if flat else -np.inf

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        # Every least-squares solution x of Mx = b has ⟨MᵀMk, x⟩ = ⟨Mk, b⟩, for any k.
        # This k makes MᵀMk the part of the slope in the span of the rows.
        rows, _ = self._directions
        turned = SizedMatrix(self.matrix) @ (rows.T @ ((rows @ slope) / self._squares))
        carried = SizedMatrix(self.matrix.T) @ turned
        rest, off = difference(slope, carried.mid)
        bound = (dot(turned, self.values) - dot(carried, origin)).low()
        return Share(bound, rest, upper_sum(slack, off, length(carried.off)))


@dataclass(frozen=True, eq=False)
class Product(ConvexSet):
    """Product K₁ × K₂ × … of sets: x is cut into pieces of the given sizes, one for each set.

    Parameters
    ----------
    sets : tuple of ConvexSet
        The sets.
    sizes : tuple of int
        Number of coordinates for each set.

    See Also
    --------
    Box : Bounds of the entries.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.games import Ball, Product, Simplex
    >>> Product((Ball(1.0), Simplex()), (1, 2)).project(np.array([5.0, 3.0, 0.0]))
    array([1., 1., 0.])
    """

    sets: tuple[ConvexSet, ...]
    sizes: tuple[int, ...]

    @property
    def rounding_bounded(self) -> bool:  # type: ignore[override]
        return all(part.rounding_bounded for part in self.sets)

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
        return length(np.array([part.reach(piece) for part, piece in self._pieces(x)]))

    def minimum_interval(self, slope: Array, origin: Array | float = 0.0) -> Interval:
        where = np.broadcast_to(origin, slope.shape)
        total = Interval(0.0)
        for (part, piece), (_, at) in zip(self._pieces(slope), self._pieces(where), strict=True):
            total = total + part.minimum_interval(piece, at)
        return total

    def share(self, slope: Array, slack: float, origin: Array) -> Share:
        # Each set carries its piece; ‖x‖ ≤ Σ‖x_i‖ hands the slack to each of them.
        both = zip(self._pieces(slope), self._pieces(origin), strict=True)
        shares = [part.share(piece, slack, at) for (part, piece), (_, at) in both]
        left = length(np.array([share.slack for share in shares]))
        rest = np.concatenate([share.rest for share in shares])
        return Share(lower_sum(*(share.bound for share in shares)), rest, left)

    def outside_distance(self, x: Array) -> float:
        return length(np.array([part.outside_distance(piece) for part, piece in self._pieces(x)]))

    def contains_ball(self, x: Array, margin: float) -> bool:
        return all(part.contains_ball(piece, margin) for part, piece in self._pieces(x))

    @property
    def diameter(self) -> float:
        return float(np.linalg.norm([part.diameter for part in self.sets]))

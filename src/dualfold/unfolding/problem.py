"""Maximum variance unfolding as data: which points are tied by an edge, and how long it may be.

    maximise tr K   subject to   K ⪰ 0,  K1 = 0,  K_ii + K_jj − 2K_ij ≤ d_ij² on edges
    minimise Σ w_ij d_ij²   subject to   λ₂(L(w)) ≥ 1,  w ≥ 0,
             L(w) = Σ w_ij (e_i − e_j)(e_i − e_j)ᵀ

With = in place of ≤ the weights may have any sign. Points that must coincide are
one point here with a mass m_i (see `contraction`): then tr K is Σ m_i K_ii,
the centre is Σ m_i y_i and λ₂ is that of the pencil (L(w), diag(m)).

A problem can be stated in units of its own, which are powers of 2, so that scaling rounds
nothing. tr K scales with the square of the unit of length, and the bound of some weights does
not depend on their unit. Where the longest edge, the farthest coordinate and the largest
weight are about 1, no square overflows, and what underflows is far below rounding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph import Graph, from_lengths

Constraints = Literal["at_most", "equal"]
# Beyond these, products of squared lengths and masses leave the range of doubles.
MAX_SQUARED_RATIO = 2.0**1000
MAX_MASS = 1e30


@dataclass(frozen=True, eq=False)
class UnfoldingProblem:
    """Maximum variance unfolding as data: points, edges, and how long these may be.

    The problem is to maximise the variance tr K over Gram matrices K ⪰ 0 with K1 = 0 and K_ii +
    K_jj − 2K_ij ≤ d_ij² on edges. It neither solves nor certifies anything.

    Parameters
    ----------
    n : int
        Number of points; the edges must connect them.
    edges : array-like of int of shape (n_edges, 2)
        Row numbers i < j, each pair once, sorted.
    squared : array-like of shape (n_edges,)
        Squared lengths d² > 0; these doubles are the problem.
    constraints : {"at_most", "equal"}, default="at_most"
        Whether edges may be at most as long as given, or must have these lengths.
    masses : array-like of shape (n,) or None, default=None
        How many rows of data each point stands for; None is one each.
    positions : ndarray of shape (n, n_features) or None, default=None
        Rows whose exact lengths are meant, if `squared` holds these lengths rounded.

    Raises
    ------
    InvalidInput
        If edges or lengths are not of this form.

    See Also
    --------
    contraction_of : The problem of a graph.
    unfold : Solves the problem of a graph.

    Notes
    -----
    The dual is to minimise Σ w_ij d_ij² subject to λ₂(L(w)) ≥ 1 and w ≥ 0, where L(w) is the
    Laplacian with weights w. For equal lengths the weights may have any sign.

    References
    ----------
    .. [1] K. Q. Weinberger and L. K. Saul, "Unsupervised learning of image manifolds by
       semidefinite programming", International Journal of Computer Vision, 70(1), 77–90, 2006.

    Examples
    --------
    >>> from dualfold.unfolding import UnfoldingProblem
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> chain.m, chain.value([[-1.0], [0.0], [1.0]])
    (2, 2.0)
    """

    n: int
    edges: Array
    squared: Array
    constraints: Constraints = "at_most"
    masses: Array | None = None
    positions: Array | None = None

    def __post_init__(self) -> None:
        edges = row_numbers(self.edges, "edges").reshape(-1, 2)
        squared = np.ascontiguousarray(doubles(self.squared, "squared"))
        masses = None if self.masses is None else doubles(self.masses, "masses")
        if masses is not None and masses.shape == (self.n,) and np.all(masses == 1):
            masses = None
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "squared", squared)
        object.__setattr__(self, "masses", masses)
        _refuse_invalid(self)

    @property
    def m(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @cached_property
    def mass(self) -> Array:
        """The masses as numbers, ones where none were given."""
        return np.ones(self.n) if self.masses is None else self.masses

    @cached_property
    def incidence(self) -> sp.csr_array:
        """The m×n matrix B with rows e_i − e_j, so that L(w) = Bᵀdiag(w)B."""
        ones = np.tile([1.0, -1.0], self.m)
        starts = np.arange(0, 2 * self.m + 1, 2)
        return sp.csr_array((ones, self.edges.ravel(), starts), shape=(self.m, self.n))

    @cached_property
    def pattern(self) -> sp.csr_array:
        """The pattern of every L(w); its entries are positions in [w, w, diagonal], from 1."""
        i, j = self.edges.T
        points = np.arange(self.n)
        rows, columns = np.concatenate([i, j, points]), np.concatenate([j, i, points])
        numbers = np.arange(1, len(rows) + 1)
        pattern = sp.csr_array(sp.coo_array((numbers, (rows, columns)), shape=(self.n, self.n)))
        pattern.sort_indices()
        return pattern

    def laplacian(self, weights: Array) -> sp.csr_array:
        """Make the Laplacian L(w), with every edge and the whole diagonal stored.

        Parameters
        ----------
        weights : array-like of shape (n_edges,)
            The dual weights w, one for each edge.

        Returns
        -------
        csr_array of shape (n, n)
            The Laplacian; zeros are stored, too.
        """
        i, j = self.edges.T
        w = np.asarray(weights, dtype=float)
        diagonal = np.bincount(i, w, self.n) + np.bincount(j, w, self.n)
        entries = np.concatenate([-w, -w, diagonal])
        pattern = self.pattern
        numbers = pattern.data - 1
        shape = (self.n, self.n)
        return sp.csr_array((entries[numbers], pattern.indices, pattern.indptr), shape=shape)

    def squared_lengths(self, factor: Array) -> Array:
        """Compute ‖y_i − y_j‖² on the edges.

        Parameters
        ----------
        factor : ndarray of shape (n, r)
            The points Y.

        Returns
        -------
        ndarray of shape (n_edges,)
            The squared lengths.
        """
        differences = factor[self.edges[:, 0]] - factor[self.edges[:, 1]]
        return np.asarray(np.einsum("ij,ij->i", differences, differences))

    def centred_points(self, factor: Array) -> Array:
        """Shift the points so that Σ m_i y_i = 0.

        Parameters
        ----------
        factor : array-like of shape (n, r)
            The points Y.

        Returns
        -------
        ndarray of shape (n, r)
            The shifted points.
        """
        Y = np.asarray(factor, dtype=float)
        return Y - (self.mass @ Y) / self.mass.sum()

    def value(self, factor: Array) -> float:
        """Compute the variance tr K = Σ m_i‖y_i‖² about the centre.

        Parameters
        ----------
        factor : array-like of shape (n, r)
            The points Y.

        Returns
        -------
        float
            The variance.
        """
        Y = self.centred_points(factor)
        return float(self.mass @ np.einsum("ij,ij->i", Y, Y))


def _refuse_invalid(problem: UnfoldingProblem) -> None:
    edges, squared, n = problem.edges, problem.squared, problem.n
    if problem.constraints not in ("at_most", "equal"):
        raise InvalidInput(
            Argument("constraints"), f" is {problem.constraints!r}; it must be 'at_most' or 'equal'"
        )
    if squared.shape != (len(edges),):
        raise InvalidInput(
            f"{len(edges)} edges need as many squared lengths; {squared.shape} were given"
        )
    if len(edges) and not (edges.min() >= 0 and edges.max() < n):
        raise InvalidInput(f"the edges name points outside 0…{n - 1}")
    keys = edges[:, 0] * n + edges[:, 1]
    if not (np.all(edges[:, 0] < edges[:, 1]) and np.all(np.diff(keys) > 0)):
        raise InvalidInput("each edge must be given once as i < j, sorted by (i, j)")
    if not (np.isfinite(squared).all() and np.all(squared > 0)):
        raise InvalidInput(
            "squared lengths must be positive and finite; points at distance 0 are one point: "
            "see dualfold.unfolding.contraction"
        )
    if len(edges) and squared.max() / MAX_SQUARED_RATIO > squared.min():
        raise InvalidInput(
            f"the squared lengths go from {squared.min():.1e} to {squared.max():.1e}; double "
            "precision holds problems where these are less than 1e300 apart"
        )
    masses = problem.masses
    if masses is not None and not (
        masses.shape == (n,) and np.all((masses >= 1 / MAX_MASS) & (masses <= MAX_MASS))
    ):
        raise InvalidInput(
            Argument("masses"), f" must be {n} positive numbers up to 1e30, one for each point"
        )


def doubles(numbers: object, name: str) -> Array:
    """Real numbers as doubles; numbers that double precision cannot hold are refused.

    >>> doubles([1, 2], "squared")
    array([1., 2.])
    """
    given = np.asarray(numbers)
    if given.dtype.kind not in "biuf":
        given = given.astype(float) if given.dtype.kind == "O" else given
    if given.dtype.kind not in "biuf":
        raise InvalidInput(Argument(name), f" must be real numbers; given were {given.dtype} ones")
    entries = given.astype(float)
    if given.dtype.kind in "iu" and np.any((given > 2**53) | (entries < -(2.0**53))):
        raise InvalidInput(
            Argument(name),
            " holds whole numbers beyond 2^53, which double precision rounds; divide them by "
            "a common unit and pass floats",
        )
    return entries


def row_numbers(numbers: object, name: str) -> Array:
    """Row numbers; fractions are refused."""
    given = np.asarray(numbers)
    rows = given.astype(np.intp)
    if np.any(rows != given):
        raise InvalidInput(Argument(name), " must be whole numbers, the rows of two points each")
    return np.ascontiguousarray(rows)


def graph_of(problem: UnfoldingProblem) -> Graph:
    """The graph whose edges are as long as the problem allows."""
    i, j = problem.edges.T
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    lengths = np.tile(np.sqrt(problem.squared), 2)
    shape = (problem.n, problem.n)
    return from_lengths(sp.csr_array(sp.coo_array((lengths, both), shape=shape)))


def in_units(problem: UnfoldingProblem, power: int | None = None) -> tuple[UnfoldingProblem, int]:
    """Problem in the unit d²·2⁻ᵉ, exactly, and the even number e; None: d²·2⁻ᵉ ≤ 1."""
    if power is None:
        power = _exponent(problem.squared)
        power += power % 2
    rows = problem.positions
    return (
        replace(
            problem,
            squared=np.ldexp(problem.squared, -power),
            positions=None if rows is None else np.ldexp(rows, -power // 2),
        ),
        power,
    )


def to_unit(numbers: Array) -> tuple[Array, int]:
    """Numbers·2⁻ᵉ, the largest between ½ and 1, and e.

    Exact but for entries below 2⁻¹⁰²² of the largest, which move by 2⁻¹⁰⁷⁵ at the most.
    """
    power = _exponent(numbers)
    return np.ldexp(numbers, -power), power


def _exponent(numbers: Array) -> int:
    return int(np.frexp(np.abs(numbers).max(initial=0.0))[1])


def scaled_down(number: float, power: int) -> float:
    """A number ≥ 0 times 2ᵉ, never more than that (0 where it would underflow)."""
    product = float(np.ldexp(number, power))
    if product < np.finfo(float).tiny:
        return 0.0
    return min(product, float(np.finfo(float).max))


def scaled_up(number: float, power: int) -> float:
    """A number times 2ᵉ, never less than that."""
    product = float(np.ldexp(number, power))
    if number == 0 or abs(product) > np.finfo(float).tiny:
        return product
    return float(np.nextafter(product, np.inf))

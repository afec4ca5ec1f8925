"""A variance that points with exactly the lengths asked are proved to have.

Y are points whose lengths are nearly those asked, D. If symmetric Ξ with ‖Ξ‖ < 1 satisfies

    (y_i − y_j)ᵀ Ξ (y_i − y_j) = D_ij − ‖y_i − y_j‖²      on all edges,

then K = Y(I + Ξ)Yᵀ has exactly these lengths, K ⪰ 0, and tr K ≥ (1 − ‖Ξ‖)·tr YYᵀ. With v_e the
differences on edges, Ξ = Σ x_e v_e v_eᵀ solves this for Hx = D − q, H = (v_eᵀv_f)², and
‖Ξ‖² ≤ xᵀHx. So H must be definite, which a Cholesky factorisation in double-doubles proves.

Cliques of more points than their dimension needs make H singular: their lengths depend on each
other. Where the lengths are those of rows X, the points are first moved onto the affine
dependencies of their parts (`congruence`), to 30 digits; what is left is bounded. Then pairs that
decide all distances of a part take the place of its edges, and H is definite where every direction
of Y has room.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.kernels.arithmetic.double_double import (
    DoubleDouble,
    backward,
    cholesky,
    forward,
    products,
)
from dualfold.kernels.arithmetic.exact import integers
from dualfold.kernels.threads import lapack_threads
from dualfold.unfolding.bounds import asked_lengths, edge_fit
from dualfold.unfolding.congruence import (
    Dependency,
    congruent_parts,
    deciding_pairs,
    exact_dependencies,
)
from dualfold.unfolding.problem import UnfoldingProblem

# Squared distances of points that lie as in the data are the same to this share.
CONGRUENCE_TOLERANCE = 1e-8
# Beyond, the matrix H has too many numbers.
MAX_PAIRS = 5_000
# Lengths that are off by more than this are not near enough for the proof.
MAX_OFF_SHARE = 1e-4
# Passes that move points onto dependencies: each leaves the rounding of the one before.
PROJECTION_PASSES = 4
# Of the smallest eigenvalue of H as estimated, what is proved.
PROVED_SHARE = 0.5
INVERSE_STEPS = 6


def feasible_value(problem: UnfoldingProblem, Y: Array) -> float:
    """A variance that points with exactly the lengths asked have, near Y; 0 where none is proved.

    For a problem in units of its own (`in_units`), and points at its scale.
    """
    Y = problem.centred_points(Y)
    lengths = problem.squared_lengths(Y)
    if not problem.m or np.max(np.abs(lengths / problem.squared - 1)) > MAX_OFF_SHARE:
        return 0.0
    A, pairs = DoubleDouble(np.zeros((0, problem.n))), problem.edges
    if problem.positions is not None:
        parts = congruent_parts(problem.positions, Y, problem.edges, CONGRUENCE_TOLERANCE)
        system = rigid_system(problem.positions, parts, problem.edges)
        if system is None:
            return 0.0
        A, pairs = system
    placed = _placed_points(Y, A) if len(pairs) <= MAX_PAIRS else None
    if placed is None:
        return 0.0
    inner = (problem.mass[:, None] * placed.points.high).T @ placed.points.high
    with lapack_threads(len(pairs)):
        change = _correction(_LengthSystem.of(placed, pairs, asked_lengths(problem, pairs)), inner)
    if change is None:
        return 0.0
    variance = edge_fit(problem, placed.points.high).variance
    moved = float(np.linalg.norm(placed.points.low)) + placed.off
    root = np.sqrt(variance) * (1 - 4 * UNIT_ROUNDOFF) - np.sqrt(problem.mass.max()) * moved
    value = max(0.0, root) ** 2 * (1 - change.rest) + change.trace
    return float(max(0.0, value * (1 - 16 * UNIT_ROUNDOFF)))


def rigid_system(
    X: Array, parts: list[tuple[int, ...]], edges: Array
) -> tuple[DoubleDouble, Array] | None:
    """The dependencies of parts as rows of norm about 1, and pairs that decide all lengths.

    None where doubles cannot tell which pairs decide a part.
    """
    rows, dependencies, ranked = integers(X)[0], [], []
    for part in parts:
        of_part = exact_dependencies(rows, X, part)
        dependencies += of_part
        ranked.append((part, len(part) - 1 - len(of_part)))
    pairs = deciding_pairs(X, ranked, edges)
    return None if pairs is None else (_dependency_matrix(dependencies, len(X)), pairs)


@dataclass(frozen=True, eq=False)
class _Placed:
    """Points near which (within `off`, as a norm of all) some satisfy all dependencies exactly."""

    points: DoubleDouble
    off: float


def _placed_points(Y: Array, A: DoubleDouble) -> _Placed | None:
    """Y moved onto the dependencies; None where these are not clearly independent.

    With A of full rank, Y − A⁺AY satisfies them, and ‖A⁺AY‖ ≤ ‖AY‖/σ, σ the least singular value.
    """
    points = DoubleDouble(Y)
    if not len(A.high):
        return _Placed(points, 0.0)
    gram = A.high @ A.high.T
    k, n = A.high.shape
    least = float(np.linalg.eigvalsh(gram)[0]) * PROVED_SHARE
    shifted = gram - least * np.eye(k)
    # Rows of norm 1: forming AAᵀ and its Cholesky factor are right to these units of its trace.
    rounding = 4 * (2 * k + n + 16) * UNIT_ROUNDOFF * k
    if not least > 2 * rounding or scipy.linalg.lapack.dpotrf(shifted, lower=1)[1]:
        return None
    smallest = np.sqrt(least - rounding)
    factor = scipy.linalg.cho_factor(gram, lower=True)
    columns = A.transpose
    for _ in range(PROJECTION_PASSES):
        misfit = products(A, points.transpose)
        change = scipy.linalg.cho_solve(factor, misfit.high)
        points = points - products(columns, DoubleDouble(change.T))
    misfit = products(A, points.transpose)
    sizes = np.abs(A.high) @ np.abs(points.high)
    error = _sum_rounding(n) * float(np.linalg.norm(sizes))
    return _Placed(points, (float(np.linalg.norm(misfit.high)) * 1.001 + error) / smallest)


def _dependency_matrix(dependencies: list[Dependency], n: int) -> DoubleDouble:
    """Matrix of dependencies, in rows of norm about 1, every entry right to u²."""
    A = DoubleDouble(np.zeros((len(dependencies), n)))
    for row, dependency in enumerate(dependencies):
        shares = [*dependency.shares, Fraction(-1)]
        size = 2.0 ** -np.ceil(np.log2(np.linalg.norm([float(share) for share in shares])))
        for column, share in zip([*dependency.base, dependency.point], shares, strict=True):
            high = float(share)
            low = float(share - Fraction(high))
            A.high[row, column], A.low[row, column] = size * high, size * low
    return A


@dataclass(frozen=True, eq=False)
class _LengthSystem:
    """H and r = D − q for rows V, scaled by powers of 2 to a length of about 1.

    Those of the points that satisfy all dependencies exactly differ: rows by `moved` (as a norm),
    entries of r by `off`, of H by `wrong`, rounding included.
    """

    n: int
    V: DoubleDouble
    H: DoubleDouble
    residual: DoubleDouble
    largest: float
    moved: float
    off: float
    wrong: float

    @classmethod
    def of(cls, placed: _Placed, pairs: Array, asked: DoubleDouble) -> _LengthSystem:
        power = np.ldexp(1.0, -np.round(np.log2(asked.high) / 2).astype(int))
        V = (placed.points[pairs[:, 0]] - placed.points[pairs[:, 1]]) * power[:, None]
        gram = products(V, V)
        largest = 1.001 * float(np.sqrt(np.max(np.sum(V.high**2, axis=1))))
        distance = placed.off + 16 * UNIT_ROUNDOFF**2 * float(np.linalg.norm(placed.points.high))
        moved = 2 * distance * float(power.max())
        rounding = _sum_rounding(V.high.shape[1]) * max(largest, 2.0) ** 2
        off = 2 * largest * moved + moved**2 + rounding
        return cls(
            n=len(placed.points.high),
            V=V,
            H=gram * gram,
            residual=asked * power**2 - gram[np.diag_indices(len(pairs))],
            largest=largest,
            moved=moved,
            off=off,
            wrong=2 * largest**2 * off + off**2 + 64 * UNIT_ROUNDOFF**2 * largest**4,
        )

    @property
    def product_error(self) -> float:
        """Error of a product with H in double-doubles from that with the exact one, of ‖x‖."""
        m = len(self.H.high)
        return m * (self.wrong + 2 * _sum_rounding(m) * self.largest**4)


@dataclass(frozen=True)
class _Correction:
    """At least the trace that Σ x_e v_e v_eᵀ adds, and a bound of the norm of the rest of Ξ."""

    trace: float
    rest: float


def _correction(system: _LengthSystem, inner: Array) -> _Correction | None:
    """The change of the trace by Ξ; None where H is not proved definite, or ‖Ξ‖ not below 1.

    For any x, Ξ is Σ x_e v_e v_eᵀ and a rest of norm ‖r − Hx‖/√h at the most, h ≤ λ(H). `inner` is
    YᵀMY of the points.
    """
    factor = cholesky(system.H)
    if factor is None:
        return None

    def solve(b: DoubleDouble) -> DoubleDouble:
        return backward(factor, forward(factor, b[None]))[0]

    least = _proved_least(system, solve)
    if not least > 0:
        return None
    H, V, residual = system.H, system.V.high, system.residual
    x = solve(residual)
    x = x + solve(residual - _times(H, x))
    size = 1.001 * float(np.linalg.norm(x.high))
    first = 1.001 * abs((x * _times(H, x)).total()) + system.product_error * size**2
    left = 1.001 * float(np.linalg.norm((residual - _times(H, x)).high))
    left += np.sqrt(len(V)) * system.off + system.product_error * size
    rest = 1.001 * left / np.sqrt(least)
    if not 1.001 * np.sqrt(first) + rest < 1:
        return None
    # Each v_eᵀ(YᵀMY)v_e sums n·r² products; rows differ by `moved`, and all is added up.
    adds = np.einsum("ij,ij->i", V @ inner, V)
    terms = system.n + len(V) + 4 * len(inner) + 64
    share = 16 * terms * UNIT_ROUNDOFF + 8 * system.moved
    error = share * float(np.trace(inner)) * system.largest**2 * float(np.abs(x.high).sum())
    return _Correction(float(x.high @ adds) - error, float(rest))


def _proved_least(system: _LengthSystem, solve: Any) -> float:
    """A proved lower bound of the smallest eigenvalue of H; 0 where there is none."""
    m = len(system.H.high)
    direction = DoubleDouble(np.random.default_rng(0).standard_normal(m))
    least = 0.0
    for _ in range(INVERSE_STEPS):
        direction = solve(direction / float(np.linalg.norm(direction.high)))
        least = PROVED_SHARE / float(np.linalg.norm(direction.high))
    both = np.diag_indices(m)
    shifted = system.H.copy()
    shifted.put(both, system.H[both] - DoubleDouble(np.full(m, least)))
    rounding = 2 * _sum_rounding(m) * float(np.trace(system.H.high)) + m * system.wrong
    if not least > 2 * rounding or cholesky(shifted) is None:
        return 0.0
    return least - rounding


def _sum_rounding(count: int) -> float:
    """Rounding of a sum of this many products in double-doubles, of the sum of their sizes."""
    return 16.0 * (count + 16) ** 2 * UNIT_ROUNDOFF**2


def _times(H: DoubleDouble, x: DoubleDouble) -> DoubleDouble:
    return products(H, x[None]).transpose[0]

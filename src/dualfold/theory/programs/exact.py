"""Programs in exact arithmetic: numbers are fractions in arrays of objects.

Linear systems are solved over the integers when they are small. Larger square ones are enclosed:
with an approximate inverse R of B and ‖I − RB‖∞ ≤ β < 1, B is regular and the solution of
Bz = s has

    |z_i| ≤ max_j (|R||s|)_j / (1 − β)     (B⁻¹ = (I − (I − RB))⁻¹R, Neumann's series),

so near an approximate solution, with s its exact residual, there is one that solves the
system exactly (Rump, "Verification methods", Acta Numerica 2010).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.kernels.arithmetic import EPS, SMALLEST_NORMAL
from dualfold.kernels.arithmetic.exact import (
    ZERO,
    ExactMatrix,
    dot,
    double_above,
    floats,
    fractions,
    numerators,
    solution_on_columns,
)
from dualfold.theory.programs.program import Program

# Sizes that exact arithmetic answers in seconds: docs/dev/notes/programs.md.
MAX_EXACT_ENTRIES = 5_000_000  # entries of all matrices together
MAX_EXACT_EQUATIONS = 60  # solved over the integers
MAX_QUICK_EQUATIONS = 20  # solved so in any case; for more an enclosure is tried first
MAX_ENCLOSED_EQUATIONS = 1_500  # enclosed by a dense inverse in floating point


class ExactProgram:
    """The terms of a program in fractions, as a minimum (a maximum has its signs reversed).

    n_ineq, p : how many rows are inequalities, and how many variables are ≥ 0; they come first
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        curved = [matrix for matrix in (program.Q, program.R) if matrix is not None]
        rows = sp.csr_array(program.rows)
        entries = rows.nnz + sum(sp.csr_array(matrix).nnz for matrix in curved)
        if entries > MAX_EXACT_ENTRIES:
            raise TooLarge(
                f"the program has {entries:,} entries; certificates of programs are taken in exact "
                f"arithmetic, for up to {MAX_EXACT_ENTRIES:,}"
            )
        self.n_ineq, self.p = len(program.b), program.nonnegative
        self.cost = fractions(program.sign * program.c)
        self.limits = fractions(program.limits)
        self.rows, self.columns = ExactMatrix(rows), ExactMatrix(rows.T)
        self.Q = None if program.Q is None else ExactMatrix(program.Q)
        self.R = None if program.R is None else ExactMatrix(program.R)

    def value(self, x: Array, w: Array) -> Fraction:
        """The objective, of a minimum."""
        return half_square(self.Q, x) + half_square(self.R, w) + dot(self.cost, x)

    def slack(self, x: Array, w: Array) -> Array:
        """h − Mx + Rw."""
        left = self.limits - self.rows.times(x)
        return left if self.R is None else left + self.R.times(w)

    def gradient(self, v: Array, y: Array) -> Array:
        """Qv + c + Mᵀy."""
        flat = self.cost + self.columns.times(y)
        return flat if self.Q is None else flat + self.Q.times(v)

    def dual_value(self, v: Array, y: Array) -> Fraction:
        """−½vᵀQv − ½yᵀRy − hᵀy."""
        return -half_square(self.Q, v) - half_square(self.R, y) - dot(self.limits, y)


def half_square(matrix: ExactMatrix | None, vector: Array) -> Fraction:
    """½uᵀQu; 0 without a matrix."""
    return ZERO if matrix is None else dot(vector, matrix.times(vector)) / 2


@dataclass(frozen=True, eq=False)
class Enclosure:
    """A vector that is wanted lies within `radius` of `centre`, entry by entry.

    The radius is 0 where the arithmetic was exact.
    """

    centre: Array
    radius: Array


def corrections(matrix: sp.csr_array, right: Array, weights: Array) -> Iterator[Enclosure]:
    """Solutions z of matrix·z = right that are small in units of `weights`, the cheapest first.

    Only as many entries as there are independent equations differ from 0: those that QR with
    pivoting takes from the weighted columns. There is none where no solution is found.
    """
    m, n = matrix.shape
    z, radius = fractions(np.zeros(n)), fractions(np.zeros(n))
    if not m or not any(right):
        yield Enclosure(z, radius)
        return
    if not n or m > MAX_ENCLOSED_EQUATIONS or m * n > 4 * MAX_ENCLOSED_EQUATIONS**2:
        return
    dense = matrix.toarray()
    with np.errstate(all="ignore"):
        weighted = dense * weights
        weighted /= np.maximum(np.abs(weighted).max(axis=1, initial=0.0), SMALLEST_NORMAL)[:, None]
    if not np.isfinite(weighted).all():
        return
    order = scipy.linalg.qr(weighted, mode="r", pivoting=True)[1]
    if m > min(MAX_QUICK_EQUATIONS, MAX_EXACT_EQUATIONS) and n >= m:
        near = enclosed_solution(dense[:, order[:m]], right)
        if near is not None:
            z[order[:m]], radius[order[:m]] = near.centre, near.radius
            yield Enclosure(z, radius)
    solved = elimination_solution(dense[:, order], right) if m <= MAX_EXACT_EQUATIONS else None
    if solved is not None:
        z, radius = fractions(np.zeros(n)), fractions(np.zeros(n))
        for column, number in solved.items():
            z[order[column]] = number
        yield Enclosure(z, radius)


def elimination_solution(matrix: Array, right: Array) -> dict[int, Fraction] | None:
    """The entries, by column, of the solution on the first independent columns."""
    m, n = matrix.shape
    for width in dict.fromkeys((min(m, n), n)):  # the later columns are seldom needed
        rows = zip(matrix[:, :width], right, strict=True)
        solved = solution_on_columns([_whole_row(row, last) for row, last in rows], width)
        if solved is not None:
            return solved
    return None


def _whole_row(row: Array, right: Fraction) -> list[int]:
    """An equation times a number that makes all of it integers without common factor."""
    entries, shift = numerators(row)
    scale = right.denominator
    last = (right.numerator << shift) if shift else right.numerator
    whole = [int(entry) * scale for entry in entries] + [last]
    factor = math.gcd(*whole) or 1
    return [entry // factor for entry in whole]


def enclosed_solution(matrix: Array, right: Array) -> Enclosure | None:
    """The solution of a square system, with a radius (module docstring)."""
    m = len(matrix)
    with np.errstate(all="ignore"):
        try:
            inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(inverse).all():
            return None
        moduli = np.abs(inverse)
        # Each product of m terms is rounded by less than m·EPS of its moduli, or underflows.
        rounding = 2 * (m + 2) * EPS * (moduli @ np.abs(matrix)) + m * SMALLEST_NORMAL
        left = np.abs(np.eye(m) - inverse @ matrix) + rounding
        beta = float(left.sum(axis=1).max()) * (1 + 2 * m * EPS)
        near = inverse @ floats(right)
    if not beta < 0.5 or not np.isfinite(near).all():
        return None
    exact = ExactMatrix(matrix)
    near = near + inverse @ floats(right - exact.times(fractions(near)))
    if not np.isfinite(near).all():
        return None
    centre = fractions(near)
    rest = np.array([double_above(abs(number)) for number in right - exact.times(centre)])
    size = float((moduli @ rest).max()) * (1 + 2 * (m + 2) * EPS) + m * SMALLEST_NORMAL
    if not np.isfinite(size):
        return None
    radius = Fraction(size) / (1 - Fraction(beta))
    return Enclosure(centre, np.full(m, radius, dtype=object))

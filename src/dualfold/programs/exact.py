"""Programs in exact arithmetic: every float is an integer over a power of 2.

Sums of products are taken over the integers, so nothing is rounded and nothing overflows.
Numbers are `fractions.Fraction` in arrays of objects; they are rounded once, at the end,
to the side that is asked for.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.programs.program import Program

# Entries of all matrices together; so many take some ten seconds and a gigabyte.
MOST_SUMMED = 5_000_000
ZERO = Fraction(0)


def fractions(numbers: Any) -> Array:
    """The same numbers, exactly."""
    exact = np.empty(len(numbers), dtype=object)
    exact[:] = [Fraction(number) for number in np.asarray(numbers).tolist()]
    return exact


def floats(numbers: Any) -> Array:
    """The nearest doubles (infinite where there is none)."""
    return np.array([nearest(number) for number in numbers], dtype=float)


def nearest(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def above(number: Fraction) -> float:
    """A double that is not below the number."""
    rounded = nearest(number)
    if rounded == -math.inf:
        return -float(np.finfo(float).max)
    return rounded if rounded == math.inf or Fraction(rounded) >= number else _next(rounded)


def below(number: Fraction) -> float:
    """A double that is not above the number."""
    return -above(-number)


def _next(number: float) -> float:
    return math.nextafter(number, math.inf)


def integers(numbers: Array) -> tuple[Array, int]:
    """(N, s) with numbers = N/2^s, N Python integers."""
    mantissas, exponents = np.frexp(np.asarray(numbers, dtype=float))
    whole = (mantissas * 2.0**53).astype(np.int64)  # exact: a mantissa has 53 bits
    powers = exponents.astype(np.int64) - 53
    real = whole != 0
    lowest = min(int(powers[real].min(initial=0)), 0)
    shifts = np.where(real, powers - lowest, 0).astype(object)
    return whole.astype(object) << shifts, -lowest


class ExactMatrix:
    """A matrix of doubles that multiplies vectors of fractions without rounding."""

    def __init__(self, matrix: Any) -> None:
        rows = sp.csr_array(matrix)
        self.shape = rows.shape
        self._starts, self._columns = rows.indptr, rows.indices
        self._entries, self._shift = integers(rows.data)

    def times(self, vector: Array) -> Array:
        """The product with a vector of fractions."""
        product = np.full(self.shape[0], ZERO, dtype=object)
        if not len(self._columns):
            return product
        common = math.lcm(*(number.denominator for number in vector))
        whole = np.array(
            [number.numerator * (common // number.denominator) for number in vector], dtype=object
        )
        filled = np.flatnonzero(np.diff(self._starts))
        sums = np.add.reduceat(self._entries * whole[self._columns], self._starts[filled])
        scale = common << self._shift
        product[filled] = [Fraction(int(total), scale) for total in sums]
        return product


class ExactProgram:
    """The terms of a program in fractions, as a minimum (a maximum has its signs turned)."""

    def __init__(self, program: Program) -> None:
        self.program = program
        curved = [matrix for matrix in (program.Q, program.R) if matrix is not None]
        rows = sp.csr_array(program.rows)
        entries = rows.nnz + sum(sp.csr_array(matrix).nnz for matrix in curved)
        if entries > MOST_SUMMED:
            raise TooLarge(
                f"the program has {entries:,} entries; certificates of programs are taken in exact "
                f"arithmetic, for up to {MOST_SUMMED:,}"
            )
        self.held, self.p = len(program.b), program.nonnegative
        self.cost = fractions(program.sign * program.c)
        self.limits = fractions(program.limits)
        self.rows, self.columns = ExactMatrix(rows), ExactMatrix(rows.T)
        self.Q = None if program.Q is None else ExactMatrix(program.Q)
        self.R = None if program.R is None else ExactMatrix(program.R)

    def value(self, x: Array, w: Array) -> Fraction:
        """The objective, of a minimum."""
        return _curve(self.Q, x) + _curve(self.R, w) + dot(self.cost, x)

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
        return -_curve(self.Q, v) - _curve(self.R, y) - dot(self.limits, y)


def dot(first: Array, second: Array) -> Fraction:
    return sum((a * b for a, b in zip(first, second, strict=True)), ZERO)


def _curve(matrix: ExactMatrix | None, vector: Array) -> Fraction:
    return ZERO if matrix is None else dot(vector, matrix.times(vector)) / 2

"""Exact numbers: doubles as integers and fractions, matrices of them, and elimination.

A double is an integer times a power of 2, so sums and products are taken over the integers:
nothing is rounded, and nothing overflows. Results are rounded once, at the end, to the side that
is needed.

Elimination is Bareiss's ("Sylvester's identity and multistep integer-preserving Gaussian
elimination", 1968): every number in it is a minor, and every division is exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from dualfold.arrays import Array

ZERO = Fraction(0)


def integers(doubles: ArrayLike) -> tuple[Array, int]:
    """(N, p) with doubles = N·2^p, N Python integers; the smallest number decides p."""
    mantissas, exponents = np.frexp(np.asarray(doubles, dtype=float))
    whole = np.ldexp(mantissas, 53).astype(np.int64)  # exact: a mantissa has 53 bits
    real = whole != 0
    lowest = int(exponents[real].min()) if real.any() else 0
    shifts = np.where(real, exponents - lowest, 0).astype(object)
    return whole.astype(object) << shifts, lowest - 53


def numerators(doubles: ArrayLike) -> tuple[Array, int]:
    """(N, s) with doubles = N/2^s and s ≥ 0, N Python integers."""
    whole, power = integers(doubles)
    return whole << max(power, 0), max(-power, 0)


def fractions(numbers: Sequence[float] | Array) -> Array:
    """Doubles as fractions, exactly."""
    exact = np.empty(len(numbers), dtype=object)
    exact[:] = [Fraction(number) for number in np.asarray(numbers).tolist()]
    return exact


def floats(numbers: Iterable[Fraction]) -> Array:
    """The nearest doubles (infinite where there is none)."""
    return np.array([nearest_double(number) for number in numbers], dtype=float)


def nearest_double(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def double_above(number: Fraction) -> float:
    """A double that is not below the number."""
    rounded = nearest_double(number)
    if rounded == -math.inf:
        return -float(np.finfo(float).max)
    if rounded == math.inf or Fraction(rounded) >= number:
        return rounded
    return math.nextafter(rounded, math.inf)


def double_below(number: Fraction) -> float:
    """A double that is not above the number."""
    return -double_above(-number)


def dot(first: Array, second: Array) -> Fraction:
    return sum((a * b for a, b in zip(first, second, strict=True)), ZERO)


class ExactMatrix:
    """A sparse matrix of doubles that multiplies vectors of fractions without rounding."""

    def __init__(self, matrix: Array | sp.csr_array) -> None:
        rows = sp.csr_array(matrix)
        self.shape = rows.shape
        self._starts, self._columns = rows.indptr, rows.indices
        self._entries, self._shift = numerators(rows.data)

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


class IntegerMatrix:
    """A dense matrix of Python integers times 2**power."""

    def __init__(self, entries: Array, power: int) -> None:
        self.entries, self.power = entries, power

    @classmethod
    def of(cls, doubles: ArrayLike) -> IntegerMatrix:
        return cls(*integers(doubles))

    def __matmul__(self, other: IntegerMatrix) -> IntegerMatrix:
        return IntegerMatrix(self.entries @ other.entries, self.power + other.power)

    @property
    def transpose(self) -> IntegerMatrix:
        return IntegerMatrix(self.entries.T, self.power)

    def entries_at(self, power: int) -> Array:
        """The integers in units of 2**power, which is not above this matrix's own."""
        return self.entries * (1 << (self.power - power))

    def fraction(self, *index: int) -> Fraction:
        return Fraction(int(self.entries[index])) * Fraction(2) ** self.power


def negative_eigenvalues(S: Array) -> int | None:
    """Number of negative eigenvalues of a matrix of integers; None where a leading minor is 0.

    The signs of the leading minors tell (Jacobi).
    """
    S = S.copy()
    before, negative = 1, 0
    for k in range(len(S)):
        pivot = int(S[k, k])
        if pivot == 0:
            return None
        negative += int((pivot < 0) != (before < 0))
        rest = slice(k + 1, None)
        S[rest, rest] = (pivot * S[rest, rest] - np.outer(S[rest, k], S[k, rest])) // before
        before = pivot
    return negative


def solution_on_columns(table: list[list[int]], width: int) -> dict[int, Fraction] | None:
    """A solution of [matrix | right] by its first independent columns; None if there is none.

    The first `width` columns are the matrix's. Columns that are not in the answer have 0.
    """
    pivots: list[int] = []
    last, m = 1, len(table)
    for column in range(width):
        at = len(pivots)
        if at == m:
            break
        candidates = [i for i in range(at, m) if table[i][column]]
        if not candidates:
            continue
        chosen = min(candidates, key=lambda i: abs(table[i][column]))
        table[at], table[chosen] = table[chosen], table[at]
        top = table[at]
        pivot = top[column]
        for i in range(at + 1, m):
            row, factor = table[i], table[i][column]
            for j in range(column + 1, width + 1):
                row[j] = (row[j] * pivot - top[j] * factor) // last
            row[column] = 0
        last = pivot
        pivots.append(column)
    if any(table[i][width] for i in range(len(pivots), m)):
        return None
    solved: dict[int, Fraction] = {}
    for i in reversed(range(len(pivots))):
        row = table[i]
        total = row[width] - sum((row[j] * z for j, z in solved.items()), ZERO)
        solved[pivots[i]] = Fraction(total) / row[pivots[i]]
    return solved


def positive_solution(G: IntegerMatrix, K: IntegerMatrix) -> Array | None:
    """G⁻¹K in fractions; None where G is not positive definite."""
    if negative_eigenvalues(G.entries) != 0:
        return None
    unit = Fraction(2) ** (K.power - G.power)
    solution = np.full(K.entries.shape, ZERO, dtype=object)
    for j, right in enumerate(K.entries.T):
        table = np.column_stack([G.entries, right]).tolist()
        for i, number in (solution_on_columns(table, len(G.entries)) or {}).items():
            solution[i, j] = number * unit
    return solution

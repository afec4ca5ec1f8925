"""Small problems in exact arithmetic, where double precision does not resolve them.

A double is an integer times a power of 2, so A', B, the answer V and any height t are integers
in common units, and nothing below is rounded. The signs of the leading minors of A' − tB say
how many eigenvalues lie below t (Jacobi; B is positive definite). If at most k − 1 lie below
t_k, then λ_k ≥ t_k, and the optimum is at least t_1 + … + t_d. The value of the answer,
tr((VᵀBV)⁻¹VᵀA'V), is a fraction.

The integers of the elimination grow with the number of rows and with the spread of the entries:
this is for tens of rows, which the tables of a few features that need it have.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.kernels.arithmetic.exact import (
    IntegerMatrix,
    negative_eigenvalues,
    positive_solution,
)
from dualfold.trace.metric import Diagonal, Identity
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.proof.lehmann_bounds import Bracket

# With these limits an elimination takes less than a second.
MAX_DIRECTIONS = 12
MAX_BITS = 1 << 15  # of the largest minor
MAX_EXACT_ROWS = 40
# How far t_k lies under the k-th value of the answer, in shares of what the tolerance allows.
HEIGHT_SHARES = (1e-4, 1e-2, 0.3, 0.9)


@dataclass(frozen=True, eq=False)
class IntegerPencil:
    """A', B and BN of a problem in integers."""

    A: IntegerMatrix
    B: IntegerMatrix
    N: IntegerMatrix

    def below(self, height: float) -> int | None:
        """Number of eigenvalues below the height, off N; None where a minor is 0.

        [[A' − tB, BN], [NᵀB, 0]] has as many negative eigenvalues as that and one more for each
        excluded direction.
        """
        t = IntegerMatrix.of(np.array([height]))
        power = min(self.A.power, self.B.power + t.power)
        shift = IntegerMatrix(self.B.entries * int(t.entries[0]), self.B.power + t.power)
        n, p = self.N.entries.shape
        S = np.zeros((n + p, n + p), dtype=object)
        S[:n, :n] = self.A.entries_at(power) - shift.entries_at(power)
        border = (self.B @ self.N).entries  # columns in any units: a congruence
        S[:n, n:], S[n:, :n] = border, border.T
        negative = negative_eigenvalues(S)
        return None if negative is None else negative - p


def exact_proof(
    problem: TraceProblem, V: Array, tolerance: float
) -> tuple[Bracket, SpectralFloor] | None:
    """A bracket of the optimum within `tolerance`; None where exact numbers do not find one."""
    d = problem.count
    if not _is_small(problem):
        return None
    pencil = _pencil(problem)
    if pencil is None:
        return None
    W = _on_constraint(pencil, IntegerMatrix.of(V[:, :d]))
    if W is None:
        return None
    energy, gram = W.transpose @ (pencil.A @ W), W.transpose @ (pencil.B @ W)
    quotient = positive_solution(gram, energy)
    if quotient is None:
        return None
    value = Fraction(quotient.trace())
    h = _ritz_values(energy, gram)
    if not value or h is None:
        return None
    for share in HEIGHT_SHARES:
        found = _heights_under(pencil, h, share * tolerance * abs(float(value)) / d)
        if found is not None:
            bracket = _bracket(found[0], value)
            if bracket.gap <= tolerance:
                return bracket, SpectralFloor(0, found[1], "exact", seen=0)
    return None


def _is_small(problem: TraceProblem) -> bool:
    """Whether numbers stay short; and A, B are as given (sparse ones may have been averaged)."""
    if problem.n > MAX_EXACT_ROWS or problem.count > MAX_DIRECTIONS:
        return False
    if not isinstance(problem.metric, Identity | Diagonal):
        return False
    if isinstance(problem.A, Gramian):
        return bool(problem.A.factor.shape[0] <= 8 * MAX_EXACT_ROWS)
    return isinstance(problem.A, np.ndarray)


def _pencil(problem: TraceProblem) -> IntegerPencil | None:
    """The problem in integers; None where they are too long."""
    sign = int(problem.sign)
    if isinstance(problem.A, Gramian):
        M = IntegerMatrix.of(problem.A.factor.toarray())
        square = M.transpose @ M
        A = IntegerMatrix(sign * square.entries, square.power)
    else:
        given = IntegerMatrix.of(problem.A)
        A = IntegerMatrix(sign * (given.entries + given.entries.T), given.power - 1)
    B = IntegerMatrix.of(problem.metric.sparse().toarray())
    N = problem.excluded_columns
    pencil = IntegerPencil(A, B, IntegerMatrix.of(N))
    power = min(A.power, B.power)
    sizes = (
        _bits(A.entries_at(power)),
        _bits(B.entries_at(power)) + 53,
        _bits((B @ pencil.N).entries),
    )
    return pencil if max(sizes) * sum(N.shape) <= MAX_BITS else None


def _on_constraint(pencil: IntegerPencil, V: IntegerMatrix) -> IntegerMatrix | None:
    """Multiples of the columns of V less their components along N, B-orthogonally."""
    N = pencil.N
    if not N.entries.shape[1]:
        return V
    BN = pencil.B @ N
    along = positive_solution(N.transpose @ BN, BN.transpose @ V)
    if along is None:
        return None
    whole = lcm(*(number.denominator for number in along.ravel()))
    C = np.vectorize(int, otypes=[object])(along * whole)
    power = min(V.power, N.power)
    return IntegerMatrix(whole * V.entries_at(power) - N.entries_at(power) @ C, power)


def _bits(integers: Array) -> int:
    return max((int(one).bit_length() for one in integers.ravel()), default=0)


def _ritz_values(energy: IntegerMatrix, gram: IntegerMatrix) -> Array | None:
    """Approximate values of the answer's directions: they only decide where to count."""
    d = len(gram.entries)
    sizes = [gram.fraction(i, i) for i in range(d)]
    if not min(sizes) > 0:
        return None
    # Near to 1 before they become doubles: multiples of the columns can be very large.
    bits = [one.denominator.bit_length() - one.numerator.bit_length() for one in sizes]
    units = [Fraction(2) ** (power // 2) for power in bits]

    def doubles(M: IntegerMatrix) -> Array:
        entries = [float(M.fraction(i, j) * units[i] * units[j]) for i, j in np.ndindex(d, d)]
        return np.reshape(entries, (d, d))

    try:
        return np.asarray(scipy.linalg.eigh(doubles(energy), doubles(gram), eigvals_only=True))
    except (np.linalg.LinAlgError, ValueError):
        return None


def _heights_under(
    pencil: IntegerPencil, h: Array, allowed: float
) -> tuple[Fraction, float] | None:
    """Σ t_k with at most k − 1 eigenvalues below t_k ≥ h_k − `allowed`, and t_1."""
    total, heights = Fraction(0), [-np.inf]
    for k, value in enumerate(h):
        # Values of a cluster share one height; λ_k ≥ λ_k−1 ≥ t.
        if not value - allowed <= heights[-1]:
            found = _height_with_count(pencil, float(value) - allowed / 2, allowed / 2, k)
            if found is None:
                return None
            heights.append(found)
        total += Fraction(heights[-1])
    return total, heights[1]


def _height_with_count(pencil: IntegerPencil, at: float, room: float, most: int) -> float | None:
    """A height from at − room to at with at most `most` eigenvalues below; None if there is none.

    A minor that vanishes is no sign; at another height, a little lower, it does not.
    """
    for share in (0.0, 0.31, 0.57, 0.83):
        height = at - share * room
        below = pencil.below(height)
        if below is not None:
            return height if below <= most else None
    return None


def _bracket(lower: Fraction, value: Fraction) -> Bracket:
    """Fractions as doubles, rounded to the safe side."""
    near = float(value)
    blur = float(np.nextafter(abs(near), np.inf)) - abs(near)
    low = float(np.nextafter(float(lower), -np.inf))
    apart = float(np.nextafter(float(value - lower), np.inf))
    return Bracket(low, max(apart, 0.0), 0.0, near, blur)

"""Numbers with a bound of their error: every sum and product with a bound of its rounding.

`Interval(mid, off)` stands for an exact number, or array, that is within `off` of the doubles
`mid`. Every operation gives back a `Interval` that holds the exact result for all exact numbers
that its operands hold. With u = 2⁻⁵³ the unit roundoff,

    |fl(a ∘ b) − a ∘ b| ≤ u|fl(a ∘ b)| (+ underflow),   |fl(Σa) − Σa| ≤ nu/(1 − nu) Σ|a|

for n terms added in any order, with or without fused multiply-add. The code uses twice
these bounds, so that the rounding of the bounds themselves is covered as well (n < 2⁴⁰).

Assumed: IEEE double arithmetic, rounded to nearest, and `exp`, `log`, `log1p` of the
mathematical library within 8 units in the last place.

Bounds of eigenvalues trust no eigensolver. If Cholesky's factorisation of a symmetric matrix M
runs to its end in floating point, then RᵀR = M + Δ with ‖Δ‖ ≤ γ/(1 − γ)·tr M,
γ = (n+1)u/(1 − (n+1)u), so

    λ_min(M) ≥ −γ/(1 − γ)·tr M

(Higham, "Accuracy and stability of numerical algorithms", theorem 10.3; Rump 2006). An
estimate s of λ_min is made a bound by factorising M − sI for an s a little lower.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import EPS, OPERATIONS_UNDERFLOW

Numbers = float | Array  # a number, or an array of them
BOUND_GROWTH = 1 + 2.0**-48  # more than the rounding of the dozen operations that make an `off`
LIBRARY_ERROR = 16 * EPS  # twice what exp, log and log1p are allowed
CHOLESKY_ATTEMPTS = 6  # each eight times lower; usually the first one succeeds


class Interval:
    """Exact numbers within `off` of `mid`, entry by entry.

    >>> third = Interval(1.0) / Interval(3.0)
    >>> third.low() < 1 / 3 < third.high()
    True
    """

    __slots__ = ("mid", "off")
    __array_ufunc__ = None  # arrays leave arithmetic with a Interval to the Interval

    def __init__(self, mid: Numbers, off: Numbers = 0.0) -> None:
        self.mid: Any = mid  # NumPy does the same with numbers and with arrays
        self.off: Any = off

    def __neg__(self) -> Interval:
        return Interval(-self.mid, self.off)

    def __add__(self, other: Interval | Numbers) -> Interval:
        b = interval(other)
        mid = self.mid + b.mid
        return Interval(mid, (self.off + b.off + EPS * abs(mid)) * BOUND_GROWTH)

    __radd__ = __add__

    def __sub__(self, other: Interval | Numbers) -> Interval:
        b = interval(other)
        mid = self.mid - b.mid
        return Interval(mid, (self.off + b.off + EPS * abs(mid)) * BOUND_GROWTH)

    def __rsub__(self, other: Interval | Numbers) -> Interval:
        return interval(other) + (-self)

    def __mul__(self, other: Interval | Numbers) -> Interval:
        b = interval(other)
        mid = self.mid * b.mid
        if _is_exact_zero(self) or _is_exact_zero(b):
            return Interval(0.0 * mid)
        held = abs(self.mid) * b.off + (abs(b.mid) + b.off) * self.off
        return Interval(mid, (held + EPS * abs(mid) + OPERATIONS_UNDERFLOW) * BOUND_GROWTH)

    __rmul__ = __mul__

    def __truediv__(self, other: Interval | Numbers) -> Interval:
        b = interval(other)
        room = (np.abs(b.mid) - b.off) / BOUND_GROWTH
        if not np.all(room > 0):
            return Interval(self.mid * 0.0, np.inf)
        mid = self.mid / b.mid
        off = (self.off + abs(mid) * b.off + OPERATIONS_UNDERFLOW) / room
        return Interval(mid, (off + EPS * abs(mid) + OPERATIONS_UNDERFLOW) * BOUND_GROWTH)

    def __matmul__(self, other: Interval | Numbers) -> Interval:
        """A matrix times a vector."""
        x = interval(other)
        size = np.abs(self.mid)
        product = SizedMatrix(self.mid, size) @ x
        if not _has_error(self.off):
            return product
        wide = (np.abs(x.mid) + x.off) * (BOUND_GROWTH + 2 * size.shape[-1] * EPS)
        return Interval(product.mid, (product.off + self.off @ wide) * BOUND_GROWTH)

    def sum(self) -> Interval:
        """Σ of all entries."""
        n = np.size(self.mid)
        off = float(np.sum(self.off)) if np.ndim(self.off) else n * self.off
        off = off + (n + 2) * EPS * float(np.sum(np.abs(self.mid)))
        return Interval(float(np.sum(self.mid)), off * (BOUND_GROWTH + 2 * n * EPS))

    def low(self) -> float:
        """A double that is not above; −∞ where nothing is known."""
        return _number_or_infinity(
            math.nextafter(self.mid - self.off, -math.inf) if self.off else self.mid, -math.inf
        )

    def high(self) -> float:
        """A double that is not below; ∞ where nothing is known."""
        return _number_or_infinity(
            math.nextafter(self.mid + self.off, math.inf) if self.off else self.mid, math.inf
        )


class SizedMatrix:
    """A matrix of exact doubles that many vectors are multiplied by: its sizes are kept."""

    def __init__(self, matrix: Array, size: Array | None = None) -> None:
        self.mid, self.size = matrix, np.abs(matrix) if size is None else size

    @property
    def transpose(self) -> SizedMatrix:
        """The transpose."""
        return SizedMatrix(self.mid.T, self.size.T)

    def __matmul__(self, other: Interval | Numbers) -> Interval:
        x = interval(other)
        k = self.mid.shape[-1]
        off = self.size @ (x.off + (k + 4) * EPS * np.abs(x.mid))
        return Interval(
            self.mid @ x.mid, (off + k * OPERATIONS_UNDERFLOW) * (BOUND_GROWTH + 2 * k * EPS)
        )


def interval(number: Interval | Numbers) -> Interval:
    """`number` as a Interval: doubles are exact."""
    return number if isinstance(number, Interval) else Interval(number)


def dot(a: Interval | Numbers, b: Interval | Numbers) -> Interval:
    """⟨a, b⟩ over all entries; a single number stands for a vector of it."""
    a, b = interval(a), interval(b)
    if np.shape(a.mid) != np.shape(b.mid) or np.ndim(a.mid) == 0:
        return (a * b).sum()
    n, one, two = a.mid.size, abs(a.mid), abs(b.mid)
    size = float(np.vdot(one, two))
    exact = not (_has_error(a.off) or _has_error(b.off))
    if exact and size == 0 and not (one.any() and two.any()):
        return Interval(0.0)
    off = (n + 4) * EPS * size + n * OPERATIONS_UNDERFLOW
    if not exact:
        off += float(np.vdot(a.off + 0.0 * one, two + b.off) + np.vdot(one, b.off + 0.0 * two))
    return Interval(float(np.vdot(a.mid, b.mid)), off * (BOUND_GROWTH + 2 * n * EPS))


def length(a: Interval | Numbers) -> float:
    """At least ‖a‖₂: scaled where squares would vanish or overflow."""
    a = interval(a)
    size = abs(a.mid) + a.off if _has_error(a.off) else abs(a.mid)
    n = size.size if isinstance(size, np.ndarray) else 1
    square = float(np.vdot(size, size))
    grown = BOUND_GROWTH + (n + 8) * EPS
    if 1e-200 < square < 1e200:
        return math.sqrt(square + n * OPERATIONS_UNDERFLOW) * grown
    top = float(np.max(size, initial=0.0))
    if not 0 < top < math.inf:
        return 0.0 if top == 0 else math.inf
    return top * float(np.sqrt(np.sum((size / top) ** 2))) * grown + OPERATIONS_UNDERFLOW


def norm_interval(a: Array) -> Interval:
    """‖a‖₂ from both sides, of exact doubles."""
    over = length(a)
    return Interval(
        over,
        over * ((4 * np.size(a) + 128) * EPS + 2.0**-46) + 2 * OPERATIONS_UNDERFLOW
        if over
        else 0.0,
    )


def upper_sum(*terms: float) -> float:
    """At least the sum of these numbers, none negative."""
    try:
        total = math.fsum(terms) if all(map(math.isfinite, terms)) else math.inf
    except OverflowError:
        return math.inf
    return total if total in (0.0, math.inf) or len(terms) == 1 else math.nextafter(total, math.inf)


def upper_product(a: float, b: float) -> float:
    """At least a·b of numbers that are not negative; 0·∞ is 0."""
    if a == 0 or b == 0:
        return 0.0
    return _number_or_infinity(math.nextafter(a * b, math.inf), math.inf)


def _has_error(off: Numbers) -> bool:
    """Whether any of the errors is not 0; a number is not made an array, for speed."""
    return bool(off.any()) if isinstance(off, np.ndarray) else off != 0


def _is_exact_zero(a: Interval) -> bool:
    """A single exact 0."""
    return isinstance(a.mid, float) and a.mid == 0 and isinstance(a.off, float) and a.off == 0


def _number_or_infinity(number: float, side: float) -> float:
    """The number; of NaN (∞ − ∞, 0·∞), which bounds nothing, the infinity of its side."""
    return float(number) if number == number else side


def least_eigenvalue(matrix: Interval, estimate: float | None = None) -> float:
    """A number not above the least eigenvalue of any symmetric matrix that `matrix` holds.

    A good `estimate` saves the eigensolver's time; a bad one makes a poor bound, not a wrong one.
    """
    M = matrix.mid
    if not (np.isfinite(M).all() and np.isfinite(matrix.off).all()):
        return -np.inf
    slack = length(matrix.off * np.ones_like(M)) if np.any(matrix.off) else 0.0
    if not np.any(M - np.diag(np.diag(M))):
        return _lower_difference(float(M.diagonal().min()), slack)
    scale = 2.0 ** -int(np.clip(np.frexp(np.abs(M).max())[1], -1000, 1000))
    guess = None if estimate is None else estimate * scale
    bound = (
        _shifted_cholesky_bound(M * scale, guess) / scale
    )  # powers of two: exact but for underflow
    return _lower_difference(bound, slack + len(M) * OPERATIONS_UNDERFLOW / scale)


def largest_eigenvalue(matrix: Interval) -> float:
    """A number not below the largest eigenvalue."""
    return -least_eigenvalue(-matrix)


def gram_interval(rows: Array) -> Interval:
    """AᵀA of the rows A, every entry from both sides."""
    size = np.abs(rows)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows bounds nothing
        products, sizes = rows.T @ rows, size.T @ size
        return Interval(
            products, (2 * len(rows) + 8) * EPS * sizes + len(rows) * OPERATIONS_UNDERFLOW
        )


def _shifted_cholesky_bound(M: Array, estimate: float | None) -> float:
    """A lower bound of λ_min for entries of size 1."""
    n = len(M)
    estimate = float(np.linalg.eigvalsh(M)[0]) if estimate is None else estimate
    room = 2 * (n + 4) * EPS * (float(np.abs(M.diagonal()).sum()) + n * abs(estimate))
    for _ in range(CHOLESKY_ATTEMPTS):
        shift = estimate - room
        shifted = M.copy()
        shifted[np.diag_indices(n)] -= shift
        try:
            np.linalg.cholesky(shifted)
        except np.linalg.LinAlgError:
            room *= 8
            continue
        trace = float(np.abs(shifted.diagonal()).sum())
        return shift - (2 * (n + 4) * EPS * trace + EPS * abs(shift) + n * n * 2.0**-900)
    around = np.abs(M).sum(axis=1) - np.abs(M.diagonal())  # Gershgorin
    return float((M.diagonal() - around).min()) - 4 * n * EPS * float(np.abs(M).sum(axis=1).max())


def _lower_difference(number: float, slack: float) -> float:
    return number if slack == 0 else float(np.nextafter(number - slack * (1 + EPS), -np.inf))

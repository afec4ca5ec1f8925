"""Lower bounds of a program's objective, from any v and any multipliers y.

For a minimum, y_i ≥ 0 on inequalities and r = Qv + c + Mᵀy, every feasible (x′, w′) has

    objective ≥ −½vᵀQv − ½yᵀRy − hᵀy + rᵀx′ + ½(x′−v)ᵀQ(x′−v) + ½(w′−y)ᵀR(w′−y).

With Q ⪰ κD⁻² (below) the terms in x′ are at least a sum over j of

    r_j t + ½κ(t − v_j)²/d_j²,     t = x′_j between the bounds that the rows state for it,

and each is minimised by itself: in the middle if κ > 0, else at an end. Where an end is
infinite and r_j ≠ 0 nothing is proved (Neumaier and Shcherbina, "Safe bounds in linear and
mixed-integer linear programming", 2004). All of it is exact.

κ and D with Q ⪰ κD⁻² say how much Q curves. D holds powers of 2 that bring the diagonal to about
1, so small units are not lost beside large ones. κ = 0 is proved for small matrices by
elimination over the numerators: all pivots are ≥ 0, and where one is 0 its whole row is. κ ≠ 0 is
proved by Cholesky's factorisation in floating point: if it runs through on S = fl(DQD − σI), then

    S + tr(S)·γ·I ⪰ 0,   γ = 2(n + 2)·EPS     (Demmel, "On floating point errors in
    Cholesky", 1989; Rump, "Verification of positive definiteness", 2006),

so DQD ⪰ (σ − that − the rounding of the diagonal)·I. A negative κ says how far from
convexity Q may be.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array, Matrix
from dualfold.kernels.arithmetic import EPS, SMALLEST_NORMAL
from dualfold.kernels.arithmetic.exact import (
    ZERO,
    ExactMatrix,
    dot,
    double_above,
    fractions,
    numerators,
)
from dualfold.theory.programs.entries import dense_matrix, diagonal_units
from dualfold.theory.programs.exact import Enclosure, ExactProgram, half_square
from dualfold.theory.programs.program import Program

End = Fraction | None  # None: infinite
# How often bounds pass from row to row, and the entries up to which they do.
N_PROPAGATIONS = 2
MAX_PROPAGATED_ENTRIES = 100_000
MAX_EXACT_ROWS = 100  # of a matrix that is eliminated over the numerators


@dataclass(frozen=True, eq=False)
class Curvature:
    """Q ⪰ floor·D⁻², D the powers of 2 in `units`; the floor is None if nothing is proved."""

    floor: Fraction | None
    units: Array


def curvature(matrix: Matrix | None, size: int) -> Curvature:
    """The proved curvature of a symmetric matrix (None is 0)."""
    if matrix is None or not np.any(matrix.data if sp.issparse(matrix) else matrix):
        return Curvature(ZERO, np.ones(size))
    Q = dense_matrix(matrix)
    units = diagonal_units(np.diagonal(Q))
    with np.errstate(all="ignore"):
        scaled = Q * units[:, None] * units
        same = scaled / units / units[:, None]
    lossless = bool(np.isfinite(scaled).all()) and bool((same == Q).all())
    floor = eigenvalue_floor(scaled) if lossless else None
    if (floor is None or floor < 0) and size <= MAX_EXACT_ROWS and is_semidefinite(Q):
        floor = ZERO
    return Curvature(floor, units)


def eigenvalue_floor(scaled: Array) -> Fraction | None:
    """A proved lower bound of the eigenvalues, near the least of them; None if none is."""
    n = len(scaled)
    try:
        least = float(scipy.linalg.eigvalsh(scaled, subset_by_index=[0, 0])[0])
    except (np.linalg.LinAlgError, ValueError):
        return None
    rounding = 4 * n * n * EPS * float(np.abs(np.diagonal(scaled)).max())
    for shift in (0.9 * least, least - rounding, least - 100 * rounding):
        shifted = scaled.copy()
        np.fill_diagonal(shifted, np.diagonal(scaled) - shift)
        diagonal = np.diagonal(shifted)
        if not (diagonal > 0).all() or scipy.linalg.lapack.dpotrf(shifted, lower=1)[1] != 0:
            continue
        # γ is four times what the theorem asks: that covers the rounding of the trace.
        lost = 2 * (n + 2) * EPS * float(diagonal.sum()) + n * n * SMALLEST_NORMAL
        rounded = 2 * EPS * float(diagonal.max() + abs(shift))
        return Fraction(shift) - Fraction(lost) - Fraction(rounded)
    return None


def is_semidefinite(Q: Array) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue, by exact elimination."""
    n = len(Q)
    whole = numerators(Q.ravel())[0].reshape(n, n).tolist()
    left = list(range(n))
    last = 1
    while left:
        if any(whole[i][i] < 0 for i in left):
            return False
        pivots = [i for i in left if whole[i][i] > 0]
        if not pivots:
            return all(whole[i][j] == 0 for i in left for j in left)
        at = min(pivots, key=lambda i: whole[i][i])
        left.remove(at)
        pivot, row = whole[at][at], whole[at]
        for i in left:
            factor = whole[i][at]
            for j in left:
                whole[i][j] = (whole[i][j] * pivot - row[j] * factor) // last
        last = pivot
    return True


class VariableBounds:
    """Bounds low ≤ x ≤ high that the rows of a program imply.

    First x ≥ 0, then row by row, by the bounds so far: aᵀx ≤ b says a_j x_j ≤ b − Σ_k≠j min a_k x_k
    where the other minima are finite.

    Parameters
    ----------
    program : Program
        Program whose rows are read.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.programs import LinearProgram
    >>> from dualfold.theory.programs.objective_bounds import VariableBounds
    >>> VariableBounds(LinearProgram([1.0], [[2.0]], [6.0])).high
    [Fraction(3, 1)]
    """

    def __init__(self, program: Program) -> None:
        n = program.n
        self.low: list[End] = [ZERO if j < program.nonnegative else None for j in range(n)]
        self.high: list[End] = [None] * n
        if program.R is not None:
            return  # softened rows give no bounds
        rows = sp.csr_array(program.rows)
        rows.eliminate_zeros()
        alone = np.diff(rows.indptr) == 1
        self._tighten(program, rows, np.flatnonzero(alone))
        for _ in range(N_PROPAGATIONS if rows.nnz <= MAX_PROPAGATED_ENTRIES else 0):
            self._tighten(program, rows, np.flatnonzero(~alone))

    def _tighten(self, program: Program, rows: sp.csr_array, which: Array) -> None:
        for i in which:
            at = slice(rows.indptr[i], rows.indptr[i + 1])
            entries = [Fraction(entry) for entry in rows.data[at].tolist()]
            columns, limit = rows.indices[at].tolist(), Fraction(float(program.limits[i]))
            self._apply(entries, columns, limit)
            if i >= len(program.b):
                self._apply([-entry for entry in entries], columns, -limit)

    def _apply(self, entries: list[Fraction], columns: list[int], limit: Fraction) -> None:
        """Tighten the bounds of variables by entriesᵀx ≤ limit."""
        ends = [
            self.low[j] if entry > 0 else self.high[j]
            for entry, j in zip(entries, columns, strict=True)
        ]
        open_ends = [k for k, end in enumerate(ends) if end is None]
        if len(open_ends) > 1:
            return
        least = sum(
            (entry * end for entry, end in zip(entries, ends, strict=True) if end is not None), ZERO
        )
        for k in open_ends or range(len(entries)):
            entry, j, end = entries[k], columns[k], ends[k]
            rest = least if end is None else least - entry * end
            if entry > 0:
                self.high[j] = _smaller_end((limit - rest) / entry, self.high[j])
            else:
                larger = _smaller_end((limit - rest) / -entry, _negative_end(self.low[j]))
                self.low[j] = _negative_end(larger)

    def intersection(self, extent: list[Fraction]) -> VariableBounds:
        """The box of the points that also lie within ±`extent`."""
        inner = object.__new__(VariableBounds)
        inner.low = [
            -size if end is None else max(end, -size)
            for end, size in zip(self.low, extent, strict=True)
        ]
        inner.high = [
            size if end is None else min(end, size)
            for end, size in zip(self.high, extent, strict=True)
        ]
        return inner


def _negative_end(end: End) -> End:
    return None if end is None else -end


def _smaller_end(new: Fraction, old: End) -> End:
    """The smaller upper end; a new one is rounded up, so that fractions stay short."""
    rounded = double_above(new)
    if rounded == math.inf:
        return old
    return Fraction(rounded) if old is None else min(Fraction(rounded), old)


def lower_bound(
    exact: ExactProgram, v: Array, y: Array, box: VariableBounds, curved: Curvature
) -> Fraction | None:
    """The bound of the module docstring for R ⪰ 0; None: minus infinity."""
    if curved.floor is None:
        return None
    total = exact.dual_value(v, y)
    units = fractions(curved.units)
    for j, slope in enumerate(exact.gradient(v, y)):
        bend = curved.floor / units[j] ** 2
        least = least_between(slope, v[j], bend, box.low[j], box.high[j])
        if least is None:
            return None
        total += least
    return total


def least_linear(slopes: Array, box: VariableBounds) -> Fraction | None:
    """min of slopesᵀx for x in the box; None: minus infinity."""
    total = ZERO
    for slope, low, high in zip(slopes, box.low, box.high, strict=True):
        least = least_between(slope, ZERO, ZERO, low, high)
        if least is None:
            return None
        total += least
    return total


def least_between(slope: Fraction, v: Fraction, bend: Fraction, low: End, high: End) -> End:
    """min of slope·t + ½·bend·(t − v)² for low ≤ t ≤ high; None: minus infinity."""
    if low is not None and high is not None and low > high:
        return ZERO  # no point at all: any bound is true
    if bend > 0:
        t = v - slope / bend
        t = t if low is None else max(t, low)
        t = t if high is None else min(t, high)
        return slope * t + bend * (t - v) ** 2 / 2
    if bend < 0:  # a hill: lowest at one of its ends
        if low is None or high is None:
            return None
        return min(slope * t + bend * (t - v) ** 2 / 2 for t in (low, high))
    end = low if slope > 0 else high
    if slope == 0:
        return ZERO
    return None if end is None else slope * end


def enclosed_bound(exact: ExactProgram, near: Enclosure, curved: Curvature) -> Fraction | None:
    """The least value of an enclosed (y, v) that some exact point of the dual has.

    There r_j = 0, or r_j ≥ 0 where x′_j ≥ 0, so that only the dual's value is left.
    """
    if curved.floor is None or curved.floor < 0:
        return None
    m = len(exact.limits)
    y, v = near.centre[:m], near.centre[m:]
    spread_y, spread_v = near.radius[:m], near.radius[m:]
    lost = quadratic_change(exact.R, exact.program.R, y, spread_y) + dot(
        np.array([abs(number) for number in exact.limits], dtype=object), spread_y
    )
    if not len(v):  # no curvature, so no v
        return -dot(exact.limits, y) - half_square(exact.R, y) - lost
    return exact.dual_value(v, y) - lost - quadratic_change(exact.Q, exact.program.Q, v, spread_v)


def enclosed_value(exact: ExactProgram, near: Enclosure) -> Fraction:
    """The largest value that an enclosed point can have."""
    n = len(exact.cost)
    x, w = near.centre[:n], near.centre[n:]
    value = exact.value(x, w)
    if not any(near.radius):
        return value
    sizes = np.array([abs(number) for number in exact.cost], dtype=object)
    value += dot(sizes, near.radius[:n])
    value += quadratic_change(exact.Q, exact.program.Q, x, near.radius[:n])
    return value + quadratic_change(exact.R, exact.program.R, w, near.radius[n:])


def quadratic_change(
    matrix: ExactMatrix | None, given: Matrix, centre: Array, radius: Array
) -> Fraction:
    """The largest change of ½uᵀQu when u moves by up to the radius."""
    if matrix is None or not len(centre):
        return ZERO
    slope = np.array([abs(number) for number in matrix.times(centre)], dtype=object)
    return dot(slope, radius) + dot(radius, ExactMatrix(abs(given)).times(radius)) / 2

"""An independent judge of small programs: every face is looked at, in rational arithmetic.

    min ½xᵀQx + cᵀx   subject to   Gx ≤ g,  Ex = f        (x ≥ 0 is among the rows of G)

Let L hold all d with Gd = 0, Ed = 0, Qd = 0. If cᵀd ≠ 0 for one of them, there is no optimum;
else d may be fixed to 0. What is left has its optimum, if any, at a point x̂ that is the only
minimiser on {x : G_I x = g_I, Ex = f} for some independent rows I that are tight there: so
the optimum is the least value of such minimisers that keep all constraints. (Take x̂ optimal
with as many tight rows as possible. If the objective were not strictly convex on the face of
x̂, it would be constant along a line in it, up to another tight row.) The program has a point
exactly if there is such a minimiser, and is unbounded exactly if some d has Gd ≤ 0, Ed = 0,
Qd = 0, cᵀd = −1. For Q that is not positive semidefinite the optimum is found the same way
if no ray stays inside. Nothing of dualfold is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

from flint import fmpq, fmpq_mat


@dataclass(frozen=True)
class Truth:
    """status: "optimal", "infeasible", "unbounded" or "unknown" (not convex, no polytope)."""

    status: str
    optimum: Fraction | None = None
    convex: bool = True


def judged(
    c: Any,
    A: Any = (),
    b: Any = (),
    E: Any = (),
    f: Any = (),
    nonnegative: int = 0,
    Q: Any = None,
    within: Any = None,
) -> Truth:
    """The truth about a minimum; `within` adds |x_j| ≤ within[j] (infinite: nothing)."""
    c = _row(c)
    n = len(c)
    rows, limits = _table(A), _row(b)
    unit = [[_q(i == j) for j in range(n)] for i in range(n)]
    for j in range(nonnegative):
        rows, limits = [*rows, [-entry for entry in unit[j]]], [*limits, _q(0)]
    for j, size in enumerate(() if within is None else within):
        if size != float("inf"):
            rows = [*rows, unit[j], [-entry for entry in unit[j]]]
            limits = [*limits, _q(size), _q(size)]
    equal, sides = _table(E), _row(f)
    curve = [[_q(0)] * n for _ in range(n)] if Q is None else _symmetric(_table(Q))
    convex = semidefinite(curve)
    values = _minima(curve, c, rows, limits, equal, sides)
    if values is None:  # the objective falls along a whole line
        found = _some(n, rows, limits, equal, sides)
        return Truth("unbounded" if found else "infeasible", convex=convex)
    if not values and (convex or not _some(n, rows, limits, equal, sides)):
        return Truth("infeasible", convex=convex)
    if convex and _direction(n, rows, [*equal, *curve], c, -1):
        return Truth("unbounded")
    if not convex and any(
        _direction(n, rows, equal, unit[j], sign) for j in range(n) for sign in (-1, 1)
    ):
        return Truth("unknown", convex=False)
    least = min(values)
    return Truth("optimal", Fraction(int(least.p), int(least.q)), convex)


def _direction(n: int, rows: Any, equal: Any, slope: Any, rise: int) -> bool:
    """Whether some d has rows·d ≤ 0, equal·d = 0 and slopeᵀd = rise."""
    sides = [*_row([0] * len(equal)), _q(rise)]
    return _some(n, rows, _row([0] * len(rows)), [*equal, slope], sides)


def _some(n: int, rows: Any, limits: Any, equal: Any, sides: Any) -> bool:
    """Whether any point keeps the constraints."""
    flat = [[_q(0)] * n for _ in range(n)]
    return bool(_minima(flat, [_q(0)] * n, rows, limits, equal, sides))


def _minima(curve: Any, c: Any, rows: Any, limits: Any, equal: Any, sides: Any) -> list[Any] | None:
    """Values of the minimisers on faces that keep everything; None if a line has no minimum."""
    n = len(c)
    lines = _null([*rows, *equal, *curve], n)
    for line in lines:
        if sum((a * d for a, d in zip(c, line, strict=True)), _q(0)) != 0:
            return None
    equal, sides = [*equal, *lines], [*sides, *([_q(0)] * len(lines))]
    equal, sides, consistent = _independent(equal, sides)
    if not consistent:
        return []
    flat = all(entry == 0 for row in curve for entry in row)
    sizes = [n - len(equal)] if flat else range(n - len(equal) + 1)
    values = []
    for size in sizes:
        for some in combinations(range(len(rows)), size):
            tight = equal + [rows[i] for i in some]
            x = _minimiser(curve, c, tight, sides + [limits[i] for i in some], flat)
            if x is not None and _kept(x, rows, limits):
                values.append(_value(curve, c, x))
    return values


def _minimiser(curve: Any, c: Any, rows: Any, sides: Any, flat: bool) -> Any:
    """The only stationary point on the face, if there is one."""
    n, k = len(c), len(rows)
    if flat:
        table, right = rows, sides
    else:
        table = [curve[i] + [row[i] for row in rows] for i in range(n)]
        table = table + [row + [_q(0)] * k for row in rows]
        right = [-entry for entry in c] + sides
    if not table:
        return []
    try:
        solved = fmpq_mat(table).solve(fmpq_mat([[entry] for entry in right]))
    except ZeroDivisionError:
        return None
    return [solved[i, 0] for i in range(n)]


def _kept(x: Any, rows: Any, limits: Any) -> bool:
    return all(
        sum((a * t for a, t in zip(row, x, strict=True)), _q(0)) <= limit
        for row, limit in zip(rows, limits, strict=True)
    )


def _value(curve: Any, c: Any, x: Any) -> Any:
    total = sum((a * t for a, t in zip(c, x, strict=True)), _q(0))
    for row, t in zip(curve, x, strict=True):
        total += t * sum((a * s for a, s in zip(row, x, strict=True)), _q(0)) / 2
    return total


def semidefinite(matrix: Any) -> bool:
    """Whether a symmetric matrix has no negative eigenvalue: pivots on the diagonal."""
    left = [list(row) for row in matrix]
    while left:
        if any(left[i][i] < 0 for i in range(len(left))):
            return False
        at = next((i for i in range(len(left)) if left[i][i] > 0), None)
        if at is None:
            return all(entry == 0 for row in left for entry in row)
        top = left[at]
        left = [
            [row[j] - row[at] * top[j] / top[at] for j in range(len(row)) if j != at]
            for i, row in enumerate(left)
            if i != at
        ]
    return True


def _null(rows: Any, n: int) -> Any:
    """A basis of the null space of some rows."""
    if not rows:
        return [[_q(i == j) for j in range(n)] for i in range(n)]
    reduced, rank = fmpq_mat(rows).rref()
    pivots = [next(j for j in range(n) if reduced[i, j] != 0) for i in range(rank)]
    basis = []
    for free in (j for j in range(n) if j not in pivots):
        line = [_q(j == free) for j in range(n)]
        for i, pivot in enumerate(pivots):
            line[pivot] = -reduced[i, free]
        basis.append(line)
    return basis


def _independent(rows: Any, sides: Any) -> tuple[Any, Any, bool]:
    """The same equations without those that follow from others; whether they agree."""
    if not rows:
        return [], [], True
    n = len(rows[0])
    reduced, rank = fmpq_mat([[*row, side] for row, side in zip(rows, sides, strict=True)]).rref()
    kept = [[reduced[i, j] for j in range(n + 1)] for i in range(rank)]
    agree = all(any(entry != 0 for entry in row[:n]) for row in kept)
    return [row[:n] for row in kept], [row[n] for row in kept], agree


def _q(number: Any) -> Any:
    if isinstance(number, type(fmpq(0))):
        return number
    return fmpq(*Fraction(float(number)).as_integer_ratio())


def _row(numbers: Any) -> Any:
    return [_q(number) for number in numbers]


def _table(rows: Any) -> Any:
    return [_row(row) for row in rows]


def _symmetric(rows: Any) -> Any:
    n = len(rows)
    return [[(rows[i][j] + rows[j][i]) / 2 for j in range(n)] for i in range(n)]

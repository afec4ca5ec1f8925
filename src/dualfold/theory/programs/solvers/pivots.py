"""Small programs solved over the numerators, where floating point finds nothing provable.

The conditions of Karush, Kuhn and Tucker are a linear complementarity problem,

    0 ≤ x ⊥ Qx + c + Mᵀy ≥ 0,     0 ≤ y ⊥ h − Mx + Ry ≥ 0

(free variables and multipliers of equations are differences of two), and its matrix is
positive semidefinite. Lemke's method with the lexicographic rule then ends at a solution, or
at a ray if there is none (Cottle, Pang and Stone, "The linear complementarity problem",
1992, theorem 4.4.13). Pivots keep numerators (Edmonds), so nothing is rounded on the way.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.arithmetic.exact import floats, numerators
from dualfold.theory.programs.entries import dense_matrix
from dualfold.theory.programs.program import Program

# Beyond, the numerators take more than a few seconds.
MAX_COMPLEMENTARY_PAIRS = 60


def by_pivots(program: Program) -> tuple[Array, Array] | None:
    """A point and its multipliers, rounded; None if there is no optimum, or too much to do."""
    n, m, p, n_ineq = program.n, len(program.limits), program.nonnegative, len(program.b)
    pairs = 2 * (n + m) - p - n_ineq
    if not 0 < pairs <= MAX_COMPLEMENTARY_PAIRS:
        return None
    Q = np.zeros((n, n)) if program.Q is None else dense_matrix(program.Q)
    R = np.zeros((m, m)) if program.R is None else dense_matrix(program.R)
    M = dense_matrix(program.rows)
    whole = np.block([[Q, M.T], [-M, R]])
    q = np.concatenate([program.sign * program.c, program.limits])
    free = np.concatenate([np.arange(p, n), n + np.arange(n_ineq, m)])
    signs = np.concatenate([np.ones(n + m), -np.ones(len(free))])
    which = np.concatenate([np.arange(n + m), free])
    solved = _lemke(whole[which][:, which] * np.outer(signs, signs), q[which] * signs)
    if solved is None:
        return None
    z = np.array([Fraction(0)] * (n + m), dtype=object)
    for at, sign, number in zip(which, signs, solved, strict=True):
        z[at] += int(sign) * number
    x, y = floats(z[:n]), floats(z[n:])
    return np.concatenate([x, y if program.R is not None else np.zeros(0)]), y


def _lemke(matrix: Array, q: Array) -> Array | None:
    """z ≥ 0 with q + matrix·z ≥ 0 and a product of 0; None where Lemke's path ends in a ray."""
    n = len(q)
    if (q >= 0).all():
        return np.array([Fraction(0)] * n, dtype=object)
    # Columns: the slacks, z, the artificial variable, the right side.
    table = np.zeros((n, 2 * n + 2), dtype=object)
    for i in range(n):
        row = numerators(np.concatenate([-matrix[i], [q[i]]]))[0]
        table[i, n : 2 * n], table[i, -1] = row[:n], row[n]
        table[i, i], table[i, 2 * n] = 1, -1
    basis = list(range(n))
    at = min(range(n), key=lambda i: (table[i, -1], [-table[i, j] for j in range(n)][::-1]))
    table[at] = -table[at]
    denominator, entering = 1, 2 * n
    while True:
        denominator = _pivot(table, at, entering, denominator)
        leaving, basis[at] = basis[at], entering
        if leaving == 2 * n:
            break
        entering = leaving + n if leaving < n else leaving - n
        rows = [i for i in range(n) if table[i, entering] > 0]
        if not rows:
            return None
        at = _first_to_leave(table, basis, rows, entering)
    z = np.array([Fraction(0)] * n, dtype=object)
    for i, variable in enumerate(basis):
        if n <= variable < 2 * n:
            z[variable - n] = Fraction(int(table[i, -1]), int(denominator))
    return z


def _first_to_leave(table: Array, basis: list[int], rows: list[int], entering: int) -> int:
    """The row of the least ratio; ties by the columns of the slacks (no cycles)."""
    n = len(table)

    def less(i: int, k: int) -> bool:
        for j in (2 * n + 1, *range(n)):
            left, right = table[i, j] * table[k, entering], table[k, j] * table[i, entering]
            if left != right:
                return bool(left < right)
        return False

    best = rows[0]
    for i in rows[1:]:
        if less(i, best):
            best = i
    for i in rows:  # the artificial variable leaves whenever it may
        same = table[i, -1] * table[best, entering] == table[best, -1] * table[i, entering]
        if basis[i] == 2 * n and same:
            return i
    return best


def _pivot(table: Array, at: int, column: int, denominator: int) -> int:
    """Make `column` a unit column with its 1 in row `at`; entries are over the denominator."""
    row, pivot = table[at].copy(), table[at, column]
    table[:] = (table * pivot - np.outer(table[:, column], row)) // denominator
    table[at] = row
    return int(pivot)

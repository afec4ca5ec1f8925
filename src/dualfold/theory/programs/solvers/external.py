"""Linear programs by HiGHS, which comes with SciPy; one Newton step for the last digits of answers.

Also the matrices of a program as solvers take them: Q with R, and rows that act on x and w.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.theory.programs.program import Program

# As tight as HiGHS takes them; its vertices are exact to rounding anyway.
HIGHS_OPTIONS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


def polished_answer(program: Program, point: Array, multipliers: Array) -> tuple[Array, Array]:
    """The point and multipliers after one Newton step on the constraints that look tight.

    An interior point stops some digits before the boundary. Where a multiplier outweighs
    its slack the constraint is taken as an equation, others are left out; what remains is
    one linear system (the smallest correction that solves it, since it may be singular).
    """
    rows, limits = widened_rows(program), program.limits
    n_ineq, p = len(program.b), program.nonnegative
    cost, curvature = joint_cost(program), joint_curvature(program)
    tight = np.ones(len(limits), dtype=bool)
    tight[:n_ineq] = multipliers[:n_ineq] > program.slack(point)[:n_ineq]
    free = np.ones(rows.shape[1], dtype=bool)
    gradient = curvature @ point + cost + rows.T @ multipliers
    free[:p] = point[:p] > gradient[:p]
    x, y = np.where(free, point, 0.0), np.where(tight, multipliers, 0.0)
    upper = curvature[free][:, free].toarray()
    lower = rows[tight][:, free].toarray()
    system = np.block([[upper, lower.T], [lower, np.zeros((len(lower), len(lower)))]])
    for _ in range(2):  # the second takes off the rounding of the first
        left = -(curvature @ x + cost + rows.T @ y)[free]
        short = (limits - rows @ x)[tight]
        step = np.linalg.lstsq(system, np.concatenate([left, short]), rcond=1e-12)[0]
        x[free] += step[: len(upper)]
        y[tight] += step[len(upper) :]
    x[:p], y[:n_ineq] = np.maximum(x[:p], 0), np.maximum(y[:n_ineq], 0)
    return x, y


def joint_cost(program: Program) -> Array:
    """c for a minimum, and 0 for what softens the rows, as they act on a whole point."""
    return np.concatenate([program.sign * program.c, np.zeros(program.point_size - program.n)])


def joint_curvature(program: Program) -> sp.csr_array:
    """Q and R as one matrix, as they act on a whole point."""
    blocks = [program.Q, *([] if program.R is None else [program.R])]
    return sp.csr_array(sp.block_diag([sp.csr_array(block) for block in blocks]))


def widened_rows(program: Program) -> sp.csr_array:
    """[M, −R]: the rows as they act on a whole point."""
    rows = sp.csr_array(program.rows)
    if program.R is None:
        return rows
    return sp.csr_array(sp.hstack([rows, -sp.csr_array(program.R)]))


def by_highs(program: Program) -> tuple[Array, Array] | None:
    """A vertex and its multipliers; None where HiGHS finds no optimum."""
    from scipy.optimize import linprog

    if not program.n:
        return np.zeros(0), np.zeros(len(program.limits))
    lower = np.where(np.arange(program.n) < program.nonnegative, 0.0, -np.inf)
    answer = linprog(
        program.sign * program.c,
        A_ub=program.A if len(program.b) else None,
        b_ub=program.b if len(program.b) else None,
        A_eq=program.E if len(program.f) else None,
        b_eq=program.f if len(program.f) else None,
        bounds=np.column_stack([lower, np.full(program.n, np.inf)]),
        method="highs",
        options=HIGHS_OPTIONS,
    )
    if answer.status != 0:
        return None
    # SciPy's marginals are derivatives of the optimum by the limits: −multipliers.
    marginals = np.concatenate([answer.ineqlin.marginals, answer.eqlin.marginals])
    multipliers = -marginals
    n_ineq = len(program.b)
    multipliers[:n_ineq] = np.maximum(multipliers[:n_ineq], 0)
    return np.asarray(answer.x, dtype=float), multipliers

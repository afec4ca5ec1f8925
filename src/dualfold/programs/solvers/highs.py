"""Linear programs by HiGHS, which comes with SciPy."""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.programs.program import Program

# As tight as HiGHS takes them; its vertices are exact to rounding anyway.
HIGHS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}


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
        options=HIGHS,
    )
    if answer.status != 0:
        return None
    # SciPy's marginals are derivatives of the optimum by the limits: −multipliers.
    marginals = np.concatenate([answer.ineqlin.marginals, answer.eqlin.marginals])
    multipliers = -marginals
    held = len(program.b)
    multipliers[:held] = np.maximum(multipliers[:held], 0)
    return np.asarray(answer.x, dtype=float), multipliers

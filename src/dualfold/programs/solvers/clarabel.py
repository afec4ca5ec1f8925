"""Quadratic programs by Clarabel, an optional dependency."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import MissingDependency
from dualfold.programs.program import Program
from dualfold.programs.solvers.polish import whole_curvature, widened_rows


def by_clarabel(program: Program, *, shrunk: bool, accuracy: float) -> tuple[Array, Array] | None:
    """An interior point and its multipliers; None where Clarabel says there is no optimum.

    It calls programs with large c and h infeasible that are not; `shrunk` divides both by
    their largest entry (and multiplies the answer). On random programs with rows of sizes
    10^-3 to 10^3 that mends 14 of 58 and costs others their last digits.
    """
    try:
        import clarabel
    except ImportError:
        raise MissingDependency(
            "quadratic programs are solved by Clarabel, which is not installed; "
            "pip install 'dualfold[qp]' (3 MB). certify_program needs no solver"
        ) from None
    n, p, held = program.n, program.nonnegative, len(program.b)
    curvature, rows = whole_curvature(program), widened_rows(program)
    cost = np.concatenate([program.sign * program.c, np.zeros(rows.shape[1] - n)])
    positive = -sp.eye_array(rows.shape[1], format="csr")[:p]
    stacked = sp.vstack([rows[held:], rows[:held], positive], format="csc")
    limits = np.concatenate([program.f, program.b, np.zeros(p)])
    cones = [clarabel.ZeroConeT(len(program.f)), clarabel.NonnegativeConeT(held + p)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    size = max(np.abs(cost).max(initial=0.0), np.abs(limits).max(initial=0.0)) if shrunk else 1.0
    size = float(size) or 1.0
    answer = clarabel.DefaultSolver(
        sp.triu(curvature, format="csc"), cost / size, stacked, limits / size, cones, settings
    ).solve()
    if "Infeasible" in str(answer.status) or not np.isfinite([*answer.x, *answer.z]).all():
        return None
    z = np.asarray(answer.z) * size
    equal = len(program.f)
    multipliers = np.concatenate([np.maximum(z[equal : equal + held], 0), z[:equal]])
    point = np.asarray(answer.x) * size
    point[:p] = np.maximum(point[:p], 0)
    return point, multipliers

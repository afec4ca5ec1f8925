"""The last digits of a program's answer: one Newton step on the constraints that look tight."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.programs.program import Program


def polished(program: Program, point: Array, multipliers: Array) -> tuple[Array, Array]:
    """The point and multipliers after one Newton step on the constraints that look tight.

    An interior point stops some digits before the boundary. Where a multiplier outweighs
    its slack the constraint is taken as an equation, others are left out; what remains is
    one linear system (the smallest correction that solves it, since it may be singular).
    """
    rows, limits, held, p = (
        widened_rows(program),
        program.limits,
        len(program.b),
        program.nonnegative,
    )
    cost = np.concatenate([program.sign * program.c, np.zeros(rows.shape[1] - program.n)])
    curvature = whole_curvature(program)
    tight = np.ones(len(limits), dtype=bool)
    tight[:held] = multipliers[:held] > program.slack(point)[:held]
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
    x[:p], y[:held] = np.maximum(x[:p], 0), np.maximum(y[:held], 0)
    return x, y


def whole_curvature(program: Program) -> sp.csr_array:
    """Q and R as one matrix, as they act on a whole point."""
    blocks = [program.Q, *([] if program.R is None else [program.R])]
    return sp.csr_array(sp.block_diag([sp.csr_array(block) for block in blocks]))


def widened_rows(program: Program) -> sp.csr_array:
    """[M, −R]: the rows as they act on a whole point."""
    rows = sp.csr_array(program.rows)
    if program.R is None:
        return rows
    return sp.csr_array(sp.hstack([rows, -sp.csr_array(program.R)]))

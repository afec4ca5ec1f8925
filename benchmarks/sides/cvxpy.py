"""CVXPY: unfolding as the textbook writes it, given to a general conic solver."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np

from benchmarks.case import Answer


def unfolded_edges(problem: Any, *, solver: str, **settings: Any) -> Answer:
    n, (i, j) = problem.n, problem.edges.T
    K = cp.Variable((n, n), PSD=True)
    lengths = cp.diag(K)[i] + cp.diag(K)[j] - 2 * K[i, j]
    short = lengths <= problem.squared
    program = cp.Problem(cp.Maximize(cp.trace(K)), [cp.sum(K, axis=1) == 0, short])
    program.solve(solver=solver, **settings)
    values, vectors = np.linalg.eigh(K.value)
    return Answer(
        vectors * np.sqrt(values.clip(0)),
        weights=np.asarray(short.dual_value).clip(0),
        facts={"status": program.status},
    )

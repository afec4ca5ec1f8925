"""Maximum variance unfolding by a primal–dual interior point, to eight digits and more."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from dualfold.kernels.threads import one_blas_thread
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import Callback, Record, UnfoldingSolution, relative
from dualfold.unfolding.solvers.central_path import CentralPath

# Iterations without progress after which rounding is all that is left.
PATIENCE = 4


def interior_point(
    problem: UnfoldingProblem,
    *,
    tol: float = 1e-8,
    max_iter: int = 100,
    relaxation: float = 1e-4,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Both sides of the problem to a relative gap `tol`, for up to about 9,000 edges.

    `relaxation` is ε of the "equal" form and has no meaning for "at_most". It stops after
    `max_iter` iterations at the latest; `callback` gets a `Record` after each and stops the
    solver by returning True. Memory is one m×m matrix and some n×n ones.

    >>> from dualfold.unfolding import UnfoldingProblem, interior_point
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> found = interior_point(chain)
    >>> [round(float(w), 6) for w in found.weights]
    [1.0, 1.0]
    """
    begin = perf_counter()
    # Unit mean squared length: the numbers below do not depend on the units of the data.
    unit = float(problem.squared.mean())
    work = CentralPath(replace(problem, squared=problem.squared / unit), relaxation)
    history: list[Record] = []
    least, least_merit, stalled, status = np.inf, np.inf, 0, "stopped"
    # One thread: LAPACK's second one gains a third on an idle machine (Cholesky of 3,500
    # rows), and takes ten times as long beside other busy processes.
    with one_blas_thread():
        state = best = work.start()
        for iteration in range(max_iter + 1):
            lower, upper = work.bounds(state)
            gap, merit = relative(lower, upper), work.merit(state, upper)
            seconds = perf_counter() - begin
            history.append(Record(iteration, unit * lower, unit * upper, gap, seconds))
            stalled = 0 if merit < 0.9 * least_merit else stalled + 1
            least_merit = min(merit, least_merit)
            if gap < least or not np.isfinite(least):
                best, least = state, gap
            status = "converged" if gap <= tol else "stopped"
            asked = callback is not None and callback(history[-1])
            if gap <= tol or asked or stalled > PATIENCE or iteration == max_iter:
                break
            following = work.step(state)
            if following is None:
                break
            state = following
        factor, weights = work.answer(best)
    return UnfoldingSolution(
        factor=np.sqrt(unit) * factor,
        weights=weights,
        history=tuple(history),
        solver="interior point",
        status=status,  # type: ignore[arg-type]
    )

"""Equal lengths by an interior point, its last steps in double-doubles."""

from __future__ import annotations

from time import perf_counter

import numpy as np

from dualfold.kernels.double_double import Pairs
from dualfold.kernels.threads import one_blas_thread
from dualfold.unfolding.bounds import ROUNDED, contradiction
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import Callback, Record, UnfoldingSolution, relative
from dualfold.unfolding.solvers.central_path import CentralPath
from dualfold.unfolding.solvers.elastic_path import elastic_point
from dualfold.unfolding.solvers.precise_path import PrecisePath, PrecisePoint
from dualfold.unfolding.solvers.progress import STOPPED_BY_CALLBACK

# The compliance of the springs, and the least: lengths that contradict each other by 1e-7 of d²
# have a bound below 0 from about 5e-15 on, and at the level of rounding nothing is refused.
SOFTNESS, LEAST = 1e-13, 1e-14
# The gap to which steps in doubles are good: later ones lose the centre (more steps are needed
# after 1e-4), earlier ones only cost more here.
IN_DOUBLES = 1e-3
# The gap at the end, of the `tol` asked: the certificate adds the rounding of the weights.
SPARE = 0.02
STEPS = 80


def precise(
    problem: UnfoldingProblem,
    *,
    wanted: float,
    tol: float = 1e-6,
    max_iter: int = STEPS,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Points with lengths within `wanted` of d² and weights of any sign, each the other's proof.

    The mean d² is to be about 1. `tol` is the gap asked, `max_iter` the most steps; `callback`
    gets a `Record` after each, and True stops.
    """
    begin = perf_counter()
    with one_blas_thread():
        path = CentralPath(problem, 0.0)
        start, compliance = elastic_point(path, SOFTNESS, IN_DOUBLES)
        least = LEAST / SOFTNESS * compliance
        exact = PrecisePath(problem)
        K = exact.centred(path.plain(start.X))
        here = exact.at(K, Pairs(start.weights), compliance)
        history: list[Record] = []
        story = ["the last steps were in double-doubles"]
        while len(history) < min(max_iter, STEPS):
            compliance = np.maximum(exact.stiffened(here, compliance, wanted), least)
            following = exact.step(here, compliance)
            if following is None:
                story.append("rounding ended the steps")
                break
            here = following
            history.append(_record(exact, here, len(history), perf_counter() - begin))
            if callback is not None and callback(history[-1]):
                story.append(STOPPED_BY_CALLBACK)
                break
            if _done(exact, here, wanted, SPARE * tol, bool(np.all(compliance <= least))):
                break
        factor = exact.points(here, wanted)
    return UnfoldingSolution(
        factor=factor,
        weights=here.weights.high,
        history=tuple(history),
        solver="elastic",
        status="converged" if here.off <= wanted else "stopped",
        story=tuple(story),
    )


def _done(path: PrecisePath, here: PrecisePoint, wanted: float, gap: float, stiffest: bool) -> bool:
    """Optimal for lengths that are those asked; or weights that prove that there are none."""
    if contradiction(path.problem, here.weights.high) > ROUNDED:
        return True
    # At the least compliance lengths are as good as they get: there the gap alone decides.
    return here.gap < gap and (here.off <= wanted or (stiffest and here.apart < 0.1 * here.off))


def _record(path: PrecisePath, here: PrecisePoint, number: int, seconds: float) -> Record:
    lower = (here.K * path.C).total()
    upper = lower + max(0.0, here.gap * lower)
    return Record(number, lower, upper, relative(lower, upper), seconds)

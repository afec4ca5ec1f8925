"""Maximum variance unfolding with equal lengths: springs that get stiffer and stiffer.

Up to MOST_PRECISE edges an interior point in double-doubles solves the stiffest at once
(`precise`); beyond, Newton steps in doubles follow them as they stiffen (`springs`).
"""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.threads import one_blas_thread
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import Callback, Record, UnfoldingSolution, relative
from dualfold.unfolding.solvers.elastic_path import elastic_start
from dualfold.unfolding.solvers.precise import precise
from dualfold.unfolding.solvers.progress import STOPPED_BY_CALLBACK
from dualfold.unfolding.solvers.springs import SpringNet, Springs

# A step in double-doubles costs m³/3 of their multiply-adds: rolls of 300 points (1,063 edges)
# take 30 steps of 1 s, and this many edges a few minutes.
MOST_PRECISE = 2_000
# The compliance of the first springs, t = τd⁴/c. Stiff ones leave few bifurcations (columns that
# come and go) to the Newton steps; where rounding ends their interior point too early (more than
# FEW points), softer ones.
STARTS, FEW = (1e-8, 1e-6, 1e-5, 1e-4), 150
STARTS_OF_MANY = (1e-5, 1e-4, 1e-6)
# τ shrinks by this at first, more after a level of few steps, less after one that failed; the
# end is where even a step this small does not succeed.
SHRINK, MOST_SHRINK, LEAST_SHRINK = 0.3, 0.05, 0.9
EASY, HARD = 6, 15  # Newton steps of a level
# Lengths are as good as equal when they are this near, relatively. Where the weights do not
# grow any more (trees, cliques) they get nearer at no cost, down to rounding.
WANTED, ROUNDING, GROWN = 9e-10, 1e-13, 1.01


def elastic(
    problem: UnfoldingProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 200,
    random_state: int | np.random.Generator | None = None,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Points with equal lengths and weights of any sign, each the other's proof.

    Every edge is a spring, and the answer for springs of any stiffness is exactly optimal
    for the lengths that it has itself; they stiffen until the lengths are those asked to
    9e-10 of d².
    Without an interior of the problem the weights grow on the way and may have no limit.

    tol : relative gap at which a level counts; the last one is returned
    max_iter : levels (steps, in double-doubles) at most
    callback : gets a `Record` after each of them; True stops

    >>> from dualfold.unfolding import UnfoldingProblem
    >>> from dualfold.unfolding.solvers.elastic import elastic
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0], "equal")
    >>> [round(float(w), 6) for w in elastic(chain).weights]
    [1.0, 1.0]
    """
    if problem.n < 2:
        raise InvalidInput("unfolding needs at least 2 points and 1 edge; 1 point was given")
    if problem.form != "equal":
        raise InvalidInput(
            Argument("solver", "elastic"),
            " is for equal lengths, and this problem is ",
            Argument("constraints", problem.form),
        )
    unit = float(problem.squared.mean())
    work = replace(problem, squared=problem.squared / unit)
    if problem.m <= MOST_PRECISE:

        def told(record: Record) -> bool | None:
            return None if callback is None else callback(_grown(unit, record))

        answer = precise(work, wanted=WANTED, tol=tol, max_iter=max_iter, callback=told)
        history = tuple(_grown(unit, record) for record in answer.history)
        return replace(answer, factor=np.sqrt(unit) * answer.factor, history=history)
    with one_blas_thread():
        found = _Levels(work, unit, tol, callback, np.random.default_rng(random_state))
        found.run(max_iter)
    return found.solution()


def _grown(unit: float, record: Record) -> Record:
    """A record in the units of the data."""
    return replace(record, lower=unit * record.lower, upper=unit * record.upper)


class _Levels:
    """The springs of each level, and the best answer so far."""

    def __init__(
        self,
        problem: UnfoldingProblem,
        unit: float,
        tol: float,
        callback: Callback | None,
        rng: np.random.Generator,
    ) -> None:
        self.problem, self.unit, self.tol, self.callback = problem, unit, tol, callback
        self.net = SpringNet(problem, rng)
        self.begin = perf_counter()
        self.history: list[Record] = []
        self.story: list[str] = []
        self.here: Springs | None = None
        self.off = np.inf

    def run(self, max_iter: int) -> None:
        """Stiffer and stiffer springs, from the stiffest that can be begun with."""
        for softness in STARTS if self.problem.n <= FEW else STARTS_OF_MANY:
            points, weights, t = elastic_start(self.problem, softness)
            first = self.net.at(points, weights, t)
            here, _ = self._settled(first, t)
            if here is not None:
                self._stiffened(here, t, max_iter)
                return
            self.story.append(f"springs of softness {softness:.0e} did not settle")
            if self._record(first):
                return

    def _stiffened(self, here: Springs, t: Array, max_iter: int) -> None:
        """Level by level, each from the one before."""
        shrink = SHRINK
        if self._record(here):
            return
        while len(self.history) < max_iter:
            pulled = float(np.abs(here.weights) @ self.problem.squared)
            following, steps = self._settled(here, shrink * t)
            if following is not None:
                grown = float(np.abs(following.weights) @ self.problem.squared) / pulled
                if self.off <= WANTED and (steps > EASY or grown > GROWN):
                    return
                here, t = following, shrink * t
                shrink = max(MOST_SHRINK, shrink**1.4) if steps <= EASY else shrink
                shrink = shrink**0.7 if steps > HARD else shrink
                if self._record(here):
                    return
                continue
            shrink **= 0.5
            if self.off <= WANTED or shrink > LEAST_SHRINK:
                self.story.append(f"no stiffer springs settled; lengths are off by {self.off:.1e}")
                return
        self.story.append(f"stopped after {max_iter} levels")

    def _settled(self, here: Springs, compliance: Array) -> tuple[Springs | None, int]:
        try:
            found, steps = self.net.settle(here, compliance)
        except (RuntimeError, ValueError, ArithmeticError, np.linalg.LinAlgError):
            return None, 0
        return (found if found.settled else None), steps

    def _record(self, here: Springs) -> bool:
        """Write a line; whether to stop."""
        p = self.problem
        lengths = p.squared_lengths(here.points)
        off = float(np.max(np.abs(lengths / p.squared - 1)))
        if off < self.off or self.here is None:
            self.here, self.off = here, off
        lower = p.value(here.points)
        upper = max(lower, float(here.weights @ lengths) / max(float(here.values[0]), 1e-300))
        gap, seconds = relative(lower, upper), perf_counter() - self.begin
        lower, upper = self.unit * lower, self.unit * upper
        self.history.append(Record(len(self.history), lower, upper, gap, seconds))
        if self.callback is not None and self.callback(self.history[-1]):
            self.story.append(STOPPED_BY_CALLBACK)
            return True
        return self.off <= ROUNDING or (self.off <= WANTED and gap > self.tol)

    def solution(self) -> UnfoldingSolution:
        assert self.here is not None
        return UnfoldingSolution(
            factor=np.sqrt(self.unit) * self.problem.centred(self.here.points),
            weights=self.here.weights,
            history=tuple(self.history),
            solver="elastic",
            status="converged" if self.off <= WANTED else "stopped",
            story=tuple(self.story),
        )

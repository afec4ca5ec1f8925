"""Which solver answers an unfolding problem, and with which settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dualfold.errors import Argument, DualfoldError, InvalidInput, TooLarge
from dualfold.kernels.reports import descent
from dualfold.trace.sparse.factorisation import fill_reducing_ordering
from dualfold.trace.sparse.shifted_matrices import MAX_FLOPS
from dualfold.unfolding.problem import UnfoldingProblem, in_units
from dualfold.unfolding.solution import STOPPED_BY_CALLBACK, Callback, Record, UnfoldingSolution
from dualfold.unfolding.solvers.interior_point import interior_point
from dualfold.unfolding.solvers.landmark import landmark
from dualfold.unfolding.solvers.low_rank import low_rank
from dualfold.unfolding.solvers.precise_path import precise_solution
from dualfold.unfolding.solvers.separate_sides import separate_sides

SolverName = Literal["auto", "interior_point", "low_rank", "landmark"]

# Up to here "auto" takes the interior point: a second and a half whatever the graph, and the
# smallest gaps. Swiss rolls, 6 neighbours, gap 1e-6, interior point against low rank: 356 edges
# 0.20 and 0.18 s, 715 edges 0.68 and 0.38 s, 1,063 edges 1.5 and 0.22 s, 1,773 edges 5.4 and
# 0.47 s.
MAX_INTERIOR_FIRST_EDGES = 1_000
# Beyond, one Cholesky factorisation of the Schur matrix takes some seconds and 650 MB. Chosen
# by edges, not points: `angles` multiplies them.
MAX_INTERIOR_SECOND_EDGES = 9_000
# An iteration of the interior point costs m³/3 multiply-adds; low rank takes several times as
# many steps, so where both are possible its steps must be that much cheaper.
MIN_COST_RATIO = 30
# Low rank has arrived within this many times tol (at least ARRIVED); where only landmarks could
# take its place, which leave a gap of 12 %, it is good enough within CLOSE.
CONVERGED_TOL_RATIO, CONVERGED_GAP, BETTER_THAN_LANDMARKS_GAP = 10, 1e-6, 0.1
# The Schur matrix of this many edges has 5 GB: the end of what equal lengths can have.
MAX_SCHUR_EDGES = 25_000
# Low rank takes some 100 steps with up to 8 columns, each as many multiply-adds as the graph's
# elimination (8e6: 40 s of a core) times 8³. Digits need 7e6, a roll of 50,000 points 1e7; 5,327
# points of 9 independent columns need 5e8.
MAX_MINUTE_FLOPS, MAX_MINUTE_FLOPS_PER_POINT = 8e6, 1.5e3


@dataclass(frozen=True)
class Unfolder:
    """Settings of a solver of unfolding problems.

    solver : "auto", "interior_point", "low_rank" or "landmark"
    tol, max_iter : the relative gap to stop at, and the most iterations
    relaxation : None keeps equal lengths (to 1e-9 of d²); a number lets them differ by that ε
    random_state : of the landmarks that "low_rank" and "landmark" begin with
    callback : gets a `Record` after each iteration; returning True stops the solver

    "auto" takes the interior point up to 1,000 edges and for equal lengths, low rank beyond.
    For equal lengths the interior point only starts `elastic`, unless ε gives them an interior.
    Where the graph has no small separators, or low rank does not arrive, the interior point
    takes its place up to 9,000 edges and landmarks beyond; the solution's `story` says so.
    """

    solver: SolverName = "auto"
    tol: float = 1e-6
    max_iter: int | None = None
    relaxation: float | None = None
    random_state: Any = None
    callback: Callback | None = None

    def solve(self, problem: UnfoldingProblem, *, n_components: int = 2) -> UnfoldingSolution:
        """Points and weights; `n_components` columns are expected, the answer has what it takes.

        Solvers see lengths of size 1 at the most (a power of 2 as the unit rounds nothing).
        """
        if problem.n == 1:
            return UnfoldingSolution(np.zeros((1, 1)), np.zeros(0), (), "nothing to unfold")
        unit, power = in_units(problem)
        with descent("closing the gap between both sides", self.tol) as at:

            def reported(record: Record) -> bool | None:
                at(record.gap)
                return None if self.callback is None else self.callback(_grown(record, power))

            run = _Run(unit, replace(self, callback=reported), n_components)
            found = run.fitting() if self.solver == "auto" else run.by(self.solver)
        history = tuple(_grown(record, power) for record in found.history)
        return replace(found, factor=np.ldexp(found.factor, power // 2), history=history)


def refuse_minutes(problem: UnfoldingProblem) -> None:
    """TooLarge where "auto" would unfold for minutes: many edges without small separators."""
    if problem.m <= MAX_INTERIOR_FIRST_EDGES:
        return
    pattern = problem.laplacian(np.ones(problem.m))
    flops = fill_reducing_ordering(pattern, most_flops=MAX_FLOPS).flops
    if flops > max(MAX_MINUTE_FLOPS, MAX_MINUTE_FLOPS_PER_POINT * problem.n):
        raise TooLarge(f"unfolding {problem.n:,} points with {problem.m:,} edges takes minutes")


@dataclass(frozen=True)
class _Run:
    """One problem, in units of its own, with the settings it is solved by."""

    problem: UnfoldingProblem
    settings: Unfolder
    n_components: int

    def by(self, name: SolverName, most_flops: float | None = None) -> UnfoldingSolution:
        """The answer of the solver of that name."""
        problem, at = self.problem, self.settings
        if name == "interior_point":
            _refuse_too_many(problem)
            if problem.constraints == "equal" and at.relaxation is None:
                steps = 1_000 if at.max_iter is None else at.max_iter
                return elastic(
                    problem,
                    tol=at.tol,
                    max_iter=steps,
                    callback=at.callback,
                )
            return interior_point(
                problem,
                tol=at.tol,
                max_iter=100 if at.max_iter is None else at.max_iter,
                relaxation=at.relaxation or 0.0,
                callback=at.callback,
            )
        if name == "landmark":
            return landmark(problem, tol=at.tol, random_state=at.random_state, callback=at.callback)
        return low_rank(
            problem,
            n_components=self.n_components,
            tol=at.tol,
            max_iter=300 if at.max_iter is None else at.max_iter,
            most_flops=most_flops,
            random_state=at.random_state,
            callback=at.callback,
        )

    def fitting(self) -> UnfoldingSolution:
        """The interior point for few edges or equal lengths, else low rank, else what is left."""
        if self.problem.constraints == "equal" or self.problem.m <= MAX_INTERIOR_FIRST_EDGES:
            return self.by("interior_point")
        second: SolverName = (
            "interior_point" if self.problem.m <= MAX_INTERIOR_SECOND_EDGES else "landmark"
        )
        most_flops = MAX_FLOPS
        if second == "interior_point":
            most_flops = min(MAX_FLOPS, self.problem.m**3 / MIN_COST_RATIO)
        try:
            first = self.by("low_rank", most_flops)
        except (DualfoldError, ArithmeticError, np.linalg.LinAlgError) as failure:
            return _noted(self.by(second), f"low_rank: {failure}")
        enough = max(
            CONVERGED_TOL_RATIO * self.settings.tol,
            CONVERGED_GAP if second == "interior_point" else BETTER_THAN_LANDMARKS_GAP,
        )
        if _gap(first) <= enough or STOPPED_BY_CALLBACK in first.story:
            return first
        other = self.by(second)
        reached = f"reached a gap of {_gap(first):.1g}"
        if _gap(other) < _gap(first):
            return _noted(other, "; ".join([f"low_rank {reached}", *first.story]))
        return _noted(first, f"{second} was tried as well and reached only {_gap(other):.1g}")


def _grown(record: Record, power: int) -> Record:
    """A record in the units of the data."""
    lower, upper = (float(np.ldexp(side, power)) for side in (record.lower, record.upper))
    return replace(record, lower=lower, upper=upper)


def _gap(solution: UnfoldingSolution) -> float:
    return min((record.gap for record in solution.history), default=np.inf)


def _noted(solution: UnfoldingSolution, note: str) -> UnfoldingSolution:
    return replace(solution, story=(note, *solution.story))


def _refuse_too_many(problem: UnfoldingProblem) -> None:
    if problem.m > MAX_SCHUR_EDGES:
        raise TooLarge(
            f"the interior point needs a matrix of {problem.m}² numbers, one row an edge; use ",
            Argument("constraints", "at_most"),
            " with ",
            Argument("solver", "low_rank"),
            ", or fewer neighbours",
        )


# ==== merged: unfolding.solvers.elastic
# """Maximum variance unfolding with equal lengths: springs that get stiffer and stiffer.
#
# Up to MOST_PRECISE edges an interior point in double-doubles solves the stiffest (`precise`);
# beyond, one in doubles finds weights, and points are moved onto the lengths (`approached`).
# """
#

# A step in double-doubles costs m³/3 of their multiply-adds: rolls of 300 points (1,063 edges)
# take 30 steps of 1 s, and this many edges a few minutes.
MAX_PRECISE_EDGES = 2_000
# Lengths are as good as equal when they are this near, relatively.
EQUAL_LENGTHS_GOAL = 9e-10


def elastic(
    problem: UnfoldingProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 1_000,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Points with equal lengths and weights of any sign, each the other's proof.

    Every edge is a spring, and the answer for springs of any stiffness is exactly optimal
    for the lengths that it has itself; they stiffen until the lengths are those asked to
    9e-10 of d².
    Without an interior of the problem the weights grow on the way and may have no limit.

    tol : the relative gap asked of the weights
    max_iter : steps at most
    callback : gets a `Record` after each of them; True stops

    >>> from dualfold.unfolding import UnfoldingProblem
    >>> from dualfold.unfolding.solvers.unfolder import elastic
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0], "equal")
    >>> [round(float(w), 6) for w in elastic(chain).weights]
    [1.0, 1.0]
    """
    if problem.n < 2:
        raise InvalidInput("unfolding needs at least 2 points and 1 edge; 1 point was given")
    if problem.constraints != "equal":
        raise InvalidInput(
            Argument("solver", "elastic"),
            " is for equal lengths, and this problem is ",
            Argument("constraints", problem.constraints),
        )
    unit = float(problem.squared.mean())
    work = replace(problem, squared=problem.squared / unit)
    solve = precise_solution if problem.m <= MAX_PRECISE_EDGES else separate_sides

    def report(record: Record) -> bool | None:
        return None if callback is None else callback(_in_unit(unit, record))

    answer = solve(work, wanted=EQUAL_LENGTHS_GOAL, tol=tol, max_iter=max_iter, callback=report)
    history = tuple(_in_unit(unit, record) for record in answer.history)
    return replace(answer, factor=np.sqrt(unit) * answer.factor, history=history)


def _in_unit(unit: float, record: Record) -> Record:
    """A record in the units of the data."""
    return replace(record, lower=unit * record.lower, upper=unit * record.upper)

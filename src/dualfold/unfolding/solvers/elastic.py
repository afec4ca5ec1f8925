"""Maximum variance unfolding with equal lengths: springs that get stiffer and stiffer.

Up to MOST_PRECISE edges an interior point in double-doubles solves the stiffest (`precise`);
beyond, one in doubles finds weights, and points are moved onto the lengths (`approached`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dualfold.errors import Argument, InvalidInput
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import Callback, Record, UnfoldingSolution
from dualfold.unfolding.solvers.approached import approached
from dualfold.unfolding.solvers.precise import precise

# A step in double-doubles costs m³/3 of their multiply-adds: rolls of 300 points (1,063 edges)
# take 30 steps of 1 s, and this many edges a few minutes.
MOST_PRECISE = 2_000
# Lengths are as good as equal when they are this near, relatively.
WANTED = 9e-10


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
    solve = precise if problem.m <= MOST_PRECISE else approached

    def told(record: Record) -> bool | None:
        return None if callback is None else callback(_grown(unit, record))

    answer = solve(work, wanted=WANTED, tol=tol, max_iter=max_iter, callback=told)
    history = tuple(_grown(unit, record) for record in answer.history)
    return replace(answer, factor=np.sqrt(unit) * answer.factor, history=history)


def _grown(unit: float, record: Record) -> Record:
    """A record in the units of the data."""
    return replace(record, lower=unit * record.lower, upper=unit * record.upper)

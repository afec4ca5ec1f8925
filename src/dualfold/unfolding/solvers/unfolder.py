"""Which solver answers an unfolding problem, and with which settings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from dualfold.arrays import Seed
from dualfold.errors import Argument, DualfoldError, InvalidInput, TooLarge
from dualfold.kernels.reports import descent
from dualfold.kernels.threads import lapack_threads
from dualfold.trace.sparse.shifted_matrices import MAX_FLOPS
from dualfold.unfolding.problem import UnfoldingProblem, in_units
from dualfold.unfolding.solution import STOPPED_BY_CALLBACK, Callback, Record, UnfoldingSolution
from dualfold.unfolding.solvers.barrier import EARLY_GAP, N_EXPECTED_COLUMNS, Net
from dualfold.unfolding.solvers.interior_point import interior_point
from dualfold.unfolding.solvers.landmark import landmark
from dualfold.unfolding.solvers.low_rank import low_rank
from dualfold.unfolding.solvers.precise_path import precise_solution
from dualfold.unfolding.solvers.separate_sides import weights_on_face, with_points_on_lengths

SolverName = Literal["auto", "interior_point", "low_rank", "landmark"]

# The measurements behind these limits are in docs/dev/notes/unfolding.md. They count edges, not
# points, because `angles` multiplies the edges.
MAX_INTERIOR_FIRST_EDGES = 1_000  # "auto" begins with the interior point up to here
MAX_INTERIOR_SECOND_EDGES = 9_000  # and takes it in the place of low rank up to here
MAX_SCHUR_EDGES = 25_000  # the interior point is refused beyond, for memory
# Low rank takes several times as many steps as the interior point (m³/3 multiply-adds each), so
# where both are possible a step of low rank must cost this much less.
MIN_COST_RATIO = 30
# Low rank has converged within this many times `tol` (at least CONVERGED_GAP). Where only
# landmarks could take its place, which leave a larger gap, the last of these is enough.
CONVERGED_TOL_RATIO = 10
CONVERGED_GAP = 1e-6
BETTER_THAN_LANDMARKS_GAP = 0.1
# Multiply-adds that low rank answers in about a minute: of the graph's elimination, or of the
# conjugate gradients of a step (docs/dev/notes/unfolding-images.md).
MAX_MINUTE_FLOPS = 8e6
MAX_MINUTE_FLOPS_PER_POINT = 1.5e3
MAX_MINUTE_GRADIENT_FLOPS = 1e9
# Equal lengths: edges up to which all of the last steps are in double-doubles, and the share of d²
# to which lengths are kept (docs/dev/notes/unfolding-equal-lengths.md).
MAX_PRECISE_EDGES = 2_000
EQUAL_LENGTHS_GOAL = 9e-10
# Points are kept inside the ε of relaxed lengths by this share of it, so that rounding does not
# leave them outside.
RELAXATION_MARGIN = 1e-4
# Steps where the caller names no number.
DEFAULT_ELASTIC_STEPS = 1_000
DEFAULT_INTERIOR_POINT_STEPS = 100
DEFAULT_LOW_RANK_STEPS = 300


@dataclass(frozen=True)
class Unfolder:
    """Settings of a solver of unfolding problems.

    Parameters
    ----------
    solver : {"auto", "interior_point", "low_rank", "landmark"}, default="auto"
        "auto" takes the interior point for up to 1,000 edges and for equal lengths, and low rank
        beyond. If low rank does not converge, or a step would cost too much, the interior point
        follows for up to 9,000 edges and landmarks beyond; `story` of the solution says so.
    tol : float, default=1e-6
        Relative gap between both sides at which it stops.
    max_iter : int or None, default=None
        Largest number of iterations; None takes that of the solver.
    relaxation : float or None, default=None
        The ε by which equal lengths may differ; None keeps them to 1e-9 of d².
    random_state : int, Generator or None, default=None
        Seed of the landmarks that "low_rank" and "landmark" start with.
    callback : callable or None, default=None
        Called with a `Record` after each iteration; it stops the solver by returning True.

    See Also
    --------
    unfold : Takes these settings as arguments.
    dualfold.embed : Takes them as its `solver`.

    Examples
    --------
    >>> from dualfold.unfolding import Unfolder, UnfoldingProblem
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> Unfolder(solver="interior_point").solve(chain).weights.round(4)
    array([1., 1.])
    """

    solver: SolverName = "auto"
    tol: float = 1e-6
    max_iter: int | None = None
    relaxation: float | None = None
    random_state: Seed = None
    callback: Callback | None = None

    def solve(self, problem: UnfoldingProblem, *, n_components: int = 2) -> UnfoldingSolution:
        """Solve an unfolding problem.

        Parameters
        ----------
        problem : UnfoldingProblem
            Edges and their lengths.
        n_components : int, default=2
            Number of columns that are expected; the solution has as many as it needs.

        Returns
        -------
        UnfoldingSolution
            Points and weights.
        """
        if problem.n == 1:
            return UnfoldingSolution(np.zeros((1, 1)), np.zeros(0), (), "nothing to unfold")
        unit, power = in_units(problem)
        with descent("closing the gap between both sides", self.tol) as at:

            def report(record: Record) -> bool | None:
                at(record.gap)
                return (
                    None
                    if self.callback is None
                    else self.callback(_scaled_record(record, power=power))
                )

            run = _Run(unit, replace(self, callback=report), n_components)
            solution = run.automatic() if self.solver == "auto" else run.by(self.solver)
        history = tuple(_scaled_record(record, power=power) for record in solution.history)
        return replace(solution, factor=np.ldexp(solution.factor, power // 2), history=history)


def refuse_minutes(problem: UnfoldingProblem) -> None:
    """TooLarge where "auto" would unfold for minutes: many edges without small separators."""
    if problem.m <= MAX_INTERIOR_FIRST_EDGES:
        return
    net = Net.of(problem, most_flops=MAX_FLOPS)
    if net.eliminates(EARLY_GAP):
        flops: float = net.ordering.flops
        most = max(MAX_MINUTE_FLOPS, MAX_MINUTE_FLOPS_PER_POINT * problem.n)
    else:
        flops, most = net.step_flops(N_EXPECTED_COLUMNS, EARLY_GAP), MAX_MINUTE_GRADIENT_FLOPS
    if flops > most:
        raise TooLarge(f"unfolding {problem.n:,} points with {problem.m:,} edges takes minutes")


@dataclass(frozen=True)
class _Run:
    """Problem in units of its own, and the settings of its solver."""

    problem: UnfoldingProblem
    settings: Unfolder
    n_components: int

    def automatic(self) -> UnfoldingSolution:
        """The answer of the solver that suits the number of edges and the kind of constraints."""
        problem = self.problem
        if problem.constraints == "equal" or problem.m <= MAX_INTERIOR_FIRST_EDGES:
            return self.by("interior_point")
        second: SolverName
        if problem.m <= MAX_INTERIOR_SECOND_EDGES:
            second, most_flops, enough = (
                "interior_point",
                problem.m**3 / MIN_COST_RATIO,
                CONVERGED_GAP,
            )
        else:
            second, most_flops, enough = "landmark", MAX_FLOPS, BETTER_THAN_LANDMARKS_GAP
        first, failure = self._low_rank_or_failure(min(MAX_FLOPS, most_flops))
        if first is None:
            return _with_note(self.by(second), f"low_rank: {failure}")
        enough = max(CONVERGED_TOL_RATIO * self.settings.tol, enough)
        if first.gap <= enough or STOPPED_BY_CALLBACK in first.story:
            return first
        other = self.by(second)
        if other.gap < first.gap:
            reached = f"low_rank reached a gap of {first.gap:.1g}"
            return _with_note(other, "; ".join([reached, *first.story]))
        return _with_note(first, f"{second} was tried as well and reached only {other.gap:.1g}")

    def by(self, name: SolverName) -> UnfoldingSolution:
        """The answer of the solver of that name."""
        problem, at = self.problem, self.settings
        if name == "low_rank":
            return self._low_rank(None)
        if name == "landmark":
            return landmark(problem, tol=at.tol, random_state=at.random_state, callback=at.callback)
        _refuse_too_many(problem)
        if problem.constraints == "equal" and at.relaxation is None:
            steps = DEFAULT_ELASTIC_STEPS if at.max_iter is None else at.max_iter
            return elastic(problem, tol=at.tol, max_iter=steps, callback=at.callback)
        return interior_point(
            problem,
            tol=at.tol,
            max_iter=DEFAULT_INTERIOR_POINT_STEPS if at.max_iter is None else at.max_iter,
            relaxation=(1 - RELAXATION_MARGIN) * (at.relaxation or 0.0),
            callback=at.callback,
        )

    def _low_rank(self, most_flops: float | None) -> UnfoldingSolution:
        at = self.settings
        return low_rank(
            self.problem,
            n_components=self.n_components,
            tol=at.tol,
            max_iter=DEFAULT_LOW_RANK_STEPS if at.max_iter is None else at.max_iter,
            most_flops=most_flops,
            random_state=at.random_state,
            callback=at.callback,
        )

    def _low_rank_or_failure(self, most_flops: float) -> tuple[UnfoldingSolution | None, str]:
        """The answer of low rank, or None and why there is none.

        There is none where a factorisation would cost too much, which is known before the first
        step, or where rounding breaks one, which is not.
        """
        try:
            return self._low_rank(most_flops), ""
        except (DualfoldError, ArithmeticError, np.linalg.LinAlgError) as failure:
            return None, str(failure)


def elastic(
    problem: UnfoldingProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = DEFAULT_ELASTIC_STEPS,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Points with equal lengths and weights of any sign, each the other's proof.

    Every edge is a spring, and the answer for springs of any stiffness is exactly optimal
    for the lengths that it has itself; they stiffen until the lengths are the given ones to
    9e-10 of d². Without an interior of the problem the weights grow and may have no limit. Up to
    MAX_PRECISE_EDGES edges an interior point in double-doubles solves the stiffest springs
    (`precise_path`), beyond one on the face that cliques leave, whose weights are then made to
    bound every K (`separate_sides`). Points on the lengths themselves come from a second one.

    tol : the relative gap wanted of the weights
    max_iter : steps at most
    callback : gets a `Record` after each step; True stops

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
    # A power of 2 as the unit rounds nothing.
    power = 2 * int(np.round(np.log2(problem.squared.mean()) / 2))
    unit = 2.0**power
    work = in_units(problem, power)[0]

    def report(record: Record) -> bool | None:
        return None if callback is None else callback(_scaled_record(record, unit))

    limits: Any = {"tol": tol, "max_iter": max_iter, "callback": report}
    with lapack_threads(work.m):
        if problem.m <= MAX_PRECISE_EDGES:
            solution = precise_solution(work, wanted=EQUAL_LENGTHS_GOAL, **limits)
        else:
            solution = weights_on_face(work, **limits)
        solution = with_points_on_lengths(work, solution, wanted=EQUAL_LENGTHS_GOAL, **limits)
    history = tuple(_scaled_record(record, unit) for record in solution.history)
    return replace(solution, factor=np.sqrt(unit) * solution.factor, history=history)


def _scaled_record(record: Record, unit: float = 1.0, power: int = 0) -> Record:
    """A record in the units of the data: both sides times unit·2^power."""
    lower, upper = (float(np.ldexp(unit * side, power)) for side in (record.lower, record.upper))
    return replace(record, lower=lower, upper=upper)


def _with_note(solution: UnfoldingSolution, note: str) -> UnfoldingSolution:
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

"""Graph → unfolding problem → solver → certificate, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Argument, CertificateFailed, DualfoldError, TooLarge, Unrealisable
from dualfold.graph import Graph
from dualfold.kernels.progress import descent
from dualfold.levels import checked_tolerance
from dualfold.trace.problem import MOST_FLOPS
from dualfold.unfolding.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.unfolding.contraction import Contraction, contracted
from dualfold.unfolding.problem import Form, UnfoldingProblem
from dualfold.unfolding.solution import Callback, Record, UnfoldingSolution
from dualfold.unfolding.solvers.interior_point import interior_point
from dualfold.unfolding.solvers.landmark import landmark
from dualfold.unfolding.solvers.low_rank import low_rank
from dualfold.unfolding.solvers.progress import STOPPED_BY_CALLBACK
from dualfold.unfolding.units import in_units

Array = np.ndarray[Any, np.dtype[Any]]
SolverName = Literal["auto", "interior_point", "low_rank", "landmark"]

# Up to here "auto" takes the interior point: a second and a half whatever the graph, and the
# smallest gaps. Swiss rolls, 6 neighbours, gap 1e-6, interior point against low rank: 356 edges
# 0.20 and 0.18 s, 715 edges 0.68 and 0.38 s, 1,063 edges 1.5 and 0.22 s, 1,773 edges 5.4 and
# 0.47 s.
FEW_EDGES = 1_000
# Beyond, one Cholesky factorisation of the Schur matrix takes some seconds and 650 MB. Chosen
# by edges, not points: `angles` multiplies them.
MOST_EDGES = 9_000
# An iteration of the interior point costs m³/3 multiply-adds; low rank takes several times as
# many steps, so where both are possible its steps must be that much cheaper.
CHEAPER = 30
# Low rank has arrived within this many times tol (at least ARRIVED); where only landmarks could
# take its place, which leave a gap of 12 %, it is good enough within CLOSE.
NEARLY, ARRIVED, CLOSE = 10, 1e-6, 0.1
# The Schur matrix of this many edges has 5 GB: the end of what equal lengths can have.
MOST_EDGES_AT_ALL = 25_000


@dataclass(frozen=True, eq=False)
class Unfolding:
    """An unfolding of a graph with both sides and what they prove.

    factor : one row for every point of the graph; K = factor·factorᵀ, centred
    weights : the dual weights as a symmetric sparse matrix over the graph's points
    certificate : what factor and weights prove about each other
    contraction : how equal points were taken together and come apart again
    solution : the solver's own answer, with its history and story
    """

    factor: Array
    weights: sp.csr_array
    certificate: UnfoldingCertificate
    contraction: Contraction
    solution: UnfoldingSolution

    @property
    def problem(self) -> UnfoldingProblem:
        """The program that was solved: the graph's edges, equal points as one."""
        return self.contraction.problem


def unfold(
    graph: Graph,
    *,
    form: Form = "at_most",
    angles: bool = False,
    solver: SolverName = "auto",
    n_components: int = 2,
    tol: float = 1e-6,
    max_iter: int | None = None,
    relaxation: float = 1e-4,
    tolerance: float = 1e-4,
    random_state: Any = None,
    callback: Callback | None = None,
) -> Unfolding:
    """The points of a connected graph pulled as far apart as its edges let them.

    form : edges may be "at_most" as long as in the data, or are "equal" to that
    angles : also keep the distances between neighbours of a common point
    solver : "auto", "interior_point", "low_rank" or "landmark"
    n_components : columns expected; the answer has as many as it takes
    tol, max_iter : the relative gap to stop at, and the most iterations
    tolerance : the largest relative gap that the certificate calls "proved"; beyond, it says
        within how much the answer is proved to be. The same for every solver.
    random_state : of the landmarks that low rank begins with
    callback : gets a `Record` after each iteration; returning True stops the solver

    "auto" takes the interior point up to 1,000 edges and for equal lengths, low rank beyond.
    Where the graph has no small separators, or low rank does not arrive, the interior point
    takes its place up to 9,000 edges and landmarks beyond; `solution.story` says so.
    `relaxation` is ε of form="equal". An answer whose certificate fails, or stays
    unresolved, is returned with a warning.
    """
    tolerance = checked_tolerance(tolerance)
    contraction = contracted(graph, form=form, angles=angles)
    problem = contraction.problem
    if problem.n == 1:
        solution = UnfoldingSolution(np.zeros((1, 1)), np.zeros(0), (), "nothing to unfold")
    else:
        solution = solved(
            problem,
            solver=solver,
            n_components=n_components,
            tol=tol,
            max_iter=max_iter,
            relaxation=relaxation,
            random_state=random_state,
            callback=callback,
        )
    certificate = certify_unfolding(
        problem,
        solution.factor,
        solution.weights,
        tolerance=tolerance,
        most_relaxed=min(10 * relaxation, 0.5),
    )
    _refuse_unrealisable(certificate)
    if certificate.level in ("failed", "unresolved"):
        warnings.warn(
            CertificateFailed(
                f"the unfolding by {solution.solver} did not pass its certificate: "
                f"{'; '.join(certificate.reasons)}. Raise ",
                Argument("max_iter"),
                " or ",
                Argument("tol"),
                ", or try another ",
                Argument("solver"),
            ),
            stacklevel=2,
        )
    return Unfolding(
        contraction.points(solution.factor),
        contraction.weights(solution.weights),
        certificate,
        contraction,
        solution,
    )


def solved(
    problem: UnfoldingProblem,
    *,
    solver: SolverName = "auto",
    n_components: int = 2,
    tol: float = 1e-6,
    max_iter: int | None = None,
    relaxation: float = 1e-4,
    random_state: Any = None,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """The answer of the solver of that name, or of the one that fits the size.

    Solvers see lengths of size 1 at the most (a power of 2 as the unit rounds nothing).
    """
    unit, power = in_units(problem)

    def by(name: SolverName, most_flops: float | None = None) -> UnfoldingSolution:
        if name == "interior_point":
            most = 100 if max_iter is None else max_iter
            return _by_interior_point(unit, tol, most, relaxation, told)
        if name == "landmark":
            return landmark(unit, tol=tol, random_state=random_state, callback=told)
        return low_rank(
            unit,
            n_components=n_components,
            tol=tol,
            max_iter=300 if max_iter is None else max_iter,
            most_flops=most_flops,
            random_state=random_state,
            callback=told,
        )

    with descent("closing the gap between both sides", tol) as at:

        def told(record: Record) -> bool | None:
            at(record.gap)
            return None if callback is None else callback(_grown(record, power))

        found = _fitting(unit, by, tol) if solver == "auto" else by(solver)
    history = tuple(_grown(record, power) for record in found.history)
    return replace(found, factor=np.ldexp(found.factor, power // 2), history=history)


def _grown(record: Record, power: int) -> Record:
    """A record in the units of the data."""
    lower, upper = (float(np.ldexp(side, power)) for side in (record.lower, record.upper))
    return replace(record, lower=lower, upper=upper)


def _fitting(
    problem: UnfoldingProblem, by: Callable[..., UnfoldingSolution], tol: float
) -> UnfoldingSolution:
    """The interior point for few edges or equal lengths, else low rank, else what is left."""
    if problem.form == "equal" or problem.m <= FEW_EDGES:
        return by("interior_point")
    second: SolverName = "interior_point" if problem.m <= MOST_EDGES else "landmark"
    most_flops = MOST_FLOPS
    if second == "interior_point":
        most_flops = min(MOST_FLOPS, problem.m**3 / CHEAPER)
    try:
        first = by("low_rank", most_flops)
    except (DualfoldError, ArithmeticError, np.linalg.LinAlgError) as failure:
        return _noted(by(second), f"low_rank: {failure}")
    enough = max(NEARLY * tol, ARRIVED if second == "interior_point" else CLOSE)
    if _gap(first) <= enough or STOPPED_BY_CALLBACK in first.story:
        return first
    other = by(second)
    reached = f"reached a gap of {_gap(first):.1g}"
    if _gap(other) < _gap(first):
        return _noted(other, "; ".join([f"low_rank {reached}", *first.story]))
    return _noted(first, f"{second} was tried as well and reached only {_gap(other):.1g}")


def _gap(solution: UnfoldingSolution) -> float:
    return min((record.gap for record in solution.history), default=np.inf)


def _noted(solution: UnfoldingSolution, note: str) -> UnfoldingSolution:
    return replace(solution, story=(note, *solution.story))


def _by_interior_point(
    problem: UnfoldingProblem,
    tol: float,
    max_iter: int,
    relaxation: float,
    callback: Callback | None,
) -> UnfoldingSolution:
    if problem.m > MOST_EDGES_AT_ALL:
        raise TooLarge(
            f"the interior point needs a matrix of {problem.m}² numbers, one row an edge; use ",
            Argument("constraints", "at_most"),
            " with ",
            Argument("solver", "low_rank"),
            ", or fewer neighbours",
        )
    return interior_point(
        problem, tol=tol, max_iter=max_iter, relaxation=relaxation, callback=callback
    )


def _refuse_unrealisable(certificate: UnfoldingCertificate) -> None:
    """A negative bound of a variance: the weights are a proof that there is no answer."""
    if certificate.form == "equal" and certificate.upper_exact < 0:
        raise Unrealisable(
            "the lengths of the edges contradict each other: weights were found under which "
            f"the variance of any points would be at most {certificate.upper_exact:.3g}, a "
            "negative number, so no points have these distances. Use ",
            Argument("constraints", "at_most"),
            " or mend them",
        )

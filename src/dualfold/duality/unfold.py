"""Graph → unfolding problem → solver → certificate, in one call."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.duality.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.duality.contraction import Contraction, contracted
from dualfold.duality.interior_point import interior_point
from dualfold.duality.solution import Callback, UnfoldingSolution
from dualfold.duality.unfolding import Form, UnfoldingProblem
from dualfold.errors import CertificateFailed, TooLarge, Unrealisable
from dualfold.graph import Graph

Array = np.ndarray[Any, np.dtype[Any]]
SolverName = Literal["auto", "interior_point", "low_rank", "landmark"]

# Beyond, one Cholesky factorisation of the Schur matrix takes some seconds and 650 MB. Chosen
# by edges, not points: `angles` multiplies them.
MOST_EDGES = 9_000
# From this many points on, "auto" is content with landmarks.
MANY_POINTS = 50_000
# The Schur matrix of this many edges has 5 GB: the end of what equal lengths can have.
MOST_EDGES_AT_ALL = 25_000
# The gap that an answer must reach to be called proved: what each road can promise.
TOLERANCES = {"interior point": 1e-4, "low_rank": 2e-2, "landmark": 0.25}


@dataclass(frozen=True, eq=False)
class Unfolding:
    """An unfolding of a graph with both sides and what they prove.

    factor : one row for every point of the graph; K = factor·factorᵀ, centred
    weights : the dual weights as a symmetric sparse matrix over the graph's points
    """

    factor: Array
    weights: sp.csr_array
    certificate: UnfoldingCertificate
    contraction: Contraction
    solution: UnfoldingSolution

    @property
    def problem(self) -> UnfoldingProblem:
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
    random_state: Any = None,
    callback: Callback | None = None,
) -> Unfolding:
    """The points of a connected graph pulled as far apart as its edges let them.

    "auto" takes the interior point up to 9,000 edges, low rank beyond, and landmarks from
    50,000 points on. `relaxation` is ε of form="equal". An answer whose certificate fails is
    returned with a warning.
    """
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
    tolerance = max(TOLERANCES.get(solution.solver, 1e-4), 10 * tol)
    certificate = certify_unfolding(
        problem,
        solution.factor,
        solution.weights,
        tolerance=tolerance,
        most_relaxed=10 * relaxation,
    )
    _refuse_unrealisable(certificate)
    if certificate.level == "failed":
        warnings.warn(
            f"the unfolding by {solution.solver} did not pass its certificate: "
            f"{'; '.join(certificate.reasons)}. Raise max_iter or tol, or try another solver",
            CertificateFailed,
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
    """The answer of the solver of that name, or of the one that fits the size."""
    name = _fitting(problem) if solver == "auto" else solver
    if name == "interior_point":
        if problem.m > MOST_EDGES_AT_ALL:
            raise TooLarge(
                f"the interior point needs a matrix of {problem.m}² numbers, one row an edge; "
                "use constraints='at_most' with solver='low_rank', or fewer neighbours"
            )
        most = 100 if max_iter is None else max_iter
        return interior_point(
            problem, tol=tol, max_iter=most, relaxation=relaxation, callback=callback
        )
    settings: dict[str, Any] = {"tol": tol, "random_state": random_state, "callback": callback}
    if name == "low_rank":
        settings["n_components"] = n_components
        settings |= {} if max_iter is None else {"max_iter": max_iter}
    found: UnfoldingSolution = _road(name)(problem, **settings)
    return found


def _fitting(problem: UnfoldingProblem) -> SolverName:
    """The solver for this many edges; equal lengths have only one."""
    if problem.m <= MOST_EDGES or problem.form == "equal":
        return "interior_point"
    wanted: SolverName = "low_rank" if problem.n < MANY_POINTS else "landmark"
    return wanted if find_spec(f"dualfold.duality.{wanted}") else "interior_point"


def _road(name: str) -> Any:
    """The solvers for many points, loaded when first wanted."""
    return getattr(import_module(f"dualfold.duality.{name}"), name)


def _refuse_unrealisable(certificate: UnfoldingCertificate) -> None:
    """A negative bound of a variance: the weights are a proof that there is no answer."""
    if certificate.form == "equal" and certificate.upper_exact < 0:
        raise Unrealisable(
            "the lengths of the edges contradict each other: weights were found under which the "
            f"variance of any points would be at most {certificate.upper_exact:.3g}, a negative "
            "number, so no points have these distances. Use constraints='at_most' or mend them"
        )

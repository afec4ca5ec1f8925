"""Graph → unfolding problem → solver → certificate, in one call."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.duality.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.duality.contraction import Contraction, contracted
from dualfold.duality.interior_point import interior_point
from dualfold.duality.solution import Callback, UnfoldingSolution
from dualfold.duality.unfolding import Form, UnfoldingProblem
from dualfold.errors import CertificateFailed, InvalidInput, Unrealisable
from dualfold.graph import Graph

Array = np.ndarray[Any, np.dtype[Any]]
SolverName = Literal["auto", "interior_point", "low_rank"]

# Beyond, one Cholesky factorisation of the Schur matrix takes some seconds and 650 MB. Chosen
# by edges, not points: `angles` multiplies them.
MOST_EDGES = 9_000
# What an answer must reach: interior points go far beyond theirs, low rank stays near its own.
TOLERANCES = {"interior point": 1e-4}
COARSE_TOLERANCE = 2e-2


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

    "auto" takes the interior point up to 9,000 edges and low rank beyond. `relaxation`
    is ε of form="equal". An answer whose certificate fails is returned with a warning.
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
    tolerance = max(TOLERANCES.get(solution.solver, COARSE_TOLERANCE), 10 * tol)
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
    low_rank = _low_rank() if solver != "interior_point" else None
    if solver == "low_rank" and low_rank is None:
        raise InvalidInput("solver='low_rank' is not in this version; use solver='interior_point'")
    large = problem.m > MOST_EDGES and problem.form == "at_most"
    if low_rank is not None and (solver == "low_rank" or large):
        found: UnfoldingSolution = low_rank(
            problem,
            n_components=n_components,
            tol=tol,
            max_iter=1000 if max_iter is None else max_iter,
            random_state=random_state,
            callback=callback,
        )
        return found
    return interior_point(
        problem,
        tol=tol,
        max_iter=100 if max_iter is None else max_iter,
        relaxation=relaxation,
        callback=callback,
    )


def _low_rank() -> Any:
    try:
        from dualfold.duality.low_rank import low_rank  # type: ignore[import-not-found]
    except ImportError:
        return None
    return low_rank


def _refuse_unrealisable(certificate: UnfoldingCertificate) -> None:
    """A negative bound of a variance: the weights are a proof that there is no answer."""
    if certificate.form == "equal" and certificate.upper_exact < 0:
        raise Unrealisable(
            "the lengths of the edges contradict each other: weights were found under which the "
            f"variance of any points would be at most {certificate.upper_exact:.3g}, a negative "
            "number, so no points have these distances. Use constraints='at_most' or mend them"
        )

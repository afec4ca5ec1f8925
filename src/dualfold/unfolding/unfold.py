"""Graph → unfolding problem → solver → certificate, in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.certificate import checked_tolerance
from dualfold.embedding import Embedding, embedding_of
from dualfold.errors import Argument, CertificateFailed, Unrealisable, warn
from dualfold.graph import Graph
from dualfold.kernels.reports import time_stage
from dualfold.trace.lift import scaled_vectors
from dualfold.trace.solution import with_signs
from dualfold.unfolding.bounds import ROUNDED_LENGTHS_TOLERANCE, contradiction_share
from dualfold.unfolding.bracket import EQUAL_LENGTHS_TOLERANCE
from dualfold.unfolding.certificate import (
    UnfoldingCertificate,
    certify_unfolding,
    rounded_down_text,
)
from dualfold.unfolding.contraction import Contraction, contraction_of
from dualfold.unfolding.problem import Constraints, UnfoldingProblem
from dualfold.unfolding.solution import Callback, UnfoldingSolution
from dualfold.unfolding.solvers.unfolder import SolverName, Unfolder


@dataclass(frozen=True, eq=False)
class Unfolding:
    """An unfolding of a graph with both sides and what they prove.

    contraction : the problem, and how equal points were taken together and come apart again
    solution : the solver's own answer, with its history and story
    certificate : what its points and weights prove about each other
    """

    contraction: Contraction
    solution: UnfoldingSolution
    certificate: UnfoldingCertificate

    @property
    def problem(self) -> UnfoldingProblem:
        """The program that was solved: the graph's edges, equal points as one."""
        return self.contraction.problem

    @cached_property
    def factor(self) -> Array:
        """One row for every point of the graph; K = factor·factorᵀ, centred."""
        return self.contraction.points(self.solution.factor)

    @cached_property
    def weights(self) -> sp.csr_array:
        """The dual weights as a symmetric sparse matrix over the graph's points."""
        return self.contraction.weights(self.solution.weights)

    def coordinates(self, count: int) -> tuple[Array, Array]:
        """The `count` leading coordinates of the points, and the eigenvalues of K for them.

        They are UΣ of the thin factor; where K has fewer directions the rest have no extent.
        """
        U, lengths, _ = np.linalg.svd(self.factor, full_matrices=False)
        values = np.zeros(count)
        values[: len(lengths)] = lengths[:count] ** 2
        points = np.zeros((len(U), count))
        points[:, : U.shape[1]] = with_signs(U[:, :count])
        return scaled_vectors(points, values), values


def unfold(
    graph: Graph,
    *,
    constraints: Constraints = "at_most",
    angles: bool = False,
    solver: SolverName = "auto",
    n_components: int = 2,
    tol: float = 1e-6,
    max_iter: int | None = None,
    relaxation: float | None = None,
    tolerance: float = 1e-4,
    random_state: Any = None,
    callback: Callback | None = None,
) -> Unfolding:
    """The points of a connected graph pulled as far apart as its edges let them.

    constraints : edges may be "at_most" as long as in the data, or are "equal" to that
    angles : also keep the distances between neighbours of a common point
    n_components : columns expected; the answer has as many as it takes
    tolerance : the largest relative gap that the certificate calls "proved"; beyond, it says
        within how much the answer is proved to be. The same for every solver.
    solver, tol, max_iter, relaxation, random_state, callback : as in `Unfolder`

    An answer whose certificate fails, or stays unresolved, is returned with a warning.
    """
    stated = contraction_of(
        graph, constraints=constraints, angles=angles, n_components=n_components
    )
    chosen = Unfolder(solver, tol, max_iter, relaxation, random_state, callback)
    tolerance = checked_tolerance(tolerance)
    solution = chosen.solve(stated.problem, n_components=n_components)
    return certified_unfolding(stated, solution, tolerance=tolerance, relaxation=relaxation)


def certified_unfolding(
    stated: Contraction,
    solution: UnfoldingSolution,
    *,
    tolerance: float = 1e-4,
    relaxation: float | None = None,
) -> Unfolding:
    """A solver's answer with its certificate; `CertificateFailed` warns where it did not pass.

    Equal lengths may be off by 1e-9 of d², or by ten times the `relaxation` that was given.
    """
    certificate = certify_unfolding(
        stated.problem,
        solution.factor,
        solution.weights,
        tolerance=tolerance,
        most_relaxed=EQUAL_LENGTHS_TOLERANCE if relaxation is None else min(10 * relaxation, 0.5),
    )
    _refuse_unrealisable(certificate, contradiction_share(stated.problem, solution.weights))
    if certificate.level in ("failed", "unresolved"):
        warn(
            CertificateFailed(
                f"the unfolding by {solution.solver} did not pass its certificate: "
                f"{'; '.join(certificate.reasons)}. Raise ",
                Argument("max_iter"),
                " or ",
                Argument("tol"),
                ", or try another ",
                Argument("solver"),
                *_relaxation_advice(certificate, relaxation),
            )
        )
    return Unfolding(stated, solution, certificate)


@embedding_of.register(Contraction)
def _embedding_of_unfolding(
    stated: Contraction, solver: Unfolder | None, tolerance: float
) -> Embedding:
    """The leading coordinates of an unfolding; its certificate is about all of them."""
    solver = solver or Unfolder()
    begin = perf_counter()
    solution = solver.solve(stated.problem, n_components=stated.count)
    solved = perf_counter()
    with time_stage("certify"):
        found = certified_unfolding(
            stated, solution, tolerance=tolerance, relaxation=solver.relaxation
        )
    found = replace(found, certificate=found.certificate.narrowed(stated.about))
    done = perf_counter()
    points, values = found.coordinates(stated.count)
    seconds = {"solve": solved - begin, "certify": done - solved, "lift": perf_counter() - done}
    return Embedding(points, values, found.certificate, stated.problem, found, seconds)


def _relaxation_advice(
    certificate: UnfoldingCertificate, relaxation: float | None
) -> tuple[Any, ...]:
    """What else can be done where equal lengths could not be kept."""
    if certificate.constraints != "equal" or relaxation is not None:
        return ()
    return ("; ", Argument("relaxation", 1e-4), " lets equal lengths differ by that share of d²")


def _refuse_unrealisable(certificate: UnfoldingCertificate, share: float) -> None:
    """A negative bound of a variance: the weights are a proof that there is no answer.

    Distances that were written down with seven digits have none either; that is no reason to
    refuse them.
    """
    if (
        certificate.constraints == "equal"
        and certificate.upper_exact < 0
        and share > ROUNDED_LENGTHS_TOLERANCE
    ):
        raise Unrealisable(
            "the lengths of the edges contradict each other: weights were found under which "
            f"the variance of any points would be at most {certificate.upper_exact:.3g}, a "
            "negative number, so no points have these distances, nor any within "
            f"{rounded_down_text(share)} of d². Use ",
            Argument("constraints", "at_most"),
            " or mend them",
        )

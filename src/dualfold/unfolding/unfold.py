"""Graph → unfolding problem → solver → certificate, in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE, checked_tolerance
from dualfold.embedding import Embedding, embedding_of
from dualfold.errors import Argument, CertificateFailed, Unrealisable, warn
from dualfold.graph import Graph
from dualfold.kernels.reports import time_stage
from dualfold.trace.lift import scaled_vectors
from dualfold.trace.solution import with_signs
from dualfold.unfolding.bounds import ROUNDED_LENGTHS_TOLERANCE, contradiction_share
from dualfold.unfolding.certificate import (
    UnfoldingCertificate,
    certify_unfolding,
    rounded_down_text,
)
from dualfold.unfolding.contraction import Contraction, contraction_of
from dualfold.unfolding.problem import Constraints, UnfoldingProblem
from dualfold.unfolding.solution import Callback, UnfoldingSolution
from dualfold.unfolding.solvers.unfolder import SolverName, Unfolder

# Eigenvalues of K below this share of its trace, or below this many times the gap, count alike when
# an eigengap is looked for: no picture shows a ten thousandth of the variance.
FAINT_SHARE = 1e-4
FAINT_GAP_RATIO = 10


@dataclass(frozen=True, eq=False, kw_only=True)
class Unfolding(Embedding):
    """An unfolding of a graph: both sides, and what they prove.

    points, values : the leading coordinates, and the eigenvalues of K for them
    certificate : what all points and weights prove about each other
    problem : the program that was solved: the graph's edges, with equal points as one
    solution : the solver's own answer, with its history and story
    contraction : the problem, and the way back from its points to those of the graph
    """

    contraction: Contraction
    certificate: UnfoldingCertificate
    problem: UnfoldingProblem
    solution: UnfoldingSolution

    @cached_property
    def factor(self) -> Array:
        """One row for every point of the graph; K = factor·factorᵀ, centred."""
        return self.contraction.points(self.solution.factor)

    @cached_property
    def weights(self) -> sp.csr_array:
        """The dual weights as a symmetric sparse matrix over the graph's points."""
        return self.contraction.weights(self.solution.weights)

    @property
    def spectrum(self) -> Array:
        """The eigenvalues of K for the points; those of a faint share of tr K count alike.

        Solvers leave about their gap in columns beyond the optimal ones: between the eigenvalues
        of these the ratios are large and mean nothing.
        """
        gap = self.certificate.gap
        faint = max(FAINT_SHARE, FAINT_GAP_RATIO * gap if np.isfinite(gap) else 0.0)
        return np.maximum(self.values, faint * float(np.sum(self.factor**2)))

    def with_leading(self, count: int, tolerance: float = DEFAULT_TOLERANCE) -> Unfolding:
        """The first `count` coordinates; the certificate is about all of them as before."""
        return replace(self, points=self.points[:, :count], values=self.values[:count])

    def coordinates(self, count: int) -> tuple[Array, Array]:
        """The `count` leading coordinates of the points, and the eigenvalues of K for them."""
        return leading_coordinates(self.factor, count)


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
    tolerance: float = DEFAULT_TOLERANCE,
    random_state: Any = None,
    callback: Callback | None = None,
) -> Unfolding:
    """The points of a connected graph, pulled as far apart as its edges allow.

    constraints : edges may be "at_most" as long as in the data, or are "equal" to that
    angles : also keep the distances between neighbours of a common point
    n_components : columns expected; the answer has as many as it needs
    tolerance : the largest relative gap that the certificate calls "proved"; beyond, it states
        the proved gap. The same for every solver.
    solver, tol, max_iter, relaxation, random_state, callback : as in `Unfolder`

    An answer whose certificate fails, or stays unresolved, is returned with a warning.
    """
    problem = contraction_of(
        graph, constraints=constraints, angles=angles, n_components=n_components
    )
    settings = Unfolder(solver, tol, max_iter, relaxation, random_state, callback)
    return unfolding_of(problem, settings, checked_tolerance(tolerance))


@embedding_of.register(Contraction)
def unfolding_of(stated: Contraction, solver: Unfolder | None, tolerance: float) -> Unfolding:
    """The unfolding that answers a contracted problem; its certificate is about all columns."""
    solver = solver or Unfolder()
    begin = perf_counter()
    solution = solver.solve(stated.problem, n_components=stated.count)
    solved = perf_counter()
    with time_stage("certify"):
        certificate = _certificate_of(stated.problem, solution, tolerance, solver.relaxation)
    certified = perf_counter()
    points, values = leading_coordinates(stated.points(solution.factor), stated.count)
    return Unfolding(
        points=points,
        values=values,
        certificate=certificate.with_scope(stated.about),
        problem=stated.problem,
        solution=solution,
        contraction=stated,
        seconds={
            "solve": solved - begin,
            "certify": certified - solved,
            "lift": perf_counter() - certified,
        },
    )


def leading_coordinates(factor: Array, count: int) -> tuple[Array, Array]:
    """The `count` leading principal coordinates of points, and their squared lengths.

    They are UΣ of the thin factor; where K has fewer directions the further columns are 0.
    """
    U, lengths, _ = np.linalg.svd(factor, full_matrices=False)
    values = np.zeros(count)
    values[: len(lengths)] = lengths[:count] ** 2
    points = np.zeros((len(U), count))
    points[:, : U.shape[1]] = with_signs(U[:, :count])
    return scaled_vectors(points, values), values


def _certificate_of(
    problem: UnfoldingProblem,
    solution: UnfoldingSolution,
    tolerance: float,
    relaxation: float | None,
) -> UnfoldingCertificate:
    """The certificate of a solver's answer; `CertificateFailed` warns where it did not pass.

    Equal lengths are asked exactly, or may differ by the given `relaxation`.
    """
    certificate = certify_unfolding(
        problem,
        solution.factor,
        solution.weights,
        tolerance=tolerance,
        most_relaxed=relaxation,
    )
    _refuse_unrealisable(certificate, contradiction_share(problem, solution.weights))
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
    return certificate


def _relaxation_advice(
    certificate: UnfoldingCertificate, relaxation: float | None
) -> tuple[Any, ...]:
    """What else helps where equal lengths could not be kept."""
    if certificate.constraints != "equal" or relaxation is not None:
        return ()
    return ("; ", Argument("relaxation", 1e-4), " lets equal lengths differ by that share of d²")


def _refuse_unrealisable(certificate: UnfoldingCertificate, share: float) -> None:
    """A negative upper bound of a variance: the weights prove that no points have these lengths.

    Distances that were rounded to seven digits contradict each other too, by less than
    ROUNDED_LENGTHS_TOLERANCE; they are not refused.
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

"""Graph → unfolding problem → solver → certificate, in one call."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Seed
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
    """Unfolding of a graph: points, dual weights, and what they prove about each other.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_components)
        The leading coordinates.
    values : ndarray of shape (n_components,)
        Eigenvalues of K for them.
    certificate : UnfoldingCertificate
        What all points and weights prove.
    problem : UnfoldingProblem
        The problem that was solved, with equal points as one.
    solution : UnfoldingSolution
        What the solver returned.
    seconds : dict
        Time of each stage.
    contraction : Contraction
        The way back from the problem's points to the rows of the graph.

    See Also
    --------
    unfold : The function that returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.unfolding import unfold
    >>> found = unfold(knn(np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]), 1))
    >>> round(float(np.ptp(found.points[:, 0])), 3)
    2.0
    """

    contraction: Contraction
    certificate: UnfoldingCertificate
    problem: UnfoldingProblem
    solution: UnfoldingSolution

    @cached_property
    def factor(self) -> Array:
        """The centred points of all rows of the graph, with K = factor·factorᵀ."""
        return self.contraction.points(self.solution.factor)

    @cached_property
    def weights(self) -> sp.csr_array:
        """The dual weights as a symmetric sparse matrix over the graph's points."""
        return self.contraction.weights(self.solution.weights)

    @property
    def spectrum(self) -> Array:
        """Eigenvalues of K for the points; those of a negligible share of tr K count alike.

        Solvers leave about their gap in columns beyond the optimal ones: the ratios between the
        eigenvalues of these are large and mean nothing.
        """
        gap = self.certificate.gap
        faint = max(FAINT_SHARE, FAINT_GAP_RATIO * gap if np.isfinite(gap) else 0.0)
        return np.maximum(self.values, faint * float(np.sum(self.factor**2)))

    def with_leading(self, count: int, tolerance: float = DEFAULT_TOLERANCE) -> Unfolding:
        """Keep the first coordinates; the certificate is about all of them as before.

        Parameters
        ----------
        count : int
            Number of coordinates to keep.
        tolerance : float in [0, 1], default=1e-4
            Ignored: the certificate stays as it is.

        Returns
        -------
        Unfolding
            The unfolding with fewer coordinates.
        """
        return replace(self, points=self.points[:, :count], values=self.values[:count])

    def coordinates(self, count: int) -> tuple[Array, Array]:
        """Compute the leading coordinates of the points.

        Parameters
        ----------
        count : int
            Number of coordinates.

        Returns
        -------
        points : ndarray of shape (n_samples, count)
            The coordinates.
        values : ndarray of shape (count,)
            Eigenvalues of K for them.
        """
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
    random_state: Seed = None,
    callback: Callback | None = None,
) -> Unfolding:
    """Unfold a connected graph: maximise the variance of its points while edges keep their lengths.

    Parameters
    ----------
    graph : Graph
        Connected neighbour graph.
    constraints : {"at_most", "equal"}, default="at_most"
        Whether edges may be at most as long as given, or must have these lengths.
    angles : bool, default=False
        Whether distances between neighbours of a common row are kept, too.
    solver : {"auto", "interior_point", "low_rank", "landmark"}, default="auto"
        Algorithm; "auto" chooses by size (see `Unfolder`).
    n_components : int, default=2
        Number of coordinates that are expected; the solution has as many as it needs.
    tol : float, default=1e-6
        Relative gap between both sides at which the solver stops.
    max_iter : int or None, default=None
        Largest number of iterations; None takes that of the solver.
    relaxation : float or None, default=None
        The ε by which equal lengths may differ; None keeps them to 1e-9 of d².
    tolerance : float in [0, 1], default=1e-4
        Largest relative gap that is called "proved".
    random_state : int, Generator or None, default=None
        Seed of landmarks.
    callback : callable or None, default=None
        Called with a `Record` after each iteration; it stops the solver by returning True.

    Returns
    -------
    Unfolding
        Points, weights and certificate.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.

    Warns
    -----
    CertificateFailed
        If the certificate fails or is unresolved.

    See Also
    --------
    dualfold.MaximumVarianceUnfolding : The estimator.
    certify_unfolding : Certifies points of another program.

    References
    ----------
    .. [1] K. Q. Weinberger and L. K. Saul, "Unsupervised learning of image manifolds by
       semidefinite programming", International Journal of Computer Vision, 70(1), 77–90, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.unfolding import unfold
    >>> corner = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]])
    >>> found = unfold(knn(corner, 1), n_components=1)
    >>> found.certificate.level, np.sort(found.points[:, 0]).round(3) + 0.0
    ('proved', array([-1.,  0.,  1.]))
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
    """Further advice where equal lengths could not be kept."""
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

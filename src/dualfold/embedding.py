"""Solve a problem, certify the answer, and lift it to points."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import singledispatch
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE, Certificate, checked_tolerance
from dualfold.errors import Argument, CertificateFailed, InvalidInput, warn
from dualfold.kernels.reports import time_stage
from dualfold.kernels.threads import lapack_threads, one_blas_thread
from dualfold.notebook import drawn_map, number, shown_html
from dualfold.trace.certificate import TraceCertificate, certify
from dualfold.trace.problem import Gramian, TraceProblem
from dualfold.trace.proof.routes import MAX_FILLED_ROWS
from dualfold.trace.solution import Solution
from dualfold.trace.solvers import Auto
from dualfold.trace.solvers.solver import Solver
from dualfold.trace.sparse.factorisation import memory_used_again

if TYPE_CHECKING:
    from matplotlib.figure import Figure


__all__ = ["Embedding", "embed"]


@dataclass(frozen=True, eq=False)
class Embedding:
    """Points of an embedding with their certificate; nothing in it changes.

    Attributes
    ----------
    points : ndarray of shape (n_samples, n_components)
        The coordinates.
    values : ndarray of shape (n_components,)
        The eigenvalue of each coordinate.
    certificate : Certificate
        How far from the optimum the points can be; print it.
    problem : object
        The problem that was solved.
    solution : object
        What the solver returned.
    seconds : dict
        Time of each stage.

    See Also
    --------
    embed : The function that returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import TraceProblem, embed
    >>> embed(TraceProblem(np.diag([1.0, 2.0, 4.0]), count=1)).points.round(6).ravel()
    array([1., 0., 0.])
    """

    points: Array
    values: Array
    certificate: Certificate
    problem: Any
    solution: Any
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def spectrum(self) -> Array:
        """The eigenvalues among which `n_components="auto"` looks for an eigengap."""
        return self.values

    def with_leading(self, count: int, tolerance: float = DEFAULT_TOLERANCE) -> Embedding:
        """Keep the first coordinates, certified as an answer of their own.

        Parameters
        ----------
        count : int
            Number of coordinates to keep.
        tolerance : float in [0, 1], default=1e-4
            Largest relative gap that is called "proved".

        Returns
        -------
        Embedding
            The embedding with fewer coordinates.
        """
        problem, solution = self.problem.with_count(count), self.solution
        whole = np.hstack([solution.vectors, solution.guard])
        kept = replace(
            solution,
            vectors=solution.vectors[:, :count],
            values=solution.values[:count],
            guard=whole[:, count:],
        )
        certificate = certify(problem, whole, kept.values, tolerance=tolerance)
        points = problem.lift(kept.vectors, kept.values)
        return Embedding(points, kept.values, certificate, problem, kept, self.seconds)

    def __repr__(self) -> str:
        n, d = self.points.shape
        return f"Embedding({n} points in {d} dimensions; {self.certificate})"

    def _repr_html_(self) -> str:
        n, d = self.points.shape
        values = ", ".join(number(float(value)) for value in self.values[:5])
        rows = [
            ("eigenvalues", values + (", …" if len(self.values) > 5 else "")),
            ("seconds", ", ".join(f"{stage} {time:.2g}" for stage, time in self.seconds.items())),
        ]
        return shown_html(f"{n:,} points in {d} dimensions", str(self.certificate), rows)

    def plot(
        self, color: Any = None, *, title: str = "", color_name: str = "", equal: bool = True
    ) -> Figure:
        """Draw the points; a notebook shows the figure.

        Parameters
        ----------
        color : array-like of shape (n_samples,) or None, default=None
            One value for each point: numbers and dates get a colour bar, words a legend.
        title : str, default=""
            Text above the map.
        color_name : str, default=""
            What the colours stand for.
        equal : bool, default=True
            Whether one unit is as long on every axis; False where lengths mean nothing (eigenmaps).

        Returns
        -------
        matplotlib.figure.Figure
            The figure; `savefig("map.png")` stores it.
        """
        words = {"title": title, "color_name": color_name, "verdict": str(self.certificate)}
        return drawn_map(self.points, color, equal=equal, **words)


def embed(
    problem: Any, *, solver: Solver | None = None, tolerance: float = DEFAULT_TOLERANCE
) -> Embedding:
    """Solve a problem, certify the answer, and lift it to points.

    Parameters
    ----------
    problem : TraceProblem or Contraction
        What a function of `dualfold.methods` states, or `dualfold.unfolding.contraction_of`.
    solver : object or None, default=None
        A solver of `dualfold.trace.solvers` or `dualfold.unfolding.Unfolder`; None chooses one by
        the predicted work.
    tolerance : float in [0, 1], default=1e-4
        Largest relative gap that is called "proved".

    Returns
    -------
    Embedding
        The points with their certificate.

    Raises
    ------
    NotConverged
        If the solver stops before its tolerance.

    Warns
    -----
    CertificateFailed
        If the answer fails its certificate, or its gap exceeds `tolerance`; it is returned, and its
        certificate says so.

    See Also
    --------
    dualfold.certify : Certifies an answer of another program.
    dualfold.methods : Functions that state problems.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import TraceProblem, embed
    >>> answer = embed(TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), count=2))
    >>> print(answer.values.round(6), answer.certificate.level)
    [1. 2.] proved
    """
    return embedding_of(problem, solver, checked_tolerance(tolerance))


@singledispatch
def embedding_of(problem: Any, solver: Solver | None, tolerance: float) -> Embedding:
    """The embedding that answers a problem; each kind of problem registers how it is answered."""
    raise InvalidInput(
        Argument("problem"),
        f" is of type {type(problem).__name__}, not a problem that can be embedded; "
        "dualfold.explore(table) makes a map of a table, and the functions of dualfold.methods "
        "state problems",
    )


@embedding_of.register(TraceProblem)
def _embedding_of_trace_problem(problem: Any, solver: Solver | None, tolerance: float) -> Embedding:
    with memory_used_again():
        begin = perf_counter()
        solution = (solver or Auto()).solve(problem)
        solved = perf_counter()
        certificate = certificate_of_solution(problem, solution, tolerance=tolerance)
        done = perf_counter()
    points = problem.lift(solution.vectors, solution.values)
    seconds = {"solve": solved - begin, "certify": done - solved, "lift": perf_counter() - done}
    return Embedding(points, solution.values, certificate, problem, solution, seconds)


def _threads_of_certificate(problem: TraceProblem) -> AbstractContextManager[None]:
    """BLAS in one thread for small problems, and for large ones whose matrix it never meets.

    Threads inside small products, and tall and thin ones, wait for one another.
    """
    stays_sparse = sp.issparse(problem.A) or isinstance(problem.A, Gramian)
    if stays_sparse and problem.n > MAX_FILLED_ROWS:
        return one_blas_thread()
    return lapack_threads(problem.n)


def certificate_of_solution(
    problem: TraceProblem, solution: Solution, *, tolerance: float = DEFAULT_TOLERANCE
) -> TraceCertificate:
    """The certificate of a solver's answer; `CertificateFailed` warns where it is too far off."""
    answer = np.hstack([solution.vectors, solution.guard])
    with time_stage("certify"), _threads_of_certificate(problem):
        certificate = certify(problem, answer, solution.values, tolerance=tolerance)
    if certificate.level in ("failed", "within"):
        warn(
            CertificateFailed(
                f"the answer of {solution.solver} did not pass its certificate: "
                f"{'; '.join(certificate.reasons)}. Try another ",
                Argument("solver"),
                " or a smaller ",
                Argument("tol"),
            )
        )
    return certificate

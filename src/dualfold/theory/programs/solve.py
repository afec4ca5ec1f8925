"""Answers to programs by existing solvers, and rays where there is no answer.

HiGHS (in SciPy) solves linear programs, `solvers/interior_point.py` quadratic ones. Neither is
trusted: the certificate gets the point and the multipliers only. SciPy returns no rays, so where a
solver reports "infeasible" or "unbounded" the Farkas program is solved for one. Small programs
that floating point leaves unproved are solved over the integers (`solvers/pivots.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Matrix
from dualfold.certificate import Level, checked_tolerance
from dualfold.errors import Argument, CertificateFailed, NotConverged, warn
from dualfold.theory.programs.balance import BalancedProgram, balanced_program
from dualfold.theory.programs.certificate import ProgramCertificate, certify_program
from dualfold.theory.programs.program import LinearProgram, Program
from dualfold.theory.programs.rays import RayCertificate, certify_infeasible, certify_unbounded
from dualfold.theory.programs.solvers.external import by_highs, polished_answer, widened_rows
from dualfold.theory.programs.solvers.interior_point import by_interior_point
from dualfold.theory.programs.solvers.pivots import by_pivots

# Unknowns up to which a dense least-squares problem is solved for the last digits.
MAX_POLISHED_UNKNOWNS = 1_500
# Of two answers, the one whose level comes first here is returned.
BEST_FIRST: tuple[Level, ...] = ("proved", "within reach", "within", "unresolved", "failed")


@dataclass(frozen=True, eq=False)
class ProgramAnswer:
    """Outcome of a program, with its proof.

    status : "optimal", "infeasible" or "unbounded"
    point : the optimum; for "unbounded" a feasible point; None for "infeasible"
    multipliers : one for each row of constraints, inequalities first; None unless "optimal"
    ray : Farkas multipliers ("infeasible") or the direction of improvement ("unbounded")
    certificate : of the point and multipliers, or of the ray
    solver : the name of what found it
    """

    status: Literal["optimal", "infeasible", "unbounded"]
    point: Array | None
    multipliers: Array | None
    ray: Array | None
    certificate: ProgramCertificate | RayCertificate
    solver: str

    def __repr__(self) -> str:
        return f"ProgramAnswer({self.status}; {self.certificate})"


def solve_program(program: Program, *, tolerance: float = 1e-8) -> ProgramAnswer:
    """Solve a program: the optimum with its multipliers, or a ray that proves there is none.

    HiGHS solves linear programs and an interior-point method quadratic ones; small programs that
    floating point leaves unproved are solved over the integers. No solver is trusted.

    Parameters
    ----------
    program : LinearProgram or QuadraticProgram
        The program.
    tolerance : float in [0, 1], default=1e-8
        Largest relative gap that is called "proved", and largest error of a constraint.

    Returns
    -------
    ProgramAnswer
        Its `status`, `point`, `multipliers`, `ray` and `certificate`.

    Raises
    ------
    NotConverged
        If no solver returns a point or a ray.

    Warns
    -----
    CertificateFailed
        If the certificate of the answer failed.

    See Also
    --------
    certify_program : Certifies a point of another solver.

    References
    ----------
    .. [1] Q. Huangfu and J. A. J. Hall, "Parallelizing the dual revised simplex method",
       Mathematical Programming Computation, 10, 119–142, 2018.

    Examples
    --------
    >>> from dualfold.programs import LinearProgram, solve_program
    >>> answer = solve_program(LinearProgram([1.0], [[-1.0]], [-3.0]))  # min x, x ≥ 3
    >>> answer.status, float(answer.point[0]), float(answer.multipliers[0])
    ('optimal', 3.0, 1.0)
    """
    tolerance = checked_tolerance(tolerance)
    best: ProgramAnswer | None = None
    rays_tried = False
    for name, attempt in _attempts(program):
        answer: ProgramAnswer | None
        if attempt is not None:
            certificate = certify_program(program, *attempt, tolerance=tolerance)
            answer = ProgramAnswer("optimal", *attempt, None, certificate, name)
        else:
            answer = None if rays_tried else _without_optimum(program, tolerance)
            rays_tried = True
        best = _better_answer(best, answer)
        if best is not None and best.certificate.level == "proved":
            return best
    # A solver may stop anywhere when there is no optimum; a ray then proves that.
    best = _better_answer(best, None if rays_tried else _without_optimum(program, tolerance))
    if best is None:
        raise NotConverged(
            "no optimum was found, and no ray that shows the program infeasible or unbounded: it "
            "may be on the edge between them. Rescale its rows, or loosen the tightest limits"
        )
    if best.certificate.level == "failed":
        warn(
            CertificateFailed(
                f"the answer of {best.solver} did not pass its certificate: "
                f"{'; '.join(best.certificate.reasons)}. Rescale the program or raise ",
                Argument("tolerance"),
            )
        )
    return best


def _better_answer(
    first: ProgramAnswer | None, second: ProgramAnswer | None
) -> ProgramAnswer | None:
    """The answer of which more is known; the first where they are alike."""
    answers = [answer for answer in (first, second) if answer is not None]
    return min(
        answers,
        key=lambda answer: (BEST_FIRST.index(answer.certificate.level), answer.certificate.gap),
        default=None,
    )


def _attempts(program: Program) -> Iterator[tuple[str, tuple[Array, Array] | None]]:
    """Solvers with points and multipliers, the likeliest first; None for "no optimum"."""
    units = balanced_program(program)
    plain = BalancedProgram(program, np.ones(program.n), np.ones(len(program.limits)))
    is_linear = not (_has_curvature(program.Q) or _has_curvature(program.R))
    for scale in (units, plain):
        if is_linear:
            yield "HiGHS", scale.answer(by_highs(scale.program))
            continue
        inner = by_interior_point(scale.program)
        if inner is not None and sum(map(len, inner)) <= MAX_POLISHED_UNKNOWNS:
            yield "interior points", scale.answer(polished_answer(scale.program, *inner))
        yield "interior points", scale.answer(inner)
    # Where nothing found in floating point can be proved, small programs are solved exactly.
    yield "pivots over the integers", units.answer(by_pivots(units.program))


def farkas_ray(program: Program) -> Array | None:
    """Find multipliers that prove a program infeasible.

    Parameters
    ----------
    program : LinearProgram or QuadraticProgram
        The program.

    Returns
    -------
    ndarray or None
        The multipliers, with largest entry 1; None if there are none.

    See Also
    --------
    certify_infeasible : Certifies them.

    Notes
    -----
    They minimise hᵀy subject to Mᵀy = 0 (≥ 0 where x ≥ 0), Ry = 0 and −1 ≤ y ≤ 1 (0 ≤ y for
    inequalities). The minimum is negative exactly if no point keeps all constraints.

    Examples
    --------
    >>> from dualfold.programs import LinearProgram, farkas_ray
    >>> torn = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])  # x ≤ 0 and x ≥ 1
    >>> farkas_ray(torn)
    array([1., 1.])
    """
    for ray in _rays(program):
        if certify_infeasible(program, ray).level in ("proved", "within reach"):
            return ray
    return None


def _rays(program: Program) -> Iterator[Array]:
    """Candidates for a Farkas ray: in floating point, then over the integers."""
    units = balanced_program(program)
    inner = units.program
    largest = float(np.abs(inner.limits).max(initial=0.0))
    if largest == 0:
        return  # x = 0 keeps all constraints
    transposed = sp.csr_array(inner.rows.T)
    p, n_ineq = inner.nonnegative, len(inner.b)
    equal = [transposed[p:], *([] if inner.R is None else [sp.csr_array(inner.R)])]
    stacked = sp.csr_array(sp.vstack(equal))
    # A power of 2 near it rounds nothing, and is a double itself.
    size = float(np.exp2(min(np.ceil(np.log2(largest)), 1023.0)))
    box = LinearProgram(
        inner.limits / size,
        -transposed[:p],
        np.zeros(p),
        stacked,
        np.zeros(stacked.shape[0]),
        n_ineq,
    ).with_bounds(np.where(np.arange(len(inner.limits)) < n_ineq, -np.inf, -1.0), 1.0)
    # A value that rounds to 0 may be negative: the certificate decides.
    for solver, least in ((by_highs, -1e-9), (by_pivots, np.inf)):
        solution = solver(box)
        if solution is not None and solution[0].any() and box.value(solution[0]) < least:
            ray = solution[0].copy()
            ray[:n_ineq] = np.maximum(ray[:n_ineq], 0)
            with np.errstate(all="ignore"):
                ray = ray * units.rows
                ray = ray / np.abs(ray).max()
            if np.isfinite(ray).all():
                yield np.asarray(ray)


def _without_optimum(program: Program, tolerance: float) -> ProgramAnswer | None:
    """The answer of an infeasible or unbounded program, if rays say so."""
    best: ProgramAnswer | None = None
    for ray in _rays(program):
        proof = certify_infeasible(program, ray, tolerance=tolerance)
        best = _better_answer(
            best, ProgramAnswer("infeasible", None, None, ray, proof, "a Farkas ray")
        )
        if proof.level == "proved":
            return best
    for ray in _rays(program.dual):
        for start in _feasible_points(program):
            proof = certify_unbounded(program, start, ray, tolerance=tolerance)
            answer = ProgramAnswer("unbounded", start, None, ray, proof, "a ray of the dual")
            best = _better_answer(best, answer)
            if proof.level == "proved":
                return best
    return None if best is None or best.certificate.level == "failed" else best


def _feasible_points(program: Program) -> Iterator[Array]:
    """Points that should keep all constraints, softened rows included."""
    units = balanced_program(program)
    inner = units.program
    rows, n_ineq = widened_rows(inner), len(inner.b)
    flat = LinearProgram(
        np.zeros(rows.shape[1]), rows[:n_ineq], inner.b, rows[n_ineq:], inner.f, inner.nonnegative
    )
    for solver in (by_highs, by_pivots):
        solution = solver(flat)
        point = None if solution is None else units.point(solution[0])
        if point is not None and np.isfinite(point).all():
            yield point


def _has_curvature(matrix: Matrix | None) -> bool:
    return matrix is not None and bool(abs(matrix).max() > 0 if matrix.shape[0] else False)

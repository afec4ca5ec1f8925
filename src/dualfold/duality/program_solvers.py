"""Answers to programs by existing solvers, and rays where there is no answer.

HiGHS (in SciPy) solves linear programs, Clarabel quadratic ones. Neither is trusted: the
certificate sees the point and the multipliers only. SciPy hands out no rays, so where a
solver says "infeasible" or "unbounded" the Farkas program is solved for one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.duality.balance import Balanced, balanced
from dualfold.duality.program_certificate import ProgramCertificate, certify_program
from dualfold.duality.programs import LinearProgram, Program
from dualfold.duality.ray_certificate import (
    RayCertificate,
    certify_infeasible,
    certify_unbounded,
)
from dualfold.errors import CertificateFailed, MissingDependency, NotConverged

Array = np.ndarray[Any, np.dtype[Any]]

# As tight as HiGHS takes them; its vertices are exact to rounding anyway.
HIGHS = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
# Unknowns up to which the last digits are worth a dense least-squares problem (seconds).
MOST_POLISHED = 1_500


@dataclass(frozen=True, eq=False)
class ProgramAnswer:
    """What came of a program, with its proof.

    status : "optimal", "infeasible" or "unbounded"
    point : the optimum; for "unbounded" a feasible point; None for "infeasible"
    multipliers : one a row of constraints, inequalities first; None unless "optimal"
    ray : Farkas multipliers ("infeasible") or the direction of improvement ("unbounded")
    certificate : of the point and multipliers, or of the ray
    solver : who found it
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
    """The optimum of a program with its multipliers, or the ray that proves there is none.

    >>> from dualfold.duality import LinearProgram, solve_program
    >>> answer = solve_program(LinearProgram([1.0], [[-1.0]], [-3.0]))  # min x, x ≥ 3
    >>> answer.status, float(answer.point[0]), float(answer.multipliers[0])
    ('optimal', 3.0, 1.0)
    """
    name = "Clarabel" if _curved(program.Q) or _curved(program.R) else "HiGHS"
    best: tuple[Array, Array, ProgramCertificate] | None = None
    for found in _attempts(program):
        if found is not None:
            certificate = certify_program(program, *found, tolerance=tolerance)
            if certificate.level == "proved":
                return ProgramAnswer("optimal", *found, None, certificate, name)
            if best is None or certificate.gap < best[2].gap:
                best = (*found, certificate)
        elif (proved := _without_optimum(program, name, tolerance)) is not None:
            return proved
    # A solver may stop near nothing when there is no optimum; a ray then says so.
    if (proved := _without_optimum(program, name, tolerance)) is not None:
        return proved
    if best is None:
        raise NotConverged(
            f"{name} found no optimum, and no ray proves the program infeasible or unbounded: it "
            "may be on the edge between them. Rescale its rows, or loosen the tightest limits"
        )
    warnings.warn(
        f"the answer of {name} did not pass its certificate: {'; '.join(best[2].reasons)}. Rescale "
        "the program or raise tolerance",
        CertificateFailed,
        stacklevel=2,
    )
    return ProgramAnswer("optimal", best[0], best[1], None, best[2], name)


def _attempts(program: Program) -> Iterator[tuple[Array, Array] | None]:
    """Points and multipliers to be judged, the likeliest first; None for "no optimum"."""
    units = balanced(program)
    plain = Balanced(program, np.ones(program.n), np.ones(len(program.limits)))
    if not (_curved(program.Q) or _curved(program.R)):
        for scale in (units, plain):
            inner = _by_highs(scale.program)
            yield None if inner is None else (scale.point(inner[0]), inner[1] * scale.rows)
        return
    for scale, shrunk, accuracy in (
        (units, False, 1e-10),
        (units, True, 1e-13),
        (plain, True, 1e-10),
    ):
        inner = _by_clarabel(scale.program, shrunk=shrunk, accuracy=accuracy)
        if inner is None:
            yield None
            continue
        if sum(map(len, inner)) <= MOST_POLISHED:
            finer = _polished(scale.program, *inner)
            yield scale.point(finer[0]), finer[1] * scale.rows
        yield scale.point(inner[0]), inner[1] * scale.rows


def farkas_ray(program: Program) -> Array | None:
    """Multipliers that prove the program infeasible, largest entry 1; None if there are none.

    min hᵀy subject to Mᵀy = 0 (≥ 0 where x ≥ 0), Ry = 0, and −1 ≤ y ≤ 1 (0 ≤ y for
    inequalities): the minimum is negative exactly when no point keeps all constraints.
    """
    units = balanced(program)
    inner = units.program
    largest = float(np.abs(inner.limits).max(initial=0.0))
    if largest == 0:
        return None  # x = 0 keeps everything
    turned = sp.csr_array(inner.rows.T)
    p, held = inner.nonnegative, len(inner.b)
    equal = [turned[p:], *([] if inner.R is None else [sp.csr_array(inner.R)])]
    box = LinearProgram(
        inner.limits / largest, -turned[:p], np.zeros(p), sp.vstack(equal), _zeros(equal)
    ).with_bounds(np.where(np.arange(len(inner.limits)) < held, 0.0, -1.0), 1.0)
    found = _by_highs(box)
    if found is None or box.value(found[0]) > -1e-9:
        return None
    ray = found[0].copy()
    ray[:held] = np.maximum(ray[:held], 0)
    ray *= units.rows
    return np.asarray(ray / np.abs(ray).max())


def _without_optimum(program: Program, name: str, tolerance: float) -> ProgramAnswer | None:
    """The answer of an infeasible or unbounded program, if a ray proves it."""
    ray = farkas_ray(program)
    if ray is not None:
        proof = certify_infeasible(program, ray, tolerance=tolerance)
        if proof.level == "proved":
            return ProgramAnswer("infeasible", None, None, ray, proof, name)
    ray = farkas_ray(program.dual)
    start = None if ray is None else _feasible_point(program)
    if ray is not None and start is not None:
        proof = certify_unbounded(program, start, ray, tolerance=tolerance)
        if proof.level == "proved":
            return ProgramAnswer("unbounded", start, None, ray, proof, name)
    return None


def _feasible_point(program: Program) -> Array | None:
    """Some point that keeps all constraints, softened rows included."""
    units = balanced(program)
    inner = units.program
    rows, held = _widened(inner), len(inner.b)
    cost = np.zeros(rows.shape[1])
    found = _by_highs(
        LinearProgram(cost, rows[:held], inner.b, rows[held:], inner.f, inner.nonnegative)
    )
    return None if found is None else units.point(found[0])


def _by_highs(program: LinearProgram | Program) -> tuple[Array, Array] | None:
    """A vertex and its multipliers; None where HiGHS finds no optimum."""
    from scipy.optimize import linprog

    if not program.n:
        return np.zeros(0), np.zeros(len(program.limits))
    lower = np.where(np.arange(program.n) < program.nonnegative, 0.0, -np.inf)
    answer = linprog(
        program.sign * program.c,
        A_ub=program.A if len(program.b) else None,
        b_ub=program.b if len(program.b) else None,
        A_eq=program.E if len(program.f) else None,
        b_eq=program.f if len(program.f) else None,
        bounds=np.column_stack([lower, np.full(program.n, np.inf)]),
        method="highs",
        options=HIGHS,
    )
    if answer.status != 0:
        return None
    # SciPy's marginals are derivatives of the optimum by the limits: −multipliers.
    marginals = np.concatenate([answer.ineqlin.marginals, answer.eqlin.marginals])
    multipliers = -marginals
    held = len(program.b)
    multipliers[:held] = np.maximum(multipliers[:held], 0)
    return np.asarray(answer.x, dtype=float), multipliers


def _by_clarabel(program: Program, *, shrunk: bool, accuracy: float) -> tuple[Array, Array] | None:
    """An interior point and its multipliers; None where Clarabel says there is no optimum.

    It calls programs with large c and h infeasible that are not; `shrunk` divides both by
    their largest entry (and multiplies the answer). On random programs with rows of sizes
    10^-3 to 10^3 that mends 14 of 58 and costs others their last digits.
    """
    try:
        import clarabel
    except ImportError:
        raise MissingDependency(
            "quadratic programs are solved by Clarabel, which is not installed; "
            "pip install 'dualfold[qp]' (3 MB). certify_program needs no solver"
        ) from None
    n, p, held = program.n, program.nonnegative, len(program.b)
    curvature, rows = _curvature(program), _widened(program)
    cost = np.concatenate([program.sign * program.c, np.zeros(rows.shape[1] - n)])
    positive = -sp.eye_array(rows.shape[1], format="csr")[:p]
    stacked = sp.vstack([rows[held:], rows[:held], positive], format="csc")
    limits = np.concatenate([program.f, program.b, np.zeros(p)])
    cones = [clarabel.ZeroConeT(len(program.f)), clarabel.NonnegativeConeT(held + p)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = accuracy
    size = max(np.abs(cost).max(initial=0.0), np.abs(limits).max(initial=0.0)) if shrunk else 1.0
    size = float(size) or 1.0
    answer = clarabel.DefaultSolver(
        sp.triu(curvature, format="csc"), cost / size, stacked, limits / size, cones, settings
    ).solve()
    if "Infeasible" in str(answer.status):
        return None
    z = np.asarray(answer.z) * size
    equal = len(program.f)
    multipliers = np.concatenate([np.maximum(z[equal : equal + held], 0), z[:equal]])
    point = np.asarray(answer.x) * size
    point[:p] = np.maximum(point[:p], 0)
    return point, multipliers


def _polished(program: Program, point: Array, multipliers: Array) -> tuple[Array, Array]:
    """The point and multipliers after one Newton step on the constraints that look tight.

    An interior point stops some digits before the boundary. Where a multiplier outweighs
    its slack the constraint is taken as an equation, others are left out; what remains is
    one linear system (the smallest correction that solves it, since it may be singular).
    """
    rows, limits, held, p = _widened(program), program.limits, len(program.b), program.nonnegative
    cost = np.concatenate([program.sign * program.c, np.zeros(rows.shape[1] - program.n)])
    curvature = _curvature(program)
    tight = np.ones(len(limits), dtype=bool)
    tight[:held] = multipliers[:held] > program.slack(point)[:held]
    free = np.ones(rows.shape[1], dtype=bool)
    gradient = curvature @ point + cost + rows.T @ multipliers
    free[:p] = point[:p] > gradient[:p]
    x, y = np.where(free, point, 0.0), np.where(tight, multipliers, 0.0)
    upper = curvature[free][:, free].toarray()
    lower = rows[tight][:, free].toarray()
    system = np.block([[upper, lower.T], [lower, np.zeros((len(lower), len(lower)))]])
    for _ in range(2):  # the second takes off the rounding of the first
        left = -(curvature @ x + cost + rows.T @ y)[free]
        short = (limits - rows @ x)[tight]
        step = np.linalg.lstsq(system, np.concatenate([left, short]), rcond=1e-12)[0]
        x[free] += step[: len(upper)]
        y[tight] += step[len(upper) :]
    x[:p], y[:held] = np.maximum(x[:p], 0), np.maximum(y[:held], 0)
    return x, y


def _curvature(program: Program) -> sp.csr_array:
    """Q and R as one matrix, as they act on a whole point."""
    blocks = [program.Q, *([] if program.R is None else [program.R])]
    return sp.csr_array(sp.block_diag(blocks))


def _widened(program: Program) -> sp.csr_array:
    """[M, −R]: the rows as they act on a whole point."""
    rows = sp.csr_array(program.rows)
    if program.R is None:
        return rows
    return sp.csr_array(sp.hstack([rows, -sp.csr_array(program.R)]))


def _curved(matrix: Any) -> bool:
    return matrix is not None and bool(abs(matrix).max() > 0 if matrix.shape[0] else False)


def _zeros(blocks: list[sp.csr_array]) -> Array:
    return np.zeros(sum(block.shape[0] for block in blocks))

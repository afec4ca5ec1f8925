"""Rays that prove a program infeasible or unbounded, checked in exact arithmetic.

A Farkas ray proves that there is no point at all: multipliers y, y_i ≥ 0 on inequalities,
with Mᵀy = 0 (≥ 0 where x ≥ 0), Ry = 0 and hᵀy < 0, because 0 = yᵀMx ≤ hᵀy for every feasible
x. With bounds on x less is enough: min of (Mᵀy)ᵀx between them above hᵀy.

A direction d along which the objective is unbounded has Ad ≤ 0, Ed = 0, d_j ≥ 0 where
x ≥ 0, Qd = 0 and cᵀd < 0: the objective at x + td is that at x, plus t·cᵀd. It proves
something only together with a point that keeps all constraints.

Computed rays miss the equations by rounding. What is proved is about an exact ray near the
given one (`feasible.py`). No solver is trusted here, and none is imported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Numbers
from dualfold.certificate import Certificate, Level, checked_tolerance, refuse_no_problem
from dualfold.kernels.arithmetic import SMALLEST_NORMAL
from dualfold.kernels.arithmetic.exact import (
    ZERO,
    dot,
    double_below,
    floats,
    fractions,
    nearest_double,
)
from dualfold.theory.programs.balance import BalancedProgram, balanced_program
from dualfold.theory.programs.entries import vector
from dualfold.theory.programs.exact import ExactProgram
from dualfold.theory.programs.feasible import feasible_near
from dualfold.theory.programs.objective_bounds import VariableBounds, least_linear
from dualfold.theory.programs.optimality import (
    conditions,
    largest_modulus,
    limit_size,
    program_text,
)
from dualfold.theory.programs.program import NO_PROGRAM_MESSAGE, LinearProgram, Program


@dataclass(frozen=True, kw_only=True)
class RayCertificate(Certificate):
    """The verdict on a ray that should prove a program infeasible or unbounded.

    level : "proved", "within reach" (infeasible for points up to `extent`), "unresolved"
        (right to rounding, but no exact ray or point was found) or "failed"
    claim : "infeasible" (no point keeps all constraints) or "unbounded" (the objective
        improves without limit along the ray)
    value, bound : the optimum where the claim is proved, infinite; nan where not
    gap : 0 where the claim is proved, else infinite
    margin : −hᵀy, or the fall of the objective along the ray, of a ray with largest entry 1
        (in the program's own units)
    extent : no point has entries up to these sizes, one for each variable
    tolerance : the largest error of the ray that passes

    The rest is as in every `dualfold.Certificate`.
    """

    claim: Literal["infeasible", "unbounded"]
    margin: float
    extent: tuple[float, ...]

    schema: ClassVar[str] = "dualfold.ray/2"

    @property
    def statement(self) -> str:
        """The claim: a ray has no distance from an optimum."""
        return self.claim

    @property
    def grounds(self) -> str:
        """Reason why the ray proves the claim."""
        if self.claim == "infeasible":
            where = "" if self.level == "proved" else " with entries up to `extent`"
            return f"the ray combines the constraints into 0 < 0, no point{where}"
        return (
            f"the objective improves by {self.margin:.3g} with each step along the ray, which "
            "keeps all constraints"
        )


def certify_infeasible(
    program: Program, ray: Numbers, *, tolerance: float = 1e-8
) -> RayCertificate:
    """Certify a Farkas ray, which should prove that no point keeps all constraints.

    A ray y combines the constraints into 0 ≤ hᵀy < 0. It is checked in exact arithmetic.

    Parameters
    ----------
    program : LinearProgram or QuadraticProgram
        The program.
    ray : array-like
        One multiplier for each row of constraints, inequalities first.
    tolerance : float in [0, 1], default=1e-8
        Largest relative gap that is called "proved", and largest error of a constraint.

    Returns
    -------
    RayCertificate
        The verdict, with `claim` "infeasible".

    See Also
    --------
    farkas_ray : Finds such a ray.
    certify_unbounded : The other reason why there is no optimum.

    References
    ----------
    .. [1] J. Farkas, "Theorie der einfachen Ungleichungen", Journal für die reine und angewandte
       Mathematik, 124, 1–27, 1902.

    Examples
    --------
    >>> from dualfold.programs import LinearProgram, certify_infeasible
    >>> torn = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])  # x ≤ 0 and x ≥ 1
    >>> print(certify_infeasible(torn, [1.0, 1.0]).level)
    proved
    """
    tolerance = checked_tolerance(tolerance)
    refuse_no_problem(program, Program, NO_PROGRAM_MESSAGE, "program")
    units = balanced_program(program)
    y = vector(ray, "the ray", len(program.limits))
    candidate = _Ray(units, fractions(y) / fractions(units.rows), tolerance)
    level: Level = "failed"
    reasons, extent = list(candidate.reasons), [math.inf] * program.n
    if not reasons and (candidate.excludes_bounded_points() or candidate.has_exact_ray_nearby()):
        level = "proved"
    elif not reasons:
        size = candidate.excluded_size()
        extent = [double_below(size * unit) for unit in fractions(units.columns)]
        far = nearest_double(size) >= (limit_size(units.program) or 1.0) / max(
            tolerance, SMALLEST_NORMAL
        )
        level = "within reach" if far and program.R is None else "failed"
        reasons.append(
            "the combined rows do not vanish exactly: only points with entries up to "
            f"{nearest_double(size):.1e} (in the program's own units) are excluded"
        )
    return _certificate(program, "infeasible", level, candidate, extent, reasons)


def certify_unbounded(
    program: Program, point: Numbers, ray: Numbers, *, tolerance: float = 1e-8
) -> RayCertificate:
    """Certify a feasible point and a ray along which the objective improves without limit.

    What is proved is about an exact point and an exact ray nearby.

    Parameters
    ----------
    program : LinearProgram or QuadraticProgram
        The program.
    point : array-like of shape (point_size,)
        The feasible point.
    ray : array-like of shape (n,)
        The direction.
    tolerance : float in [0, 1], default=1e-8
        Largest relative gap that is called "proved", and largest error of a constraint.

    Returns
    -------
    RayCertificate
        The verdict, with `claim` "unbounded".

    See Also
    --------
    certify_infeasible : The other reason why there is no optimum.

    Examples
    --------
    >>> from dualfold.programs import LinearProgram, certify_unbounded
    >>> falling = LinearProgram([-1.0], [[-1.0]], [0.0])  # min −x, x ≥ 0
    >>> certify_unbounded(falling, [1.0], [1.0]).level
    'proved'
    """
    tolerance = checked_tolerance(tolerance)
    refuse_no_problem(program, Program, NO_PROGRAM_MESSAGE, "program")
    units = balanced_program(program)
    given = np.concatenate(program.parts(point))
    d = vector(ray, "the ray", program.n)
    # A direction is a ray of the dual: its rows are the program's columns.
    transposed = BalancedProgram(units.program.dual, units.rows, units.columns)
    candidate = _Ray(transposed, fractions(d) / fractions(units.columns), tolerance)
    exact, n = ExactProgram(units.program), program.n
    x = fractions(given[:n]) / fractions(units.columns)
    w = fractions(given[n:]) / fractions(units.rows)[: len(given) - n]
    slack = floats(exact.slack(x, w))
    none = np.zeros(len(program.limits))
    off = conditions(units.program, floats(x), floats(w), none, slack).primal_feasibility
    reasons = list(candidate.reasons)
    if not off <= tolerance:
        reasons.append(f"the point breaks the constraints ({off:.1e})")
    level: Level = "failed" if reasons else "unresolved"
    if not reasons and not candidate.has_exact_ray_nearby():
        reasons.append("no direction was found that keeps the constraints, and Qd = 0, exactly")
    if not reasons and feasible_near(units.program, np.concatenate([x, w])) is None:
        reasons.append("no point was found that keeps all constraints exactly")
    level = level if reasons else "proved"
    return _certificate(program, "unbounded", level, candidate, [math.inf] * n, reasons)


def _certificate(
    program: Program,
    claim: Literal["infeasible", "unbounded"],
    level: Level,
    ray: _Ray,
    extent: list[float],
    reasons: list[str],
) -> RayCertificate:
    optimum = math.nan
    if level == "proved":
        optimum = math.inf * (program.sign if claim == "infeasible" else -program.sign)
    return RayCertificate(
        level=level,
        claim=claim,
        gap=0.0 if level == "proved" else math.inf,
        value=optimum,
        bound=optimum,
        margin=ray.margin,
        extent=tuple(extent),
        tolerance=ray.tolerance,
        reasons=tuple(reasons),
        about=program_text(program),
    )


class _Ray:
    """Multipliers that should combine the rows of a program into 0, in its own units."""

    def __init__(self, units: BalancedProgram, y: Array, tolerance: float) -> None:
        self.program = program = units.program
        self.tolerance = tolerance
        self.exact = exact = ExactProgram(program)
        size = max((abs(number) for number in y), default=ZERO) or Fraction(1)
        n_ineq, p = exact.n_ineq, exact.p
        low = min(y[:n_ineq], default=ZERO) / size
        self.y = y / size
        self.y[:n_ineq] = [max(number, ZERO) for number in self.y[:n_ineq]]
        self.left = exact.columns.times(self.y)
        self.softened = [] if exact.R is None else list(exact.R.times(self.y))
        self.fall = -dot(exact.limits, self.y)
        self.margin = nearest_double(self.fall)
        near = np.abs(floats(self.y))
        short = floats(self.left)
        short[:p] = np.minimum(short[:p], 0)
        with np.errstate(all="ignore"):
            off = largest_modulus(short / np.maximum(abs(program.rows).T @ near, SMALLEST_NORMAL))
            if program.R is not None:
                scale = np.maximum(abs(program.R) @ near, SMALLEST_NORMAL)
                off = max(off, largest_modulus(floats(self.softened) / scale))
        self.reasons: list[str] = []
        if not -nearest_double(low) <= tolerance:
            self.reasons.append(
                f"a multiplier of an inequality is negative ({nearest_double(low):.1e})"
            )
        if not self.fall > 0:
            self.reasons.append(f"the combined limits are not negative ({-self.margin:.1e})")
        if not off <= tolerance:
            self.reasons.append(f"the combined rows do not vanish ({off:.1e} of their terms)")

    def excludes_bounded_points(self) -> bool:
        """Whether no point between the bounds on x has (Mᵀy)ᵀx ≤ hᵀy."""
        if any(self.softened):
            return False
        least = least_linear(self.left, VariableBounds(self.program))
        return least is not None and least + self.fall > 0

    def has_exact_ray_nearby(self) -> bool:
        """Whether a ray nearby meets all equations exactly, and still has hᵀy < 0."""
        program = self.program
        transposed, p = sp.csr_array(sp.csr_array(program.rows).T), program.nonnegative
        equal = sp.csr_array(transposed[p:])
        if program.R is not None:
            equal = sp.csr_array(sp.vstack([equal, sp.csr_array(program.R)]))
        cone = LinearProgram(
            program.limits,
            -transposed[:p],
            np.zeros(p),
            equal,
            np.zeros(equal.shape[0]),
            self.exact.n_ineq,
        )
        near = feasible_near(cone, self.y)
        if near is None:
            return False
        limits = self.exact.limits
        spread = dot(np.array([abs(number) for number in limits], dtype=object), near.radius)
        return dot(limits, near.centre) + spread < 0

    def excluded_size(self) -> Fraction:
        """The largest modulus of entries up to which no point exists."""
        p = self.exact.p
        loss = sum((max(-number, ZERO) for number in self.left[:p]), ZERO)
        loss += sum((abs(number) for number in self.left[p:]), ZERO)
        # `has_exact_ray_nearby` is checked first, so that the loss is not 0 here.
        return self.fall / loss / 2 if loss else ZERO

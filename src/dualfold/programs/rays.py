"""Rays that prove a program infeasible or unbounded, checked in exact arithmetic.

A Farkas ray proves that there is no point at all: multipliers y, y_i ≥ 0 on inequalities,
with Mᵀy = 0 (≥ 0 where x ≥ 0), Ry = 0 and hᵀy < 0, because 0 = yᵀMx ≤ hᵀy for every feasible
x. With bounds on x less is enough: min of (Mᵀy)ᵀx between them above hᵀy.

A direction d along which the objective falls for ever has Ad ≤ 0, Ed = 0, d_j ≥ 0 where
x ≥ 0, Qd = 0 and cᵀd < 0: the objective at x + td is that at x, plus t·cᵀd. It proves
something only together with a point that keeps all constraints.

Computed rays miss the equations by rounding. What is proved is about an exact ray near the
given one (`feasible.py`). No solver is trusted here, and none is imported.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.certificate import Certificate, Level, checked_tolerance
from dualfold.programs.balance import BalancedProgram, balanced_program
from dualfold.programs.bounds import Box, least_linear
from dualfold.programs.conditions import (
    TINY,
    conditions,
    largest_modulus,
    limit_size,
    program_text,
)
from dualfold.programs.entries import vector
from dualfold.programs.exact import (
    ZERO,
    ExactProgram,
    dot,
    double_below,
    floats,
    fractions,
    nearest_double,
)
from dualfold.programs.feasible import feasible_near
from dualfold.programs.program import LinearProgram, Program


@dataclass(frozen=True, kw_only=True)
class RayCertificate(Certificate):
    """The verdict on a ray that should prove a program infeasible or unbounded.

    level : "proved", "within reach" (infeasible for points up to `extent`), "unresolved"
        (right to rounding, but no exact ray or point was found) or "failed"
    claim : "infeasible" (no point keeps all constraints) or "unbounded" (the objective
        improves for ever along the ray)
    value, bound : the optimum where the claim is proved, infinite; nan where not
    gap : 0 where the claim is proved, else infinite
    margin : −hᵀy, or the fall of the objective along the ray, of a ray with largest entry 1
        (in the program's own units)
    extent : no point has entries up to these sizes, one for each variable
    tolerance : what the ray's errors were held against

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
        """What the ray does."""
        if self.claim == "infeasible":
            where = "" if self.level == "proved" else " with entries up to `extent`"
            return f"the ray combines the constraints into 0 < 0, no point{where}"
        return (
            f"the objective improves by {self.margin:.3g} with each step along the ray, which "
            "keeps all constraints"
        )


def certify_infeasible(program: Program, ray: Any, *, tolerance: float = 1e-8) -> RayCertificate:
    """Judge multipliers that should combine the constraints into 0 ≤ hᵀy < 0.

    A ray whose errors are above `tolerance` fails.

    >>> from dualfold.programs import LinearProgram, certify_infeasible
    >>> torn = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])  # x ≤ 0 and x ≥ 1
    >>> print(certify_infeasible(torn, [1.0, 1.0]).level)
    proved
    """
    tolerance = checked_tolerance(tolerance)
    units = balanced_program(program)
    y = vector(ray, "the ray", len(program.limits))
    judged = _Ray(units, fractions(y) / fractions(units.rows), tolerance)
    level: Level = "failed"
    reasons, extent = list(judged.reasons), [math.inf] * program.n
    if not reasons and (judged.excluded_between_bounds() or judged.exact_nearby()):
        level = "proved"
    elif not reasons:
        size = judged.excluded()
        extent = [double_below(size * unit) for unit in fractions(units.columns)]
        far = nearest_double(size) >= (limit_size(units.program) or 1.0) / max(tolerance, TINY)
        level = "within reach" if far and program.R is None else "failed"
        reasons.append(
            "the combined rows do not vanish exactly: only points with entries up to "
            f"{nearest_double(size):.1e} (in the program's own units) are excluded"
        )
    optimum = math.inf * program.sign if level == "proved" else math.nan
    return _certificate(
        program, level, "infeasible", optimum, judged.margin, extent, tolerance, reasons
    )


def certify_unbounded(
    program: Program, point: Any, ray: Any, *, tolerance: float = 1e-8
) -> RayCertificate:
    """Judge a feasible point of a `program` and a `ray` along which it improves for ever.

    What they break of the constraints, and the ray of its promise, is held against
    `tolerance`; what is proved is about an exact point and an exact ray nearby.
    """
    tolerance = checked_tolerance(tolerance)
    units = balanced_program(program)
    given = np.concatenate(program.parts(point))
    d = vector(ray, "the ray", program.n)
    # A direction is a ray of the dual: its rows are the program's columns.
    turned = BalancedProgram(units.program.dual, units.rows, units.columns)
    judged = _Ray(turned, fractions(d) / fractions(units.columns), tolerance)
    exact, n = ExactProgram(units.program), program.n
    x = fractions(given[:n]) / fractions(units.columns)
    w = fractions(given[n:]) / fractions(units.rows)[: len(given) - n]
    slack = floats(exact.slack(x, w))
    none = np.zeros(len(program.limits))
    off = conditions(units.program, floats(x), floats(w), none, slack).primal_feasibility
    reasons = list(judged.reasons)
    if not off <= tolerance:
        reasons.append(f"the point breaks the constraints ({off:.1e})")
    level: Level = "failed" if reasons else "unresolved"
    if not reasons and not judged.exact_nearby():
        reasons.append("no direction was found that keeps the constraints, and Qd = 0, exactly")
    if not reasons and feasible_near(units.program, np.concatenate([x, w])) is None:
        reasons.append("no point was found that keeps all constraints exactly")
    level = level if reasons else "proved"
    optimum = -math.inf * program.sign if level == "proved" else math.nan
    extent = [math.inf] * n
    return _certificate(
        program, level, "unbounded", optimum, judged.margin, extent, tolerance, reasons
    )


def _certificate(
    program: Program,
    level: Level,
    claim: Literal["infeasible", "unbounded"],
    optimum: float,
    margin: float,
    extent: list[float],
    tolerance: float,
    reasons: list[str],
) -> RayCertificate:
    return RayCertificate(
        level=level,
        claim=claim,
        gap=0.0 if level == "proved" else math.inf,
        value=optimum,
        bound=optimum,
        margin=margin,
        extent=tuple(extent),
        tolerance=tolerance,
        reasons=tuple(reasons),
        about=program_text(program),
    )


class _Ray:
    """Multipliers that should combine the rows of a program into 0, in its own units."""

    def __init__(self, units: BalancedProgram, y: Array, tolerance: float) -> None:
        self.program = program = units.program
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
            off = largest_modulus(short / np.maximum(abs(program.rows).T @ near, TINY))
            if program.R is not None:
                scale = np.maximum(abs(program.R) @ near, TINY)
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

    def excluded_between_bounds(self) -> bool:
        """Whether no point between the bounds on x has (Mᵀy)ᵀx ≤ hᵀy."""
        if any(self.softened):
            return False
        least = least_linear(self.left, Box(self.program))
        return least is not None and least + self.fall > 0

    def exact_nearby(self) -> bool:
        """Whether a ray nearby meets all equations exactly, and still has hᵀy < 0."""
        program = self.program
        turned, p = sp.csr_array(sp.csr_array(program.rows).T), program.nonnegative
        equal = sp.csr_array(turned[p:])
        if program.R is not None:
            equal = sp.csr_array(sp.vstack([equal, sp.csr_array(program.R)]))
        cone = LinearProgram(
            program.limits,
            -turned[:p],
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

    def excluded(self) -> Fraction:
        """The largest modulus of entries up to which no point exists."""
        p = self.exact.p
        loss = sum((max(-number, ZERO) for number in self.left[:p]), ZERO)
        loss += sum((abs(number) for number in self.left[p:]), ZERO)
        # `exact_nearby` is asked first: a loss of 0 does not come here.
        return self.fall / loss / 2 if loss else ZERO

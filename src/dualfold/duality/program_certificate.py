"""How far from optimal a point of a program can be, from the point and multipliers alone.

For any y with y_i ≥ 0 on inequalities and any x, every feasible x′ has (for a minimum)

    objective(x′) ≥ −½xᵀQx − ½yᵀRy − hᵀy + rᵀx′,     r = Qx + c + Mᵀy

since Q and R are positive semidefinite. r is 0 at an optimum; computed, it is some 1e-14,
and then the bound holds for every x′ with entries up to `reach` times those of x, less what
r can add there and the rounding of all of it. That is the proof; the Karush–Kuhn–Tucker
conditions say which part of it fails when it does. No solver is trusted, and none is
imported. All of it is done in the program's own units (`balance.py`), so that metres or
millimetres make no difference.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dualfold.duality.balance import balanced
from dualfold.duality.program_terms import Terms, finite, largest, plain
from dualfold.duality.programs import Program

Array = np.ndarray[Any, np.dtype[Any]]
# `reach` unless the caller says otherwise: far enough to cover every other optimum of an
# ordinary program.
FARTHER = 10.0


@dataclass(frozen=True)
class ProgramCertificate:
    """The verdict on a point of a program; `print` it.

    level : "proved" (the value is within `gap` of the optimum, by weak duality, among
        points within `reach`; the point keeps its constraints up to
        `primal_feasibility`) or "failed"
    value, bound : the objective at the point, and what no feasible point is better than
    sense : "min" or "max", which of them is the lower one
    gap : their distance, relative to them (or to 1 % of the terms of the sum if that is more)
    primal_feasibility, dual_feasibility, stationarity, complementarity : the largest
        violation of each condition of Karush, Kuhn and Tucker, relative to the terms of
        its row
    reach : how many times as large as the point's own entries (or, where these are small, as
        a usual one) those of another point may be
    tolerance, reasons : what gap and violations were held against, and what failed, in words
    """

    level: Literal["proved", "failed"]
    gap: float
    value: float
    bound: float
    sense: Literal["min", "max"]
    primal_feasibility: float
    dual_feasibility: float
    stationarity: float
    complementarity: float
    reach: float
    tolerance: float
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.level == "failed":
            return "failed: " + "; ".join(self.reasons)
        side = "lower" if self.sense == "min" else "higher"
        return (
            f"proved: optimal to {self.gap:.1e} (relative); the multipliers exclude any value "
            f"{side} than {self.bound:.10g} up to {self.reach:g} times as far out, and the point "
            f"keeps its constraints to {self.primal_feasibility:.1e}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: plain numbers, lists and strings (infinite numbers become None)."""
        return plain(asdict(self) | {"verdict": str(self), "schema": "dualfold.program/1"})


def certify_program(
    program: Program,
    point: Any,
    multipliers: Any,
    *,
    tolerance: float = 1e-8,
    reach: float = FARTHER,
) -> ProgramCertificate:
    """Judge a point of a `program` (x, and w with R) with its multipliers (inequalities first).

    A gap or violation above `tolerance` fails. The bound is about points whose entries are at
    most `reach` times those of the point.

    >>> import numpy as np
    >>> from dualfold.duality import LinearProgram, certify_program
    >>> diet = LinearProgram([2.0, 3.0], [[-1.0, -1.0]], [-4.0], nonnegative=2)
    >>> certify_program(diet, [4.0, 0.0], [2.0]).level
    'proved'
    >>> certify_program(diet, [4.0, 0.0], [2.1]).level
    'failed'
    """
    units = balanced(program)
    given = np.concatenate(program.parts(point))
    y = finite(multipliers, len(program.limits), "the multipliers") / units.rows
    program = units.program
    x, w = program.parts(units.inner_point(given))
    at = Terms(program, x, y)
    size = at.point_size
    slack, held = program.slack(np.concatenate([x, w])), len(program.b)
    short = np.concatenate([np.minimum(slack[:held], 0), slack[held:]])
    low = np.minimum(x[: program.nonnegative], 0)
    primal = max(largest(short / at.row_scale), largest(low / size))
    dual = largest(np.minimum(y[:held], 0) / at.multiplier_size)
    soft = 0.0 if program.R is None else largest((program.R @ (w - y)) / at.row_scale)
    stationarity = max(largest(at.unbalanced / at.column_scale), soft)
    value = program.sign * program.value(np.concatenate([x, w]))
    bound, scale = at.bound(reach), at.value_scale(value)
    p = program.nonnegative
    products = np.concatenate([y[:held] * slack[:held], x[:p] * at.gradient[:p]])
    complementarity = largest(products / scale)
    gap = max(value - bound, abs(value - at.dual_value)) / scale
    reasons = _reasons((primal, dual, stationarity, complementarity, gap), tolerance)
    return ProgramCertificate(
        level="failed" if reasons else "proved",
        gap=gap,
        value=program.sign * value,
        bound=program.sign * bound,
        sense=program.sense,
        primal_feasibility=primal,
        dual_feasibility=dual,
        stationarity=stationarity,
        complementarity=complementarity,
        reach=reach,
        tolerance=tolerance,
        reasons=reasons,
    )


def _reasons(violations: tuple[float, ...], tolerance: float) -> tuple[str, ...]:
    """Which conditions fail, in words (nan fails, too)."""
    words = (
        "the point breaks its constraints",
        "a multiplier of an inequality is negative",
        "the gradients do not balance",
        "a constraint that is not tight has a multiplier",
        "the value is not the bound",
    )
    return tuple(
        f"{name} ({number:.1e}, allowed {tolerance:.0e})"
        for name, number in zip(words, violations, strict=True)
        if not number <= tolerance
    )

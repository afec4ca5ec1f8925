"""Rays that prove a program infeasible or unbounded, checked.

A Farkas ray proves that there is no point at all: multipliers y, y_i ≥ 0 on inequalities,
with Mᵀy = 0 (≥ 0 where x ≥ 0), Ry = 0 and hᵀy < 0, because 0 = yᵀMx ≤ hᵀy for every feasible
x. A direction along which the objective falls for ever is such a ray of the dual. No solver
is trusted here, and none is imported.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dualfold.duality.balance import balanced
from dualfold.duality.program_terms import EPS, Terms, finite, largest, limit_size, plain
from dualfold.duality.programs import Program


@dataclass(frozen=True)
class RayCertificate:
    """The verdict on a ray that should prove a program infeasible or unbounded.

    level : "proved" or "failed"
    claim : "infeasible" (no point keeps all constraints) or "unbounded" (the objective
        improves for ever along the ray)
    margin : hᵀy, or the fall of the objective along the ray, of a ray with largest entry 1
    excluded : no point (for "unbounded": no multipliers) with entries up to this size
        exists, in the units of the balanced program; infinite where nothing was rounded
    tolerance, reasons : what the ray's errors were held against, and what failed, in words
    """

    level: Literal["proved", "failed"]
    claim: Literal["infeasible", "unbounded"]
    margin: float
    excluded: float
    tolerance: float
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.level == "failed":
            return "failed: " + "; ".join(self.reasons)
        size = "" if np.isinf(self.excluded) else f" with entries up to {self.excluded:.1e}"
        if self.claim == "infeasible":
            return (
                f"proved: infeasible; the ray combines the constraints into 0 < 0, no point{size}"
            )
        return (
            f"proved: unbounded; the objective improves by {self.margin:.3g} with each step along "
            f"the ray, which keeps all constraints (no multipliers{size})"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: plain numbers, lists and strings (infinite numbers become None)."""
        return plain(asdict(self) | {"verdict": str(self), "schema": "dualfold.ray/1"})


def certify_infeasible(program: Program, ray: Any, *, tolerance: float = 1e-8) -> RayCertificate:
    """Judge multipliers that should combine the constraints into 0 ≤ hᵀy < 0.

    >>> from dualfold.duality import LinearProgram, certify_infeasible
    >>> torn = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])  # x ≤ 0 and x ≥ 1
    >>> print(certify_infeasible(torn, [1.0, 1.0]).level)
    proved
    """
    units = balanced(program)
    y = finite(ray, len(program.limits), "the ray") / units.rows
    program = units.program
    size = largest(y)
    if size == 0:
        return RayCertificate("failed", "infeasible", 0.0, 0.0, tolerance, ("the ray is 0",))
    y = y / size
    held, p, rows = len(program.b), program.nonnegative, program.rows
    reasons = []
    if (negative := largest(np.minimum(y[:held], 0))) > 0:
        reasons.append(f"a multiplier of an inequality is negative ({-negative:.1e})")
    left = rows.T @ y
    rounding = (len(y) + 3) * EPS
    loose = rounding * (abs(rows).T @ np.abs(y))
    loss = float(np.maximum(loose[:p] - left[:p], 0).sum())  # x ≥ 0: only what may be negative
    loss += float((np.abs(left) + loose)[p:].sum())
    if program.R is not None:
        loss += float(np.abs(program.R @ y).sum())
        loss += rounding * float((abs(program.R) @ np.abs(y)).sum())
    margin = -float(program.limits @ y)
    sure = margin - rounding * float(np.abs(program.limits) @ np.abs(y))
    if not sure > 0:
        reasons.append(f"the combined limits are not negative ({-margin:.1e})")
    excluded = float("inf") if loss == 0 else max(sure, 0.0) / loss
    if sure > 0 and excluded < limit_size(program) / tolerance:
        reasons.append(
            f"the combined rows do not vanish: only points with entries up to {excluded:.1e} are "
            "excluded"
        )
    level: Literal["proved", "failed"] = "failed" if reasons else "proved"
    return RayCertificate(level, "infeasible", margin, excluded, tolerance, tuple(reasons))


def certify_unbounded(
    program: Program, point: Any, ray: Any, *, tolerance: float = 1e-8
) -> RayCertificate:
    """Judge a feasible point of a `program` and a `ray` along which it improves for ever.

    What they break of the constraints, and the ray of its promise, is held against `tolerance`.
    """
    units = balanced(program)
    given = units.inner_point(np.concatenate(program.parts(point)))
    judged = certify_infeasible(program.dual, ray, tolerance=tolerance)
    program = units.program
    x, _ = program.parts(given)
    at = Terms(program, x, np.zeros(len(program.limits)))
    slack, held = program.slack(given), len(program.b)
    short = np.concatenate([np.minimum(slack[:held], 0), slack[held:]]) / at.row_scale
    off = max(largest(short), largest(np.minimum(x[: program.nonnegative], 0) / at.point_size))
    reasons = judged.reasons
    if off > tolerance:
        reasons = (*reasons, f"the point breaks the constraints ({off:.1e})")
    level: Literal["proved", "failed"] = "failed" if reasons else "proved"
    return RayCertificate(level, "unbounded", judged.margin, judged.excluded, tolerance, reasons)

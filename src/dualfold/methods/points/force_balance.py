"""Judgement of points that attract and repel: whether their forces balance.

The objective is not convex, and no lower bound of it is known, so that points are "stationary" at
best. That, too, is said only where the rounding of these forces is bounded.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import Level, share
from dualfold.methods.points.objective import Objective
from dualfold.methods.points.problem import AttractionProblem
from dualfold.trace.lift import MAX_COORDINATE

# Descents of the usual length end below it; maps that were stopped early, or moved afterwards,
# do not (docs/dev/notes/tsne-grid.md).
MAX_UNBALANCED_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class ForceBalance:
    """The level of points, its reasons, and the objective that it is read from.

    objective : None where the points have none
    """

    level: Level
    reasons: tuple[str, ...]
    objective: Objective | None = None


def force_balance(
    problem: AttractionProblem, Y: Array, tolerance: float, n_jobs: int | None = None
) -> ForceBalance:
    """Whether at most a share `tolerance` of the forces on the points is unbalanced."""
    if not (np.abs(Y) < MAX_COORDINATE).all():
        reason = "the points hold NaN, infinity or squares that overflow"
        return ForceBalance("failed", (reason,))
    objective = problem.forces.objective(problem, Y, n_jobs)
    if objective.error is None or objective.gradient_error is None:
        name = problem.forces.name
        reason = f"nobody has bounded the rounding of these forces ({name})"
        return ForceBalance("unresolved", (reason,), objective)
    unbalanced = objective.unbalanced_share
    if unbalanced <= tolerance:
        return ForceBalance("stationary", (), objective)
    reason = f"{share(unbalanced)} of the forces is not balanced, more than {tolerance:g}"
    return ForceBalance("not stationary", (reason,), objective)

"""t-SNE of several slices with springs along their links: stationary, no bound is known."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import DEFAULT_TOLERANCE, Level
from dualfold.methods.points.aligned.certificate import AlignedCertificate
from dualfold.methods.points.descent import descend
from dualfold.methods.points.force_balance import MAX_UNBALANCED_SHARE
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.schedule import Phase

# Sweeps over the slices, and iterations of each slice in a sweep.
SWEEPS = 16
CALM_SWEEPS = 6
ITERATIONS = 50


def descended_with_springs(
    problems: Sequence[AttractionProblem],
    starts: Sequence[Array],
    pairs: Sequence[Array],
    mu: float,
) -> tuple[list[Array], AlignedCertificate]:
    """The points of all slices, slice by slice in turn until the forces balance.

    The objective is Σ KL + μ·Σ mean of ‖yᵢᵗ − yⱼᵗ⁺¹‖² over links.
    """
    points = [np.asarray(start, dtype=float) for start in starts]
    for sweep in range(SWEEPS):
        calm = 4 if sweep >= SWEEPS - CALM_SWEEPS else 1  # in the last ones points converge
        for t, problem in enumerate(problems):
            forces = problem.forces
            rate = max(forces.step_length(problem.n, 1.0), forces.least_step)

            def pull(Y: Array, t: int = t) -> Array:
                return spring_gradient(points, Y, t, pairs, mu) / 4

            phase = Phase(ITERATIONS, 1.0, rate / calm, 0.8)
            points[t] = descend(problem, points[t], [phase], further_pull=pull).points
    return points, _certificate(problems, points, pairs, mu)


def spring_gradient(
    points: Sequence[Array], Y: Array, t: int, pairs: Sequence[Array], mu: float
) -> Array:
    """The gradient of the springs of slice t at points Y; the other slices stay."""
    gradient = np.zeros_like(Y)
    if t > 0 and len(pairs[t - 1]):
        other, mine = pairs[t - 1].T
        np.add.at(gradient, mine, 2 * mu / len(mine) * (Y[mine] - points[t - 1][other]))
    if t < len(pairs) and len(pairs[t]):
        mine, other = pairs[t].T
        np.add.at(gradient, mine, 2 * mu / len(mine) * (Y[mine] - points[t + 1][other]))
    return gradient


def _certificate(
    problems: Sequence[AttractionProblem],
    points: Sequence[Array],
    pairs: Sequence[Array],
    mu: float,
) -> AlignedCertificate:
    value, unbalanced, forces, proved = 0.0, 0.0, 0.0, True
    for t, problem in enumerate(problems):
        objective = problem.forces.objective(problem, points[t], None)
        proved &= objective.error is not None
        springs = spring_gradient(points, points[t], t, pairs, mu)
        value += objective.value
        unbalanced += float(np.sum((objective.gradient + springs) ** 2))
        forces += (objective.pull + objective.push + float(np.linalg.norm(springs))) ** 2
    for t, linked in enumerate(pairs):
        gaps = points[t][linked[:, 0]] - points[t + 1][linked[:, 1]]
        value += mu * float(np.mean(np.sum(gaps**2, axis=1))) if len(linked) else 0.0
    share = float(np.sqrt(unbalanced / forces)) if forces else 0.0
    level: Level = "stationary" if share <= MAX_UNBALANCED_SHARE else "not stationary"
    return AlignedCertificate(
        level=level if proved else "unresolved",
        gap=np.inf,
        value=value,
        bound=np.nan,
        tolerance=DEFAULT_TOLERANCE,
        gradient=share,
    )

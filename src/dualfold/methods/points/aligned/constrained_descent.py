"""Descent on the constraints of all slices at once: preconditioned conjugate gradients.

A step moves V along a direction and back to the feasible point nearest to it. Gradients go through
the inverse of blockdiag(Aₜ) + μK just below its spectrum, so that directions of small eigenvalues
move as fast as the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dualfold.arrays import Array
from dualfold.methods.points.aligned.problem import AlignedProblem

# Stationary: the gradient in the metric's dual norm, relative to the objective's scale.
TOLERANCE = 1e-7
MAX_ITERATIONS = 400


def solve_aligned(
    problem: AlignedProblem, starts: Sequence[Array], inverse: Callable[[Array], Array]
) -> Array:
    """The lowest end of the descents from each start; `inverse` is the preconditioner."""
    usable = [start for start in starts if problem.spans(start)]
    ends = [_descend(problem, problem.feasible(start), inverse) for start in usable]
    return min(ends, key=problem.value)


def _descend(problem: AlignedProblem, V: Array, inverse: Callable[[Array], Array]) -> Array:
    value, gradient = problem.value(V), problem.gradient(V)
    scale = abs(value) + 1e-12
    step, direction, previous = 1.0, None, None
    for _ in range(MAX_ITERATIONS):
        Z = _tangent(problem, V, inverse(gradient))
        slope = float(np.sum(Z * gradient))
        if slope <= (TOLERANCE * scale) ** 2 or not np.isfinite(slope):
            return V
        if direction is None or previous is None:
            direction = -Z
        else:
            beta = max(0.0, (slope - float(np.sum(Z * previous[0]))) / previous[1])
            direction = -Z + beta * _tangent(problem, V, direction)
            if float(np.sum(direction * gradient)) >= 0:
                direction = -Z
        previous = gradient, slope
        falls = float(np.sum(direction * gradient))
        moved = _line_search(problem, V, value, direction, (falls, step))
        if moved is None:
            return V
        V, value, step = moved
        gradient = problem.gradient(V)
    return V


def _line_search(
    problem: AlignedProblem,
    V: Array,
    value: float,
    direction: Array,
    guess: tuple[float, float],
) -> tuple[Array, float, float] | None:
    """A step that lowers the objective, near the minimum of a parabola; None if there is none."""
    slope, step = 2 * guess[0], guess[1]
    for _ in range(40):
        trial = problem.feasible(V + step * direction)
        reached = problem.value(trial)
        curvature = reached - value - slope * step
        best = -slope * step**2 / (2 * curvature) if curvature > 0 else 4 * step
        if reached <= value + 1e-4 * slope * step:
            if not 0.5 * step < best < 2 * step:
                other = problem.feasible(V + min(best, 10 * step) * direction)
                lower = problem.value(other)
                if lower < reached:
                    return other, lower, min(best, 10 * step)
            return trial, reached, step
        step = min(0.5 * step, max(best, 0.1 * step))
    return None


def _tangent(problem: AlignedProblem, V: Array, Z: Array) -> Array:
    """Z off the excluded directions and along the constraints at V."""
    Z = problem.without_excluded(Z)
    BV = problem.times_metric(V)
    parts = []
    for part, image, moved in zip(*(problem.parts(s) for s in (V, BV, Z)), strict=True):
        form = image.T @ moved
        parts.append(moved - part @ ((form + form.T) / 2))
    return np.vstack(parts)

"""Points of least stress, by steps of majorisation that are made longer where that is safe.

The majorisation (SMACOF; de Leeuw 1977) replaces Y by Y − force_i/c_i, which never raises σ and
lowers it by at least Σ‖force_i‖²/c_i: for weights of 1 this is Guttman's transform B(Y)Y/n, for
others c is twice the sum of a point's weights. Its steps become short near a minimum. So each
step is first tried in the direction of a limited-memory quasi-Newton method (L-BFGS) with the
majorisation as its metric; where that does not lower the stress enough, a step of majorisation is
taken, twice as long where that is better. The stress falls with every step.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.reports import tally
from dualfold.methods.points.stress.disparities import Order
from dualfold.methods.points.stress.pair_sums import StressSums, forces_between
from dualfold.methods.points.stress.problem import StressProblem

# Pairs of steps and changes of the gradient that the quasi-Newton direction is made of.
MEMORY_PAIRS = 10
# Lengths that are tried along it: near points that pass one another the stress has kinks.
STEP_LENGTHS = (1.0, 0.3, 0.1)
# The majorising function is as high at twice its own step as at Y: the stress is no higher, and
# mostly lower than after one (de Leeuw and Heiser 1980; docs/dev/notes/stress.md).
RELAXED_LENGTH = 2.0
# Of the decrease that the slope promises, what a step must reach (Armijo).
LEAST_DECREASE_SHARE = 1e-4
# Lengths that are right to this share of their sizes are right: more is rounding.
LENGTH_ROUNDING = 1e-13


@dataclass(frozen=True, kw_only=True)
class StopRule:
    """When a descent ends.

    max_steps : the largest number of steps
    eps : a step of majorisation would lower the stress by less than this share of Σ w d²
    tolerance : and the share of unbalanced forces is at most this
    """

    max_steps: int = 300
    eps: float = 1e-6
    tolerance: float = 1e-4

    def is_met(self, problem: StressProblem, now: StressSums) -> bool:
        """Whether no further step is needed."""
        rounding = LENGTH_ROUNDING * np.sqrt(now.squares * problem.curvatures.max())
        if not now.torn and float(np.linalg.norm(now.sizes)) <= rounding:
            return True  # every length is right
        gain = float((np.square(now.force).sum(axis=1) / problem.curvatures).sum())
        return gain <= self.eps * now.squares and now.unbalanced <= self.tolerance


@dataclass(frozen=True, eq=False)
class StressDescent:
    """Points, and how they were found.

    points : n×d, centred
    stresses : σ after each step, first that of the start
    n_steps : how many steps were taken
    squares : Σ_{i<j} w d² of the points
    """

    points: Array
    stresses: Array
    n_steps: int
    squares: float


# Points and the forces between them.
Evaluated = tuple[Array, StressSums]


def forces_of(problem: StressProblem, n_jobs: int | None) -> Callable[[Array], Evaluated]:
    """The function of points that returns them with their forces.

    In the ordinal problem these are forces to disparities, and the points come in the best size
    for them: there the stress and Stress-1 rise and fall together.
    """
    if not problem.ordinal:
        D, W = problem.distances, problem.weights
        return lambda Y: (Y, forces_between(Y, D, W, gaps=problem.has_gaps, n_jobs=n_jobs))
    order, W = Order.of(problem), problem.weights

    def forces(Y: Array) -> Evaluated:
        D, size = order.fitted(Y)
        return size * Y, forces_between(size * Y, D, W, gaps=True, n_jobs=n_jobs)

    return forces


def stress_descent(
    problem: StressProblem, start: Array, stop: StopRule, n_jobs: int | None = None
) -> StressDescent:
    """Lower the stress from `start` (n×d) until the rule is met."""
    forces = forces_of(problem, n_jobs)
    Y, steps = start - start.mean(axis=0), 0
    if problem.ordinal:  # the first step is towards the given distances, as in scikit-learn
        order = Order.of(problem)
        given = order.matrix(order.given)
        first = forces_between(Y, given, problem.weights, gaps=True, n_jobs=n_jobs)
        Y, steps = _majorised_points(problem, Y, first), 1
    Y, now = forces(Y)
    stresses = [now.stress]
    memory: deque[tuple[Array, Array]] = deque(maxlen=MEMORY_PAIRS)
    while steps < stop.max_steps and not stop.is_met(problem, now):
        next_Y, after = _step(problem, forces, Y, now, memory)
        if not after.stress < now.stress:  # to rounding nothing is left to gain
            break
        memory.append((next_Y - Y, after.force - now.force))
        Y, now, steps = next_Y, after, steps + 1
        stresses.append(now.stress)
    tally("stress steps", steps)
    return StressDescent(Y - Y.mean(axis=0), np.array(stresses), steps, now.squares)


def guttman_transform(points: Array, distances: Array) -> Array:
    """B(Y)Y/n of points Y: the step of majorisation for weights of 1."""
    Y = points - points.mean(axis=0)
    exact = np.ascontiguousarray(distances, dtype=np.float64)
    return np.asarray(Y - forces_between(Y, exact).force / len(Y))


def _step(
    problem: StressProblem,
    forces: Callable[[Array], Evaluated],
    Y: Array,
    now: StressSums,
    memory: deque[tuple[Array, Array]],
) -> Evaluated:
    """The next points with their forces: the quasi-Newton step, or that of majorisation."""
    if memory:
        direction = _quasi_newton_direction(problem, now.force, memory)
        promised = -2 * float(np.vdot(now.force, direction))
        for length in STEP_LENGTHS if promised > 0 else ():
            tried, after = forces(Y + length * direction)
            if after.stress <= now.stress - LEAST_DECREASE_SHARE * length * promised:
                return tried, after
        memory.clear()
    for length in (RELAXED_LENGTH, 1.0):
        moved, after = forces(_majorised_points(problem, Y, now, length))
        if after.stress < now.stress:
            break
    return moved, after


def _majorised_points(
    problem: StressProblem, Y: Array, now: StressSums, length: float = 1.0
) -> Array:
    moved = Y - length * now.force / problem.curvatures[:, None]
    return np.asarray(moved - moved.mean(axis=0))


def _quasi_newton_direction(
    problem: StressProblem, force: Array, memory: deque[tuple[Array, Array]]
) -> Array:
    """−H·force by the two loops of L-BFGS, H = γ·diag(1/c) changed by the pairs of the memory.

    Pairs along which the stress is not convex are left out.
    """
    convex = [(s, y, float(np.vdot(s, y))) for s, y in memory]
    convex = [(s, y, product) for s, y, product in convex if product > 0]
    q = force.copy()
    shares = []
    for s, y, product in reversed(convex):
        share = float(np.vdot(s, q)) / product
        shares.append(share)
        q -= share * y
    q /= problem.curvatures[:, None]
    if convex:
        _, y, product = convex[-1]
        q *= product / float(np.vdot(y, y / problem.curvatures[:, None]))
    for (s, y, product), share in zip(convex, reversed(shares), strict=True):
        q += (share - float(np.vdot(y, q)) / product) * s
    return np.asarray(-q)

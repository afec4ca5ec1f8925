"""Points strictly inside their edges, and one Newton step towards the centre.

    maximise  ½ Σ m_i ‖y_i‖² + ½ μ Σ_e log s_e,   s_e = d_e² − ‖y_i − y_j‖² > 0

is what the unfolding problem becomes with a logarithmic barrier and K = YYᵀ. Where its
gradient vanishes the weights w_e = μ/s_e satisfy L(w)Y = diag(m)Y, and if λ₂(L(w)) ≥ 1
they are feasible for the dual with the value

    Σ w d² = Σ w s + Σ w ‖y_e‖² = mμ + tr K :

the gap is mμ, no weight is 0 (so no part of the graph falls off), and Y need have no
more columns than K has rank. The steps are primal–dual: w is carried along and only
tends to μ/s, which keeps them long when μ shrinks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solvers.stiffness import LEAST_SHIFT, Net

# What a step must leave of every slack and every weight. Slacks fall with μ, which may shrink
# to a tenth at once; weights have no reason to fall so fast.
LEAST_OF_SLACK, LEAST_OF_WEIGHT = 0.005, 0.05
# w may differ from μ/s by this factor: enough to profit from it, not enough to stray.
LEASH = 1e3
SUFFICIENT = 1e-4  # Armijo's constant
# Steps are tried shorter by this factor, so many times: down to 1e-12.
SHORTER, TRIES = 0.75, 100
ROUNDING = 1e-14  # of the barrier function's value, relative


@dataclass(frozen=True, eq=False)
class Inside:
    """Centred points with all edges shorter than allowed, weights, and the level μ."""

    points: Array
    weights: Array
    slack: Array
    level: float
    shift: float = LEAST_SHIFT
    # −⟨gradient, Newton step⟩/(mμ) where the last step began: far below 1 when centred
    decrement: float = np.inf
    step: float = 0.0
    damped: float = 0.0  # the shift of the last step: large where the matrix was indefinite

    @classmethod
    def at(cls, problem: UnfoldingProblem, points: Array, level: float) -> Inside:
        """The state of these points with w = μ/s."""
        Y = problem.centred(points)
        slack = problem.squared - problem.squared_lengths(Y)
        return cls(Y, level / slack, slack, level)


def newton_step(net: Net, here: Inside) -> Inside:
    """One step at the level μ of `here`, along an arc; the barrier function gets no worse.

    Turning a part of the points moves them on circles, and a straight step stretches the
    edges by its square. So the second derivative of the path (L(w)Y − diag(m)Y and
    ws − μ falling together, in t) is taken along: Y + tΔ + t²Γ, at the price of one more
    solve with the same matrix.
    """
    problem = net.problem
    mu, Y, w, s = here.level, here.points, here.weights, here.slack
    i, j = problem.edges.T
    apart = Y[i] - Y[j]
    gradient = problem.laplacian(mu / s) @ Y - problem.mass[:, None] * Y
    factor, shift = net.factorised(w, 2 * w / s, apart, here.shift)

    def solved(force: Array) -> Array:
        return problem.centred(factor.solve(force.ravel()).reshape(Y.shape))

    move = solved(-gradient)
    slope = float(np.sum(gradient * move))
    stretch = move[i] - move[j]
    along = _dots(apart, stretch)
    change = mu / s - w + 2 * (w / s) * along
    pull = (w * _dots(stretch, stretch) + 2 * change * along) / s
    bend = solved(-(problem.laplacian(change) @ move + problem.laplacian(pull) @ Y))
    bent = bend[i] - bend[j]
    swerve = pull + 2 * (w / s) * _dots(apart, bent)

    length = 1.0
    now = _barrier(problem, Y, s, mu)
    for _ in range(TRIES):
        points = Y + length * move + length**2 * bend
        slack = problem.squared - problem.squared_lengths(points)
        if np.all(slack > LEAST_OF_SLACK * s):
            allowed = now + SUFFICIENT * length * slope + ROUNDING * abs(now)
            if _barrier(problem, points, slack, mu) <= allowed:
                break
        length *= SHORTER
    else:
        points, slack, length = Y, s, 0.0
    weights = w + length * change + length**2 * swerve
    weights = np.maximum(weights, LEAST_OF_WEIGHT * w)
    weights = np.clip(weights, mu / slack / LEASH, mu / slack * LEASH)
    decrement = -slope / (problem.m * mu)
    return Inside(points, weights, slack, mu, _next_shift(shift, length), decrement, length, shift)


def with_column(net: Net, here: Inside, direction: Array) -> Inside:
    """A new column along `direction`, as large as serves best, the others giving way.

    K grows by τuuᵀ, which stretches edges that are tight already; to first order in τ the
    other columns move by τΓ so that the weights, and with them the balance, stay put.
    τ is where the barrier function is best on that curve.
    """
    problem = net.problem
    mu, Y, w, s = here.level, here.points, here.weights, here.slack
    i, j = problem.edges.T
    apart = Y[i] - Y[j]
    factor, _ = net.factorised(w, 2 * w / s, apart, here.shift)
    u = problem.centred(direction[:, None])
    pull = w * problem.squared_lengths(u) / s
    force = -(problem.laplacian(pull) @ Y)
    give = problem.centred(factor.solve(force.ravel()).reshape(Y.shape))
    # All of tr K in the new column is more than it can ever take.
    amount = problem.value(Y) / problem.value(u)
    best, least = None, _barrier(problem, Y, s, mu)
    for _ in range(TRIES):
        points = np.hstack([Y + amount * give, np.sqrt(amount) * u])
        slack = problem.squared - problem.squared_lengths(points)
        if np.all(slack > 0):
            reached = _barrier(problem, points, slack, mu)
            if reached < least:
                best, least = (points, slack), reached
            elif best is not None:
                break
        amount *= SHORTER
    if best is None:
        return here
    points, slack = best
    weights = np.clip(w, mu / slack / LEASH, mu / slack * LEASH)
    return Inside(points, weights, slack, mu, shift=here.shift)


def _barrier(problem: UnfoldingProblem, points: Array, slack: Array, mu: float) -> float:
    """What a step must lower: the function of this file's head, negated."""
    return -0.5 * problem.value(points) - 0.5 * mu * float(np.sum(np.log(slack)))


def _dots(A: Array, B: Array) -> Array:
    return np.asarray(np.einsum("ij,ij->i", A, B))


def _next_shift(shift: float, length: float) -> float:
    """Less damping after a good step, more after a short one."""
    if length > 0.7:
        return max(shift / 10, LEAST_SHIFT)
    return shift * 2 if length < 0.1 else shift

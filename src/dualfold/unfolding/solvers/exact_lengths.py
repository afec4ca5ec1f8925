"""Points moved until every edge has the length asked, at the least cost in variance.

With weights w, L(w) ⪰ M, the variance of any points of lengths d² is Σ w d² − ⟨S, YYᵀ⟩,
S = L(w) − M ⪰ 0. So what a move costs is measured by S. One step solves

    minimise ½ Σ ((‖y_i − y_j‖² − d²)/d²)², linearised, + ½ σ⟨Δ, (S + ηM)Δ⟩,  AΔ = 0

(Levenberg and Marquardt, in the metric S). Cliques of more points than dimensions would make the
derivative of the lengths singular at the very answer; AY = 0 says what they say without that
(`rigid`). What else is nearly singular makes σ small and steps bent: lengths are then off by the
squares of the move, which corrections with the same factors take back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem

# η, in units of S whose wanted directions are at 0; above 1, so that moving all points together is
# no free move. Rolls of 300 and 500 points take as many steps with 2, 10 and 100; one of 1,000 is
# off by 6e-8 after 40 steps with 10, by 2.5e-8 with 100 and 1,000, and 10⁴ is worse again.
SOFTEST = 100.0
FIRST_DAMPING, LEAST_DAMPING = 1e-6, 1e-22
# A step counts when it leaves at most this share of the misfit; a misfit within NEAR of the one
# foretold is good, within FAIR of it fair.
COUNTS, NEAR, FAIR = 0.9995, 1.2, 2.0
MUCH_LESS, LESS, MORE = 0.1, 0.3, 3.0  # what becomes of the damping
FAILURES = 12  # in a row: rounding is then all that is left
# Corrections, as long as each brings this much.
CORRECTIONS, WORTH = 40, 0.99


@dataclass(frozen=True, eq=False)
class Placed:
    """Points, and how far each squared length is off, as a share of d²."""

    points: Array
    misfit: Array

    @property
    def off(self) -> float:
        return float(np.max(np.abs(self.misfit), initial=0.0))

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.misfit))


def placed(problem: UnfoldingProblem, points: Array) -> Placed:
    """Where these points stand, centred."""
    Y = problem.centred(points)
    return Placed(Y, problem.squared_lengths(Y) / problem.squared - 1)


def towards_lengths(
    problem: UnfoldingProblem,
    points: Array,
    weights: Array,
    dependencies: sp.csr_array,
    *,
    wanted: float,
) -> Iterator[Placed]:
    """Points ever nearer to the lengths asked, until these are kept to `wanted` of d².

    weights : near the dual optimum: they say which moves cost variance
    dependencies : independent rows a with aᵀY = 0 for all points of these lengths

    Ends earlier where no step helps any more.
    """
    off = _projection(dependencies)
    here, damping, failures = placed(problem, off(points)), FIRST_DAMPING, 0
    metric = problem.laplacian(weights) + sp.diags_array((SOFTEST - 1) * problem.mass)
    while here.off > wanted and failures < FAILURES:
        try:
            following, foretold = _step(problem, here, metric, dependencies, off, damping)
        except RuntimeError:  # SuperLU met a pivot of 0: more damping has none
            following, foretold = here, 0.0
        if not following.size < COUNTS * here.size:
            damping, failures = MORE * damping, failures + 1
            continue
        here, failures = following, 0
        if here.size < FAIR * foretold:
            damping *= MUCH_LESS if here.size < NEAR * foretold else LESS
        damping = max(damping, LEAST_DAMPING)
        yield here


def _projection(dependencies: sp.csr_array) -> Callable[[Array], Array]:
    """Points to the nearest ones that have the dependencies."""
    A = dependencies
    if A.shape[0] == 0:
        return lambda points: points
    factors = splu(sp.csc_array(A @ A.T))

    def off(points: Array) -> Array:
        for _ in range(2):  # the second takes away what rounding left
            points = points - A.T @ factors.solve(np.ascontiguousarray(A @ points))
        return points

    return off


def _step(
    problem: UnfoldingProblem,
    here: Placed,
    metric: sp.csr_array,
    dependencies: sp.csr_array,
    off: Callable[[Array], Array],
    damping: float,
) -> tuple[Placed, float]:
    """The points after a step, and the size of the misfit foretold.

    Turning parts of the points moves them on circles, so lengths are off by the squares of the
    move; corrections with the same factors take that back.
    """
    J = derivative(problem, here.points)
    solve = _solver(problem, J, metric, dependencies, damping)
    move = solve(here.misfit)
    foretold = here.misfit + 2 * (J @ move.ravel()) / problem.squared
    size = float(np.linalg.norm(foretold))
    best = placed(problem, off(here.points + move))
    for _ in range(CORRECTIONS):
        if best.size < NEAR * size:
            break
        move = move + solve(best.misfit - foretold)
        other = placed(problem, off(here.points + move))
        if not other.size < WORTH * best.size:
            break
        best = other
    return best, size


def _solver(
    problem: UnfoldingProblem,
    J: sp.csr_array,
    metric: sp.csr_array,
    dependencies: sp.csr_array,
    damping: float,
) -> Callable[[Array], Array]:
    """The move against a misfit: of the system that keeps multipliers beside the points.

    With them eliminated, 1/σ would bury the metric.
    """
    p = problem
    r = J.shape[1] // p.n
    H = sp.kron(metric, sp.eye_array(r), format="csr")
    A = sp.kron(dependencies, sp.eye_array(r), format="csr")
    rows = sp.vstack([J, A], format="csr")
    give = np.concatenate([damping * p.squared**2, np.zeros(A.shape[0])])
    system = sp.block_array([[H, rows.T], [rows, sp.diags_array(-give)]], format="csc")
    own = 1 / np.sqrt(np.abs(H.diagonal()))
    scale = np.concatenate([own, 1 / np.sqrt(rows.power(2) @ own**2 + give)])
    D = sp.diags_array(scale)
    factors = splu(sp.csc_array(D @ system @ D))
    size = p.n * r

    def solve(misfit: Array) -> Array:
        rhs = np.zeros(len(scale))
        rhs[size : size + p.m] = -misfit * p.squared / 2
        x = scale * factors.solve(scale * rhs)
        x = x + scale * factors.solve(scale * (rhs - system @ x))
        return p.centred(x[:size].reshape(p.n, r))

    return solve


def derivative(problem: UnfoldingProblem, Y: Array) -> sp.csr_array:
    """J, half the derivative of the squared lengths (edges × n·r)."""
    r = Y.shape[1]
    apart = Y[problem.edges[:, 0]] - Y[problem.edges[:, 1]]
    columns = problem.edges[:, :, None] * r + np.arange(r)
    entries = np.stack([apart, -apart], axis=1)
    starts = np.arange(0, 2 * r * problem.m + 1, 2 * r)
    shape = (problem.m, problem.n * r)
    return sp.csr_array((entries.ravel(), columns.ravel(), starts), shape=shape)

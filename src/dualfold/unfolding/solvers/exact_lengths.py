"""Points moved until every edge has the length asked, at the least cost in variance.

With weights w, L(w) ⪰ M, the variance of any points of lengths d² is Σ w d² − ⟨S, YYᵀ⟩,
S = L(w) − M ⪰ 0. So what a move costs is measured by S. One step solves

    minimise ½ Σ ((‖y_i − y_j‖² − d²)/d²)², linearised, + ½ σ⟨Δ, (S + ηM)Δ⟩

(Levenberg and Marquardt, in the metric S). Cliques of more points than dimensions make the
derivative of the lengths singular at the very answer, so steps get no faster than a constant
factor each; σ falls as long as they do as foretold.
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
# no free move. Of 1e-3, 1, 30, 1000 and 1e5 those in the middle were best on a roll of 300 points
# (lengths reached in 150 steps: 2e-7, 2e-8, 1e-8, 4e-8 and 3e-7).
SOFTEST = 2.0
FIRST_DAMPING, LEAST_DAMPING = 1e-6, 1e-22
# The share of the reduction foretold at which a step counts, is good, is as foretold.
COUNTS, GOOD, FORETOLD = 0.05, 0.75, 0.97
LESS, MUCH_LESS, MORE, SLIGHTLY_MORE = 0.5, 0.1, 4.0, 3.0
FAILURES = 15  # in a row: rounding is then all that is left
# Corrections with the same factors, while lengths are off what was foretold by more than this.
CORRECTIONS, NEAR = 6, 0.05


@dataclass(frozen=True, eq=False)
class Placed:
    """Points, and how far each squared length is off, as a share of d²."""

    points: Array
    misfit: Array

    @property
    def off(self) -> float:
        return float(np.max(np.abs(self.misfit), initial=0.0))

    @property
    def error(self) -> float:
        return float(self.misfit @ self.misfit)


def placed(problem: UnfoldingProblem, points: Array) -> Placed:
    """Where these points stand, centred."""
    Y = problem.centred(points)
    return Placed(Y, problem.squared_lengths(Y) / problem.squared - 1)


def towards_lengths(
    problem: UnfoldingProblem, points: Array, weights: Array, *, wanted: float
) -> Iterator[Placed]:
    """Points ever nearer to the lengths asked, until these are kept to `wanted` of d².

    weights : with λ₂(L(w)) ≥ 1, near the dual optimum: they say which moves cost variance

    Ends earlier where no step helps any more.
    """
    here, damping, failures = placed(problem, points), FIRST_DAMPING, 0
    metric = problem.laplacian(weights) + sp.diags_array((SOFTEST - 1) * problem.mass)
    while here.off > wanted and failures < FAILURES:
        try:
            following, gain = _step(problem, here, metric, damping)
        except RuntimeError:  # SuperLU met a pivot of 0: more damping has none
            following, gain = here, 0.0
        if not gain >= COUNTS:
            damping, failures = MORE * damping, failures + 1
            continue
        here, failures = following, 0
        factor = MUCH_LESS if gain > FORETOLD else LESS if gain > GOOD else 1.0
        damping *= factor if gain > 4 * COUNTS else SLIGHTLY_MORE
        damping = max(damping, LEAST_DAMPING)
        yield here


def _step(
    problem: UnfoldingProblem, here: Placed, metric: sp.csr_array, damping: float
) -> tuple[Placed, float]:
    """The points after a step, and which share of the reduction foretold it brought.

    Turning parts of the points moves them on circles, so lengths are off by the squares of the
    move; corrections with the same factors take that back.
    """
    J = derivative(problem, here.points)
    solve = _solver(problem, J, metric, damping)
    move = solve(here.misfit)
    foretold = here.misfit + 2 * (J @ move.ravel()) / problem.squared
    best = placed(problem, here.points + move)
    for _ in range(CORRECTIONS):
        missed = best.misfit - foretold
        if missed @ missed <= NEAR**2 * (foretold @ foretold):
            break
        move = move + solve(missed)
        other = placed(problem, here.points + move)
        if not other.error < best.error:
            break
        best = other
    hoped = here.error - float(foretold @ foretold)
    return best, (here.error - best.error) / hoped if hoped > 0 else 0.0


def _solver(
    problem: UnfoldingProblem, J: sp.csr_array, metric: sp.csr_array, damping: float
) -> Callable[[Array], Array]:
    """The move against a misfit: of the system that keeps multipliers beside the points.

    With them eliminated, 1/σ would bury the metric.
    """
    p = problem
    r = J.shape[1] // p.n
    H = sp.kron(metric, sp.eye_array(r), format="csr")
    give = damping * p.squared**2
    A = sp.block_array([[H, J.T], [J, sp.diags_array(-give)]], format="csc")
    own = 1 / np.sqrt(H.diagonal())
    rows = 1 / np.sqrt(J.power(2) @ own**2 + give)
    scale = np.concatenate([own, rows])
    D = sp.diags_array(scale)
    factors = splu(sp.csc_array(D @ A @ D))
    still = np.zeros(p.n * r)

    def solve(misfit: Array) -> Array:
        rhs = np.concatenate([still, -misfit * p.squared / 2])
        x = scale * factors.solve(scale * rhs)
        x = x + scale * factors.solve(scale * (rhs - A @ x))
        return p.centred(x[: p.n * r].reshape(p.n, r))

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

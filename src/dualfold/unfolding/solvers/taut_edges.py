"""The last digits of an unfolding whose rank and taut edges are known.

An interior point stops where X, whose small eigenvalues tend to 0, is full of rounding. But
by then the rank r and the taut edges are known. On these

    ‖y_i − y_j‖² = d_ij²    and    L(w)Y = MY,

which two or three Gauss–Newton steps solve: with J the derivative of the squared lengths
and G = JM⁻¹Jᵀ (sparse: edges that share an end), Y moves by M⁻¹Jᵀν, Gν = what the lengths
miss, and w by the least change that makes ½Jᵀw = MY. The bounds then depend on the squares of
the distances from the optimum. Each side is kept only if its bound improves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import DualfoldError
from dualfold.trace.sparse.factorisation import factorise, fill_reducing_ordering
from dualfold.trace.sparse.shifted_matrices import MAX_FLOPS
from dualfold.unfolding.bounds import dual_value, feasible_scale
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.spectral_floor import lowest_pairs

MAX_STEPS = 4
# Redundant taut edges (a clique in few dimensions) make G singular: this share of its
# diagonal is added, and the refinements remove its effect where it matters.
RIDGE_SHARE = 1e-10
N_REFINEMENTS = 4
SAME_BOUND_TOLERANCE = 1e-13  # relative: bounds no further apart are equal


def polished_sides(
    problem: UnfoldingProblem, factor: Array, weights: Array, taut: Array
) -> tuple[Array, Array]:
    """(factor, weights), each at least as good as before; for "at_most" edges.

    `taut` marks the edges that have their full length.
    """
    if not taut.any():
        return factor, weights
    try:
        Y = _taut_points(problem, factor, taut)
        w = _taut_weights(problem, Y, weights, taut)
    except DualfoldError:  # too large, or a pivot that vanishes
        return factor, weights
    better_points = feasible_scale(problem, Y)[1] > feasible_scale(problem, factor)[1]
    before, after = (_upper(problem, v, Y) for v in (weights, w))
    # The error of the bound is the square of the error of the weights: where both bounds are equal
    # up to the rounding of λ₂, the polished weights are nearer.
    return (Y if better_points else factor), (
        w if after <= before * (1 + SAME_BOUND_TOLERANCE) else weights
    )


def _upper(problem: UnfoldingProblem, weights: Array, start: Array) -> float:
    if np.any(weights < 0):
        return np.inf
    second = float(lowest_pairs(problem, weights, start)[0][0])
    return dual_value(problem, weights) / second if second > 0 else np.inf


def _taut_points(problem: UnfoldingProblem, factor: Array, taut: Array) -> Array:
    Y, wanted = factor, problem.squared[taut]
    for _ in range(MAX_STEPS):
        J, solve = _derivative(problem, Y, taut)
        missing = wanted - problem.squared_lengths(Y)[taut]
        move = (J.T @ solve(missing)).reshape(Y.shape) / problem.mass[:, None]
        if not np.isfinite(move).all() or np.abs(move).max() > 0.1 * np.abs(Y).max():
            return Y
        Y = problem.centred_points(Y + move)
    return Y


def _taut_weights(problem: UnfoldingProblem, Y: Array, weights: Array, taut: Array) -> Array:
    J, solve = _derivative(problem, Y, taut)
    inverse = np.repeat(1 / problem.mass, Y.shape[1])
    kept = weights[taut]
    for _ in range(2):
        missing = problem.mass[:, None] * Y - 0.5 * (J.T @ kept).reshape(Y.shape)
        kept = kept + 2 * solve(J @ (inverse * missing.ravel()))
    w = np.zeros(problem.m)
    w[taut] = np.maximum(kept, 0.0)
    return w


def _derivative(problem: UnfoldingProblem, Y: Array, taut: Array) -> tuple[sp.csr_array, Any]:
    """J (taut edges × n·r), and solves with JM⁻¹Jᵀ."""
    edges, rank = problem.edges[taut], Y.shape[1]
    slopes = 2 * (Y[edges[:, 0]] - Y[edges[:, 1]])
    columns = edges[:, :, None] * rank + np.arange(rank)
    entries = np.stack([slopes, -slopes], axis=1)
    starts = np.arange(0, 2 * rank * len(edges) + 1, 2 * rank)
    shape = (len(edges), problem.n * rank)
    J = sp.csr_array((entries.ravel(), columns.ravel(), starts), shape=shape)
    G = sp.csr_array(J @ sp.diags_array(np.repeat(1 / problem.mass, rank)) @ J.T)
    G = sp.csr_array((G + G.T) / 2)  # rounding may leave a 0 on one side only, which is not stored
    ridged = sp.csr_array(G + sp.diags_array(RIDGE_SHARE * G.diagonal()))
    rough = factorise(ridged, fill_reducing_ordering(ridged, most_flops=MAX_FLOPS))

    def solve(rhs: Array) -> Array:
        x = rough.solve(rhs)
        for _ in range(N_REFINEMENTS):
            x = x + rough.solve(rhs - G @ x)
        return np.asarray(x)

    return J, solve

"""The two numbers between which the optimum of an unfolding problem is proved to lie.

The conditions of Karush, Kuhn and Tucker stand beside them as numbers; none of these is a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding.bounds import (
    UNIT_ROUNDOFF,
    EdgeFit,
    dual_value,
    edge_fit,
    geodesic_bounds,
    own_lengths_value,
    upper_bound,
)
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import relative_gap
from dualfold.unfolding.spectral_floor import SecondEigenvalue, eigenvalues_below, second_eigenvalue

# Points that would have to be scaled by more than the root of this have no value.
MAX_SQUARED_SCALE = 2.0**1000
# Eigenvalues of L as near to λ₂ as this, or as the root of the gap, count as equal to it.
MIN_CLUSTER_SHARE = 1e-6
# Equal lengths that are kept to this share of d² count as the given ones: both sides are then
# about the lengths that the points have, exactly.
EQUAL_LENGTHS_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Bracket:
    """lower ≤ optimum ≤ upper, and what they come from.

    fit, scale : how the points fit the edges, and the s² that shrinks them into the edges
    relaxation : for equal lengths, how far the points are off; beyond EQUAL_LENGTHS_TOLERANCE the
        ε that both sides are about
    upper_exact : the bound for the given lengths
    bound_by : the name of the bound that `upper` is
    guess : the bound if λ₂ were its Ritz value; proves nothing
    """

    constraints: str
    fit: EdgeFit
    scale: float
    lower: float
    relaxation: float
    upper: float
    upper_exact: float
    bound_by: str
    guess: float
    second: SecondEigenvalue
    isomap: float | None
    centre: float

    @property
    def gap(self) -> float:
        """(upper − lower)/upper, rounded up."""
        return relative_gap(self.lower, self.upper) * (1 + 8 * UNIT_ROUNDOFF)


def bracket_of(problem: UnfoldingProblem, Y: Array, w: Array, *, most_flops: float) -> Bracket:
    """Both sides of a problem in units of its own (`in_units`), from points and weights.

    w ≥ 0 is required for "at_most". λ₂ is proved with at most `most_flops` multiply-adds.
    """
    found = edge_fit(problem, Y)
    scale, lower, relaxation = _lower_side(problem, found)
    second = second_eigenvalue(problem, w, Y, most_flops=most_flops)
    floor, relaxed = second.proved, dual_value(problem, w, relaxation)
    paths = geodesic_bounds(problem, near=Y)
    stretch = (1 + relaxation) * (1 + 4 * UNIT_ROUNDOFF)
    if problem.constraints == "equal" and relaxation <= EQUAL_LENGTHS_TOLERANCE:
        relaxed = own_lengths_value(problem, w, Y, scale)
    bounds = {"weights": upper_bound(relaxed, floor), "a centre": stretch * paths.centre}
    exact = min(upper_bound(dual_value(problem, w), floor), paths.centre)
    if paths.isomap is not None:
        bounds["Isomap's trace"] = stretch * paths.isomap
        exact = min(exact, paths.isomap)
    bound_by = min(bounds, key=lambda name: bounds[name])
    upper = bounds[bound_by]
    guess = upper_bound(relaxed, second.ritz)
    return Bracket(
        constraints=problem.constraints,
        fit=found,
        scale=scale,
        lower=lower,
        relaxation=relaxation,
        upper=upper,
        upper_exact=exact,
        bound_by=bound_by,
        guess=guess,
        second=second,
        isomap=paths.isomap,
        centre=paths.centre,
    )


def _lower_side(problem: UnfoldingProblem, found: EdgeFit) -> tuple[float, float, float]:
    """(s², value, ε): points times s keep (1 ± ε)d², or at most d² with ε = 0.

    For equal lengths s² is a double, taken as exact; ε is then the larger error at both ends.
    """
    if not (found.variance > 0 and 1 / MAX_SQUARED_SCALE < found.high < MAX_SQUARED_SCALE):
        return 1.0, 0.0, 0.0 if problem.constraints == "at_most" or not problem.m else 1.0
    if problem.constraints == "at_most":
        return 1 / found.high, found.value, 0.0
    scale = 2 / (max(found.low, 0.0) + found.high)
    over = scale * found.high * (1 + 4 * UNIT_ROUNDOFF) - 1
    under = 1 - scale * found.low * (1 - 4 * UNIT_ROUNDOFF)
    value = min(found.variance * scale * (1 - 4 * UNIT_ROUNDOFF), float(np.finfo(float).max))
    return scale, value, max(over, under) + 4 * UNIT_ROUNDOFF


def optimality_conditions(
    problem: UnfoldingProblem, Y: Array, w: Array, second: SecondEigenvalue, gap: float
) -> dict[str, Any]:
    """Stationarity, slackness, rank and multiplicity of a certificate, by their names there."""
    Y = problem.centred_points(Y)
    known = second.ritz > 0 and np.isfinite(second.ritz)
    R = problem.laplacian(w / second.ritz if known else w) @ Y - problem.mass[:, None] * Y
    gram = Y.T @ Y
    size = float(np.sqrt(np.sum(gram**2)))
    off = float(np.sqrt(max(float(np.sum((R.T @ R) * gram)), 0.0)))
    loose = problem.squared - problem.squared_lengths(Y)
    total = float(np.abs(w) @ problem.squared)
    spectrum = np.linalg.eigvalsh((problem.mass[:, None] * Y).T @ Y)
    cluster = max(MIN_CLUSTER_SHARE, float(np.sqrt(gap)) if np.isfinite(gap) else 0.0)
    multiplicity = None
    if known and second.factorised and cluster < 1:
        count, _ = eigenvalues_below(problem, w, second.ritz * (1 + cluster))
        multiplicity = None if count is None else max(0, count - 1)
    return {
        "stationarity": off / size if size else 0.0,
        "slackness": float(np.abs(w * loose).sum()) / total if total else 0.0,
        "rank": int(np.sum(spectrum > cluster * spectrum.sum())),
        "multiplicity": multiplicity,
        "cluster": cluster,
    }

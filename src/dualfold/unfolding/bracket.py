"""The two numbers between which the optimum of an unfolding problem is proved to lie.

The conditions of Karush, Kuhn and Tucker stand beside them as numbers; none of these is a proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.unfolding.bounds import (
    EdgeFit,
    asked_lengths_value,
    dual_value,
    edge_fit,
    geodesic_bounds,
    own_lengths_value,
    upper_bound,
)
from dualfold.unfolding.feasible import feasible_value
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import relative_gap
from dualfold.unfolding.spectral_floor import SecondEigenvalue, eigenvalues_below, second_eigenvalue

# Points that would have to be scaled by more than the root of this have no value.
MAX_SQUARED_SCALE = 2.0**1000
# Eigenvalues of L as near to λ₂ as this, or as the root of the gap, count as equal to it.
MIN_CLUSTER_SHARE = 1e-6
# Points that keep equal lengths to this share of d² answer the problem as well as doubles can;
# what is proved is about exactly the lengths asked.
EQUAL_LENGTHS_TOLERANCE = 1e-9
# Points that are off by at most this many times the ε asked count mixed with the data.
MAX_MIXED_RATIO = 2


@dataclass(frozen=True)
class UnfoldingBracket:
    """lower ≤ optimum ≤ upper, and what they come from.

    fit, scale : how the points fit the edges, and the s² that shrinks them into the edges
    relaxation : for equal lengths, how far the points are off
    upper_exact : the bound for equal lengths exactly as asked
    bound_by, reached_by : what `upper` and `lower` come from
    own_variance : the variance of the points themselves, scaled
    own_gap : the gap of the problem with exactly the lengths that the points have
    guess : the bound if λ₂ were its Ritz value; proves nothing
    """

    constraints: str
    fit: EdgeFit
    scale: float
    own_variance: float
    lower: float
    relaxation: float
    upper: float
    upper_exact: float
    bound_by: str
    reached_by: str
    own_gap: float
    guess: float
    second: SecondEigenvalue
    isomap: float | None
    centre: float

    @property
    def gap(self) -> float:
        """(upper − lower)/upper, rounded up."""
        return relative_gap(self.lower, self.upper) * (1 + 8 * UNIT_ROUNDOFF)


def bracket_of(
    problem: UnfoldingProblem,
    Y: Array,
    w: Array,
    *,
    relaxation: float | None = None,
    most_flops: float,
) -> UnfoldingBracket:
    """Both sides of a problem in units of its own (`in_units`), from points and weights.

    relaxation : for equal lengths, the share ε of d² by which they may differ; None asks for
        exactly these lengths

    w ≥ 0 is required for "at_most". λ₂ is proved with at most `most_flops` multiply-adds.
    """
    fit = edge_fit(problem, Y)
    scale, own_variance, off = _own_side(problem, fit)
    # Points scaled by a power of 2 to the lengths of the problem, which rounds nothing.
    power = round(np.log2(scale) / 2)
    lower, reached_by = _reached_variance(
        problem, np.ldexp(Y, power), own_variance, off, relaxation
    )
    second = second_eigenvalue(problem, w, Y, most_flops=most_flops)
    floor, allowed = second.proved, relaxation or 0.0
    total = asked_lengths_value(problem, w)
    value = dual_value(problem, w, allowed) if allowed else total
    paths = geodesic_bounds(problem, near=Y)
    stretch = (1 + allowed) * (1 + 4 * UNIT_ROUNDOFF)
    bounds = {"weights": upper_bound(value, floor), "a centre": stretch * paths.centre}
    exact = min(upper_bound(total, floor), paths.centre)
    if paths.isomap is not None:
        bounds["Isomap's trace"] = stretch * paths.isomap
        exact = min(exact, paths.isomap)
    bound_by = min(bounds, key=lambda name: bounds[name])
    own_gap = np.inf
    if problem.constraints == "equal":
        own_gap = relative_gap(
            own_variance, upper_bound(own_lengths_value(problem, w, Y, scale), floor)
        )
    return UnfoldingBracket(
        constraints=problem.constraints,
        fit=fit,
        scale=scale,
        own_variance=own_variance,
        lower=lower,
        relaxation=off,
        upper=bounds[bound_by],
        upper_exact=exact,
        bound_by=bound_by,
        reached_by=reached_by,
        own_gap=own_gap,
        guess=upper_bound(value, second.ritz),
        second=second,
        isomap=paths.isomap,
        centre=paths.centre,
    )


def _own_side(problem: UnfoldingProblem, fit: EdgeFit) -> tuple[float, float, float]:
    """(s², value, ε): points times s keep (1 ± ε)d², or at most d² with ε = 0.

    For equal lengths s² is a double, taken as exact; ε is then the larger error at both ends.
    """
    if not (fit.variance > 0 and 1 / MAX_SQUARED_SCALE < fit.high < MAX_SQUARED_SCALE):
        return 1.0, 0.0, 0.0 if problem.constraints == "at_most" or not problem.m else 1.0
    if problem.constraints == "at_most":
        return 1 / fit.high, fit.value, 0.0
    scale = 2 / (max(fit.low, 0.0) + fit.high)
    over = scale * fit.high * (1 + 4 * UNIT_ROUNDOFF) - 1
    under = 1 - scale * fit.low * (1 - 4 * UNIT_ROUNDOFF)
    value = min(fit.variance * scale * (1 - 4 * UNIT_ROUNDOFF), float(np.finfo(float).max))
    return scale, value, max(over, under) + 4 * UNIT_ROUNDOFF


def _reached_variance(
    problem: UnfoldingProblem, Y: Array, own_variance: float, off: float, relaxation: float | None
) -> tuple[float, str]:
    """A variance that is reached within the constraints, and by what.

    Equal lengths are kept by points near Y that are proved to exist, or by the rows whose lengths
    are asked. These count up to what Y has itself: Y is what is judged.
    """
    if problem.constraints == "at_most":
        return own_variance, "the points"
    if relaxation is not None:  # as large as the longest edge allows
        fit = edge_fit(problem, Y)
        scale = (1 + relaxation) / fit.high * (1 - 4 * UNIT_ROUNDOFF) if fit.high > 0 else 0.0
        if fit.low * scale * (1 - 4 * UNIT_ROUNDOFF) >= 1 - relaxation:
            return fit.variance * scale * (1 - 4 * UNIT_ROUNDOFF), "the points"
        if problem.positions is None or off > MAX_MIXED_RATIO * relaxation:
            return 0.0, "nothing"
        # (1 − θ)K + θG is off by (1 − θ) of what K is off, since the data G are off by nothing.
        share = relaxation / off * (1 - 4 * UNIT_ROUNDOFF)
        data = edge_fit(problem, problem.positions).variance
        mixed = (share * own_variance + (1 - share) * data) * (1 - 8 * UNIT_ROUNDOFF)
        return min(own_variance, mixed), "points near these"
    if off > EQUAL_LENGTHS_TOLERANCE:
        return 0.0, "nothing"
    reached = {"nothing": 0.0, "points near these": feasible_value(problem, Y)}
    if problem.positions is not None:
        reached["the data"] = edge_fit(problem, problem.positions).variance
    reached_by = max(reached, key=lambda name: reached[name])
    return min(own_variance, reached[reached_by]), reached_by


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

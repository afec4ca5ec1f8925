"""The certificate of points as an answer of least stress: do forces balance, and what is least?

σ is not convex in the points. For weights of 1 two lower bounds hold for all points
(`lower_bound.py`); for others, and for orders instead of distances, none is known, and the level is
"stationary" or "not stationary" at best.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array
from dualfold.certificate import (
    DEFAULT_TOLERANCE,
    MAX_GAP,
    Certificate,
    Level,
    bound_text,
    checked_tolerance,
    level_of,
    share,
)
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF as _U
from dualfold.methods.points.stress.disparities import Order
from dualfold.methods.points.stress.lower_bound import MAX_BOUND_ROWS, convex_bound, rank_bound
from dualfold.methods.points.stress.pair_sums import StressSums, forces_between
from dualfold.methods.points.stress.problem import StressProblem

# Of Σδ²: a smaller bound says no more than 0 does, and entries that underflow could make it up.
TRIVIAL_SHARE = 1e-30


@dataclass(frozen=True, kw_only=True)
class StressCertificate(Certificate):
    """Certificate of points as an answer of least stress; print it.

    With a bound above half of the stress the level is "proved" or "within", else it says whether
    the forces along the pairs balance: "stationary" or "not stationary".

    Attributes
    ----------
    level : {"proved", "within", "within reach", "measured", "unresolved", "stationary", \
            "not stationary", "failed"}
        How much is known; `dualfold.Certificate` explains the words.
    gap : float
        The gap (value − bound)/bound; infinite if no bound above 0 is known.
    value : float
        The stress Σ_{i<j} w(d − δ)².
    bound : float
        Proved lower bound of the stress of all points in as many dimensions; 0 at least, NaN where
        none is known (other weights, missing distances, non-metric).
    tolerance : float
        Largest gap that is called "proved", and largest share of the forces that may be unbalanced
        in a "stationary" answer.
    reasons : tuple of str
        What is short of "proved", in words.
    about : str
        What the statement is about.
    chance : float
        Always 0.
    complete : bool or None
        Always None.
    error : float
        How far rounding can have moved `value`.
    unbalanced : float
        Norm of the forces that remain over that of all forces.
    convex_bound : float
        The bound that holds in any number of dimensions; −∞ where it is not above 0, NaN where it
        was not computed.
    rank_bound : float
        The same for the bound of this number of dimensions.

    See Also
    --------
    dualfold.MDS : The estimator.
    certify_stress : The function that returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.methods.points.stress.certificate import certify_stress
    >>> from dualfold.methods.points.stress.problem import stress_problem
    >>> unequal = stress_problem([[0, 1, 3], [1, 0, 1], [3, 1, 0]], 1)
    >>> found = certify_stress(unequal, [[-4 / 3], [0], [4 / 3]])
    >>> found.level, round(found.value, 6), round(found.bound, 4)
    ('proved', 0.333333, 0.3333)
    """

    error: float
    unbalanced: float
    convex_bound: float = np.nan
    rank_bound: float = np.nan

    schema: ClassVar[str] = "dualfold.stress/2"
    optimum: ClassVar[str] = "the least stress"

    @property
    def statement(self) -> str:
        """The figures in words."""
        words = f"the stress is {self.value:.6g} (computed to {bound_text(self.error)}), "
        words += f"{share(self.unbalanced)} of the forces is not balanced"
        return f"{words}, optimal to {share(self.gap)}" if self.gap < MAX_GAP else words

    @property
    def grounds(self) -> str:
        """Words on what is known of the least stress."""
        if np.isnan(self.bound):
            return "no bound of the least stress is known"
        words = f"no points in this dimension have a stress below {self.bound:.6g}"
        if self.level == "within":
            words = f"the stress is {self.value:.6g}, and {words}"
        either = _in_words(self.convex_bound), _in_words(self.rank_bound)
        return f"{words} (by convexity {either[0]}, by the number of dimensions {either[1]})"


def _in_words(bound: float) -> str:
    return f"{bound:.6g}" if bound > 0 else "0, which is trivial"


def certify_stress(
    problem: StressProblem,
    points: ArrayLike,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    search_steps: int | None = None,
    n_jobs: int | None = None,
) -> StressCertificate:
    """Certify points (n×d) as an answer, however they were found.

    tolerance : the largest gap that is "proved", and the largest share of the forces that may be
        unbalanced in a "stationary" answer
    search_steps : of the search for a good bound; None: as many as take a moment, none beyond
        1,400 points; no bound is computed beyond 3,000 points
    n_jobs : threads (None: all cores); the numbers do not depend on them
    """
    tolerance = checked_tolerance(tolerance)
    Y = problem.checked_points(points)
    if not (np.abs(Y) < 1e150).all():
        reason = "the points hold NaN, infinity or squares that overflow"
        return StressCertificate(
            level="failed", gap=np.inf, value=np.nan, bound=np.nan, tolerance=tolerance,
            reasons=(reason,), about=_scope(problem), error=np.inf, unbalanced=np.inf,
        )  # fmt: skip
    now, error, unbalanced = _rounded_forces(problem, Y, n_jobs)
    convex, rank, bound = _bounds(problem, Y, now.stress + error, search_steps)
    gap = (now.stress + error - bound) / bound if bound > 0 else np.inf
    level, reasons = _level(gap, unbalanced, tolerance)
    return StressCertificate(
        level=level,
        gap=gap,
        value=now.stress,
        bound=bound,
        tolerance=tolerance,
        reasons=reasons,
        about=_scope(problem),
        error=error,
        unbalanced=unbalanced,
        convex_bound=convex,
        rank_bound=rank,
    )


def _level(gap: float, unbalanced: float, tolerance: float) -> tuple[Level, tuple[str, ...]]:
    """The level, and what is short of it."""
    left = f"{share(unbalanced)} of the forces is not balanced, more than {tolerance:g}"
    reasons = (left,) if unbalanced > tolerance else ()
    if gap < MAX_GAP:
        level = level_of(gap, tolerance)
        short = (f"the gap is {gap:.2g}, not {tolerance:g}",) if level == "within" else ()
        return level, (*short, *reasons)
    return ("not stationary" if reasons else "stationary"), reasons


def _bounds(
    problem: StressProblem, Y: Array, stress: float, steps: int | None
) -> tuple[float, float, float]:
    """The two bounds, and the better one, 0 at least; NaN where there are none."""
    if problem.ordinal or not problem.has_unit_weights or problem.n > MAX_BOUND_ROWS:
        return np.nan, np.nan, np.nan
    # In other units, a power of 2, nothing over- or underflows.
    most = float(problem.distances.max())
    unit = 2.0 ** np.ceil(np.log2(most)) if most > 0 else 1.0
    D, centred = problem.distances / unit, (Y - Y.mean(axis=0)) / unit
    trivial = TRIVIAL_SHARE * float((D**2).sum())
    convex = convex_bound(D, centred)
    count = max(problem.count, Y.shape[1])
    rank = rank_bound(D, centred, count, stress / unit**2, steps)
    convex, rank = (
        bound * float(unit) ** 2 if bound > trivial else -np.inf for bound in (convex, rank)
    )
    return convex, rank, float(max(convex, rank, 0.0))


def _scope(problem: StressProblem) -> str:
    words = "these points and those near them; another start may end lower"
    if problem.ordinal:
        return f"the order of the distances (non-metric); {words}"
    if not problem.has_unit_weights:
        return f"pairs with weights or missing distances; {words}"
    if problem.n > MAX_BOUND_ROWS:
        return f"{problem.n:,} points, and bounds are computed up to {MAX_BOUND_ROWS:,}; {words}"
    return ""


def _rounded_forces(
    problem: StressProblem, Y: Array, n_jobs: int | None
) -> tuple[StressSums, float, float]:
    """The forces, how far rounding can move the stress, and the unbalanced share with rounding.

    A length is right to (d + 4)u of itself, a sum over a row to nu of the sum of sizes. Where every
    length is right to rounding, nothing is unbalanced.
    """
    D = problem.distances
    if problem.ordinal:
        order = Order.of(problem)
        D = order.matrix(order.regression(Y))
    gaps = problem.ordinal or problem.has_gaps
    now = forces_between(Y, D, problem.weights, gaps=gaps, n_jobs=n_jobs)
    n, width = Y.shape
    # Σ w(d + δ)² ≤ 2Σw(d² + δ²) ≤ 2Σw(d² + 2d² + 2(d − δ)²)
    lengths = np.sqrt(6 * now.squares + 4 * now.stress)
    slip = (width + 8) * _U
    error = 2 * slip * lengths * np.sqrt(now.stress) + (slip * lengths) ** 2
    error = 1.01 * float(error) + (2 * n + 32) * _U * now.stress
    if now.torn:
        return now, error, 1.0
    total = float(np.linalg.norm(now.sizes))
    # A length that is off by slip·(d + δ) turns no force; it changes the sizes by this in all.
    slips = float(slip * lengths * np.sqrt(2 * problem.curvatures.max()))
    if total <= 2 * slips:
        return now, error, 0.0
    left = float(np.linalg.norm(now.force)) + (n + 2 * width + 16) * _U * total + slips
    return now, error, min(1.0, left / total)

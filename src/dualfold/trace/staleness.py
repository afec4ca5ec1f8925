"""How far a frozen answer is from the best answer to a problem that has changed.

A map stays as it is and its data grow. The frozen points, made feasible for the problem of all
rows, are compared with that problem's optimum, which the certificate of *another* answer bounds:
no solver is trusted.

Where the trace is maximised the distance is the relative gap. Where it is minimised the optimum may
be near 0, and the distance is that of the planes: with U the best span and B-orthonormal V,

    tr(VᵀAV) − tr(UᵀAU) ≥ (λ_{d+1} − λ_d)·Σ sin²∠(V, U)                                (1)

and ‖sin ∠‖_F is a metric on planes. The certified answer W is near U by (1), since its own excess
is small; so V is near U as far as it is near W, whose angles are computed:

    | ‖sin ∠(V, U)‖ − ‖sin ∠(V, W)‖ |  ≤  ‖sin ∠(W, U)‖  ≤  √(excess of W / eigengap)     (2)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array
from dualfold.certificate import (
    DEFAULT_TOLERANCE,
    MAX_GAP,
    Certificate,
    Level,
    checked_tolerance,
    level_of,
    share,
)
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.trace.certificate import TraceCertificate, certify
from dualfold.trace.problem import TraceProblem
from dualfold.trace.proof.rounding import UP
from dualfold.trace.proof.trial_directions import trial

# Columns of frozen points whose lengths differ by more, once they are orthogonal, lie on a plane of
# fewer dimensions: nothing can be made feasible of them.
MIN_LENGTH_RATIO = 1e-7

Measure = Literal["gap", "angles", "objective", "none"]


@dataclass(frozen=True, kw_only=True)
class StalenessCertificate(Certificate):
    """Distance of a frozen map from the best map of the rows of today; print it.

    Attributes
    ----------
    level : {"proved", "within", "unresolved", "stationary", "not stationary", "failed"}
        How much is known; `dualfold.Certificate` explains the words.
    gap : float
        Largest possible distance from the best map: the relative gap of the trace, or the mean
        sin² of the angles between the frozen span and the best one. Infinite if it is not known.
    value : float
        What the frozen map reaches.
    bound : float
        What no map of all rows is better than.
    tolerance : float
        Largest gap that is called "proved".
    reasons : tuple of str
        What is short of "proved", in words.
    about : str
        What the statement is about.
    chance : float
        Probability that a measured statement is wrong; 0 if it is proved.
    complete : bool or None
        Not used here.
    measure : {"gap", "angles", "objective", "none"}
        What `gap` and `at_least` measure: the trace, the angles of the span, the objective of
        points that move, or nothing.
    at_least : float
        Distance that the frozen map has at the least: what another map of the same rows was seen to
        gain. It is 0 if no better one was found.
    shape_change : float
        How far the map that makes the frozen points feasible is from a similarity: (s − t)/(s + t)
        for its longest and shortest stretch s and t.
    eigengap : float or None
        Proved lower bound of the eigengap behind the last coordinate, where it is needed.

    See Also
    --------
    dualfold.UpdatedMap : Has one.

    Examples
    --------
    >>> from dualfold import PCA
    >>> from dualfold.data import swiss_roll
    >>> X = swiss_roll(300, random_state=0).points
    >>> stale = PCA(2).fit(X[:200]).extend(X[200:], old=X[:200]).staleness_
    >>> print(stale.measure, 0 <= stale.at_least <= stale.gap < 0.05)
    gap True
    """

    measure: Measure = "none"
    at_least: float = 0.0
    shape_change: float = 0.0
    eigengap: float | None = None

    @property
    def optimum(self) -> str:  # type: ignore[override]
        """Quantity that the gap is a share of, in words."""
        if self.measure == "angles":
            return "the best directions of all rows (mean sin² of the angles)"
        return "the best map of all rows"

    @property
    def statement(self) -> str:
        if self.measure == "objective":
            if self.level == "stationary":
                return "the forces on the points of all rows balance; no bound is known"
            if not np.isfinite(self.at_least):
                return "the forces on the points of all rows do not balance; no bound is known"
            gained = f"at least {share_below(self.at_least)} of the objective can be gained"
            return f"{gained} by a fit from these places; no bound is known"
        if self.measure == "angles":
            return f"the frozen directions are the best of all rows to {share(self.gap)}"
        return f"the frozen map is the best map of all rows to {share(self.gap)}"

    @property
    def caveat(self) -> str:
        """Distance of the frozen points from a feasible map of their shape, in words."""
        if self.shape_change <= max(self.tolerance, 1e-3):
            return ""
        return f"Its feasible form is stretched unevenly by {share(self.shape_change)}"


def certify_frozen(
    problem: TraceProblem,
    frozen: ArrayLike,
    best: ArrayLike,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
) -> StalenessCertificate:
    """Certify how far frozen vectors are from the optimum of a problem.

    Parameters
    ----------
    problem : TraceProblem
        Problem of all rows.
    frozen : array-like of shape (n, count)
        Frozen vectors. They are shifted off the excluded directions and made B-orthonormal by the
        polar factor, which keeps their span.
    best : array-like of shape (n, k)
        Another answer, its first `count` columns, and further columns as hints. It is certified
        here, and nothing else is believed of it.
    tolerance : float in [0, 1], default=1e-4
        Largest gap that is called "proved".

    Returns
    -------
    StalenessCertificate
        The distance from the optimum, from both sides.
    """
    tolerance = checked_tolerance(tolerance)
    V, change = feasible_vectors(problem, np.asarray(frozen, dtype=float))
    if V is None:
        return unresolved_staleness(
            "the frozen points of all rows lie on fewer dimensions than they have",
            tolerance=tolerance,
        )
    reached = trial(problem, V)
    value, blur = problem.sign * reached.total, reached.total_blur
    answer = certify(problem, best, tolerance=tolerance)
    if answer.level not in ("proved", "within"):
        why = f"no bound of the optimum was proved ({'; '.join(answer.reasons) or answer.level})"
        return replace(
            unresolved_staleness(why, tolerance=tolerance), value=value, shape_change=change
        )
    judge = _by_gap if problem.sense == "max" else _by_angles
    certificate = judge(problem, V, np.asarray(best, dtype=float), answer, (value, blur))
    return replace(certificate, shape_change=change)


def feasible_vectors(problem: TraceProblem, Y: Array) -> tuple[Array | None, float]:
    """Y off the excluded directions times the inverse of its polar factor, and its shape change.

    None where the columns do not span as many dimensions.
    """
    stretch = np.ones(Y.shape[1])
    for _ in range(2):  # the second pass removes what rounding left of the first
        Y = problem.without_excluded(Y)
        form = Y.T @ problem.metric.times(Y)
        squares, Q = np.linalg.eigh((form + form.T) / 2)
        if not np.isfinite(squares).all() or not squares[0] > MIN_LENGTH_RATIO**2 * squares[-1]:
            return None, np.inf
        lengths = np.sqrt(squares)
        if stretch.max() == stretch.min() == 1:
            stretch = lengths
        Y = Y @ ((Q / lengths) @ Q.T)
    low, high = float(stretch.min()), float(stretch.max())
    return np.asarray(Y), (high - low) / (high + low)


def _by_gap(
    problem: TraceProblem,
    V: Array,
    best: Array,
    answer: TraceCertificate,
    reached: tuple[float, float],
) -> StalenessCertificate:
    """Both sides for a maximum: (bound − value)/optimum, and what the other answer has beyond."""
    value, blur = reached
    low = answer.value * (1 - answer.gap) if answer.value > 0 else 0.0
    above = UP * (answer.bound - value + blur)
    gap = max(0.0, above) / low if low > 0 else np.inf
    # The other answer's own value is known to its gap.
    gained = max(0.0, answer.value - (answer.bound - answer.value) - value - blur)
    level, reasons = _level(gap, answer.tolerance)
    return StalenessCertificate(
        level=level,
        gap=float(gap),
        value=float(value),
        bound=answer.bound,
        tolerance=answer.tolerance,
        reasons=reasons,
        about=problem.about,
        measure="gap",
        at_least=float(min(gap, gained / answer.bound)) if answer.bound > 0 else 0.0,
    )


def _by_angles(
    problem: TraceProblem,
    V: Array,
    best: Array,
    answer: TraceCertificate,
    reached: tuple[float, float],
) -> StalenessCertificate:
    """Both sides for a minimum: the mean sin² of the angles to the best span, by (2)."""
    d, value = problem.count, reached[0]
    common: dict[str, Any] = {
        "value": float(value),
        "bound": answer.bound,
        "about": problem.about,
        "measure": "angles",
        "eigengap": answer.eigengap,
    }
    if not answer.eigengap or not answer.eigengap > 0:
        return replace(
            unresolved_staleness(
                f"no eigengap is proved behind eigenvalue {d}: the best directions of all rows are "
                "not determined, and no angle to them is",
                tolerance=answer.tolerance,
            ),
            **common,
        )
    W, _ = feasible_vectors(problem, best[:, :d])
    assert W is not None  # it was certified as orthonormal
    off_best = float(np.sqrt(max(0.0, _excess(answer)) / answer.eigengap)) * UP
    sine, rounding = _sine(problem, V, W)
    high = (sine + rounding + off_best) ** 2 / d * UP
    low = max(0.0, sine - rounding - off_best) ** 2 / d
    level, reasons = _level(high, answer.tolerance)
    return StalenessCertificate(
        level=level,
        gap=float(high),
        tolerance=answer.tolerance,
        reasons=reasons,
        at_least=float(min(low, high)),
        **common,
    )


def _excess(answer: TraceCertificate) -> float:
    """Bound of the trace of a certified answer above the minimum."""
    return (
        max(answer.value - answer.bound, answer.gap * max(abs(answer.bound), abs(answer.value)))
        * UP
    )


def _sine(problem: TraceProblem, V: Array, W: Array) -> tuple[float, float]:
    """‖sin ∠(V, W)‖_F of two B-orthonormal bases, and a bound of its rounding.

    The part of V off W is computed, not 1 − cos²: small angles keep their digits.
    """
    shares = W.T @ problem.metric.times(V)
    rest = V - W @ shares
    squares = np.einsum("ij,ij->", rest, problem.metric.times(rest))
    skew = max(_skewness(problem, V), _skewness(problem, W))
    d = V.shape[1]
    rounding = 8 * d * (skew + problem.n * UNIT_ROUNDOFF)
    return float(np.sqrt(max(0.0, squares))), float(rounding)


def _skewness(problem: TraceProblem, V: Array) -> float:
    """Distance of columns from B-orthonormal and from the constraint."""
    BV = problem.metric.times(V)
    off = float(np.linalg.norm(V.T @ BV - np.eye(V.shape[1])))
    overlap = problem.excluded_basis.T @ BV
    return off + (float(np.linalg.norm(overlap)) if overlap.size else 0.0)


def _level(gap: float, tolerance: float) -> tuple[Level, tuple[str, ...]]:
    if gap <= tolerance:
        return "proved", ()
    if gap < MAX_GAP:
        return level_of(gap, tolerance), (f"the distance is at most {share(gap)}",)
    return "unresolved", ("the frozen map may have nothing in common with the best one",)


def unresolved_staleness(
    *reasons: str, tolerance: float = DEFAULT_TOLERANCE
) -> StalenessCertificate:
    """The certificate where nothing can be said, with the reasons."""
    return StalenessCertificate(
        level="unresolved",
        gap=np.inf,
        value=np.nan,
        bound=np.nan,
        tolerance=tolerance,
        reasons=reasons,
    )


def share_below(number: float) -> str:
    """A lower bound as a percentage, rounded down, so that it is true.

    >>> share_below(0.1059), share_below(0.0)
    ('10.5 %', '0 %')
    """
    return f"{np.floor(1000 * number) / 10:g} %"

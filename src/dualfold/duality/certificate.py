"""How far an unfolding can be from the best one, from its points and weights alone.

Nothing here knows how they were found (an import contract keeps it so). The gap is that
between two numbers which are each proved on their own: see `bounds`.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from dualfold.duality.bounds import (
    GeodesicBounds,
    SecondEigenvalue,
    dual_value,
    eigenvalues_below,
    geodesic_bounds,
    scaled_into,
    second_eigenvalue,
)
from dualfold.duality.solution import relative
from dualfold.duality.unfolding import UnfoldingProblem
from dualfold.errors import InvalidInput

Array = np.ndarray[Any, np.dtype[Any]]
# Eigenvalues of L as near to λ₂ as this, or as the root of the gap, count as equal to it.
CLUSTER = 1e-6


@dataclass(frozen=True)
class UnfoldingCertificate:
    """The verdict on an unfolding; `print` it.

    level : "proved" (both bounds are rigorous and as near as `tolerance`), "measured" (λ₂ is
        only known by Ritz values), "failed"
    lower : tr K of the points, scaled so that every constraint holds
    upper : no unfolding has a larger trace
    gap : (upper − lower)/upper
    feasibility : how far the points as given break an edge, relative to its d²
    relaxation : for equal lengths, the ε with (1 − ε)d² ≤ ‖y_i − y_j‖² ≤ (1 + ε)d² that the
        points keep; `lower` and `upper` are then about the problem with this ε
    upper_exact : for equal lengths, a bound of the problem with ε = 0
    form : "at_most" or "equal"
    second_eigenvalue, ritz : the proved lower bound of λ₂(L(w)), and its estimate from above
    stationarity : ‖L*K − K‖/‖K‖ with weights scaled so that λ₂ is 1
    slackness : Σ w(d² − ‖y_i − y_j‖²)/Σ w d²
    least_weight, clipped : the smallest weight given, and how many were raised to 0
    rank, multiplicity : eigenvalues of K above `cluster`·tr K, and those of L(w) within a share
        `cluster` of λ₂, counted by inertia. A direction of K whose value in L is further off
        costs its share of the gap, so with cluster = √gap the rank is the smaller one.
    isomap, centre : the two bounds from geodesics (cross-checks; `upper` is the least of all)
    complete : nothing failed and λ₂ is what it is taken for (None: not decided)
    reasons : what failed, in words
    about : what the proof is about when that is not all of the data
    chance : the probability that a measured statement is wrong; 0 where it is proved
    """

    level: Literal["proved", "measured", "failed"]
    gap: float
    lower: float
    upper: float
    form: str
    feasibility: float
    relaxation: float
    upper_exact: float
    second_eigenvalue: float
    ritz: float
    stationarity: float
    slackness: float
    least_weight: float
    clipped: int
    rank: int
    multiplicity: int | None
    cluster: float
    isomap: float | None
    centre: float | None
    complete: bool | None
    tolerance: float
    reasons: tuple[str, ...] = ()
    about: str = ""
    chance: float = 0.0

    @property
    def residuals(self) -> tuple[float, ...]:
        """(stationarity, slackness, feasibility): all 0 at the optimum."""
        return (self.stationarity, self.slackness, self.feasibility)

    @property
    def value(self) -> float:
        """`lower`: what the points reach."""
        return self.lower

    @property
    def bound(self) -> float:
        """`upper`: what no unfolding exceeds."""
        return self.upper

    def __str__(self) -> str:
        between = f"the variance is {self.lower:.8g}, no unfolding has more than {self.upper:.8g}"
        if self.level == "failed":
            return f"failed: {'; '.join(self.reasons)} ({between})"
        sure = "λ₂ was proved by inertia" if self.level == "proved" else "λ₂ was only measured"
        words = f"{self.level}: optimal to {self.gap:.2g} (relative); {between}; {sure}"
        if self.form == "equal":
            words += (
                f". This is about lengths kept to ε = {self.relaxation:.1e} of d²; with ε = 0 "
                f"no unfolding has more than {self.upper_exact:.8g}"
            )
        return f"{words}. This is about {self.about}" if self.about else words

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: plain numbers, lists and strings (infinite numbers become None)."""
        plain = asdict(self) | {"residuals": list(self.residuals), "verdict": str(self)}
        plain |= {"schema": "dualfold.unfolding-certificate/1", "reasons": list(self.reasons)}
        return {
            key: None if isinstance(item, float) and not np.isfinite(item) else item
            for key, item in plain.items()
        }


def certify_unfolding(
    problem: UnfoldingProblem,
    factor: Any,
    weights: Any,
    *,
    tolerance: float = 1e-4,
    most_relaxed: float = 1e-3,
    about: str = "",
) -> UnfoldingCertificate:
    """Judge points (`factor`, n×r, K = YYᵀ) and weights (one an edge of `problem`) by each other.

    An answer passes when its gap is within `tolerance`; for equal lengths also only if these
    are kept to `most_relaxed` of d². Negative weights prove nothing for "at_most": they
    are taken as 0, and the certificate says how many there were. `about` is kept there: what
    the proof is about when that is not all of the data.
    """
    Y, w = _checked(problem, factor, weights)
    if not (np.isfinite(Y).all() and np.isfinite(w).all()):
        return _failure(problem, "the points or weights hold NaN or infinity", tolerance)
    clipped = int(np.sum(w < 0)) if problem.form == "at_most" else 0
    least = float(w.min(initial=np.inf))
    w = np.maximum(w, 0.0) if problem.form == "at_most" else w
    Y = problem.centred(Y)
    fit, lower, feasibility, relaxation = _primal(problem, Y)
    second = second_eigenvalue(problem, w, Y)
    height = second.ritz if second.measured else second.proved
    exact = dual_value(problem, w) / height if height > 0 else np.inf
    upper = dual_value(problem, w, relaxation) / height if height > 0 else np.inf
    geodesic = geodesic_bounds(problem)
    stretch = 1 + relaxation
    for bound in (geodesic.isomap, geodesic.centre):
        if bound is not None:
            upper, exact = min(upper, stretch * bound), min(exact, bound)
    gap = relative(lower, upper)
    reasons = _shortcomings(problem, second, gap, feasibility, clipped, tolerance, most_relaxed)
    return UnfoldingCertificate(
        level="failed" if reasons else "measured" if second.measured else "proved",
        gap=gap,
        lower=lower,
        upper=upper,
        form=problem.form,
        feasibility=feasibility,
        relaxation=relaxation,
        upper_exact=exact,
        second_eigenvalue=second.proved,
        ritz=second.ritz,
        **_optimality(problem, np.sqrt(fit) * Y, w, second, gap),
        least_weight=least,
        clipped=clipped,
        isomap=geodesic.isomap,
        centre=geodesic.centre,
        complete=None if reasons else True,
        tolerance=tolerance,
        reasons=reasons,
        about=about,
    )


def _primal(problem: UnfoldingProblem, Y: Array) -> tuple[float, float, float, float]:
    """(scale s², value, how far the points as given break an edge, ε)."""
    ratios = problem.squared_lengths(Y) / problem.squared
    if problem.form == "at_most":
        fit, value = scaled_into(problem, Y)
        return fit, value, max(0.0, float(ratios.max(initial=0.0)) - 1), 0.0
    low, high = float(ratios.min(initial=1.0)), float(ratios.max(initial=1.0))
    fit = 2 / (low + high) if high > 0 else 1.0
    fitted, value = scaled_into(problem, Y)
    value = value * fit / fitted if fitted else 0.0
    relaxation = (high - low) / (high + low) if high > 0 else 1.0
    return fit, value, max(high - 1, 1 - low), relaxation * (1 + 1e-12) + 1e-15


def _optimality(
    problem: UnfoldingProblem, Y: Array, w: Array, second: SecondEigenvalue, gap: float
) -> dict[str, Any]:
    """The conditions of Karush, Kuhn and Tucker as numbers."""
    scaled = w / second.ritz if second.ritz > 0 else w
    R = problem.laplacian(scaled) @ Y - problem.mass[:, None] * Y
    gram = Y.T @ Y
    size = float(np.sqrt(np.sum(gram**2)))
    off = float(np.sqrt(max(float(np.sum((R.T @ R) * gram)), 0.0)))
    loose = problem.squared - problem.squared_lengths(Y)
    total = float(np.abs(w) @ problem.squared)
    spectrum = np.linalg.eigvalsh((problem.mass[:, None] * Y).T @ Y)
    cluster = max(CLUSTER, float(np.sqrt(gap)) if np.isfinite(gap) else 0.0)
    multiplicity = None
    if second.ritz > 0 and np.isfinite(second.ritz) and cluster < 1:
        count, _ = eigenvalues_below(problem, w, second.ritz * (1 + cluster))
        multiplicity = None if count is None else max(0, count - 1)
    return {
        "stationarity": off / size if size else 0.0,
        "slackness": float(np.abs(w * loose).sum()) / total if total else 0.0,
        "rank": int(np.sum(spectrum > cluster * spectrum.sum())),
        "multiplicity": multiplicity,
        "cluster": cluster,
    }


def _shortcomings(
    problem: UnfoldingProblem,
    second: SecondEigenvalue,
    gap: float,
    feasibility: float,
    clipped: int,
    tolerance: float,
    most_relaxed: float,
) -> tuple[str, ...]:
    reasons = []
    if gap > tolerance:
        reasons.append(f"the value is within {gap:.2g} of the bound, not {tolerance:.0e}")
        if clipped:
            reasons.append(f"{clipped} weights are negative, which proves nothing; 0 was taken")
        if not second.proved:
            reasons.append("λ₂ of the weights could not be proved positive")
    if problem.form == "equal" and feasibility > most_relaxed:
        reasons.append(f"lengths are off by {feasibility:.1e} of d², not {most_relaxed:.0e}")
    return tuple(reasons)


def _checked(problem: UnfoldingProblem, factor: Any, weights: Any) -> tuple[Array, Array]:
    Y, w = np.asarray(factor, dtype=float), np.asarray(weights, dtype=float)
    if Y.ndim != 2 or len(Y) != problem.n or w.shape != (problem.m,):
        raise InvalidInput(
            f"points {Y.shape} and weights {w.shape} were given; this problem needs {problem.n} "
            f"rows of points and {problem.m} weights, one an edge"
        )
    return Y, w


def _failure(problem: UnfoldingProblem, reason: str, tolerance: float) -> UnfoldingCertificate:
    nothing = float("nan")
    return UnfoldingCertificate(
        level="failed",
        gap=float("inf"),
        lower=0.0,
        upper=float("inf"),
        form=problem.form,
        feasibility=float("inf"),
        relaxation=0.0,
        upper_exact=float("inf"),
        second_eigenvalue=0.0,
        ritz=nothing,
        stationarity=nothing,
        slackness=nothing,
        least_weight=nothing,
        clipped=0,
        rank=0,
        multiplicity=None,
        cluster=nothing,
        isomap=None,
        centre=None,
        complete=None,
        tolerance=tolerance,
        reasons=(reason,),
    )


__all__ = ["GeodesicBounds", "UnfoldingCertificate", "certify_unfolding"]

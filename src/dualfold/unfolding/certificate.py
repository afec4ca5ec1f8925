"""How far an unfolding can be from the best one, from its points and weights alone.

Nothing here knows how they were found (an import contract keeps it so). The gap is that
between two numbers, each proved from one side alone, rounding included: see `bounds` and
`spectral_floor`. With `lower` ≤ optimum ≤ `upper`, the points have at least the share
lower/upper of the variance of the best ones: gap = 1 − lower/upper. For equal lengths both are
about exactly the lengths asked, or about all lengths within the ε that was asked.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context
from typing import Any, ClassVar

import numpy as np

from dualfold.arrays import Array, Numbers
from dualfold.certificate import (
    DEFAULT_TOLERANCE,
    Certificate,
    Level,
    bound_text,
    checked_tolerance,
    distance,
    level_of,
    plain,
    refuse_no_problem,
)
from dualfold.errors import Argument, InvalidInput
from dualfold.trace.sparse.shifted_matrices import MAX_FLOPS
from dualfold.unfolding.bounds import EdgeFit
from dualfold.unfolding.bracket import (
    EQUAL_LENGTHS_TOLERANCE,
    UnfoldingBracket,
    bracket_of,
    optimality_conditions,
)
from dualfold.unfolding.problem import (
    UnfoldingProblem,
    doubles,
    in_units,
    scaled_down,
    scaled_up,
    to_unit,
)
from dualfold.unfolding.solution import relative_gap

# Equal lengths that are off by less than this may be so because rounding made them infeasible.
NEARLY_EQUAL_TOLERANCE = 1e-3
ABOUT_GIVEN_LENGTHS = (
    "all columns of the points, and the squared edge lengths as stored in double precision"
)
ABOUT_ROWS = "all columns of the points, and exactly the edge lengths of the rows"
# Points of an ε-problem, as given, may break an edge by this many ε: they are judged scaled.
MAX_UNSCALED_RATIO = 2


@dataclass(frozen=True, kw_only=True)
class UnfoldingCertificate(Certificate):
    """Certificate of an unfolding; print it.

    With lower ≤ optimum ≤ upper the points have at least the share lower/upper of the largest
    possible variance, so the gap is (upper − lower)/upper. The level is "unresolved" if less than a
    factor 2 seems to lie between both sides, but the second eigenvalue, or points with exactly the
    lengths asked, could not be proved.

    Attributes
    ----------
    level : {"proved", "within", "within reach", "measured", "unresolved", "stationary", \
            "not stationary", "failed"}
        How much is known; `dualfold.Certificate` explains the words.
    gap : float
        The gap (upper − lower)/upper.
    value : float
        Variance tr K of the points, scaled so that every constraint holds; for equal lengths what
        points with exactly these lengths reach.
    bound : float
        Variance that no unfolding exceeds.
    tolerance : float
        Largest gap that is called "proved".
    reasons : tuple of str
        What is short of "proved", in words.
    about : str
        What the statement is about, and what it assumes.
    chance : float
        Always 0: nothing here is random.
    complete : bool or None
        True if the bounds are proved; None if that is not decided.
    constraints : str
        "at_most" or "equal".
    feasibility : float
        How far the points as given break an edge, relative to its d².
    relaxation : float
        For equal lengths: the δ with (1 − δ)d² ≤ ‖y_i − y_j‖² ≤ (1 + δ)d² that the points keep.
    most_relaxed : float
        The ε by which equal lengths may differ in the problem that is judged; 0 asks for exactly
        these lengths.
    reached_by : str
        Where `lower` comes from: "the points", "points near these", "the data" or "nothing".
    own_gap : float
        For equal lengths: gap of the problem that has exactly the lengths of the points.
    upper_exact : float
        For equal lengths: bound for exactly the lengths asked; below 0 it proves that no points
        have them.
    bound_by : str
        Where `upper` comes from: "weights", "Isomap's trace" or "a centre".
    second_eigenvalue : float
        Proved lower bound of λ₂(L(w)).
    ritz : float
        Estimate of λ₂(L(w)) from above.
    stationarity : float
        The residual ‖L(w)K − K‖/‖K‖, with weights scaled so that λ₂ is 1.
    slackness : float
        The share Σ w(d² − ‖y_i − y_j‖²)/Σ w d².
    least_weight : float
        The smallest weight given.
    clipped : int
        Number of negative weights that were raised to 0.
    rank : int
        Number of eigenvalues of K above `cluster`·tr K.
    multiplicity : int or None
        Number of eigenvalues of L(w) within a share `cluster` of λ₂, counted by inertia.
    cluster : float
        Width of these two counts, the root of the gap.
    isomap : float or None
        Bound from the paths between all pairs.
    centre : float or None
        Bound from the paths to one point.

    See Also
    --------
    certify_unfolding : The function that returns it.

    Examples
    --------
    >>> from dualfold.unfolding import UnfoldingProblem, certify_unfolding
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> found = certify_unfolding(chain, [[-1.0], [0.0], [1.0]], [1.0, 1.0])
    >>> found.level, round(found.lower, 6), round(found.upper, 6)
    ('proved', 2.0, 2.0)
    """

    # The defaults are those of a certificate that claims nothing.
    constraints: str
    feasibility: float = np.inf
    relaxation: float = 0.0
    most_relaxed: float = 0.0
    reached_by: str = "nothing"
    own_gap: float = np.inf
    upper_exact: float = np.inf
    bound_by: str = "nothing"
    second_eigenvalue: float = 0.0
    ritz: float = np.nan
    stationarity: float = np.nan
    slackness: float = np.nan
    least_weight: float = np.nan
    clipped: int = 0
    rank: int = 0
    multiplicity: int | None = None
    cluster: float = np.nan
    isomap: float | None = None
    centre: float | None = None

    schema: ClassVar[str] = "dualfold.unfolding-certificate/2"

    @property
    def lower(self) -> float:
        """Proved lower bound of the optimum: `value`, or 0 if nothing is proved to be reached."""
        return 0.0 if self.reached_by == "nothing" else self.value

    @property
    def upper(self) -> float:
        """Proved upper bound of the optimum, which is `bound`."""
        return self.bound

    @property
    def residuals(self) -> tuple[float, ...]:
        """Stationarity, slackness and feasibility; all are 0 at the optimum."""
        return (self.stationarity, self.slackness, self.feasibility)

    @property
    def grounds(self) -> str:
        """The two bounds, and where the upper one comes from, in words."""
        source = "λ₂ was proved" if self.bound_by == "weights" else f"bound by {self.bound_by}"
        return f"{bracket_text(self.value, self.bound, self.reached_by)}; {source}"

    @property
    def caveat(self) -> str:
        """Share of d² to which equal lengths are kept, in words; "" for other problems."""
        if self.constraints != "equal":
            return ""
        if self.most_relaxed:
            return (
                f"Lengths may differ by ε = {self.most_relaxed:.1e} of d², as asked; with ε = 0 no "
                f"unfolding has more than {rounded_up_text(self.upper_exact)}"
            )
        kept = f"The points keep the lengths asked to δ = {bound_text(self.relaxation)} of d²"
        reached = {
            "points near these": "; points near them that keep them exactly have this variance",
            "the data": "; the data, whose lengths they are, have this variance",
        }
        return kept + reached.get(self.reached_by, "")

    def to_dict(self) -> dict[str, Any]:
        """Convert to plain numbers, lists and strings, as JSON takes them.

        Returns
        -------
        dict
            Attributes and properties; `constraints` has the name "form" in stored files.
        """
        entries = {
            "form" if name == "constraints" else name: entry
            for name, entry in super().to_dict().items()
        }
        sides = {"lower": self.lower, "upper": self.upper, "residuals": self.residuals}
        return entries | {name: plain(number) for name, number in sides.items()}


def certify_unfolding(
    problem: UnfoldingProblem,
    factor: Numbers,
    weights: Numbers,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    most_relaxed: float | None = None,
    most_flops: float = MAX_FLOPS,
    about: str | None = None,
) -> UnfoldingCertificate:
    """Certify points and weights of an unfolding problem by each other.

    Only the problem, the points and the weights are used, and never what a solver reports.

    Parameters
    ----------
    problem : UnfoldingProblem
        Edges and their lengths.
    factor : array-like of shape (n, r)
        The points Y, with K = YYᵀ.
    weights : array-like of shape (n_edges,)
        The dual weights. Negative ones prove nothing for "at_most" and are taken as 0; the
        certificate counts them.
    tolerance : float in [0, 1], default=1e-4
        Largest relative gap that is called "proved".
    most_relaxed : float or None, default=None
        For equal lengths: share of d² by which they may differ; None asks for exactly these
        lengths.
    most_flops : float, default=40000000000.0
        If the proof of λ₂ takes more multiply-adds than this, the bound comes from shortest paths
        alone.
    about : str or None, default=None
        What the statement is about; None takes the usual words.

    Returns
    -------
    UnfoldingCertificate
        How far from the optimum the points can be.

    Raises
    ------
    InvalidInput
        If points or weights do not fit the problem.

    See Also
    --------
    unfold : Solves the problem first.

    References
    ----------
    .. [1] L. Xiao, J. Sun and S. Boyd, "A duality view of spectral methods for dimensionality
       reduction", Proceedings of the 23rd International Conference on Machine Learning, 1041–1048,
       2006.

    Examples
    --------
    >>> from dualfold.unfolding import UnfoldingProblem, certify_unfolding
    >>> chain = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])
    >>> bent = [[-0.9, 0.0], [0.0, 0.3], [0.9, 0.0]]
    >>> print(certify_unfolding(chain, bent, [1.0, 1.0]).level)
    within
    """
    tolerance = checked_tolerance(tolerance)
    refuse_no_problem(problem, UnfoldingProblem, "dualfold.methods.mvu(graph) states one")
    Y, w = _points_and_weights(problem, factor, weights, most_relaxed)
    if not (np.isfinite(Y).all() and np.isfinite(w).all()):
        return _failure(problem, "the points or weights hold NaN or infinity", tolerance)
    least = float(w.min(initial=np.inf))
    clipped = int(np.sum(w < 0)) if problem.constraints == "at_most" else 0
    unit, length = in_units(problem)
    Y, far = to_unit(Y)
    w, heavy = to_unit(np.maximum(w, 0.0) if problem.constraints == "at_most" else w)
    allowed = (most_relaxed or 0.0) if problem.constraints == "equal" else 0.0
    sides = bracket_of(unit, Y, w, relaxation=allowed or None, most_flops=most_flops)
    feasibility = _feasibility(problem, sides.fit, 2 * far - length)
    level, reasons = _level_and_reasons(sides, clipped, tolerance, feasibility, allowed)
    reached = sides.own_variance if sides.reached_by == "nothing" else sides.lower
    lower, upper = scaled_down(reached, length), scaled_up(sides.upper, length)
    if level in ("failed", "unresolved"):
        reasons = (*reasons, bracket_text(lower, upper, sides.reached_by))
    if level in ("proved", "within") and not (np.isfinite(upper) and (lower > 0) == (upper > 0)):
        level, reasons = "failed", ("the variance is no double; give the lengths in other units",)
    return UnfoldingCertificate(
        level=level,
        gap=sides.gap,
        value=lower,
        bound=upper,
        constraints=problem.constraints,
        feasibility=feasibility,
        relaxation=sides.relaxation,
        most_relaxed=allowed,
        reached_by=sides.reached_by,
        own_gap=sides.own_gap,
        bound_by=sides.bound_by,
        **_scaled_numbers(sides, length, heavy),
        **optimality_conditions(unit, np.sqrt(sides.scale) * Y, w, sides.second, sides.gap),
        least_weight=least,
        clipped=clipped,
        complete=True if level in ("proved", "within") else None,
        tolerance=tolerance,
        reasons=reasons,
        about=_about(problem, sides, allowed) if about is None else about,
    )


def _scaled_numbers(sides: UnfoldingBracket, length: int, heavy: int) -> dict[str, Any]:
    """Further bounds in the units of the problem and λ₂ in those of the weights, by name."""
    return {
        "upper_exact": scaled_up(sides.upper_exact, length),
        "second_eigenvalue": scaled_down(sides.second.proved, heavy),
        "ritz": float(np.ldexp(sides.second.ritz, heavy)),
        "isomap": None if sides.isomap is None else scaled_up(sides.isomap, length),
        "centre": scaled_up(sides.centre, length),
    }


def bracket_text(lower: float, upper: float, reached_by: str = "the points") -> str:
    """Both sides in words, each rounded to where it stays true."""
    whose = "the variance of the data is" if reached_by == "the data" else "the variance is"
    return f"{whose} {rounded_down_text(lower)}, no unfolding has more than " + (
        rounded_up_text(upper)
    )


def rounded_up_text(number: float) -> str:
    """Eight digits, not below the number."""
    return _eight_digits(number, ROUND_CEILING)


def rounded_down_text(number: float) -> str:
    """Eight digits, not above the number."""
    return _eight_digits(number, ROUND_FLOOR)


def _eight_digits(number: float, rounding: str) -> str:
    if not np.isfinite(number):
        return str(number)
    decimal = Context(prec=8, rounding=rounding).create_decimal_from_float(number)
    return f"{float(decimal):.8g}"


def _about(problem: UnfoldingProblem, sides: UnfoldingBracket, allowed: float) -> str:
    """Subject of the numbers, and of what is known of the lengths that the points have."""
    asked = ABOUT_GIVEN_LENGTHS if problem.positions is None or allowed else ABOUT_ROWS
    tells_more = sides.relaxation <= EQUAL_LENGTHS_TOLERANCE and 2 * sides.own_gap < sides.gap
    if problem.constraints != "equal" or allowed or not tells_more:
        return asked
    return (
        f"{asked}; among points with exactly the lengths of these, which are the ones asked to "
        f"{bound_text(sides.relaxation)} of d², they are optimal {distance(sides.own_gap)}"
    )


def _feasibility(problem: UnfoldingProblem, fit: EdgeFit, power: int) -> float:
    """Largest violation of an edge by the points as given, relative to its d²."""
    high, low = float(np.ldexp(fit.high, power)), float(np.ldexp(fit.low, power))
    if not problem.m:
        return 0.0
    return max(0.0, high - 1) if problem.constraints == "at_most" else max(high - 1, 1 - low)


def _level_and_reasons(
    sides: UnfoldingBracket, clipped: int, tolerance: float, feasibility: float, allowed: float
) -> tuple[Level, tuple[str, ...]]:
    """The level and what is missing for "proved"."""
    if sides.constraints == "equal" and sides.upper < 0:
        none = "no points have exactly these lengths: the bound of their variance is negative"
        return ("unresolved" if feasibility <= NEARLY_EQUAL_TOLERANCE else "failed"), (none,)
    if sides.lower > sides.upper:  # only an error in this code could do that
        return "failed", ("the two bounds contradict each other",)
    if sides.constraints == "equal" and sides.fit.high > 0:
        limit = MAX_UNSCALED_RATIO * allowed or EQUAL_LENGTHS_TOLERANCE
        seems_near = _excess(sides.own_variance, sides.upper) < 1
        if not feasibility <= limit or (sides.relaxation > limit and sides.reached_by == "nothing"):
            near = feasibility <= NEARLY_EQUAL_TOLERANCE and seems_near
            off = f"lengths are off by {feasibility:.1e} of d², not {limit:.0e}"
            return ("unresolved" if near else "failed"), (off,)
        if sides.reached_by == "nothing" or not _excess(sides.lower, sides.upper) < 1:
            none = "no points with exactly the lengths asked are proved to have a variance near it"
            if seems_near:
                return "unresolved", (none,)
    if sides.gap <= tolerance:
        return "proved", ()
    reasons = [f"the value is within {bound_text(sides.gap)} of the bound, not {tolerance:g}"]
    if clipped:
        reasons.append(f"{clipped} weights are negative, which proves nothing; 0 was taken")
    if not sides.second.factorised:
        reasons.append("the matrix of the weights is too large to factorise: λ₂ is not proved")
    elif not sides.second.proved:
        reasons.append("λ₂ of the weights could not be proved positive")
    level = level_of(_excess(sides.lower, sides.upper), tolerance)
    if level == "failed" and _excess(sides.lower, sides.guess) < 1:
        reasons.append(
            f"λ₂ seems to be such that the gap is {relative_gap(sides.lower, sides.guess):.2g}"
        )
        level = "unresolved"
    return level, tuple(reasons)


def _excess(lower: float, upper: float) -> float:
    """(upper − lower)/lower: 1 where the bound is twice the value, and so worthless."""
    return max(0.0, upper - lower) / lower if lower > 0 and upper < np.inf else float("inf")


def _points_and_weights(
    problem: UnfoldingProblem, factor: Numbers, weights: Numbers, most_relaxed: float | None
) -> tuple[Array, Array]:
    Y, w = doubles(factor, "the points"), doubles(weights, "the weights")
    if Y.ndim != 2 or len(Y) != problem.n or w.shape != (problem.m,):
        raise InvalidInput(
            f"points {Y.shape} and weights {w.shape} were given; this problem needs {problem.n} "
            f"rows of points and {problem.m} weights, one an edge"
        )
    if most_relaxed is not None and not 0 <= most_relaxed < 1:
        raise InvalidInput(
            Argument("most_relaxed"),
            f" is {most_relaxed!r}; it must be None or a number from 0 to below 1, the share of d² "
            "by which equal lengths may differ",
        )
    return Y, w


def _failure(problem: UnfoldingProblem, reason: str, tolerance: float) -> UnfoldingCertificate:
    return UnfoldingCertificate(
        level="failed",
        gap=np.inf,
        value=0.0,
        bound=np.inf,
        constraints=problem.constraints,
        tolerance=tolerance,
        reasons=(reason,),
    )

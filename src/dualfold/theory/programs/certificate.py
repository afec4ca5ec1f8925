"""How far from optimal a point of a program can be, from the point and multipliers alone.

The optimum p* of a minimum is enclosed from both sides, in exact arithmetic:

    below: the bound of `objective_bounds.py`, for the multipliers as given, or for exact ones
        near them (`feasible.py` on the dual), whose gradient balances exactly;
    above: the value at a point near the given one that keeps all constraints exactly.

The given point keeps them to rounding only, so its own value may lie on either side of p*;
|value − p*| is at most the distance from the value to the farther end, and the gap is that
over the least |p*| there can be. If 0 may be the optimum there is no relative gap. Where
neither bounds nor an exact dual are at hand, the bound is about points up to a stated size:
the level is then "within reach". No solver is trusted, and none is imported.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from dualfold.arrays import Array, Numbers
from dualfold.certificate import (
    Certificate,
    Level,
    bound_text,
    checked_tolerance,
    level_of,
    refuse_no_problem,
)
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.arithmetic.exact import (
    double_above,
    double_below,
    floats,
    fractions,
    nearest_double,
)
from dualfold.theory.programs.balance import balanced_program
from dualfold.theory.programs.entries import vector
from dualfold.theory.programs.exact import Enclosure, ExactProgram
from dualfold.theory.programs.feasible import feasible_near
from dualfold.theory.programs.objective_bounds import (
    VariableBounds,
    curvature,
    enclosed_bound,
    enclosed_value,
    lower_bound,
)
from dualfold.theory.programs.optimality import Conditions, ProgramTerms, conditions, program_text
from dualfold.theory.programs.program import NO_PROGRAM_MESSAGE, Program

# Far enough to cover every other optimum of an ordinary program.
DEFAULT_REACH = 10.0


@dataclass(frozen=True, kw_only=True)
class ProgramCertificate(Certificate):
    """Certificate of a point of a program; print it.

    The level "within reach" means that the bound is about points whose entries are up to `extent`.

    Attributes
    ----------
    level : {"proved", "within", "within reach", "measured", "unresolved", "stationary", \
            "not stationary", "failed"}
        How much is known; `dualfold.Certificate` explains the words.
    gap : float
        Bound of `|value − optimum|/|optimum|`; infinite if it is not known.
    value : float
        The objective at the point.
    bound : float
        No point that keeps the constraints is better.
    tolerance : float
        Largest gap that is called "proved".
    reasons : tuple of str
        What is short of "proved", in words.
    about : str
        What the statement is about, and what it assumes.
    chance : float
        Always 0: nothing here is random.
    complete : bool or None
        Always None; `bound` and `attained` enclose the optimum.
    attained : float
        A point near the given one that keeps all constraints exactly is at least this good;
        infinite if none is known. The optimum lies between `bound` and `attained`.
    sense : {"min", "max"}
        Sense of the program.
    primal_feasibility : float
        Largest violation of a constraint, relative to the terms of its row.
    dual_feasibility : float
        Largest violation of a sign of a multiplier.
    stationarity : float
        Largest entry of the gradient of the Lagrangian, relative to its terms.
    complementarity : float
        Largest product of a slack and its multiplier, relative to its terms.
    reach : float
        How many times as large as the point's own entries those of another point may be, for
        "within reach".
    extent : tuple of float
        The same as a size for each variable; infinite if the bound is about all points.

    See Also
    --------
    certify_program : The function that returns it.

    Examples
    --------
    >>> from dualfold.programs import LinearProgram, certify_program
    >>> diet = LinearProgram([2.0, 3.0], [[-1.0, -1.0]], [-4.0], nonnegative=2)
    >>> found = certify_program(diet, [4.0, 0.0], [2.0])
    >>> found.value, found.bound, found.kkt_level
    (8.0, 8.0, 'stationary')
    """

    attained: float
    sense: Literal["min", "max"]
    primal_feasibility: float
    dual_feasibility: float
    stationarity: float
    complementarity: float
    reach: float
    extent: tuple[float, ...]

    schema: ClassVar[str] = "dualfold.program/2"

    @property
    def kkt_level(self) -> Level:
        """Verdict on point and multipliers: "stationary" if all four conditions hold.

        The level is about the value alone, which may be optimal although the multipliers are wrong.
        """
        return self._conditions.level(self.tolerance)

    @property
    def _conditions(self) -> Conditions:
        return Conditions(
            self.primal_feasibility, self.dual_feasibility, self.stationarity, self.complementarity
        )

    @property
    def grounds(self) -> str:
        """Statement of what the multipliers exclude, and of how well constraints are kept."""
        side = "lower" if self.sense == "min" else "higher"
        words = f"the multipliers exclude any value {side} than {self.bound:.10g}"
        if self.level == "within reach":
            words += (
                f", but only for points with entries up to {self.reach:g} times as large (`extent`)"
            )
        words += f", and the point keeps its constraints to {bound_text(self.primal_feasibility)}"
        if self.level == "proved" and self.kkt_level == "not stationary":
            broken = "; ".join(self._conditions.broken(self.tolerance))
            words += f"; the multipliers as given are not optimal: {broken}"
        return words + (f" ({'; '.join(self.reasons)})" if self.reasons else "")


def certify_program(
    program: Program,
    point: Numbers,
    multipliers: Numbers,
    *,
    tolerance: float = 1e-8,
    reach: float = DEFAULT_REACH,
) -> ProgramCertificate:
    """Certify a point of a program by its multipliers, in exact arithmetic.

    Parameters
    ----------
    program : LinearProgram or QuadraticProgram
        The program.
    point : array-like of shape (point_size,)
        The point x, followed by w if the program has R.
    multipliers : array-like
        One for each row of constraints, inequalities first.
    tolerance : float in [0, 1], default=1e-8
        Largest relative gap that is called "proved", and largest error of a constraint.
    reach : float, default=10.0
        If nothing is known about all points, the bound is about those whose entries are at most
        this many times the point's.

    Returns
    -------
    ProgramCertificate
        How far from the optimum the value can be.

    Raises
    ------
    InvalidInput
        If point or multipliers have the wrong length.

    See Also
    --------
    solve_program : Solves the program first.

    References
    ----------
    .. [1] A. Neumaier and O. Shcherbina, "Safe bounds in linear and mixed-integer linear
       programming", Mathematical Programming, 99, 283–296, 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.programs import LinearProgram, certify_program
    >>> diet = LinearProgram([2.0, 3.0], [[-1.0, -1.0]], [-4.0], nonnegative=2)
    >>> certify_program(diet, [4.0, 0.0], [2.0]).level
    'proved'
    >>> certify_program(diet, [4.0, 0.0], [2.1]).level
    'failed'
    """
    tolerance = checked_tolerance(tolerance)
    refuse_no_problem(program, Program, NO_PROGRAM_MESSAGE, "program")
    if not 2 <= reach < math.inf:
        raise InvalidInput(
            Argument("reach"), f" is {reach!r}; it must be 2 or more: the point is within it"
        )
    given = np.concatenate(program.parts(point))
    y = vector(multipliers, "the multipliers", len(program.limits))
    return Certification(program, given, y, tolerance, float(reach)).certificate()


class Certification:
    """Point and multipliers of a program, in the program's own units and in fractions."""

    def __init__(
        self, program: Program, point: Array, y: Array, tolerance: float, reach: float
    ) -> None:
        units = balanced_program(program)
        self.given, self.units, self.program = program, units, units.program
        self.tolerance, self.reach = tolerance, reach
        self.exact = exact = ExactProgram(units.program)
        n, n_ineq = program.n, exact.n_ineq
        rows, columns = fractions(units.rows), fractions(units.columns)
        self.x = fractions(point[:n]) / columns
        self.w = fractions(point[n:]) / rows[: len(point) - n]
        every = fractions(y) / rows
        self.y = every.copy()
        self.y[:n_ineq] = [max(number, Fraction(0)) for number in every[:n_ineq]]
        self.value = exact.value(self.x, self.w)
        near = floats(self.x), floats(self.w), floats(every)
        slack = floats(exact.slack(self.x, self.w))
        self.kept: Conditions = conditions(self.program, *near, slack)
        with np.errstate(all="ignore"):
            self.terms = ProgramTerms(self.program, near[0], near[2])
        self.near: Enclosure | None = None  # a point that keeps all constraints exactly
        self.box = VariableBounds(self.program)
        self.curved = curvature(self.program.Q, n)
        soft = curvature(self.program.R, len(program.limits))
        # Softened rows need R ⪰ 0: w′ is free, and nothing bounds it.
        self.convex = soft.floor is not None and soft.floor >= 0

    def certificate(self) -> ProgramCertificate:
        """The certificate with the highest level that can be proved."""
        low, high = self._bound(), None
        keeps_constraints = self.kept.primal_feasibility <= self.tolerance
        if keeps_constraints:
            self.near = feasible_near(self.program, np.concatenate([self.x, self.w]))
            high = None if self.near is None else enclosed_value(self.exact, self.near)
        gap = self._gap(low, high)
        extent = [math.inf] * self.given.n
        level: Level = level_of(gap, self.tolerance)
        if low is None and high is not None and not self._is_broken():
            near, sizes = self.bound_within_reach()
            among = self._gap(near, high)
            if among <= self.tolerance:
                level, gap, low, extent = "within reach", among, near, sizes
        reasons = self._reasons(level, low, high)
        if not keeps_constraints:
            level = "failed"
        elif level == "failed" and self._is_undecided(low, high):
            level = "unresolved"
        sign = self.given.sign
        return ProgramCertificate(
            level=level,
            gap=gap,
            value=sign * nearest_double(self.value),
            bound=sign * (-math.inf if low is None else double_below(low)),
            attained=sign * (math.inf if high is None else double_above(high)),
            sense=self.given.sense,
            **asdict(self.kept),
            reach=self.reach,
            extent=tuple(extent),
            tolerance=self.tolerance,
            reasons=reasons,
            about=program_text(self.given),
        )

    def _is_broken(self) -> bool:
        return bool(self.kept.broken(self.tolerance))

    def _bound(self) -> Fraction | None:
        """Bound of all feasible points, by the multipliers as given or exact ones nearby."""
        if not self.convex:
            return None
        direct = lower_bound(self.exact, self.x, self.y, self.box, self.curved)
        if self._is_broken() or self._gap(direct, self.value) <= self.tolerance:
            return direct
        known = [
            bound for bound in (direct, self._bound_by_exact_multipliers()) if bound is not None
        ]
        return max(known, default=None)

    def _bound_by_exact_multipliers(self) -> Fraction | None:
        dual = self.program.dual
        start = np.concatenate([self.y, self.x])[: dual.point_size]
        near = feasible_near(dual, start)
        if near is None:
            return None
        if any(near.radius):
            return enclosed_bound(self.exact, near, self.curved)
        m = len(self.y)
        v = near.centre[m:] if len(near.centre) > m else self.x
        return lower_bound(self.exact, v, near.centre[:m], self.box, self.curved)

    def bound_within_reach(self) -> tuple[Fraction | None, list[float]]:
        """The bound for points up to `extent`, and that, in the units of the given program."""
        with np.errstate(all="ignore"):
            reaches = self.reach * self.terms.reaches
        if not self.convex or self.near is None or not np.isfinite(reaches).all():
            return None, []
        sizes = fractions(reaches)
        # The point that is compared with others must be one of them.
        entries = zip(self.near.centre, self.near.radius, sizes, strict=False)
        if any(abs(centre) + radius > size for centre, radius, size in entries):
            return None, []
        inner = self.box.intersection(list(sizes))
        extent = [double_below(size) for size in sizes * fractions(self.units.columns)]
        return lower_bound(self.exact, self.x, self.y, inner, self.curved), extent

    def _gap(self, low: Fraction | None, high: Fraction | None) -> float:
        if low is None or high is None:
            return math.inf
        far = max(self.value - low, high - self.value)
        if far <= 0:
            return 0.0
        if low <= 0 <= high or high < low:
            return math.inf
        return double_above(far / min(abs(low), abs(high)))

    def _is_undecided(self, low: Fraction | None, high: Fraction | None) -> bool:
        """Whether nothing is wrong but that arithmetic leaves a doubt."""
        if self._is_broken():
            return False
        if low is None or high is None:
            return True
        return (
            low <= 0 <= high
            and nearest_double(high - low) <= self.tolerance * self.terms.value_scale
        )

    def _reasons(
        self, level: Level, low: Fraction | None, high: Fraction | None
    ) -> tuple[str, ...]:
        if level == "proved":
            return ()
        reasons = list(self.kept.broken(self.tolerance))
        sign = Fraction(int(self.given.sign))
        if high is None and self.kept.primal_feasibility <= self.tolerance:
            reasons.append(
                "no point was found that keeps all constraints exactly; this one keeps them to "
                f"{bound_text(self.kept.primal_feasibility)}"
            )
        if low is None:
            reasons.append(
                "no exact multipliers were found near these, and not all variables have bounds"
            )
        elif high is not None and level != "within reach":
            ends = sorted((nearest_double(sign * low), nearest_double(sign * high)))
            reasons.append(
                f"the value is not the bound: the optimum is between {ends[0]:.6g} and "
                f"{ends[1]:.6g}, the value is {nearest_double(sign * self.value):.6g}"
            )
        return tuple(reasons)

"""A general problem of Python functions solved: a point, its multipliers and the dual maximum.

    p* = min f(x), g(x) ≤ 0, h(x) = 0        d* = max D(λ, ν), λ ≥ 0,    D = inf_x L(x, λ, ν)

SciPy's SLSQP finds the point. The multipliers are those with the least ‖∇_x L‖ over λ ≥ 0, where
only constraints that are met with equality may have one. From there D is raised along its
slope, (g, h) at the point where L is least. For a convex problem with a point inside, d* = p*; for
others d* ≤ p* (Shin, lecture 2). Nothing is proved: f, g and h may be any functions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array, Numbers
from dualfold.certificate import Level, checked_tolerance
from dualfold.errors import NotConverged
from dualfold.theory.programs.entries import vector
from dualfold.theory.programs.lagrangian import KKT_TOLERANCE, DualValue, GeneralProblem, Residuals

# Steps after which SLSQP is given up.
MAX_STEPS = 1_000
# Distance to a constraint, relative to the point, below which it counts as met with equality.
ACTIVE_TOLERANCE = 1e-5
# Of the size of the point: where descents of L begin, beside it.
ASIDE_SHARE = 0.01
# Of the value: a dual value as near needs no ascent.
MET_TOLERANCE = 1e-9
# Steps of the ascent of D; each is a descent of L.
MAX_ASCENT_STEPS = 50


@dataclass(frozen=True, eq=False)
class GeneralAnswer:
    """Answer of a general problem; `print` it.

    point, value : x, and f there
    inequality, equation : λ and ν at the point
    residuals : the conditions of Karush, Kuhn and Tucker there
    level : the verdict on them: "stationary" or "not stationary"; of a convex problem with
        a point inside, a stationary answer is an optimum
    dual : the largest D(λ, ν) that was found, as far as a descent of L found it; it bounds f from
        below where L is convex and `dual.point` its least point. In units so small that slopes are
        1e-8 or less, descents may stop early: multiply f by a constant first
    dual_inequality, dual_equation : its multipliers
    """

    point: Array
    value: float
    inequality: Array
    equation: Array
    residuals: Residuals
    level: Level
    dual: DualValue
    dual_inequality: Array
    dual_equation: Array

    @property
    def gap(self) -> float:
        """f(x) − D(λ, ν), the duality gap as far as both were found."""
        return self.value - self.dual.value

    def __str__(self) -> str:
        return (
            f"{self.level}: f = {self.value:.6g}, the dual reaches {self.dual.value:.6g}; the "
            f"conditions of Karush, Kuhn and Tucker hold to "
            f"{max(vars(self.residuals.relative).values()):.1e} (relative)"
        )


def solve_general(
    problem: GeneralProblem, start: Numbers, *, tolerance: float = KKT_TOLERANCE
) -> GeneralAnswer:
    """Find a point and multipliers of a general problem, and the maximum of its dual.

    Nothing is proved: the functions may be any.

    Parameters
    ----------
    problem : GeneralProblem
        The problem.
    start : array-like of shape (n,)
        Where the search starts.
    tolerance : float in [0, 1], default=1e-6
        Relative size of residuals up to which the level is "stationary".

    Returns
    -------
    GeneralAnswer
        The `point`, its `value` and multipliers, `residuals`, `level`, and the `dual`.

    See Also
    --------
    solve_program : Linear and quadratic programs, with a proof.

    Notes
    -----
    SciPy's SLSQP finds the point. The multipliers are those with the least norm of the Lagrangian's
    gradient; from there the dual is raised along its slope.

    References
    ----------
    .. [1] D. Kraft, "A software package for sequential quadratic programming", DFVLR-FB 88-28,
       1988.

    Examples
    --------
    >>> from dualfold.programs import GeneralProblem, solve_general
    >>> disc = GeneralProblem(lambda x: x[0] + x[1], lambda x: [x @ x - 2])
    >>> answer = solve_general(disc, [0.5, 0.0])
    >>> answer.level, round(answer.value, 6), round(answer.dual.value, 6)
    ('stationary', -2.0, -2.0)
    """
    tolerance = checked_tolerance(tolerance)
    first = vector(start, "start", None)
    point = _constrained_minimiser(problem, first)
    y = _best_multipliers(problem, point)
    n_ineq = len(problem.inequalities(point))
    residuals = problem.kkt(point, y[:n_ineq], y[n_ineq:])
    dual, raised = _dual_maximum(problem, point, y)
    return GeneralAnswer(
        point,
        float(problem.f(point)),
        y[:n_ineq],
        y[n_ineq:],
        residuals,
        residuals.level(tolerance),
        dual,
        raised[:n_ineq],
        raised[n_ineq:],
    )


def _constrained_minimiser(problem: GeneralProblem, start: Array) -> Array:
    """Where SLSQP ends; it need not be a solution."""
    from scipy.optimize import minimize  # slow to import

    n_ineq = len(problem.inequalities(start))
    constraints = [
        {
            "type": kind,
            "fun": lambda x, sign=sign, at=at: sign * problem.constraints(x)[at],
            "jac": lambda x, sign=sign, at=at: sign * problem.slopes(x)[1:][at],
        }
        for kind, sign, at in (
            ("ineq", -1.0, slice(0, n_ineq)),
            ("eq", 1.0, slice(n_ineq, None)),
        )
        if len(problem.constraints(start)[at])
    ]
    answer = minimize(
        lambda x: float(problem.f(x)),
        start,
        jac=lambda x: problem.slopes(x)[0],
        method="SLSQP",
        constraints=constraints,
        options={"ftol": 1e-15, "maxiter": MAX_STEPS},
    )
    if not np.isfinite(answer.x).all():
        raise NotConverged(
            "the search for a minimum left the doubles: f may fall without end where the "
            "constraints hold; add bounds to g, or begin at another start"
        )
    return np.asarray(answer.x, dtype=float)


def _best_multipliers(problem: GeneralProblem, x: Array) -> Array:
    """λ ≥ 0 and ν with the least ‖∇_x L‖, λ_i = 0 where g_i < 0."""
    from scipy.optimize import lsq_linear

    rows, g = problem.slopes(x), problem.inequalities(x)
    steep = np.maximum(np.linalg.norm(rows[1:], axis=1), 1e-300)
    size = max(float(np.linalg.norm(x)), 1.0)
    active = np.ones(len(rows) - 1, dtype=bool)
    active[: len(g)] = np.abs(g) <= ACTIVE_TOLERANCE * steep[: len(g)] * size
    y = np.zeros(len(active))
    if active.any():
        lower = np.where(np.arange(len(active)) < len(g), 0.0, -np.inf)[active]
        # Rows of length 1: a multiplier in other units has the same slope.
        scaled = rows[1:][active] / steep[active][:, None]
        fit = lsq_linear(scaled.T, -rows[0], bounds=(lower, np.inf), method="bvls", tol=1e-14)
        y[active] = fit.x / steep[active]
    return y


def _dual_maximum(problem: GeneralProblem, x: Array, y: Array) -> tuple[DualValue, Array]:
    """The largest D that an ascent from the multipliers y meets, and where."""
    from scipy.optimize import minimize

    n_ineq = len(problem.inequalities(x))
    # Beside x, where ∇L = 0 also if L has a maximum there.
    aside = ASIDE_SHARE * max(float(np.linalg.norm(x)), 1.0) * np.cos(np.arange(1.0, len(x) + 1))
    beside = x + aside
    best, at = problem.dual_function(y[:n_ineq], y[n_ineq:], start=beside), y

    def fallen(multipliers: Array) -> tuple[float, Array]:
        nonlocal best, at
        lam = np.maximum(multipliers[:n_ineq], 0.0)
        dual = problem.dual_function(lam, multipliers[n_ineq:], start=beside)
        if dual.value > best.value:
            best, at = dual, np.concatenate([lam, multipliers[n_ineq:]])
        if dual.point is None:  # −∞: the ascent steps back
            return 1e300, np.zeros_like(multipliers)
        return -dual.value, -problem.constraints(dual.point)

    # By weak duality no D is above the value at a feasible point.
    value = float(problem.f(x))
    if len(y) and best.value < value - MET_TOLERANCE * max(abs(value), 1.0):
        bounds = [(0.0 if i < n_ineq else None, None) for i in range(len(y))]
        options = {"maxiter": MAX_ASCENT_STEPS, "ftol": 1e-14, "gtol": 1e-9}
        minimize(fallen, y, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return best, at

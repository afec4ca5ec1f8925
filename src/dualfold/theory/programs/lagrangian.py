"""Lagrangian, dual function and KKT conditions of a general problem (Shin, lecture 2).

    min f(x)  subject to  g(x) ≤ 0,  h(x) = 0
    L(x, λ, ν) = f(x) + λᵀg(x) + νᵀh(x),     D(λ, ν) = inf_x L(x, λ, ν) ≤ p*   for λ ≥ 0

f, g and h are Python functions; nothing is assumed of them, so nothing is proved here.
`solve_general` finds a point and multipliers. Linear and quadratic programs have certificates of
their own (`certify_program`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array, Numbers
from dualfold.certificate import Level, checked_tolerance
from dualfold.errors import InvalidInput
from dualfold.theory.programs.entries import dense_matrix, vector
from dualfold.theory.programs.optimality import Conditions, largest_modulus
from dualfold.theory.programs.program import QuadraticProgram

Function = Callable[[Array], object]
# The best step of central differences is the cube root of the rounding of values.
DIFFERENCE_STEP = 6e-6
# The relative error of KKT conditions that passes: differences leave some 1e-10, solvers more.
KKT_TOLERANCE = 1e-6
# L is taken for unbounded if it falls in a straight line for this many lengths of the point.
UNBOUNDED_RATIO = 1e6


@dataclass(frozen=True)
class Residuals:
    """Residuals of the four conditions of Karush, Kuhn and Tucker, all ≥ 0.

    Attributes
    ----------
    primal_feasibility : float
        Largest g_i above 0, or largest h_j or −h_j.
    dual_feasibility : float
        Largest −λ_i.
    stationarity : float
        ‖∇f + Σλ_i∇g_i + Σν_j∇h_j‖.
    complementarity : float
        Largest of λ_i g_i and −λ_i g_i.
    relative : Conditions
        The four without units: feasibility as a distance (g_i/‖∇g_i‖) in units of ‖x‖ (of 1 near
        0), the others in units of S = ‖∇f‖ + Σ‖λ_i∇g_i‖ + Σ‖ν_j∇h_j‖ and a usual ‖∇f‖, since that
        at x may be 0.

    See Also
    --------
    GeneralProblem : Its `kkt` returns them.

    Examples
    --------
    >>> from dualfold.programs import GeneralProblem
    >>> problem = GeneralProblem(lambda x: (x[0] - 2) ** 2, g=lambda x: [x[0] - 1])
    >>> problem.kkt([1.0], [2.0]).level()
    'stationary'
    """

    primal_feasibility: float
    dual_feasibility: float
    stationarity: float
    complementarity: float
    relative: Conditions

    @property
    def largest(self) -> float:
        """The largest of the four."""
        return max(
            self.primal_feasibility,
            self.dual_feasibility,
            self.stationarity,
            self.complementarity,
        )

    def level(self, tolerance: float = KKT_TOLERANCE) -> Level:
        """Judge whether all four conditions hold to a tolerance.

        Parameters
        ----------
        tolerance : float, default=1e-6
            Largest relative residual that passes.

        Returns
        -------
        {"stationary", "not stationary"}
            The level.
        """
        return self.relative.level(checked_tolerance(tolerance))


@dataclass(frozen=True, eq=False)
class DualValue:
    """Value of the dual function D(λ, ν), as far as a descent found it.

    Attributes
    ----------
    value : float
        L at `point`. D is not above it, so it is a bound of p* only if it *is* D.
    point : ndarray or None
        Where L was least; None: it fell in a straight line as far as it was followed, and D is
        taken for −∞.
    slope : float
        ‖∇L‖ at the point.
    lower : float
        Lower bound of D if L is μ-strongly convex in x, as the caller states: value − slope²/2μ; −∞
        without such a statement.

    See Also
    --------
    GeneralProblem : Its `dual_function` returns it.

    Examples
    --------
    >>> from dualfold.programs import GeneralProblem
    >>> problem = GeneralProblem(lambda x: (x[0] - 2) ** 2, g=lambda x: [x[0] - 1])
    >>> round(problem.dual_function([2.0], start=[0.0]).value, 6)
    1.0
    """

    value: float
    point: Array | None
    slope: float
    lower: float


@dataclass(frozen=True, eq=False)
class GeneralProblem:
    """General problem min f(x) subject to g(x) ≤ 0 and h(x) = 0, from Python functions.

    Nothing is assumed of the functions, so nothing is proved about them.

    Parameters
    ----------
    f : callable
        Objective: a number for a vector x.
    g : callable or None, default=None
        Inequalities: a vector for a vector x.
    h : callable or None, default=None
        Equations: a vector for a vector x.
    f_gradient : callable or None, default=None
        Gradient of f; None takes central differences, right to about 1e-10 of the values.
    g_jacobian : callable or None, default=None
        Derivatives of g, one row for each inequality.
    h_jacobian : callable or None, default=None
        Derivatives of h, one row for each equation.

    See Also
    --------
    solve_general : Finds a point and multipliers.
    LinearProgram : A program whose answers are proved.

    References
    ----------
    .. [1] S. Boyd and L. Vandenberghe, "Convex Optimization", chapter 5, Cambridge University
       Press, 2004.

    Examples
    --------
    >>> disc = GeneralProblem(lambda x: x[0] + x[1], lambda x: [x @ x - 2])
    >>> disc.kkt([-1.0, -1.0], [0.5]).largest < 1e-9  # the minimum is −2
    True
    >>> round(disc.dual_function([0.5], start=[0.0, 0.0]).value, 9)
    -2.0
    """

    f: Callable[[Array], float]
    g: Function | None = None
    h: Function | None = None
    f_gradient: Function | None = None
    g_jacobian: Function | None = None
    h_jacobian: Function | None = None

    def inequalities(self, x: Numbers) -> Array:
        """Evaluate g.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.

        Returns
        -------
        ndarray
            The values g(x).
        """
        return _values(self.g, vector(x, "x", None))

    def equations(self, x: Numbers) -> Array:
        """Evaluate h.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.

        Returns
        -------
        ndarray
            The values h(x).
        """
        return _values(self.h, vector(x, "x", None))

    def lagrangian(self, x: Numbers, inequality: Numbers = (), equation: Numbers = ()) -> float:
        """Evaluate the Lagrangian f(x) + λᵀg(x) + νᵀh(x).

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.
        inequality : array-like, default=()
            Multipliers λ of the inequalities.
        equation : array-like, default=()
            Multipliers ν of the equations.

        Returns
        -------
        float
            The value.
        """
        x = vector(x, "x", None)
        multipliers = self._multipliers(x, inequality, equation)
        return float(self.f(x)) + float(multipliers @ self.constraints(x))

    def lagrangian_gradient(
        self, x: Numbers, inequality: Numbers = (), equation: Numbers = ()
    ) -> Array:
        """Evaluate the gradient of the Lagrangian with respect to x.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.
        inequality : array-like, default=()
            Multipliers λ of the inequalities.
        equation : array-like, default=()
            Multipliers ν of the equations.

        Returns
        -------
        ndarray of shape (n,)
            The gradient.
        """
        x = vector(x, "x", None)
        multipliers = self._multipliers(x, inequality, equation)
        return np.asarray(np.concatenate([[1.0], multipliers]) @ self.slopes(x))

    def kkt(self, x: Numbers, inequality: Numbers = (), equation: Numbers = ()) -> Residuals:
        """Compute the residuals of the conditions of Karush, Kuhn and Tucker.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.
        inequality : array-like, default=()
            Multipliers λ of the inequalities.
        equation : array-like, default=()
            Multipliers ν of the equations.

        Returns
        -------
        Residuals
            Four residuals, all 0 where the conditions hold, and the `largest` of them.
        """
        at = vector(x, "x", None)
        g, h = self.inequalities(at), self.equations(at)
        y = self._multipliers(at, inequality, equation)
        rows = self.slopes(at)
        lengths, size = np.linalg.norm(rows, axis=1), max(float(np.linalg.norm(at)), 1.0)
        total = (float(lengths @ np.abs([1.0, *y])) + self._usual_slope(at, size)) or 1.0  # S
        broken, low = np.concatenate([np.maximum(g, 0), np.abs(h)]), np.maximum(-y[: len(g)], 0)
        unbalanced, products = float(np.linalg.norm([1.0, *y] @ rows)), np.abs(y[: len(g)] * g)
        # Where a constraint has no slope its own value is all that is known.
        steep = np.where(lengths[1:] > 0, lengths[1:], 1.0)
        return Residuals(
            largest_modulus(broken),
            largest_modulus(low),
            unbalanced,
            largest_modulus(products),
            Conditions(
                largest_modulus(broken / steep) / size,
                largest_modulus(low * steep[: len(g)]) / total,
                unbalanced / total,
                largest_modulus(products) / (total * size),
            ),
        )

    def dual_function(
        self,
        inequality: Numbers = (),
        equation: Numbers = (),
        *,
        start: Numbers,
        strong_convexity: float = 0.0,
    ) -> DualValue:
        """Evaluate the dual function D(λ, ν) = inf_x L by a descent (BFGS).

        The value is exact only if L is convex in x.

        Parameters
        ----------
        inequality : array-like, default=()
            Multipliers λ ≥ 0 of the inequalities.
        equation : array-like, default=()
            Multipliers ν of the equations.
        start : array-like of shape (n,)
            Where the descent starts.
        strong_convexity : float, default=0.0
            Constant μ of L in x, stated by the caller; with it `lower` of the result bounds D.

        Returns
        -------
        DualValue
            The `value`, its `point`, the `slope` there and the bound `lower`.

        Raises
        ------
        InvalidInput
            If a multiplier of an inequality is negative, since D is no bound then.
        """
        from scipy.optimize import minimize  # slow to import

        first = vector(start, "start", None)
        if np.min(np.asarray(inequality, dtype=float), initial=0.0) < 0:
            raise InvalidInput("the multipliers of inequalities must be ≥ 0: else D is no bound")
        descent = minimize(
            lambda x: self.lagrangian(x, inequality, equation),
            first,
            jac=lambda x: self.lagrangian_gradient(x, inequality, equation),
            method="BFGS",
            options={"gtol": 1e-9, "maxiter": 1_000},
        )
        downhill = -self.lagrangian_gradient(descent.x, inequality, equation)
        slope = float(np.linalg.norm(downhill))
        steep = np.linalg.norm(self.lagrangian_gradient(first, inequality, equation))
        if slope > 1e-6 * (1 + steep):  # it did not converge; is it unbounded?
            ahead = descent.x + UNBOUNDED_RATIO * (1 + np.linalg.norm(descent.x)) * downhill / slope
            # Half of the fall of a straight line: curved functions rise again long before.
            fallen = descent.fun - self.lagrangian(ahead, inequality, equation)
            if not fallen < 0.5 * slope * np.linalg.norm(ahead - descent.x):
                return DualValue(-np.inf, None, slope, -np.inf)
        low = descent.fun - slope**2 / (2 * strong_convexity) if strong_convexity > 0 else -np.inf
        return DualValue(float(descent.fun), np.asarray(descent.x), slope, float(low))

    def _usual_slope(self, x: Array, size: float) -> float:
        """‖∇f‖ to both sides of x, `size` away, where f has a slope there."""
        aside = np.cos(np.arange(1.0, len(x) + 1))  # along no axis
        aside *= size / float(np.linalg.norm(aside))
        largest = 0.0
        for at in (x - aside, x + aside):
            # Outside of its domain a Python function may raise, or return no number.
            with np.errstate(all="ignore"), suppress(ValueError, ArithmeticError):
                length = float(np.linalg.norm(_jacobian(self.f, self.f_gradient, at)))
                largest = max(largest, length) if np.isfinite(length) else largest
        return largest

    def slopes(self, x: Array) -> Array:
        """Evaluate the derivatives.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.

        Returns
        -------
        ndarray
            The gradients ∇f, ∇g_i and ∇h_j, one in each row.
        """
        rows = [
            _jacobian(self.f, self.f_gradient, x).reshape(1, -1),
            _jacobian(self.g, self.g_jacobian, x),
            _jacobian(self.h, self.h_jacobian, x),
        ]
        # Row by row in memory: SciPy's SLSQP takes a strided gradient for a contiguous one.
        return np.ascontiguousarray(np.vstack(rows))

    def constraints(self, x: Array) -> Array:
        """Evaluate g and h, one after the other.

        Parameters
        ----------
        x : array-like of shape (n,)
            The point.

        Returns
        -------
        ndarray
            The values of all constraints.
        """
        return np.concatenate([_values(self.g, x), _values(self.h, x)])

    def _multipliers(self, x: Array, inequality: Numbers, equation: Numbers) -> Array:
        given = []
        for values, name, wanted in (
            (inequality, "the multipliers of g", len(_values(self.g, x))),
            (equation, "the multipliers of h", len(_values(self.h, x))),
        ):
            numbers = np.asarray(values, dtype=float).ravel()
            if len(numbers) != wanted or not np.isfinite(numbers).all():
                raise InvalidInput(
                    f"{name} must be {wanted} finite numbers, one for each constraint; given were "
                    f"{len(numbers)}"
                )
            given.append(numbers)
        return np.concatenate(given)


def quadratic_dual(program: QuadraticProgram, multipliers: Numbers) -> float:
    """Evaluate the dual of a quadratic program as a function of the multipliers alone.

    With y = (λ, ν), M = [A; E] and h = (b, f) it is −½(c + Mᵀy)ᵀQ⁺(c + Mᵀy) − hᵀy, and −∞ if c +
    Mᵀy is not in the range of Q.

    Parameters
    ----------
    program : QuadraticProgram
        A minimum with rows Ax ≤ b and Ex = f alone.
    multipliers : array-like
        The multipliers y, inequalities first.

    Returns
    -------
    float
        The dual value, a lower bound of the optimum if λ ≥ 0.

    Raises
    ------
    InvalidInput
        If the program is a maximum, or has variables ≥ 0 or R.

    See Also
    --------
    QuadraticProgram.dual : The dual as a program.

    Examples
    --------
    >>> import numpy as np
    >>> nearest = QuadraticProgram(np.eye(2), [0.0, 0.0], [[-1.0, -1.0]], [-2.0])
    >>> quadratic_dual(nearest, [1.0])  # the optimum: ½‖(1, 1)‖²
    1.0
    """
    if program.R is not None or program.nonnegative or program.sense != "min":
        raise InvalidInput(
            "the dual in closed form is that of a minimum with rows Ax ≤ b and Ex = f alone; write "
            "x ≥ 0 as rows (with_bounds), or use program.dual"
        )
    y = vector(multipliers, "the multipliers", len(program.limits))
    if np.min(y[: len(program.b)], initial=0.0) < 0:
        raise InvalidInput("the multipliers of Ax ≤ b must be ≥ 0: else the value is no bound")
    Q = dense_matrix(program.Q)
    pull = program.c + program.rows.T @ y
    values, vectors = np.linalg.eigh(Q)
    turned, flat = vectors.T @ pull, values <= 1e-12 * max(values.max(initial=0.0), 1e-300)
    if np.linalg.norm(turned[flat]) > 1e-12 * (np.linalg.norm(program.c) + np.linalg.norm(pull)):
        return -np.inf
    square = float(np.sum(turned[~flat] ** 2 / values[~flat]))
    return -square / 2 - float(program.limits @ y)


def _values(function: Function | None, x: Array) -> Array:
    if function is None:
        return np.zeros(0)
    return np.atleast_1d(np.asarray(function(x), dtype=float)).ravel()


def _jacobian(function: Function | None, derivative: Function | None, x: Array) -> Array:
    """Derivatives, a row for each value; by central differences where no derivative is given."""
    if function is None:
        return np.zeros((0, len(x)))
    if derivative is not None:
        given = np.asarray(derivative(x), dtype=float)
        if given.size != len(_values(function, x)) * len(x):
            raise InvalidInput(
                f"a derivative must have {len(x)} columns and a row for each value; its shape is "
                f"{given.shape}"
            )
        return given.reshape(-1, len(x))
    columns = []
    for i in range(len(x)):
        move = np.zeros(len(x))
        move[i] = DIFFERENCE_STEP * max(1.0, abs(x[i]))
        columns.append((_values(function, x + move) - _values(function, x - move)) / (2 * move[i]))
    return np.array(columns).T

"""Linear and convex quadratic programs as data, and their Lagrangian duals as such programs.

    min  ½xᵀQx + cᵀx   subject to   Ax ≤ b,  Ex = f,  x_j ≥ 0 for the first p variables

The Lagrangian dual of a linear program (Q = 0) is one of the same family. That of a
quadratic one is too when the family is a little larger: rows may be softened by free
variables w that cost ½wᵀRw,

    primal  min   ½xᵀQx + ½wᵀRw + cᵀx   Mx − Rw ≤ h (the A rows), = h (the E rows),  x_p ≥ 0
    dual    max  −½vᵀQv − ½yᵀRy − hᵀy   −Mᵀy − Qv ≤ c (first p rows), = c (others), y_A ≥ 0

with M = [A; E], h = (b, f) (Cottle, "Symmetric dual quadratic programs", 1963). For R = 0
this is Wolfe's dual, which needs Q to be positive semidefinite only: no inverse
is taken. Q and R, c and h, M and −Mᵀ change places, so the dual of the dual is the primal,
entry by entry.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Matrix, Numbers
from dualfold.errors import Argument, InvalidInput
from dualfold.theory.programs.entries import (
    doubles,
    is_nonzero,
    rows_of,
    semidefinite_matrix,
    vector,
)

Sense = Literal["min", "max"]


class _Program:
    """Base of both kinds of program; with `sign` a maximum is a minimum."""

    c: Array
    A: Matrix
    b: Array
    E: Matrix
    f: Array
    nonnegative: int
    sense: Sense
    Q: Matrix | None
    R: Matrix | None

    def _check_fields(self) -> None:
        """Convert the fields to arrays, or refuse them."""
        if self.sense not in ("min", "max"):
            raise InvalidInput(Argument("sense"), f" is {self.sense!r}; it must be 'min' or 'max'")
        cost = vector(self.c, "c", None)
        A, b = rows_of(self.A, self.b, len(cost), "A", "b")
        E, f = rows_of(self.E, self.f, len(cost), "E", "f")
        for name, entries in (("c", cost), ("A", A), ("b", b), ("E", E), ("f", f)):
            object.__setattr__(self, name, entries)
        is_integer = isinstance(self.nonnegative, int | np.integer)
        if not is_integer or not 0 <= self.nonnegative <= len(cost):
            raise InvalidInput(
                Argument("nonnegative", self.nonnegative),
                f": it is how many of the {len(cost)} variables, counted from the first, are "
                f"≥ 0; give a number from 0 to {len(cost)}",
            )

    @property
    def sign(self) -> float:
        """Sign of the minimised objective: +1 for "min", −1 for "max"."""
        return 1.0 if self.sense == "min" else -1.0

    @property
    def n(self) -> int:
        """Number of variables x (without those of R)."""
        return len(self.c)

    @property
    def point_size(self) -> int:
        """Number of entries of a point: those of x, and those of w if rows are softened by R."""
        return self.n + (0 if self.R is None else len(self.limits))

    @property
    def rows(self) -> Matrix:
        """The matrix M = [A; E], inequalities first; multipliers have this order."""
        if sp.issparse(self.A) or sp.issparse(self.E):
            return sp.csr_array(sp.vstack([sp.csr_array(self.A), sp.csr_array(self.E)]))
        return np.vstack([self.A, self.E])

    @property
    def limits(self) -> Array:
        """The right-hand sides h = (b, f)."""
        return np.concatenate([self.b, self.f])

    def parts(self, point: Numbers) -> tuple[Array, Array]:
        """Split a point into x and w.

        Parameters
        ----------
        point : array-like of shape (point_size,)
            The point.

        Returns
        -------
        x : ndarray of shape (n,)
            The variables.
        w : ndarray
            Those that soften rows; empty without R.
        """
        both = vector(point, "the point", self.point_size)
        return both[: self.n], both[self.n :]

    def value(self, point: Numbers) -> float:
        """Evaluate the objective at a point, feasible or not.

        Parameters
        ----------
        point : array-like of shape (point_size,)
            The point.

        Returns
        -------
        float
            The objective.
        """
        x, w = self.parts(point)
        curved = 0.0 if self.Q is None else float(x @ (self.Q @ x)) / 2
        curved += 0.0 if self.R is None else float(w @ (self.R @ w)) / 2
        return float(self.c @ x) + self.sign * curved

    def slack(self, point: Numbers) -> Array:
        """Compute h − Mx + Rw, which is ≥ 0 on inequalities and 0 on equations of a feasible point.

        Parameters
        ----------
        point : array-like of shape (point_size,)
            The point.

        Returns
        -------
        ndarray
            One number for each row of constraints.
        """
        x, w = self.parts(point)
        left = self.limits - self.rows @ x
        return left if self.R is None else left + self.R @ w

    def _with_bounds(
        self, lower: Numbers | float | None, upper: Numbers | float | None
    ) -> tuple[Matrix, Array]:
        """A and b with the finite bounds as further rows."""
        if self.R is not None:
            raise InvalidInput("bounds belong to the primal: add them before taking the dual")
        unit = sp.eye_array(self.n, format="csr") if sp.issparse(self.A) else np.eye(self.n)
        matrix, limits = self.A, self.b
        for bounds, side in ((lower, -1.0), (upper, 1.0)):
            if bounds is None:
                continue
            given = doubles(bounds, "a bound")
            if (given.ndim and given.shape != (self.n,)) or np.isnan(given).any():
                raise InvalidInput(
                    f"bounds are one number or one for each of the {self.n} variables (infinite "
                    f"where there is none); the shape is {given.shape}"
                )
            every = np.broadcast_to(given, (self.n,))
            finite = np.flatnonzero(np.isfinite(every))
            stack = sp.vstack if sp.issparse(matrix) else np.vstack
            matrix = stack([matrix, side * unit[finite]])
            limits = np.concatenate([limits, side * every[finite]])
        return matrix, limits

    def _dual_fields(self) -> dict[str, Any]:
        rows, p = -self.rows.T, self.nonnegative
        rows = sp.csr_array(rows) if sp.issparse(rows) else rows
        return {
            "c": -self.sign * self.limits,
            "A": rows[:p],
            "b": self.sign * self.c[:p],
            "E": rows[p:],
            "f": self.sign * self.c[p:],
            "nonnegative": len(self.b),
            "sense": "max" if self.sense == "min" else "min",
        }


@dataclass(frozen=True, eq=False)
class LinearProgram(_Program):
    """Linear program: min cᵀx subject to Ax ≤ b, Ex = f and x_j ≥ 0 for some variables.

    It neither solves nor certifies anything.

    Parameters
    ----------
    c : array-like of shape (n,)
        Coefficients of the objective.
    A : array-like, sparse matrix or None, default=None
        Matrix of the inequalities Ax ≤ b.
    b : array-like or None, default=None
        Right-hand side of the inequalities.
    E : array-like, sparse matrix or None, default=None
        Matrix of the equations Ex = f.
    f : array-like or None, default=None
        Right-hand side of the equations.
    nonnegative : int, default=0
        Number of variables that must be ≥ 0; they are the first ones.
    sense : {"min", "max"}, default="min"
        Whether the objective is minimised or maximised.

    Raises
    ------
    InvalidInput
        If shapes do not fit, or entries are not finite.

    See Also
    --------
    QuadraticProgram : Adds ½xᵀQx.
    solve_program : Solves it.
    certify_program : Certifies a point.

    Examples
    --------
    >>> diet = LinearProgram([2.0, 3.0], [[-1.0, -1.0]], [-4.0], nonnegative=2)
    >>> diet.dual.sense, diet.dual.c.tolist(), diet.dual.dual.A.tolist()
    ('max', [4.0], [[-1.0, -1.0]])
    """

    c: Any
    A: Any = None
    b: Any = None
    E: Any = None
    f: Any = None
    nonnegative: int = 0
    sense: Sense = "min"
    Q: None = field(init=False, default=None, repr=False)
    R: None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        self._check_fields()

    def with_bounds(
        self, lower: Numbers | float | None = None, upper: Numbers | float | None = None
    ) -> LinearProgram:
        """Add bounds lower ≤ x ≤ upper as further inequalities.

        Parameters
        ----------
        lower : array-like or None, default=None
            Lower bounds, one number or one for each variable; infinite ones are left out.
        upper : array-like or None, default=None
            Upper bounds.

        Returns
        -------
        LinearProgram
            The program with these rows.
        """
        A, b = self._with_bounds(lower, upper)
        return LinearProgram(self.c, A, b, self.E, self.f, self.nonnegative, self.sense)

    @property
    def dual(self) -> LinearProgram:
        """The dual: max −bᵀλ − fᵀν subject to Aᵀλ + Eᵀν + c = 0 (≥ 0 where x ≥ 0) and λ ≥ 0."""
        return LinearProgram(**self._dual_fields())


@dataclass(frozen=True, eq=False)
class QuadraticProgram(_Program):
    """Convex quadratic program: min ½xᵀQx + cᵀx subject to linear constraints.

    With `sense="max"` it is max −½xᵀQx + cᵀx.

    Parameters
    ----------
    Q : array-like or sparse matrix of shape (n, n)
        Positive semidefinite matrix.
    c : array-like of shape (n,)
        Linear coefficients of the objective.
    A : array-like, sparse matrix or None, default=None
        Matrix of the inequalities Ax ≤ b.
    b : array-like or None, default=None
        Right-hand side of the inequalities.
    E : array-like, sparse matrix or None, default=None
        Matrix of the equations Ex = f.
    f : array-like or None, default=None
        Right-hand side of the equations.
    nonnegative : int, default=0
        Number of variables that must be ≥ 0; they are the first ones.
    sense : {"min", "max"}, default="min"
        Whether the objective is minimised or maximised.
    R : array-like, sparse matrix or None, default=None
        Positive semidefinite matrix that softens the rows: Mx − Rw ≤ h at the cost ½wᵀRw. It is
        there because the dual needs it; a point is then x followed by w.

    Raises
    ------
    InvalidInput
        If shapes do not fit, entries are not finite, or Q is not symmetric.

    See Also
    --------
    LinearProgram : Without Q.
    solve_program : Solves it.
    quadratic_dual : The dual as a function of the multipliers.

    Examples
    --------
    >>> import numpy as np
    >>> nearest = QuadraticProgram(np.eye(2), [0.0, 0.0], [[-1.0, -1.0]], [-2.0])
    >>> nearest.dual.value([1.0, 1.0, 1.0])  # multiplier 1, v = (1, 1): the optimum
    1.0
    """

    Q: Any
    c: Any
    A: Any = None
    b: Any = None
    E: Any = None
    f: Any = None
    nonnegative: int = 0
    sense: Sense = "min"
    R: Any = None

    def __post_init__(self) -> None:
        self._check_fields()
        object.__setattr__(self, "Q", semidefinite_matrix(self.Q, self.n, "Q", "variables"))
        softened = self.R
        if softened is not None:
            softened = semidefinite_matrix(softened, len(self.limits), "R", "rows of constraints")
            softened = softened if is_nonzero(softened) else None
        object.__setattr__(self, "R", softened)

    def with_bounds(
        self, lower: Numbers | float | None = None, upper: Numbers | float | None = None
    ) -> QuadraticProgram:
        """Add bounds lower ≤ x ≤ upper as further inequalities.

        Parameters
        ----------
        lower : array-like or None, default=None
            Lower bounds, one number or one for each variable; infinite ones are left out.
        upper : array-like or None, default=None
            Upper bounds.

        Returns
        -------
        QuadraticProgram
            The program with these rows.
        """
        A, b = self._with_bounds(lower, upper)
        return QuadraticProgram(self.Q, self.c, A, b, self.E, self.f, self.nonnegative, self.sense)

    @property
    def dual(self) -> QuadraticProgram:
        """Wolfe's dual: its point is the multipliers followed by v, with Qv = Qx at the optimum."""
        m = len(self.limits)
        return QuadraticProgram(
            Q=sp.csr_array((m, m)) if self.R is None else self.R, R=self.Q, **self._dual_fields()
        )


Program = LinearProgram | QuadraticProgram
NO_PROGRAM_MESSAGE = "either states one from its matrices"

"""Which solver answers the problem of an estimator."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from scipy.sparse.linalg import LinearOperator

from dualfold.arrays import Array
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto, Dense, Factored, Lanczos, Preconditioned
from dualfold.trace.solvers.solver import Solver

# scikit-learn's names of solvers, and ours.
SOLVER_NAMES = ("auto", "dense", "arpack", "lanczos", "factored", "preconditioned")
# Up to this many rows LAPACK beats an iteration to 10 digits on a dense matrix, whatever the number
# of vectors; beyond, when more than one vector in 20 is wanted (docs/dev/notes/trace-solvers.md).
MAX_DENSE_ROWS = 2_000
DENSE_SHARE = 20


def solver_named(name: str, tol: float = 0.0, seed: int = 0, start: Array | None = None) -> Solver:
    """The solver of that name; a tolerance of 0 leaves the default.

    start : points of an earlier map, for the solvers that can begin with them
    """
    settings: dict[str, Any] = {"seed": seed} | ({"tol": tol} if 0 < tol < 1e-6 else {})
    return {
        "auto": Auto(**settings, start=start),
        "dense": Dense(),
        "arpack": Lanczos(**settings),
        "lanczos": Lanczos(**settings),
        "factored": Factored(**settings),
        "preconditioned": Preconditioned(**settings),
    }[name]


def solver_to_last_digits(problem: TraceProblem, start: Array | None = None) -> Solver:
    """Tighter than the default, since drop-ins are compared by digits.

    The upper end of an operator converges so fast that all digits cost little more than ten.

    start : points of an earlier map, for the solvers that can begin with them
    """
    if isinstance(problem.A, LinearOperator) and problem.n > MAX_DENSE_ROWS:
        return Lanczos(tol=1e-14)
    if problem.n <= MAX_DENSE_ROWS or problem.count > problem.n // DENSE_SHARE:
        return Dense()
    return Auto(tol=1e-10, start=start)


def seed_of(random_state: Any) -> int:
    """scikit-learn's `random_state` as one number; None is 0, so that runs agree."""
    if random_state is None or isinstance(random_state, Integral):
        return int(random_state or 0)
    return int(random_state.randint(2**31 - 1))

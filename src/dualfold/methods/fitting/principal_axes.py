"""From PCA's trace problem to components: how many, from which matrix, with what proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator
from sklearn.utils import check_random_state

from dualfold.arrays import Array, Rows, Seed
from dualfold.certificate import Certificate
from dualfold.embedding import certificate_of_solution
from dualfold.errors import Argument, InvalidInput
from dualfold.methods.fitting.dimension import CountChoice, minka_dimension, variance_share
from dualfold.methods.fitting.moments import Moments
from dualfold.methods.fitting.solver_choice import solver_to_last_digits
from dualfold.methods.maps.linear_map import LinearMap
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.trace.solvers import Gradient, PaperGradient
from dualfold.weights.covariance import CentredScatter, RowShift
from dualfold.weights.row_weights import RowWeights, row_total

# Values of `svd_solver` that descend.
DESCENT_SOLVERS = ("gradient", "gradient-paper")
# n_components="auto" keeps this share of the variance (Cunha's rule of thumb).
AUTO_SHARE = 0.9
# `fit` keeps a scatter matrix of up to this many features, 8 MB, so that partial_fit can
# add to it; larger ones would only weigh on memory and pickles.
MAX_KEPT_WIDTH = 1_000


# Up to this many rows and columns a singular value decomposition costs nothing
# noticeable (scikit-learn draws the line there too).
MAX_SMALL_SIDE = 500
SPARSE_SOLVERS = ("auto", "arpack", "covariance_eigh", *DESCENT_SOLVERS)


@dataclass(frozen=True)
class Count:
    """Number of components that was asked for, on data of that shape.

    total : the number of rows, or the sum of their weights
    """

    wanted: int | float | str
    shape: tuple[int, ...]
    total: float

    def choice(self, spectrum: Array | None) -> CountChoice:
        """The number of components; shares and estimates need the whole spectrum."""
        if spectrum is None:
            return CountChoice(int(self.wanted), "")
        if self.wanted == "mle":
            n = self.total
            return minka_dimension(spectrum * (n / (n - 1)), n)
        return variance_share(spectrum, AUTO_SHARE if self.wanted == "auto" else float(self.wanted))

    @property
    def needs_spectrum(self) -> bool:
        return isinstance(self.wanted, str | float)


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """Components with their variances (divisor n), of `total` in all."""

    choice: CountChoice
    values: Array
    total: float
    map: LinearMap
    certificate: Certificate | None


def principal_axes(
    problem: TraceProblem, decomposed: Solution | None, count: Count
) -> PrincipalAxes:
    """Choose the number of components, solve, judge."""
    most = min(count.shape)
    spectrum = None
    if count.needs_spectrum and decomposed is not None:
        spectrum = decomposed.values[:most]
    elif count.needs_spectrum:
        _refuse_products(problem, count.wanted)
        spectrum = np.maximum(scipy.linalg.eigvalsh(problem.A)[::-1][:most], 0)
    choice = count.choice(spectrum)
    # No components are the first one, less itself.
    asked = problem.with_count(max(choice.count, 1))
    if decomposed is None:
        solution = solver_to_last_digits(asked).solve(asked)
    else:
        solution = replace(
            decomposed,
            vectors=decomposed.vectors[:, : asked.count],
            values=decomposed.values[: asked.count],
            guard=decomposed.vectors[:, asked.count : asked.count + 1],
        )
    certificate = certificate_of_solution(asked, solution) if choice.count else None
    values = np.maximum(solution.values, 0)
    whole: Any = problem.lift
    map_ = whole.linear_map(solution.vectors, values)
    components = _with_orthonormal_rows(map_.components)[: choice.count]
    A: Any = problem.A
    total = A.trace if isinstance(A, LinearOperator) else max(float(np.trace(A)), 0.0)
    return PrincipalAxes(
        choice, values[: choice.count], total, replace(map_, components=components), certificate
    )


def kept_moments(
    problem: TraceProblem,
    X: Rows,
    precision: Any = None,
    weights: RowWeights | None = None,
    shift: RowShift | None = None,
) -> Moments | None:
    """Moments for partial_fit, where the problem holds a covariance of bearable size.

    precision : that of the products, as in `scatter`
    shift : that of dense rows, where it is known
    """
    n, width = row_total(X, weights), X.shape[1]
    lift: Any = problem.lift
    formed = isinstance(problem.A, np.ndarray) and problem.n == width
    if not formed or width > MAX_KEPT_WIDTH or not lift.vectors_are_components:
        return None
    units = None if lift.scale is None else np.outer(lift.scale, lift.scale)
    total: Any = n * problem.A
    total = total if units is None else total * units
    how: Any = {"precision": precision, "weights": weights, "shift": shift}
    return Moments.from_scatter(X, total, lift.mean, **how)


def _refuse_products(problem: TraceProblem, wanted: int | float | str) -> None:
    if isinstance(problem.A, CentredScatter):
        raise InvalidInput(
            Argument("n_components", wanted),
            f" needs all {problem.n} variances, and the data is too large to form its "
            "covariance; give a number of components",
        )


def _with_orthonormal_rows(components: Array) -> Array:
    """Rows of zeros (directions without extent) replaced by any orthonormal ones."""
    empty = np.flatnonzero(~components.any(axis=1))
    if not len(empty):
        return components
    real = np.flatnonzero(components.any(axis=1))
    # Unit vectors of the features that the real rows use least leave the most to keep.
    free = np.argsort(np.square(components).sum(axis=0), kind="stable")[: len(empty)]
    units = np.zeros((len(empty), components.shape[1]))
    units[np.arange(len(empty)), free] = 1
    basis = scipy.linalg.qr(np.vstack([components[real], units]).T, mode="economic")[0].T
    completed = components.copy()
    completed[empty] = basis[len(real) :]
    return completed


def singular_vectors(
    X: Any,
    problem: TraceProblem,
    weights: RowWeights | None = None,
    *,
    divisor: float | None = None,
) -> Solution:
    """All answers of the problem from the singular value decomposition of the centred data.

    divisor : of their squares (None: the number of rows, or the sum of their weights)

    In float64 whatever the rows are: the certificate judges directions to the digits of float64.
    """
    lift: Any = problem.lift
    centred = np.asarray((X.toarray() if sp.issparse(X) else X) - lift.mean)
    centred = centred if lift.scale is None else centred / lift.scale
    centred = centred if weights is None else centred * weights.roots[:, None]
    U, s, Vt = scipy.linalg.svd(centred, full_matrices=False, overwrite_a=True)
    vectors = Vt.T if problem.n == X.shape[1] else U
    values = np.square(s) / (row_total(X, weights) if divisor is None else divisor)
    return Solution(vectors, values, np.zeros((problem.n, 0)), "SVD", "converged", 0)


def solver_for(estimator: Any, shape: tuple[int, ...], *, sparse: bool) -> str:
    """Solver that `svd_solver` of a PCA stands for on data of that shape (scikit-learn's rules)."""
    if sparse and estimator.svd_solver not in SPARSE_SOLVERS:
        raise TypeError(
            'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, '
            f'while "{estimator.svd_solver}" was passed; svd_solver="auto" takes sparse data too'
        )
    if estimator.svd_solver != "auto":
        return str(estimator.svd_solver)
    if sparse:
        return "auto" if isinstance(estimator.n_components, str) else "arpack"
    n, width = shape
    if width <= 1_000 and n >= 10 * width:
        return "covariance_eigh"
    wanted = estimator.n_components
    few = isinstance(wanted, Integral) and 1 <= int(wanted) < 0.8 * min(shape)
    return "randomized" if few and max(shape) > MAX_SMALL_SIDE else "full"


def count_for(estimator: Any, name: str, shape: tuple[int, ...], total: float) -> Count:
    """Rule for the number of components of a PCA; refused where there is none.

    total : the number of rows, or the sum of their weights
    """
    wanted, most = estimator.n_components, min(shape)
    if wanted is None:
        return Count(most - 1 if name == "arpack" and most > 1 else most, shape, total)
    truncated = (
        name in ("arpack", "randomized", *DESCENT_SOLVERS) and estimator.svd_solver != "auto"
    )
    if isinstance(wanted, str):
        if truncated:
            raise InvalidInput(
                Argument("n_components", wanted),
                " cannot be a string with ",
                Argument("svd_solver", name),
                "; use ",
                Argument("svd_solver", "auto"),
            )
        if wanted == "mle" and shape[0] < shape[1]:
            raise InvalidInput(
                Argument("n_components", "mle"),
                " is only supported if n_samples >= n_features; the data has "
                f"{shape[0]} samples and {shape[1]} features. Use 'auto' or a number",
            )
        return Count(wanted, shape, total)
    least = 1 if truncated else 0
    if not least <= wanted <= most:
        raise InvalidInput(
            Argument("n_components", wanted),
            f" must be between {least} and min(n_samples, n_features)={most} with ",
            Argument("svd_solver", name),
        )
    if wanted == most and estimator.svd_solver == "arpack":
        raise InvalidInput(
            Argument("n_components", wanted),
            f" must be strictly less than min(n_samples, n_features)={most} with ",
            Argument("svd_solver", "arpack"),
            "; ",
            Argument("svd_solver", "auto"),
            " gives all of them",
        )
    return Count(int(wanted) if isinstance(wanted, Integral) else float(wanted), shape, total)


@dataclass(frozen=True, eq=False)
class GradientSettings:
    """Gradient descent by PCA's parameters `gradient_start`, `gradient_step`, `gradient_rounds`."""

    name: str
    start: Any
    step: float | None
    rounds: int
    tol: float
    random_state: Seed

    def solution(self, problem: TraceProblem, count: Count) -> Solution:
        """The directions in the order of their variances, guards behind them.

        The paper's polar factor is any basis of its subspace; turning it to its own
        principal axes changes neither the subspace nor a distance.
        """
        asked = problem.with_count(max(int(count.wanted), 1))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        start = None if isinstance(self.start, str) else np.asarray(self.start)
        if self.name == "gradient":
            answer = Gradient(tol=self.tol or 1e-7, seed=seed, start=start).solve(asked)
        else:
            answer = PaperGradient(self.rounds, self.step, seed, start).attempt(asked)
        values, turn = np.linalg.eigh(asked.quadratic(answer.vectors))
        vectors = np.hstack([answer.vectors @ turn, answer.guard])
        return replace(answer, vectors=vectors, values=asked.sign * values)


def gradient_settings(estimator: Any) -> GradientSettings:
    """Gradient settings from a PCA's parameters."""
    return GradientSettings(
        estimator.svd_solver,
        estimator.gradient_start,
        estimator.gradient_step,
        estimator.gradient_rounds,
        estimator.tol,
        estimator.random_state,
    )


def error_history(problem: TraceProblem, solution: Solution) -> Array:
    """A row a step: ‖XUUᵀ − X‖²/‖X‖², and how much of it could still be too much (a bound)."""
    known: Any = problem.A
    total = known.trace if isinstance(known, CentredScatter) else float(np.trace(known))
    total = total or 1.0
    history = np.zeros((0, 2)) if solution.history is None else solution.history
    with np.errstate(invalid="ignore"):  # an unknown share (∞) of no variance is no excess
        excess = np.nan_to_num(history[:, 1] * np.abs(history[:, 0]) / total, posinf=np.inf)
    return np.column_stack([1 + history[:, 0] / total, excess])

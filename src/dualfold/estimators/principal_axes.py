"""From PCA's trace problem to components: how many, from which matrix, with what proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.certificate import Certificate
from dualfold.embedding import judged
from dualfold.errors import Argument, InvalidInput
from dualfold.estimators.base import solver_to_last_digits
from dualfold.estimators.dimension import Choice, minka_dimension, variance_share
from dualfold.maps.linear import LinearMap
from dualfold.scale.moments import Moments
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import Solution
from dualfold.weights.covariance import CentredScatter

# n_components="auto" keeps this share of the variance (Cunha's rule of thumb).
AUTO_SHARE = 0.9
# `fit` keeps a scatter matrix of up to this many features, 8 MB, so that partial_fit can
# add to it; larger ones would only weigh on memory and pickles.
KEPT_WIDTH = 1_000


@dataclass(frozen=True)
class Count:
    """What was asked for as n_components, on data of that shape."""

    wanted: int | float | str
    shape: tuple[int, int]

    def choice(self, spectrum: Array | None) -> Choice:
        """The number of components; shares and estimates need the whole spectrum."""
        if spectrum is None:
            return Choice(int(self.wanted), "")
        if self.wanted == "mle":
            n = self.shape[0]
            return minka_dimension(spectrum * (n / (n - 1)), n)
        return variance_share(spectrum, AUTO_SHARE if self.wanted == "auto" else float(self.wanted))

    @property
    def needs_spectrum(self) -> bool:
        return isinstance(self.wanted, str | float)


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """Components with their variances (divisor n), of `total` in all."""

    choice: Choice
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
    asked = replace(problem, count=max(choice.count, 1))
    if decomposed is None:
        solution = solver_to_last_digits(asked).solve(asked)
    else:
        solution = replace(
            decomposed,
            vectors=decomposed.vectors[:, : asked.count],
            values=decomposed.values[: asked.count],
            guard=decomposed.vectors[:, asked.count : asked.count + 1],
        )
    certificate = judged(asked, solution) if choice.count else None
    values = np.maximum(solution.values, 0)
    whole: Any = problem.lift
    map_ = whole.linear_map(solution.vectors, values)
    components = _completed(map_.components)[: choice.count]
    A: Any = problem.A
    total = A.trace if isinstance(A, CentredScatter) else max(float(np.trace(A)), 0.0)
    return PrincipalAxes(
        choice, values[: choice.count], total, replace(map_, components=components), certificate
    )


def kept_moments(problem: TraceProblem, X: Any) -> Moments | None:
    """What partial_fit can add to, where the problem holds a covariance of bearable size."""
    n, width = X.shape
    lift: Any = problem.lift
    formed = isinstance(problem.A, np.ndarray) and problem.n == width
    if not formed or width > KEPT_WIDTH or not lift.vectors_are_components:
        return None
    units = None if lift.scale is None else np.outer(lift.scale, lift.scale)
    total: Any = n * problem.A
    return Moments.known(X, total if units is None else total * units, lift.mean)


def _refuse_products(problem: TraceProblem, wanted: Any) -> None:
    if isinstance(problem.A, CentredScatter):
        raise InvalidInput(
            Argument("n_components", wanted),
            f" needs all {problem.n} variances, and the data is too large to form its "
            "covariance; give a number of components",
        )


def _completed(components: Array) -> Array:
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


def singular_vectors(X: Any, problem: TraceProblem) -> Solution:
    """All answers of the problem from the singular value decomposition of the centred data."""
    lift: Any = problem.lift
    centred = np.asarray(X - lift.mean, dtype=X.dtype)
    centred = centred if lift.scale is None else centred / lift.scale.astype(X.dtype)
    U, s, Vt = scipy.linalg.svd(centred, full_matrices=False)
    vectors = Vt.T if problem.n == X.shape[1] else U
    values = np.square(s.astype(float)) / X.shape[0]
    guard = np.zeros((problem.n, 0))
    return Solution(vectors.astype(float), values, guard, "SVD", "converged", 0)

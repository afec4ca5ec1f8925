"""Starts of a descent, and how far maps from different starts lie from one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from dualfold.arrays import Array, Rows, Seed
from dualfold.embedding import Embedding, embed
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.threads import one_blas_thread
from dualfold.methods.points.problem import AttractionProblem
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solution import with_signs
from dualfold.weights.column_moments import column_means
from dualfold.weights.covariance import scatter
from dualfold.weights.row_passes import projected_rows

# The standard deviation of the first coordinate at the start, as in scikit-learn.
START_DEVIATION = 1e-4


def spectral_problem(problem: AttractionProblem, count: int) -> TraceProblem:
    """The eigenmaps of P as a problem: min tr(VᵀLV), VᵀV = I, Vᵀ1 = 0, L = (n − 1)(Deg − P)."""
    return TraceProblem(problem.laplacian(), None, count, "min", excluded=np.ones(problem.n))


def spectral_map(problem: AttractionProblem, count: int) -> Embedding:
    """The eigenmaps of P, certified; the same bits for any number of threads."""
    with one_blas_thread():
        return embed(spectral_problem(problem, count))


def start_named(
    name: str, X: Rows, problem: AttractionProblem, count: int, random_state: Seed
) -> Array:
    """The start of that name, its first coordinate scaled to a deviation of 1e-4."""
    if name == "random":
        drawn = check_random_state(random_state).standard_normal(size=(problem.n, count))
        return START_DEVIATION * np.asarray(drawn).astype(np.float32).astype(float)
    points = principal_points(X, count) if name == "pca" else spectral_map(problem, count).points
    deviation = float(np.std(points[:, 0]))
    return points * (START_DEVIATION / deviation) if deviation > 0 else points * 0.0


def principal_points(X: Any, count: int) -> Array:
    """The first principal components of the rows; columns of 0 where there are fewer.

    From the smaller of two matrices: the scatter of the columns, or the products of the rows.
    """
    n, width = X.shape
    points = np.zeros((n, count))
    with one_blas_thread():
        mean = column_means(X)
        if width <= n:
            S = np.asarray(scatter(X)[0])
            width_kept = min(count, width)
            axes = _largest(S, width_kept)[1]
            points[:, :width_kept] = projected_rows(X, with_signs(axes), mean)
            return points
        rows = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
        centred = rows - mean
        width_kept = min(count, n)
        G = centred @ centred.T
        squares, V = _largest(G, width_kept)
        points[:, :width_kept] = with_signs(V) * np.sqrt(np.maximum(squares, 0))
    return points


def _largest(S: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues of a symmetric matrix, falling, and their vectors.

    In a unit of its own, a power of 2: LAPACK's tolerances are absolute, and t-SNE makes another
    map of a start that differs in its last digit (rows times 2⁻⁷ had another map).
    """
    n = len(S)
    power = int(np.frexp(np.abs(S).max(initial=0.0))[1])
    unit = np.ldexp(S, -power)
    values, V = scipy.linalg.eigh(unit, subset_by_index=[n - count, n - 1])
    return np.ldexp(values[::-1], power), V[:, ::-1]


def given_start(init: ArrayLike, n: int, count: int) -> Array:
    """A start that is an array, checked."""
    start = np.asarray(init, dtype=float)
    if start.shape != (n, count) or not np.isfinite(start).all():
        trouble = f"its shape is {start.shape}"
        if start.shape == (n, count):
            trouble = "it holds NaN or infinity"
        raise InvalidInput(
            Argument("init"), f" must be {n} rows of {count} finite numbers; {trouble}"
        )
    return start


def displacement(first: Array, other: Array) -> Array:
    """Distances of another map's points from their places in the first, in its radii.

    After the turn, the reflection and the scale that bring the second closest to the first.
    """
    a, b = first - first.mean(axis=0), other - other.mean(axis=0)
    left, sizes, right = np.linalg.svd(b.T @ a)
    squares = float((b * b).sum())
    moved = (b @ (left @ right)) * (sizes.sum() / squares if squares > 0 else 0.0)
    radius = float(np.sqrt((a * a).sum(axis=1).mean()))
    return np.asarray(np.linalg.norm(moved - a, axis=1) / radius if radius > 0 else a[:, 0])

"""PCA as descent on its directions: the error of a projection, its gradient, Tucker's method.

    f(U) = ‖X_cUUᵀ − X_c‖²_F,   ∇f = 2(SUUᵀU + UUᵀSU − 2SU),   S = X_cᵀX_c

(Tucker, "Dimensionality reduction and the Fenchel game", Theorem 1.7; samples are rows here).
S is never formed. `PCA(svd_solver="gradient-paper")` is `averaged_directions` as an estimator, and
`PCA(svd_solver="gradient")` a descent that converges.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array, Matrix, Numbers
from dualfold.errors import Argument, InvalidInput
from dualfold.weights.column_moments import column_deviations, column_means
from dualfold.weights.row_passes import combined_rows, numeric_table, projected_rows


@dataclass(frozen=True, eq=False)
class AveragedDescent:
    """Tucker's descent: where it went, and what becomes of it.

    iterates : w₁ … w_T, D×d each; their mean is the guarantee's answer for a convex f
    average : w̄_T = (1/T)Σ w_t, the averaged iterate (Algorithm 6)
    directions : the nearest matrix with orthonormal columns (its polar factor), D×d
    """

    iterates: Array
    average: Array
    directions: Array


def direction_error(X: Any, U: Numbers) -> float:
    """Compute the error ‖X_cUUᵀ − X_c‖²_F of directions.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    U : array-like of shape (n_features, n_components)
        The directions, any matrix of this shape.

    Returns
    -------
    float
        The error.

    See Also
    --------
    direction_gradient : Its gradient.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Theorem 1.7.

    Examples
    --------
    >>> cross = [[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]]
    >>> round(direction_error(cross, [[0.0], [1.0]]), 9)
    2.0
    """
    data, U, mean = _checked_directions(X, U)
    coordinates = projected_rows(data, U, mean)
    inner, gram = coordinates.T @ coordinates, U.T @ U
    deviations = column_deviations(data, mean, constant=0.0)
    total = data.shape[0] * float(deviations @ deviations)
    return total - 2 * float(np.trace(inner)) + float(np.vdot(inner, gram))


def direction_gradient(X: Any, U: Numbers) -> Array:
    """Compute the gradient 2(SUUᵀU + UUᵀSU − 2SU) of `direction_error`, with S = X_cᵀX_c.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    U : array-like of shape (n_features, n_components)
        The directions, any matrix of this shape.

    Returns
    -------
    ndarray of shape (n_features, n_components)
        The gradient, in O(nDd) operations.

    See Also
    --------
    direction_error : The function.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Theorem 1.7.

    Examples
    --------
    >>> from dualfold.point_pca import direction_gradient
    >>> cross = [[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]]
    >>> direction_gradient(cross, [[0.0], [1.0]]).ravel()  # a principal axis
    array([0., 0.])
    """
    data, U, mean = _checked_directions(X, U)
    coordinates = projected_rows(data, U, mean)
    SU = combined_rows(data, coordinates, mean)
    return np.asarray(2 * (SU @ (U.T @ U) + U @ (U.T @ SU) - 2 * SU))


def averaged_directions(
    X: Any,
    n_components: int,
    *,
    rounds: int = 10,
    step: float | None = None,
    start: Numbers | None = None,
    seed: int = 0,
) -> AveragedDescent:
    """Take steps of one length against the normalised gradient, and average the iterates.

    Nothing makes it converge, since the error is not convex in U.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    n_components : int
        Number of directions.
    rounds : int, default=10
        Number of steps.
    step : float or None, default=None
        Length of a step; None is 25/√rounds, as in Remark 6.23.
    start : array-like of shape (n_features, n_components) or None, default=None
        The first iterate; None draws orthonormal columns of Frobenius norm 1.
    seed : int, default=0
        Seed of the start.

    Returns
    -------
    AveragedDescent
        Iterates, their average, and the nearest orthonormal matrix `directions`.

    See Also
    --------
    dualfold.PCA : Offers it as `svd_solver="gradient-paper"`, and "gradient", which converges.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Algorithm 6 and
       Remark 6.23.

    Examples
    --------
    >>> from dualfold.point_pca import averaged_directions
    >>> cross = [[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]]
    >>> averaged_directions(cross, 1).directions.shape
    (2, 1)
    """
    data = numeric_table(X)
    if rounds < 1:
        raise InvalidInput(Argument("rounds", rounds), " must be at least 1")
    if start is None:
        drawn = np.random.default_rng(seed).standard_normal((data.shape[1], n_components))
        start = np.linalg.qr(drawn)[0] / np.sqrt(n_components)
    w = _checked_directions(data, start)[1]
    if w.shape[1] != n_components:
        raise InvalidInput(f"the start must have {n_components} columns; its shape is {w.shape}")
    length = 25 / np.sqrt(rounds) if step is None else float(step)
    iterates = []
    for _ in range(rounds):
        gradient = direction_gradient(data, w)
        size = float(np.linalg.norm(gradient))
        w = w - length * gradient / size if size > 0 else w
        iterates.append(w)
    average = np.mean(iterates, axis=0)
    left, _, right = np.linalg.svd(average, full_matrices=False)
    return AveragedDescent(np.array(iterates), average, left @ right)


def _checked_directions(X: Any, U: Numbers) -> tuple[Matrix, Array, Array]:
    """The data, U as an array, and the mean of the data."""
    data, directions = numeric_table(X), np.asarray(U, dtype=float)
    if directions.ndim != 2 or len(directions) != data.shape[1]:
        raise InvalidInput(
            f"directions must be an array of {data.shape[1]} rows, one for each column of the "
            f"data; the shape is {directions.shape}"
        )
    return data, directions, column_means(data)

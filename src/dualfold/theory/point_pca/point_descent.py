"""PCA as descent on the points: Y moves until its inner products are nearest to those of X.

    f(Y) = ‖H(E^X − E^Y)H‖²_F = 4‖X_cX_cᵀ − Y_cY_cᵀ‖²_F,   ∇f = 16(Y_cY_cᵀ − X_cX_cᵀ)Y_c

with E the squared distances and X_c, Y_c centred (Draganov, "PCA as gradient descent", 2022).
The minimum over n×d matrices Y is 4Σ_{i>d}σ_i⁴, σ the singular values of X_c, and there are no
other local ones: every run ends at PCA's coordinates up to a rotation. Nothing n×n is formed:
a gradient is X_c(X_cᵀY) and Y(YᵀY), O(nDd). `PointForces` are what moves each point.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from dualfold.arrays import Array, Matrix, Numbers
from dualfold.errors import InvalidInput, TooLarge
from dualfold.weights.column_moments import column_means
from dualfold.weights.covariance import scatter
from dualfold.weights.gram import point_gram
from dualfold.weights.row_passes import combined_rows, numeric_table, projected_rows

# YᵀY is inverted with this share of its trace added: columns that the data has no
# variance for go to 0, and steps must stay finite meanwhile.
RIDGE_SHARE = 1e-12
# Forces of all pairs are n×n×d numbers.
MAX_PAIRED_POINTS = 2_000


@dataclass(frozen=True, eq=False)
class PointDescent:
    """Points, and how they were found.

    points : n×d, centred, in the orientation the descent ended in
    errors : f(Y) less 4Σσ⁴ (f at Y = 0) after each step, first the start
    slopes : ‖∇f‖/(16‖Y‖³), dimensionless, after each step
    converged : whether a tolerance was met
    """

    points: Array
    errors: Array
    slopes: Array
    converged: bool


def point_error(X: Any, Y: Numbers, squares: float | None = None) -> float:
    """Compute the error f(Y) = ‖H(E^X − E^Y)H‖²_F, with E the squared distances.

    It equals 4‖X_cX_cᵀ − Y_cY_cᵀ‖²_F. Its minimum over n×d matrices is 4Σ_{i>d} σ_i⁴, which PCA
    attains, with σ the singular values of X_c.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    Y : array-like of shape (n_samples, n_components)
        The points.
    squares : float or None, default=None
        The sum Σσ⁴ = ‖X_cᵀX_c‖² if it is known; None computes it.

    Returns
    -------
    float
        The error, right to some units of rounding of f(0).

    See Also
    --------
    point_gradient : Its gradient.

    References
    ----------
    .. [1] A. Draganov, "PCA as gradient descent", 2022.

    Examples
    --------
    >>> point_error([[0.0], [2.0]], [[0.0], [0.0]])
    16.0
    """
    data, Y = centred_points(X, Y)
    mean = column_means(data)
    if squares is None:
        few_rows = data.shape[0] < data.shape[1]
        products = point_gram(data, mean) if few_rows else scatter(data)[0]
        squares = float(np.square(products, dtype=float).sum())
    across = float(np.square(combined_rows(data, Y, mean)).sum())
    return 4 * max(squares - 2 * across + float(np.square(Y.T @ Y).sum()), 0.0)


def point_gradient(X: Any, Y: Numbers) -> Array:
    """Compute the gradient 16(Y_cY_cᵀ − X_cX_cᵀ)Y_c of `point_error`.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    Y : array-like of shape (n_samples, n_components)
        The points.

    Returns
    -------
    ndarray of shape (n_samples, n_components)
        The gradient, in O(nDd) operations.

    See Also
    --------
    point_forces : The two forces that it consists of.
    kronecker_gradient : The same by Kronecker products.

    References
    ----------
    .. [1] A. Draganov, "PCA as gradient descent", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.point_pca import point_gradient
    >>> line = np.array([[0.0], [1.0], [5.0]])
    >>> bool(np.allclose(point_gradient(line, line), 0))  # Y = X is the minimum
    True
    """
    data, Y = centred_points(X, Y)
    return 16 * (Y @ (Y.T @ Y) - kernel_times(data, column_means(data), Y))


def descend_points(
    X: Any,
    n_components: int,
    *,
    start: Numbers | None = None,
    most_steps: int = 1_000,
    tol: float = 1e-12,
    reachable: float | None = None,
    seed: int = 0,
) -> PointDescent:
    """Minimise `point_error` by conjugate gradients with exact steps.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    n_components : int
        Number of coordinates.
    start : array-like of shape (n_samples, n_components) or None, default=None
        The first points; None draws them.
    most_steps : int, default=1000
        Largest number of steps.
    tol : float, default=1e-12
        It stops when f is within this share of `reachable` of the minimum; without `reachable` when
        the gradient vanishes to √tol.
    reachable : float or None, default=None
        How far f can fall from Y = 0, the sum 4Σ_{i≤d} σ_i⁴, if it is known.
    seed : int, default=0
        Seed of the start.

    Returns
    -------
    PointDescent
        The points, and the history of the descent.

    See Also
    --------
    certify_points : Certifies the points.
    algorithm_one : The algorithm as it was published.

    Notes
    -----
    The direction is the gradient times (YᵀY)⁻¹, made conjugate to the last one by the rule of Polak
    and Ribière. Along a line f is a polynomial of degree 4, which is minimised exactly: a step
    costs one product with X_cX_cᵀ.

    References
    ----------
    .. [1] A. Draganov, "PCA as gradient descent", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.point_pca import descend_points
    >>> cross = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    >>> np.abs(descend_points(cross, 1).points).ravel().round(4)
    array([0., 0., 3., 3.])
    """
    data = numeric_table(X)
    mean = column_means(data)
    Y = _first_points(data.shape[0], n_components, start, seed)
    KY = kernel_times(data, mean, Y)
    # The best multiple of the start: N(0, 1) does not have the scale of the data.
    scale = float(np.einsum("ij,ij->", Y, KY)) / max(float(np.square(Y.T @ Y).sum()), 1e-300)
    if start is None:
        Y, KY = Y * np.sqrt(scale), KY * np.sqrt(scale)
    errors: list[float] = []
    slopes: list[float] = []
    P = KP = last = None
    for step in range(most_steps + 1):
        gram = Y.T @ Y
        gradient = Y @ gram - KY
        size = float(np.linalg.norm(gram))
        errors.append(4 * (size**2 - 2 * float(np.einsum("ij,ij->", Y, KY))))
        slopes.append(float(np.linalg.norm(gradient)) / max(size**1.5, 1e-300))
        near = reachable is not None and errors[-1] + reachable <= tol * reachable
        if near or slopes[-1] <= (np.sqrt(tol) if reachable is None else 1e-15) or size == 0:
            return PointDescent(Y, np.array(errors), np.array(slopes), converged=True)
        if step == most_steps:
            break
        eased = np.linalg.solve(
            gram + RIDGE_SHARE * np.trace(gram) * np.eye(len(gram)), gradient.T
        ).T
        P = _conjugate(gradient, eased, P, last)
        KP = kernel_times(data, mean, P)
        length = _exact_length(Y, KY, P, KP)
        last = (gradient, float(np.einsum("ij,ij->", gradient, eased)))
        Y, KY = Y + length * P, KY + length * KP
    return PointDescent(Y, np.array(errors), np.array(slopes), converged=False)


def centred_points(X: Any, Y: Numbers) -> tuple[Matrix, Array]:
    """The data, and the points centred."""
    data, points = numeric_table(X), np.asarray(Y, dtype=float)
    if points.ndim != 2 or len(points) != data.shape[0]:
        raise InvalidInput(
            f"the points must be an array of {data.shape[0]} rows, one for each row of the data; "
            f"the shape is {points.shape}"
        )
    return data, points - points.mean(axis=0)


def kernel_times(data: Matrix, mean: Array, Y: Array) -> Array:
    """X_cX_cᵀY without X_cX_cᵀ."""
    return projected_rows(data, combined_rows(data, Y, mean), mean)


# Fourth powers of a start's numbers have room.
MAX_START = 1e70


def _first_points(n: int, d: int, start: Numbers | None, seed: int) -> Array:
    if start is None:
        random = np.random.default_rng(seed).standard_normal((n, d))
        return random - random.mean(axis=0)
    given = np.asarray(start, dtype=float)
    if given.shape != (n, d) or not (np.abs(given) < MAX_START).all():
        raise InvalidInput(
            f"the start must be {n}×{d} finite numbers up to {MAX_START:g}, one row for each "
            f"point; its shape is {given.shape}"
        )
    return given - given.mean(axis=0)


def _conjugate(gradient: Array, eased: Array, P: Array | None, last: Any) -> Array:
    """Polak and Ribière's direction; steepest descent where that would climb."""
    if P is None:
        return -eased
    before, square = last
    turn = float(np.einsum("ij,ij->", gradient - before, eased)) / max(square, 1e-300)
    direction = -eased + max(turn, 0.0) * P
    return direction if np.einsum("ij,ij->", direction, gradient) < 0 else -eased


def _exact_length(Y: Array, KY: Array, P: Array, KP: Array) -> float:
    """The minimum of f along Y + tP: the best real root of a cubic."""
    a, b, c = Y.T @ Y, Y.T @ P + P.T @ Y, P.T @ P
    coefficients = np.array(
        [
            np.square(c).sum(),
            2 * np.einsum("ij,ij->", b, c),
            np.square(b).sum() + 2 * np.einsum("ij,ij->", a, c) - 2 * np.einsum("ij,ij->", P, KP),
            2 * np.einsum("ij,ij->", a, b) - 4 * np.einsum("ij,ij->", P, KY),
            0.0,
        ]
    )
    slope = np.polyder(coefficients)
    if not np.any(slope[:3]):
        return 0.0
    roots = np.roots(slope)
    real = roots[np.abs(roots.imag) <= 1e-8 * np.maximum(np.abs(roots), 1e-300)].real
    return float(min(real, key=lambda t: np.polyval(coefficients, t))) if len(real) else 0.0


@dataclass(frozen=True, eq=False)
class PointForces:
    """The forces that move points in a descent, for plots and for checks; n×d arrays.

        F_X = Σ_j c^X_ij (y_i − y_j),   F_Y = Σ_j c^Y_ij (y_i − y_j),   ∇f = −8(F_X − F_Y)

    c are the double-centred squared distances, c_ij = −2⟨x_i − x̄, x_j − x̄⟩: the data attract a
    pair with c^X_ij < 0 and repel one with c^X_ij > 0; in Y it is the other way round. Rows of c
    add up to 0, so F_X = 2X_c(X_cᵀY_c) and F_Y = 2Y_c(Y_cᵀY_c): O(nDd).

    of_data, of_points : F_X and F_Y
    """

    of_data: Array
    of_points: Array

    @property
    def descent(self) -> Array:
        """−∇f = 8(F_X − F_Y)."""
        return 8 * (self.of_data - self.of_points)


def point_forces(X: Any, Y: Numbers) -> PointForces:
    """Compute the forces of the data and of the map on every point.

    The negative gradient of `point_error` is 8(F_X − F_Y).

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    Y : array-like of shape (n_samples, n_components)
        The points.

    Returns
    -------
    PointForces
        The arrays `of_data`, `of_points` and `descent`, n×d each.

    See Also
    --------
    pair_forces : The share of each pair.

    References
    ----------
    .. [1] A. Draganov, "PCA as gradient descent", 2022.

    Examples
    --------
    >>> forces = point_forces([[0.0], [1.0], [5.0]], [[0.0], [1.0], [5.0]])
    >>> bool((forces.descent == 0).all())  # Y = X: nothing moves
    True
    """
    data, points = centred_points(X, Y)
    of_data = 2 * kernel_times(data, column_means(data), points)
    return PointForces(of_data, 2 * points @ (points.T @ points))


def pair_forces(X: Any, Y: Numbers) -> tuple[Array, Array]:
    """Compute the force of each pair of points, for few points.

    The pair (i, j) contributes c_ij(y_i − y_j) with c_ij = −2⟨x_i − x̄, x_j − x̄⟩ for the data, and
    the same with the points in place of the rows for the map.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    Y : array-like of shape (n_samples, n_components)
        The points.

    Returns
    -------
    of_data : ndarray of shape (n_samples, n_samples, n_components)
        Force on point i by the data of the pair (i, j).
    of_map : ndarray of shape (n_samples, n_samples, n_components)
        Force on point i by the map of the pair (i, j).

    Raises
    ------
    TooLarge
        If there are too many pairs.

    See Also
    --------
    point_forces : Their sums, for any number of points.

    References
    ----------
    .. [1] A. Draganov, "PCA as gradient descent", 2022.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.point_pca import pair_forces
    >>> line = np.array([[-10.0], [-0.1], [0.1], [10.0]])
    >>> of_data, of_map = pair_forces(line, line)
    >>> bool(of_data[1, 2, 0] < 0)  # the two nearest points push each other apart
    True
    """
    data, points = centred_points(X, Y)
    n = len(points)
    if n > MAX_PAIRED_POINTS:
        raise TooLarge(
            f"{n} points have {n * n} pairs; up to {MAX_PAIRED_POINTS} points are taken. "
            "point_forces gives the sums for any number"
        )
    centred = np.asarray(data.toarray() if hasattr(data, "toarray") else data, dtype=float)
    between = points[:, None, :] - points[None, :, :]
    pulls = (double_centred(centred), double_centred(points))
    return pulls[0][:, :, None] * between, pulls[1][:, :, None] * between


def double_centred(points: Array) -> Array:
    """H·E·H of the squared distances E, from the distances themselves (n×n)."""
    squares = cdist(points, points, "sqeuclidean")  # without n×n×D differences
    squares -= squares.mean(axis=1, keepdims=True)
    squares -= squares.mean(axis=0, keepdims=True)
    return np.asarray(squares)

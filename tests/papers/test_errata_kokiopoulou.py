"""Errata of the notes on Kokiopoulou et al.: each printed form against the right one."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from dualfold.data import swiss_roll
from dualfold.graph import knn
from dualfold.weights import heat_laplacian, reconstruction_weights
from tests.papers.errata import normal, shows

A = np.diag([0.0, 2.0])
TURNED = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)  # columns at 45° to the eigenvectors


def roll():
    """Points as columns, weights, Laplacian and degrees of a small graph."""
    X = swiss_roll(100, random_state=0).points
    L, degrees = heat_laplacian(knn(X, 8))
    L = L.toarray()
    return X.T, np.diag(degrees) - L, L, degrees


def test_trace_is_not_bounded_term_by_term():
    terms = np.diag(TURNED.T @ A @ TURNED)
    values = np.linalg.eigvalsh(A)
    assert terms[0] > values[0]  # ≤ fails at the first
    assert terms[1] < values[1]  # ≥ at the second
    assert abs(terms.sum() - values.sum()) < 1e-12
    for seed in range(50):  # the sums of the d smallest are ordered, as Ky Fan says
        V = np.linalg.qr(normal(5, 3, seed=seed))[0]
        M = normal(5, 5, seed=100 + seed)
        assert np.trace(V.T @ (M + M.T) @ V) >= np.linalg.eigvalsh(M + M.T)[:3].sum() - 1e-9
    shows(terms[0], values[0])


def test_restricting_a_maximum_lowers_it():
    """k = 2: λ₂ against the least xᵀAx across v₁."""
    across = TURNED[:, 1]
    second = np.linalg.eigvalsh(A)[1]
    least = across @ A @ across
    assert least <= second  # the notes print ≥
    shows(least, second)


def eigenmap():
    _, _, L, degrees = roll()
    return L, degrees, eigh(L, np.diag(degrees))[1][:, 1:3].T


def test_centred_by_degrees():
    _, degrees, Y = eigenmap()
    printed = np.abs(Y @ np.sqrt(degrees)).max()
    right = np.abs(Y @ degrees).max()
    assert np.abs(Y @ np.diag(degrees) @ Y.T - np.eye(2)).max() < 1e-9
    shows(printed, right)


def test_centred_after_scaling():
    _, degrees, Y = eigenmap()
    scaled = Y * np.sqrt(degrees)
    assert np.abs(scaled @ scaled.T - np.eye(2)).max() < 1e-9
    shows(np.abs(scaled.sum(axis=1)).max(), np.abs(scaled @ np.sqrt(degrees)).max())


def test_scaling_back():
    L, degrees, Y = eigenmap()
    normalised = L / np.sqrt(np.outer(degrees, degrees))
    U = np.linalg.eigh(normalised)[1][:, 1:3].T

    def violated(V):
        return np.abs(V @ np.diag(degrees) @ V.T - np.eye(2)).max()

    right = U / np.sqrt(degrees)
    assert np.abs(np.abs(right) - np.abs(Y)).max() < 1e-6
    shows(violated(U * np.sqrt(degrees)), violated(right))


def test_principal_directions_are_on_top():
    X, *_ = roll()
    centred = X - X.mean(axis=1, keepdims=True)
    values, vectors = np.linalg.eigh(centred @ centred.T)

    def kept(V):
        return np.sum((V.T @ centred) ** 2) / np.sum(centred**2)

    assert abs(kept(vectors[:, -2:]) - values[-2:].sum() / values.sum()) < 1e-12
    shows(kept(vectors[:, :2]), kept(vectors[:, -2:]))


def test_two_in_the_projected_cost():
    X, W, L, _ = roll()
    V = np.linalg.qr(normal(3, 2))[0]
    Y = V.T @ X
    true = np.sum(W * cdist(Y.T, Y.T, "sqeuclidean"))
    right = 2 * np.trace(V.T @ X @ L @ X.T @ V)
    assert abs(right / true - 1) < 1e-9
    shows(right / 2 / true, right / true)


def test_size_of_the_projection():
    """m is a number of points elsewhere; V multiplies points of D numbers."""
    X, _, L, degrees = roll()
    V = eigh(X @ L @ X.T, X @ np.diag(degrees) @ X.T)[1][:, :2]
    assert (V.T @ X).shape == (2, 100)
    shows(X.shape[1], len(V))


def test_as_many_neighbors_as_coordinates_and_one():
    """Each 0 beyond the first is a group of points that no neighbour list leaves."""
    points = swiss_roll(300, random_state=0).points

    def zeros(n_neighbors):
        W = reconstruction_weights(points, knn(points, n_neighbors).lists).toarray()
        residual = np.eye(300) - W
        return int(np.sum(np.linalg.eigvalsh(residual.T @ residual) < 1e-10))

    assert zeros(10) == 1
    shows(1, zeros(3))


def test_projections_are_centred_by_degrees():
    """Y1 = 0 was asked of eigenmaps; without it the answer depends on the origin."""
    X, _, L, degrees = roll()

    def least(points):
        return eigh(points @ L @ points.T, (points * degrees) @ points.T, eigvals_only=True)[0]

    def centred(points):
        return points - (points @ degrees / degrees.sum())[:, None]

    assert abs(least(centred(X + 10.0)) / least(centred(X)) - 1) < 1e-9
    shows(least(X + 10.0) / least(X), least(centred(X + 10.0)) / least(centred(X)))

"""Errata of Cunha's report: each printed form against the right one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from dualfold.errors import PointsCollapse
from dualfold.graph import knn
from dualfold.weights import (
    centred_gram,
    heat_laplacian,
    reconstruction_null_vectors,
    reconstruction_weights,
)
from tests.papers.errata import normal, shows
from tests.tools.tables import roll_points

# Columns are points, as in the report.
X = normal(3, 7)
X -= X.mean(axis=1, keepdims=True)
SCATTER = X @ X.T


def chain(n):
    """Exact unfolding of n points a unit apart: K*, its dual weights and their Laplacian."""
    y = np.arange(n) - (n - 1) / 2
    i = np.arange(1, n)
    w = i * (n - i) / 2
    B = np.diff(np.eye(n), axis=0)
    return np.outer(y, y), w, B.T @ np.diag(w) @ B


def test_size_of_the_projector():
    U = np.linalg.eigh(SCATTER)[1][:, -2:]
    P = U @ U.T
    assert np.abs(P @ P - P).max() < 1e-12
    assert (P @ X).shape == X.shape
    shows(X.shape[1], len(P))  # n × n as printed; it acts on points of d numbers


def test_sum_over_the_points():
    Y = X[:2]
    pairs = cdist(Y.T, Y.T, "sqeuclidean").sum() / 14
    assert abs(np.sum(Y**2) - pairs) < 1e-12
    shows(Y[:, 0] @ Y[:, 0], pairs)


def test_half_n_of_the_cross_terms():
    """The third line of (4), of points whose mean is not 0: else both cross terms vanish."""
    Y, n = X[:2] + 1.0, 7
    squares, cross = np.sum(Y**2), np.sum(Y.T @ Y)
    true = cdist(Y.T, Y.T, "sqeuclidean").sum() / (2 * n)
    right = (2 * n * squares - 2 * cross) / (2 * n)
    assert abs(right - true) < 1e-12
    shows(2 * n * squares / (2 * n) - 2 * cross, right)


def test_covariance_is_divided_by_n():
    a = np.linalg.eigh(SCATTER)[1][:, -1]
    true = float(np.var(a @ X))
    assert abs(a @ (SCATTER / 7) @ a - true) < 1e-12
    shows(a @ SCATTER @ a, true)


def test_covariance_of_the_first_component():
    values, vectors = np.linalg.eigh(SCATTER)
    first, a = vectors[:, -1], np.array([0.6, 0.8, 0.0])
    true = float(np.sum((first @ X) * (a @ X)))
    assert abs(values[-1] * first @ a - true) < 1e-12
    shows((a @ SCATTER @ a) * (first @ a), true)


def test_symmetric_is_not_enough_for_the_svd():
    sides = np.repeat([0, 1], 3)
    lengths = np.where(sides[:, None] == sides, 2.0, 1.0) - 2 * np.eye(6)  # paths in K₃,₃
    G = centred_gram(lengths)
    values, singular = np.linalg.eigvalsh(G), np.linalg.svd(G)[1]
    assert np.abs(np.sort(np.abs(values)) - np.sort(singular)).max() < 1e-12
    shows(singular[0], values[np.argmax(np.abs(values))])


def test_which_product_is_the_scatter():
    M = normal(6, 6, seed=4)
    M -= M.mean(axis=1, keepdims=True)

    def share(matrix):
        top = np.linalg.eigh(matrix)[1][:, -1]
        return float(np.var(top @ M) / np.var(M, axis=1).sum())

    best = np.linalg.svd(M)[1][0] ** 2 / np.sum(M**2)
    assert abs(share(M @ M.T) - best) < 1e-12
    shows(share(M.T @ M), share(M @ M.T))


def test_product_of_semidefinite_matrices():
    K, Z = np.diag([1.0, 0.0]), np.ones((2, 2))
    product = K @ Z
    assert np.trace(product) >= 0
    assert np.abs(product - product.T).max() > 0
    shows(np.linalg.eigvalsh((product + product.T) / 2)[0], np.trace(product))


def test_corner_of_the_ones_product():
    K = SCATTER + np.diag([1.0, 2.0, 3.0])
    product = K @ np.ones((3, 3))
    printed = product.copy()
    printed[2, 2] = K[0].sum()
    assert abs(np.trace(product) - K.sum()) < 1e-12
    shows(np.trace(printed), np.trace(product))


def test_index_of_the_eigenvalue():
    _, _, L = chain(6)
    values = np.linalg.eigvalsh(L)[::-1]  # λ₁ ≥ … ≥ λ_n, as in the report
    across = np.linalg.qr(np.column_stack([np.ones(6), normal(6, 5)]))[0][:, 1:]
    infimum = np.linalg.eigvalsh(across.T @ L @ across)[0]
    place = 1 + int(np.argmin(np.abs(values - infimum)))
    assert abs(values[place - 1] - infimum) < 1e-9
    shows(6 + 1, place)


def test_homogeneous_functions():
    def f(x):
        return 3 * x

    alpha, k, x = 2.0, 1, 5.0
    assert f(alpha * x) == alpha**k * f(x)
    shows(alpha**k * x, f(alpha * x))


def test_no_strictly_feasible_gram_matrix():
    """1ᵀK1 ≥ nλ_min(K): a positive definite K is not centred; Slater's point must lie in 1⊥."""
    n = 6
    K, _, _ = chain(n)
    definite = K + 0.1 * np.eye(n)
    inside = np.eye(n) - 1 / n
    ones = np.ones(n)
    assert ones @ definite @ ones >= n * np.linalg.eigvalsh(definite)[0] > 0
    assert np.linalg.eigvalsh(inside)[1] > 0.9
    # Nor there, where a clique of more than D + 1 points keeps its lengths: K is then fixed.
    clique = centred_gram(cdist(np.arange(4.0)[:, None], np.arange(4.0)[:, None]))
    assert np.linalg.matrix_rank(clique) == 1 < 3
    shows(ones @ definite @ ones, ones @ inside @ ones)


def test_dual_feasibility_points_the_other_way():
    n = 6
    K, w, L = chain(n)
    assert abs(np.trace(K) - n * (n**2 - 1) / 12) < 1e-12
    assert abs(np.linalg.eigvalsh(L)[1] - 1) < 1e-9
    assert abs(w.sum() - np.trace(K)) < 1e-12  # no gap at λ_{n−1} = 1
    nothing = 0 * w  # λ_{n−1} = 0 ≤ 1: feasible as printed, and no upper bound
    shows(nothing.sum(), w.sum())


def test_eigenvectors_with_eigenvalue_0():
    K, _, L = chain(6)
    one = np.ones(6) / np.sqrt(6)
    assert np.abs(K @ one).max() < 1e-12  # an eigenvector of K*, with eigenvalue 0
    y = K[:, 0]
    assert np.abs(L @ y - y).max() < 1e-9  # in the range of K* it is as stated
    shows(1.0, one @ L @ one)


def semicircle():
    angles = np.linspace(0, np.pi, 12)
    points = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    path = np.arange(12) * np.linalg.norm(points[1] - points[0])
    return points, np.abs(path[:, None] - path)


def test_isomap_takes_squares():
    _, path = semicircle()
    H = np.eye(12) - 1 / 12
    true = np.var(path[0]) * 12
    assert abs(np.trace(centred_gram(path)) - true) < 1e-12
    shows(np.trace(-0.5 * H @ path @ H), true)


def test_isomap_bounds_the_outputs():
    points, path = semicircle()
    inputs = cdist(points, points, "sqeuclidean").sum() / 24
    outputs = np.trace(chain(12)[0]) * path[0, 1] ** 2  # unfolded: a straight line
    isomap = (path**2).sum() / 24
    assert inputs < outputs <= isomap + 1e-12
    shows(inputs, outputs)


def test_weights_are_affine():
    """A point past the end of the segment of its neighbours: one weight is negative."""
    point, neighbors = np.array([2.0, 0.5]), np.array([[0.0, 0.0], [1.0, 0.0]])
    X = np.vstack([point, neighbors])
    w = reconstruction_weights(X, knn(X, 2).lists, ridge=0.0).toarray()[0, 1:]
    assert np.allclose(w, [-1, 2])
    convex = [np.linalg.norm(point - [share, 0]) for share in np.linspace(0, 1, 1001)]
    shows(min(convex), float(np.linalg.norm(point - w @ neighbors)))


def test_several_null_vectors():
    points = np.vstack([normal(10, 2), normal(10, 2, seed=1) + 50])
    lists = knn(points, 2).lists
    sparse = reconstruction_weights(points, lists)
    W = sparse.toarray()
    M = (np.eye(20) - W).T @ (np.eye(20) - W)
    zeros = int(np.sum(np.linalg.eigvalsh(M) < 1e-9))
    with pytest.warns(PointsCollapse):
        assert reconstruction_null_vectors(sparse, lists).shape == (20, zeros)
    shows(1, zeros)


def test_scale_of_the_embedding():
    roll = roll_points(60, random_state=0)
    W = reconstruction_weights(roll, knn(roll, 6).lists).toarray()
    v = np.linalg.eigh((np.eye(60) - W).T @ (np.eye(60) - W))[1][:, 1]
    assert abs(v.sum()) < 1e-6
    right = np.sqrt(60) * v
    assert abs(right @ right / 60 - 1) < 1e-12
    shows(v @ v / 60, right @ right / 60)


def eigenmaps():
    graph = knn(roll_points(120, random_state=0), 8)
    L, degrees = heat_laplacian(graph, width=5.0)
    return L.toarray(), degrees, np.diff(graph.lengths.indptr).astype(float)


def feasible(V, degrees):
    """Across 1 and orthonormal with respect to the weighted degrees."""
    V = V - (degrees @ V) / degrees.sum()
    return np.linalg.solve(np.linalg.cholesky(V.T @ (degrees[:, None] * V)), V.T).T


def test_degrees_are_weighted():
    L, degrees, counts = eigenmaps()
    cost = {}
    for name, B in (("printed", counts), ("right", degrees)):
        V = feasible(eigh(L, np.diag(B))[1][:, 1:3], degrees)
        cost[name] = np.trace(V.T @ L @ V)
    scaled = L / np.sqrt(np.outer(degrees, degrees))
    assert abs(cost["right"] - np.linalg.eigvalsh(scaled)[1:3].sum()) < 1e-9
    shows(cost["printed"], cost["right"])


def test_eigenvectors_are_not_of_unit_length():
    L, degrees, _ = eigenmaps()
    v = eigh(L, np.diag(degrees))[1][:, 1]
    unit = v / np.linalg.norm(v)
    assert abs(degrees @ v**2 - 1) < 1e-9
    shows(degrees @ unit**2, degrees @ v**2)


def test_last_connection_needs_no_degrees():
    K, _, L = chain(12)
    y = K[:, 0] / np.linalg.norm(K[:, 0])

    def angle(B):
        v = eigh(L, B)[1][:, 1]
        cosine = abs(y @ v) / np.linalg.norm(v)
        return float(np.degrees(np.arccos(min(cosine, 1.0))))

    assert angle(np.eye(12)) < 1e-4
    shows(angle(np.diag(np.diag(L))), round(angle(np.eye(12)), 3))

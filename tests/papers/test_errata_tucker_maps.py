"""Errata of Tucker's sections 1–5 and appendices: each printed form against the right one."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.spatial.distance import cdist

from dualfold.graph import knn, variable
from dualfold.quality import t_similarity
from dualfold.weights import centred_gram, density_laplacian, heat_laplacian
from tests.papers.errata import normal, shows
from tests.tools.tables import digit_points, roll_points

# Columns are points, as in the paper; not centred.
X = normal(3, 7) + 1.0
SQUARES = cdist(X.T, X.T, "sqeuclidean")
H = np.eye(7) - 1 / 7
GRAM = X.T @ X
CENTRED = (X @ H).T @ (X @ H)
# Path lengths of the complete bipartite graph K₃,₃: 2 within a side, 1 across.
SIDES = np.repeat([0, 1], 3)
BIPARTITE = np.where(SIDES[:, None] == SIDES, 2.0, 1.0) - 2 * np.eye(6)


def neighbors_of(points, t):
    apart = cdist(points, points, "sqeuclidean")
    np.fill_diagonal(apart, np.inf)
    return [set(row[:t]) for row in np.argsort(apart, axis=1, kind="stable")]


def test_score_is_a_count():
    points, t = digit_points(300), 10
    centred = points - points.mean(axis=0)
    flat = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    both = zip(neighbors_of(points, t), neighbors_of(flat, t), strict=True)
    printed = np.mean([len(a & b) for a, b in both])
    right = t_similarity(points, flat, t)
    assert printed > 1  # the paper's table has shares, all below 1
    # Pixels are whole numbers: a neighbour as far as the tenth counts as kept, by index it may not.
    assert 0 <= right - printed / t < 2e-3
    shows(printed, right)


def test_dimensions_end_at_512():
    table = [2, 3, 6, 12, 23, 43, 80, 149, 276, 512]

    def steps(last):
        # The last power is exact but for rounding, which the floor must not see.
        return [int(2 * (last / 2) ** (i / 9) + 1e-9) for i in range(10)]

    assert steps(512) == table
    assert steps(784) != table
    shows(steps(784)[-1], steps(512)[-1])


def test_top_singular_vector_is_no_rayleigh_maximum():
    M = np.diag([-3.0, 1.0])
    angles = np.linspace(0, np.pi, 10_001)
    x = np.stack([np.cos(angles), np.sin(angles)])
    top = np.linalg.svd(M)[2][0]

    def greatest(A):
        return float(np.max(np.sum(x * (A @ x), axis=0)))

    # Of a positive semidefinite matrix, such as M² or a covariance, they agree.
    assert abs(top @ M @ M @ top - greatest(M @ M)) < 1e-12
    shows(float(top @ M @ top), greatest(M))


def test_variances_are_eigenvalues():
    centred = X @ H
    values, vectors = np.linalg.eigh(centred @ centred.T / 7)
    variance = float(np.var(vectors[:, -1] @ X))
    assert abs(variance - values[-1]) < 1e-12
    shows(float(np.linalg.norm(vectors[:, -1])), variance)


def test_trace_of_a_square():
    M = normal(4, 4)
    P = np.diag([1.0, 1.0, 0.0, 0.0])
    kept = np.trace(M.T @ P @ M)
    error = np.linalg.norm(P @ M - M) ** 2
    assert abs(np.trace(M.T @ M) - kept - error) < 1e-12
    shows(np.trace(M @ M) - kept, error)


def test_third_term_of_the_gradient():
    n, k = 5, 2
    M, U = normal(n, n), normal(n, k, seed=1)
    step = 1e-6 * normal(n, k, seed=2)

    def third_factor_moved(by):
        return np.trace(M.T @ U @ U.T @ (U + by) @ U.T @ M)

    slope = (third_factor_moved(step) - third_factor_moved(-step)) / 2
    printed = np.sum((M.T @ U @ U.T) @ (U.T @ M).T * step)
    right = np.sum((M.T @ U @ U.T).T @ (U.T @ M).T * step)
    assert abs(right - slope) < 1e-6 * abs(slope)
    shows(printed / slope, right / slope)


def roll_weights():
    graph = knn(roll_points(300, random_state=0), 10)
    L, degrees = heat_laplacian(graph)
    return np.diag(degrees) - L.toarray(), L.toarray()


def test_eigenmaps_without_a_constraint():
    W, L = roll_weights()
    values, vectors = np.linalg.eigh(L)

    def cost(Y):
        return float(np.sum(W * cdist(Y, Y, "sqeuclidean")))

    free = cost(np.zeros((300, 2)))
    bound = cost(vectors[:, 1:3])
    assert free < bound
    assert abs(bound - 2 * values[1:3].sum()) < 1e-9
    for seed in range(20):  # no orthonormal pair across 1 does better
        other = np.linalg.qr(np.column_stack([np.ones(300), normal(300, 2, seed=seed)]))[0]
        assert cost(other[:, 1:]) > bound
    shows(free, bound)


def test_indices_of_the_laplacian_form():
    W, L = roll_weights()
    Y = normal(2, 300)
    i, j = 0, 1
    printed = np.sum(W * (np.outer(Y[i], Y[j]) - np.outer(Y[j], Y[i])))
    right = np.sum(W * ((Y[i] * Y[j])[:, None] - np.outer(Y[i], Y[j])))
    assert abs(right - (Y @ L @ Y.T)[i, j]) < 1e-9
    shows(printed, right)


def test_sides_of_the_laplacian_form():
    m = 6  # with k = m the printed product has a shape at all
    graph = knn(normal(m, 2), 2)
    L, degrees = heat_laplacian(graph)
    W, Y = np.diag(degrees) - L.toarray(), normal(m, m, seed=1)
    true = np.sum(W * cdist(Y.T, Y.T, "sqeuclidean"))
    assert abs(2 * np.trace(Y @ L @ Y.T) - true) < 1e-9
    shows(2 * np.trace(Y.T @ L @ Y), true)


def test_density_weights_off_the_edges():
    points, t = roll_points(300, random_state=0), 20
    graph = knn(points, t)
    near = np.sort(cdist(points, points), axis=1)[:, 1 : t + 1]
    spread = np.sqrt(np.sum(near**2, axis=1)) / t
    edges = graph.lengths.toarray() > 0
    D = np.where(edges, cdist(points, points) / np.sqrt(np.outer(spread, spread)), 0)
    printed = np.exp(-(D**2) / t)
    np.fill_diagonal(printed, 0)
    L, degrees = density_laplacian(graph)
    right = np.diag(degrees) - L.toarray()
    assert np.abs(np.where(edges, printed, 0) - right).max() < 1e-12
    off = ~edges & ~np.eye(300, dtype=bool)
    shows(printed[off].sum() / printed.sum(), right[off].sum() / right.sum())


def test_a_point_without_neighbors():
    t, points = 10, np.vstack([normal(100, 2), [[60.0, 0.0]]])
    near = np.sort(cdist(points, points), axis=1)[:, 1 : t + 1]
    spread = np.sqrt(np.sum(near**2, axis=1)) / t
    printed = np.minimum(np.floor(t * spread.mean() / spread), t)
    counts = variable(points, t).lists.counts
    mended = np.maximum(np.minimum(np.floor(t * spread.mean() / spread + 1e-9), t), 1)
    assert np.array_equal(counts, mended)
    shows(printed[-1], counts[-1])


def test_dense_regions_get_no_more():
    """As many as anywhere: a point ten times as dense has t_max neighbours, not 10 t_max."""
    t, rough = 18, roll_points(300, random_state=0)
    points = np.vstack([rough, rough[0] + 0.01 * normal(30, 3)])
    near = np.sort(cdist(points, points), axis=1)[:, 1 : t + 1]
    spread = np.sqrt(np.sum(near**2, axis=1)) / t
    asked = np.floor(t * spread.mean() / spread)
    counts = variable(points, t).lists.counts
    assert asked.max() > 10 * t
    assert np.array_equal(counts, np.minimum(np.maximum(asked, 1), t))
    shows(asked.max(), counts.max())


def strain(K, Y):
    return float(np.linalg.norm(K - Y @ Y.T))


def test_spectral_coordinates_do_not_minimise_stress():
    points = roll_points(80, random_state=1)
    apart = cdist(points, points)
    K = centred_gram(apart)
    values, vectors = np.linalg.eigh(K)
    Y = spectral = vectors[:, -2:] * np.sqrt(values[-2:])
    off = ~np.eye(80, dtype=bool)
    for _ in range(200):  # majorisation (Guttman's transform): stress never grows
        now = cdist(Y, Y)
        B = -np.divide(apart, now, out=np.zeros_like(now), where=off)
        np.fill_diagonal(B, -B.sum(axis=1))
        Y = B @ Y / 80

    def stress(Z):
        return float(np.sum((cdist(Z, Z) - apart) ** 2))

    assert stress(Y) < stress(spectral)
    assert strain(K, spectral) < strain(K, Y)  # what it does minimise, by Eckart and Young
    assert abs(strain(K, spectral) - np.linalg.norm(values[:-2])) < 1e-9
    shows(stress(spectral), stress(Y))


def test_isomap_by_singular_values():
    K = centred_gram(BIPARTITE)
    values, vectors = np.linalg.eigh(K)
    assert abs(values[0]) > values[-1]  # the largest in size is negative
    u, s, _ = np.linalg.svd(K)
    by_singular = strain(K, u[:, :1] * np.sqrt(s[0]))
    by_eigen = strain(K, vectors[:, -1:] * np.sqrt(values[-1]))
    assert by_singular > strain(K, np.zeros((6, 1))) > by_eigen
    shows(by_singular, by_eigen)


def test_gram_from_distances_sign():
    i, j = 0, 1
    printed = (GRAM[i, i] + GRAM[j, j] + SQUARES[i, j]) / 2
    right = (GRAM[i, i] + GRAM[j, j] - SQUARES[i, j]) / 2
    assert abs(right - X[:, i] @ X[:, j]) < 1e-12
    shows(printed, right)


def test_no_one_over_m():
    right = -0.5 * H @ SQUARES @ H
    assert np.abs(right - CENTRED).max() < 1e-12
    assert np.abs(right - centred_gram(np.sqrt(SQUARES))).max() < 1e-12
    shows(np.trace(CENTRED) / 7, np.trace(right))


def test_squared_distances_are_meant():
    printed = -0.5 * H @ np.sqrt(SQUARES) @ H
    right = -0.5 * H @ SQUARES @ H
    assert np.abs(right - CENTRED).max() < 1e-12
    shows(np.abs(printed - CENTRED).max(), np.abs(right - CENTRED).max())


def test_squared_distances_are_no_covariance():
    least = eigh(SQUARES, eigvals_only=True)[0]
    assert abs(np.trace(SQUARES)) < 1e-12
    assert least < 0
    shows(least, eigh(centred_gram(np.sqrt(SQUARES)), eigvals_only=True)[0])


def test_double_centring_halfway():
    """The line of C.3 that puts K_tl where K_tt is meant."""
    m, i, j = 7, 0, 1
    k = np.diag(GRAM)
    rows = k[i] + k - SQUARES[i] + k + k[j] - SQUARES[:, j]
    front = (k[i] + k[j] - SQUARES[i, j]) / 2
    last = {
        "printed": (GRAM + k[None, :] - SQUARES).sum(axis=1),
        "right": (k[:, None] + k[None, :] - SQUARES).sum(axis=1),
    }
    value = {name: front - np.sum(rows - part / m) / (2 * m) for name, part in last.items()}
    assert abs(value["right"] - CENTRED[i, j]) < 1e-12
    shows(value["printed"], value["right"])

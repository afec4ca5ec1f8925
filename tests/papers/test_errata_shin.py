"""Errata of Shin's lectures: each printed form against the right one."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from tests.papers.errata import normal, shows


def test_scaling_one_row():
    A = normal(3, 3)
    scaled = A * np.array([2.0, 1.0, 1.0])[:, None]
    ratio = np.linalg.det(scaled) / np.linalg.det(A)
    assert abs(np.linalg.det(2 * A) / np.linalg.det(A) - 8) < 1e-9
    shows(2.0**3, ratio)


def test_real_eigenvalues_do_not_make_the_trace():
    c, s = np.cos(np.pi / 3), np.sin(np.pi / 3)
    A = np.array([[c, -s], [s, c]])
    values = np.linalg.eigvals(A)
    real = values[np.abs(values.imag) < 1e-12].real
    assert abs(values.sum() - np.trace(A)) < 1e-12
    shows(real.sum(), values.sum().real)


def test_singular_matrices_have_eigenvalue_0():
    A = np.array([[1.0, 2.0], [2.0, 4.0]])
    values = np.linalg.eigvalsh(A.T @ A)
    assert values.min() > -1e-12
    shows(2, int(np.sum(values > 1e-9)))


def test_stretching_is_not_the_same_for_all():
    A, x = normal(3, 3), np.array([1.0, 0.0, 0.0])
    values, vectors = np.linalg.eigh(A.T @ A)
    v = vectors[:, -1]
    assert abs(np.sum((A @ v) ** 2) - values[-1]) < 1e-12  # for eigenvectors it holds
    shows(values[-1], np.sum((A @ x) ** 2))


def test_factors_need_not_be_rotations():
    A = np.diag([2.0, -1.0])
    u, _, vt = np.linalg.svd(A)
    assert np.linalg.det(A) < 0
    shows(1, np.linalg.det(u) * np.linalg.det(vt))


def test_negative_eigenvalues_are_no_singular_values():
    A = np.array([[0.0, 1.0], [1.0, 0.0]])
    values = np.linalg.eigvalsh(A)
    singular = np.linalg.svd(A)[1]
    assert np.allclose(np.sort(np.abs(values)), np.sort(singular))
    shows(singular.min(), values.min())


def test_stochastic_gradient_is_scaled():
    slopes, size = normal(6), 2
    full = slopes.sum()
    batches = [slopes[list(batch)].sum() for batch in combinations(range(6), size)]
    printed = np.mean(batches)
    right = np.mean([6 / size * batch for batch in batches])
    assert abs(right - full) < 1e-12
    shows(printed / full, right / full)


def test_convex_after_an_affine_map():
    """f(u, v) = u² − v² is not convex, f(x, 0) = x² is."""

    def f(u, v):
        return u**2 - v**2

    def bend(g):
        """Mean of the ends less the middle: not negative for convex functions."""
        return (g(-1.0) + g(1.0)) / 2 - g(0.0)

    after, before = bend(lambda x: f(x, 0.0)), bend(lambda v: f(0.0, v))
    assert after > 0 > before
    shows(after, before)


def test_dual_of_a_quadratic_program():
    """min ½x² − 3x with ½x ≤ ¼, so x = ½; A, b, c, Q are numbers."""
    Q, c, A, b = 1.0, -3.0, 0.5, 0.25
    x = np.linspace(-5, b / A, 100_001)
    least = np.min(Q * x**2 / 2 + c * x)
    multipliers = np.linspace(0, 10, 100_001)
    slope = c + A * multipliers
    right = np.max(-(slope**2) / Q / 2 - b * multipliers)
    printed = np.max(-(slope**2) * A / Q / 2 - b * multipliers)
    assert abs(right - least) < 1e-6
    assert printed > least + 0.1  # no lower bound any more
    shows(printed, right)


def covariance():
    M = normal(4, 30) * np.array([[3.0], [2.0], [1.0], [0.5]])
    M -= M.mean(axis=1, keepdims=True)
    return M @ M.T / 30


def test_next_direction_has_the_next_eigenvalue():
    """Across b₁ and b₂ (k = 2), as in the Lagrangian: the third eigenvalue, not the second."""
    S = covariance()
    values, vectors = np.linalg.eigh(S)
    rest = vectors[:, :2]  # what is left across the two largest
    best = np.linalg.eigvalsh(rest.T @ S @ rest)[-1]
    assert abs(best - values[1]) < 1e-12
    shows(values[-2], best)


def test_each_direction_has_its_eigenvalue():
    S = covariance()
    values, vectors = np.linalg.eigh(S)
    b, x = vectors[:, -1], np.array([0.5, 0.5, 0.5, 0.5])
    true = (S @ b) @ x
    assert abs(values[-1] * b @ x - true) < 1e-12
    shows(values[-2] * b @ x, true)


def test_rank_of_centred_points():
    M = normal(12, 5)
    M -= M.mean(axis=1, keepdims=True)
    rank = np.linalg.matrix_rank(M @ M.T / 5)
    assert 12 - rank == 12 - 5 + 1  # the count of zeros on the same slide is right
    line = np.outer(np.ones(12), np.arange(5.0) - 2)  # no duplicates, and rank 1
    assert np.linalg.matrix_rank(line) == 1
    shows(5, int(rank))


def test_full_memory_never_rests():
    """The lecture's example and step: without loss of speed the point swings for ever."""
    A, b = np.array([[2.0, 1.0], [1.0, 20.0]]), np.array([5.0, 3.0])

    def distance(memory):
        now = before = np.array([-3.0, -1.0])
        for _ in range(1000):
            now, before = now - 0.085 * (A @ now - b) + memory * (now - before), now
        return float(np.linalg.norm(now - np.linalg.solve(A, b)))

    shows(distance(1.0), distance(0.5))

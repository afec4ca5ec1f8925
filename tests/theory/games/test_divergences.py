"""Divergences by their definitions: dual squares, distances, slopes."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.theory.games import (
    Ball,
    Box,
    Euclidean,
    Everywhere,
    Gauge,
    Indicator,
    KullbackLeibler,
    L1Ball,
    Simplex,
    Spectrahedron,
    VonNeumann,
)

FREE = Indicator(Everywhere())


def test_dual_squares_by_the_set():
    slope = np.array([1.0, -3.0, 2.0])
    entropy = KullbackLeibler()
    assert entropy.dual_square(Indicator(Simplex(2.0)), slope) == 18.0
    assert entropy.dual_square(Indicator(L1Ball(0.5)), slope) == 4.5
    assert entropy.dual_square(Indicator(Box(0.0, 2.0)), slope) == 28.0
    assert entropy.dual_square(Indicator(Everywhere()), slope) == np.inf
    assert Euclidean().dual_square(FREE, slope) == 14.0
    assert Gauge(Ball(2.0)).dual_square(FREE, slope) == 56.0
    assert Gauge(Ball(2.0, np.ones(3))).dual_square(FREE, slope) == np.inf
    assert Gauge(Ball(2.0)).distance(np.array([3.0, 4.0]), np.zeros(2)) == pytest.approx(3.125)
    np.testing.assert_allclose(entropy.slope(np.array([2.0, 1.0]), np.array([1.0, 2.0])),
                               [np.log(2), -np.log(2)])  # fmt: skip


def test_matrix_entropy_steps_on_matrices_alone():
    with pytest.raises(InvalidInput, match="closed form on Spectrahedron and Everywhere"):
        VonNeumann().step(Indicator(Simplex()), np.eye(2), 1.0, np.eye(2))


def test_matrix_entropy_bounds_a_slope_by_its_largest_eigenvalue():
    slope = np.array([[0.0, 3.0], [3.0, 0.0]])  # eigenvalues ±3
    for total in (0.5, 1.0, 4.0):
        found = VonNeumann().dual_square(Indicator(Spectrahedron(total)), slope)
        assert found == pytest.approx(9 * total)

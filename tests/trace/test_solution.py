"""Solutions: the signs of eigenvectors."""

from __future__ import annotations

import numpy as np

from tests.trace.door import product, with_signs


def test_signs_are_set_by_the_largest_entry_and_the_first_of_equals():
    V = np.array([[1.0, -1.0, 0.5], [-3.0, 1.0, -2.0], [2.0, 1.0, 2.0 * (1 - 1e-9)]])
    np.testing.assert_array_equal(with_signs(V), V * [-1, -1, -1])
    np.testing.assert_array_equal(with_signs(-V), V * [-1, -1, -1])
    assert with_signs(np.zeros((3, 0))).shape == (3, 0)
    np.testing.assert_array_equal(with_signs(np.zeros((2, 1))), np.zeros((2, 1)))


def test_signs_are_set_in_matrices_of_any_size():
    np.testing.assert_array_equal(with_signs(np.array([[-2.0]])), [[2.0]])
    assert with_signs(np.zeros((0, 2))).shape == (0, 2)
    assert product(np.zeros((0, 0)), np.zeros((0, 2))).shape == (0, 2)

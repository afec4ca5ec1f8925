"""Centred Gram matrices, in place and symmetric."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold.weights.gram import centred_gram


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_in_place_and_symmetric(dtype):
    X = np.random.default_rng(0).standard_normal((700, 3)) + 5
    D = cdist(X, X).astype(dtype)
    H = np.eye(700) - 1 / 700
    exact = -0.5 * H @ np.square(D.astype(float)) @ H
    apart = centred_gram(D)
    inside = centred_gram(D, out=D)
    assert inside is D
    assert inside.dtype == dtype
    np.testing.assert_array_equal(apart, inside)
    np.testing.assert_array_equal(inside, inside.T)
    np.testing.assert_allclose(inside, exact, atol=200 * np.finfo(dtype).eps)

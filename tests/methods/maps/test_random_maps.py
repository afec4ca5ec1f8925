"""Random maps keep squared lengths on average."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from tests.methods.door import gaussian_map, orthogonal_map, sparse_map

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("draw", [gaussian_map, orthogonal_map, sparse_map])
def test_random_maps_keep_squared_lengths_on_average(draw):
    x = RNG.standard_normal(50)
    squares = [
        np.sum(draw(50, 10, random_state=seed).encode(x[None]) ** 2) / (x @ x)
        for seed in range(2000)
    ]
    # The spread of one ratio is about √(2/10) or less (somewhat more for sparse maps).
    assert abs(np.mean(squares) - 1) < 5 * 0.5 / np.sqrt(2000)


def test_shapes_of_random_maps():
    rows = orthogonal_map(60, 12, random_state=0).components
    np.testing.assert_allclose(rows @ rows.T, 5 * np.eye(12), atol=1e-12)
    thin = sparse_map(10_000, 50, random_state=0).components
    assert thin.nnz == pytest.approx(50 * 100, rel=0.1)
    np.testing.assert_allclose(np.abs(thin.data), np.sqrt(100 / 50))
    assert abs(np.sign(thin.data).mean()) < 0.06
    half = sparse_map(100, 50, density=0.5, random_state=0).components
    assert half.nnz == pytest.approx(2500, rel=0.1)
    again = sparse_map(10_000, 50, random_state=0).components
    assert (thin != again).nnz == 0
    with pytest.raises(InvalidInput, match="orthonormal"):
        orthogonal_map(5, 6)
    with pytest.raises(InvalidInput, match="density"):
        sparse_map(5, 6, density=2)

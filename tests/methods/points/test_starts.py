"""Starts of a descent: principal components, or given points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold import PCA
from tests.methods.door import principal_points

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5))


def same_up_to_signs(one, two, tolerance=1e-6):
    np.testing.assert_allclose(np.abs(one), np.abs(two), atol=tolerance)


def test_principal_components_of_very_wide_rows():
    """With more columns than rows they come from the products of rows."""
    wide = RNG.normal(size=(12, 3_000)) * np.geomspace(1, 1e-2, 3_000)
    for rows in (wide, sp.csr_array(wide)):
        found = principal_points(rows, 2)
        same_up_to_signs(found, PCA(n_components=2).fit_transform(wide), 1e-8)
    assert not principal_points(wide[:1], 2)[:, 1:].any()

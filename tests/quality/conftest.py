"""A table and a map of it that measures are compared on."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def pair():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((160, 12))
    return X, 3 * X[:, :2] + 0.5 * rng.standard_normal((160, 2))

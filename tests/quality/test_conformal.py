"""Conformal p-values: how many neighbours there may be."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.quality.conformal import conformal_p_values


def test_neighbours_are_fewer_than_the_old_rows():
    old = np.random.default_rng(0).normal(size=(6, 2))
    assert conformal_p_values(old, old[:1], n_neighbors=5).shape == (1,)
    for wrong in (0, 6):
        with pytest.raises(InvalidInput, match="must be from 1 to 5, fewer than the 6 old rows"):
            conformal_p_values(old, old[:1], n_neighbors=wrong)

"""Rising curves and the stress that is left after them."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality.pair_measures import pool_violators

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))


def test_a_rising_curve_of_nothing_is_nothing():
    none = np.empty(0)
    assert [len(part) for part in pool_violators(none, none, none)] == [0, 0, 0]


@pytest.mark.parametrize("measure", [quality.stress, quality.nonmetric_stress])
def test_distances_need_two_points(measure):
    with pytest.raises(InvalidInput, match="at least two points"):
        measure(X[:1], X[:1])

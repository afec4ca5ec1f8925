"""What descents on points and directions refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import PointPCA
from dualfold.errors import InvalidInput
from dualfold.theory.point_pca.direction_descent import averaged_directions
from dualfold.theory.point_pca.point_descent import centred_points

X = np.random.default_rng(0).normal(size=(12, 3))
REFUSALS = {
    "rounds=0 must be at least 1": lambda: averaged_directions(X, 2, rounds=0),
    "an array of 12 rows": lambda: centred_points(X, X[:3]),
    "numbers up to 1e+70": lambda: PointPCA(2, init=np.full((12, 2), 1e164)).fit(X),
    "its shape is (12,)": lambda: PointPCA(2, init=np.ones(12)).fit(X),
    "its shape is (0, 0)": lambda: PointPCA(2, init=[["a", "b"]] * 12).fit(X),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)

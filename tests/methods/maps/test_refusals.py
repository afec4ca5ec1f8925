"""What maps of new rows refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.methods.maps.linear_map import LinearMap
from dualfold.methods.maps.local_map import LocalDistancesMap
from dualfold.methods.maps.random_maps import orthogonal_map, random_map, sparse_map

X = np.random.default_rng(0).normal(size=(12, 3))
REFUSALS = {
    "have 2 coordinates, this map was made for 1": lambda: LinearMap(
        np.zeros(3), np.ones((1, 3))
    ).decode(X[:, :2]),
    "these are sparse": lambda: LocalDistancesMap(X, X, 2, 1e-3)(sp.csr_array(X)),
    "4 orthonormal directions": lambda: orthogonal_map(3, 4),
    "a share above 0 and at most 1": lambda: sparse_map(3, 2, density=1.5),
    "both must be whole numbers, 1 or more": lambda: random_map(0, 2),
    "from 3 features to 'degree' components": lambda: random_map(3, "degree"),
    "'gaussian', 'orthogonal' or 'sparse'": lambda: random_map(3, 2, kind="orthonormal"),
    "maps have none": lambda: random_map(3, 2, density=0.5),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_the_kinds_that_a_refusal_lists_are_there():
    for kind in ("gaussian", "orthogonal", "sparse"):
        assert random_map(4, 2, kind=kind, random_state=0)(np.eye(4)).shape == (4, 2)

"""What problems of neighbour maps refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.methods.points.neighbor_map.problem import NeighborProblem, neighbor_problem

RING = sp.csr_array((np.full(4, 0.25), (np.arange(4), (np.arange(4) + 1) % 4)), shape=(4, 4))
RING.indices, RING.indptr = RING.indices.astype(np.int32), RING.indptr.astype(np.int32)
REFUSALS = {
    "must be a positive number": lambda: NeighborProblem(RING, 2, -1.0),
    "rounding exceeds 1": lambda: NeighborProblem(RING, 2, 1e100),
    "at most 3 coordinates": lambda: NeighborProblem(RING, 4, 1.0),
    "weights must be positive and finite": lambda: neighbor_problem(
        -RING, n_components=2, spread=1.0
    ),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)

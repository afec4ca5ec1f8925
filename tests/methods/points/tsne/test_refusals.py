"""What problems and grids of t-SNE refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.methods.points.tsne.grid import Grid
from dualfold.methods.points.tsne.problem import TsneProblem

RING = sp.csr_array((np.full(4, 0.25), (np.arange(4), (np.arange(4) + 1) % 4)), shape=(4, 4))
RING.indices, RING.indptr = RING.indices.astype(np.int32), RING.indptr.astype(np.int32)
REFUSALS = {
    "too wide for a grid": lambda: Grid(np.array([[0.0, 0.0], [1e9, 1e9]])),
    "32-bit indices": lambda: TsneProblem(sp.csr_array(RING, dtype=np.float32)),
    "at least 2 points; they are of 1": lambda: TsneProblem(RING[:1, :1]),
    "attraction=0 must be above 0": lambda: TsneProblem(RING, attraction=0),
    "attraction=inf must be above 0": lambda: TsneProblem(RING, attraction=np.inf),
    "must be an array of 4 rows": lambda: TsneProblem(RING).checked_points(RING),
    "n_components=0 must be at least 1": lambda: TsneProblem(RING, count=0),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)

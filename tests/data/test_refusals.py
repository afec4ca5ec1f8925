"""What examples, tables and columns refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dualfold.data import Reading, helix, prepare, swiss_roll
from dualfold.data.data_sets import example_table
from dualfold.data.encoding import category
from dualfold.data.scales import standard_of
from dualfold.errors import InvalidInput

X = np.random.default_rng(0).normal(size=(12, 3))
REFUSALS = {
    "rows=0 must be 1 or more": lambda: example_table("roll", 0),
    "height must be at most": lambda: swiss_roll(5, height=np.nan),
    "radius must be at most": lambda: helix(5, radius=np.inf),
    "noise is a standard deviation": lambda: helix(5, noise=np.inf),
    "a whole number from 0 on": lambda: swiss_roll(5, random_state=-1),
    "is no example": lambda: example_table("bread"),
    "the data frame has no rows": lambda: prepare(pd.DataFrame({"a": []})),
    "is about files": lambda: prepare(pd.DataFrame({"a": [1.0]}), Reading(separator=",")),
    "would fill a sparse matrix": lambda: standard_of(sp.csr_array(X)),
    "it names the rows": lambda: category("a", [f"w{k}" for k in range(9_999)]),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)

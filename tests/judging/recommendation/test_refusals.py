"""What recommendations refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.judging.recommendation import intrinsic_dimension, neighbor_scan, recommend
from dualfold.quality.dimension_estimates import levina_bickel

X = np.random.default_rng(0).normal(size=(60, 4))
REFUSALS = {
    "'umap' is none of them": lambda: recommend(X, methods=("pca", "umap")),
    "it is ()": lambda: recommend(X, methods=()),
    "'p' is none of them": lambda: recommend(X, methods="pca"),
    "needs 4 rows or more": lambda: intrinsic_dimension(X[:3]),
    "a whole number from 0 on": lambda: neighbor_scan(X, random_state=-1),
    "must be 3 or more": lambda: levina_bickel(X, 2),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_four_rows_have_an_intrinsic_dimension():
    assert intrinsic_dimension(X[:4]).value >= 1


def test_a_scan_takes_lists_of_rows():
    assert str(neighbor_scan(X.tolist())) == str(neighbor_scan(X))

"""What searches and attachments refuse: each refusal says what was needed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.graph import knn, nearest, present_nearest
from dualfold.graph.attachment import attach

X = np.random.default_rng(0).normal(size=(12, 3))
DISTANCES = np.linalg.norm(X[:, None] - X[None], axis=-1)
REFUSALS = {
    "for new points pass coordinates": lambda: nearest(
        DISTANCES, 3, queries=X, metric="precomputed"
    ),
    "needs metric='euclidean'": lambda: nearest(X, 3, metric="cosine", search="blocked"),
    "given without a rule": lambda: attach(replace(knn(X, 4), kind="given"), X),
    "distances must be finite": lambda: knn(DISTANCES * np.nan, 3, metric="precomputed"),
    "must be between 1 and 11 for 12 rows": lambda: present_nearest(X, 12),
    "double precision has to round": lambda: present_nearest(X.astype(np.longdouble) / 3, 2),
    "holds infinite numbers": lambda: present_nearest(np.where(X > 1, np.inf, X), 2),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)

"""What weights refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold import methods
from dualfold.errors import InvalidInput
from dualfold.graph import knn
from dualfold.weights import affinity, reconstruction_weights

X = np.random.default_rng(0).normal(size=(20, 3))
GRAPH = knn(X, 5)
REFUSALS = {
    "alpha=nan is a density exponent": lambda: affinity(GRAPH, alpha=np.nan),
    "n_neighbors=-1 must be 1 or more": lambda: affinity(GRAPH, weights="density", n_neighbors=-1),
    "reg=inf must be": lambda: reconstruction_weights(X, GRAPH.lists, ridge=np.inf),
    "reg=nan must be": lambda: methods.modified_lle(GRAPH, ridge=np.nan),
    "many weights are equally good": lambda: methods.modified_lle(
        knn(X[:, :1], 7), n_components=1, ridge=0.0
    ),
    "reg=-1.0 must be": lambda: methods.lle(GRAPH, ridge=-1.0),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_reflections_by_nothing_are_left_out_whatever_the_tolerance():
    line = knn(np.arange(12.0)[:, None], 4)
    F = methods.modified_lle(line, n_components=1, modified_tol=0.0).A
    assert np.isfinite(F @ np.ones(12)).all()


def test_a_width_too_narrow_for_every_edge_is_refused():
    with pytest.raises(InvalidInput, match="too narrow"):
        methods.diffusion_maps(GRAPH, width=1e-4)

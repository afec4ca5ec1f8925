"""What unfolding problems, certificates and solvers refuse: each says what was needed."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.unfolding import UnfoldingProblem
from dualfold.unfolding.certificate import certify_unfolding
from dualfold.unfolding.solvers.landmark import landmark
from dualfold.unfolding.solvers.low_rank import low_rank
from dualfold.unfolding.solvers.unfolder import elastic

X = np.random.default_rng(0).normal(size=(12, 3))
CHAIN = UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])


def chain(edges=((0, 1), (1, 2)), squared=(1.0, 1.0), masses=None):
    return UnfoldingProblem(3, edges, squared, masses=masses)


REFUSALS = {
    "as many squared lengths": lambda: chain(squared=[1.0]),
    "outside 0…2": lambda: chain(edges=[[0, 1], [1, 7]]),
    "given once as i < j": lambda: chain(edges=[[1, 2], [0, 1]]),
    "3 positive numbers up to 1e30": lambda: chain(masses=[1.0, 1.0]),
    "3 rows of points and 2 weights": lambda: certify_unfolding(CHAIN, X[:2], [1.0, 1.0]),
    "from 0 to below 1": lambda: certify_unfolding(CHAIN, X[:3], [1.0, 1.0], most_relaxed=1.0),
    "is for equal lengths": lambda: elastic(CHAIN),
    "must be at least 1; given were 0 and 1": lambda: landmark(
        CHAIN, n_landmarks=0, n_directions=1
    ),
    "1 point was given": lambda: low_rank(UnfoldingProblem(1, np.empty((0, 2), int), [])),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_says_what_was_needed(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)

"""What players, losses and sets refuse: each refusal says what was needed."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.games import (
    FTL,
    Ball,
    EasiestBend,
    Everywhere,
    FTLPlus,
    HalfSquare,
    Indicator,
    KullbackLeibler,
    LargestAffine,
    Logistic,
    Product,
    Simplex,
    learn,
)
from tests.theory.games.door import Flattened, doubles

X = np.random.default_rng(0).normal(size=(12, 3))
HALVES = np.array([0.5, 0.5])
SHARES = Indicator(Simplex())
REFUSALS = {
    "must have rows and columns": lambda: LargestAffine(np.ones(3)),
    "leave double precision; multiply them by 2^568": lambda: Logistic(
        X * 2.0**-570, X[:, 0] * 0 + 1
    ),
    "2 offsets, or one for all": lambda: LargestAffine(np.eye(2), np.ones(3)),
    "merge points at distance 0 first": lambda: EasiestBend(3, [[0, 1]], [0.0]),
    "cannot share 3 coordinates": lambda: Product((Simplex(), Simplex()), (1, 1)).project(X[0]),
    "is 'loss' or 'slope'": lambda: learn(FTL(SHARES, HALVES), [HALVES], shown="value"),
    "after it has seen the loss": lambda: learn(FTLPlus(SHARES, HALVES), [HALVES], shown="slope"),
    "outside of its set": lambda: learn(FTLPlus(SHARES, 3 * HALVES), [HALVES]),
    "is empty": lambda: learn(FTLPlus(SHARES, HALVES), []),
    "where an opponent chooses": lambda: learn(FTLPlus(SHARES, HALVES), lambda past: HALVES),
    "is one function": lambda: learn(FTLPlus(SHARES, HALVES), LargestAffine(np.eye(2))),
    "the shape of the player's points": lambda: learn(FTLPlus(SHARES, HALVES), [X[0]]),
    "there are 1 weights and a round 2": lambda: learn(
        FTLPlus(SHARES, HALVES), [HALVES, HALVES], weights=[1.0]
    ),
    "the rest is not convex": lambda: Flattened(HalfSquare(2.0), 4.0),
    "no closed form on Ball": lambda: KullbackLeibler().step(
        Indicator(Ball(1.0)), HALVES, 1.0, HALVES
    ),
    "needs a bounded set": lambda: Everywhere().minimiser(HALVES),
    "that of round 1 is -1": lambda: learn(FTLPlus(SHARES, HALVES), [HALVES], weights=[-1.0]),
}


@pytest.mark.parametrize("words", REFUSALS)
def test_a_refusal_says_what_was_needed(words):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[words]()
    assert words in str(refused.value)


def test_integers_that_no_double_holds_are_refused():
    for exact in ([2**53, -(2**53)], [2**53 + 2], [True, False], np.array([2.0**60])):
        np.testing.assert_array_equal(doubles(exact, "weights"), np.asarray(exact, dtype=float))
    for wrong in ([2**53 + 1], [1, -(2**53) - 1], np.array([2**64 - 1], dtype=np.uint64)):
        with pytest.raises(InvalidInput, match="no double holds"):
            doubles(wrong, "weights")

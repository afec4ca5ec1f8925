"""Maps on which every place is the true one plus noise: no point stands at a random place."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dualfold
from tests.judging.door import EuclideanSpace, reliability, two_groups


def p_values(X: np.ndarray, Y: np.ndarray, seed: int) -> np.ndarray:
    scores = reliability(EuclideanSpace(X, 1), EuclideanSpace(Y, 1), seed, places=2_000)
    return scores.p_values


def with_noise(n: int, noise: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, n, 32])
    X = rng.standard_normal((n, 2))
    return X, X + noise * rng.standard_normal((n, 2))


@pytest.mark.parametrize("noise", [0.5, 1.5, 3.0])
def test_no_point_is_dubious_for_its_noise(noise):
    """At most 5 % of the maps may have one; more than 4 of 16 has a chance below 0.2 % then."""
    called = [
        two_groups(p_values(*with_noise(100, noise, seed), seed)).dubious for seed in range(16)
    ]
    assert sum(one.any() for one in called) <= 4
    assert np.mean(called) <= 0.05


def test_an_audit_says_that_places_with_noise_and_random_ones_look_alike():
    X, Y = with_noise(150, 1.5, 1)
    found = dualfold.audit(X, Y, n_jobs=1)
    assert not found.dubious.any()
    assert "Which points are misplaced cannot be told" in found.verdict
    assert "No point is dubious" not in found.verdict
    assert "could not be called misplaced" in found.paragraph
    stated = json.loads(json.dumps(found.to_dict(), allow_nan=False))["dubious"]
    assert stated["can_tell"] is False
    # the share of random places that are as good, by another count of the same scores
    scores = found.reliability
    as_good = np.mean(scores.random[None] < scores.scores[:, None])
    equal = np.mean(scores.random[None] == scores.scores[:, None])
    assert abs(stated["random_as_good"] - (as_good + equal / 2)) < 1e-3


def test_a_right_map_and_a_random_one_have_words_of_their_own():
    X, Y = with_noise(1_000, 0.0, 0)
    right = two_groups(p_values(X, Y, 0))
    assert right.can_tell
    assert not right.dubious.any()
    mixed = Y[np.random.default_rng(1).permutation(len(Y))]
    found = dualfold.audit(X, mixed, n_jobs=1)
    assert found.model.is_random
    assert "All 1,000 points are dubious" in found.verdict
    assert abs(found.model.random_as_good - 0.5) < 0.05


def test_exchanged_points_are_found_on_a_map_with_some_noise():
    """Half of them at this noise: the others stand where noise would lead, too."""
    called, false = [], []
    for seed in range(3):
        X, Y = with_noise(600, 0.3, seed)
        rows = np.random.default_rng(seed).permutation(600)[:30]
        Y[rows] = Y[np.roll(rows, 1)]
        dubious = two_groups(p_values(X, Y, seed)).dubious
        called.append(dubious[rows].mean())
        false.append(np.delete(dubious, rows).mean())
    assert np.mean(called) > 0.35
    assert np.mean(false) < 0.005

"""A thin section is a border only where the density rises from it into both groups."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dualfold
from dualfold.graph import nearest
from tests.judging.door import Valley, valley_between


def core_in_shell(seed: int, n: int = 600, width: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """One hill: half of the rows are a normal cloud, half one of a thirtieth of its width."""
    rng = np.random.default_rng([seed, 41])
    kinds = np.repeat([0, 1], n // 2)
    return rng.standard_normal((n, width)) * np.where(kinds, 1 / 30, 1.0)[:, None], kinds


def dense_ends(seed: int, n: int = 600) -> tuple[np.ndarray, np.ndarray]:
    """Two groups with a gap, each densest where it faces the other."""
    rng = np.random.default_rng([seed, 42])
    kinds = np.repeat([0, 1], n // 2)
    along = (2 * kinds - 1) * (0.15 + rng.exponential(size=n))
    return np.stack([along, 0.5 * rng.standard_normal(n)], axis=1), kinds


def two_clouds(seed: int, width: int, apart: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, 43])
    kinds = np.repeat([0, 1], 200)
    return rng.standard_normal((400, width)) + apart * np.outer(kinds, np.eye(width)[0]), kinds


def between(X: np.ndarray, kinds: np.ndarray, unit: float = 1.0) -> Valley:
    near = nearest(X, 15)
    sides = (np.flatnonzero(kinds == kind) for kind in (0, 1))
    return valley_between(near.indices, *sides, 1, radii=unit * near.distances[:, -1])


def test_a_core_in_its_shell_has_no_border():
    for seed in range(5):
        found = between(*core_in_shell(seed))
        assert replace(found, rise=np.inf).is_present  # thin enough it is
        assert found.rise < 0
        assert not found.is_present


def test_a_map_that_draws_a_core_beside_its_shell_has_no_groups():
    X, kinds = core_in_shell(0)
    found = dualfold.audit(X, X[:, :2] / X[:, :2].std() + 20.0 * kinds[:, None])
    assert len(found.groups) == 2
    assert "group" not in {one.verdict for one in found.groups}


@pytest.mark.parametrize(("width", "apart"), [(2, 5.0), (10, 5.0), (50, 6.0)])
def test_two_clouds_keep_their_border(width, apart):
    assert all(between(*two_clouds(seed, width, apart)).is_present for seed in range(5))


def test_groups_that_are_densest_at_a_gap_keep_their_border():
    found = [between(*dense_ends(seed)) for seed in range(5)]
    assert any(one.links for one in found)
    assert all(one.is_present for one in found)


def test_only_ratios_of_lengths_count():
    X, kinds = two_clouds(0, 3, 4.0)
    X[:40] = X[0]  # their links have no length
    rises = [between(X, kinds, unit).rise for unit in (1e-200, 1.0, 1e200)]
    assert np.isfinite(rises[1])
    assert np.allclose(rises, rises[1], rtol=1e-6)

"""Weights in an audit: weighted shares and means, and never more power than without them."""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from dualfold.errors import InvalidInput
from dualfold.quality import t_similarity
from tests.judging.door import EuclideanSpace, LinkedGroups, MapGroups, _inside, nearness


def three_groups(each: int, seed: int = 0) -> np.ndarray:
    """Normal clouds in 3 dimensions whose means are equally far apart."""
    return np.random.default_rng(seed).normal(size=(3 * each, 3)) + np.repeat(
        9 * np.eye(3), each, axis=0
    )


X = three_groups(40)
Y = X[:, :2]
LABELS = np.repeat(["a", "b", "c"], 40)
WEIGHTS = np.random.default_rng(1).lognormal(0, 1, len(X))


def findings(**given) -> dict:
    found = dualfold.audit(X, Y, labels=LABELS, **given).to_dict()
    return {name: value for name, value in found.items() if name != "seconds"}


def test_constant_weights_are_no_weights():
    assert findings(sample_weight=np.full(len(X), 1000.0)) == findings()


def test_shares_are_weighted_and_a_factor_changes_nothing():
    weights = WEIGHTS * np.where(LABELS == "b", 0.0, 1.0)
    found = dualfold.audit(X, Y, labels=LABELS, sample_weight=weights)
    times = dualfold.audit(X, Y, labels=LABELS, sample_weight=1000 * weights)
    assert times.verdict == found.verdict
    assert [one.verdict for one in times.groups] == [one.verdict for one in found.groups]
    assert float(found.picture.kept) == pytest.approx(
        np.average(t_similarity(X, Y, 10, per_point=True), weights=weights), abs=1e-12
    )
    assert found.share_dubious == pytest.approx(np.average(found.dubious, weights=weights))
    for item, one in enumerate(found.groups):
        inside = weights[found.map_groups.codes == item].sum() / weights.sum()
        assert one.weight == pytest.approx(inside, abs=1e-12)
    nothing = next(one for one in found.groups if one.label == "b" and one.weight == 0)
    assert np.isnan(nothing.inside)
    assert nothing.verdict == "undecided"
    effective = weights.sum() ** 2 / np.square(weights).sum()
    assert found.weights.effective_rows == pytest.approx(effective)
    assert f"those of {effective:.0f} points" in found.verdict


def test_wrong_weights_are_refused():
    with pytest.raises(InvalidInput, match="sample_weight is zero for every row"):
        dualfold.audit(X, Y, sample_weight=np.zeros(len(X)))


def halves(n: int, seed: int, weights: np.ndarray | None) -> LinkedGroups:
    """Two groups of a map that the data do not have: half of all links stay inside."""
    rng = np.random.default_rng(seed)
    codes, lists = rng.integers(0, 2, n), rng.integers(0, n, (n, 15))
    found = MapGroups(codes, np.full(2, np.inf), np.bincount(codes))
    return LinkedGroups(found, codes, lists, 3.0, None, weights, np.arange(n))


def test_uneven_weights_widen_what_is_said_of_a_group():
    weights = np.random.default_rng(2).lognormal(0, 1, 200)
    plain, found = (_inside(halves(200, 0, given), 0) for given in (None, weights / weights.sum()))
    assert found.high - found.low > 1.2 * (plain.high - plain.low)


def test_statements_are_about_weighted_means():
    """A group of two halves, of which only one counts, is where that half is."""
    each, rng = 60, np.random.default_rng(0)
    centres = np.repeat([[0.0, 0.0], [9.0, 0.0], [-9.0, 0.0]], each, axis=0)
    points = centres + rng.normal(size=(3 * each, 2))
    points[:each:2, 0] += 4.0
    points[1:each:2, 0] -= 4.0
    members = np.split(np.arange(3 * each), 3)
    space = EuclideanSpace(points, None, "X")
    assert not nearness(space, points, members, "ABC", 0).count(True) > 4
    weights = np.ones(3 * each)
    weights[1:each:2] = 0.0
    counted = nearness(space, points, members, "ABC", 0, weights)
    (nearer,) = [one for one in counted.statements if one.group == "A"]
    assert (nearer.near, nearer.far, nearer.true) == ("B", "C", True)
    weights[:each:2] = 1e-9
    weights[0] = 1.0  # one point counts: nothing can be said
    assert not nearness(space, points, members, "ABC", 0, weights).statements


@pytest.mark.full
def test_uneven_weights_raise_no_false_alarms_about_links():
    """The level is 0.05; 400 groups have up to 0.08 by chance."""
    rng, alarms = np.random.default_rng(0), 0
    for seed in range(400):
        weights = rng.lognormal(0, 1.5, 150)
        inside = _inside(halves(150, seed, weights / weights.sum()), 0)
        alarms += inside.low > 0.5 or inside.high < 0.5
    assert alarms <= 0.08 * 400


@pytest.mark.full
def test_uneven_weights_raise_no_false_alarms_about_distances():
    """Three groups equally far apart, on maps that say otherwise: 0.05 for all statements."""
    rng, alarms, runs = np.random.default_rng(0), 0, 200
    members = np.split(np.arange(180), 3)
    shown = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]], 60, axis=0)
    for seed in range(runs):
        space = EuclideanSpace(three_groups(60, seed), None, "X")
        weights = rng.lognormal(0, 1, 180)
        found = nearness(space, shown, members, "ABC", seed, weights)
        assert found.statements
        alarms += found.count(None) < len(found.statements)
    assert alarms <= 0.1 * runs

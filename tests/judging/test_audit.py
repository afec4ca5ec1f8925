"""Audits of maps: points at random places are found and others are not."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold import audit
from dualfold.errors import InvalidInput
from tests.judging.door import (
    SMALLEST_POWER,
    Estimate,
    EuclideanSpace,
    Nearness,
    NearnessStatement,
    _fit_mixture,
    reliability,
    space_of,
    subspace,
    two_groups,
)


def plane(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A sheet in 50 dimensions with a little noise, and its true coordinates."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(size=(n, 2))
    directions = np.linalg.qr(rng.standard_normal((50, 2)))[0]
    return flat @ directions.T + 0.005 * rng.standard_normal((n, 50)), flat


def blobs(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Eight groups on a plane in 50 dimensions, and their true coordinates."""
    rng = np.random.default_rng(seed)
    flat = rng.uniform(-10, 10, size=(8, 2))[rng.integers(8, size=n)]
    flat = flat + rng.standard_normal((n, 2))
    directions = np.linalg.qr(rng.standard_normal((50, 2)))[0]
    return flat @ directions.T + 0.05 * rng.standard_normal((n, 50)), flat


def displaced(Y: np.ndarray, count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Some points change places in a circle; (map, which)."""
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(Y))[:count]
    moved, which = Y.copy(), np.zeros(len(Y), dtype=bool)
    moved[rows], which[rows] = Y[np.roll(rows, 1)], True
    return moved, which


def rates(made, n: int, count: int, seed: int) -> tuple[float, float]:
    """(share of the displaced that is found, share of the found that is not displaced)."""
    X, Y = made(n, seed)
    moved, which = displaced(Y, count, seed)
    scores = reliability(EuclideanSpace(X), EuclideanSpace(moved), seed)
    dubious = two_groups(scores.p_values).dubious
    return float((dubious & which).sum() / count), float((dubious & ~which).sum() / dubious.sum())


@pytest.mark.parametrize("made", [plane, blobs])
def test_displaced_points_are_found(made):
    found, false = rates(made, 2_000, 200, 0)
    assert found >= 0.95
    assert false <= 0.05


@pytest.mark.full
@pytest.mark.parametrize("made", [plane, blobs])
def test_of_500_displaced_points_95_percent_are_found_over_20_seeds(made):
    marks = np.array([rates(made, 5_000, 500, seed) for seed in range(20)])
    print(f"{made.__name__}: found, false; mean {marks.mean(axis=0)}, least found "
          f"{marks[:, 0].min()}, most false {marks[:, 1].max()}")  # fmt: skip
    assert marks[:, 0].mean() >= 0.95
    assert marks[:, 0].min() >= 0.95
    assert marks[:, 1].max() <= 0.05


def test_on_a_random_map_every_point_is_dubious():
    X, Y = plane(1_000, 0)
    shuffled = Y[np.random.default_rng(1).permutation(1_000)]
    scores = reliability(EuclideanSpace(X), EuclideanSpace(shuffled), 0)
    model = two_groups(scores.p_values)
    assert model.share_random > 0.95
    assert model.dubious.mean() > 0.95
    # p-values of random places are uniform: Kolmogorov's distance, at the level 1e-6
    apart = np.abs(np.sort(scores.p_values) - (np.arange(1_000) + 0.5) / 1_000).max()
    assert apart < 2.7 / np.sqrt(1_000)


def test_on_a_right_map_hardly_any_point_is_dubious():
    X, Y = plane(600, 0)
    found = dualfold.audit(X, Y)
    assert found.share_dubious < 0.005
    assert [one.verdict for one in found.groups] == ["alone"]
    assert not found.supported


def test_scores_are_those_of_brute_force(monkeypatch):
    monkeypatch.setattr(sys.modules["dualfold.judging.point_reliability"], "MAX_REFERENCES", 60)
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((130, 4)), rng.standard_normal((130, 2))
    found = reliability(EuclideanSpace(X), EuclideanSpace(Y), 5)
    chosen = np.sort(np.random.default_rng(5).permutation(130)[:60])

    def nearer(i: int, here: np.ndarray, there: np.ndarray) -> float:
        others = [j for j in chosen if j != i]
        on_map = sorted(others, key=lambda j: np.linalg.norm(there[j] - there[i]))[:12]
        limit = sorted(np.linalg.norm(here[j] - here[i]) for j in on_map)[2]  # a quarter of 12
        return sum(np.linalg.norm(here[j] - here[i]) < limit for j in others) / 60

    wanted = [max(nearer(i, X, Y), nearer(i, Y, X)) for i in range(130)]
    np.testing.assert_allclose(found.scores, wanted, atol=1e-12)


def test_a_table_of_distances_has_the_same_scores():
    from sklearn.metrics import pairwise_distances

    from tests.judging.door import space_of

    X, Y = blobs(200, 0)
    y = EuclideanSpace(Y)
    given = reliability(space_of(pairwise_distances(X), "precomputed"), y, 0)
    np.testing.assert_allclose(
        given.scores, reliability(EuclideanSpace(X), y, 0).scores, atol=0.011
    )


def test_weights_of_the_mixture_are_the_most_likely():
    """No small step between any two parts makes the counts more likely."""
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.uniform(size=300), rng.beta(1, 40, size=1_700)])
    edges = np.linspace(0, 1, 201)
    counts = np.histogram(values, edges)[0].astype(float)
    powers = SMALLEST_POWER * 2.0 ** np.arange(6)
    loss, weights, _ = _fit_mixture(counts, edges, powers)
    survival = (1 - edges) ** powers[:, None]
    bins = np.vstack([np.diff(edges)[None], -np.diff(survival, axis=1)])
    assert abs(weights.sum() - 1) < 1e-9
    for taker in range(len(weights)):
        step = 1e-3
        other = (1 - step) * weights
        other[taker] += step
        # the loss is convex and within 1e-6 a point of its least value
        assert -(counts @ np.log(other @ bins)) > loss - 1e-5 * counts.sum()


def test_the_posterior_grows_with_the_p_value_and_uniform_is_all_random():
    rng = np.random.default_rng(0)
    mixed = np.sort(np.concatenate([rng.uniform(size=200), rng.beta(1, 100, size=800)]))
    assert (np.diff(two_groups(mixed).posterior) >= 0).all()
    uniform = two_groups(rng.uniform(size=1_000))
    assert uniform.share_random == 1.0
    assert uniform.parts == ()


def test_wrong_input_is_refused_in_words():
    X, Y = plane(150, 0)
    with pytest.raises(InvalidInput, match="100 or more"):
        dualfold.audit(X[:50], Y[:50])
    with pytest.raises(InvalidInput, match="same points"):
        dualfold.audit(X, Y[:120])
    with pytest.raises(InvalidInput, match="labels"):
        dualfold.audit(X, Y, labels=[1, 2])
    with pytest.raises(InvalidInput, match="method"):
        dualfold.audit(X, Y, method=3)
    with pytest.raises(InvalidInput, match="one row of finite coordinates"):
        dualfold.audit(X, Y, method=lambda points, seed: points[:3, :2])


def test_an_audit_as_json_and_in_words():
    X, Y = blobs(400, 0)
    labels = np.where(X[:, 0] > 0, "right", "left")
    found = dualfold.audit(X, Y, labels=labels, method=lambda points, seed: points[:, :2],
                           n_impostors=2, n_repeats=2)  # fmt: skip
    stated = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert stated["schema"] == "dualfold.audit/1"
    assert stated["dubious"]["rows"] == np.flatnonzero(found.dubious).tolist()
    assert len(stated["groups"]) == len(found.groups) > 1
    assert stated["impostors"]["rows"] == 400
    for words in (str(found), found.paragraph, found.verdict):
        assert "nan" not in words
        assert "None" not in words
    assert "dualfold 0.1.0" in found.paragraph
    frame = found.points_frame()
    assert list(frame) == ["group", "score", "p_value", "posterior_random", "dubious"]
    assert (frame["dubious"] == (frame["posterior_random"] >= 0.95)).all()


RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 4))


@pytest.fixture(scope="module")
def clouds():
    """Three groups in a row, 40 points each, and their map as it is."""
    middles = np.repeat([[0.0, 0.0], [8.0, 0.0], [30.0, 0.0]], 40, axis=0)
    points = middles + RNG.normal(size=(120, 2))
    return points, audit(points, points)


def test_an_audit_of_distances_is_that_of_their_points(clouds):
    points, plain = clouds
    given = audit(cdist(points, points), points, metric="precomputed")
    assert given.picture.kept == plain.picture.kept
    assert [one.verdict for one in given.groups] == [one.verdict for one in plain.groups]
    with pytest.raises(InvalidInput, match="leave it out for distances"):
        audit(cdist(points, points), points, metric="precomputed", method="pca")


def test_some_points_of_a_space_by_distances_are_a_space():
    rows = np.array([3, 7, 11, 20])
    part = subspace(space_of(cdist(X, X), "precomputed"), rows)
    np.testing.assert_allclose(
        part.true_rows(np.array([1])), cdist(X, X)[rows[1:2]][:, rows] + [[0, np.inf, 0, 0]]
    )


def test_statements_of_an_audit_by_name(clouds):
    _, found = clouds
    assert len(found.groups) == 3
    one = found.nearness.statements[0]
    assert found.nearer(one.group, one.near, one.far) is one
    with pytest.raises(InvalidInput, match="the map does not say that A lies nearer to A"):
        found.nearer("A", "A", "A")


def statement(low, high):
    return NearnessStatement("A", "B", "C", Estimate((low + high) / 2, low, high, 9), 2.0)


def test_one_statement_is_spoken_of_alone(clouds):
    """True where the interval of the ratio lies above 1, false below, else undecided."""
    _, found = clouds
    words = {}
    for low, high in ((1.5, 2.0), (0.5, 0.8), (0.8, 1.5)):
        told = replace(found, nearness=Nearness((statement(low, high),)))
        words[low, high] = str(told)
    assert "that the map makes is true in the data" in words[1.5, 2.0]
    assert "that the map makes is undecided" in words[0.8, 1.5]
    assert "A lies nearer to B than to C: false in the data" in words[0.5, 0.8]


def test_many_groups_are_counted_in_the_end(clouds):
    _, found = clouds
    many = replace(found, groups=found.groups * 20)
    assert "smaller ones" in str(many)

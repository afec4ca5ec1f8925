"""Groups on maps: found, and held against the data."""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from dualfold.auditing.density import map_groups
from dualfold.auditing.links import between, halving
from dualfold.auditing.nearness import nearness
from dualfold.auditing.repeats import impostors, maker, repeats
from dualfold.graph import nearest
from dualfold.quality.space import EuclideanSpace


def blobs(centres, each: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = np.asarray(centres, dtype=float)
    return np.vstack([c + rng.standard_normal((each, len(c))) for c in centres])


@pytest.mark.parametrize("n", [300, 1_000])
def test_even_clouds_have_one_group(n):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        assert map_groups(rng.uniform(size=(n, 2))).count == 1
        assert map_groups(rng.standard_normal((n, 2))).count == 1


def test_groups_are_those_of_another_algorithm():
    from sklearn.cluster import DBSCAN
    from sklearn.metrics import adjusted_rand_score

    Y = blobs([[0, 0], [12, 0], [0, 12], [12, 12], [30, 30]], 200, 0)
    found = map_groups(Y)
    assert found.count == 5
    assert adjusted_rand_score(DBSCAN(eps=2.0).fit_predict(Y), found.codes) > 0.99
    assert 0.95 < found.separation <= 1


def test_a_cloud_that_the_map_tore_is_no_group():
    rng = np.random.default_rng(0)
    for width in (2, 20):
        X = rng.standard_normal((700, width))
        Y = X[:, :2] + np.where(X[:, :1] > 0, 10.0, 0.0) * [[1, 0]]  # a gap through the middle
        found = dualfold.audit(X, Y)
        assert len(found.groups) == 2
        assert [one.verdict for one in found.groups] == ["torn", "torn"]
        assert found.groups[0].torn_from == ("B",)
        assert not found.supported


def test_groups_of_the_data_are_called_so():
    X = blobs(12 * np.eye(6), 150, 0)
    kinds = np.repeat(np.arange(6), 150)
    around = 10 * np.stack([np.cos(kinds * np.pi / 3), np.sin(kinds * np.pi / 3)], axis=1)
    Y = around + (X - 12 * np.eye(6)[kinds])[:, :2]
    found = dualfold.audit(X, Y, labels=kinds)
    assert [one.verdict for one in found.groups] == 6 * ["group"]
    assert found.supported
    assert all(one.label_share > 0.98 for one in found.groups)
    # the data's groups are all equally far apart, so nothing that the map orders is true
    assert found.nearness.statements
    assert found.nearness.count(True) <= 2


def test_groups_that_the_map_threw_together_are_seen():
    X = blobs([[0, 0, 0], [0, 0, 15], [20, 0, 0]], 200, 0)
    found = dualfold.audit(X, X[:, :2])  # the first two lie on one another
    together, alone = found.groups
    assert sorted(together.parts) == [200, 200]
    assert alone.parts is None


def test_links_are_those_of_brute_force():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 3))
    codes = (X[:, 0] > 0).astype(int)
    lists = nearest(X, 7).indices
    halves = [halving(lists, np.flatnonzero(codes == c), X[:, :2]) for c in (0, 1)]
    cut = between(lists, codes, *halves, 1)
    assert cut.links == sum(codes[i] != codes[j] for i in range(120) for j in lists[i])
    for half in halves:
        side = dict(zip(half.rows.tolist(), half.side.tolist(), strict=True))
        assert abs(sum(side.values()) - len(half.rows) / 2) <= 0.5
        crossed = sum(side[i] != side.get(j, side[i]) for i in side for j in lists[i].tolist())
        assert crossed == half.crossed.sum()
    thin = min(int(half.crossed.sum()) for half in halves)
    assert abs(float(cut.share) - cut.links / thin) < 1e-12


def test_nearness_is_that_of_the_means():
    centres = [[0, 0, 0], [10, 0, 0], [0, 25, 0]]
    X = blobs(centres, 150, 0)
    wrong = X.copy()[:, :2]
    wrong[150:300] += [40, 0]  # B is farther on the map than it is
    members = [np.arange(150), np.arange(150, 300), np.arange(300, 450)]
    found = nearness(EuclideanSpace(X), wrong, members, "ABC", 0)
    said = {(one.group, one.near, one.far): one for one in found.statements}
    assert said["A", "C", "B"].true is False
    means = [X[rows].mean(axis=0) for rows in members]
    ratio = np.linalg.norm(means[0] - means[1]) / np.linalg.norm(means[0] - means[2])
    one = said["A", "C", "B"].ratio
    assert abs(float(one) - ratio) < 0.01  # the spread of the means is taken off δ
    assert one.low < 10 / 25 < one.high


def test_the_bootstrap_covers_the_truth_of_all_statements_together():
    """19 of 20 intervals at least, by Bonferroni; the true ratio is 1."""
    held = 0
    for seed in range(40):
        X = blobs([[0, 0], [12, 0], [0, 12]], 60, seed)
        Y = X * [[1, 2]]
        members = [np.arange(60), np.arange(60, 120), np.arange(120, 180)]
        found = nearness(EuclideanSpace(X), Y, members, "ABC", seed)
        (one,) = [one for one in found.statements if one.group == "A"]
        held += one.ratio.low < 1 < one.ratio.high
    assert held >= 36  # fewer than 37 of 40 at 95 % and more has a chance below 0.05


def drawn_groups(X: np.ndarray, seed: int) -> np.ndarray:
    """A method that draws three groups whatever it gets."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((len(X), 2)) + 10 * rng.integers(3, size=(len(X), 1))


def test_impostors_show_a_method_that_draws_groups_everywhere():
    X = blobs(8 * np.eye(4), 60, 0)
    honest = impostors(maker("pca", 2), X, 19, 0)
    assert honest.own_groups > 1
    assert honest.p_value("gaussian") == 0.05
    assert honest.supported
    liar = impostors(drawn_groups, X, 19, 0)
    assert liar.own_groups == 3
    assert not liar.supported
    found = dualfold.audit(X, drawn_groups(X, 0), method=drawn_groups, n_repeats=0)
    assert not found.supported
    assert "draws groups as distinct where there are none" in found.verdict


def test_repeats_know_a_method_without_chance_from_one_of_chance():
    X = blobs([[0, 0, 0], [30, 0, 0], [0, 12, 0]], 60, 0)
    sure = repeats(maker(dualfold.PCA(2), 2), X, 3, 0)
    assert sure.seeds.agreement == 1.0
    assert sure.groups_seeds == 1.0
    assert sure.subsamples.agreement > 0.8
    unsure = repeats(drawn_groups, X, 3, 0)
    assert unsure.seeds.agreement < 0.3
    assert unsure.groups_seeds < 0.2

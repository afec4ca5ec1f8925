"""Groups on maps: found, and held against the data."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import dualfold
from dualfold.errors import InvalidInput
from dualfold.graph import nearest
from tests.judging.door import (
    EuclideanSpace,
    _distance_at_threshold,
    half_valley,
    impostors,
    map_groups,
    method_runner,
    nearness,
    repeats,
    valley_between,
)


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
    first, second = (np.flatnonzero(codes == code) for code in (0, 1))
    cut = valley_between(lists, first, second, 1)
    assert cut.links == sum(codes[i] != codes[j] for i in range(120) for j in lists[i])

    # θ again, section by section, from a potential of dense algebra
    order = np.concatenate([first, second])
    rank_of = dense_potential(lists, order, len(first)).argsort(kind="stable").argsort()
    ranks = dict(zip(order.tolist(), rank_of.tolist(), strict=True))

    def links(level: int) -> int:
        return sum((ranks[i] <= level) != (ranks[j] <= level) for i in ranks for j in lists[i])

    sides = [sorted(ranks[i] for i in side.tolist()) for side in (first, second)]
    own = [
        level
        for level in range(120)
        if sum(r <= level for r in sides[0]) >= 0.75 * len(first)
        and sum(r <= level for r in sides[1]) <= 0.25 * len(second)
    ]
    thinnest = min([cut.links, *(links(level) for level in own)])
    middles = [
        np.mean([links(side[int(share * (len(side) - 1))]) for share in (0.25, 0.5, 0.75)])
        for side in sides
    ]
    assert abs(float(cut.share) - thinnest / min(middles)) < 1e-12


def dense_potential(lists: np.ndarray, rows: np.ndarray, first: int) -> np.ndarray:
    """The potential of a current from the first rows to the others, by a pseudo-inverse."""
    n = len(rows)
    place = {int(row): at for at, row in enumerate(rows)}
    W = np.zeros((n, n))
    for at, row in enumerate(rows):
        for other in lists[row].tolist():
            W[at, place[other]] = W[place[other], at] = 1.0
    degrees = W.sum(axis=1)
    source = np.where(np.arange(n) < first, -degrees, degrees)
    source[:first] /= degrees[:first].sum()
    source[first:] /= degrees[first:].sum()
    return np.linalg.pinv(np.diag(degrees) - W) @ source


def two_clouds(apart: float, seed: int, n: int = 1_500) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    kinds = rng.integers(2, size=n)
    return rng.standard_normal((n, 5)) + apart * np.outer(kinds, np.eye(5)[0]), kinds


def theta(X: np.ndarray, kinds: np.ndarray) -> float:
    first, second = (np.flatnonzero(kinds == code) for code in (0, 1))
    return float(valley_between(nearest(X, 15).indices, first, second, 1).share)


def test_theta_is_the_depth_of_the_valley():
    """2exp(−δ²/8)/(1 + exp(−δ²/2)) for two normal clouds, more where links are long."""
    for apart in (4, 5):
        found = np.mean([theta(*two_clouds(apart, seed)) for seed in range(4)])
        depth = 2 * np.exp(-(apart**2) / 8) / (1 + np.exp(-(apart**2) / 2))
        assert depth < 1.1 * found  # never deeper than it is, but for chance
        assert found < 2.0 * depth
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_500, 5))
    assert theta(X, (X[:, 0] > 0).astype(int)) > 0.8


def test_a_group_that_is_long_elsewhere_keeps_its_border():
    """Halving each of these along its length crosses fewer links than lie between them."""
    rng = np.random.default_rng(0)
    kinds = np.repeat([0, 1], 750)
    X = rng.standard_normal((1_500, 4)) * [1, 8, 1, 1] + np.outer(kinds, [6, 0, 0, 0])
    found = dualfold.audit(X, X[:, :2] / [1, 8] + np.outer(kinds, [4, 0]))
    assert [one.verdict for one in found.groups] == ["group", "group"]


def test_stray_points_do_not_join_groups():
    X = blobs([[0, 0, 0], [20, 0, 0]], 200, 0)
    kinds = np.repeat([0, 1], 200)
    kinds[[3, 7]] = 1  # drawn on the wrong side
    cut = valley_between(nearest(X, 15).indices, *(np.flatnonzero(kinds == k) for k in (0, 1)), 1)
    assert cut.links > 20
    assert cut.is_present


def test_mixed_groups_have_no_border():
    X = blobs([[0, 0, 0], [20, 0, 0]], 200, 0)
    kinds = np.random.default_rng(0).integers(2, size=400)
    cut = valley_between(nearest(X, 15).indices, *(np.flatnonzero(kinds == k) for k in (0, 1)), 1)
    assert cut.is_absent


def test_pieces_that_were_met_before_give_the_same_valleys():
    X = blobs(40 * np.eye(4), 60, 0)
    lists, known = nearest(X, 15).indices, {}
    parts = np.array_split(np.arange(240), 4)
    for a, b in combinations(range(4), 2):
        assert valley_between(lists, parts[a], parts[b], 6, known) == valley_between(
            lists, parts[a], parts[b], 6
        )
    assert len(known) == 4  # each cloud once, not once a pair


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


@pytest.mark.full
def test_impostors_show_a_method_that_draws_groups_everywhere():
    X = blobs(8 * np.eye(4), 60, 0)
    honest = impostors(method_runner("pca", 2), X, 19, 0)
    assert honest.own_groups > 1
    assert honest.p_value("gaussian") == 0.05
    assert honest.supported
    liar = impostors(drawn_groups, X, 19, 0)
    assert liar.own_groups == 3
    assert not liar.supported
    found = dualfold.audit(X, drawn_groups(X, 0), method=drawn_groups, n_repeats=0)
    assert not found.supported
    assert "draws groups as distinct where there are none" in found.verdict


@pytest.mark.full
def test_humps_of_single_columns_are_no_fault_of_the_method():
    """Shuffled, four groups at the corners of a square are still four groups."""
    X = blobs([[0, 0], [9, 0], [0, 9], [9, 9]], 60, 0)
    found = impostors(method_runner("pca", 2), X, 19, 0)
    assert any(one >= found.own for one in found.shuffled)
    assert any(found.shuffled_have)
    assert found.p_value("shuffled") == 0.05
    assert found.supported
    said = dualfold.audit(X, X, method="pca", n_repeats=0).verdict
    assert "shuffled tables have such groups themselves" in said


@pytest.mark.full
def test_maps_that_deceive_are_called_unsupported():
    """t-SNE with a small perplexity draws groups in one normal cloud (benchmarks/impostors.py)."""
    from benchmarks.impostors import measured, one_cloud, tsne

    found = measured(one_cloud, tsne(5), 20, 5)
    assert len(found) == 20
    assert min(count for count, _, _ in found) >= 2
    assert sum(supported for _, supported, _ in found) <= 1
    assert sum(bool(anywhere) for _, _, anywhere in found) >= 4


def test_repeats_know_a_method_without_chance_from_one_of_chance():
    X = blobs([[0, 0, 0], [30, 0, 0], [0, 12, 0]], 60, 0)
    sure = repeats(method_runner(dualfold.PCA(2), 2), X, 3, 0)
    assert sure.seeds.agreement == 1.0
    assert sure.groups_seeds == 1.0
    assert sure.subsamples.agreement > 0.8
    unsure = repeats(drawn_groups, X, 3, 0)
    assert unsure.seeds.agreement < 0.3
    assert unsure.groups_seeds < 0.2


def test_torn_groups_are_joined_until_none_are_torn():
    """A sheet in six pieces beside a group: neighbours join neighbours, and the group stays."""
    rng = np.random.default_rng(0)
    sheet = rng.uniform(size=(1_200, 2)) * [6, 1]
    X = np.pad(np.vstack([sheet, [20, 0] + 0.3 * rng.standard_normal((200, 2))]), ((0, 0), (0, 2)))
    piece = np.r_[np.floor(sheet[:, 0]), np.full(200, 7)]
    found = dualfold.audit(X, X[:, :2] + np.outer(piece, [2, 0]))
    assert len(found.groups) == 7
    assert all(one.verdict != "torn" for one in found.unions)
    assert "group" in [one.verdict for one in found.unions]
    assert sum(one.size for one in found.unions) == 1_400
    assert found.supported


def test_a_valley_that_links_of_many_dimensions_cannot_see_is_undecided():
    rng = np.random.default_rng(0)
    for apart, verdict in ((4, "undecided"), (0, "torn")):
        X = rng.standard_normal((1000, 50))
        first = np.arange(1000) < 500
        X[first, 0] += apart
        far = first if apart else X[:, 0] > 0
        Y = rng.standard_normal((1000, 2)) + np.where(far[:, None], 10.0, 0.0) * [[1, 0]]
        found = dualfold.audit(X, Y)
        assert [one.verdict for one in found.groups] == [verdict] * 2


def test_the_bar_is_that_of_half_a_valley_and_rises_with_the_dimension():
    low, high = half_valley(2, 500, 500), half_valley(50, 500, 500)
    assert 0.5 <= low < 0.7 < high
    for share in (0.5, 0.1):
        apart = _distance_at_threshold(share)
        x = np.linspace(0, apart, 4000)
        heights = share * np.exp(-((x - apart) ** 2) / 2) + (1 - share) * np.exp(-(x**2) / 2)
        assert abs(heights.min() / heights[-1] - 0.5) < 1e-3


def test_groups_do_not_depend_on_the_units_of_the_map():
    Y = np.vstack([np.random.default_rng(3).normal(size=(60, 2)) + shift for shift in (0, 9)])
    plain = map_groups(Y)
    for power in (-700, 700):
        np.testing.assert_array_equal(map_groups(np.ldexp(Y, power)).codes, plain.codes)
    with pytest.raises(InvalidInput, match="two rows"):
        map_groups(Y[:1])

"""Dimensions of known shapes, short cuts that are known, methods whose merits are known."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.data import helix, prepare, swiss_roll
from dualfold.errors import InvalidInput
from dualfold.graph import knn
from dualfold.recommendation import intrinsic_dimension, neighbor_scan, recommend
from tests.judging.door import (
    Candidate,
    Judgement,
    Layout,
    NeighborScan,
    Recommendation,
    ScanRow,
    best_for_groups,
    groups_with,
    levina_bickel,
    two_nn,
)
from tests.tools.tables import roll_points


def turned(X, rng, width=25):
    """Somewhere in a space of many dimensions."""
    basis = np.linalg.qr(rng.standard_normal((width, width)))[0]
    return np.hstack([X, np.zeros((len(X), width - X.shape[1]))]) @ basis


def sphere(d, n, rng):
    Z = rng.standard_normal((n, d + 1))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def torus(d, n, rng):
    angles = rng.uniform(0, 2 * np.pi, (n, d))
    return np.hstack([np.cos(angles), np.sin(angles)])


def waves(d, n, rng):
    t = rng.uniform(size=(n, d))
    return np.hstack([t, np.sin(3 * t)])


# Ten shapes: curves, sheets, spheres, a torus, wavy and flat clouds.
SHAPES = {
    1: lambda n, rng: helix(n, random_state=rng).points,
    2: lambda n, rng: roll_points(n, random_state=rng),
    3: lambda n, rng: sphere(3, n, rng),
    4: lambda n, rng: torus(4, n, rng),
    5: lambda n, rng: waves(5, n, rng),
    6: lambda n, rng: rng.uniform(size=(n, 6)),
    7: lambda n, rng: sphere(7, n, rng),
    8: lambda n, rng: rng.standard_normal((n, 8)),
    9: lambda n, rng: rng.uniform(size=(n, 9)) ** 2,
    10: lambda n, rng: sphere(10, n, rng),
}


@pytest.mark.parametrize(
    "d", [d if d in (2, 10) else pytest.param(d, marks=pytest.mark.full) for d in SHAPES]
)
def test_the_dimension_of_ten_shapes(d):
    rng = np.random.default_rng(d)
    found = intrinsic_dimension(turned(SHAPES[d](1500, rng), rng))
    assert abs(found.value - d) <= 1
    for estimate in (found.two_nn, found.levina_bickel):
        assert estimate.low <= estimate <= estimate.high
        assert abs(estimate - d) <= 0.6 + 0.15 * d


@pytest.mark.parametrize("d", [1, 3, 10])
def test_ranges_hold_the_dimension_of_clouds_with_and_without_edges(d):
    """36 samples: of ranges that hold it in 95 % fewer than 28 do with a chance of 1e-4."""
    held = np.zeros(2, dtype=int)
    for seed in range(12):
        rng = np.random.default_rng([d, seed])
        for cloud in (rng.random((400, d)), rng.standard_normal((400, d)), sphere(d, 400, rng)):
            found = intrinsic_dimension(cloud)
            held += [one.low <= d <= one.high for one in (found.two_nn, found.levina_bickel)]
    assert held.min() >= 28


def test_two_estimates_of_noise_agree_where_their_ranges_meet():
    """One scale, no noise around a sheet: nothing else may be said of a cube."""
    for seed in range(5):
        found = intrinsic_dimension(np.random.default_rng(seed).random((150, 20)))
        assert found.agree
        assert str(found).startswith("about ")


def test_estimators_are_their_formulas():
    X = np.random.default_rng(0).standard_normal((60, 3))
    apart = np.linalg.norm(X[:, None] - X, axis=2)
    np.fill_diagonal(apart, np.inf)
    r = np.sort(apart, axis=1)
    assert two_nn(X) == pytest.approx(59 / np.log(r[:, 1] / r[:, 0]).sum())
    logs = [np.log(r[i, 4] / r[i, :4]).sum() / 3 for i in range(60)]  # 1/d of each point
    assert levina_bickel(X, 5) == pytest.approx(1 / np.mean(logs))
    assert two_nn(np.vstack([X, X[:5]])) > 0  # twins are left out


def shortcuts(roll, k):
    """Edges whose ends are three times as far along the roll as through the air."""
    graph = knn(roll.points, k).lengths.tocoo()
    along = np.linalg.norm(roll.flat[graph.row] - roll.flat[graph.col], axis=1)
    return int((along > 3 * graph.data).sum())


LATER = [pytest.param(seed, marks=pytest.mark.full) for seed in range(2, 20)]


@pytest.mark.parametrize("seed", [0, 1, *LATER])
def test_numbers_of_neighbours_with_short_cuts_are_rejected(seed):
    """On twenty rolls, every number in the scan: rejected if and only if it has a short cut."""
    roll = swiss_roll(800, random_state=seed)
    scan = neighbor_scan(roll.points)
    cut = [row.n_neighbors for row in scan.rows if shortcuts(roll, row.n_neighbors)]
    assert cut  # there is something to find
    assert set(scan.with_short_cuts) >= set(cut)
    assert scan.best_n_neighbors not in cut
    assert set(scan.with_short_cuts) - set(cut) <= {cut[0] - 1}


def test_clouds_have_no_short_cuts():
    rng = np.random.default_rng(0)
    for width in (2, 3, 8):
        assert neighbor_scan(rng.standard_normal((400, width))).with_short_cuts == ()
    rows = ScanRow(5, 9, 0.5, 0.0), ScanRow(7, 1, 1.0, 0.0), ScanRow(10, 1, 1.0, 0.5)
    told = str(NeighborScan(rows))
    assert told == (
        "7 neighbours; with 10 long paths become much shorter, as by short cuts; "
        "with 5 the graph has 9 pieces"
    )


@pytest.fixture(scope="module")
def found():
    """Without t-SNE, whose maps depend on rounding, and which is about as good as Isomap here."""
    spectral = ("pca", "isomap", "eigenmaps", "lle")
    return recommend(roll_points(500, random_state=2), methods=spectral)


def test_a_roll_is_unrolled_and_a_cloud_is_not(found):
    assert (found.method, found.decided, found.dimension.value) == ("isomap", True, 2)
    assert found.estimator().n_neighbors == found.n_neighbors
    assert found.candidates[0].mean_kept == max(one.mean_kept for one in found.candidates)
    told = found.to_dict()
    assert told["votes"] == ["isomap"] * 5
    assert "isomap" in str(found)
    rng = np.random.default_rng(0)
    flat = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 6))
    plain = recommend(flat + 0.01 * rng.standard_normal((300, 6)))
    assert (plain.method, plain.decided) == ("pca", True)
    with pytest.raises(InvalidInput, match="40 rows"):
        recommend(flat[:20])


@pytest.mark.parametrize("seed", [0, 2])
def test_no_subsample_of_a_roll_chooses_a_linear_map(seed):
    found = recommend(roll_points(500, random_state=seed))
    assert found.method in ("isomap", "tsne")
    assert "pca" not in found.votes


def test_where_two_are_equal_it_says_that_the_data_do_not_decide(found):
    torn = replace(found, votes=("isomap", "pca", "isomap", "isomap", "pca"))
    assert not torn.decided
    assert torn.verdict.startswith(
        "The data do not decide: of 5 subsamples, the choice is isomap in 3, pca in 2."
    )
    assert dualfold.recommend is recommend


@pytest.mark.parametrize("width", [3, pytest.param(12, marks=pytest.mark.full)])
def test_noise_decides_for_no_method_and_what_is_said_follows_from_the_numbers(width):
    X = np.random.default_rng([width, 3]).random((70, width))
    found = recommend(X, random_state=3)
    assert not found.decided
    assert "The data do not decide" in found.verdict
    assert "the best in all" not in found.verdict
    first, *others = found.candidates
    better = any(all(b > a for a, b in zip(first.kept, one.kept, strict=True)) for one in others)
    most = first.mean_kept == max(one.mean_kept for one in found.candidates)
    assert (found.reason(first) == "keeps most neighbours") == most
    assert not (better and most)


def decision(kept, shuffled=(0.2, 0.2, 0.2), order=("pca", "isomap", "lle"), first="isomap"):
    """A recommendation whose candidates keep these shares."""
    names = first, *(name for name in order if name != first)
    found = [Candidate(name, kept[name], 0.9, 0.9, 0.1) for name in names]
    found[0] = replace(found[0], kept_shuffled=shuffled)
    scan = NeighborScan((ScanRow(10, 1, 1.0, 0.0),))
    return Recommendation(None, scan, tuple(found), (first,) * 3, 2, 300, 240, 0.1, (), order)


def test_the_data_decide_where_the_simpler_methods_and_shuffled_columns_are_worse():
    kept = {"pca": (0.3, 0.4, 0.3), "isomap": (0.8, 0.8, 0.9), "lle": (0.82, 0.7, 0.9)}
    assert decision(kept).decided
    assert "in all 3 subsamples it keeps more neighbours than pca, and no other" in (
        decision(kept).verdict
    )
    # One subsample in which lle keeps more, beyond 0.03; one in which pca does.
    assert not decision(kept | {"lle": (0.84, 0.7, 0.9)}).decided
    assert not decision(kept | {"pca": (0.8, 0.4, 0.3)}).decided
    # As much of shuffled columns: that says something about the method, not about the data.
    as_noise = decision(kept, shuffled=(0.7, 0.76, 0.7))
    assert "hardly more neighbours than with shuffled columns" in as_noise.verdict
    assert not decision(kept, shuffled=()).decided
    # The simplest must exceed all others.
    flat = {"pca": (0.99, 0.98, 0.99), "isomap": (0.9, 0.9, 0.9), "lle": (0.9, 0.95, 0.9)}
    assert decision(flat, first="pca").decided
    assert not decision(flat | {"lle": (0.99, 0.9, 0.9)}, first="pca").decided


def test_rows_that_are_the_same_have_no_map_and_one_that_differs_has():
    for X in (np.ones((60, 3)), sp.csr_array(np.ones((60, 3)))):
        with pytest.raises(InvalidInput, match="all rows of X are the same"):
            dualfold.recommend(X)
    found = dualfold.recommend(np.vstack([np.ones((59, 3)), [[5.0, 6.0, 7.0]]]))
    assert found.method == "pca"


RNG = np.random.default_rng(0)


def test_dimensions_of_too_few_rows_are_none():
    assert levina_bickel(np.ones((9, 2)), 5) == 0
    assert intrinsic_dimension(np.ones((9, 2))).value == 1
    # All neighbours are equally far: the highest dimension that was simulated, of no more
    # dimensions than there are columns.
    assert intrinsic_dimension(np.eye(50)).value == 40
    assert intrinsic_dimension(np.eye(30)).value == 30


def test_advice_says_why_a_method_is_not_the_first():
    with pytest.raises(InvalidInput, match="n_components=9 must be from 1 to 4"):
        recommend(RNG.normal(size=(300, 4)), n_components=9)
    rows = tuple(ScanRow(k, 1, 1.0, 0.0) for k in (5, 10))
    good = Candidate("pca", (0.1, 0.1), 0.9, 0.9, 0.1)
    shaky, broken = replace(good, method="lle", stability=-1.0), Candidate("mvu", trouble="too few")
    told = Recommendation(
        None, NeighborScan(rows), (good, shaky, broken), ("pca", "pca"), 1, 300, 200, 0.1
    )
    assert told.reason(broken) == "no map: too few"
    assert told.reason(shaky) == "two samples give different maps"
    assert told.verdict.startswith(
        "No method makes a good picture in 1 dimension. The data do not decide: pca does not "
        "clearly keep more neighbours than lle. Take pca; it keeps 10 %"
    )
    assert str(NeighborScan(rows)) == "10 neighbours"


def test_advice_about_equal_rows_is_refused():
    with pytest.raises(InvalidInput, match="are the same: there is nothing to map"):
        recommend(np.ones((300, 3)))


def test_cells_that_were_filled_in_recommend_nothing():
    """A map of the filled table seems to keep what was filled in; plausible fillings do not."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(100, 8))
    data = prepare(np.where(rng.random(noise.shape) < 0.5, np.nan, noise))
    (by_filled,) = recommend(data.X, methods=["pca"]).candidates
    (by_plausible,) = recommend(data, methods=["pca"]).candidates
    assert by_plausible.mean_kept < by_filled.mean_kept - 0.05


def test_a_share_of_subsamples_is_no_promise_for_many_more_rows():
    """From 200 to 800 rows a fifth less is kept: so with every four times as many rows."""
    one = Candidate("pca", (0.5, 0.5), kept_quarter=(0.625, 0.625))
    found = one.expected_kept(51_200, 800)
    assert float(found) == pytest.approx(0.5 * 0.8**3)
    assert found.low < found < found.high <= 0.5 + 0.05
    # Nothing is extrapolated to hardly more rows, and nothing is expected to rise.
    assert one.expected_kept(900, 800) == 0.5
    rising = replace(one, kept_quarter=(0.3, 0.3))
    assert float(rising.expected_kept(51_200, 800)) == 0.5


def test_each_question_has_its_own_winner():
    """Four columns follow one quantity: principal components show the order, hardly neighbours."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=(220, 1))
    X = np.hstack([t + 0.3 * rng.normal(size=(220, 5)), rng.normal(size=(220, 10))])
    found = recommend(X, methods=("pca", "tsne"), question="order")
    assert (found.method, found.decided) == ("pca", True)
    assert found.verdict.startswith(
        "pca, for overall order: its map of 176 rows shows overall order"
    )
    told = found.to_dict()
    assert told["answers"]["order"] == "pca"
    assert told["question"] == "order"
    assert "For overall order: pca (good)." in str(found)
    with pytest.raises(InvalidInput, match="question='size' must be one of neighbours, order"):
        recommend(X, question="size")


def test_of_as_many_groups_of_the_data_fewer_others_are_better():
    def shows(method, found, visible):
        groups = groups_with(*found * ["group"], *(visible - found) * ["undecided"])
        return Candidate(method, (0.5,), shown=Judgement(Layout(0, 0, (), 2), None, groups))

    some, exact, few = shows("isomap", 4, 6), shows("tsne", 4, 4), shows("pca", 3, 3)
    assert best_for_groups([few, some, exact]) is exact
    assert best_for_groups([few, shows("mds", 4, 4), exact]).method == "mds"  # the simpler one
    assert best_for_groups([shows("lle", 1, 5)]) is None

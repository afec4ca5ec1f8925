"""Neighbour lists against brute force in float64, on every road and kind of data."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist

from dualfold.errors import InvalidInput
from dualfold.graph import lower_bounds as coordinates
from dualfold.graph import neighbors, panels, scan
from dualfold.graph import search_plan as directions
from dualfold.graph.attachment import nearest_and_reverse
from dualfold.graph.distances import pair_distances
from dualfold.graph.lower_bounds import Frame, fewer_directions, frame_of, principal_directions
from dualfold.graph.metrics import present_nearest
from dualfold.graph.neighbor_lists import exact_search, recall_interval
from dualfold.graph.neighbors import from_precomputed, nearest, neighbors_within, radius_search
from tests.tools.tables import roll_points

ROADS = ("auto", "kd-tree", "blocked", "filtered")


def distance_matrix(X, Y=None):
    """Every distance, written out: no shortcut, no library."""
    X = np.asarray(X, dtype=np.float64)
    Y = X if Y is None else np.asarray(Y, dtype=np.float64)
    return np.array([np.sqrt(((Y - x) ** 2).sum(axis=1)) for x in X])


def sorted_lists(distances, k):
    order = np.lexsort((np.broadcast_to(np.arange(distances.shape[1]), distances.shape), distances))
    order = order[:, :k]
    return order, np.take_along_axis(distances, order, axis=1)


def true_lists(X, k):
    distances = distance_matrix(X)
    np.fill_diagonal(distances, np.inf)
    return sorted_lists(distances, k)


def kinds():
    rng = np.random.default_rng(7)
    centres = 50 * rng.standard_normal((6, 24))
    return {
        "random": rng.standard_normal((700, 20)),
        "float32": rng.standard_normal((500, 5)).astype(np.float32),
        "pixels": rng.integers(0, 256, (400, 100)).astype(np.uint8),
        "grid": rng.integers(0, 3, (600, 6)),
        "duplicates": np.repeat(rng.standard_normal((20, 30)), 25, axis=0),
        "identical": np.ones((150, 12)),
        "clusters": centres[rng.integers(0, 6, 600)] + rng.standard_normal((600, 24)),
        "line": rng.integers(0, 40, (300, 1)),
        "tiny": rng.standard_normal((3, 4)),
        "two": rng.standard_normal((2, 9)),
        "low rank": rng.standard_normal((500, 3)) @ rng.standard_normal((3, 40)),
    }


@pytest.mark.parametrize("kind", kinds())
def test_every_road_equals_brute_force(kind):
    X = kinds()[kind]
    all_indices, all_distances = true_lists(X, len(X) - 1)
    for k in sorted({1, min(10, len(X) - 1), len(X) - 1}):
        indices, distances = all_indices[:, :k], all_distances[:, :k]
        first = None
        for road in ROADS:
            found = nearest(X, k, search=road)
            np.testing.assert_array_equal(found.indices, indices, err_msg=road)
            np.testing.assert_allclose(found.distances, distances, rtol=1e-14, atol=0)
            first = found if first is None else first
            np.testing.assert_array_equal(found.distances, first.distances)
            assert found.search.exact
            assert found.search.proved == found.search.recall == 1.0


@pytest.mark.parametrize("kind", ["offset", "offset32", "dynamic", "outlier", "minute"])
def test_data_hard_for_float32(kind):
    rng = np.random.default_rng(3)
    X = {
        "offset": rng.standard_normal((400, 40)) + 1e6,
        "offset32": (rng.standard_normal((400, 40)) + 1e4).astype(np.float32),
        "dynamic": rng.standard_normal((300, 30)) * 10.0 ** rng.integers(-12, 12, (300, 1)),
        "outlier": np.vstack([rng.standard_normal((300, 30)) * 1e-9, np.full((1, 30), 1e12)]),
        "minute": rng.standard_normal((200, 20)) * 1e-100,
    }[kind]
    # Summation order moves the last bits, so ties are judged by the kernel's own values.
    rows, columns = np.divmod(np.arange(len(X) ** 2), len(X))
    full = pair_distances(X, X, rows, columns).reshape(len(X), len(X))
    np.testing.assert_allclose(full, distance_matrix(X), rtol=1e-14, atol=0)
    np.fill_diagonal(full, np.inf)
    indices, distances = sorted_lists(full, 12)
    for road in ROADS:
        found = nearest(X, 12, search=road)
        np.testing.assert_array_equal(found.indices, indices, err_msg=road)
        np.testing.assert_array_equal(found.distances, distances, err_msg=road)


def test_many_tiles_and_threads_give_the_same_bits():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((3200, 8)) @ rng.standard_normal((8, 60))
    X = np.round(X + 0.3 * rng.standard_normal(X.shape), 1).astype(np.float32)
    full = cdist(X.astype(np.float64), X.astype(np.float64))
    np.fill_diagonal(full, np.inf)
    reference = nearest(X, 7, search="blocked", n_jobs=1)
    np.testing.assert_allclose(reference.distances, np.sort(full, axis=1)[:, :7], rtol=1e-13)
    for road in ("auto", "blocked", "filtered"):  # a kd-tree in 60 dimensions takes seconds
        for n_jobs in (1, 2, 3):
            found = nearest(X, 7, search=road, n_jobs=n_jobs)
            np.testing.assert_array_equal(found.indices, reference.indices)
            np.testing.assert_array_equal(found.distances, reference.distances)


def test_lower_instruction_levels_give_the_same_bits(tmp_path):
    rng = np.random.default_rng(6)
    X = rng.standard_normal((900, 70))
    np.save(tmp_path / "X.npy", X)
    code = (
        "import numpy as np; from dualfold.graph.neighbors import nearest\n"
        f"found = nearest(np.load(r'{tmp_path}/X.npy'), 9, search='filtered')\n"
        f"np.savez(r'{tmp_path}/out.npz', i=found.indices, d=found.distances)"
    )
    best = nearest(X, 9, search="filtered")
    for level in ("v2", "v3"):
        environment = {**os.environ, "DUALFOLD_LEVEL": level}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True)
        lower = np.load(tmp_path / "out.npz")
        np.testing.assert_array_equal(lower["i"], best.indices)
        np.testing.assert_array_equal(lower["d"], best.distances)


def test_containers(tmp_path):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((300, 12))
    X[X < 0.3] = 0
    wanted = nearest(X, 5)
    mapped = np.memmap(tmp_path / "X.dat", dtype=np.float64, mode="w+", shape=X.shape)
    mapped[:] = X
    padded = np.zeros((600, 24))
    padded[::2, ::2] = X
    for given in (
        np.asfortranarray(X),
        padded[::2, ::2],
        mapped,
        pd.DataFrame(X),
        sp.csr_array(X),
        X.tolist(),
        X.astype(object),
    ):
        found = nearest(given, 5)
        np.testing.assert_array_equal(found.indices, wanted.indices)
        np.testing.assert_array_equal(found.distances, wanted.distances)


@pytest.mark.parametrize("road", ROADS)
def test_queries(road):
    rng = np.random.default_rng(9)
    X, asked = rng.integers(0, 4, (500, 7)), rng.integers(0, 4, (90, 7)) + 0.5
    asked[0] *= 1e20
    indices, distances = sorted_lists(distance_matrix(asked, X), 11)
    found = nearest(X, 11, queries=asked, search=road)
    np.testing.assert_array_equal(found.indices[1:], indices[1:])
    np.testing.assert_allclose(found.distances, distances, rtol=1e-14)
    itself = nearest(X, 1, queries=X.astype(float), search=road)
    assert (itself.distances == 0).all()
    everything = nearest(X, len(X), queries=asked, search=road)
    np.testing.assert_array_equal(np.sort(everything.indices, axis=1)[3], np.arange(len(X)))


def test_lower_bounds_hold_and_an_inflated_basis_is_forgiven():
    rng = np.random.default_rng(10)
    X = (rng.standard_normal((300, 50)) * np.geomspace(1, 1e-3, 50) + 3).astype(np.float32)
    true = distance_matrix(X)
    basis = principal_directions(X, 9)
    for some in (None, basis, basis + 1e-9, 1.5 * basis, "fewer"):
        frame = frame_of(X, None, basis if isinstance(some, str) else some)
        points = frame.coordinates(X)
        if isinstance(some, str):
            points = fewer_directions(points, 4)
        square = points.square.astype(np.float64)
        bound = square[:, None] + square - 2.0 * (points.vectors @ points.vectors.T)
        reach = true * frame.scale + points.slack[:, None]
        assert (bound <= reach**2 * (1 + coordinates.SLACK_SHARE)).all()
        indices, _ = scan.scan_self(points, 5, 1)
        np.testing.assert_array_equal(indices, true_lists(X, 5)[0])


@pytest.mark.parametrize("k", [5, 90])  # a first reach from a forest, and from a sample
@pytest.mark.parametrize("longer", [1.002, 0.9])  # and one that is too short for many rows
def test_a_second_look_in_more_directions_changes_no_list(k, longer, monkeypatch):
    monkeypatch.setattr(panels, "GUESSED_RADIUS_MARGIN", longer)
    for seed, kind in ((13, np.float32), (14, np.float64)):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((1_300, 60)) * np.geomspace(1, 0.05, 60)
        X[rng.integers(0, 1_300, 40)] = X[7]  # copies, whose distances are 0
        X = (X + 4 * rng.integers(0, 3, size=(1_300, 1))).astype(kind)
        basis = principal_directions(X, 31)
        frame = frame_of(X, None, basis[:, :6])
        for more in (basis, 1.5 * basis):  # what is no basis costs time only
            closer = frame_of(X, None, more).coordinates(X)
            few = fewer_directions(closer, 6) if more is basis else frame.coordinates(X)
            found = scan.scan_self(few, k, 2, closer)
            wanted = nearest(X, k, search="kd-tree")
            np.testing.assert_array_equal(found[0], wanted.indices)
            np.testing.assert_array_equal(found[1], wanted.distances)


def test_a_second_look_is_taken_where_it_pays(monkeypatch):
    """Where true distances are dear: as long as the further coordinates are not dearer still."""
    monkeypatch.setattr(directions, "_DISTANCE_PAIR_NS", 1e5)
    rng = np.random.default_rng(15)
    X = rng.standard_normal((1_500, 300)) / np.arange(1, 301)
    wanted = nearest(X, 30, search="blocked")
    for price, second in ((0.0, True), (1e9, False)):
        monkeypatch.setattr(directions, "_PRODUCT_NUMBER_NS", price)
        count, more, basis = directions.direction_counts(
            X, len(X), 30, must_filter=True, second_stage=True
        )
        assert (more > count) == second
        assert basis is not None
        found = nearest(X, 30, search="filtered")
        np.testing.assert_array_equal(found.indices, wanted.indices)
        np.testing.assert_array_equal(found.distances, wanted.distances)


def test_a_lying_filter_is_noticed(monkeypatch):
    """If the defect of a bad basis is hidden, lists go wrong: this suite can see errors."""
    rng = np.random.default_rng(11)
    X = rng.standard_normal((400, 30))
    monkeypatch.setattr(Frame, "_defect", lambda self: 0.0)
    frame = frame_of(X, None, 3 * principal_directions(X, 20))
    indices, _ = scan.scan_self(frame.coordinates(X), 5, 1)
    assert (indices != true_lists(X, 5)[0]).any()


def test_approximate_recall_is_measured_and_repeatable():
    rng = np.random.default_rng(12)
    X = (rng.standard_normal((6000, 12)) @ rng.standard_normal((12, 80))).astype(np.float32)
    X += 0.5 * rng.standard_normal(X.shape).astype(np.float32)
    exact = nearest(X, 10)
    found = nearest(X, 10, search="approximate", random_state=1, recall_sample=400)
    true_recall = (
        np.mean(
            [len(np.intersect1d(a, b)) for a, b in zip(found.indices, exact.indices, strict=True)]
        )
        / 10
    )
    low, high = found.search.recall_interval
    assert low <= true_recall <= high
    assert found.search.sampled == 400
    assert not found.search.exact
    assert true_recall > 0.9
    assert "approximate" in found.search.sentence()
    again = nearest(X, 10, search="approximate", random_state=1, recall_sample=400)
    np.testing.assert_array_equal(found.indices, again.indices)
    assert found.search == again.search
    assert (found.indices != np.arange(6000)[:, None]).all()
    rows = np.repeat(np.arange(6000), 10)
    np.testing.assert_array_equal(
        found.distances.ravel(), pair_distances(X, X, rows, found.indices.ravel())
    )


def test_recall_intervals_cover():
    """Skewed rows (misses rare and clustered): the 95 % interval holds about as often."""
    rng = np.random.default_rng(13)
    population = np.where(rng.random(50000) < 0.03, rng.random(50000), 1.0)
    hits = 0
    for _ in range(400):
        low, high = recall_interval(rng.choice(population, 200))
        hits += low <= population.mean() <= high
    assert hits >= 0.92 * 400
    assert recall_interval(np.ones(1000)) == (pytest.approx(0.05**0.001), 1.0)


@pytest.mark.parametrize("kind", ["random", "grid", "duplicates", "line", "float32"])
def test_within_equals_brute_force(kind):
    X = kinds()[kind]
    full = distance_matrix(X)
    np.fill_diagonal(full, np.inf)
    for radius in (0.0, 1.0, np.quantile(full[np.isfinite(full)], 0.05)):
        indptr, indices, distances = neighbors_within(X, radius)
        for row in range(len(X)):
            near = np.flatnonzero(full[row] <= radius)
            near = near[np.argsort(full[row, near], kind="stable")]
            np.testing.assert_array_equal(indices[indptr[row] : indptr[row + 1]], near)
        row, column = np.nonzero(full <= radius)
        order = np.lexsort((column, full[row, column], row))
        np.testing.assert_allclose(distances, full[row, column][order])


def test_other_metrics_and_precomputed():
    rng = np.random.default_rng(14)
    X = rng.integers(0, 3, (200, 5))
    for metric, name in (("manhattan", "cityblock"), ("chebyshev", "chebyshev")):
        full = cdist(X, X, name)
        np.fill_diagonal(full, np.inf)
        indices, distances = sorted_lists(full, 6)
        found = nearest(X, 6, metric=metric)
        np.testing.assert_array_equal(found.indices, indices)
        np.testing.assert_array_equal(found.distances, distances)
        np.fill_diagonal(full, 0)
        given = nearest(full, 6, metric="precomputed")
        np.testing.assert_array_equal(given.indices, indices)
        for one, other in zip(
            neighbors_within(X, 1, metric=metric),
            neighbors_within(full, 1, metric="precomputed"),
            strict=True,
        ):
            np.testing.assert_array_equal(one, other)


def test_precomputed_sparse_keeps_zeros_and_any_row_length():
    entries = sp.coo_array(
        ([0.0, 2.0, 1.0, 9.0, 1.0], ([0, 0, 0, 1, 2], [1, 2, 3, 1, 0])), shape=(4, 4)
    )
    indptr, indices, distances = from_precomputed(entries)
    np.testing.assert_array_equal(indptr, [0, 3, 3, 4, 4])
    np.testing.assert_array_equal(indices, [1, 3, 2, 0])
    np.testing.assert_array_equal(distances, [0, 1, 2, 1])
    indptr, indices, _ = from_precomputed(entries, 2)
    np.testing.assert_array_equal(indptr, [0, 2, 2, 3, 3])
    np.testing.assert_array_equal(indices, [1, 3, 0])
    with pytest.raises(InvalidInput, match="from_precomputed"):
        nearest(entries, 1, metric="precomputed")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X: nearest(X, 30), "largest usable number here is 29"),
        (lambda X: nearest(X, 0), "whole number >= 1"),
        (lambda X: nearest(X, 2.5), "whole number >= 1"),
        (lambda X: nearest(X[:, 0], 2), "reshape"),
        (lambda X: nearest(np.where(X > 1, np.nan, X), 2), "NaN"),
        (lambda X: nearest(np.hstack([X * 1e200, X * 1e-200]), 2), "no unit has room"),
        (lambda X: nearest(X.astype(str) + "a", 2), "numbers"),
        (lambda X: nearest(X, 2, search="fast"), "must be one of"),
        (lambda X: nearest(X, 2, queries=X[:, :2]), "same columns"),
        (lambda X: nearest(X, 2, queries=X, search="approximate"), "search='auto'"),
        (lambda X: nearest(X, 2, metric="nonsense"), "pairwise_distances"),
        (lambda X: nearest(X, 2, metric="cosine", search="blocked"), "euclidean"),
        (lambda X: nearest(X, 2, metric="precomputed"), "square"),
        (lambda X: nearest(-np.ones((9, 9)), 2, metric="precomputed"), "negative"),
        (lambda X: neighbors_within(X, -1), "radius"),
        (lambda X: neighbors_within(X, np.nan), "radius"),
    ],
)
def test_errors_say_what_to_do(call, words):
    with pytest.raises(InvalidInput, match=words):
        call(np.random.default_rng(0).standard_normal((30, 4)))


@pytest.mark.full  # test_every_road_equals_brute_force has the same road, on other data
def test_mnist_sample_is_exact():
    path = os.environ.get("DUALFOLD_MNIST", "")
    if not Path(path).is_file():
        pytest.skip("set DUALFOLD_MNIST to an .npz with X (70000, 784) uint8 to run this")
    X = np.load(path)["X"][:5000]
    found = nearest(X, 10, search="filtered")
    assert found.search.method == "filtered"
    rows = np.random.default_rng(0).choice(len(X), 60, replace=False)
    exact = X.astype(np.int64)  # integer distances: ties are real and nothing is rounded
    for row in rows:
        square = ((exact - exact[row]) ** 2).sum(axis=1)
        square[row] = np.iinfo(np.int64).max
        order = np.lexsort((np.arange(len(X)), square))[:10]
        np.testing.assert_array_equal(found.indices[row], order)
        np.testing.assert_array_equal(found.distances[row], np.sqrt(square[order]))


def test_asymmetric_distances_are_refused_and_rounding_is_not():
    X = np.random.default_rng(0).normal(size=(30, 3))
    D = cdist(X, X)
    wrong = D.copy()
    wrong[4, 7] *= 2
    with pytest.raises(InvalidInput, match=r"symmetric, but between rows (4, 7|7, 4)"):
        nearest(wrong, 5, metric="precomputed")
    rounded = D * (1 + 1e-7 * np.random.default_rng(1).random(D.shape))
    found = nearest(rounded, 5, metric="precomputed")
    np.testing.assert_array_equal(found.indices, nearest(X, 5).indices)


RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))
DISTANCES = cdist(X, X)


def test_searches_of_rows_far_from_one_are_those_of_rows_near_one():
    """The squares of 1e200 are no doubles; the neighbours are the same, the distances scaled."""
    reach = np.full(len(X), 0.8)
    near, apart, pairs = nearest_and_reverse(X, 3, NEW, reach)
    power = 2.0**700
    far = nearest_and_reverse(power * X, 3, power * NEW, power * reach)
    np.testing.assert_array_equal(near, far[0])
    np.testing.assert_allclose(apart, far[1] / power, rtol=1e-14)
    np.testing.assert_array_equal(pairs[:2], far[2][:2])


def test_principal_directions_of_very_wide_rows():
    """Beyond 1,500 columns they are found by products: the same space as the singular vectors."""
    wide = RNG.normal(size=(60, 4)) * [9, 5, 3, 2] @ RNG.normal(size=(4, 1_600))
    wide += 1e-3 * RNG.normal(size=wide.shape)
    exact = np.linalg.svd(wide - wide.mean(axis=0), full_matrices=False)[2][:4].T
    assert np.sin(subspace_angles(principal_directions(wide, 4), exact)).max() < 1e-3


def test_booleans_and_sparse_rows_by_other_metrics():
    yes = RNG.random((20, 12)) < 0.4
    found = nearest(yes, 3, metric="jaccard")
    np.testing.assert_allclose(
        found.distances, np.sort(cdist(yes, yes, "jaccard"), axis=1)[:, 1:4], rtol=1e-12
    )
    stored = nearest(sp.csr_array(X), 3, metric="manhattan")
    np.testing.assert_allclose(stored.distances, nearest(X, 3, metric="manhattan").distances)
    asked = nearest(X, 3, queries=NEW, metric="chebyshev")
    np.testing.assert_allclose(asked.distances, np.sort(cdist(NEW, X, "chebyshev"))[:, :3])


def test_what_is_known_of_neighbours_within_a_radius():
    """Given distances are compared as they are; the rounding of other metrics is unknown."""
    assert radius_search(DISTANCES, "precomputed").rounding == 0
    assert np.isnan(radius_search(X, "cosine").rounding)
    assert radius_search(X, "euclidean").rounding > 0
    exact = exact_search("precomputed", 0.0).sentence()
    assert exact == "exact neighbours (precomputed), every row proved"
    indptr, *_ = neighbors_within(X[:, :2], 1e-9)  # nobody is so near, by the tree
    assert indptr.tolist() == [0] * 41


def test_no_rows_tell_nothing_of_a_recall():
    assert recall_interval(np.empty(0)) == (0.0, 1.0)
    low, high = recall_interval(np.ones(300))
    assert high == 1
    assert low == pytest.approx(1 - 3 / 300, abs=2e-4)  # the rule of three


def test_rows_without_a_common_column_have_no_neighbours():
    gaps = np.full((4, 4), np.nan)
    np.fill_diagonal(gaps, 1.0)
    with pytest.raises(InvalidInput, match=r"row 0 \(counted from 0\) has no column in common"):
        present_nearest(gaps, 1)


def test_whole_numbers_of_two_widths_are_two_tables():
    long = np.arange(12).reshape(4, 3) + 2**60
    with pytest.raises(InvalidInput, match="columns"):
        nearest(long, 2, queries=long[:, :2])


def test_new_rows_have_the_columns_of_the_old_ones():
    with pytest.raises(InvalidInput, match="2 columns"):
        nearest(X, 3, queries=NEW[:, :2], metric="chebyshev")


def test_longer_lists_begin_with_the_shorter_ones():
    X = np.round(roll_points(400, random_state=2))  # full of ties
    for table in (X, np.hstack([X, X[:, ::-1], X**2]), X[:, :1]):
        many, few = neighbors.nearest(table, 100).first(7), neighbors.nearest(table, 7)
        np.testing.assert_array_equal(many.indices, few.indices)
        np.testing.assert_array_equal(many.distances, few.distances)

"""Neighbour lists against brute force in float64, on every search and kind of data."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from dualfold.errors import InvalidInput
from dualfold.graph import knn, nearest, neighbors_within, radius
from tests.graph.door import (
    SLACK_SHARE,
    fewer_directions,
    frame_of,
    nearest_and_reverse,
    pair_distances,
    present_nearest,
    principal_directions,
    recall_interval,
    scan_self,
)
from tests.tools.tables import roll_points

SEARCHES = ("auto", "kd-tree", "blocked", "filtered")


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
def test_every_search_equals_brute_force(kind):
    X = kinds()[kind]
    all_indices, all_distances = true_lists(X, len(X) - 1)
    for k in sorted({1, min(10, len(X) - 1), len(X) - 1}):
        indices, distances = all_indices[:, :k], all_distances[:, :k]
        first = None
        for search in SEARCHES:
            found = nearest(X, k, search=search)
            np.testing.assert_array_equal(found.indices, indices, err_msg=search)
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
    for search in SEARCHES:
        found = nearest(X, 12, search=search)
        np.testing.assert_array_equal(found.indices, indices, err_msg=search)
        np.testing.assert_array_equal(found.distances, distances, err_msg=search)


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


@pytest.mark.parametrize("search", SEARCHES)
def test_queries(search):
    rng = np.random.default_rng(9)
    X, asked = rng.integers(0, 4, (500, 7)), rng.integers(0, 4, (90, 7)) + 0.5
    asked[0] *= 1e20
    indices, distances = sorted_lists(distance_matrix(asked, X), 11)
    found = nearest(X, 11, queries=asked, search=search)
    np.testing.assert_array_equal(found.indices[1:], indices[1:])
    np.testing.assert_allclose(found.distances, distances, rtol=1e-14)
    itself = nearest(X, 1, queries=X.astype(float), search=search)
    assert (itself.distances == 0).all()
    everything = nearest(X, len(X), queries=asked, search=search)
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
        assert (bound <= reach**2 * (1 + SLACK_SHARE)).all()
        indices, _ = scan_self(points, 5, 1)
        np.testing.assert_array_equal(indices, true_lists(X, 5)[0])


@pytest.mark.parametrize("k", [5, 90])  # a first radius from a forest, and from a sample
@pytest.mark.parametrize("longer", [1.002, 0.9])  # and a radius that is too short for many rows
def test_a_second_stage_in_more_directions_changes_no_list(k, longer, set_limits):
    set_limits("graph.panels", GUESSED_RADIUS_MARGIN=longer)
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
            found = scan_self(few, k, 2, closer)
            wanted = nearest(X, k, search="kd-tree")
            np.testing.assert_array_equal(found[0], wanted.indices)
            np.testing.assert_array_equal(found[1], wanted.distances)


def test_a_lying_filter_is_noticed():
    """If the slack of a bad basis is hidden, lists go wrong: this suite can see errors."""
    X = np.random.default_rng(11).standard_normal((400, 30))
    points = frame_of(X, None, 3 * principal_directions(X, 20)).coordinates(X)
    square = np.square(points.vectors).sum(axis=1)
    lying = replace(points, square=square, slack=np.zeros_like(points.slack))
    assert (scan_self(lying, 5, 1)[0] != true_lists(X, 5)[0]).any()


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
    assert recall_interval(np.empty(0)) == (0.0, 1.0)


@pytest.mark.parametrize("kind", ["random", "grid", "duplicates", "line", "float32"])
def test_within_equals_brute_force(kind):
    X = kinds()[kind]
    full = distance_matrix(X)
    np.fill_diagonal(full, np.inf)
    for reach in (0.0, 1.0, np.quantile(full[np.isfinite(full)], 0.05)):
        indptr, indices, distances = neighbors_within(X, reach)
        for row in range(len(X)):
            near = np.flatnonzero(full[row] <= reach)
            near = near[np.argsort(full[row, near], kind="stable")]
            np.testing.assert_array_equal(indices[indptr[row] : indptr[row + 1]], near)
        row, column = np.nonzero(full <= reach)
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
    indptr, indices, distances = neighbors_within(entries, 9.0, metric="precomputed")
    np.testing.assert_array_equal(indptr, [0, 3, 3, 4, 4])
    np.testing.assert_array_equal(indices, [1, 3, 2, 0])
    np.testing.assert_array_equal(distances, [0, 1, 2, 1])
    lists = knn(entries, 2, metric="precomputed").lists
    np.testing.assert_array_equal(lists.indptr, [0, 2, 2, 3, 3])
    np.testing.assert_array_equal(lists.indices, [1, 3, 0])
    with pytest.raises(InvalidInput, match="which takes rows of any length"):
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
        (lambda X: nearest(X, 3, queries=X[:, :2], metric="chebyshev"), "2 columns"),
        (lambda X: present_nearest(np.where(np.eye(4) > 0, 1.0, np.nan), 1), "row 0 .* no column"),
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


@pytest.mark.full  # test_every_search_equals_brute_force has the same search, on other data
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


def test_longer_lists_begin_with_the_shorter_ones():
    X = np.round(roll_points(400, random_state=2))  # full of ties
    for table in (X, np.hstack([X, X[:, ::-1], X**2]), X[:, :1]):
        many, few = nearest(table, 100).first(7), nearest(table, 7)
        np.testing.assert_array_equal(many.indices, few.indices)
        np.testing.assert_array_equal(many.distances, few.distances)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "jaccard", "chebyshev"])
@pytest.mark.parametrize("search", ["auto", "blocked", "filtered"])
def test_lists_do_not_depend_on_the_number_of_threads(search, metric):
    """Many tiles; wide rows, whose directions are found by products with a thin sample."""
    rng = np.random.default_rng(5)
    tables = [rng.standard_normal((3200, 8)) @ rng.standard_normal((8, 60))]
    if metric != "euclidean":
        if search != "auto":
            return
        tables = [tables[0][:700] > 1]
    elif search == "filtered":
        tables.append(rng.standard_normal((300, 4)) @ rng.standard_normal((4, 1_600)))
    for X in tables:
        X = np.round(X + 0.3 * rng.standard_normal(X.shape), 1).astype(np.float32)
        X = X > 0.5 if metric == "jaccard" else X
        one, *others = (nearest(X, 7, metric=metric, search=search, n_jobs=n) for n in (1, 2, 3))
        by_one = nearest(X, 7, metric=metric, search="auto", n_jobs=1)
        for found in (by_one, *others):
            np.testing.assert_array_equal(found.indices, one.indices)
            np.testing.assert_array_equal(found.distances, one.distances)


def test_the_nearest_row_of_many_queries_is_that_of_all_pairs():
    """Their first radius comes from a sample of the rows, by the triangle inequality."""
    rng = np.random.default_rng(0)
    X, queries = rng.standard_normal((300, 30)), rng.standard_normal((9_000, 30))
    found = nearest(X, 1, queries=queries, search="blocked")
    true = cdist(queries, X)
    np.testing.assert_array_equal(found.indices[:, 0], true.argmin(axis=1))
    np.testing.assert_allclose(found.distances[:, 0], true.min(axis=1), rtol=1e-13)


def test_the_rounding_of_given_distances_is_0_and_of_other_metrics_unknown():
    """The sentence says how close ties may be."""
    assert radius(DISTANCES, 1.0, metric="precomputed").search.rounding == 0
    assert np.isnan(radius(X, 0.1, metric="cosine").search.rounding)
    assert radius(X, 1.0).search.rounding > 0
    words = nearest(DISTANCES, 2, metric="precomputed").search.sentence()
    assert words == "exact neighbours (precomputed), every row proved"
    words = nearest(X, 2).search.sentence()
    assert words.startswith("exact neighbours (kd-tree), every row proved; ties within 2e-15")
    assert 1e-15 < nearest(RNG.standard_normal((30, 784)), 2).search.rounding < 2.1e-15


def test_no_rows_sparse_rows_and_equal_rows_in_large_units():
    for metric in ("euclidean", "hamming"):
        assert radius(X[:0], 0.5, metric=metric).n == 0
    indptr, *_ = neighbors_within(X[:, :2], 1e-9)  # nobody is so near, by the tree
    assert indptr.tolist() == [0] * 41
    for metric in ("euclidean", "manhattan"):
        stored = nearest(sp.csr_array(X), 3, metric=metric)
        np.testing.assert_allclose(stored.distances, nearest(X, 3, metric=metric).distances)
    asked = nearest(X, 3, queries=NEW, metric="chebyshev")
    np.testing.assert_allclose(asked.distances, np.sort(cdist(NEW, X, "chebyshev"))[:, :3])
    assert not nearest(np.full((110, 1), 2.0**480), 5).distances.any()

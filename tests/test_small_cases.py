"""Small and odd cases of graphs, weights and measures, each against what can be said by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.linalg import subspace_angles
from scipy.spatial.distance import cdist

from dualfold import PCA, quality, scale
from dualfold.errors import DisconnectedGraph, InvalidInput
from dualfold.graph import (
    Lists,
    from_lengths,
    geodesic_distances,
    joining_n_neighbors,
    knn,
    nearest,
    neighbors_within,
    present_nearest,
    subgraph,
)
from dualfold.graph.attachment import attach
from dualfold.graph.directed_lists import connected_lists
from dualfold.graph.lower_bounds import principal_directions
from dualfold.graph.neighbor_lists import exact_search, recall_interval
from dualfold.graph.neighbors import radius_search
from dualfold.graph.reached import nearest_and_reverse
from dualfold.quality.nonmetric import pool_violators
from dualfold.quality.rank_counts import euclidean_ranks
from dualfold.weights import weighted_laplacian
from dualfold.weights.affinity import Affinity, _farthest_listed
from dualfold.weights.covariance import scatter
from dualfold.weights.gram import refuse_asymmetry
from dualfold.weights.perplexity import conditional_affinities, joint_affinities
from dualfold.weights.row_passes import table

RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(40, 3)), RNG.normal(size=(7, 3))
DISTANCES = cdist(X, X)
NOBODY = Lists(np.zeros(4, np.int64), np.zeros(0, np.int64), np.zeros(0))


# ---- graphs


def linked(attached):
    """Pairs of an attachment, as a set."""
    rows, columns = attached.lengths.nonzero()
    return set(zip(rows.tolist(), columns.tolist(), strict=True))


@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_new_points_by_any_metric_are_linked_as_brute_force_says(metric):
    """By the "or" rule: among my nearest, or I am within the reach of its last one."""
    name = {"manhattan": "cityblock"}.get(metric, metric)
    apart, own = cdist(NEW, X, name), np.sort(cdist(X, X, name), axis=1)[:, 4]
    near = np.argsort(apart, axis=1)[:, :4]
    wanted = {(row, int(j)) for row in range(len(NEW)) for j in near[row]}
    wanted |= {(int(i), int(j)) for i, j in np.argwhere(apart <= own)}
    assert linked(attach(knn(X, 4, metric=metric), NEW)) == wanted


def test_new_points_by_their_distances_dense_or_sparse():
    graph, apart = knn(DISTANCES, 4, metric="precomputed"), cdist(NEW, X)
    dense, stored = attach(graph, apart), attach(graph, sp.csr_array(apart))
    assert linked(dense) == linked(stored) == linked(attach(knn(X, 4), NEW))
    with pytest.raises(InvalidInput, match="7 columns; there are 40 old points"):
        attach(graph, apart.T)


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


def test_neighbourhoods_that_share_nobody_fall_apart():
    two = np.vstack([X[:8], X[:8] + 100])
    with pytest.raises(DisconnectedGraph, match="2 groups that share no point"):
        connected_lists(knn(two, 5).lists)
    graph = knn(two, 3)
    enough = joining_n_neighbors(graph)
    assert knn(two, enough).n_pieces == 1 < knn(two, enough - 1).n_pieces
    assert joining_n_neighbors(knn(X, 12)) == 12  # in one piece already


def test_paths_need_lengths_of_at_least_0():
    graph = knn(X, 4)
    with pytest.raises(InvalidInput, match="edge lengths must be numbers from 0"):
        geodesic_distances(replace(graph, lengths=-graph.lengths))


def test_a_part_of_a_given_graph_keeps_its_lengths():
    """A graph without points has none in its parts."""
    lengths = knn(X, 4).lengths
    part = subgraph(from_lengths(lengths), np.arange(10))
    assert part.points is None
    assert abs(part.lengths - lengths[:10][:, :10]).max() == 0


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
    with pytest.raises(InvalidInput, match="row 0 has no column in common"):
        present_nearest(gaps, 1)


def test_whole_numbers_of_two_widths_are_two_tables():
    long = np.arange(12).reshape(4, 3) + 2**60
    with pytest.raises(InvalidInput, match="columns"):
        nearest(long, 2, queries=long[:, :2])


def test_an_infinite_radius_is_everybody():
    from dualfold import Isomap

    whole = Isomap(n_neighbors=None, radius=np.inf)
    found = whole.fit_transform(X)
    assert whole.graph_.n_edges == 40 * 39 // 2
    np.testing.assert_allclose(
        np.abs(found), np.abs(PCA(n_components=2).fit_transform(X)), atol=1e-6
    )
    given = Isomap(n_neighbors=None, radius=np.inf, metric="precomputed").fit_transform(DISTANCES)
    np.testing.assert_allclose(np.abs(given), np.abs(found), atol=1e-6)


# ---- weights


def test_weights_that_nothing_can_be_made_of():
    with pytest.raises(InvalidInput, match="no row has a neighbour"):
        joint_affinities(NOBODY, np.empty(0))
    endless = Lists(np.array([0, 1, 2]), np.array([1, 0]), np.array([np.inf, 1.0]))
    with pytest.raises(InvalidInput, match="not finite"):
        conditional_affinities(endless, 1.5)
    with pytest.raises(InvalidInput, match="no rows; at least one"):
        scatter(np.empty((0, 3)))
    with pytest.raises(InvalidInput, match="at least one row and one column"):
        table(np.empty((3, 0)))
    with pytest.raises(InvalidInput, match="2-dimensional and square"):
        refuse_asymmetry(DISTANCES[:3])
    uneven = DISTANCES.copy()
    uneven[3, 5] += 1
    with pytest.raises(InvalidInput, match=r"entry \(3, 5\)"):
        refuse_asymmetry(uneven)
    assert Affinity("adaptive").words == "adaptive weights"


# ---- measures


def test_a_rising_curve_of_nothing_is_nothing():
    none = np.empty(0)
    assert [len(part) for part in pool_violators(none, none, none)] == [0, 0, 0]


@pytest.mark.parametrize("measure", [quality.stress, quality.nonmetric_stress])
def test_distances_need_two_points(measure):
    with pytest.raises(InvalidInput, match="at least two points"):
        measure(X[:1], X[:1])


# ---- tables of other packages


def test_tables_without_rows_or_with_words_are_named():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1.0, 2.0, 4.0], "b": [3.0, 1.0, 0.0], "who": ["x", "y", "z"]})
    with pytest.raises(InvalidInput, match=r"LazyFrame, which has no rows yet"):
        PCA(n_components=1).fit(frame.lazy())
    with pytest.raises(InvalidInput, match=r"is one column; give X\.to_frame"):
        PCA(n_components=1).fit(frame["a"])
    for words in (frame, frame.to_pandas(), frame.to_arrow()):
        with pytest.raises(InvalidInput, match=r"a column that is no numbers \('who'\)"):
            PCA(n_components=1).fit(words)
    seven = pd.DataFrame({name: ["x", "y"] for name in "abcdefg"})
    with pytest.raises(InvalidInput, match=r"columns that are no numbers \('a', .*'e', …\)"):
        PCA(n_components=1).fit(seven)


def test_masked_entries_and_several_arrays_are_no_table():
    hidden = np.ma.masked_array(X, mask=X > 1)
    with pytest.raises(InvalidInput, match="has masked entries"):
        PCA(n_components=1).fit(hidden)
    several = type("Dataset", (), {"__module__": "xarray.core.dataset"})()
    with pytest.raises(InvalidInput, match=r"an xarray\.Dataset, several arrays under names"):
        PCA(n_components=1).fit(several)


def test_new_rows_have_the_columns_of_the_old_ones():
    with pytest.raises(InvalidInput, match="2 columns"):
        nearest(X, 3, queries=NEW[:, :2], metric="chebyshev")


def test_weights_of_long_edges_may_vanish_where_others_hold_the_graph():
    """exp(−(1.9/0.05)²) is no double; the chain of the two short edges is left."""
    line = knn(np.array([[0.0], [1.0], [1.9]]), 2)
    L, degrees = weighted_laplacian(line, weights="heat", width=0.05)
    assert L[[0], [2]] == 0
    assert (degrees > 0).all()
    with pytest.raises(InvalidInput, match="is too narrow"):
        weighted_laplacian(line, weights="heat", width=0.01)
    assert _farthest_listed(NOBODY).tolist() == [0.0, 0.0, 0.0]


def test_squares_that_vanish_are_named():
    with pytest.raises(InvalidInput, match="the squares of these data vanish"):
        scatter(1e-200 * X)


def test_measures_of_no_columns_and_of_lists():
    none = np.empty((40, 0), np.int32)
    assert euclidean_ranks(X, None, none, 1).shape == (40, 0)
    with pytest.raises(InvalidInput, match="one row for each point"):
        quality.t_similarity(X[:, 0], X, 3)


def test_approximate_lists_of_few_rows_are_exact():
    da = pytest.importorskip("dask.array")
    found = scale.neighbors(da.from_array(X, chunks=(15, 3)), 4, search="approximate")
    assert found.search.recall == 1
    np.testing.assert_allclose(found.distances, nearest(X, 4).distances, rtol=1e-12)

"""Approximate neighbours within cells: beside NumPy, and what the search promises of itself."""

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.graph import nearest
from dualfold.graph.cells import cell_lists, cells_of_points, needed_probes
from dualfold.graph.forest import NO_NEIGHBOR
from dualfold.graph.lower_bounds import frame_of


def groups(n, width, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, width)) + 4 * random.normal(size=(12, width))[np.arange(n) % 12]
    return X.astype(np.float32)


@pytest.mark.parametrize(("n", "width"), [(50, 1), (333, 5), (1500, 33)])
@pytest.mark.parametrize("n_probes", [1, 3])
def test_a_list_holds_the_nearest_rows_of_its_cells(n, width, n_probes):
    X = groups(n, width)
    points = frame_of(X, None, None).coordinates(X)
    cells = cells_of_points(points, np.random.default_rng(0))
    distance, index = cell_lists(points, cells, 5, n_probes, 2)
    halves = 0.5 * np.square(cells.centres).sum(axis=1)
    rows = (points.vectors - cells.shift) / cells.scale
    near = np.argsort(halves - rows @ cells.centres.T, axis=1, kind="stable")[:, :n_probes]
    for row in range(n):
        inside = np.flatnonzero(np.isin(near[:, 0], near[row]) & (np.arange(n) != row))
        squares = np.square(points.vectors[inside] - points.vectors[row]).sum(axis=1)
        best = np.sort(squares)[:5]
        found = index[row] != NO_NEIGHBOR
        assert found.sum() == len(best)
        assert len(set(index[row][found])) == len(best)
        assert set(index[row][found]) <= set(inside)
        # Squared lengths in float32, of vectors inside the unit ball.
        np.testing.assert_allclose(np.sort(distance[row][found]), best, atol=width * 2e-6)


def test_the_search_measures_the_recall_that_it_aims_at():
    X = groups(6000, 20)
    found = nearest(X, 12, search="approximate", random_state=0)
    true = nearest(X, 12).distances
    recall = (found.distances <= true[:, -1:]).mean()
    low, high = found.search.recall_interval
    assert found.search.method == "cells"
    assert low <= recall <= high
    assert recall > 0.9
    kept = np.sort(np.linalg.norm(X[:40, None] - X[found.indices[:40]], axis=2), axis=1)
    np.testing.assert_allclose(found.distances[:40], kept, rtol=1e-5)


def test_the_same_lists_on_any_number_of_threads():
    X = groups(4000, 15)
    one, two = (nearest(X, 9, search="approximate", random_state=3, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.distances, two.distances)


def test_where_cells_exclude_too_few_rows_the_search_is_exact():
    X = np.random.default_rng(0).normal(size=(2500, 40))
    found, true = nearest(X, 10, search="approximate"), nearest(X, 10)
    assert found.search.exact
    np.testing.assert_array_equal(found.indices, true.indices)


def test_copies_of_one_row_fill_their_lists():
    """All of them are in one cell, and others in cells of fewer rows than a list has."""
    X = np.concatenate([np.zeros((900, 6)), groups(1500, 6), 99 + np.eye(6)]).astype(np.float32)
    found = nearest(X, 30, search="approximate", random_state=0)
    assert found.indices.max() < len(X)
    assert np.isfinite(found.distances).all()
    assert all(len(set(row)) == 30 for row in found.indices)


def test_as_many_cells_as_the_wanted_share_needs():
    X = groups(2000, 8)
    points = frame_of(X, None, None).coordinates(X)
    cells = cells_of_points(points, np.random.default_rng(0))
    rows, lists = np.arange(0, 2000, 20), nearest(X, 8).indices[::20]
    counts = [needed_probes(cells, points, rows, lists, share) for share in (0.5, 0.9, 1.0)]
    assert counts == sorted(counts)
    distances = nearest(X, 8).distances
    found = cell_lists(points, cells, 8, counts[-1], 1)[1]
    reached = np.linalg.norm(X[rows, None] - X[found[rows]], axis=2).max(axis=1)
    np.testing.assert_allclose(reached, distances[rows, -1], rtol=1e-4)


def test_rows_that_few_directions_do_not_order_are_compared_in_all_columns():
    random = np.random.default_rng(0)
    X = random.normal(size=(4000, 300)) + 0.7 * random.normal(size=(20, 300))[np.arange(4000) % 20]
    found = nearest(X.astype(np.float32), 10, search="approximate", random_state=0)
    assert found.search.method == "cells"
    assert found.search.recall > 0.9


def test_a_row_far_away_makes_the_search_exact_and_not_blind():
    """In float32, in units that hold that row too, all others are on one spot."""
    X = groups(3000, 5).astype(float)
    X[17] = 1e12
    found, true = nearest(X, 10, search="approximate", random_state=0), nearest(X, 10)
    assert found.search.exact
    np.testing.assert_array_equal(found.indices, true.indices)


def test_numbers_of_many_magnitudes_make_the_search_exact_and_not_blind():
    X = np.exp(np.random.default_rng(0).uniform(-20, 20, (3000, 5)))
    found, true = nearest(X, 10, search="approximate", random_state=0), nearest(X, 10)
    recall = (found.distances <= true.distances[:, -1:]).mean()
    assert recall > 0.9


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e7])
def test_the_recall_of_directions_is_that_by_cosine(offset):
    """Beside a large common offset directions are nearer than float32 tells apart."""
    X = (groups(3000, 10) + np.float32(offset)).astype(np.float32)
    found = nearest(X, 10, metric="cosine", search="approximate", random_state=0)
    true = nearest(X, 10, metric="cosine")
    recall = (found.distances <= true.distances[:, -1:]).mean()
    low, high = found.search.recall_interval
    assert low <= recall <= high
    assert recall > 0.9


def test_ties_are_no_reason_against_cells():
    X = np.random.default_rng(0).integers(0, 4, (4000, 6)).astype(float)
    assert nearest(X, 5, search="approximate", random_state=0).search.method == "cells"


def test_a_row_of_zeros_that_has_no_direction_is_named():
    X = groups(3000, 5)
    X[41] = 0
    with pytest.raises(InvalidInput, match=r"row 41 .* zeros"):
        nearest(X, 5, metric="cosine", search="approximate")

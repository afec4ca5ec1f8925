"""Approximate neighbours within cells: beside NumPy, and what the search promises of itself."""

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.graph import nearest
from tests.graph.door import (
    NO_NEIGHBOR,
    cell_lists,
    cells_of_points,
    frame_of,
    needed_probes,
    pair_distances,
)


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


def test_a_row_of_zeros_that_has_no_direction_is_named():
    X = groups(3000, 5)
    X[41] = 0
    with pytest.raises(InvalidInput, match=r"row 41 .* zeros"):
        nearest(X, 5, metric="cosine", search="approximate")


def families():
    """Tables for the approximate search: their names, metrics and rows."""
    random = np.random.default_rng(0)
    low_rank = random.standard_normal((6000, 12)) @ random.standard_normal((12, 80))
    low_rank += 0.5 * random.standard_normal((6000, 80))
    centres = 0.7 * random.normal(size=(20, 300))
    tables = {
        "groups": groups(6000, 20),
        "low rank": low_rank.astype(np.float32),
        "ties": random.integers(0, 4, (4000, 6)).astype(float),
        "few directions do not order": random.normal(size=(4000, 300))
        + centres[np.arange(4000) % 20],
        "many magnitudes": np.exp(random.uniform(-20, 20, (3000, 5))),
    }
    # Beside a large common offset directions are nearer than float32 tells apart.
    far = {f"cosine, offset {by:g}": groups(3000, 10) + np.float32(by) for by in (0.0, 1e3, 1e7)}
    return [(name, "euclidean", X) for name, X in tables.items()] + [
        (name, "cosine", X) for name, X in far.items()
    ]


FAMILIES = families()


@pytest.mark.parametrize(("name", "metric", "X"), FAMILIES, ids=[name for name, *_ in FAMILIES])
def test_the_recall_is_measured_and_the_lists_are_repeatable(name, metric, X):
    settings = {"metric": metric, "search": "approximate", "random_state": 0}
    found, true = nearest(X, 10, **settings, n_jobs=1), nearest(X, 10, metric=metric)
    recall = (found.distances <= true.distances[:, -1:]).mean()
    low, high = found.search.recall_interval
    assert low <= recall <= high
    assert recall > 0.9
    assert ("approximate" in found.search.sentence()) == (not found.search.exact)
    again = nearest(X, 10, **settings, n_jobs=2)
    np.testing.assert_array_equal(found.indices, again.indices)
    np.testing.assert_array_equal(found.distances, again.distances)
    assert found.search.recall_interval == again.search.recall_interval
    assert (found.indices != np.arange(len(X))[:, None]).all()
    assert (np.diff(found.distances, axis=1) >= 0).all()
    if metric == "euclidean":
        assert found.search.exact == (name == "many magnitudes")
        pairs = np.repeat(np.arange(len(X)), 10), found.indices.ravel()
        np.testing.assert_array_equal(found.distances.ravel(), pair_distances(X, X, *pairs))


@pytest.mark.parametrize("kind", ["no groups", "a row far away", "alike directions"])
def test_where_cells_exclude_too_few_rows_or_float32_is_blind_the_search_is_exact(kind):
    """In float32, in units that hold a row far away too, all others are on one spot."""
    random = np.random.default_rng(0)
    X = random.normal(size=(2500, 40))
    if kind == "a row far away":
        X = groups(3000, 5).astype(float)
        X[17] = 1e12
    if kind == "alike directions":
        X = np.ones((1200, 40)) + 1e-9 * random.normal(size=(1200, 40))
    metric = "cosine" if kind == "alike directions" else "euclidean"
    found, true = (nearest(X, 10, metric=metric, search=how) for how in ("approximate", "auto"))
    assert found.search.exact
    np.testing.assert_array_equal(found.indices, true.indices)
    np.testing.assert_array_equal(found.distances, true.distances)

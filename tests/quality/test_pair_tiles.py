"""Pairs that are met once count for both their points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold import quality
from dualfold.kernels import c_constant, kernel
from dualfold.quality import space as spaces
from dualfold.quality.pair_measures import PairSumsCollector, pair_sums
from dualfold.quality.pair_tiles import each_pair_tile
from dualfold.quality.shepard import DistanceGrid
from dualfold.quality.space import both_spaces

RNG = np.random.default_rng(3)
TABLES = {
    "few columns": RNG.normal(size=(301, 3)),
    "float32": RNG.normal(size=(301, 20)).astype(np.float32),
    "equal rows": np.repeat(RNG.normal(size=(43, 12)), 7, axis=0),
}
MAP = RNG.normal(size=(301, 2))


@pytest.fixture(params=[1, 7, 64, 1000])
def height(request, monkeypatch):
    """Rows of a tile: one, some that leave a rest, all."""
    monkeypatch.setattr(spaces, "_MAX_TILE_ROWS", request.param)
    monkeypatch.setattr(spaces, "_NUMBERS_PER_CHUNK", 1 << 11)
    return request.param


@pytest.mark.parametrize("name", TABLES)
def test_tiles_hold_the_distances_to_all_later_points(name, height):
    x, y = both_spaces(TABLES[name], MAP, "euclidean", 2)
    seen = np.zeros((301, 301), dtype=int)

    def once(before, after, places):
        seen[places, places.start :] += 1
        wide = TABLES[name].astype(float)
        expected = cdist(wide[places], wide[places.start :])
        own = np.arange(len(before))
        before[own, own] = 0  # means nothing
        # Products of single rows and of many round differently.
        assert np.allclose(before, expected, rtol=1e-9, atol=1e-6 * expected.max())
        assert np.allclose(after[:, len(own) :], cdist(MAP[places], MAP[places.stop :]))

    each_pair_tile(x, y, None, lambda *_: pytest.fail("all pairs are met once"), once)
    both = np.maximum(seen, seen.T)
    assert (both == 1).all()


@pytest.mark.parametrize("name", TABLES)
def test_sums_and_counts_are_those_of_whole_rows(name, height):
    x, y = both_spaces(TABLES[name], MAP, "euclidean", 2)
    whole, grid = PairSumsCollector(x, y, None), DistanceGrid(x, y, 16)

    def rows(places, names):
        before, after = x.rows(names), y.rows(names)
        whole.add(before, after, places, names)
        grid.add(before, after, names)

    x.each_tile(rows, None)
    found, expected = pair_sums(x, y, None).sums, whole.result().sums
    assert np.allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    counts = quality.shepard(TABLES[name], MAP, bins=16).counts
    assert np.array_equal(counts, grid.diagram().counts)
    assert counts.sum() == 301 * 300


def test_sums_do_not_depend_on_the_number_of_threads(height):
    table = TABLES["float32"]
    found = [pair_sums(*both_spaces(table, MAP, "euclidean", jobs), None).sums for jobs in (1, 4)]
    assert np.array_equal(*found)


@pytest.mark.parametrize(("rows", "n", "first"), [(1, 5, 1), (3, 200, 3), (7, 64, 0), (2, 9, 9)])
def test_sums_by_columns_are_those_of_numpy(rows, n, first):
    before, after = RNG.normal(size=(2, rows, n))
    shift, scale = np.array([0.3, -0.2]), 1.7
    out = np.full((n - first, c_constant("PAIR_SUMS")), np.nan)
    kernel("pair_column_sums")(before, after, n, rows, first, shift, scale, out)
    b, a = before[:, first:], after[:, first:]
    x, y, e = b - shift[0], a - shift[1], b - scale * a
    terms = (x, y, x * x, x * y, y * y, e * e, e * a, a * a, b * b)
    assert np.allclose(out, np.array([term.sum(axis=0) for term in terms]).T)

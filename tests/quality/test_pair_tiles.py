"""Pairs that are met once count for both their points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from dualfold import quality
from dualfold.kernels import c_constant, kernel

RNG = np.random.default_rng(3)
TABLES = {
    "few columns": RNG.normal(size=(301, 3)),
    "float32": RNG.normal(size=(301, 20)).astype(np.float32),
    "equal rows": np.repeat(RNG.normal(size=(43, 12)), 7, axis=0),
}
MAP = RNG.normal(size=(301, 2))


@pytest.mark.parametrize("height", [1, 7, 64, 1000])  # one row, some that leave a rest, all
@pytest.mark.parametrize("name", TABLES)
def test_every_pair_counts_once_for_both_its_points_however_tiles_are_cut(name, height, set_limits):
    set_limits("quality.space", _MAX_TILE_ROWS=height, _NUMBERS_PER_CHUNK=1 << 11)
    X = TABLES[name]
    D, S = cdist(X.astype(float), X.astype(float)), cdist(MAP, MAP)
    off = ~np.eye(301, dtype=bool)
    r = np.corrcoef(D[off], S[off])[0, 1]
    assert quality.distance_correlation(X, MAP) == pytest.approx(r, abs=1e-9)
    residuals = np.square(D - S).sum(axis=1) / np.square(D).sum(axis=1)
    found = [quality.stress(X, MAP, scale=1.0, per_point=True, n_jobs=n) for n in (1, 4)]
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0] ** 2, residuals, rtol=1e-9)
    diagram = quality.shepard(X, MAP, bins=16)
    assert diagram.counts.sum() == 301 * 300
    counts = np.histogram2d(D[off], S[off], bins=(diagram.before, diagram.after))[0]
    # A distance at the border of two bins may be in either, by its rounding.
    assert np.abs(diagram.counts - counts).sum() <= 4 * (name != "few columns")


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

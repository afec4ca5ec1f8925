"""Cells that were filled in make no verdict better: maps are judged on plausible tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dualfold.data import Reading, prepare
from tests.quality.door import mean_picture, picture_of


def with_missing(X, share, rng):
    return np.where(rng.random(X.shape) < share, np.nan, X)


def judged(data):
    """The two principal axes of the filled table, judged as commands do."""
    centred = data.X - data.X.mean(axis=0)
    points = centred @ np.linalg.svd(centred, full_matrices=False)[2][:2].T
    pictures = [picture_of(X, points, 10) for X in data.plausible_tables()]
    return mean_picture(pictures, data.filled_share, data.doubt), points


def noise(rng):
    return rng.standard_normal((200, 10))


def surface(rng):
    """A bent sheet in ten columns, with little noise."""
    u, v = rng.uniform(-1, 1, (2, 200))
    bent = np.column_stack([u, v, np.sin(2 * u), u * v]) @ rng.standard_normal((4, 10))
    return bent / bent.std(axis=0) + 0.05 * rng.standard_normal((200, 10))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.75])
def test_missing_values_of_noise_make_no_picture(share):
    rng = np.random.default_rng(7)
    found, _ = judged(prepare(with_missing(noise(rng), share, rng)))
    assert found.grade in ("poor", "no picture of these data", "hardly any", "cannot be judged")
    assert found.filled_share > 0


def test_the_verdict_is_that_of_the_complete_table():
    """A map of a table with missing values keeps of the true rows what is said."""
    for share, tolerance in ((0.1, 0.03), (0.3, 0.06)):
        rng = np.random.default_rng(3)
        complete = surface(rng)
        found, points = judged(prepare(with_missing(complete, share, rng)))
        true = picture_of(complete, points, 10)
        # Five fillings differ by 0.01; the model is off by a few hundredths (docs/calibration.md).
        assert found.kept == pytest.approx(float(true.kept), abs=tolerance)
        assert found.kept.low <= found.kept <= found.kept.high


def test_large_values_that_are_missing_make_no_verdict_better():
    rng = np.random.default_rng(5)
    complete = noise(rng)
    lacking = np.where(complete > np.quantile(complete, 0.7, axis=0), np.nan, complete)
    whole, _ = judged(prepare(complete))
    assert judged(prepare(lacking))[0].beyond_chance <= whole.beyond_chance + 0.02


def test_drawn_cells_spread_as_known_ones_do():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(np.exp(rng.standard_normal((400, 3))), columns=list("abc"))
    frame["kind"] = rng.choice(["p", "q", "r"], 400, p=[0.6, 0.3, 0.1])
    frame = frame.mask(rng.random(frame.shape) < 0.3)
    data = prepare(frame)
    known = ~data.filled.hole
    tables = list(data.plausible_tables())
    for column in range(3):
        drawn = np.concatenate([X[~known[:, column], column] for X in tables])
        spread = np.quantile(data.X[known[:, column], column], [0.1, 0.5, 0.9])
        # The last decile of 600 skewed draws is off by 0.12 deviations or so.
        np.testing.assert_allclose(np.quantile(drawn, [0.1, 0.5, 0.9]), spread, atol=0.5)
    for X in tables:
        np.testing.assert_allclose(X[known], data.X[known], rtol=1e-12)
        standard = data.preparation.standard
        kinds = X[:, 3:] * standard.deviation[3:] + standard.mean[3:]
        assert set(np.round(kinds, 9).ravel()) == {0.0, 1.0}
        np.testing.assert_allclose(kinds.sum(axis=1), 1)
    first, again = (next(data.plausible_tables()) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_a_complete_table_is_its_only_plausible_one():
    data = prepare(noise(np.random.default_rng(0)))
    (only,) = data.plausible_tables()
    assert only is data.X
    assert data.filled_share == 0
    assert data.doubt == ""


def test_the_share_of_filled_cells_counts_a_category_once():
    frame = pd.DataFrame({"a": np.arange(20.0) ** 1.5, "kind": ["p", "q", "r", "s"] * 5})
    frame.loc[:3, "kind"] = None
    data = prepare(frame)
    assert data.filled_share == pytest.approx(4 / 40)
    pairs = [(i, j) for i in range(20) for j in range(i)]
    shared = np.mean([1 + (i > 3 and j > 3) for i, j in pairs])
    assert data.filled.shared_columns == pytest.approx(shared)


def test_rows_that_share_no_columns_are_not_judged():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 4))
    X[:30, :2], X[30:, 2:] = np.nan, np.nan
    X[rng.random(X.shape) < 0.2] = np.nan
    data = prepare(X, Reading(missing="mean"))
    found = judged(data)[0]
    assert found.grade == "cannot be judged"
    assert "columns in common" in str(found)
    assert found.poor

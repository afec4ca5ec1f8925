"""Columns that rise along a straight direction of a map, and what chance reaches."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from dualfold.errors import InvalidInput
from dualfold.quality import column_directions


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def groups_at_random_places(rng, n_groups=8, per_group=60):
    """Equidistant groups of structureless points, drawn anywhere on a map."""
    code = np.repeat(np.arange(n_groups), per_group)
    X = 6 * np.linalg.qr(rng.normal(size=(12, 12)))[0][code] + rng.normal(size=(len(code), 12))
    return X, rng.uniform(-10, 10, (n_groups, 2))[code] + 0.3 * rng.normal(size=(len(code), 2))


def test_direction_and_correlation_are_those_of_the_column(rng):
    Y = rng.normal(size=(800, 2)) * (1, 100)
    along = Y @ (0.6, 0.8 / 100)
    (found,) = column_directions({"c": np.exp(along) + 0.0}, Y)
    wanted = np.array([0.6, 0.8 / 100])
    assert found.direction @ (wanted / np.linalg.norm(wanted)) > 0.999
    assert found.correlation > 0.99
    assert found.chance < 0.3
    for axis in (0, 1):
        assert found.axes[axis] == pytest.approx(spearmanr(along, Y[:, axis])[0], abs=1e-12)


def test_correlations_with_axes_are_those_of_scipy_with_ties(rng):
    Y = rng.normal(size=(300, 1))
    yes = Y[:, 0] + rng.normal(size=300) > 0.5
    (found,) = column_directions({"c": yes}, Y)
    assert found.axes[0] == pytest.approx(spearmanr(yes, Y[:, 0])[0], abs=1e-12)


def test_noise_passes_the_level_of_chance_in_one_of_twenty(rng):
    Y = rng.normal(size=(250, 2))
    found = column_directions({str(i): rng.normal(size=250) for i in range(200)}, Y)
    # Binomial(200, 1/20): 10, and 24 is beyond four deviations.
    assert 1 <= sum(one.is_beyond_chance for one in found) <= 24


def test_groups_at_random_places_have_no_direction_beyond_chance(rng):
    passed = tests = 0
    for _ in range(3):
        X, Y = groups_at_random_places(rng)
        found = column_directions({str(i): x for i, x in enumerate(X.T)}, Y)
        passed += sum(one.is_beyond_chance for one in found)
        tests += len(found)
        # Permuted rows alone would say so of most columns.
        assert np.mean([one.correlation > 0.3 for one in found]) > 0.3
    assert passed <= 0.25 * tests


def test_order_of_groups_is_beyond_chance(rng):
    code = np.repeat(np.arange(8), 60)
    Y = np.column_stack([4.0 * code, np.zeros(480)]) + 0.3 * rng.normal(size=(480, 2))
    (found,) = column_directions({"c": code + 0.5 * rng.normal(size=480)}, Y)
    assert found.correlation > 0.9
    assert found.is_beyond_chance


def test_one_far_row_does_not_turn_a_direction(rng):
    Y = rng.normal(size=(500, 2))
    column = Y[:, 1] + 0.1 * rng.normal(size=500)
    Y[7], column[7] = (500.0, 0.0), 50.0
    (found,) = column_directions({"c": column}, Y)
    assert abs(found.direction[1]) > 0.95
    assert found.correlation > 0.9


def test_categories_dates_and_missing_values(rng):
    Y = rng.normal(size=(400, 2))
    kinds = np.where(Y[:, 0] > 0, "far", np.where(Y[:, 1] > 0, "up", "low")).astype(object)
    kinds[:30] = None
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(400), unit="D")
    gappy = np.where(rng.random(400) < 0.5, np.nan, Y[:, 1])
    frame = pd.DataFrame({"kind": kinds, "day": days, "gappy": gappy, "empty": np.nan, "one": 1.0})
    kind, day, gappy, empty, one = column_directions(frame, Y)
    assert (kind.title, kind.axis, kind.rows) == ("kind=far", 0, 370)
    assert kind.correlation > 0.8  # at most 0.87 of two values
    assert kind.direction[0] > 0.9
    assert not day.is_beyond_chance
    assert day.rows == 400
    assert gappy.correlation > 0.99
    assert 100 < gappy.rows < 300
    for column in (empty, one):
        assert column.direction == (0.0, 0.0)
        assert not column.is_beyond_chance


def test_wrong_lengths_are_refused(rng):
    with pytest.raises(InvalidInput, match="one value for each of 20 rows"):
        column_directions({"c": np.arange(19)}, rng.normal(size=(20, 2)))

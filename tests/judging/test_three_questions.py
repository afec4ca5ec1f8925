"""Maps whose right verdict is known: order without neighbours, neighbours without order, groups."""

from __future__ import annotations

import numpy as np

from benchmarks.calibration.map_verdicts import equidistant_groups, gradient_block
from dualfold.judging import map_verdict


def test_a_gradient_in_noise_shows_order_and_no_neighbours():
    found = map_verdict(*gradient_block(np.random.default_rng(0)))
    assert found.headline.startswith("Shows overall order (column ")
    assert found.headline.endswith("along axis 1), not who is near whom.")


def test_islands_at_random_places_show_neighbours_and_no_order():
    """A line that is cut into pieces: its columns would follow smooth curves on the map."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.uniform(0, 12, 700))
    X = np.column_stack([t, 3 * np.sin(t / 4), 3 * np.cos(t / 5)])
    place = rng.permutation(12)[np.floor(t).astype(int)]
    Y = np.column_stack([1.5 * (place % 4) + t % 1, 1.5 * (place // 4)])
    found = map_verdict(X, Y + 0.01 * rng.normal(size=Y.shape))
    assert found.layout.grade == "hardly any"
    assert found.neighborhoods.grade == "good"
    assert found.groups.found == 0
    assert found.headline.startswith("Shows who is near whom, not overall order")


def test_equidistant_groups_show_groups_alone():
    found = map_verdict(*equidistant_groups(np.random.default_rng(0)))
    assert found.headline == "Shows 8 groups of the data, not overall order nor who is near whom."

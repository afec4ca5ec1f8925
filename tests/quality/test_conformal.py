"""Conformal p-values of new rows hold by simulation and by their definition."""

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.quality import conformal_p_values
from tests.quality.door import compared_rows

DRAWS = {
    "normal": lambda n, rng: rng.standard_normal((n, 4)),
    "heavy tails": lambda n, rng: np.exp(1.5 * rng.standard_normal((n, 4))),
    "a thin group": lambda n, rng: (
        rng.standard_normal((n, 2)) * 10.0 ** (rows := rng.integers(0, 2, (n, 1))) + 80 * rows
    ),
    "repeated rows": lambda n, rng: rng.integers(0, 3, (n, 3)).astype(float),
}


@pytest.mark.parametrize("name", DRAWS)
def test_rows_drawn_as_the_old_ones_are_rarely_foreign(name):
    rng = np.random.default_rng(0)
    draw = DRAWS[name]
    p = np.concatenate([conformal_p_values(draw(150, rng), draw(50, rng)) for _ in range(40)])
    # 2,000 p-values: ±0.015 is three standard deviations of independent ones; they are not quite.
    assert np.mean(p <= 0.05) <= 0.07
    assert np.mean(p <= 0.2) <= 0.24
    if name != "repeated rows":  # there many tie, and ties count against foreign
        assert np.mean(p <= 0.05) >= 0.03
        assert np.mean(p <= 0.2) >= 0.12  # in two dimensions they are too large, as stated


def test_it_is_the_count_over_rows_one_by_one():
    rng = np.random.default_rng(1)
    old, new, k = rng.standard_normal((30, 2)), rng.standard_normal((5, 2)) + 1, 3
    between = np.linalg.norm(old[:, None] - old, axis=2)
    np.fill_diagonal(between, np.inf)
    order = np.argsort(between, axis=1)[:, :k]
    reach = np.sort(between, axis=1)[:, k - 1]
    scores = reach / reach[order].mean(axis=1)
    for x, p in zip(new, conformal_p_values(old, new, n_neighbors=k), strict=True):
        far = np.linalg.norm(old - x, axis=1)
        mine = np.sort(far)[k - 1] / reach[np.argsort(far)[:k]].mean()
        assert p == (1 + np.sum(scores >= mine)) / 31
    assert conformal_p_values(old[:6], new, n_neighbors=5).shape == (5,)
    for wrong in (0, 6):
        with pytest.raises(InvalidInput, match="must be from 1 to 5, fewer than the 6 old rows"):
            conformal_p_values(old[:6], new, n_neighbors=wrong)


def test_old_rows_that_differ_are_found_though_they_are_rare():
    old = np.zeros((1000, 3))
    old[np.random.default_rng(0).permutation(1000)[-1]] = 1.0  # the last to be drawn
    found = compared_rows(old, np.full((1, 3), 10.0))
    assert found.distances == pytest.approx([9.0])
    assert found.old_distance == pytest.approx(1.0)

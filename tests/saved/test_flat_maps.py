"""Stored maps with columns that have no extent: rightly so where the data has none there."""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from dualfold.errors import InvalidInput
from dualfold.methods import mds, mds_of_distances, pca
from dualfold.saved import certify_points

LINE = np.outer(np.linspace(-1, 2, 25), [1.0, 2.0, -1.0])
CLOUD = np.random.default_rng(3).normal(size=(25, 3))
LENGTHS = np.linalg.norm(LINE[:, None] - LINE[None], axis=-1)
OF_LINES = {
    "mds": lambda: mds(LINE, n_components=2),
    "distances": lambda: mds_of_distances(LENGTHS, n_components=2),
}


def flattened(problem):
    """The answer, its second coordinate set to what it is: nothing."""
    found = dualfold.embed(problem)
    points = found.points.copy()
    points[:, 1] = 0.0
    return points, np.array([found.values[0], 0.0])


@pytest.mark.parametrize("name", OF_LINES)
def test_a_line_has_one_coordinate_and_the_other_is_rightly_flat(name):
    problem = OF_LINES[name]()
    points, values = flattened(problem)
    honest = certify_points(problem, points, values)
    assert honest.level == "proved"
    assert "the first 1 coordinate(s); the data has no extent in the others" in honest.about
    assert certify_points(problem, points, None).level == "proved"  # none were stored
    assert certify_points(problem, points.astype(np.float32), None).level == "proved"


@pytest.mark.parametrize("name", OF_LINES)
def test_a_value_of_a_column_without_extent_is_doubted(name):
    problem = OF_LINES[name]()
    points, values = flattened(problem)
    forged = certify_points(problem, points, np.array([values[0], 0.5 * values[0]]))
    assert forged.level == "failed"
    assert any("eigenvalue 2 is stored, its column has no extent" in why for why in forged.reasons)


def test_what_is_not_known_by_its_entries_is_not_believed_to_be_flat():
    problem = pca(LINE, n_components=2, matrix="products")
    judged = certify_points(problem, *flattened(problem))
    assert judged.level == "failed"
    assert any("the data may have some there" in why for why in judged.reasons)


def test_a_column_that_was_wiped_out_is_doubted():
    for problem in (mds(CLOUD, n_components=2), pca(CLOUD, n_components=2)):
        points = flattened(problem)[0]
        forged = certify_points(problem, points, None)
        assert forged.level == "failed"
        assert any("the data may have some there" in why for why in forged.reasons)
        assert certify_points(problem, dualfold.embed(problem).points, None).level == "proved"


def test_extent_comes_first():
    problem = OF_LINES["distances"]()
    points, values = flattened(problem)
    forged = certify_points(problem, points[:, ::-1], values[::-1])
    assert forged.level == "failed"
    assert any("stands before one with extent" in why for why in forged.reasons)


def test_points_that_are_no_answer_to_the_data_are_refused():
    problem = OF_LINES["distances"]()
    points, values = flattened(problem)
    for wrong, said in (
        (points.astype(str), "are no real numbers"),
        (points[:9], "9 points are stored and the data has 25 rows"),
        (points[:, :1], "this problem has 2 coordinates"),
    ):
        with pytest.raises(InvalidInput, match=said):
            certify_points(problem, wrong, None)
    for wrong, said in ((points * 1e200, "overflow"), (points * np.nan, "NaN or infinite")):
        judged = certify_points(problem, wrong, values)
        assert judged.level == "failed"
        assert any(said in why for why in judged.reasons)

"""Stored unfoldings: both sides prove one again; what is none of the data is refused."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.data import swiss_roll
from dualfold.errors import InvalidInput
from tests.unfolding.door import BothSides, leading_doubts, rechecked_unfolding

X = swiss_roll(80, random_state=0).points


def test_both_sides_of_an_unfolding_are_judged_again():
    graph = dualfold.graph.knn(np.vstack([X, X[:3]]), 6)  # three points twice
    graph = dualfold.graph.join_pieces(graph)
    unfolding = dualfold.unfolding.unfold(graph)
    points = unfolding.coordinates(2)[0]
    sides = BothSides(unfolding.factor, unfolding.weights)
    again = rechecked_unfolding(graph, points, sides, tolerance=1e-4)
    assert again.level == "proved"
    np.testing.assert_allclose(again.upper, unfolding.certificate.upper, rtol=1e-9)
    alone = rechecked_unfolding(graph, points, None, tolerance=1e-4)
    assert alone.level in ("within", "failed")  # rough bounds prove little
    assert alone.lower <= unfolding.certificate.upper <= alone.upper * (1 + 1e-9)
    weak = type(sides)(sides.factor, sides.weights.power(2))
    assert rechecked_unfolding(graph, points, weak, tolerance=1e-4).level in ("within", "failed")
    moved = points.copy()
    moved[3] += 1.0
    assert rechecked_unfolding(graph, moved, sides, tolerance=1e-4).level == "failed"


def test_other_points_than_those_of_the_graph_are_refused():
    rows = np.random.default_rng(0).normal(size=(30, 3))
    graph = dualfold.graph.knn(rows, 4)
    for wrong, words in (
        (rows[:5, :2], "5 points are stored"),
        (rows[:, 0], "of shape"),
        ([["a"]], "U1"),
    ):
        with pytest.raises(InvalidInput, match=words):
            rechecked_unfolding(graph, wrong, None)
    sides = BothSides(rows[:5], sp.csr_array((5, 5)))
    with pytest.raises(InvalidInput, match="no unfolding of 30 rows"):
        rechecked_unfolding(graph, rows[:, :2], sides)


def test_an_unfolding_of_nothing_has_no_leading_directions():
    assert leading_doubts(np.zeros((5, 2)), np.zeros((5, 2))) == []
    assert "more" in leading_doubts(np.zeros((5, 2)), np.ones((5, 2)))[0]

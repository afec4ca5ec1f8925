"""The dual of unfolding as a game: which graphs it takes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from dualfold.errors import ConditionFails, DisconnectedGraph, InvalidInput
from dualfold.theory.games import EasiestBend, unfolding_game


@pytest.mark.parametrize(
    "edges",
    [[[0, 1], [2, 2]], [[0, 1], [1, 3]], [[0, 1], [-1, 2]], [[0.0, 1.0], [1.0, 2.0]]],
    ids=["a loop", "beyond the last", "below 0", "no whole numbers"],
)
def test_the_dual_of_unfolding_takes_edges_between_different_rows(edges):
    with pytest.raises(InvalidInput, match="two different row numbers from 0 to 2"):
        EasiestBend(3, np.array(edges), np.ones(2))
    assert EasiestBend(3, np.array([[0, 1], [1, 2]]), np.ones(2)).n == 3


def test_an_unfolding_of_several_pieces_has_no_end():
    with pytest.raises(DisconnectedGraph, match="take its largest piece"):
        unfolding_game(4, [[0, 1], [2, 3]], [1.0, 1.0], rounds=10)


def test_the_stretch_of_an_unfolding_is_bounded_by_its_shortest_edge():
    edges, squared = np.array([[0, 1], [1, 2], [2, 3]]), np.array([0.25, 1.0, 4.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConditionFails)
        run = unfolding_game(4, edges, squared, rounds=30).play()
    assert run.gap[-1] <= unfolding_game(4, edges, squared, rounds=30).bound(30)
    bend = EasiestBend(4, edges, squared)
    G = min(2 / 0.25, -4 * float(bend.subgradient(np.full(3, 1 / 3)).min()))
    step = np.sqrt(2 * np.log(3) / 30) / G
    bound = np.log(3) / (step * 30) + step * G**2 / 2
    assert unfolding_game(4, edges, squared, rounds=30).bound(30) == pytest.approx(bound)

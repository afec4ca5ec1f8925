"""The dual of unfolding as a game: which graphs it takes."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import DisconnectedGraph, InvalidInput
from dualfold.games import EasiestBend
from dualfold.games.unfolding_dual import unfolding_game


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

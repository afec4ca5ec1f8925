"""The game's bracket of an unfolding holds the optimum of the interior point."""

from __future__ import annotations

import pytest

from dualfold.games import unfolding_bracket, unfolding_game
from dualfold.graph import join_pieces, knn
from dualfold.unfolding import contraction_of, unfold
from tests.tools.tables import roll_points


@pytest.mark.full
def test_a_small_roll_against_the_interior_point():
    """The game's bracket closes slowly, and always holds the value that is known to 1e-8."""
    graph = join_pieces(knn(roll_points(60, random_state=0), 6))
    unfolding = unfold(graph, solver="interior_point", tol=1e-8)
    exact = unfolding.certificate
    assert exact.gap < 1e-6
    problem = contraction_of(graph).problem
    for rounds in (100, 1000):
        run = unfolding_game(60, problem.edges, problem.squared, rounds=rounds).play()
        low, high = unfolding_bracket(run)
        assert low <= exact.upper
        assert high >= exact.lower
    assert low > 0.6 * exact.lower
    assert high < 1.5 * exact.lower

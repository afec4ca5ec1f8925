"""Which solver is taken: limits of size, small worlds, predicted products."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import TooLarge
from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.solvers import Dense as DenseSolver
from tests.trace.door import MIN_SMALL_WORLD_ROWS, Pace, Progress, _is_small_world, _product_seconds

RNG = np.random.default_rng(0)


def problem(A, count=1, **more):
    return TraceProblem(np.asarray(A, dtype=float), None, count, "min", **more)


def test_a_dense_solve_has_a_limit():
    with pytest.raises(TooLarge, match=r"given 4 rows; it takes up to 3"):
        DenseSolver(most_rows=3).attempt(problem(np.eye(4)))


def test_graphs_that_are_crossed_in_few_steps_are_known_by_products():
    """A ring takes n/2 steps, a ring with random chords about log n."""
    n = MIN_SMALL_WORLD_ROWS
    ring = sp.diags_array([1.0, 1.0], offsets=[1, -1], shape=(n, n), format="csr")
    places = RNG.permutation(n)
    chords = sp.csr_array((np.ones(n), (np.arange(n), places)), shape=(n, n))
    small = sp.csr_array(ring + chords + chords.T)
    story = []
    assert not _is_small_world(TraceProblem(ring, None, 1, "min"), story)
    assert _is_small_world(TraceProblem(small, None, 1, "min"), story)
    assert len(story) == 1
    assert "nine in ten rows" in story[0]


def test_products_are_foreseen_by_their_entries():
    M = sp.csr_array(np.ones((3, 4)))
    by_factor = _product_seconds(TraceProblem(Gramian(M), None, 1, "min"))
    stored = _product_seconds(TraceProblem(sp.csr_array(np.ones((4, 4))), None, 1, "min"))
    assert stored < by_factor  # 16 and 24 multiply-adds
    large = np.ones((1_000, 1_000))
    stored = _product_seconds(TraceProblem(sp.csr_array(large), None, 1, "min"))
    assert _product_seconds(problem(large)) < stored / 4  # a dense matrix is read in order


def test_a_dense_iteration_is_left_for_lapack_when_it_has_cost_half_of_it():
    pace = Pace(seconds_per_product=1.0, budget=60.0, rents=True)
    # A digit in ten products: far from the end, it is left as soon as half of the budget is spent.
    left = [pace(Progress(4 * k, 10.0 ** (20 - 0.4 * k))) for k in range(1, 10)]
    assert left == [4 * k > 30 for k in range(1, 10)]
    pace = Pace(seconds_per_product=1.0, budget=60.0, rents=True)
    # As fast, but nearly there: what is left is less than the budget.
    assert not any(pace(Progress(4 * k, 10.0 ** (8 - 0.4 * k))) for k in range(1, 20))
    pace = Pace(seconds_per_product=1.0, budget=1.0, rents=True)
    assert [pace(Progress(4 * k, 1e9)) for k in range(1, 7)] == [False] * 5 + [True]

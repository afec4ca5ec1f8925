"""Which solver is taken: limits of size, small worlds, predicted products."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import TooLarge
from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.solvers import Dense as DenseSolver
from dualfold.trace.solvers.auto import MIN_SMALL_WORLD_ROWS, _is_small_world, _product_seconds

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
    filled = _product_seconds(problem(np.ones((4, 4))))
    stored = _product_seconds(TraceProblem(sp.csr_array(np.ones((4, 4))), None, 1, "min"))
    assert stored == filled < by_factor  # 16, 16 and 24 multiply-adds

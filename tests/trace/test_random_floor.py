"""Floors from a random search: what an invariant space leaves to chance."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.trace import TraceProblem
from dualfold.trace.proof.random_search import random_floor
from dualfold.trace.proof.trial_directions import trial


def test_an_invariant_space_leaves_the_chance_of_what_it_did_not_see():
    """√n·(blur + 8u·scale)/MISS^¼ is taken off the height of few eigenvalues."""
    n = 600
    few = TraceProblem(sp.csr_array(sp.diags_array(np.r_[-3.0, -2.0, np.ones(n - 2)])), count=2)
    floor = random_floor(few, trial(few, np.eye(n)[:, :2]), 3.0, 1e-4, False)
    least = np.sqrt(n) * (64 * 2.0**-53 * 4 * 3) / 1e-3
    assert least <= 1 - floor.height <= 10 * least

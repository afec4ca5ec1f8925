"""Rays that prove a program infeasible: how wrong they may be."""

from __future__ import annotations

import numpy as np

from dualfold.programs import LinearProgram, certify_infeasible


def test_a_ray_that_is_right_to_rounding_alone_proves_nothing():
    """x ≤ 1 and x ≥ 1: (1 − 1e-9, 1) has a fall, but the exact ray beside it has none."""
    touching = LinearProgram([0.0], [[1.0], [-1.0]], [1.0, -1.0])
    assert certify_infeasible(touching, [1.0 - 1e-9, 1.0]).level != "proved"
    assert certify_infeasible(touching, [1.0, 1.0]).level == "failed"


def test_a_ray_may_be_a_little_wrong_in_its_own_size():
    torn = LinearProgram([0.0], [[1.0], [-1.0], [1.0]], [0.0, -1.0, 7.0])
    for size in (2.0**-30, 1.0, 2.0**30):
        ray = size * np.array([1.0, 1.0, -1e-10])
        assert certify_infeasible(torn, ray).level == "proved"
        assert certify_infeasible(torn, size * np.array([1.0, 1.0, -1e-3])).level == "failed"

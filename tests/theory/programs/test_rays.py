"""Rays that prove a program infeasible: how wrong they may be."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dualfold.programs import (
    LinearProgram,
    QuadraticProgram,
    certify_infeasible,
    certify_unbounded,
)


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


def far_away():
    """Rows that only points beyond 10¹³ keep: x − y ≤ −1 and −x + (1 + 10⁻¹³)y ≤ 0."""
    tilt = 1 + 2.0**-43
    return np.array([[1.0, -1.0], [-1.0, tilt]]), np.array([-1.0, 0.0]), np.ones(2)


def test_a_ray_that_does_not_vanish_excludes_points_up_to_a_size():
    A, b, ray = far_away()
    found = certify_infeasible(LinearProgram(np.zeros(2), A, b), ray)
    assert found.level == "within reach"
    assert np.isnan(found.value)
    inside = np.array([-(2.0**44) - 2, -(2.0**44)])  # keeps both rows
    assert (A @ inside <= b).all()
    assert max(found.extent) < np.abs(inside).max()
    assert min(found.extent) > 1e8
    # Softened rows bound nothing: there every size of x has points.
    soft = QuadraticProgram(np.zeros((2, 2)), np.zeros(2), A, b, R=np.array([[1.0, -1], [-1, 1]]))
    assert certify_infeasible(soft, ray).level == "failed"


def test_softened_rows_that_do_not_vanish_prove_nothing():
    """Ry must be 0 exactly: a point with −Rw as large as it likes keeps all rows."""
    A, b = np.array([[1.0], [-1.0]]), np.array([0.0, -1.0])  # x ≤ 0 and x ≥ 1
    almost = np.array([[1.0, -1.0], [-1.0, 1.0 + 2.0**-40]])
    for R, level in (
        (None, "proved"),
        (np.array([[1.0, -1], [-1, 1]]), "proved"),
        (almost, "failed"),
    ):
        stated = LinearProgram([0.0], A, b)
        if R is not None:
            stated = QuadraticProgram(np.zeros((1, 1)), [0.0], A, b, R=R)
        assert certify_infeasible(stated, np.ones(2)).level == level


def test_sizes_of_excluded_points_are_held_against_the_limits():
    """Rays that exclude points up to 10¹³: far for limits of 1, not for limits of 10⁸."""
    A, b, ray = far_away()
    for scale, level in ((1.0, "within reach"), (2.0**30, "within reach")):
        assert certify_infeasible(LinearProgram(np.zeros(2), A, scale * b), ray).level == level
    more = LinearProgram(np.zeros(2), np.vstack([A, [[1.0, 0.0]]]), np.r_[b, 2.0**30])
    assert certify_infeasible(more, np.r_[ray, 0.0]).level == "failed"


def test_what_is_not_negative_costs_only_where_the_rest_is_negative():
    tilt = 2.0**-43
    for last, level in ((-1 - tilt, "within reach"), (-1 + tilt, "proved")):
        A = np.array([[-1.0, 1.0], [1.0, last]])
        program = LinearProgram(np.zeros(2), A, np.array([-1.0, 0.0]), nonnegative=2)
        found = certify_infeasible(program, np.ones(2))
        assert found.level == level
        if level == "within reach":  # y = 2⁴⁴, x = y + 1 keeps everything
            assert 1e8 < min(found.extent) <= max(found.extent) < 2.0**44


def test_rays_say_what_they_do():
    torn = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])
    assert "combines the constraints" in certify_infeasible(torn, [1.0, 1.0]).grounds
    falling = LinearProgram([-2.0], [[-1.0]], [0.0])
    found = certify_unbounded(falling, [1.0], [1.0])
    assert found.level == "proved"
    assert "improves by" in found.grounds


def test_rays_by_hand():
    torn = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, -1.0])
    for size in (1.0, 2.0**30):
        ray = certify_infeasible(torn, [size, size])
        assert (ray.level, ray.claim, ray.margin, ray.gap) == ("proved", "infeasible", 1.0, 0.0)
        assert ray.value == math.inf
    assert certify_infeasible(torn, [1.0, 0.5]).level == "failed"
    assert certify_infeasible(torn, [-1.0, -1.0]).level == "failed"
    whole_line = LinearProgram([0.0], [[1.0], [-1.0]], [0.0, 1.0])
    assert certify_infeasible(whole_line, [1.0, 1.0]).level == "failed"
    open_end = LinearProgram([-3.0, 1.0], [[-1.0, 1.0]], [2.0], nonnegative=2)
    away = certify_unbounded(open_end, [0.0, 0.0], [1.0, 0.0])
    assert (away.level, away.claim, away.value) == ("proved", "unbounded", -math.inf)
    assert away.margin == pytest.approx(3.0)
    assert certify_unbounded(open_end, [0.0, 5.0], [1.0, 0.0]).level == "failed"
    assert certify_unbounded(open_end, [0.0, 0.0], [0.0, 1.0]).level == "failed"
    assert certify_unbounded(open_end, [0.0, 0.0], [-1.0, 0.0]).level == "failed"
    flat = QuadraticProgram(np.diag([0.0, 1.0]), [-3.0, 1.0], [[-1.0, 1.0]], [2.0], nonnegative=2)
    assert certify_unbounded(flat, [0.0, 0.0], [1.0, 0.0]).level == "proved"
    assert certify_unbounded(flat, [0.0, 0.0], [1.0, 0.5]).level == "failed"

"""Solvers by descent on the sphere: values, distances that they report, starts."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.trace import TraceProblem
from dualfold.trace.solvers import Gradient, PaperGradient
from tests.trace.door import _distances, _new_directions, _start


def test_descents_on_the_sphere_find_the_largest_values():
    rng = np.random.default_rng(2)
    Q = np.linalg.qr(rng.normal(size=(30, 30)))[0]
    values = np.r_[9.0, 7.0, 6.0, np.linspace(0, 3, 27)]
    problem = TraceProblem((Q * values) @ Q.T, count=2, sense="max")
    found = Gradient().attempt(problem)
    assert found.status == "converged"
    np.testing.assert_allclose(found.values, [9.0, 7.0], rtol=1e-9)
    off = found.vectors - Q[:, :2] @ (Q[:, :2].T @ found.vectors)
    assert np.linalg.norm(off) < 1e-6
    assert found.history[-1][0] == pytest.approx(-16.0)
    assert (np.diff(found.history[:, 0]) <= 1e-9).all()  # never worse
    assert found.products >= 6
    short = Gradient(most_steps=1).attempt(problem)
    assert short.status == "stopped"
    near = Gradient(start=Q[:, :2]).attempt(problem)
    assert near.products <= found.products
    whole = Gradient().attempt(TraceProblem(np.diag([3.0, 1.0]), count=2, sense="max"))
    np.testing.assert_allclose(whole.values, [3.0, 1.0])
    for wrong in (
        TraceProblem(np.eye(3), count=1),
        TraceProblem(np.eye(3), np.ones(3) * 2, 1, "max"),
    ):
        with pytest.raises(InvalidInput, match="maxima with B = I"):
            Gradient().attempt(wrong)
    paper = PaperGradient(rounds=4, start=Q[:, :2] / np.sqrt(2), step=0.0).attempt(problem)
    np.testing.assert_allclose(paper.values.sum(), 16.0, rtol=1e-9)
    assert paper.products == 2 * 5
    assert "length 12.5" in PaperGradient(rounds=4).attempt(problem).story[0]


def test_parts_of_the_descent():
    values, residuals = np.array([-9.0, -7.0, -6.0]), np.diag([3e-3, 4e-3, 0.1])
    sine, excess, settled = _distances(values, residuals, 2)
    assert sine == pytest.approx(5e-3 / 0.9)  # ‖(3, 4)‖ over −6 − 0.1 + 7
    assert excess == pytest.approx(25e-6 / 0.9 / 16)
    assert not settled
    assert _distances(values[:2], residuals[:, :2], 2)[:2] == (np.inf, np.inf)
    assert _distances(np.array([-9.0, -7.0, -7.0]), residuals, 2)[:2] == (np.inf, np.inf)
    assert _distances(values, 0 * residuals, 2) == (0.0, 0.0, True)
    known = np.eye(5)[:, :2]
    fresh = _new_directions(
        np.array([[1.0, 1, 0], [0, 2, 0], [3, 3, 0], [0, 4, 0], [0, 0, 0]]), known
    )
    assert fresh.shape == (5, 2)
    np.testing.assert_allclose(fresh.T @ fresh, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(known.T @ fresh, 0, atol=1e-12)
    assert _new_directions(np.zeros((5, 2)), known).shape == (5, 0)
    start = _start(np.ones((4, 1)), 4, 3, 0)
    np.testing.assert_array_equal(start[:, 0], 1.0)
    np.testing.assert_array_equal(start[:, 1:], _start(None, 4, 3, 0)[:, 1:])
    for wrong in (np.ones(4), np.ones((3, 1)), np.full((4, 1), np.nan)):
        with pytest.raises(InvalidInput, match="start must be"):
            _start(wrong, 4, 2, 0)

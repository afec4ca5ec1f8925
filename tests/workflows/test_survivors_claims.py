"""Faults by which a bound would claim more than is true, from a second sample (`mutants.py`)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.games import Ball, HalfSquare, Product
from dualfold.games.composed import Sum
from dualfold.games.convex import Convex
from dualfold.games.given import doubles
from dualfold.games.planes import Plane, Share
from dualfold.programs import bounds as curvature
from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.proof import exact_arithmetic as exact
from dualfold.trace.proof import routes as proofs
from dualfold.trace.proof import singular_values as singular
from dualfold.trace.proof.completeness import pivot_floor
from dualfold.trace.proof.routes import evidence
from dualfold.trace.proof.trial_directions import trial
from tests.proofs.coarse import U, coarse, gamma, patched


class Tilted(Convex):
    """A bowl whose plane is known to a slack, taken away from the origin."""

    concavity, strong_convexity = 0.0, 2.0

    def maximiser(self, y):
        return np.array([2.0, 0.0])

    def plane(self, z):
        return Plane(1.0, np.array([0.5, 0.0]), 0.25)


def test_curved_planes_pay_for_their_slack_at_the_point_itself():
    """⟨r, x − o⟩ − s‖x − o‖ + (m/2)‖x − c‖² ≥ ⟨r, d⟩ − s‖d‖ − (‖r‖ + s)²/2m."""
    rest, slack = np.array([0.25, 0.0]), 0.25
    found = Tilted().share(np.array([-0.25, 0.0]), 0.0, np.zeros(2))
    plain = 1.0 - 0.5 * 2 - slack * 2
    most = plain + rest[0] * 2 - slack * 2 - (0.25 + slack) ** 2 / (2 * 2.0)
    assert most - 1e-9 <= found.bound <= most


def test_a_share_is_whole_only_without_rest_and_without_slack():
    zero, one = np.zeros(2), np.array([0.0, 1.0])
    cases = ((zero, 0.0, True), (zero, 0.5, False), (one, 0.0, False), (one, 0.5, False))
    for rest, slack, whole in cases:
        assert Share(1.0, rest, slack).whole is whole


class Unbounded(Ball):
    rounding_bounded = False


class Stranger(HalfSquare):
    rounding_bounded = False


def test_one_part_whose_rounding_nobody_bounds_is_enough():
    sure, not_sure = Ball(1.0), Unbounded(1.0)
    assert Product((sure, sure), (1, 1)).rounding_bounded
    assert not Product((sure, not_sure), (1, 1)).rounding_bounded
    assert Sum(HalfSquare(), HalfSquare()).rounding_bounded
    assert not Sum(HalfSquare(), Stranger()).rounding_bounded
    assert not Sum(Stranger(), HalfSquare()).rounding_bounded


def test_one_number_with_too_many_digits_is_enough():
    long = np.array([1, 3], dtype=np.longdouble) / np.array([1, 7], dtype=np.longdouble)
    if np.finfo(np.longdouble).nmant > 52:  # elsewhere a long double is a double
        with pytest.raises(InvalidInput, match="no double holds"):
            doubles(long, "weights")
    assert doubles(long[:1], "weights").tolist() == [1.0]


def test_curvature_of_many_rows_pays_for_each(monkeypatch):
    unit, n = 2.0**-16, 30
    patched(monkeypatch, curvature, EPS=unit, TINY=0.0)
    Q = np.eye(n) + np.diag(np.full(n - 1, 0.125), 1) + np.diag(np.full(n - 1, 0.125), -1)
    least = float(np.linalg.eigvalsh(Q)[0])
    slack = (n + 1) * unit / 2 * n * (1 - 0.9 * least)
    assert 0.9 * least - 10 * slack <= float(curvature._floor(Q)) <= 0.9 * least - slack


def test_exact_answers_are_taken_off_the_excluded_directions():
    """B-orthogonally, in whole numbers: Bᵀ-products with N vanish, and the span is kept."""
    rng = np.random.default_rng(0)
    B = np.array([1.0, 2.0, 4.0, 0.5])
    N = np.array([[1.0], [1.0], [2.0], [-1.0]])
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), B, count=2, excluded=N)
    pencil = exact._pencil(problem)
    V = np.round(rng.normal(size=(4, 2)) * 8) / 8
    W = exact._on_constraint(pencil, exact.IntegerMatrix.of(V))
    rows = [[W.fraction(i, j) for j in range(2)] for i in range(4)]
    n, b = [Fraction(x) for x in N[:, 0]], [Fraction(x) for x in B]
    for j in range(2):
        assert sum(n[i] * b[i] * rows[i][j] for i in range(4)) == 0
    found = np.array([[float(one) for one in row] for row in rows])
    both = np.hstack([N, V, found])
    assert np.linalg.matrix_rank(both) == 3


@pytest.mark.parametrize("height", [-2.5, 1.5])
def test_filled_counts_pay_for_a_shift_of_either_sign(monkeypatch, height):
    coarse(monkeypatch)
    A, B = np.diag([-3.0, -2.0, 1.0, 2.0]) / 64, np.diag([1.0, 2.0, 1.0, 4.0]) + 0.25
    problem = TraceProblem(A, B, count=1)
    answer = trial(problem, np.eye(4)[:, :1] / np.sqrt(1.25))
    found = pivot_floor(problem, answer, 1, height, 0.0)
    entries = U * (np.abs(A - height * B) + abs(height) * np.abs(B))
    moved = scipy.linalg.eigh(entries, B, eigvals_only=True)[-1]
    assert moved <= height - found.height


def test_values_over_factors_pay_for_skew_and_depth_together(monkeypatch):
    coarse(monkeypatch)
    M = np.diag([1.0, 2.0, 4.0, 8.0])
    problem = TraceProblem(Gramian(sp.csr_array(M)), count=2)
    for long in (1.0, 1.125):
        V = long * np.eye(4)[:, :2]
        value, blur = singular._value(problem, V, 0.0)
        skew = np.sqrt(2) * (long**2 - 1)
        assert blur >= (skew + gamma(4)) * value


def test_what_rounding_may_add_is_said_to_be_rounding(monkeypatch):
    monkeypatch.setattr(proofs, "span_error", lambda *_: 0.125)
    monkeypatch.setattr(proofs, "exact_proof", lambda *_: None)
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0, -6.0]), count=1, sense="max")
    found = evidence(problem, np.eye(4)[:, 2:3], 8.0, 1e-4, False).bracket
    assert found.blurred >= 0.9 * found.apart > 0.5

"""Limits and words of sets, programs, measures and solvers, each worked out by hand."""

from __future__ import annotations

import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.games import (
    Box,
    Ellipsoid,
    Indicator,
    LargestAffine,
    Quadratic,
    Simplex,
    least,
    refute,
    spectra,
)
from dualfold.games.divergences import Euclidean
from dualfold.games.sure import Sure
from dualfold.methods.random_projection import _looser, _size
from dualfold.programs import LinearProgram, bounds, certify_program
from dualfold.quality.space import _given
from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.proof import routes as proofs
from dualfold.trace.proof import singular_values as singular
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.proof.trial_directions import Trial
from dualfold.trace.solvers import factored
from dualfold.trace.solvers.krylov import KrylovSpace
from dualfold.unfolding import bounds as unfolding_bounds
from dualfold.unfolding import certify_unfolding
from tests.proofs.coarse import patched
from tests.unfolding.test_margins_unfolding import D2, EDGES, problem

REFUTE = sys.modules[refute.__module__]  # the function has the name of its module


# ---- games


def test_points_on_the_rim_belong_to_their_set():
    box = Box(0.0, 1.0)
    for x, inside in (([0.0, 1.0], True), ([0.0, 1.5], False), ([-0.5, 1.0], False)):
        assert box.holds(np.array(x), 0.0) is inside
    assert Simplex(3.0).diameter == 3 * np.sqrt(2)
    ellipse = Ellipsoid(np.array([1.0, 3.0]))
    assert ellipse.outside(np.array([0.5, 0.5])) == 0.0
    assert ellipse.outside(np.array([2.0, 0.0])) == pytest.approx(2.0)


@pytest.mark.parametrize("center", [0.25, -0.75, 3.0, -5.0])
@pytest.mark.parametrize("weight", [0.5, 2.0])
def test_corners_are_found_with_a_divergence(center, weight):
    """|x| + w·(x in [−2, 2]) + ½(x − c)²: shrunk by 1, and put into the set."""
    f, part = LargestAffine(np.array([[1.0], [-1.0]])), Indicator(Box(-2.0, 2.0))
    found = least.regularised(f, part, weight, Euclidean(), np.array([center]))
    shrunk = np.sign(center) * max(abs(center) - 1, 0.0)
    assert found[0] == pytest.approx(np.clip(shrunk, -2, 2), abs=1e-6)
    bundle = least._Bundle(f, part, np.array([center]), Euclidean(), weight)
    assert bundle.fixed()[0] == pytest.approx(np.clip(shrunk, -2, 2), abs=1e-6)


def test_values_are_off_by_what_they_differ_from_sure_ones(monkeypatch):
    f = Quadratic(np.eye(1))
    for mid in (7.0, 1.0):
        monkeypatch.setattr(Quadratic, "surely", lambda self, x, mid=mid: Sure(mid, 0.5))
        assert REFUTE._values(f)(np.array([2.0])) == (2.0, abs(2.0 - mid) + 0.5)


def test_least_eigenvalues_are_charged_for_their_trace(monkeypatch):
    eps = 2.0**-20
    patched(monkeypatch, spectra, EPS=eps)
    M, n = np.array([[1.0, 0.5], [0.5, 1.0]]), 2
    room = 2 * (n + 4) * eps * (2 + n * 0.5)
    height = 0.5 - room
    charged = 2 * (n + 4) * eps * (2 - 2 * height) + eps * height
    assert spectra._floor(M, 0.5) == pytest.approx(height - charged, rel=1e-12)


# ---- programs and projections


def test_rows_bound_single_variables_by_division():
    """−2x ≤ −4 and 4x ≤ 12: x from 2 to 3."""
    program = LinearProgram(np.ones(1), A=np.array([[-2.0], [4.0]]), b=np.array([-4.0, 12.0]))
    box = bounds.Box(program)
    assert (box.low, box.high) == ([Fraction(2)], [Fraction(3)])


def test_multipliers_exclude_lower_values_of_what_is_made_small():
    program = LinearProgram(np.ones(1), A=np.array([[-1.0]]), b=np.array([-1.0]))
    found = certify_program(program, np.ones(1), np.ones(1))
    assert "exclude any value lower than" in found.grounds


def test_the_least_distortion_that_fits_is_named():
    for n, eps in ((50, 0.5), (50, 0.05), (50, 0.15), (1000, 0.95)):
        width = _size(n, eps)
        assert f"eps={eps}" in str(_looser(n, width)).replace(" ", "")
        assert "eps" in str(_looser(n, width))
    assert "would fit" not in str(_looser(50, 1))


def test_negative_distances_are_refused_in_every_row():
    for row in range(3):
        D = np.ones((3, 3))
        D[row, 2 - row] = -0.5
        with pytest.raises(InvalidInput, match="must not be negative"):
            _given(D)
    assert _given(np.full((3, 3), 0.5))[0] == 3


# ---- trace problems


def test_norms_are_tried_at_any_size(monkeypatch):
    dense = TraceProblem(np.diag([8.0, 1.0, 0.0, 0.0]), count=1, sense="max")
    answer = Trial(np.eye(4)[:, :1], np.array([-8.0]), *np.zeros((2, 1)), 0.0, 0.0)
    case = SimpleNamespace(problem=dense, answer=answer, tolerance=1e-4, extra=0.0)
    found, floor, missed = proofs._norm_route(case)
    assert (floor.proof, floor.seen, missed) == ("norm", 1, False)
    assert found.gap <= 1e-4


def test_counts_hold_above_the_square_of_what_is_null(monkeypatch):
    turned = TraceProblem(Gramian(sp.csr_array(np.diag([1.0, 2.0, 4.0]))), count=1)
    monkeypatch.setattr(singular, "null_error", lambda problem: 0.5)
    factor = SimpleNamespace(zero=0, negative=4)
    for reached, known in ((0.2, False), (0.25, False), (0.3, True)):
        found = singular._counted_floor(turned, 1, 1.0, factor, reached)
        assert (found.seen is not None) == known
        assert isinstance(found, SpectralFloor)


def test_margins_of_shifts_are_those_of_their_matrices():
    assert factored.shift_margin(TraceProblem(np.eye(2), count=1)) == factored.SHIFT_MARGIN
    turned = TraceProblem(Gramian(sp.csr_array(np.eye(3))), count=1)
    assert factored.shift_margin(turned) == factored.GRAMIAN_MARGIN


def test_a_krylov_space_finds_the_lowest_values_one_count_after_another():
    values = np.r_[1.0, 2.0, 4.0, np.linspace(10, 20, 197)]
    space = KrylovSpace(TraceProblem(sp.csr_array(np.diag(values)), count=1), 1e-6)
    for count in (1, 2, 3):
        found = space.first(count)
        np.testing.assert_allclose(found.values, values[:count], rtol=1e-9)
        np.testing.assert_allclose(np.abs(found.vectors), np.eye(200)[:, :count], atol=1e-4)


# ---- unfoldings


def test_lengths_on_a_line_lose_one_product(monkeypatch):
    lost = 2.0**-12
    patched(monkeypatch, unfolding_bounds, UNIT=0.0, UNDERFLOW=lost)
    Y = np.arange(5.0)[:, None] ** 2
    squares = (Y[EDGES[:, 0], 0] - Y[EDGES[:, 1], 0]) ** 2
    found = unfolding_bounds.fit(problem(), Y)
    assert found.high == pytest.approx(((squares + lost) / D2).max(), rel=1e-14)


def test_a_failure_claims_nothing():
    found = certify_unfolding(problem(), np.full((5, 2), np.nan), np.ones(7))
    assert (found.level, found.relaxation, found.value, found.bound) == ("failed", 0.0, 0.0, np.inf)
    assert (found.clipped, found.rank, found.second_eigenvalue) == (0, 0, 0.0)

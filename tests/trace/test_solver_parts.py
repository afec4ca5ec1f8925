"""Parts of the solvers by hand: filters, shifts, forms; what they hand on is judged elsewhere."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.polynomial import chebyshev
from scipy.sparse.linalg import aslinearoperator

from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.solvers import factored
from dualfold.trace.solvers.krylov import KrylovSpace
from dualfold.trace.solvers.lanczos import (
    CUT_SHARE,
    DEGREE_FACTOR,
    MAX_DEGREE,
    MIN_DEGREE,
    ChebyshevFilter,
)
from dualfold.trace.solvers.subspace import _in_own_sense, _standard_form

VALUES = np.array([0.0, 1.0, 3.0, 6.0, 10.0])


def filter_of(values=VALUES):
    return ChebyshevFilter.of(TraceProblem(sp.csr_array(np.diag(values) + 0.0), count=1))


@pytest.mark.parametrize("degree", [1, 2, 3, 7])
def test_filters_are_chebyshev_polynomials_that_are_1_at_the_low_end(degree):
    made = filter_of()
    X, low, cut = np.eye(5) + 0.0, 0.5, 2.0
    found = made._filtered_block(X.copy(), low, cut, degree)
    half, centre = (made.top - cut) / 2, (made.top + cut) / 2
    T = chebyshev.Chebyshev.basis(degree)
    expected = T((VALUES - centre) / half) / T((low - centre) / half)
    np.testing.assert_allclose(found, np.diag(expected), atol=1e-12)
    assert made.products == degree * 5


def test_filters_cut_behind_the_wanted_values_and_are_as_steep_as_needed(monkeypatch):
    made, seen = filter_of(), []
    monkeypatch.setattr(made, "_filtered_block", lambda X, *given: (seen.append(given), X)[1])
    few = np.linspace(0, 4, 5)
    made(None, np.zeros((5, 2)), few)  # more than twice as many as are filtered
    made(None, np.zeros((5, 3)), few)
    made(None, np.zeros((5, 3)), np.full(5, 2.0))  # all alike: the least reach
    cuts = [few[int(CUT_SHARE * 5)], 4.0, 2.0]
    reaches = [cuts[0], 4.0, 1e-12 * made.top]
    for (low, cut, degree), expected, reach in zip(seen, cuts, reaches, strict=True):
        assert (low, cut) == (2.0 if expected == 2.0 and reach < 1 else 0.0, expected)
        steep = DEGREE_FACTOR * np.sqrt((made.top - cut) / reach)
        assert degree == int(np.clip(steep, MIN_DEGREE, MAX_DEGREE))


def test_shifts_lie_below_the_spectrum_by_discs_or_by_a_short_search(monkeypatch):
    path = sp.csr_array(np.diag([1.0, 2, 1]) - np.eye(3, k=1) - np.eye(3, k=-1))
    constant = TraceProblem(path, count=1, excluded=np.ones((3, 1)))
    assert factored.shift_below(constant) == pytest.approx(-factored.SHIFT_MARGIN * 4.0, rel=1e-6)
    # Discs from −7 to 13; the search says θ = −3, an eigenvalue within r of it.
    A = np.array([[3.0, 10, 0], [10, 3, 0], [0, 0, 3]])
    problem = TraceProblem(sp.csr_array(A), count=1)
    v = np.array([[1.0], [0.0], [0.0]])
    for theta, far in ((1.0, 2 * np.hypot(2, 10)), (40.0, 2 * np.hypot(37, 10))):
        probe = SimpleNamespace(values=np.array([theta]), vectors=v)
        monkeypatch.setattr(factored, "iterate", lambda *_, probe=probe: probe)
        expected = max(-7.0, theta - far) - factored.SHIFT_MARGIN * max(13.0, theta)
        assert factored.shift_below(problem) == pytest.approx(expected, rel=1e-12)
    negative = TraceProblem(sp.csr_array(A), np.diag([4.0, 4, 4]) + 0.0, count=1)
    probe = SimpleNamespace(values=np.array([-40.0]), vectors=v / 2)
    monkeypatch.setattr(factored, "iterate", lambda *_: probe)
    R = A @ (v / 2) + 40 * 4 * (v / 2)
    radius = np.linalg.norm(R) / 2
    expected = -40 - 2 * radius - factored.SHIFT_MARGIN * 40  # no discs in such a metric
    assert factored.shift_below(negative) == pytest.approx(expected, rel=1e-12)


def test_a_shift_that_meets_an_eigenvalue_steps_down(monkeypatch):
    A = np.array([[3.0, 10, 0], [10, 3, 0], [0, 0, 3]])  # discs from −7 to 13
    problem = TraceProblem(sp.csr_array(A), count=1)
    real, tried = factored.factorise, []
    signs = [(0, 1), (1, 0), (0, 0)]  # a pivot of 0, one below, none

    def told(matrix, ordering):
        found = real(matrix, ordering)
        tried.append(float(matrix.diagonal()[0]))
        negative, zero = signs[len(tried) - 1]
        return SimpleNamespace(
            negative=negative, zero=zero, solve=found.solve, release=found.release
        )

    monkeypatch.setattr(factored, "factorise", told)
    monkeypatch.setattr(factored, "shift_below", lambda problem: 1.0)
    factored.inverse_below(problem)
    # A − σB grows as σ steps down, by 1e-3 of the spectrum and then by twice that.
    assert tried == pytest.approx([2.0, 2.013, 2.039])


def test_values_of_a_factor_are_made_from_its_images():
    M = np.diag([1.0, 2.0, 4.0])
    V = np.eye(3)[:, :2]
    for A, expected in ((Gramian(sp.csr_array(M)), [1.0, 4.0]), (M @ M, [7.0, 9.0])):
        problem = TraceProblem(A, count=2)
        assert _in_own_sense(problem, V, np.array([7.0, 9.0]))[1].tolist() == expected


def test_the_standard_form_has_the_same_values():
    A, root = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[2.0], [4.0]])
    expected = A / (root * root.T)
    for given in (aslinearoperator(A), sp.csr_array(A)):
        problem = TraceProblem(given, (root**2)[:, 0], count=1)
        standard = _standard_form(problem, root).A
        for v in (np.array([1.0, -3.0]), np.eye(2)):
            np.testing.assert_allclose(standard @ v, expected @ v, rtol=1e-14)


def test_a_space_that_is_whole_does_not_grow():
    space = KrylovSpace(TraceProblem(sp.csr_array(np.diag(np.arange(1.0, 9))), count=1), 1e-6)
    assert space._grow(4)
    space._next = np.zeros((8, 1))
    assert not space._grow(4)
    assert space.first(1) is None

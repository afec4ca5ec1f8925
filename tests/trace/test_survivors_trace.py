"""Faults put into the certificates of trace problems that no quick test noticed (`mutants.py`)."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.errors import InvalidInput
from dualfold.kernels.reports import count_work
from dualfold.trace import Gramian, TraceProblem, certify
from dualfold.trace import units as balanced
from dualfold.trace.metric import ExcludedSpan
from dualfold.trace.problem import product
from dualfold.trace.proof import exact_arithmetic as exact
from dualfold.trace.proof import random_search as search
from dualfold.trace.proof import routes as proofs
from dualfold.trace.proof.completeness import SpectralFloor, excluded_trial
from dualfold.trace.proof.dense_inertia import form_bound
from dualfold.trace.proof.lehmann_bounds import TrialHeight
from dualfold.trace.proof.random_search import random_floor
from dualfold.trace.proof.routes import evidence
from dualfold.trace.proof.trial_directions import trial
from dualfold.trace.sparse import shifted_matrices as shifted
from dualfold.trace.sparse.factorisation import factorise, fill_reducing_ordering
from tests.proofs.coarse import U, coarse, patched


def test_an_operator_in_balanced_units_is_the_scaled_matrix():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(4, 4))
    operator = LinearOperator((4, 4), matvec=lambda v: A @ v, matmat=lambda V: A @ V, dtype=float)
    powers = np.array([0, 3, -5, 1])
    D = np.diag(2.0**powers)
    scaled = balanced._scaled_matrix(operator, powers)
    V = rng.normal(size=(4, 3))
    np.testing.assert_allclose(scaled @ V, D @ A @ D @ V, rtol=1e-13)
    np.testing.assert_allclose(scaled @ V[:, 0], D @ A @ D @ V[:, 0], rtol=1e-13)


def test_a_large_search_looks_only_where_its_chance_was_shared(monkeypatch):
    """Each look is one more chance to stop by accident: only checkpoints were paid for."""
    looks, ends = [], search._ends
    monkeypatch.setattr(search, "_ends", lambda *given: looks.append(1) or ends(*given))
    monkeypatch.setattr(search, "MAX_STEPS", 100)
    for n, most in ((260, 3), (120, 1)):
        problem = TraceProblem(np.diag(np.r_[0.0, np.linspace(1, 2, n - 1)]), count=1)
        answer = trial(problem, np.eye(n)[:, :1])
        looks.clear()
        random_floor(problem, answer, 2.0, 1e-4, False)
        assert 1 <= len(looks) <= most


def test_a_search_pays_for_the_rounding_of_its_steps(monkeypatch):
    n = 40
    problem = TraceProblem(np.diag(np.r_[0.0, np.linspace(1, 2, n - 1)]), count=1)
    answer = trial(problem, np.eye(n)[:, :1])
    plain = random_floor(problem, answer, 2.0, 1e-4, False)
    assert plain.height == pytest.approx(1.0, abs=1e-9)
    patched(monkeypatch, search, UNIT_ROUNDOFF=2.0**-30)
    lost = plain.height - random_floor(problem, answer, 2.0, 1e-4, False).height
    beside = search._blur(problem, 2.0) + 39 * 2.0**-30 * 2.0  # a unit of the largest for each step
    assert beside <= lost <= 16 * beside


@pytest.mark.parametrize("metric", ["plain", "cancels"])
def test_the_turned_matrix_has_room_for_every_entry_of_b(monkeypatch, metric):
    monkeypatch.setattr(shifted, "MIN_ROTATED_ROWS", 3)
    monkeypatch.setattr(shifted, "MAX_ROTATED_FLOPS_RATIO", 1e9)
    n = 5
    M = sp.csr_array(np.eye(n) - 0.5 * np.eye(n, k=1) - 0.5 * np.eye(n, k=-1))
    # |M| + |M|ᵀ and B have equal entries: as numbers they would cancel, as a pattern they do not.
    B = (
        None
        if metric == "plain"
        else sp.csr_array(2 * np.eye(n) + abs(M + M.T - 2 * sp.eye_array(n)))
    )
    problem = TraceProblem(Gramian(M), B, count=2)
    pencil = shifted.shifted_matrices(problem)
    assert pencil.is_rotated
    height = 0.3
    dense = (M.T @ M).toarray() - height * problem.metric.sparse().toarray()
    count = factorise(pencil.at(height), pencil.ordering).negative - n
    assert count == np.sum(np.linalg.eigvalsh(dense) < 0)


def test_prices_and_products_are_counted():
    full = sp.csr_array(np.ones((5, 5)) + 5 * np.eye(5))
    assert fill_reducing_ordering(full).factor_entries == 15  # a triangle
    for wide in (sp.csr_array((3, 5)), sp.csr_array((5, 3))):
        with pytest.raises(InvalidInput, match="square"):
            fill_reducing_ordering(wide)
    with count_work() as seen:
        product(np.eye(4), np.ones((4, 3)))
        product(np.eye(4), np.ones(4))
    assert seen["products"] == 4


def test_two_excluded_directions_in_a_metric_of_very_uneven_rows():
    """In its own units: the light rows would drown in the heavy ones."""
    rng = np.random.default_rng(3)
    B = 10.0 ** rng.uniform(-14, 14, size=12)
    N = np.column_stack([np.ones(12), np.arange(12.0)])
    problem = TraceProblem(np.diag(B), B, count=2, excluded=N)
    root = np.sqrt(B)[:, None]
    basis = root * problem.trivial
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-14)
    inside = np.linalg.qr(root * N)[0]
    off = np.linalg.norm(basis - inside @ (inside.T @ basis))
    assert off <= 1e-14
    assert problem.trivial_error <= 1e-13
    # Equal but for the light rows: not dependent, though the heavy one hides it.
    one = np.r_[1.0, np.arange(2.0, 13.0)]
    heavy = np.r_[1e20, np.ones(11)]
    hidden = TraceProblem(np.eye(12), heavy, count=2, excluded=np.column_stack([np.ones(12), one]))
    assert hidden.trivial_error <= 1e-4


def test_an_answer_off_its_span_is_charged_for_the_width_of_the_spectrum(monkeypatch):
    """With ε from the basis to the span, the value moves by 2ε‖R‖ and 4ε² of the spectrum."""
    monkeypatch.setattr(proofs, "span_error", lambda *_: 0.125)
    monkeypatch.setattr(proofs, "exact_proof", lambda *_: None)  # knows the span exactly
    A = np.diag([1.0, 2.0, 3.0, -6.0])
    problem = TraceProblem(A, count=1, sense="max")
    found = evidence(problem, np.eye(4)[:, 2:3], 8.0, 1e-4, False)
    widest = 4 * 0.125**2 * (8.0 + 3.0)  # all eigenvalues lie within the scale, the value's own too
    assert found.bracket.apart >= widest
    assert found.bracket.apart <= 2 * widest


def case(problem, off, lift=10.0, scale=3.0):
    span = ExcludedSpan(problem.excluded_columns, problem.trivial, off)
    problem = replace(problem, excluded=span)
    return SimpleNamespace(
        excluded=excluded_trial(problem), problem=problem, lift=lift, scale=scale
    )


def test_excluded_directions_that_are_not_exact_cost_what_they_pull_down(monkeypatch):
    coarse(monkeypatch)
    A = np.diag([1.0, 2.0, 3.0]) + 0.25 * (np.eye(3, k=1) + np.eye(3, k=-1))
    problem = TraceProblem(A, count=1, excluded=np.eye(3)[:, :1])
    height = TrialHeight(1, 2.0)
    coupled, lifted = 0.25, 10.0 + 1.0
    for off in (0.0, 1e-3, 0.09):
        least = coupled**2 / (lifted - 2.0) + 4 * off * coupled + 16 * off**2 * 3.0
        found = proofs._coupling_loss(case(problem, off), height)
        assert least <= found <= least * (1 + 1000 * U)
    assert proofs._coupling_loss(case(problem, 0.1), height) == np.inf
    assert proofs._coupling_loss(SimpleNamespace(excluded=None, problem=problem), height) == 0.0


def test_a_form_is_bounded_with_room_for_the_rounding_of_the_proof(monkeypatch):
    T, n = np.eye(3), 3
    patched(monkeypatch, UNIT_ROUNDOFF=U, UP=1.0)
    least = 2 * (n * (n + 1) * U + 4 * U)  # nγ of the diagonal, and of T itself
    assert not form_bound(T, np.full(3, least))
    assert form_bound(T, np.full(3, 8 * least))
    wide = min(c for c in np.linspace(1, 8, 200) if form_bound(T, np.full(3, c * least)))
    patched(monkeypatch, UP=1.5)
    assert not form_bound(T, np.full(3, 1.2 * wide * least))
    assert form_bound(T, np.full(3, 1.6 * wide * least))


def test_a_solve_that_gives_no_numbers_makes_no_direction_better():
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0]), count=1)
    given = SimpleNamespace(problem=problem, lift=0.0)
    for wrong in (np.nan, np.inf, 0.0):
        floor = SpectralFloor(1, 1.5, "inertia", solve=lambda R, wrong=wrong: wrong * R)
        with np.errstate(all="ignore"):
            assert proofs._refined_trial(given, floor, np.eye(3)[:, :1]) is None


def test_exact_proofs_end_where_there_is_nothing_to_count(monkeypatch):
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0]), count=2)
    V = np.eye(3)[:, :2]
    assert exact.exact_proof(problem, V, 1e-4) is not None
    assert exact.exact_proof(problem, np.ones((3, 2)), 1e-4) is None  # one direction, twice
    assert exact.exact_proof(TraceProblem(np.zeros((3, 3)), count=2), V, 1e-4) is None
    monkeypatch.setattr(exact, "_ritz_values", lambda *_: None)
    assert exact.exact_proof(problem, V, 1e-4) is None


def test_a_metric_with_a_0_on_its_diagonal_is_no_metric():
    for last in (0.0, -1.0):
        found = certify(TraceProblem(np.eye(2), np.diag([4.0, last]), count=1), [[0.5], [0.0]])
        assert found.level == "failed"
        assert "positive definite" in found.reasons[0]


def test_prices_of_elimination_by_hand():
    n = 6
    path = sp.csr_array(2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    star = sp.lil_array(np.eye(n))
    star[0], star[:, 0] = 1.0, 1.0
    for tree in (path, sp.csr_array(star)):  # a leaf has one neighbour: 1 multiply-add each
        found = fill_reducing_ordering(tree)
        assert n - 1 <= found.flops <= 4 * n  # supernodes may be padded
    beside = sp.kron(path, sp.eye_array(n)) + sp.kron(sp.eye_array(n), path)  # a grid
    found = fill_reducing_ordering(sp.csr_array(beside))
    left = (beside != 0).toarray()[np.ix_(found.permutation, found.permutation)]
    count = 0
    for k in range(n * n):
        below = np.flatnonzero(left[k + 1 :, k]) + k + 1
        left[np.ix_(below, below)] = True
        count += len(below) * (len(below) + 1) / 2
    assert count <= found.flops <= 1.5 * count
    full = fill_reducing_ordering(sp.csr_array(np.ones((n, n))))
    assert full.flops == sum(k * (k + 1) / 2 for k in range(n))

"""Faults put into what a trace certificate says of its evidence that no quick test noticed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.errors import InvalidInput
from dualfold.trace import Gramian, TraceProblem, certify
from dualfold.trace.certificate import _angle, _level, _mismatch
from dualfold.trace.metric import Dense
from dualfold.trace.proof import random_search as search
from dualfold.trace.proof import rounding
from dualfold.trace.proof import routes as proofs
from dualfold.trace.proof import singular_values as singular
from dualfold.trace.proof.completeness import SpectralFloor, pivot_floor
from dualfold.trace.proof.lehmann_bounds import Bracket, TrialHeight
from dualfold.trace.proof.random_search import random_floor
from dualfold.trace.proof.rounding import UNIT_ROUNDOFF, dual_lengths
from dualfold.trace.proof.trial_directions import Trial, trial
from dualfold.trace.sparse.factorisation import factorise, fill_reducing_ordering
from tests.proofs.coarse import patched

PLAIN = TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), count=2)


def level(proof, gap, *, blurred=0.0, missed=False, scale=4.0, doubts=()):
    """What is said of a value 3 with this relative gap."""
    found = SimpleNamespace(
        floor=SpectralFloor(2, 2.5, proof, seen=3 if missed else 2),
        bracket=Bracket(3.0, 3.0 * gap, blurred * 3.0 * gap, 3.0 * (1 + gap), 0.0),
        missed=missed,
        scale=scale,
        answer=Trial(np.eye(4)[:, :2], np.array([1.0, 2.0]), *np.zeros((2, 2)), 0.0, 0.0),
    )
    return _level(PLAIN, found, list(doubts), 1e-4)[0]


@pytest.mark.parametrize("proof", ["inertia", "Cholesky", "norm", "exact"])
def test_only_a_gap_within_the_tolerance_is_proved(proof):
    assert [level(proof, gap) for gap in (0.0, 0.9e-4, 1.2e-4, 0.3)] == [
        "proved", "proved", "within", "within",
    ]  # fmt: skip
    assert level(proof, 1.5) == "failed"
    assert level(proof, 0.0, missed=True) == "failed"
    assert level(proof, 0.0, doubts=["values"]) == "failed"
    # Where rounding is a tenth of the distance or more, double precision cannot tell.
    assert level(proof, 0.25, blurred=0.125) == "unresolved"
    assert level(proof, 0.3, blurred=0.09) == "within"
    assert level(proof, 3.0, scale=1e17) == "unresolved"


def test_a_search_measures_up_to_a_half():
    assert [level("random", gap) for gap in (0.0, 1e-3, 0.4, 0.6)] == [
        "measured", "measured", "measured", "unresolved",
    ]  # fmt: skip


def test_angles_are_those_of_the_room_below_the_floor():
    """value − optimum ≥ (μ − λ_d)·Σ sin²."""
    answer = Trial(np.eye(4)[:, :2], np.array([1.0, 2.0]), *np.zeros((2, 2)), 0.0, 0.25)
    found = SimpleNamespace(
        answer=answer, floor=SpectralFloor(2, 3.25, "inertia"), bracket=SimpleNamespace(apart=1e-4)
    )
    (words,) = _angle(found)
    assert float(words.rpartition(" ")[2]) == pytest.approx(1.01 * np.sqrt(1e-4 / 1.0), rel=0.06)
    found.floor = SpectralFloor(2, 2.2, "inertia")  # below what the last value may be
    assert _angle(found) == ()


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_values_belong_to_their_vectors_to_a_millionth(size):
    quotients = size * np.array([1.0, 2.0])
    assert _mismatch(quotients * (1 + 5e-7), quotients, size) == []
    assert _mismatch(quotients * (1 + 5e-6), quotients, size) != []
    assert _mismatch(None, quotients, size) == []
    tiny = np.array([0.0, size])
    assert _mismatch(tiny + np.array([5e-13 * size, 0.0]), tiny, size) == []
    assert _mismatch(tiny + np.array([5e-12 * size, 0.0]), tiny, size) != []


def test_an_ill_conditioned_metric_excuses_a_ten_thousandth():
    B = np.array([[1.0, 1 - 1e-11], [1 - 1e-11, 1.0]])
    problem = TraceProblem(np.eye(2), B, count=1)
    v = np.array([[1.0], [-1.0]]) / np.sqrt(2e-11)
    assert not any("orthonormal" in one for one in certify(problem, v).reasons)
    wrong = certify(problem, v * np.sqrt(1 + 1.6e-4))
    assert wrong.level == "failed"
    assert any("orthonormal" in one for one in wrong.reasons)


def test_all_directions_off_the_excluded_one_are_the_whole():
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0]), count=2, excluded=np.eye(3)[:, 2:])
    found = certify(problem, np.eye(3)[:, :2])
    assert (found.proof, found.level, found.value) == ("whole", "proved", 3.0)


# ---- heights that are tried


def made(**more):
    answer = Trial(np.eye(4)[:, :2], np.array([1.0, 2.0]), *np.zeros((2, 2)), 0.0, 0.0)
    return SimpleNamespace(
        problem=PLAIN, answer=answer, excluded=None, wider=None, tolerance=1e-4, extra=0.0,
        lift=0.0, scale=4.0, **more,
    )  # fmt: skip


def test_without_a_height_nothing_is_said():
    found, floor, missed = proofs._first_proof(made(), [], lambda h: None)
    assert found.lower == -np.inf
    assert (floor.height, floor.proof, missed) == (-np.inf, "none", False)


def test_a_direction_was_missed_only_where_rounding_cannot_have_made_it():
    for error, missed in ((0.04, True), (0.06, False), (0.15, False)):
        floor = SpectralFloor(1, 1.9, "inertia", seen=2, error=error)
        tried = [TrialHeight(1, 1.9, under=0.1)]
        assert proofs._first_proof(made(), tried, lambda h, floor=floor: floor)[2] is missed
    other = SpectralFloor(1, 1.9, "inertia", seen=2, error=0.0)
    assert not proofs._first_proof(made(), [TrialHeight(1, 1.9)], lambda h: other)[2]


def test_lifted_directions_are_lower_by_their_own_doubts():
    excluded = SimpleNamespace(skew=0.125, h=np.array([3.0, 1.0]), blur=0.5)
    assert proofs._least_lifted_value(SimpleNamespace(lift=8.0), excluded) == 8 * 0.75 + 1.0 - 0.5


@pytest.mark.parametrize("metric", [None, "dense"])
def test_further_directions_are_orthonormal_off_the_answer(metric):
    rng = np.random.default_rng(0)
    B = None if metric is None else 2 * np.eye(6) + 0.5
    problem = TraceProblem(np.diag(np.arange(6.0)), B, count=1, excluded=np.ones((6, 1)))
    basis, _ = proofs._orthonormal(problem, problem.off_trivial(rng.normal(size=(6, 1))))
    extra = rng.normal(size=(6, 3)) * [1.0, 1e-5, 1e7]
    extra = np.hstack([extra, extra[:, :1] + basis, np.full((6, 1), np.nan)])
    found = proofs._further(problem, basis, extra)
    assert found.shape == (6, 3)  # what depends on the others, or is no number, is left out
    everything = np.hstack([problem.trivial, basis, found])
    gram = everything.T @ problem.metric.times(everything)
    np.testing.assert_allclose(gram, np.eye(5), atol=1e-12)


def test_graded_counts_are_lowered_by_the_form_that_was_proved():
    """A' + diag(e) ⪯ (1 + 2ε)A' + 2εσB: the count holds below (h − 2εσ)/(1 + 2ε)."""
    A = np.diag([1e9, -2.0, -1.0, 3.0])
    problem = TraceProblem(A, count=1)
    answer = trial(problem, np.eye(4)[:, 1:2])
    height = -1.5
    found = pivot_floor(problem, answer, 1, height, 0.0)
    sigma, epsilon = 1.5 + 2 * 2.0, 1e-11
    theory = (height - 2 * epsilon * sigma) / (1 + 2 * epsilon)
    assert theory - 1e-13 <= found.height <= theory
    np.testing.assert_allclose(found.solve(np.ones((4, 1)))[:, 0], 1 / (np.diag(A) + 1.5))


# ---- lengths, searches, operators


def test_lengths_do_not_trust_a_solve(monkeypatch):
    """‖r‖ ≤ √(xᵀBx) + ‖r − Bx‖/√λ_min for any x, also a wrong one."""
    B = 2 * np.eye(4) + 0.5
    problem, R = TraceProblem(np.eye(4), B, count=1), np.random.default_rng(1).normal(size=(4, 2))
    truth = np.sqrt(np.einsum("ij,ij->j", R, np.linalg.solve(B, R)))
    for share in (1.0, 0.5, 0.0):
        monkeypatch.setattr(Dense, "solve", lambda self, R, s=share: s * np.linalg.solve(B, R))
        assert (dual_lengths(problem, R, np.zeros(2)) >= truth).all()
    monkeypatch.undo()
    unit = 2.0**-12
    patched(monkeypatch, rounding, UNIT_ROUNDOFF=unit, UP=1.0)
    x = np.linalg.solve(B, R)
    products = 4 * unit * np.linalg.norm(np.abs(B) @ np.abs(x), axis=0)  # B·x may be off by that
    least = truth + (products + unit * np.linalg.norm(R, axis=0)) / np.sqrt(2.0)
    assert (dual_lengths(problem, R, np.zeros(2)) >= least).all()


def test_a_krylov_space_that_ends_early_is_charged_for_what_it_left(monkeypatch):
    n = 300
    problem = TraceProblem(np.diag(np.r_[0.0, np.ones(n // 2), np.full(n // 2 - 1, 4.0)]), count=1)
    answer = trial(problem, np.eye(n)[:, :1])
    monkeypatch.setattr(search, "INVARIANT_TOLERANCE", 1e-9)
    found = random_floor(problem, answer, 4.0, 1e-4, False)
    charged = np.sqrt(n) * 1e-9 * 4.0 / search.MISS_CHANCE ** (1 / search.MAX_STARTS)
    assert 1 - 1.1 * charged <= found.height <= 1 - charged


def test_what_an_operator_lacks_of_symmetry_is_never_more_than_said():
    rng = np.random.default_rng(2)
    for _ in range(1200):
        A = rng.normal(size=(3, 3))
        problem = TraceProblem(
            LinearOperator((3, 3), matvec=A.dot, matmat=A.dot, dtype=float), count=1
        )
        assert problem.asymmetry >= np.linalg.norm(A - A.T) / 2


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
def test_matrices_that_are_not_symmetric_are_refused_in_their_own_size(size):
    A = np.diag([1.0, 2.0, 3.0])
    A[0, 1], A[1, 0] = 0.5, 0.5 + 1e-3
    with pytest.raises(InvalidInput, match="symmetric"):
        TraceProblem(size * A, count=1)
    A[1, 0] = np.nextafter(0.5, 1)
    problem = TraceProblem(size * A, count=1)
    np.testing.assert_allclose(problem.descent(np.ones(3)), size * A @ np.ones(3), rtol=1e-14)


def unit(n):
    return sp.eye_array(n, format="csr")


def test_one_pivot_of_0_leaves_no_bound():
    for diagonal in ([1.0, 0.0, 2.0], [0.0, 1.0], [3.0, 0.0]):
        matrix = sp.csr_array(np.diag(diagonal))
        matrix.setdiag(diagonal)
        factor = factorise(
            matrix, fill_reducing_ordering(sp.eye_array(len(diagonal), format="csr"))
        )
        assert factor.zero == 1
        assert factor.backward_error == np.inf
        assert np.isinf(factor.row_errors).all()
    good = factorise(
        sp.eye_array(3, format="csr"), fill_reducing_ordering(sp.eye_array(3, format="csr"))
    )
    for wrong in (np.ones(4), np.ones((4, 2)), np.ones((3, 1, 1))):
        with pytest.raises(InvalidInput, match="right-hand side"):
            good.solve(wrong)


def test_errors_of_rows_are_not_below_highams():
    """t·u·(|L||D||L|ᵀ1), t additions, products and a division of the longest entry of a row."""
    rng = np.random.default_rng(3)
    S = rng.normal(size=(5, 5))
    S = S + S.T + 8 * np.eye(5)
    ordering = fill_reducing_ordering(sp.csr_array(S))
    factor = factorise(sp.csr_array(S), ordering)
    P = S[np.ix_(ordering.permutation, ordering.permutation)]
    L, D = np.eye(5), np.zeros(5)
    for j in range(5):
        D[j] = P[j, j] - (L[j, :j] ** 2) @ D[:j]
        L[j + 1 :, j] = (P[j + 1 :, j] - L[j + 1 :, :j] @ (D[:j] * L[j, :j])) / D[j]
    size = np.abs(L) @ (np.abs(D) * (np.abs(L).T @ np.ones(5)))
    least = (np.arange(5) + 1) * UNIT_ROUNDOFF * size
    found = factor.row_errors[ordering.permutation]
    assert (found >= least).all()
    assert (found <= 4 * least).all()


# ---- singular values


def test_singular_values_are_for_null_vectors_only():
    M = sp.csr_array(np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]]))
    assert singular.uses_singular_values(
        TraceProblem(Gramian(M), count=1, excluded=np.ones((3, 1)))
    )
    other = TraceProblem(Gramian(M), count=1, excluded=np.eye(3)[:, :1])
    assert not singular.uses_singular_values(other)
    assert not singular.uses_singular_values(TraceProblem(Gramian(M), count=1, sense="max"))
    rng = np.random.default_rng(4)
    for _ in range(20):
        M = rng.normal(size=(4, 3)) * np.array([1.0, 10.0, 0.1])
        problem = TraceProblem(Gramian(sp.csr_array(M)), count=1)
        assert singular.factor_norm(problem) >= np.linalg.norm(M, 2)


def test_a_solve_makes_pairs_better():
    M = sp.csr_array(np.diag([1.0, 2.0, 50.0, 80.0]))
    problem = TraceProblem(Gramian(M), count=2)
    rough = np.linalg.qr(np.eye(4)[:, :2] + 1e-6 * np.random.default_rng(5).normal(size=(4, 2)))[0]
    floor = singular.dense_singular_floor(problem, 2, 100.0)
    plain = singular._measured_pairs(problem, -(M @ rough), rough)
    solved = singular._solved_pairs(problem, rough, floor.solve)
    assert (np.sqrt(solved.squares) < 0.1 * np.sqrt(plain.squares)).all()
    np.testing.assert_allclose(solved.h, [1.0, 2.0], rtol=1e-9)
    found = singular.singular_bracket(problem, rough, 0.0, rough, floor)
    assert 5.0 - 1e-8 <= found.lower <= 5.0
    # Without a solve the loss is of first order, and still taken off.
    bent = np.linalg.qr(np.eye(4)[:, :2] + 1e-2 * np.random.default_rng(6).normal(size=(4, 2)))[0]
    bent, _ = singular.ritz_directions(problem, bent)
    unsolved = SpectralFloor(2, floor.height, "inertia", seen=2)
    assert singular.singular_bracket(problem, bent, 0.0, bent, unsolved).lower <= 5.0

"""Floors under a spectrum in a coarse arithmetic: what counts and factorisations are charged for.

As in `test_margins.py`. A perturbation of the matrix that a proof allows for moves its eigenvalues
by a known amount; the floor must lie lower by at least that, and not by much more.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.trace import Gramian, TraceProblem
from dualfold.trace.proof import completeness
from dualfold.trace.proof import trial_directions as trials
from dualfold.trace.proof.completeness import (
    cholesky_floor,
    counted_height,
    deflated_norm_floor,
    factor_with_room,
    norm_floor,
    pivot_floor,
)
from dualfold.trace.proof.trial_directions import Trial
from dualfold.trace.sparse.factorisation import factorise
from dualfold.trace.sparse.shifted_matrices import shifted_matrices
from tests.proofs.coarse import U, coarse, gamma, patched

METRICS = [None, "diagonal", "dense", "sparse"]


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    coarse(monkeypatch)


def stated(kind, metric, sense="min", excluded=False, count=2):
    n = 6
    M = sp.csr_array(np.diff(np.eye(n), axis=0) + 0.25 * np.eye(n - 1, n))
    A = (M.T @ M).toarray() + 0.5 * np.diag(np.arange(n))
    A = {"dense": A, "sparse": sp.csr_array(A), "gramian": Gramian(M)}[kind]
    B = {
        None: None,
        "diagonal": np.array([1.0, 2.0, 1.5, 1.0, 3.0, 0.5]),
        "dense": 2 * np.eye(n) + 0.25,
        "sparse": sp.csr_array(2 * np.eye(n) + 0.25 * np.eye(n, k=1) + 0.25 * np.eye(n, k=-1)),
    }[metric]
    N = np.ones((n, 1)) + 0.125 * np.arange(n)[:, None] if excluded else None
    return TraceProblem(A, B, count=count, sense=sense, excluded=N)


def plain(problem):
    """sign·A and B, filled."""
    A = problem.A.factor.toarray() if isinstance(problem.A, Gramian) else problem.A @ np.eye(6)
    A = A.T @ A if isinstance(problem.A, Gramian) else A
    return problem.sign * A, problem.metric.sparse().toarray()


def answer_of(problem):
    A, B = plain(problem)
    BN = B @ problem.trivial
    V = scipy.linalg.eigh(A + 40 * BN @ BN.T, B)[1][:, :2]
    return trials.trial(problem, V, 40.0)


# ---- norms


def test_norms_are_left_by_what_the_directions_surely_have(monkeypatch):
    monkeypatch.undo()
    A = np.diag([5.0, 4.0, 1.0, 0.5])
    problem = TraceProblem(A, count=2, sense="max")
    for leak in (0.0, 0.25, 6.0):
        answer = Trial(np.eye(4)[:, :2], np.array([-5.0, -4.0]), *np.zeros((2, 2)), 0.0, leak)
        inside = np.maximum(np.array([5.0, 4.0]) - leak, 0.0)
        left = np.sqrt(np.sum(A**2) - inside @ inside)
        assert left <= -norm_floor(problem, answer).height <= left * (1 + 1e-5)
    # A difference of two large squares: what is left of them may be rounding.
    whole = Trial(np.eye(4), -np.diagonal(A), *np.zeros((2, 4)), 0.0, 0.0)
    patched(monkeypatch, completeness, UNIT_ROUNDOFF=U)
    assert -norm_floor(problem, whole).height >= np.sqrt(2 * U) * np.linalg.norm(A)
    flat = TraceProblem(np.diag(np.r_[100.0, np.linspace(1e-6, 2e-6, 199)]), count=1, sense="max")
    top = Trial(np.eye(200)[:, :1], np.array([-100.0]), *np.zeros((2, 1)), 0.0, 0.0)
    found = -deflated_norm_floor(flat, top).height  # γ is that of double precision here
    assert np.sqrt(2 * U) * 100 <= found <= 2 * np.sqrt(16 * U) * 100


def test_a_deflated_norm_pays_for_the_rounding_of_its_products(monkeypatch):
    """The next value is 50: no floor is above −50, and rounding moves it by u‖A‖ and more."""
    n = 200
    values = np.r_[100.0, 50.0, 0.01 * np.ones(n - 2)]
    problem = TraceProblem(np.diag(values), count=1, sense="max")
    answer = Trial(np.eye(n)[:, :1], np.array([-100.0]), *np.zeros((2, 1)), 0.0, 0.0)
    norm = np.linalg.norm(values)
    patched(monkeypatch, UNIT_ROUNDOFF=2.0**-30)  # small beside 50, so that its sign is seen
    near = -deflated_norm_floor(problem, answer).height
    assert 50 + n * 2.0**-30 * norm <= near <= 50.1
    patched(monkeypatch, UNIT_ROUNDOFF=U)
    found = -deflated_norm_floor(problem, answer).height
    assert found >= 50 + gamma(n) * norm
    assert found <= 50 + 8 * 49 * gamma(n) * norm * np.sqrt(48)  # each column's own skew


# ---- Cholesky's factorisation


@pytest.mark.parametrize("excluded", [False, True], ids=["whole", "off N"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "gramian"])
def test_a_factorisation_that_runs_through_is_right_to_its_trace(
    monkeypatch, kind, metric, excluded
):
    problem, lift = stated(kind, metric, excluded=excluded), 40.0
    answer, (A, B) = answer_of(problem), plain(problem)
    height, n = float(answer.h[1]) + 0.05, 6
    lowest = problem.metric.lowest
    for below in (0, 1, 2):
        found = cholesky_floor(problem, answer, below, height, lift)
        BV = B @ answer.V[:, :below] * np.sqrt(2 * (np.abs(answer.h).max() + height))
        BN = B @ problem.trivial * np.sqrt(lift)
        lifted = np.hstack([BV, BN])
        S = A - height * B + lifted @ lifted.T
        slack = (n + 1) * U * np.abs(np.diagonal(S)).sum()  # of the factorisation (Rump 2006)
        slack += U * (np.linalg.norm(A) + height * np.linalg.norm(B))  # of the shift
        slack += gamma(lifted.shape[1] + 1) * np.linalg.norm(lifted) ** 2
        if excluded:  # BN is rounded: any V may be lifted, N only exactly
            terms = {None: 1, "diagonal": 2, "dense": 7, "sparse": 4}[metric]
            slack += 2 * gamma(terms) * np.linalg.norm(BN) ** 2
        if kind == "gramian":
            size = abs(problem.A.factor)
            slack += gamma(4) * np.linalg.norm((size.T @ size).toarray())
        assert height - found.height >= slack / lowest * (1 - 1e-9)
        assert height - found.height <= 8 * slack / lowest
        assert found.error == pytest.approx(height - found.height, rel=1e-9)
    error = found.error
    patched(monkeypatch, UP=1.25)
    assert cholesky_floor(problem, answer, 2, height, lift).error >= 1.25 * error * (1 - 1e-9)


def test_half_of_what_is_not_symmetric_is_charged(monkeypatch):
    A = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    problem = TraceProblem(A, count=2)
    answer = answer_of(problem)
    before = cholesky_floor(problem, answer, 2, 2.5, 0.0).height
    count = pivot_floor(problem, answer, 2, 2.5, 0.0).height
    problem = replace(problem)
    monkeypatch.setattr(TraceProblem, "asymmetry", 0.125)
    assert before - cholesky_floor(problem, answer, 2, 2.5, 0.0).height >= 0.125
    assert count - pivot_floor(problem, answer, 2, 2.5, 0.0).height >= 0.125


# ---- pivots


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("kind", ["sparse", "gramian"])
def test_counts_hold_below_what_errors_of_rows_can_move(kind, sense, metric):
    problem = stated(kind, metric, sense)
    A, B = plain(problem)
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    height = float(values[1] + values[2]) / 2
    pencil = shifted_matrices(problem)
    matrix = pencil.at(height)
    m = pencil.auxiliary
    rows = np.linspace(1, 2, m + 6)[::-1] * 2.0**-9
    factor = SimpleNamespace(backward_error=1.0, row_errors=rows)
    reached = counted_height(problem, factor, matrix, height)
    alpha = np.sqrt(abs(height)) if m else 1.0
    assert pencil.balance(height) == pytest.approx(alpha)
    formed = U * (abs(matrix) @ np.ones(m + 6))
    formed[m:] += U * abs(height) / alpha * (np.abs(B) @ np.ones(6))
    e = rows + formed
    raised = matrix.toarray() + np.diag(e)  # the worst that is allowed: nothing less is counted
    below = np.sum(np.linalg.eigvalsh(raised) < 0) - (m if sense == "min" else 0)
    assert below >= np.sum(values < reached)
    if not m:
        moved = scipy.linalg.eigh(np.diag(e), B, eigvals_only=True)[-1]
        assert height - reached >= moved * (1 - 1e-9)
        assert height - reached <= 3 * e.max() / np.linalg.eigvalsh(B)[0]
    else:
        room = alpha - problem.sign * e[:m].max()
        rest = height / alpha - e[m:].max() / np.linalg.eigvalsh(B)[0]
        assert reached <= min(height, room * rest) + 1e-12
        low = alpha - 3 * problem.sign * e[:m].max()
        slow = height / alpha - 3 * e[m:].max() / np.linalg.eigvalsh(B)[0]
        assert reached >= low * slow - 20 * U * abs(height)
    factor = SimpleNamespace(backward_error=np.inf, row_errors=rows)
    assert counted_height(problem, factor, matrix, height) == -np.inf


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["sparse", "gramian"])
def test_room_on_the_diagonal_holds_all_errors(monkeypatch, kind, metric):
    problem = stated(kind, metric)
    A, B = plain(problem)
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    height = float(values[1] + values[2]) / 2
    pencil = shifted_matrices(problem)
    matrix = pencil.at(height)
    m, seen = pencil.auxiliary, []

    def spied(lowered, ordering):
        seen.append(lowered)
        return factorise(lowered, ordering)

    monkeypatch.setattr(completeness, "factorise", spied)
    found = factor_with_room(problem, factorise(matrix, pencil.ordering), matrix, height)
    room = matrix.diagonal() - seen[-1].diagonal()
    formed = U * (abs(matrix) @ np.ones(m + 6))
    formed[m:] += U * height / (np.sqrt(height) if m else 1.0) * (np.abs(B) @ np.ones(6))
    formed += U * np.abs(seen[-1].diagonal())
    assert (room >= found.row_errors + formed).all()
    assert (room <= 10 * (found.row_errors + formed)).all()
    rows = SimpleNamespace(backward_error=np.inf, row_errors=found.row_errors)
    assert factor_with_room(problem, rows, matrix, height) is None


@pytest.mark.parametrize("excluded", [False, True], ids=["whole", "off N"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["dense", "gramian"])
def test_filled_counts_pay_for_every_entry(kind, metric, excluded):
    problem, lift = stated(kind, metric, excluded=excluded), 40.0
    answer, (A, B) = answer_of(problem), plain(problem)
    height = float(answer.h[1]) + 0.05
    BN = B @ problem.trivial * np.sqrt(lift)
    entries = U * (2 * np.abs(A - height * B + BN @ BN.T) + height * np.abs(B))
    if kind == "gramian":
        size = abs(problem.A.factor)
        entries += gamma(2) * (size.T @ size).toarray()
    if excluded:
        entries += (gamma(2) + 2 * gamma(1)) * np.abs(BN) @ np.abs(BN).T
    found = pivot_floor(problem, answer, 2, height, lift)
    moved = scipy.linalg.eigh(entries, B, eigvals_only=True)[-1]
    assert height - found.height >= moved
    assert height - found.height <= 60 * moved
    assert found.seen == 2

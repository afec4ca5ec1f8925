"""Spectral floors are lowered by all that rounding can do to counts, factorisations and norms.

Most are held in an arithmetic with a coarse unit (`tests/proofs/coarse.py`); some are equal to
their formula, which is written out here beside the bound.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold.kernels import arithmetic
from dualfold.trace import Gramian, TraceProblem
from tests.proofs.coarse import U, gamma, patched
from tests.trace.door import (
    ExcludedSpan,
    Trial,
    TrialHeight,
    _Case,
    _coupling_loss,
    cholesky_floor,
    completeness,
    counted_height,
    deflated_norm_floor,
    excluded_trial,
    factor_with_room,
    factorise,
    inertia_floor,
    norm_floor,
    pivot_floor,
    pivots,
    product_rounding,
    rounding,
    shifted_matrices,
    trial,
)
from tests.trace.door import singular_values as singular
from tests.trace.door import trial_directions as trials
from tests.trace.problems import (
    METRICS,
    path_problem,
    plain_trial,
    ramp_problem,
)
from tests.trace.test_factorisation import dense_factor

EQUAL = {"rtol": 1e-10}


def test_cholesky_is_charged_for_its_trace_and_for_the_shift(coarsely):
    A, n = np.diag([-5.0, 1.0, 2.0, 3.0]), 4
    problem, answer = TraceProblem(A, count=2), plain_trial([-5.0, 1.0], n=4)
    found = cholesky_floor(problem, answer, 2, 1.5, 0.0)
    lift = 2 * (5.0 + 1.5)  # twice the largest value and the height: all becomes positive
    assert found.seen == 2
    diagonal = np.array([-6.5 + lift, -0.5 + lift, 0.5, 1.5])
    slack = U * (4 * (n + 2) * diagonal.sum() + 8 * (2 * np.linalg.norm(A) + 1.5 * 2))
    slack += gamma(2 + 4) * 2 * lift
    slack -= U * 8 * (np.linalg.norm(A) - rounding.norm_bound(problem))
    assert found.error == pytest.approx(slack, rel=1e-9)


def test_lifted_directions_are_charged_for_their_square_and_excluded_ones_for_their_image(
    coarsely,
):
    problem, lift = path_problem("dense", "diagonal"), 40.0
    BN = problem.metric.times(problem.excluded_basis) * np.sqrt(lift)
    length = np.linalg.norm(BN)
    wrong = np.sqrt(lift) * 2 * U * np.linalg.norm(problem.metric.times(problem.excluded_basis))
    wrong += 4 * U * length
    total = gamma(1 + 4) * length**2 + wrong * (2 * length + wrong)
    assert completeness._lift_rounding(problem, BN, lift) == pytest.approx(total, rel=1e-10)


def test_excluded_directions_that_are_not_exact_cost_what_they_pull_down(coarsely):
    A = np.diag([1.0, 2.0, 3.0]) + 0.25 * (np.eye(3, k=1) + np.eye(3, k=-1))
    problem = TraceProblem(A, count=1, excluded=np.eye(3)[:, :1])
    height, lift, scale = TrialHeight(1, 2.0), 10.0, 3.0

    def lost(off):
        span = ExcludedSpan(problem.excluded_columns, problem.excluded_basis, off)
        stated = replace(problem, excluded=span)
        excluded = excluded_trial(stated)
        answer, none = plain_trial([2.0], n=3), np.zeros((3, 0))
        case = _Case(stated, answer, none, np.zeros(0), excluded, lift, scale, 0.0, 1e-4)
        return _coupling_loss(case, height)

    coupled, lifted = 0.25, lift + 1.0
    for off in (0.0, 1e-3, 0.09):
        least = coupled**2 / (lifted - 2.0) + 4 * off * coupled + 16 * off**2 * scale
        assert least <= lost(off) <= least * (1 + 1000 * U)
    assert lost(0.1) == np.inf


def test_squares_are_charged_by_their_longest_sum(coarsely):
    problem = ramp_problem("gramian", None)
    size = np.abs(problem.A.factor.toarray())
    terms = int((size > 0).sum(axis=0).max())
    worst = (size.T @ size).sum(axis=1).max()
    assert product_rounding(problem) == pytest.approx(gamma(terms + 4) * worst, rel=1e-9)


def test_a_sharper_count_holds_sixteen_units_below_its_height():
    problem = TraceProblem(sp.csr_array(np.diag([1.0, 3.0, 5.0, 7.0])), count=1)
    for height in (2.0, 4.0):
        found = inertia_floor(problem, int(height) // 2, height, None).sharper()
        assert found.height == height - 16 * rounding.UNIT_ROUNDOFF * height
    turned = TraceProblem(Gramian(sp.csr_array(np.diag([1.0, 3.0, 5.0, 7.0]))), count=1)
    found = singular.singular_floor(turned, 1, 4.0).sharper()
    assert found.height == 4.0 * (1 - 16 * rounding.UNIT_ROUNDOFF)


def test_excluded_values_near_the_height_spoil_a_count():
    """Up to the height and twice what it was lowered by: rounding moves either way."""
    problem = TraceProblem(sp.csr_array(np.diag([1.0, 3.0, 5.0, 7.0])), count=1)
    factor = SimpleNamespace(zero=0, negative=2)
    for value, seen in ((1.5, 1), (1.75, None), (2.5, None), (2.51, 2), (2.7, 2)):
        excluded = plain_trial([value], n=4)
        found = completeness._counted_floor(problem, 1, 2.0, excluded, factor, 1.75)
        assert found.seen == seen, value


def test_filled_counts_are_charged_below_0_as_above(coarsely):
    A = np.diag([-4.0, -2.0, 1.0, 2.0])
    answer = plain_trial([-4.0], n=4)
    problem = TraceProblem(A, count=1)
    height, off = -3.0, np.zeros(4)
    S = np.abs(np.diagonal(A) - height)
    off = gamma(2 * 4 + 6) * S + U * S  # LDLᵀ, measured, and its product
    off += 4 * U * (np.abs(np.diagonal(A)) + 3.0)
    found = pivot_floor(problem, answer, 1, height, 0.0)
    assert height - found.height == pytest.approx(off.max(), rel=1e-9)


def test_products_of_pivots_are_charged_by_their_length(coarsely):
    S = np.array([[4.0, 2.0, 0.0], [2.0, 5.0, 2.0], [0.0, 2.0, 5.0]])
    negative, off = pivots.dense_inertia(S)
    assert negative == 0
    L = np.array([[1.0, 0, 0], [0.5, 1.0, 0], [0, 0.5, 1.0]])
    size = L @ np.diag([4.0, 4.0, 4.0]) @ L.T
    np.testing.assert_allclose(off, gamma(2 * 3 + 6) * size + U * S, **EQUAL)


def test_a_form_is_proved_where_errors_hold_twice_the_rounding(coarsely):
    n, size = 3, 8.0
    T = size * np.eye(n)
    least = 0.0
    for _ in range(60):  # the least errors that are more than twice their own rounding
        rounded = (n * gamma(n + 4) + 8 * U) * (size - least) + 4 * U * size
        least = 2 * rounded
    assert pivots.form_bound(T, np.full(n, least * (1 + 1e-9)))
    assert not pivots.form_bound(T, np.full(n, least * (1 - 1e-9)))


def plain(problem):
    """sign·A and B, filled."""
    A = problem.A.factor.toarray() if isinstance(problem.A, Gramian) else problem.A @ np.eye(6)
    A = A.T @ A if isinstance(problem.A, Gramian) else A
    return problem.sign * A, problem.metric.sparse().toarray()


def answer_of(problem):
    A, B = plain(problem)
    BN = B @ problem.excluded_basis
    V = scipy.linalg.eigh(A + 40 * BN @ BN.T, B)[1][:, :2]
    return trials.trial(problem, V, 40.0)


@pytest.mark.usefixtures("coarsely")
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
    patched(monkeypatch, completeness, UNIT_ROUNDOFF=U, gamma=arithmetic.gamma)
    assert -norm_floor(problem, whole).height >= np.sqrt(2 * U) * np.linalg.norm(A)
    flat = TraceProblem(np.diag(np.r_[100.0, np.linspace(1e-6, 2e-6, 199)]), count=1, sense="max")
    top = Trial(np.eye(200)[:, :1], np.array([-100.0]), *np.zeros((2, 1)), 0.0, 0.0)
    found = -deflated_norm_floor(flat, top).height  # γ is that of double precision here
    assert np.sqrt(2 * U) * 100 <= found <= 2 * np.sqrt(16 * U) * 100


@pytest.mark.usefixtures("coarsely")
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


@pytest.mark.usefixtures("coarsely")
@pytest.mark.parametrize("excluded", [False, True], ids=["whole", "off N"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "gramian"])
def test_a_factorisation_that_runs_through_is_right_to_its_trace(
    monkeypatch, kind, metric, excluded
):
    problem, lift = ramp_problem(kind, metric, excluded=excluded), 40.0
    answer, (A, B) = answer_of(problem), plain(problem)
    height, n = float(answer.h[1]) + 0.05, 6
    lowest = problem.metric.lowest
    for below in (0, 1, 2):
        found = cholesky_floor(problem, answer, below, height, lift)
        BV = B @ answer.V[:, :below] * np.sqrt(2 * (np.abs(answer.h).max() + height))
        BN = B @ problem.excluded_basis * np.sqrt(lift)
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


@pytest.mark.usefixtures("coarsely")
def test_half_of_what_is_not_symmetric_is_charged():
    A, twisted = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), 2.0**-18
    problem, answer = TraceProblem(A, count=2), answer_of(TraceProblem(A, count=2))
    off = np.zeros((6, 6))
    off[0, 1], off[1, 0] = twisted, -twisted
    wrong = TraceProblem(A + off, count=2)
    for prove in (cholesky_floor, pivot_floor):
        floors = [prove(given, answer, 2, 2.5, 0.0).height for given in (problem, wrong)]
        assert floors[0] - floors[1] >= twisted * (1 - 1e-3)


@pytest.mark.usefixtures("coarsely")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("kind", ["sparse", "gramian"])
def test_counts_hold_below_what_errors_of_rows_can_move(kind, sense, metric):
    problem = ramp_problem(kind, metric, sense)
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


@pytest.mark.usefixtures("coarsely")
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["sparse", "gramian"])
def test_room_on_the_diagonal_holds_all_errors(kind, metric):
    problem = ramp_problem(kind, metric)
    A, B = plain(problem)
    values = scipy.linalg.eigh(A, B, eigvals_only=True)
    height = float(values[1] + values[2]) / 2
    pencil = shifted_matrices(problem)
    matrix = pencil.at(height)
    m = pencil.auxiliary
    found = factor_with_room(problem, factorise(matrix, pencil.ordering), matrix, height)
    lower, pivots = dense_factor(found)
    lowered = np.empty(m + 6)
    lowered[found.ordering.permutation] = np.diagonal((lower * pivots) @ lower.T)
    room = matrix.diagonal() - lowered
    formed = U * (abs(matrix) @ np.ones(m + 6))
    formed[m:] += U * height / (np.sqrt(height) if m else 1.0) * (np.abs(B) @ np.ones(6))
    formed += U * np.abs(lowered)
    assert (room >= found.row_errors + formed).all()
    assert (room <= 10 * (found.row_errors + formed)).all()
    rows = SimpleNamespace(backward_error=np.inf, row_errors=found.row_errors)
    assert factor_with_room(problem, rows, matrix, height) is None


@pytest.mark.usefixtures("coarsely")
@pytest.mark.parametrize("excluded", [False, True], ids=["whole", "off N"])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["dense", "gramian"])
def test_filled_counts_pay_for_every_entry(kind, metric, excluded):
    problem, lift = ramp_problem(kind, metric, excluded=excluded), 40.0
    answer, (A, B) = answer_of(problem), plain(problem)
    height = float(answer.h[1]) + 0.05
    BN = B @ problem.excluded_basis * np.sqrt(lift)
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

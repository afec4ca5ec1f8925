"""Routes of proof: which heights and routes are tried, in which order, how often, and what is
counted as a missed direction.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

from dualfold.trace import Gramian, TraceProblem, certificate
from dualfold.trace.metric import ExcludedSpan
from dualfold.trace.proof import lehmann_bounds as bounds
from dualfold.trace.proof import routes as proofs
from dualfold.trace.proof.completeness import SpectralFloor, excluded_trial
from dualfold.trace.proof.lehmann_bounds import Bracket, TrialHeight, bracket
from dualfold.trace.proof.routes import evidence
from dualfold.trace.proof.trial_directions import Trial
from tests.proofs.coarse import U, coarse


def test_norms_are_tried_at_any_size(monkeypatch):
    dense = TraceProblem(np.diag([8.0, 1.0, 0.0, 0.0]), count=1, sense="max")
    answer = Trial(np.eye(4)[:, :1], np.array([-8.0]), *np.zeros((2, 1)), 0.0, 0.0)
    case = SimpleNamespace(problem=dense, answer=answer, tolerance=1e-4, extra=0.0)
    found, floor, missed = proofs._norm_route(case)
    assert (floor.proof, floor.seen, missed) == ("norm", 1, False)
    assert found.gap <= 1e-4


def test_what_rounding_may_add_is_said_to_be_rounding(monkeypatch):
    monkeypatch.setattr(proofs, "span_error", lambda *_: 0.125)
    monkeypatch.setattr(proofs, "exact_proof", lambda *_: None)
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0, -6.0]), count=1, sense="max")
    found = evidence(problem, np.eye(4)[:, 2:3], 8.0, 1e-4, False).bracket
    assert found.blurred >= 0.9 * found.apart > 0.5


def trial_of(h, squares=None):
    h = np.asarray(h, dtype=float)
    squares = np.zeros(len(h)) if squares is None else np.asarray(squares, dtype=float)
    return Trial(np.eye(len(h) + 2)[:, : len(h)], h, squares, np.zeros(len(h)), 0.0, 0.0)


def problem_of(values, count=1, **more):
    return TraceProblem(np.diag(np.asarray(values, dtype=float)), count=count, **more)


def test_heights_are_tried_in_the_gap_under_the_cluster_and_at_guesses(monkeypatch):
    monkeypatch.setattr(bounds, "HEIGHT_STEP_FACTORS", (1.0, 64.0))
    monkeypatch.setattr(bounds, "MIN_HEIGHT_STEP", 0.0)
    allowed = 2.0**-22  # δ is a 32nd of it times the last value, which is 4
    delta = allowed / 8
    answer = trial_of([1.0, 4.0 - 4 * delta, 4.0])
    found = list(bounds.trial_heights(answer, lambda: None, 7.0, 0.0, allowed))
    assert found == [
        TrialHeight(3, 5.0),  # a third of the way to the next value
        TrialHeight(2, 4.0 - delta, delta),
        TrialHeight(1, 4.0 - 4 * delta - 64 * delta, 64 * delta),  # two are nearer than twice that
        *(TrialHeight(3, 4.0 + step) for step in (2.0, 0.5, 0.125, 0.03125)),
    ]
    # A gap of just twice δ holds a height; no room behind the answer: nothing is tried there.
    narrow = trial_of([1.0, 4.0 - 2 * delta, 4.0])
    assert (
        next(bounds.trial_heights(narrow, lambda: None, 4.0 + 4 * delta, 0.0, allowed)).below == 2
    )
    # δ is also eight lengths of a residual, or so much of the spectrum, or 2.5e-8.
    rough = trial_of([1.0, 4.0], [0.0, 2.0**-20])
    assert next(bounds.trial_heights(rough, lambda: None, None, 0.0, allowed)).under == 8 * 2.0**-10
    usual = next(bounds.trial_heights(trial_of([1.0, 4.0]), lambda: None, None, 0.0, 1e-4))
    assert usual.under == pytest.approx(1e-7, rel=1e-12)
    monkeypatch.setattr(bounds, "MIN_HEIGHT_STEP", 1e-3)
    assert next(bounds.trial_heights(answer, lambda: None, None, 8.0, allowed)).under == 8e-3


def test_wider_gaps_are_tried_where_better_directions_are_below():
    answer = trial_of([1.0])
    wider = trial_of([1.0, 2.0, 3.0, 11.0, 12.0, 16.0], np.full(6, 2.0**-8))
    found = bounds._wide_gaps(answer, wider, 0.25)
    assert found == [TrialHeight(3, 7.0), TrialHeight(5, 14.0)]  # the widest first, in their middle
    assert bounds._wide_gaps(answer, wider, 1.0) == [TrialHeight(3, 7.0)]  # 4 is not more than 4·1
    rough = trial_of([1.0, 2.0, 3.0, 11.0, 12.0, 16.0], np.full(6, 1.0))
    assert bounds._wide_gaps(answer, rough, None) == [TrialHeight(3, 7.0)]
    half = trial_of([1.0, 2.0, 3.0], np.full(3, 0.25))  # residuals of ½: a gap of 2 would do
    assert bounds._wide_gaps(answer, half, None) == []


def test_further_directions_are_used_where_there_are_two_and_a_is_sparse():
    sparse = TraceProblem(sp.csr_array(np.diag([1.0, 2.0, 3.0, 4.0])), count=1)
    one, two = np.eye(4)[:, 1:2], np.eye(4)[:, 1:3]
    assert proofs._wants_wider(sparse, two)
    assert not proofs._wants_wider(sparse, one)
    assert not proofs._wants_wider(problem_of([1, 2, 3, 4]), two)


def test_further_directions_are_kept_in_any_units_if_some_of_them_is_left():
    light = TraceProblem(np.eye(3), np.full(3, 1e-20), count=1)
    basis = 1e10 * np.eye(3)[:, :1]
    assert proofs._further(light, basis, np.array([[0.0], [1.0], [0.0]])).shape == (3, 1)
    plain = problem_of([1, 2, 3])
    for left, kept in ((1.5e-8, 1), (0.7e-8, 0)):
        column = np.array([[1.0], [left], [0.0]])
        assert proofs._further(plain, np.eye(3)[:, :1], column).shape[1] == kept


def test_excluded_directions_are_lifted_above_all_that_is_looked_at():
    problem = problem_of([0, 1, 2, 5], excluded=np.eye(4)[:, :1])
    excluded = Trial(np.eye(4)[:, :1], np.array([-3.0]), *np.zeros((2, 1)), 0.0, 0.5)
    further = np.eye(4)[:, 2:]
    half = 0.5 * bounds.UP
    beyond = proofs._quotients(problem, further)
    assert proofs._lift(np.array([1.0]), beyond, excluded) == 8 * (1 + 5 + 3 + half)
    assert proofs._lift(np.array([-1.0]), beyond[:0], excluded) == 8 * (1 + 3 + half)


def test_the_next_value_is_a_hint_where_it_is_apart():
    answer = trial_of([1.0])
    problem = problem_of([0, 1, 2, 5], excluded=np.eye(4)[:, :1])
    assert proofs._next_value(problem, answer, np.zeros(0), 40.0) == pytest.approx(2.0)
    near = problem_of([1.0, 1.0 + 5e-10, 2.0, 3.0])
    assert proofs._next_value(near, answer, np.zeros(0), 0.0) is None
    wide = problem_of([1.0, 1.0 + 5e-8, 2.0, 1e6])
    assert proofs._next_value(wide, answer, np.zeros(0), 0.0) is None
    assert proofs._next_value(near, answer, proofs._quotients(near, np.eye(4)[:, 2:]), 0.0) == 2.0


def test_what_the_basis_is_off_its_span_is_added_to_the_distance(monkeypatch):
    seen = []
    monkeypatch.setattr(proofs, "span_error", lambda *_: 0.125)
    monkeypatch.setattr(proofs, "_best_route", lambda case, *_: (seen.append(case), None, False))
    problem = problem_of([1, 2, 4, 8], count=2)
    proofs.evidence(problem, np.eye(4)[:, :2], 16.0, 1e-4, False)
    case = seen[0]
    length = np.sqrt(case.answer.squares.sum())
    extra = 2 * 0.125 * length + 4 * 0.125**2 * (16.0 + 2.0)
    assert case.extra == pytest.approx(extra, rel=1e-5)
    found = proofs._with_extra(Bracket(1.0, 2.0, 3.0, 4.0, 5.0), case)
    assert (found.lower, found.apart, found.blurred) == (
        1.0 - case.extra,
        2.0 + case.extra,
        3.0 + case.extra,
    )


def test_routes_are_taken_up_to_and_with_their_number_of_rows(monkeypatch):
    problem = problem_of([8, 4, 2, 1], sense="max")
    case = SimpleNamespace(problem=problem, answer=trial_of([-8.0]), tolerance=1e-4)

    def never(*_):
        raise AssertionError

    monkeypatch.setattr(proofs, "norm_floor", lambda *_: None)
    monkeypatch.setattr(proofs, "deflated_norm_floor", never)
    monkeypatch.setattr(proofs, "MAX_FILLED_ROWS", 4)
    assert proofs._norm_route(case) is None
    operator = TraceProblem(aslinearoperator(np.diag([1.0, 2.0, 3.0, 4.0])), count=1)
    assert isinstance(certificate._spelled_out(operator).A, np.ndarray)
    monkeypatch.setattr(proofs, "MAX_FILLED_ROWS", 3)
    assert certificate._spelled_out(operator) is operator
    factor = TraceProblem(Gramian(sp.csr_array(np.diag([1.0, 2.0, 3.0]))), count=1)
    case = SimpleNamespace(problem=factor)
    monkeypatch.setattr(proofs, "_singular_route", lambda *_: "pairs")
    monkeypatch.setattr(proofs, "_is_decided", lambda *_: True)
    monkeypatch.setattr(proofs, "MAX_PAIRED_ROWS", 6)
    assert proofs._dense_inertia_route(case, None, None) == "pairs"


def tries(n=4, tolerance=0.0, gap_at=None):
    """How often a floor is made of twenty heights, none of which proves enough (or one)."""
    case = SimpleNamespace(
        problem=SimpleNamespace(n=n), excluded=None, extra=0.0, tolerance=tolerance
    )
    made = []

    def prove(height):
        made.append(height)
        return SpectralFloor(1, 1.0, "inertia", seen=1)

    def weigh(floor, height):
        return Bracket(1.0, 0.25 if height.at == gap_at else 1.0, 0.0, 1.0, 0.0)

    found = proofs._first_proof(case, [TrialHeight(1, float(k)) for k in range(20)], prove, weigh)
    return len(made), found


def test_large_problems_get_fewer_tries(monkeypatch):
    assert tries()[0] == 12
    monkeypatch.setattr(proofs, "MIN_LARGE_ROWS", 4)
    assert tries()[0] == 12
    assert tries(5)[0] == 5


def test_a_distance_that_is_just_the_tolerance_is_good_enough(monkeypatch):
    gap = Bracket(1.0, 0.25, 0.0, 1.0, 0.0).gap
    count, found = tries(tolerance=gap, gap_at=3.0)
    assert count == 4
    assert found[0].gap == gap
    assert not proofs._is_blurred(
        Bracket(1.0, 0.25, 0.25, 1.0, 0.0), SimpleNamespace(tolerance=gap)
    )
    assert proofs._is_blurred(
        Bracket(1.0, 0.25, 0.25, 1.0, 0.0), SimpleNamespace(tolerance=gap / 2)
    )


def test_better_directions_are_taken_where_they_prove_more(monkeypatch):
    rough, fine = trial_of([1.0], [0.25]), trial_of([1.0], [2.0**-20])
    floor = SpectralFloor(1, 2.0, "inertia", seen=1, solve=lambda R: R)
    case = SimpleNamespace(answer=rough, wider=None, tolerance=1e-9)
    for refined, expected in ((fine, fine), (trial_of([1.0], [0.5]), rough), (None, rough)):
        monkeypatch.setattr(proofs, "_refined_trial", lambda *_, refined=refined: refined)
        below = None if expected is rough else expected
        assert vars(proofs._bracket_of_floor(case, floor)) == vars(bracket(rough, below, floor))

    def never(*_):
        raise AssertionError

    monkeypatch.setattr(proofs, "_refined_trial", never)
    case.tolerance = bracket(rough, None, floor).gap
    assert vars(proofs._bracket_of_floor(case, floor)) == vars(bracket(rough, None, floor))


def test_directions_past_the_answer_are_lifted_where_there_are_some():
    case = SimpleNamespace(answer=trial_of([1.0]), wider=None)
    assert proofs._trial_to_lift(case, 2) is case.answer
    case.wider = trial_of([1.0, 2.0])
    assert proofs._trial_to_lift(case, 2) is case.wider
    assert proofs._trial_to_lift(case, 1) is case.answer


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
    span = ExcludedSpan(problem.excluded_columns, problem.excluded_basis, off)
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


def test_a_solve_that_gives_no_numbers_makes_no_direction_better():
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0]), count=1)
    given = SimpleNamespace(problem=problem, lift=0.0)
    for wrong in (np.nan, np.inf, 0.0):
        floor = SpectralFloor(1, 1.5, "inertia", solve=lambda R, wrong=wrong: wrong * R)
        with np.errstate(all="ignore"):
            assert proofs._refined_trial(given, floor, np.eye(3)[:, :1]) is None


PLAIN = TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), count=2)


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
    basis, _ = proofs._orthonormal(problem, problem.without_excluded(rng.normal(size=(6, 1))))
    extra = rng.normal(size=(6, 3)) * [1.0, 1e-5, 1e7]
    extra = np.hstack([extra, extra[:, :1] + basis, np.full((6, 1), np.nan)])
    found = proofs._further(problem, basis, extra)
    assert found.shape == (6, 3)  # what depends on the others, or is no number, is left out
    everything = np.hstack([problem.excluded_basis, basis, found])
    gram = everything.T @ problem.metric.times(everything)
    np.testing.assert_allclose(gram, np.eye(5), atol=1e-12)

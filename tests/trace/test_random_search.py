"""The random search of trace problems: its starts, its rounding, its floors, its chance."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from dualfold.errors import InvalidInput
from dualfold.trace import TraceProblem
from tests.proofs.coarse import U, patched
from tests.trace.door import (
    CHECKPOINT_STEPS,
    MISS_CHANCE,
    ExcludedSpan,
    _blur,
    _ends,
    _height,
    random_floor,
    seed_of,
    trial,
    uniform_start,
)
from tests.trace.door import random_search as search
from tests.trace.test_bounds import METRICS, N_ROWS, answer_of, path_laplacian, stated


@pytest.mark.parametrize("metric", METRICS)
def test_starts_have_the_length_of_the_numbers_drawn(metric):
    """x = L⁻ᵀg has xᵀBx = gᵀg, and over many draws x xᵀ is B⁻¹ on average."""
    problem = stated("dense", metric, False)
    B = problem.metric.sparse().toarray()
    drawn = np.array([uniform_start(problem, np.zeros((N_ROWS, 0)), seed) for seed in range(400)])
    for seed in (0, 1, 399):
        g = np.random.default_rng(seed).standard_normal(N_ROWS)
        assert drawn[seed] @ B @ drawn[seed] == pytest.approx(g @ g, rel=1e-12)
    mean = drawn.T @ drawn / len(drawn)
    assert np.linalg.norm(mean @ B - np.eye(N_ROWS)) < 1.5  # 7×7 entries of deviation 0.05 to 0.15


def test_seeds_depend_on_every_part_of_the_problem():
    V = answer_of(stated("sparse", "diagonal", True))[:, :2]
    seeds = set()
    for kind in ("dense", "sparse", "gramian"):
        for metric in METRICS:
            for excluded in (False, True):
                for scale in (0, 1):
                    seeds.add(seed_of(stated(kind, metric, excluded, a=scale), V, False))
    assert len(seeds) == 48
    problem = stated("sparse", "sparse", False)
    assert seed_of(problem, V, False) == seed_of(stated("sparse", "sparse", False), V, False)
    assert seed_of(problem, V, False) != seed_of(problem, V * (1 + 1e-15), False)
    assert seed_of(problem, V, True) != seed_of(problem, V, True)
    operator = LinearOperator(problem.A.shape, matmat=problem.A.dot, matvec=problem.A.dot)
    assert isinstance(seed_of(TraceProblem(operator, problem.B, 2), V, False), int)


def test_an_operator_pays_for_what_nobody_saw():
    A = path_laplacian(5)
    operator = LinearOperator(A.shape, matmat=A.dot, matvec=A.dot, dtype=float)
    extra = _blur(TraceProblem(operator, None, 1), 4.0) - _blur(TraceProblem(A, None, 1), 4.0)
    assert 3e-13 < extra < 2e-12  # 1e-13 of a norm of 3.6, half as much again


def test_heights_are_those_of_kuczynski_and_wozniakowski():
    for n, steps in ((100, 60), (10_000, 320), (70_000, 1_500)):
        chance = 2 * 1.648 * np.sqrt(n) * len(CHECKPOINT_STEPS)
        epsilon = (np.log(chance / MISS_CHANCE) / (2 * steps - 1)) ** 2
        for low, high in ((0.0, 1.0), (-3.0, 5.0)):
            width = (high - low) / (1 - 2 * epsilon)
            wanted = low - epsilon * width
            assert _height(n, low, high, steps) == pytest.approx(wanted, rel=1e-12)
            # The chance of the theorem is that allowed, shared among ends and checkpoints.
            missed = 1.648 * np.sqrt(n) * np.exp(-np.sqrt(epsilon) * (2 * steps - 1))
            assert 2 * missed * len(CHECKPOINT_STEPS) == pytest.approx(MISS_CHANCE, rel=1e-9)
    assert _height(100, 0.0, 1.0, 5) == -np.inf
    assert _ends([1.0, 2.0, 3.0], [0.0, 0.0]) == (1.0, 3.0)
    assert _ends([0.0, 0.0], [2.0, 9.0]) == (pytest.approx(-2.0), pytest.approx(2.0))


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "gramian"])
def test_a_small_complement_is_searched_to_its_end(kind, metric):
    """Then the floor is the next eigenvalue, to rounding, in any units."""
    for a, b in [(0, 0), (8, 0), (-6, 3)]:
        b = 0 if metric == "identity" else b
        problem = stated(kind, metric, True, a, b)
        unit = 2.0 ** ((2 * a if kind == "gramian" else a) - 2 * b)
        V = answer_of(problem)
        values = trial(problem, V).h
        some = trial(problem, V[:, :2])
        scale = 20 * unit
        floor = random_floor(problem, some, scale, 1e-4, False)
        assert (floor.below, floor.seen, floor.proof) == (2, 2, "random")
        assert floor.height <= values[2] * (1 + 1e-12)
        assert floor.height >= values[2] - 1e-10 * unit
        assert 0 < floor.chance <= 4 * MISS_CHANCE
        worse = trial(problem, V[:, 1:])  # the best direction is missing
        missed = random_floor(problem, worse, scale, 1e-4, False)
        assert missed.seen == 3
        assert missed.height == pytest.approx(values[0], rel=1e-6)


def test_a_large_complement_has_a_floor_below_its_spectrum():
    n = 600
    spectrum = np.r_[-3.0, -2.0, np.linspace(0.0, 1.0, n - 2)]
    problem = TraceProblem(sp.csr_array(sp.diags_array(spectrum)), count=2)
    some = trial(problem, np.eye(n)[:, :2])
    floor = random_floor(problem, some, 3.0, 1e-4, False)
    assert -2 < floor.height <= 0.0
    assert (floor.seen, floor.chance) == (2, MISS_CHANCE)
    lost = trial(problem, np.eye(n)[:, [0, 5]])
    assert random_floor(problem, lost, 3.0, 1e-4, False).seen == 3
    # Few different eigenvalues: the Krylov space ends, and more starts follow.
    few = TraceProblem(sp.csr_array(sp.diags_array(np.r_[-3.0, -2.0, np.ones(n - 2)])), count=2)
    ended = random_floor(few, trial(few, np.eye(n)[:, :2]), 3.0, 1e-4, False)
    assert -2 < ended.height <= 1.0
    assert ended.chance == pytest.approx(4 * MISS_CHANCE)
    whole = TraceProblem(np.diag([1.0, 2.0]), count=2)
    nothing = random_floor(whole, trial(whole, np.eye(2)), 2.0, 1e-4, False)
    assert (nothing.height, nothing.chance, nothing.seen) == (np.inf, 0.0, 2)


# ---- what a problem refuses


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_one_entry_that_is_no_number_is_enough(wrong):
    A = path_laplacian(4)
    A[2, 2] = wrong
    for given in (A, sp.csr_array(A)):
        with pytest.raises(InvalidInput, match="NaN or infinite"):
            TraceProblem(given, count=1)
    B = 3 * np.eye(4) + 0.5
    B[1, 1] = wrong
    for given in (B, sp.csr_array(B)):
        with pytest.raises(InvalidInput, match="NaN or infinite"):
            TraceProblem(np.eye(4), given, 1)
    for weights in (
        np.array([1.0, wrong, 1, 1]),
        np.array([1.0, 0, 1, 1]),
        np.array([1.0, -1, 1, 1]),
    ):
        with pytest.raises(InvalidInput, match="not positive numbers"):
            TraceProblem(np.eye(4), weights, 1)
    for N in (np.array([1.0, wrong, 0, 0]), np.zeros(4), np.array([[1.0, 0]] * 4)):
        with pytest.raises(InvalidInput, match="excluded direction"):
            TraceProblem(np.eye(4), None, 1, "min", N)


def test_counts_from_one_to_all_that_is_left():
    N = np.ones((4, 1))
    for count in (1, 2, 3):
        assert TraceProblem(np.eye(4), None, count, "min", N).count == count
    for count in (0, 4, -1):
        with pytest.raises(InvalidInput, match="directions were asked for"):
            TraceProblem(np.eye(4), None, count, "min", N)
    with pytest.raises(InvalidInput, match="square matrix"):
        TraceProblem(np.ones((3, 4)), count=1)
    with pytest.raises(InvalidInput, match="'min' or 'max'"):
        TraceProblem(np.eye(3), count=1, sense="largest")
    with pytest.raises(InvalidInput, match="symmetric"):
        TraceProblem(np.eye(3) + np.eye(3, k=1), count=1)
    with pytest.raises(InvalidInput, match="rows"):
        TraceProblem(np.eye(3), count=1).descent(np.ones(4))


@pytest.mark.usefixtures("coarsely")
def test_random_searches_are_charged_by_the_condition_of_the_metric(monkeypatch):
    scale, A = 8.0, np.diag([1.0, 2.0, 3.0])
    A[0, 1] = 2.0**-20  # not quite symmetric
    patched(monkeypatch, search, LENGTH_UNDERFLOW=0.5)
    for B, condition, lowest in ((None, 4.0, 1.0), (np.diag([1.0, 2, 4]) + 0.0, 8.0, None)):
        problem = TraceProblem(A, B, count=1)
        low = problem.metric.lowest if lowest is None else lowest
        condition = condition if lowest else 4 + 4 / low
        expected = 64 * U * condition * scale + (problem.asymmetry + 0.5) / low
        assert problem.asymmetry >= 2.0**-21
        assert search._blur(problem, scale) == pytest.approx(expected, rel=1e-12)
    span = ExcludedSpan(np.zeros((3, 0)), np.zeros((3, 0)), 0.125)
    problem = replace(problem, excluded=span)
    assert search._blur(problem, scale) == pytest.approx(expected + 4 * 0.125 * scale, rel=1e-12)


def test_an_invariant_space_leaves_the_chance_of_what_it_did_not_see():
    """√n·(blur + 8u·scale)/MISS^¼ is taken off the height of few eigenvalues."""
    n = 600
    few = TraceProblem(sp.csr_array(sp.diags_array(np.r_[-3.0, -2.0, np.ones(n - 2)])), count=2)
    floor = random_floor(few, trial(few, np.eye(n)[:, :2]), 3.0, 1e-4, False)
    least = np.sqrt(n) * (64 * 2.0**-53 * 4 * 3) / 1e-3
    assert least <= 1 - floor.height <= 10 * least


def test_a_large_search_looks_only_where_its_chance_was_shared(monkeypatch, set_limits):
    """Each look is one more chance to stop by accident: only checkpoints were paid for."""
    looks, ends = [], search._ends
    monkeypatch.setattr(search, "_ends", lambda *given: looks.append(1) or ends(*given))
    set_limits("trace.proof.random_search", MAX_STEPS=100)
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


def test_a_krylov_space_that_ends_early_is_charged_for_what_it_left(set_limits):
    n = 300
    problem = TraceProblem(np.diag(np.r_[0.0, np.ones(n // 2), np.full(n // 2 - 1, 4.0)]), count=1)
    answer = trial(problem, np.eye(n)[:, :1])
    set_limits("trace.proof.random_search", INVARIANT_TOLERANCE=1e-9)
    found = random_floor(problem, answer, 4.0, 1e-4, False)
    charged = np.sqrt(n) * 1e-9 * 4.0 / search.MISS_CHANCE ** (1 / search.MAX_STARTS)
    assert 1 - 1.1 * charged <= found.height <= 1 - charged

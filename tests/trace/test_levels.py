"""The level of a trace certificate and its reasons follow from the evidence."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from dualfold.trace import TraceProblem, certificate, certify
from dualfold.trace.certificate import _angle, _level, _mismatch
from dualfold.trace.proof.completeness import SpectralFloor
from dualfold.trace.proof.lehmann_bounds import Bracket
from dualfold.trace.proof.trial_directions import Trial
from tests.trace.test_proof_routes import problem_of


def test_a_gap_behind_the_answer_is_said():
    found = certify(problem_of([1, 2, 4, 8], count=2), np.eye(4)[:, :3])
    assert 0.5 < found.eigengap <= 2.0
    assert found.floor - 2.0 == pytest.approx(found.eigengap, abs=1e-6)


def test_the_size_of_a_spectrum_is_that_of_a_against_b():
    problem = TraceProblem(np.diag([1.0, 2.0, 8.0]), np.full(3, 4.0), count=1)
    norm = np.sqrt(1 + 4 + 64)
    assert certificate._entry_scale(problem) == pytest.approx(norm / 4, rel=1e-5)


def test_values_that_are_those_of_the_vectors_belong_to_them():
    assert certificate._mismatch([0.0], np.array([0.0]), 0.0) == []
    assert certificate._mismatch([1.0 + 2e-6], np.array([1.0]), 1.0) != []
    assert certificate._mismatch([1.0 + 5e-7], np.array([1.0]), 1.0) == []


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

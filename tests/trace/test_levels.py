"""The level of a trace certificate and its reasons follow from the evidence."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.trace import TraceProblem, certify
from tests.trace.door import AnswerEvidence, Bracket, SpectralFloor, Trial, _angle, _level

PLAIN = TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]), count=2)


def evidence(floor, bracket, *, leak=0.0, scale=4.0, missed=False):
    answer = Trial(np.eye(4)[:, :2], np.array([1.0, 2.0]), *np.zeros((2, 2)), 0.0, leak)
    return AnswerEvidence(answer.h, np.zeros(2), answer, bracket, floor, scale, missed)


def level(proof, gap, *, blurred=0.0, missed=False, scale=4.0, doubts=()):
    """The level of a value 3 with this relative gap."""
    floor = SpectralFloor(2, 2.5, proof, seen=3 if missed else 2)
    bracket = Bracket(3.0, 3.0 * gap, blurred * 3.0 * gap, 3.0 * (1 + gap), 0.0)
    return _level(PLAIN, evidence(floor, bracket, scale=scale, missed=missed), list(doubts), 1e-4)[
        0
    ]


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
    bracket = Bracket(3.0, 1e-4, 0.0, 3.0, 0.0)
    (words,) = _angle(evidence(SpectralFloor(2, 3.25, "inertia"), bracket, leak=0.25))
    assert float(words.rpartition(" ")[2]) == pytest.approx(1.01 * np.sqrt(1e-4 / 1.0), rel=0.06)
    below_the_last = SpectralFloor(2, 2.2, "inertia")
    assert _angle(evidence(below_the_last, bracket, leak=0.25)) == ()


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("metric", [1.0, 4.0])
def test_values_belong_to_their_vectors_to_a_millionth(size, metric):
    """Of themselves, and a tiny one to a millionth of a millionth of the spectrum."""
    problem = TraceProblem(size * np.diag([0.0, 1.0, 2.0, 8.0]), np.full(4, metric), count=3)
    V, values = np.eye(4)[:, :3] / np.sqrt(metric), size / metric * np.array([0.0, 1.0, 2.0])
    spectrum = size / metric * np.sqrt(1 + 4 + 64)
    for off, fits in (
        (0.0, True),
        (5e-7 * values, True),
        (5e-6 * values, False),
        (np.array([5e-13, 0, 0]) * spectrum, True),
        (np.array([5e-12, 0, 0]) * spectrum, False),
    ):
        assert (certify(problem, V, values + off).level == "proved") == fits
    assert certify(problem, V).level == "proved"


def test_an_ill_conditioned_metric_excuses_a_ten_thousandth():
    B = np.array([[1.0, 1 - 1e-11], [1 - 1e-11, 1.0]])
    problem = TraceProblem(np.eye(2), B, count=1)
    v = np.array([[1.0], [-1.0]]) / np.sqrt(2e-11)
    assert not any("orthonormal" in reason for reason in certify(problem, v).reasons)
    wrong = certify(problem, v * np.sqrt(1 + 1.6e-4))
    assert wrong.level == "failed"
    assert any("orthonormal" in reason for reason in wrong.reasons)


def test_all_directions_off_the_excluded_one_are_the_whole():
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0]), count=2, excluded=np.eye(3)[:, 2:])
    found = certify(problem, np.eye(3)[:, :2])
    assert (found.proof, found.level, found.value) == ("whole", "proved", 3.0)

"""What is said of a frozen answer is true, and nothing is said where nothing is determined."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.trace import TraceProblem
from tests.proofs import fuzz_staleness
from tests.trace.door import certify_frozen


def test_angles_and_gaps_of_diagonal_problems_are_bracketed() -> None:
    turned = np.array([[1.0, 0], [0, np.cos(0.3)], [0, np.sin(0.3)], [0, 0]])
    low = certify_frozen(TraceProblem(np.diag([1.0, 2, 5, 9])), turned, np.eye(4)[:, :2])
    high = certify_frozen(
        TraceProblem(np.diag([9.0, 5, 2, 1]), sense="max"), turned, np.eye(4)[:, :2]
    )
    for found, true in ((low, np.sin(0.3) ** 2 / 2), (high, 3 * np.sin(0.3) ** 2 / 14)):
        assert found.at_least <= true * (1 + 1e-12)
        assert true <= found.gap * (1 + 1e-12)
        assert found.gap - found.at_least < 1e-4


def test_an_equal_eigenvalue_behind_the_last_leaves_angles_unresolved() -> None:
    found = certify_frozen(
        TraceProblem(np.diag([1.0, 2, 2, 9])), np.eye(4)[:, [0, 2]], np.eye(4)[:, :2]
    )
    assert found.level == "unresolved"
    assert found.gap == np.inf


def test_points_on_a_line_are_no_answer_of_two_dimensions() -> None:
    flat = np.outer(np.arange(4.0), [1, 1])
    found = certify_frozen(TraceProblem(np.diag([1.0, 2, 5, 9])), flat, np.eye(4)[:, :2])
    assert found.level == "unresolved"


def test_the_judge_sees_a_bound_that_is_too_good() -> None:
    problem, frozen = TraceProblem(np.diag([1.0, 2, 5])), np.ones((3, 2)) + np.eye(3)[:, :2]
    honest = certify_frozen(problem, frozen, np.eye(3)[:, :2])
    assert not fuzz_staleness.false_claims(honest, problem, frozen)
    object.__setattr__(honest, "gap", 0.9 * honest.gap)
    assert fuzz_staleness.false_claims(honest, problem, frozen)


@pytest.mark.parametrize("count", [25, pytest.param(900, marks=pytest.mark.full)])
def test_random_maps_that_grow_claim_nothing_false(count, capsys) -> None:
    assert fuzz_staleness.main(["--count", str(count)]) == 0, capsys.readouterr().out

"""`python -m benchmarks --check`: rows that fall short end it with exit code 1."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import check as checking
from benchmarks.cases import CASES, case_named
from benchmarks.cases.checks import CHECKS, Check
from benchmarks.check import (
    OURS,
    Ratio,
    full_size_ratio,
    line_of,
    measured_ratio,
    run_checks,
    values_of,
)
from benchmarks.measured import Value
from benchmarks.sides import floor

NAME = "isomap"


class PretendedRuns:
    """Runs in which ours takes 1 s and the other side `other`; `made` says who ran and its seed."""

    def __init__(self, other: float, failing: str = "", **more: Any) -> None:
        self.other, self.failing, self.more = other, failing, more
        self.made: list[tuple[str, int]] = []

    def __call__(self, case: str, side: str, *rest: Any, seed: int, **settings: Any) -> Any:
        self.made.append((side, seed))
        if side == self.failing:
            return {"status": "failed", "why": "ModuleNotFoundError"}
        run = {"status": "done", "seconds": 1.0, "cpu": 1.0, "facts": {}}
        theirs = {"seconds": self.other, "cpu": self.other / 2} | self.more
        return run if side == OURS else run | theirs


def exit_code(runs: PretendedRuns, recorded: float | None = None, **more: Any) -> int:
    return run_checks([NAME], run=runs, recorded=lambda name: recorded, **more)


def test_sides_take_turns_over_five_seeds(capsys: pytest.CaptureFixture[str]) -> None:
    runs = PretendedRuns(CHECKS[NAME].wanted + 1)
    assert exit_code(runs) == 0
    assert runs.made == [(side, seed) for seed in range(5) for side in (OURS, CHECKS[NAME].other)]
    assert "met" in capsys.readouterr().out


def test_a_ratio_below_what_is_wanted_ends_with_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(PretendedRuns(CHECKS[NAME].wanted * 0.9)) == 1
    printed = capsys.readouterr()
    assert "FALLS SHORT" in printed.out
    assert CHECKS[NAME].source in printed.err


def test_a_ratio_far_below_the_recorded_one_ends_with_1() -> None:
    reached = CHECKS[NAME].wanted * 2
    assert exit_code(PretendedRuns(reached), recorded=1.9 * reached) == 0
    assert exit_code(PretendedRuns(reached), recorded=2.1 * reached) == 1


def test_the_processor_may_be_the_clock() -> None:
    runs = PretendedRuns(CHECKS[NAME].wanted * 1.5)
    assert exit_code(runs) == 0
    assert exit_code(runs, clock="cpu") == 1


def test_a_floor_says_its_seconds_itself() -> None:
    runs = PretendedRuns(100.0, facts={"floor seconds": 0.25})
    assert measured_ratio("scatter-peak", CHECKS["scatter-peak"], 1, run=runs).ratios == (0.25,)


@pytest.mark.parametrize(("failing", "code"), [(OURS, 1), (CHECKS[NAME].other, 0)])
def test_a_missing_peer_is_left_out_and_a_failure_of_ours_is_none(failing: str, code: int) -> None:
    assert exit_code(PretendedRuns(100.0, failing)) == code


def test_a_rehearsal_runs_both_sides_and_judges_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = replace(CHECKS[NAME], wanted=1e9)
    monkeypatch.setitem(CHECKS, NAME, small)
    assert run_checks([NAME], rehearsal=True) == 0
    assert "not judged" in capsys.readouterr().out


def test_what_is_recorded_is_read_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    row = Ratio(NAME, CHECKS[NAME], (4.0, 5.0, 9.0), seconds=0.5)
    written = values_of(row)
    assert Value("check/isomap", OURS, "ratio", "5", "times") in written
    monkeypatch.setattr(
        checking, "published", lambda: {"check/isomap": {OURS: {"ratio": 5.0, "status": "done"}}}
    )
    assert checking.recorded_ratio(NAME) == 5.0
    assert "5.00" in line_of(row, 5.0)


@pytest.mark.parametrize("name", CHECKS)
def test_every_row_names_its_sides_its_source_and_a_case_of_the_data_file(name: str) -> None:
    check: Check = CHECKS[name]
    assert case_named(f"check/{name}") is check.case
    assert {OURS, check.other} <= set(check.case.sides)
    assert check.wanted > 0
    assert check.source
    assert not check.published or check.published in CASES
    if check.published and check.other in CASES[check.published].sides:
        assert (full_size_ratio(check) or 1.0) > 0
    for side in (OURS, check.other):
        module, function = check.case.sides[side].work.split(":")
        assert module
        assert function


def test_floors_are_measured() -> None:
    X = np.ones((1_000, 20))
    for work in (floor.multiply_adds_of_scatter, floor.bytes_of_table):
        assert 0 < work(X).facts["floor seconds"] < 1

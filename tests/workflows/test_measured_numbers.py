"""Measured numbers in README and pages are those of benchmarks/measured.csv.

A paragraph, an item of a list or a table that shows a measured time, memory, share or ratio names
where it is from in a comment of its own, anywhere in it: <!-- measured: KEY, KEY -->. Each of its
numbers must then be a value of these keys, as rounded in the text, or the ratio of two of them.
What stands between <!-- filled: NAME --> and <!-- end --> is written by docs/generated.py. Code
that runs is an executed example. `tests/tools/stated_numbers.py` lists what is no measurement.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.measured import Value, record, run_of_values, runs, values, values_of_run
from benchmarks.published import COMPARED, readme_table
from tests.tools.numbers_in_text import Shown, holds, numbers_shown

ROOT = Path(__file__).parents[2]


def test_every_value_has_a_run_with_a_date_a_command_and_a_machine() -> None:
    made = runs()
    assert {value.run for value in values()} == set(made)
    for one in made.values():
        assert one.date
        assert one.command.startswith("python ")
        assert "cores" in one.machine
    names = [(value.key, value.side, value.quantity) for value in values()]
    assert len(set(names)) == len(names)


def test_a_new_run_replaces_the_values_of_its_keys_and_sides(tmp_path: Path) -> None:
    paths = tmp_path / "values.csv", tmp_path / "runs.csv"
    paths[0].write_text(
        "key,side,quantity,value,unit,run\na,x,seconds,2,s,old\na,y,seconds,9,s,old\n"
    )
    paths[1].write_text("run,date,command,machine\nold,2026-01-01,python -m a,2 cores\n")
    record([Value("a", "x", "seconds", "1", "s")], "python -m b", "4 cores", paths=paths)
    first, second = sorted(values(paths[0]), key=lambda value: value.value)
    assert (first.value, second.value) == ("1", "9")
    assert runs(paths[1])[first.run].command == "python -m b"
    assert second.run == "old"
    record([replace(second, value="8")], "python -m b", "4 cores", paths=paths)
    assert "old" not in runs(paths[1])  # nothing is left of it


def test_a_run_comes_back_from_the_file() -> None:
    run: dict[str, Any] = {
        "status": "done", "seconds": 1.25, "peak": 2.0**30, "before": 2.0**29, "quality": 0.5,
        "stages": {"certify": 0.25}, "facts": {"certificate": "proved", "gap": 1e-9},
        "levels": ["proved", "proved"],
    }  # fmt: skip
    back = run_of_values(values_of_run("case", "dualfold", run))
    assert {name: back[name] for name in run} == run


def test_readme_shows_six_rows_with_both_sides() -> None:
    rows = [line for line in readme_table().splitlines() if " s" in line and line.startswith("|")]
    assert len(rows) == 6
    assert len(COMPARED) > 6
    assert all(len(list(numbers_shown(row))) >= 2 for row in rows)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1.5 s and 2.6 GiB", ["1.5 s", "2.6 GiB"]),
        ("0.7 to 1.9, 0.9 and 0.7 µs", ["0.7 µs", "1.9 µs", "0.9 µs", "0.7 µs"]),
        ("70,000×784 → 50, 20 × 3, k = 10, version 1.9", []),
        ("7 times, 3.5× as fast, 27%", ["7 times", "3.5 ×", "27 %"]),
    ],
)
def test_numbers_with_units_are_seen(text: str, found: list[str]) -> None:
    assert [shown.words for shown in numbers_shown(text)] == found


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("7.4 s", True), ("7 s", True), ("7.5 s", False), ("7400 ms", True), ("7.4 min", False),
        ("44 %", True), ("43.9%", True), ("45 %", False), ("7.4 times", True), ("8 times", False),
        ("344 MB", True), ("0.32 GiB", True), ("0.32 GB", False),
    ],
)  # fmt: skip
def test_a_number_is_held_to_the_digits_that_it_shows(text: str, held: bool) -> None:
    known = [
        Value("case", "dualfold", "seconds", "7.4", "s"),
        Value("case", "openTSNE", "seconds", "54.4", "s"),
        Value("case", "dualfold", "peak", "0.32", "GiB"),
        Value("case", "dualfold", "quality", "0.439", "share"),
    ]
    (shown,) = numbers_shown(text)
    assert isinstance(shown, Shown)
    assert holds(known, shown) is held

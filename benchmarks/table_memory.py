"""Peak memory of `dualfold embed` by stage, against that of the table as float64.

    python -m benchmarks.table_memory [--rows 60000] [--columns 20] [--categories 0]

Every table is explored in a process of its own; what a table of 20 rows takes is subtracted.
Prints Markdown.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

SMALL_ROWS = 20
KILOBYTES_PER_MB = 1000


class PeakListener:
    """The peak of the process so far, after each stage."""

    def __init__(self) -> None:
        self.peaks: list[tuple[str, float]] = []

    @contextlib.contextmanager
    def stage(self, name: str, expected: float | None = None) -> Iterator[None]:
        yield
        self.record(name.split(" /")[0])

    def record(self, name: str) -> None:
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.peaks.append((name, kilobytes / KILOBYTES_PER_MB))

    def say(self, text: str) -> None:
        """Nothing is shown."""

    def note(self, text: str) -> None:
        """Nothing is shown."""

    @contextlib.contextmanager
    def note_warnings(self, notices: list[str]) -> Iterator[None]:
        yield


def write_table(path: Path, rows: int, columns: int, categories: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, columns)) + rng.normal(
        size=(rows, columns)
    )
    words = rng.choice(["north", "south", "east", "west"], size=(rows, categories))
    head = [f"c{k}" for k in range(columns)] + [f"w{k}" for k in range(categories)]
    lines = (
        ",".join([*(f"{value:.6f}" for value in numbers), *names])
        for numbers, names in zip(X, words, strict=True)
    )
    path.write_text("\n".join([",".join(head), *lines]) + "\n")


def peaks_of_table(path: str) -> list[tuple[str, float]]:
    """What `dualfold embed` does with a file, and the peak after each stage."""
    from dualfold.data.reading import Reading
    from dualfold.exploration.exploration import explored
    from dualfold.exploration.method_choice import chosen_plan

    listener = PeakListener()
    plan = chosen_plan(path, None, Reading(), None, listener)
    table = plan.read(path, plan.reading_of(Reading()), listener)
    explored(plan, table, listener).to_dict()
    listener.record("naming axes and groups")
    return listener.peaks


def peaks_in_a_process(path: Path) -> dict[str, float]:
    words = [sys.executable, "-m", "benchmarks.table_memory", "--measure", str(path)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--categories", type=int, default=0)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(peaks_of_table(given.measure)))
        return
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder) / "small.csv", Path(folder) / "large.csv"
        write_table(small, SMALL_ROWS, given.columns, given.categories)
        write_table(large, given.rows, given.columns, given.categories)
        base, found = peaks_in_a_process(small), peaks_in_a_process(large)
    table = given.rows * (given.columns + given.categories) * 8 / 1e6
    print(
        f"{given.rows:,} × {given.columns} numbers, {given.categories} categories: {table:.1f} MB"
    )
    print(
        "\n| stage | peak so far, MB | above a small table's | times the table |\n|---|---|---|---|"
    )
    last = max(base.values())
    for stage, peak in found.items():
        above = peak - base.get(stage, last)
        print(f"| {stage} | {peak:.0f} | {above:.0f} | {above / table:.1f} |")


if __name__ == "__main__":
    main()

"""Runs of a simulation in a file: what was computed once is not computed again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path("benchmarks/results/calibration")


class StoredRuns:
    """Results by (cell, seed), one line of JSON each; a stopped simulation goes on where it was."""

    def __init__(self, subject: str) -> None:
        self.path = FOLDER / f"{subject}.jsonl"
        self.results: dict[tuple[str, int], Any] = {}
        if self.path.exists():
            for line in self.path.read_text().splitlines():
                one = json.loads(line)
                self.results[one["cell"], one["seed"]] = one["result"]

    def of(self, cell: str, runs: int, simulate: Callable[[int], Any]) -> list[Any]:
        """The results of the seeds 0, 1, …; those that are missing are simulated."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            for seed in range(runs):
                if (cell, seed) not in self.results:
                    self.results[cell, seed] = simulate(seed)
                    one = {"cell": cell, "seed": seed, "result": self.results[cell, seed]}
                    file.write(json.dumps(one) + "\n")
        return [self.results[cell, seed] for seed in range(runs)]


def markdown(heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)

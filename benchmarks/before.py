"""`python -m benchmarks.before FOLDER CASE …`: another version of dualfold beside this one.

FOLDER holds the package of the other version, with its kernels built (for a checkout: `src`). Both
versions take turns, each run in a process of its own, on the same data with the same seeds. Prints
a row for each case: median seconds and processor seconds, GiB beyond the data, the ratio.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.cases import CASES
from benchmarks.running import Limits, Run, run_once
from benchmarks.verdicts import GIB, OURS

HEAD = "| work | before | now | before / now |\n|---|---|---|---|"


def numbers_of(runs: list[Run]) -> str:
    """Median seconds, most GiB and the certificate of the runs, or why there are none."""
    done = [run for run in runs if run["status"] == "done"]
    if not done:
        return str(runs[-1].get("why", runs[-1]["status"]))
    seconds, cpu = (median(run[clock] for run in done) for clock in ("seconds", "cpu"))
    more = max(run["peak"] - run["before"] for run in done) / GIB
    level = done[0]["facts"].get("certificate", "")
    return f"{seconds:.2f} s ({cpu:.2f} s CPU, {more:.1f} GiB) {level}".strip()


def ratio_of(before: list[Run], now: list[Run]) -> str:
    """How many times as fast this version is, by the clock."""
    times = [[run["seconds"] for run in runs if run["status"] == "done"] for runs in (before, now)]
    return f"{median(times[0]) / median(times[1]):.2f}" if all(times) else "–"


def compare(name: str, folder: Path, turns: int, limit: float) -> str:
    """The row of a case: both versions in turns."""
    case = CASES[name]
    now = case.sides[OURS]
    old_path = os.pathsep.join([str(folder.resolve()), os.environ.get("PYTHONPATH", "")])
    before = replace(now, environment=dict(now.environment) | {"PYTHONPATH": old_path})
    runs: dict[str, list[Run]] = {"before": [], "now": []}
    for seed in range(turns):
        for version, side in (("before", before), ("now", now)):
            settings: dict[str, Any] = {"check": False, "seed": seed}
            runs[version].append(run_once(name, OURS, side, 1.0, Limits(limit), **settings))
    cells = [case.title, numbers_of(runs["before"]), numbers_of(runs["now"])]
    return f"| {' | '.join([*cells, ratio_of(runs['before'], runs['now'])])} |"


def main() -> None:
    """Compare the cases that are named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="the package of the other version, as `src`")
    parser.add_argument("cases", nargs="+", choices=list(CASES), metavar="CASE")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds a run")
    given = parser.parse_args()
    if not (given.folder / "dualfold" / "__init__.py").exists():
        parser.error(f"{given.folder} holds no package dualfold")
    print(HEAD, flush=True)
    for name in given.cases:
        print(compare(name, given.folder, given.turns, given.limit), flush=True)


if __name__ == "__main__":
    main()

"""`python -m benchmarks --check`: the ratios alone, which are the same on every machine.

Ours and the other side take turns, each run in a process of its own, on data generated from five
seeds; a ratio is the median of the five. `--processor` compares the time of the processor in place
of the clock's, for a machine that others use: it sees no gain of a second thread.

A ratio falls short where it is below what is wanted (stated in benchmarks/cases/checks.py with its
source), or below a share of what the data file has (measured.csv, keys `check/NAME`); then the
command ends with exit code 1. `--publish` writes the ratios to the data file.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import monotonic
from typing import Any, Literal

from benchmarks.cases.checks import CHECKS, Check
from benchmarks.measured import Value, published, record
from benchmarks.running import Limits, run_once
from benchmarks.tables import machine_words
from benchmarks.verdicts import OURS, Run

Clock = Literal["seconds", "cpu"]
SEEDS = 5
# A ratio below this share of the recorded one falls short: another machine has other caches, and on
# a busy one ratios of five seeds differ by a third (docs/dev/notes/one-clock.md).
MIN_SHARE_OF_RECORDED = 0.5
KEY = "check/"
# Sizes of a rehearsal, whose ratios are shown and not judged.
REHEARSAL_SCALE = 0.05


@dataclass(frozen=True)
class Ratio:
    """What was reached in a row; `why` where there is no ratio."""

    name: str
    check: Check
    ratios: tuple[float, ...] = ()
    seconds: float = float("nan")
    why: str = ""
    ours_failed: bool = False

    @property
    def reached(self) -> float:
        return median(self.ratios) if self.ratios else float("nan")

    def falls_short(self, recorded: float | None) -> bool:
        """Whether less was reached than is wanted or recorded; a missing peer decides nothing."""
        if not self.ratios:
            return self.ours_failed
        least = max(self.check.wanted, MIN_SHARE_OF_RECORDED * (recorded or 0.0))
        return self.reached < least


def recorded_ratio(name: str) -> float | None:
    """The ratio of a row that the data file has, or None."""
    run = published().get(KEY + name, {}).get(OURS, {})
    return float(run["ratio"]) if "ratio" in run else None


def full_size_ratio(check: Check) -> float | None:
    """The ratio of the same work at its full size, as README and the site show it, or None."""
    sides = published().get(check.published, {})
    pair = [sides.get(side, {}) for side in (OURS, check.other)]
    if any(run.get("status") != "done" for run in pair):
        return None
    return float(pair[1]["seconds"] / pair[0]["seconds"])


def measured_ratio(
    name: str,
    check: Check,
    seeds: int,
    scale: float = 1.0,
    clock: Clock = "seconds",
    *,
    run: Callable[..., Run] = run_once,
) -> Ratio:
    """Run both sides in turns; the first failure ends the row."""
    ratios, mine = [], []
    limits = Limits(check.case.limit)
    for seed in range(seeds):
        runs: dict[str, Run] = {}
        for side in (OURS, check.other):
            job = check.case.sides[side]
            done = run(KEY + name, side, job, scale, limits, check=False, seed=seed)
            if done["status"] != "done":
                why = f"{side}: {done.get('why', done['status'])}"
                return Ratio(name, check, why=why, ours_failed=side == OURS)
            runs[side] = done
        mine.append(_time_of(runs[OURS], clock))
        ratios.append(_time_of(runs[check.other], clock) / mine[-1])
    return Ratio(name, check, tuple(ratios), median(mine))


def _time_of(run: Run, clock: Clock) -> float:
    """The seconds of a run, or those that a floor computed from what it measured."""
    return float(run["facts"].get("floor seconds", run[clock]))


def line_of(found: Ratio, recorded: float | None, judged: bool = True) -> str:
    """A row of the table."""
    check = found.check
    if found.why:
        words = "FAILED" if found.ours_failed else "left out"
        return f"| {found.name} | {check.case.title} | {words}: {found.why} | | | | |"
    short = judged and found.falls_short(recorded)
    spread = f"{min(found.ratios):.2g} to {max(found.ratios):.2g}"
    full = full_size_ratio(check)
    cells = [
        found.name,
        check.case.title,
        f"{found.reached:.2f}× {check.other} ({spread})",
        f"≥ {check.wanted:.3g}",
        "–" if recorded is None else f"{recorded:.2f}",
        "–" if full is None else f"{full:.1f}",
        "FALLS SHORT" if short else "met" if judged else "not judged",
    ]
    return f"| {' | '.join(cells)} |"


HEAD = "| row | work | reached | wanted | recorded | at full size (README) | |\n|" + "---|" * 7


def run_checks(
    names: list[str],
    *,
    rehearsal: bool = False,
    publish: bool = False,
    seeds: int = SEEDS,
    clock: Clock = "seconds",
    run: Callable[..., Run] = run_once,
    recorded: Callable[[str], float | None] = recorded_ratio,
) -> int:
    """Measure the rows and print them; the exit code."""
    begin, found = monotonic(), []
    print(HEAD, flush=True)
    for name in names:
        scale = REHEARSAL_SCALE if rehearsal else 1.0
        row = measured_ratio(name, CHECKS[name], 1 if rehearsal else seeds, scale, clock, run=run)
        found.append(row)
        print(line_of(row, recorded(name), judged=not rehearsal), flush=True)
    short = [
        row for row in found
        if (row.ours_failed if rehearsal else row.falls_short(recorded(row.name)))
    ]  # fmt: skip
    print(f"{len(found)} rows in {monotonic() - begin:.0f} s; {len(short)} fall short")
    for row in short:
        print(f"{row.name}: {row.why or row.check.source}", file=sys.stderr)
    if publish and not rehearsal:
        values = [value for row in found if row.ratios for value in values_of(row)]
        record(values, "python -m benchmarks --check --publish", machine_words())
    return 1 if short else 0


def values_of(row: Ratio) -> list[Value]:
    """What the data file keeps of a row."""

    def value(quantity: str, number: Any, unit: str = "") -> Value:
        words = f"{number:.5g}" if isinstance(number, float) else str(number)
        return Value(KEY + row.name, OURS, quantity, words, unit)

    return [
        value("status", "done"),
        value("ratio", row.reached, "times"),
        value("seconds", row.seconds, "s"),
        value("runs", len(row.ratios)),
        value("fact peer", row.check.other),
    ]

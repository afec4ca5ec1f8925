"""How time and memory grow with n: ladders of n, climbed until the next rung is too high."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.ladders import LADDERS
from benchmarks.running import Limits, Run, current, forget, keep, kept, run_once, usual
from benchmarks.verdicts import GIB

# 1,000 · 10^(j/2): two rungs a power of ten.
RUNGS = tuple(round(1_000 * 10 ** (j / 2)) for j in range(9))
STEP = 10**0.5
# Below, starting threads and Python's own time hide how the work grows.
CLEAR_SECONDS, CLEAR_BYTES = 0.02, 16 * 2**20
SHOWN_RUNGS = 3  # of which the table of stages has the seconds
TURNS, SHORT = 3, 3.0  # runs of a rung that takes less than so many seconds


@dataclass(frozen=True)
class Climb:
    """What a side did on its ladder: runs by n, and why it went no higher."""

    runs: dict[int, Run]
    ended: str

    def exponents(self) -> tuple[float | None, float | None]:
        """Of time and of the memory beyond what was there before."""
        done = {n: run for n, run in self.runs.items() if run["status"] == "done"}
        time = {n: run["seconds"] for n, run in done.items()}
        more = {n: float(run["peak"] - run["before"]) for n, run in done.items()}
        return exponent(time, CLEAR_SECONDS), exponent(more, CLEAR_BYTES)


def exponent(values: dict[int, float], least: float) -> float | None:
    """The slope of log(value) against log(n) over the larger half of the ladder.

    Values under `least` are left out; fewer than two that remain have no slope.
    """
    upper = sorted(values)[len(values) // 2 :] if len(values) > 3 else sorted(values)
    clear = [n for n in upper if values[n] >= least]
    if len(clear) < 2:
        return None
    return float(np.polyfit(np.log(clear), np.log([values[n] for n in clear]), 1)[0])


def climb(method: str, side: str, limits: Limits, *, redo: bool) -> Climb:
    """Run a side on larger and larger n; `limits.seconds` is for all rungs together.

    A short run is made three times, as one hiccup of the machine would bend the line.
    """
    runs: dict[int, Run] = {}
    spent = 0.0
    for n in RUNGS:
        why = _too_high(runs, spent, limits)
        if why:
            return Climb(runs, why)
        name = f"growth/{method}/{n}"
        if redo:
            forget(name, side, 1.0)
        left = Limits(max(limits.seconds - spent, 1.0), limits.gib)
        found = current(kept(name, side, 1.0), left)
        while not found or (
            len(found) < TURNS and found[-1]["status"] == "done" and found[-1]["seconds"] < SHORT
        ):
            found.append(run_once(name, side, LADDERS[method].sides[side], 1.0, left, False))
            keep(name, side, 1.0, found)
        runs[n] = usual(found)
        _say(name, side, runs[n])
        if runs[n]["status"] != "done":
            return Climb(runs, str(runs[n].get("why", runs[n]["status"])))
        spent += runs[n]["seconds"]
    return Climb(runs, "the top of the ladder")


def _too_high(runs: dict[int, Run], spent: float, limits: Limits) -> str:
    """Why the next rung is not tried, from how the last two grew; nothing if it is."""
    if not runs:
        return ""
    last = runs[max(runs)]
    earlier = [runs[n] for n in sorted(runs)][-2:-1]
    grown = last["seconds"] / earlier[0]["seconds"] if earlier else STEP
    seconds = last["seconds"] * max(STEP, grown)
    if spent + seconds > limits.seconds:
        return f"the next would take about {seconds:.0f} s"
    more = last["peak"] - last["before"]
    earlier_more = earlier[0]["peak"] - earlier[0]["before"] if earlier else 0
    rate = max(STEP, more / earlier_more) if earlier_more > CLEAR_BYTES else STEP
    # The data is part of the process too, and grows as n, or as n² where it is distances.
    data = max(STEP, last["given bytes"] / earlier[0]["given bytes"]) if earlier else STEP
    need = (
        last["before"] * data if last["given bytes"] > GIB / 4 else last["before"]
    ) + more * rate
    if need > limits.gib * GIB:
        return f"the next would need about {need / GIB:.0f} GiB"
    return ""


def _say(name: str, side: str, run: Run) -> None:
    words = f"{run['seconds']:.2f} s" if run["status"] == "done" else run.get("why", "")
    print(f"  {name} / {side}: {words}", file=sys.stderr)


def climbs(
    methods: list[str], limits: Limits, peer_limits: Limits, *, redo: bool
) -> dict[str, dict[str, Climb]]:
    """The methods and their peers, which have a smaller limit; others as they are kept."""
    found: dict[str, dict[str, Climb]] = {}
    for method, ladder in LADDERS.items():
        sides = {
            side: climb(method, side, limits if job.role == "ours" else peer_limits, redo=redo)
            if method in methods
            else kept_climb(method, side, limits if job.role == "ours" else peer_limits)
            for side, job in ladder.sides.items()
        }
        if any(climbed.runs for climbed in sides.values()):
            found[method] = sides
    return found


def kept_climb(method: str, side: str, limits: Limits) -> Climb:
    """What is known of a side from earlier commands, which may have had limits of their own."""
    found = {n: kept(f"growth/{method}/{n}", side, 1.0) for n in RUNGS}
    runs = {n: usual(some) for n, some in found.items() if some}
    last = runs[max(runs)] if runs else {}
    if last.get("status") != "done":
        return Climb(runs, str(last.get("why", "")))
    top = "the top of the ladder" if max(runs) == RUNGS[-1] else ""
    high = _too_high(runs, sum(run["seconds"] for run in runs.values()), limits)
    return Climb(runs, top or high or "an earlier command had a smaller limit")


def growth_table(found: dict[str, dict[str, Climb]]) -> str:
    lines = [
        "| method | side | largest n | seconds there | memory there | time grows as | "
        "memory grows as | went no higher because |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method, sides in found.items():
        title = LADDERS[method].title
        for side, climbed in sides.items():
            done = [n for n, run in climbed.runs.items() if run["status"] == "done"]
            if not done:
                lines.append(f"| {title} | {side} | – | | | | | {climbed.ended} |")
                continue
            top = climbed.runs[max(done)]
            time, memory = (_power(slope) for slope in climbed.exponents())
            lines.append(
                f"| {title} | {side} | {max(done):,} | {top['seconds']:.2f} | "
                f"{top['peak'] / GIB:.2f} GiB | {time} | {memory} | {climbed.ended} |"
            )
            title = ""
    return "\n".join(lines)


def stage_table(found: dict[str, dict[str, Climb]]) -> str:
    """Seconds of each stage of our methods on the highest rungs, and how they grow."""
    lines = [
        f"| method | stage | seconds at the {SHOWN_RUNGS} largest n | time grows as |",
        "|---|---|---|---|",
    ]
    for method, sides in found.items():
        for side, climbed in sides.items():
            done = {n: run for n, run in climbed.runs.items() if run["status"] == "done"}
            if not done or LADDERS[method].sides[side].role != "ours":
                continue
            top = sorted(done)[-SHOWN_RUNGS:]
            title = f"{LADDERS[method].title}: {', '.join(f'{n:,}' for n in top)}"
            for stage, largest in done[top[-1]]["stages"].items():
                if largest < CLEAR_SECONDS:
                    continue
                seconds = {n: run["stages"].get(stage, 0.0) for n, run in done.items()}
                shown = ", ".join(f"{seconds[n]:.2f}" for n in top)
                slope = _power(exponent(seconds, CLEAR_SECONDS))
                lines.append(f"| {title} | {stage} | {shown} | {slope} |")
                title = ""
    return "\n".join(lines)


def _power(slope: float | None) -> str:
    return "too small to tell" if slope is None else f"n^{slope:.2f}"


def growth_plain(found: dict[str, dict[str, Climb]]) -> dict[str, Any]:
    """JSON-ready."""
    return {
        method: {
            side: {
                "runs": {str(n): run for n, run in climbed.runs.items()},
                "time exponent": climbed.exponents()[0],
                "memory exponent": climbed.exponents()[1],
                "ended": climbed.ended,
            }
            for side, climbed in sides.items()
        }
        for method, sides in found.items()
    }

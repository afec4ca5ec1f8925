"""Neighbour maps in turns: ours, openTSNE, UMAP, PaCMAP, scikit-learn, and again.

    python -m benchmarks.turns                                  # three rounds, one thread each
    python -m benchmarks.turns tsne-mnist --rounds 1            # one case, once
    python -m benchmarks.turns tsne-mnist --threads 2 --sides dualfold,umap --rounds 1
    python -m benchmarks.turns --table                          # what is kept, as Markdown

Each run is a process of its own; what numba compiles is compiled before the clock starts. With one
thread the time is that of the processor, so that other work on the machine counts little; with more
it is what a clock shows. Runs are kept in results/turns/, so that an interrupted command goes on.
Generated data are drawn anew in each round, for all sides alike; UMAP and PaCMAP are not seeded.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from benchmarks.cases import CASES
from benchmarks.cases.neighbour_maps import NEIGHBOUR_MAPS
from benchmarks.measured import record, values_of_run
from benchmarks.running import RESULTS, Limits, Run, run_once
from benchmarks.tables import machine_words, verdict_table
from benchmarks.verdicts import GIB

HOME = RESULTS / "turns"
# Every library's own way to be told how many threads it may have.
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS", "MKL_NUM_THREADS",
         "DUALFOLD_BENCHMARK_THREADS")  # fmt: skip
HEAD = "| data | side | {clock} | peak memory | KL | kept | unbalanced |\n|" + "---|" * 7


def kept(case: str, side: str, threads: int) -> list[Run]:
    path = HOME / f"{threads}-{case}-{side}.json"
    return list(json.loads(path.read_text())) if path.exists() else []


def turn(case: str, side: str, threads: int, number: int) -> None:
    """One run, unless that round was made before."""
    runs = kept(case, side, threads)
    if len(runs) > number:
        return
    given = {name: str(threads) for name in POOLS}
    job = replace(CASES[case].sides[side], environment=given)
    limits = Limits(CASES[case].limit)
    run = run_once(case, side, job, 1.0, limits, check=True, seed=number)
    HOME.mkdir(parents=True, exist_ok=True)
    path = HOME / f"{threads}-{case}-{side}.json"
    path.write_text(json.dumps([*runs, run], indent=1) + "\n")
    words = f"{run['cpu']:.1f} processor s" if run["status"] == "done" else run["why"]
    print(f"  {case} / {side}, round {number + 1}: {words}", file=sys.stderr, flush=True)


def middle(runs: Sequence[Run], threads: int) -> Run:
    """The median of every number; those who did not arrive, as they are."""
    done = [run for run in runs if run["status"] == "done"]
    if not done:
        return dict(runs[-1])
    time = "cpu" if threads == 1 else "seconds"
    facts = done[0]["facts"] | {
        name: median(run["facts"][name] for run in done) for name in ("kl", "unbalanced")
    }
    return done[0] | {
        "seconds": median(run[time] for run in done),
        "peak": median(run["peak"] for run in done),
        "quality": median(run["quality"] for run in done),
        "facts": facts,
        "rounds": len(done),
    }


def collected(cases: Sequence[str], threads: int) -> dict[str, dict[str, Run]]:
    """The medians of all that is kept of these cases."""
    found: dict[str, dict[str, Run]] = {}
    for case in cases:
        sides = {side: kept(case, side, threads) for side in CASES[case].sides}
        there = {side: middle(runs, threads) for side, runs in sides.items() if runs}
        if there:
            found[case] = there
    return found


def turns_table(found: Mapping[str, Mapping[str, Mapping[str, Any]]], clock: str) -> str:
    """A line for each side of each case, as Markdown."""
    lines = [HEAD.format(clock=clock)]
    for case, runs in found.items():
        title = CASES[case].title.removeprefix("t-SNE, ").split(", perplexity")[0]
        for side, run in runs.items():
            lines.append(f"| {title} | {side} | {_cells(side, run)} |")
            title = ""
    return "\n".join(lines)


def _cells(side: str, run: Mapping[str, Any]) -> str:
    if run["status"] != "done":
        return f"{run['why']} | – | – | – | –"
    facts: dict[str, Any] = run["facts"]
    own = CASES["tsne-digits"].sides[side].role != "context"  # others minimise something else
    cells = [f"{run['seconds']:.1f}", f"{run['peak'] / GIB:.2f} GiB"]
    cells += [f"{facts['kl']:.3f}" if own else "–", f"{run['quality']:.1%}"]
    return " | ".join([*cells, f"{facts['unbalanced']:.1%}" if own else "–"])


def main() -> None:
    """Take turns, print the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.turns", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    add = parser.add_argument
    add("cases", nargs="*", metavar="CASE", help=f"{', '.join(NEIGHBOUR_MAPS)} (default: all)")
    add("--rounds", type=int, default=3)
    add("--threads", type=int, default=1)
    add("--sides", default="", help="only these, with commas between them")
    add("--table", action="store_true", help="run nothing")
    add("--publish", action="store_true", help="into measured.csv (one thread: as turns/CASE)")
    asked = parser.parse_args()
    cases = asked.cases or list(NEIGHBOUR_MAPS)
    for number in range(0 if asked.table else asked.rounds):
        for case in cases:
            for side in CASES[case].sides:
                if not asked.sides or side in asked.sides.split(","):
                    turn(case, side, asked.threads, number)
    found = collected(cases, asked.threads)
    clock = "processor seconds" if asked.threads == 1 else "seconds"
    print(f"{turns_table(found, clock)}\n\n{verdict_table(found)}")
    if asked.publish:
        room = "turns" if asked.threads == 1 else f"turns of {asked.threads} threads"
        measured = (
            value
            for case, sides in found.items()
            for side, run in sides.items()
            for value in values_of_run(f"{room}/{case}", side, run)
        )
        record(measured, "python -m benchmarks.turns", machine_words())


if __name__ == "__main__":
    main()

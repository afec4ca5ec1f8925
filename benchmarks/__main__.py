"""`python -m benchmarks [CASE …]`: ours and the peers, side by side.

Sides take turns, each run in a process of its own, the median of N; absolute times on a
shared machine mean little, the ratio in one run does. Every run is kept as soon as it is
made, so an interrupted command goes on where it was. Writes results/table.md,
results/table.json and, with --growth, results/growth-*.png. --publish puts what was measured into
measured.csv, and from there into README, RESULTS.md and the pages. --readme measures README's rows
anew, some ten minutes, and publishes them. --check measures ratios alone (benchmarks.check).
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks import corpus
from benchmarks.cases import CASES
from benchmarks.cases.checks import CHECKS
from benchmarks.check import run_checks
from benchmarks.growth import climbs, growth_plain, growth_table, stage_table
from benchmarks.ladders import LADDERS
from benchmarks.measured import Value, record, values_of_run
from benchmarks.plots import growth_figure
from benchmarks.published import COMPARED, GROWTH, RESULTS_PAGE
from benchmarks.running import (
    RESULTS,
    Limits,
    Run,
    current,
    enough,
    forget,
    home,
    keep,
    kept,
    run_once,
    usual,
)
from benchmarks.tables import machine_words, page, plain

PUBLISHED = Path(__file__).parent
README_RUNS = 3
FIGURES = ("growth-time.png", "growth-memory.png")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("cases", nargs="*", metavar="CASE", help=f"{', '.join(CASES)} (default: all)")
    add("--repeats", type=int, default=5, help="runs of each side (slow peers: one)")
    add("--sides", default="", help="only sides whose name holds this")
    add("--quick", action="store_true", help="a twentieth of every size, once")
    add("--scale", type=float, default=1.0, help="sizes times this; kept apart from real ones")
    add("--limit", type=float, help="seconds a side (default: the case's) or, with --growth, "
        "all rungs of one of our methods (default: 600)")  # fmt: skip
    add("--growth", action="store_true", help="climb the ladders of n instead; CASE is a method")
    add("--corpus", action="store_true", help="every method on the tables of benchmarks/corpus.py "
        "instead; CASE is a part of a table's name")  # fmt: skip
    add("--peer-limit", type=float, default=120.0, help="with --growth: seconds for a peer")
    add("--memory", type=float, help="GiB a process may take (default: 20; with --growth 8)")
    add("--redo", action="store_true", help="measure again what is kept from earlier")
    add("--table", action="store_true", help="run nothing, write the tables of what is kept")
    add("--publish", action="store_true", help="into measured.csv, README, RESULTS.md and pages")
    add("--check", action="store_true", help="only ratios to peers and floors (CASE: a row of "
        "benchmarks/cases/checks.py), 15 minutes; exit code 1 where one falls short")  # fmt: skip
    add("--processor", action="store_true", help="with --check: the processor's time, for a "
        "machine that others use")  # fmt: skip
    add("--readme", action="store_true", help="measure README's rows anew, three runs, and publish")
    chosen = parser.parse_args()
    if chosen.quick:
        chosen.scale, chosen.repeats = 0.05, 1
    if chosen.corpus:
        return chosen
    if chosen.check:
        if chosen.publish and (chosen.quick or chosen.processor):
            parser.error("--publish is for full sizes and the clock's time")
        chosen.cases = chosen.cases or list(CHECKS)
        unknown = [name for name in chosen.cases if name not in CHECKS]
        if unknown:
            parser.error(f"there is no {unknown[0]!r}; there are {', '.join(CHECKS)}")
        return chosen
    if chosen.readme:
        chosen.redo, chosen.repeats = True, min(chosen.repeats, README_RUNS)
        chosen.publish = chosen.scale == 1  # small sizes are a rehearsal
        chosen.cases = chosen.cases or [case for case, _, _ in COMPARED]
    known = LADDERS if chosen.growth else CASES
    unknown = [name for name in chosen.cases if name not in known]
    if unknown:
        parser.error(f"there is no {unknown[0]!r}; there are {', '.join(known)}")
    if chosen.publish and chosen.scale != 1:
        parser.error("--publish is for full sizes; leave out --scale and --quick")
    chosen.cases = chosen.cases or list(known)
    return chosen


def measure(name: str, chosen: argparse.Namespace) -> None:
    """Take turns until every side of a case has its runs."""
    case = CASES[name]
    beside = {("dualfold", peer) for case, _, peer in COMPARED if case == name}
    sides = {
        side: job
        for side, job in case.sides.items()
        if chosen.sides in side and not job.cannot
        and (not chosen.readme or any(side in pair for pair in beside))
    }  # fmt: skip
    if chosen.redo:
        for side, job in sides.items():
            if not job.shown_from:
                forget(name, side, chosen.scale)
    limits = Limits(chosen.limit or case.limit, chosen.memory or 20.0)
    for turn in range(chosen.repeats):
        for side, job in list(sides.items()):
            owner = job.shown_from or name
            runs = current(kept(owner, side, chosen.scale), limits)
            if len(runs) > turn or enough(runs, job.role, chosen.repeats):
                continue
            run = run_once(owner, side, job, chosen.scale, limits, check=not runs, seed=len(runs))
            if missing(run):
                print(f"  {owner} / {side} is left out: {run['why']}", file=sys.stderr, flush=True)
                del sides[side]
                continue
            keep(owner, side, chosen.scale, [*runs, run])
            words = f"{run['seconds']:.2f} s" if run["status"] == "done" else run["why"]
            print(f"  {owner} / {side}: {words}", file=sys.stderr, flush=True)


def missing(run: Run) -> bool:
    """Whether a side could not start because its package is not installed."""
    return run["status"] == "failed" and "ModuleNotFoundError" in run["why"]


def collected(scale: float) -> dict[str, dict[str, Run]]:
    """The usual of all that is kept, in the order of the cases."""
    found: dict[str, dict[str, Run]] = {}
    for name, case in CASES.items():
        sides: dict[str, Run] = {}
        for side, job in case.sides.items():
            runs = kept(job.shown_from or name, side, scale)
            if job.cannot:
                sides[side] = {"status": "cannot", "why": job.cannot}
            elif runs:
                sides[side] = usual(runs)
        if any(run["status"] != "cannot" for run in sides.values()):
            found[name] = sides
    return found


def grow(chosen: argparse.Namespace) -> None:
    limits = Limits(chosen.limit or 600.0, chosen.memory or 8.0)
    peers = Limits(min(chosen.peer_limit, limits.seconds), limits.gib)
    methods = [] if chosen.table else chosen.cases
    found = climbs(methods, limits, peers, redo=chosen.redo)
    RESULTS.mkdir(exist_ok=True)
    for what, figure in zip(("time", "memory"), FIGURES, strict=True):
        growth_figure(found, what, RESULTS / figure)
    (RESULTS / "growth.json").write_text(json.dumps(growth_plain(found), indent=1) + "\n")
    words = "\n\n".join(
        [
            "## Growth",
            f"From 1,000 points up, {limits.seconds:g} s for all rungs of a method of ours, "
            f"{peers.seconds:g} s for a peer, {limits.gib:g} GiB, or less where the last column "
            "says that an earlier command had its own limit. Exponents are least squares on "
            "the larger half of each ladder; memory is what was taken beyond data and libraries.",
            growth_table(found),
            stage_table(found),
            "![seconds against points](figures/growth-time.png)",
            "![memory against points](figures/growth-memory.png)",
        ]
    )
    (RESULTS / "growth.md").write_text(words + "\n")
    print(words)


def write_tables(chosen: argparse.Namespace) -> None:
    folder = home(chosen.scale)
    folder.mkdir(parents=True, exist_ok=True)
    results = collected(chosen.scale)
    growth = RESULTS / "growth.md"
    text = growth.read_text().strip() if growth.exists() and chosen.scale == 1 else ""
    words = page(results, where=machine_words(), scale=chosen.scale, growth=text)
    (folder / "table.md").write_text(words)
    (folder / "table.json").write_text(json.dumps(plain(results), indent=1) + "\n")
    if not chosen.growth:
        print(words)
    if chosen.publish:
        publish(chosen, results, text)


def publish(
    chosen: argparse.Namespace, results: Mapping[str, Mapping[str, Run]], growth: str
) -> None:
    """What was measured by this command into the data file; then all that is written from it."""
    by_date: dict[str, list[Value]] = {}
    for case in chosen.cases:
        for side, run in results.get(case, {}).items():
            if run["status"] != "cannot" and not CASES[case].sides[side].shown_from:
                by_date.setdefault(run.get("date", ""), []).extend(values_of_run(case, side, run))
    command = "python -m benchmarks" + (" --readme" if chosen.readme else "")
    for date, measured in by_date.items():
        record(measured, command, machine_words(), date=date)
    if growth:
        above = RESULTS_PAGE.read_text(encoding="utf-8").partition(GROWTH)[0]
        RESULTS_PAGE.write_text(above + growth + "\n", encoding="utf-8")
    (PUBLISHED / "figures").mkdir(exist_ok=True)
    for figure in FIGURES:
        if (RESULTS / figure).exists():
            shutil.copy(RESULTS / figure, PUBLISHED / "figures" / figure)
    subprocess.run([sys.executable, "docs/generated.py"], cwd=PUBLISHED.parent, check=True)


def main() -> None:
    # A command that is told to end must end the process it waits for as well.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    chosen = arguments()
    if chosen.corpus:
        sys.exit(corpus.main(tuple(chosen.cases), RESULTS / "corpus.json"))
    if chosen.check:
        how = {"rehearsal": chosen.quick, "publish": chosen.publish, "seeds": chosen.repeats}
        clock = "cpu" if chosen.processor else "seconds"
        sys.exit(run_checks(chosen.cases, clock=clock, **how))
    if chosen.growth:
        grow(chosen)
    elif not chosen.table:
        for name in chosen.cases:
            measure(name, chosen)
    write_tables(chosen)


if __name__ == "__main__":
    main()

"""What the checks at the door of the kernels take of each of our rows.

    python -m benchmarks.door                 # every row at full size, minutes
    python -m benchmarks.door --scale 0.2 lle-roll

Each row runs in a process of its own. The processor time of its checks is added up thread by thread
and divided by that of the row: unlike two runs, one with the checks and one without, this does not
ask a noisy machine for a difference of 1 %.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from time import process_time, thread_time
from typing import Any

from benchmarks.cases import CASES, case_named
from dualfold import kernels

LIMIT = 0.02  # of any row


def timed(check: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    """The same check; its seconds are added to `spent`."""

    def call(*values: Any) -> Any:
        begin = thread_time()
        found = check(*values)
        spent.append(thread_time() - begin)
        return found

    return call


def count_sparse_checks(spent: list[float]) -> None:
    """Also those of sparse matrices, in every module that has taken them in by now."""
    for name, module in list(sys.modules.items()):
        if name.startswith("dualfold.") and name != "dualfold.kernels.sparse":
            for check in {"refuse_damaged", "rows_are_sound"} & vars(module).keys():
                setattr(module, check, timed(getattr(module, check), spent))


def one(name: str, side: str, scale: float) -> dict[str, float]:
    """Seconds of the processor for a row and for its checks, and how many there were."""
    warnings.simplefilter("ignore")
    case, spent, plain = case_named(name), list[float](), kernels.checker
    kernels.checker = lambda *about: timed(plain(*about), spent)
    work, data = case.sides[side].function(), case.data(scale)
    work(data.given, **case.sides[side].settings)  # libraries are loaded, kernels looked up
    count_sparse_checks(spent)
    spent.clear()
    begin = process_time()
    work(data.given, **case.sides[side].settings)
    row, calls, checks = process_time() - begin, len(spent), sum(spent)
    spent.clear()
    for _ in range(1_000):
        timed(lambda: None, spent)()
    clock = sum(spent) / 1_000  # a clock that is read twice takes time of its own
    return {"row": row, "checks": max(0.0, checks - calls * clock), "calls": calls}


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.door",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--scale", type=float, default=1.0, help="sizes times this")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for a row")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.side:
        print(json.dumps(one(chosen.cases[0], chosen.side, chosen.scale)))
        return
    rows = [
        (name, side)
        for name in chosen.cases or CASES
        for side, what in case_named(name).sides.items()
        if what.role == "ours" and not what.shown_from
    ]
    over = 0
    for name, side in rows:
        words = [sys.executable, "-m", "benchmarks.door", name, "--side", side]
        try:
            done = subprocess.run(
                [*words, "--scale", repr(chosen.scale)], cwd=Path(__file__).parents[1],
                capture_output=True, text=True, timeout=chosen.limit,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            print(f"{name}, {side}: not within {chosen.limit:g} s", flush=True)
            continue
        if done.returncode:
            print(f"{name}, {side}: {done.stderr.strip().splitlines()[-1]}", flush=True)
            continue
        found = json.loads(done.stdout.splitlines()[-1])
        share = found["checks"] / max(found["row"], 1e-9)
        over += share > LIMIT
        told = f"{share:.2%} of {found['row']:.3f} s, {found['calls']} calls"
        print(f"{name}, {side}: {told}", flush=True)
    print(f"{over} of {len(rows)} rows above {LIMIT:.0%}")


if __name__ == "__main__":
    main()

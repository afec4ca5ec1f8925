"""Run one side of one case in this process; the one place where a clock runs.

Tells what happens, one line of JSON each, in the file given by --out: "begin" when the
data is there, "done" with time and memory, "checked" with the quality, which is measured
when the clock has stopped and the memory has been read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from benchmarks.cases import case_named
from benchmarks.memory import forget_peak, held, peak


def _bytes_of(given: Any) -> int:
    """What the data takes: an array's own word, a text's length, the parts of a record."""
    if hasattr(given, "nbytes"):
        return int(given.nbytes)
    if isinstance(given, str):
        return len(given)
    return sum(int(getattr(part, "nbytes", 0)) for part in vars(given).values())


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.one", description=__doc__)
    parser.add_argument("case")
    parser.add_argument("side")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--check", action="store_true", help="measure quality afterwards")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")
    case = case_named(chosen.case)
    side = case.sides[chosen.side]
    work = side.function()
    data = case.data(chosen.scale)

    def tell(event: str, **facts: Any) -> None:
        line = json.dumps({"event": event, **facts})
        if chosen.out is None:
            print(line)
            return
        with chosen.out.open("a") as stream:
            stream.write(line + "\n")

    forget_peak()
    before = held()
    tell("begin")
    wall, cpu = perf_counter(), process_time()
    answer = work(data.given, **side.settings)
    seconds, cpu_seconds = perf_counter() - wall, process_time() - cpu
    tell(
        "done",
        seconds=seconds,
        cpu=cpu_seconds,
        peak=peak(),
        before=before,
        stages=answer.stages,
        facts=answer.facts,
        **{"given bytes": _bytes_of(data.given)},
    )
    if chosen.check:
        from benchmarks.similarity import sampled_t_similarity

        kept = None
        if data.points is not None and answer.points is not None:
            kept = sampled_t_similarity(data.points, answer.points)
        tell("checked", quality=kept, facts=case.check(answer, data) if case.check else {})
    sys.stdout.flush()
    os._exit(0)  # some peers crash or hang while the interpreter takes them apart


if __name__ == "__main__":
    main()

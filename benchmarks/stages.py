"""Where the seconds of a case go, with one thread and with more: a table by stage.

    python -m benchmarks.stages million-eigenmaps million-lle --repeat 3

Each run is a process of its own that may use so many cores (where the system lets one choose),
with 1 and with `--threads` in turns; the table shows the least of each stage by the clock, and how
many times as fast the threads are. Run it where nothing else runs. Memory that the machine has not
handed out before is slow the first time: the first run of each is left out of the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

from benchmarks.cases import case_named

# Stage, and the functions whose time is its own; what they call and is listed, too, is not.
STAGES = {
    "neighbours": ["graph.builders:nearest", "graph.kd_tree:tree_search"],
    "symmetric lists": ["graph.graph:symmetric_lengths"],
    "weights": [
        "methods._lle:reconstruction_weights",
        "methods._eigenmaps:eigenmaps",
    ],
    "null vectors": ["methods._lle:reconstruction_null_vectors"],
    "order": ["trace.sparse.shifted_matrices:fill_reducing_ordering"],
    "rows in order": ["trace.equivalent_problems:_with_rows"],
    "matrices": [
        "trace.sparse.shifted_matrices:ShiftedMatrices.at",
        "trace.sparse.shifted_matrices:mirrored_pattern",
    ],
    "factor": [
        f"trace.{file}:factorise"
        for file in ("solvers.factored", "proof.completeness", "proof.singular_values")
    ],
    "row errors": ["trace.proof.completeness:counted_height"],
    "solves": [
        "trace.sparse.factorisation:Factorisation.solve",
        "trace.sparse.factorisation:Factorisation.solve_rotated",
    ],
    "products": [
        "trace.problem:sparse_product",
        "trace.proof.singular_values:sparse_product",
        "trace.proof.rounding:sparse_product",
    ],
    "iteration, the rest": ["trace.solvers.factored:iterate"],
    "certificate, the rest": ["embedding:certify"],
}


class Clock:
    """Seconds of each stage, without those of stages inside it."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._inside = [0.0]

    def watch(self, stage: str, place: str) -> None:
        """Count the time of the function at "module:name"; nothing where there is none."""
        module, _, path = place.partition(":")
        owner: Any = import_module(f"dualfold.{module}")
        *outer, name = path.split(".")
        for each in outer:
            owner = getattr(owner, each, None)
        function = getattr(owner, name, None)
        if function is not None:
            setattr(owner, name, self._timed(stage, function))

    def _timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            self._inside.append(0.0)
            begin = perf_counter()
            try:
                return function(*given, **named)
            finally:
                whole = perf_counter() - begin
                self.seconds[stage] += whole - self._inside.pop()
                self._inside[-1] += whole

        return call


def measured_here(name: str, scale: float) -> dict[str, float]:
    """The seconds of each stage of one run in this process."""
    warnings.simplefilter("ignore")
    case, clock = case_named(name), Clock()
    side = case.sides["dualfold"]
    work, data = side.function(), case.data(scale)
    for stage, places in STAGES.items():
        for place in places:
            clock.watch(stage, place)
    begin, cpu = perf_counter(), process_time()
    answer = work(data.given, **side.settings)
    all_of_it, cpu = perf_counter() - begin, process_time() - cpu
    assert answer.facts["certificate"] == "proved", answer.facts
    rest = all_of_it - sum(clock.seconds.values())
    return {**clock.seconds, "everything else": rest, "all": all_of_it, "all, processors": cpu}


def measured(name: str, scale: float, threads: int) -> dict[str, float]:
    """The same in a process that may use so many cores."""
    command = [sys.executable, "-m", "benchmarks.stages", name, "--scale", str(scale), "--here"]
    own = sorted(os.sched_getaffinity(0))[:threads]
    surroundings = os.environ | {"OPENBLAS_NUM_THREADS": str(threads)}
    run = subprocess.run(
        command,
        env=surroundings,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, own),
    )
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def table(one: list[dict[str, float]], more: list[dict[str, float]], threads: int) -> str:
    """The least of each stage, as rows of Markdown."""
    lines = [f"| stage | 1 thread | {threads} threads | times as fast |", "|---|---|---|---|"]
    for stage in [*STAGES, "everything else", "all", "all, processors"]:
        alone, together = (min(run.get(stage, 0.0) for run in runs) for runs in (one, more))
        if alone >= 0.005:
            ratio = f"{alone / max(together, 1e-9):.2f}"
            lines.append(f"| {stage} | {alone:.2f} | {together:.2f} | {ratio} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stages", description=__doc__)
    parser.add_argument("cases", nargs="+")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--here", action="store_true", help="one run in this process, as JSON")
    chosen = parser.parse_args()
    for name in chosen.cases:
        if chosen.here:
            print(json.dumps(measured_here(name, chosen.scale)))
            continue
        one, more = [], []
        for _ in range(chosen.repeat + 1):
            one.append(measured(name, chosen.scale, 1))
            more.append(measured(name, chosen.scale, chosen.threads))
        print(f"\n{name} × {chosen.scale:g}\n")
        print(table(one[1:], more[1:], chosen.threads), flush=True)


if __name__ == "__main__":
    main()

"""`python -m benchmarks [CASE …] [--repeats N]`: ours and the peers, side by side.

Sides alternate, each run in a process of its own, best of N; absolute times on a
shared machine mean little, the ratio in one run does. Writes results/*.json and
results/table.md, and prints the table.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.cases import CASES

RESULTS = Path(__file__).parent / "results"


def outcome(case: str, side: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.one", case, side]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        return {"error": lines[-1] if lines else f"exit code {done.returncode}"}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measured(name: str, repeats: int) -> dict[str, dict[str, Any]]:
    """The best run of each side, the sides taking turns."""
    best: dict[str, dict[str, Any]] = {}
    for _ in range(repeats):
        for side in CASES[name].sides:
            if "error" in best.get(side, {}):
                continue
            run = outcome(name, side)
            total = sum(run.get("seconds", {}).values())
            print(f"  {name} / {side}: {run.get('error') or f'{total:.2f} s'}", file=sys.stderr)
            if side not in best or total < sum(best[side]["seconds"].values()):
                best[side] = run
    return best


def table(results: dict[str, dict[str, dict[str, Any]]]) -> str:
    lines = [
        "| work | side | seconds | by stage | peak memory | facts |",
        "|---|---|---|---|---|---|",
    ]
    for name, sides in results.items():
        for side, run in sides.items():
            if "error" in run:
                lines.append(f"| {CASES[name].title} | {side} | failed | {run['error']} | | |")
                continue
            total = sum(run["seconds"].values())
            stages = ", ".join(f"{stage} {value:.2f}" for stage, value in run["seconds"].items())
            facts = ", ".join(f"{key} {_short(value)}" for key, value in run["facts"].items())
            peak = f"{run['peak'] / 2**30:.2f} GiB ({run['before'] / 2**30:.2f} before)"
            lines.append(
                f"| {CASES[name].title} | {side} | {total:.2f} | {stages} | {peak} | {facts} |"
            )
    return "\n".join(lines)


def _short(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(_short(item) for item in value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("cases", nargs="*", help=f"any of: {', '.join(CASES)} (default: all)")
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    unknown = [name for name in chosen.cases if name not in CASES]
    if unknown:
        parser.error(f"no case named {unknown[0]!r}; there are {', '.join(CASES)}")
    results = {name: measured(name, chosen.repeats) for name in chosen.cases or CASES}
    RESULTS.mkdir(exist_ok=True)
    for name, sides in results.items():
        (RESULTS / f"{name}.json").write_text(json.dumps(sides, indent=1) + "\n")
    machine = f"{platform.processor() or platform.machine()}, Python {platform.python_version()}"
    words = f"{table(results)}\n\nBest of {chosen.repeats}, sides alternating; {machine}.\n"
    (RESULTS / "table.md").write_text(words)
    print(words)


if __name__ == "__main__":
    main()

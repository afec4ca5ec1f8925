"""Sides in processes of their own: limits of time and memory, results kept at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from benchmarks.case import Side
from benchmarks.measured import today
from benchmarks.memory import held
from benchmarks.verdicts import GIB

Run = dict[str, Any]
RESULTS = Path(__file__).parent / "results"
POLL = 0.1
# What follows the work (quality), or comes before it (data, imports), may take so long.
AROUND = 900.0
SLOW = 30.0  # seconds after which a peer is not run again


@dataclass(frozen=True)
class Limits:
    """Seconds for the work, GiB for the process."""

    seconds: float
    gib: float = 20.0


def run_once(
    case: str, name: str, side: Side, scale: float, limits: Limits, check: bool, seed: int = 0
) -> Run:
    """One run, its generated data drawn with `seed`.

    Its status is "done", "limit" (of time), "memory" or "failed"; `why` in the last two.
    """
    with tempfile.TemporaryDirectory() as folder:
        out, errors = Path(folder) / "out.jsonl", Path(folder) / "errors"
        command = [sys.executable, "-m", "benchmarks.one", case, name]
        command += ["--scale", repr(scale), "--out", str(out), *(["--check"] if check else [])]
        with errors.open("w") as stream:
            child = subprocess.Popen(
                command,
                cwd=Path(__file__).parents[1],
                env=os.environ | {"DUALFOLD_BENCHMARK_SEED": str(seed)} | dict(side.environment),
                stdout=stream,
                stderr=stream,
            )
            try:
                stopped = _watched(child, out, limits)
            finally:
                if child.poll() is None:
                    child.kill()
                child.wait()
        told = _events(out)
        if "done" in told:
            return _merged(told)
        if stopped == "limit":
            return {"status": "limit", "seconds": limits.seconds, "why": "time limit"}
        if stopped == "memory":
            return {"status": "memory", "why": f"more than {limits.gib:g} GiB"}
        lines = [line for line in errors.read_text().splitlines() if line.strip()]
        last = lines[-1] if lines else f"exit code {child.returncode}"
        return {"status": "failed", "why": stopped or last[:200]}


def _merged(told: dict[str, Run]) -> Run:
    checked = told.get("checked", {})
    done = {key: value for key, value in told["done"].items() if key != "event"}
    done["facts"] = done["facts"] | checked.get("facts", {})
    return {"status": "done", **done, "quality": checked.get("quality"), "date": today()}


def _events(out: Path) -> dict[str, Run]:
    if not out.exists():
        return {}
    lines = out.read_text().splitlines()
    return {event["event"]: event for event in map(json.loads, lines)}


def _watched(child: subprocess.Popen[bytes], out: Path, limits: Limits) -> str:
    """Wait; returns what stopped it ("limit", "memory", words), or nothing."""
    started, begun = monotonic(), None
    while child.poll() is None:
        sleep(POLL)
        told = _events(out) if out.exists() else {}
        if "done" in told or "begin" not in told:
            if monotonic() - started > AROUND + limits.seconds:
                return "the data or the check took too long"
            continue
        begun = begun or monotonic()
        if monotonic() - begun > limits.seconds:
            return "limit"
        if held(child.pid) > limits.gib * GIB:
            return "memory"
    return ""


# ---- what was measured, kept by (scale, case, side) ----


def slug(name: str) -> str:
    return name.replace(" ", "-").replace(",", "").lower()


def home(scale: float) -> Path:
    return RESULTS if scale == 1 else RESULTS / f"scale-{scale:g}"


def kept_at(case: str, side: str, scale: float) -> Path:
    return home(scale) / "runs" / case / f"{slug(side)}.json"


def kept(case: str, side: str, scale: float) -> list[Run]:
    """The runs made so far, in the order they were made."""
    path = kept_at(case, side, scale)
    return list(json.loads(path.read_text())) if path.exists() else []


def keep(case: str, side: str, scale: float, runs: list[Run]) -> None:
    """Write the runs; a file is whole or not there, also when this is interrupted."""
    path = kept_at(case, side, scale)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".draft")
    draft.write_text(json.dumps(runs, indent=1) + "\n")
    draft.replace(path)


def forget(case: str, side: str, scale: float) -> None:
    kept_at(case, side, scale).unlink(missing_ok=True)


def current(runs: list[Run], limits: Limits) -> list[Run]:
    """The runs that still say something: one stopped by a smaller limit than now does not."""
    return [
        run for run in runs if run["status"] != "limit" or run["seconds"] >= 0.9 * limits.seconds
    ]


def enough(runs: list[Run], role: str, repeats: int) -> bool:
    """Whether a side needs no further run: all made, failed, or a slow peer."""
    if not runs:
        return False
    slow = role != "ours" and runs[-1].get("seconds", 0.0) > SLOW
    return len(runs) >= repeats or runs[-1]["status"] != "done" or slow


def usual(runs: list[Run]) -> Run:
    """The run of the median time, with the quality, measured in the first, and every level.

    Turns draw their generated data with seeds of their own: one seed proves nothing.
    """
    done = sorted(
        (run for run in runs if run["status"] == "done"), key=lambda run: float(run["seconds"])
    )
    if not done:
        return runs[-1]
    middle = done[(len(done) - 1) // 2]
    checked = next((run for run in runs if run.get("quality") is not None), runs[0])
    return middle | {
        "quality": checked.get("quality"),
        "facts": middle["facts"] | checked.get("facts", {}) | middle["facts"],
        "runs": [run.get("seconds") for run in runs],
        "levels": [run["facts"].get("certificate", "none") for run in runs if run in done],
    }

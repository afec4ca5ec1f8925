"""The verdicts and the measurements as Markdown and JSON."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from benchmarks.cases import CASES
from benchmarks.limits import LIMITS
from benchmarks.verdicts import GIB, Finding, Run, Runs

Results = Mapping[str, Runs]  # by case
WORDS = {True: "yes", False: "**no**", None: "open"}
PACKAGES = (
    "numpy", "scipy", "scikit-learn", "tapkee", "umap-learn", "pymde", "torch", "pyamg",
    "faiss-cpu", "cvxpy-base", "clarabel", "scs", "openTSNE",
)  # fmt: skip


def machine() -> dict[str, Any]:
    """What the numbers belong to."""
    found = {}
    for package in PACKAGES:
        # cvxpy is cvxpy-base with more solvers: either may be there.
        for name in dict.fromkeys([package, package.removesuffix("-base")]):
            with contextlib.suppress(PackageNotFoundError):
                found[name] = version(name)
                break
        else:
            found[package] = "not installed"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cores": cores,
        "machine": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": found,
    }


def findings(results: Results) -> dict[str, list[Finding]]:
    return {
        name: [wish.finding(runs) for wish in CASES[name].wanted]
        for name, runs in results.items()
        if CASES[name].wanted
    }


def verdict_table(results: Results) -> str:
    lines = ["| work | wanted | reached | met |", "|---|---|---|---|"]
    for name, found in findings(results).items():
        title = CASES[name].title
        for finding in found:
            lines.append(
                f"| {title} | {finding.wanted} | {finding.reached} | {WORDS[finding.met]} |"
            )
            title = ""
        if name in LIMITS and any(finding.met is False for finding in found):
            lines.append(f"| | *what limits it* | {LIMITS[name]} | |")
    return "\n".join(lines)


def run_table(results: Results) -> str:
    lines = [
        "| work | side | seconds | × ours | peak (more than before) | t-similarity | certificate "
        "| its share of the time | stages, facts | date |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name, runs in results.items():
        title = CASES[name].title
        own = next((run for side, run in runs.items() if side == "dualfold"), None)
        for side, run in runs.items():
            cells = [*_cells(run, own, name, side), run.get("date", "")]
            lines.append(f"| {title} | {side} | {' | '.join(cells)} |")
            title = ""
    return "\n".join(lines)


def _cells(run: Run, own: Run | None, name: str, side: str) -> list[str]:
    note = CASES[name].sides[side].note
    if run["status"] != "done":
        seconds = f"> {run['seconds']:g}" if run["status"] == "limit" else run["status"]
        ratio = _ratio(run, own, "> ") if run["status"] == "limit" else ""
        return [seconds, ratio, "", "", "", "", run.get("why", "")]
    facts, stages = run["facts"], run["stages"]
    level, share = "", ""
    if "certificate" in facts:
        gap = f", gap {facts['gap']:.1g}" if "gap" in facts else ""
        level = f"{facts['certificate']}{gap}"
    if stages.get("certify"):
        share = f"{100 * stages['certify'] / run['seconds']:.0f} %"
    quality = run.get("quality")
    told = stages | ({"the rest": run["seconds"] - sum(stages.values())} if stages else {})
    words = [f"{stage} {value:.2f} s" for stage, value in told.items() if value >= 0.005]
    hidden = ("certificate", "gap", "counts", "about")
    words += [f"{fact} {_short(value)}" for fact, value in facts.items() if fact not in hidden]
    words += [note] if note else []
    return [
        f"{run['seconds']:.2f}",
        _ratio(run, own),
        f"{run['peak'] / GIB:.2f} GiB (+{(run['peak'] - run['before']) / GIB:.2f})",
        "" if quality is None else f"{quality:.3f}",
        level,
        share,
        ", ".join(words),
    ]


def _ratio(run: Run, own: Run | None, sign: str = "") -> str:
    if own is None or own["status"] != "done" or run is own:
        return ""
    return f"{sign}{run['seconds'] / own['seconds']:.1f}"


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def machine_words(packages: Iterable[str] = PACKAGES) -> str:
    """The machine in a line, with those of the packages that are installed."""
    about = machine()
    there = [
        f"{name} {number}"
        for name, number in about["packages"].items()
        if number != "not installed" and name in packages
    ]
    place = f"{about['cores']} cores {about['machine']}, {about['system']}"
    return f"{place}; Python {about['python']}; {', '.join(there)}"


def page(results: Results, *, where: str, scale: float = 1.0, growth: str = "") -> str:
    """The whole text."""
    verdicts = [finding.met for found in findings(results).values() for finding in found]
    parts = [
        "# Measured",
        "Sides take turns, each in its own process, the median of several, generated data drawn "
        "anew each time (slow peers once). Imports and data are outside the clock; t-similarity is "
        "that of t = 10 on 2,000 points against all points; memory is the peak of the whole "
        "process.",
        where,
    ]
    if scale != 1:
        parts.append(f"**Sizes are {scale:g} of those named: this says nothing about the goals.**")
    parts += [
        "## Wanted and reached",
        f"{verdicts.count(True)} of {len(verdicts)} wishes met, {verdicts.count(False)} not, "
        f"{verdicts.count(None)} open (a side that they need is missing).",
        verdict_table(results),
        "## All sides",
        run_table(results),
    ]
    return "\n\n".join([*parts, growth] if growth else parts) + "\n"


def plain(results: Results) -> dict[str, Any]:
    """JSON-ready."""
    return {
        "machine": machine(),
        "verdicts": {
            name: [vars(finding) for finding in found] for name, found in findings(results).items()
        },
        "runs": {name: dict(runs) for name, runs in results.items()},
    }

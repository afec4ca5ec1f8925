"""The reliability table: what was tried, and what came of it.

    python -m tests.robustness.reliability            # some minutes
    python -m tests.robustness.reliability --quick    # every 20th forged file, no other libraries
    python -m tests.robustness.reliability --publish  # also writes docs/dev/reliability.md

Each row counts tries: right answers, clear errors, and failures, which are anything else (a
crash, a hang, another library's raw error, NaN, wrong numbers, a file lost). A failure of ours
is shown in full and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from dualfold.saved import load_model
from tests.robustness import faults, forged_tables, forgeries
from tests.robustness.bad_inputs import INPUTS

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "dev" / "reliability.md"
# Results of longer runs (`python -m tests.tools.mutants table WORK --result …`).
MUTANTS = HERE.parent / "results" / "mutants.json"


@dataclass
class Row:
    """One line: what was tried, how often it came out right, was refused, or failed."""

    what: str
    right: int = 0
    errors: int = 0
    failures: list[str] = field(default_factory=list)
    note: str = ""

    @property
    def tried(self) -> int:
        return self.right + self.errors + len(self.failures)

    def cells(self) -> list[str]:
        return [
            self.what, f"{self.tried:,}", f"{self.right:,}", f"{self.errors:,}",
            f"{len(self.failures):,}", self.note,
        ]  # fmt: skip


def inputs_row(side: str, seconds: int = 900) -> Row:
    """The bad inputs on one side, in a process of its own; what a crash cuts off has failed."""
    command = [sys.executable, "-m", "tests.robustness.bad_inputs", side]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds, cwd=ROOT, check=False
        )
        output, end = done.stdout, done.returncode
    except subprocess.TimeoutExpired as late:
        output, end = (late.stdout or b"").decode(), -9
    row = Row(f"bad inputs, {side}")
    refused = 0
    for line in output.splitlines():
        one = json.loads(line)
        if one["outcome"] == "failure":
            row.failures.append(f"{one['method']}, {one['input']}: {one['said']}")
        elif one["outcome"] == "right":
            row.right += 1
        else:
            row.errors += 1
            refused += one["outcome"] == "refused"
    row.note = f"{refused} of the errors where a map could be made" if refused else ""
    if end:
        row.failures.append(f"the process ended with {end} after {len(output.splitlines())} tries")
        row.note = f"{row.note}; a crash".lstrip("; ")
    return row


def forged_row(kind: str, folder: Path, step: int) -> Row:
    """Every forgery of a model of this kind."""
    row, seen = Row(f"forged models, {kind}"), Counter[str]()
    sound = forgeries.sound(kind, folder)
    truth = load_model(sound).transform(forgeries.rows_for(kind))
    content = sound.read_bytes()
    for how, generator in forgeries.GENERATORS.items():
        for what, forged in itertools.islice(generator(content), 0, None, step):
            outcome = forgeries.outcome(kind, forged(), truth, folder / "x", sealed="sealed" in how)
            seen[outcome] += 1
            if outcome in ("same", "another"):
                row.right += 1
            elif outcome == "refused":
                row.errors += 1
            else:
                row.failures.append(f"{how}, {what}: {outcome}")
    row.note = f"{seen['same']:,} the same answer, {seen['another']:,} another sound model"
    return row


def tables_row(folder: Path, count: int) -> Row:
    """Damaged tables of every format."""
    row = Row("damaged tables", note=f"{len(forged_tables.FILES)} formats")
    for name, path in forged_tables.table_files(folder).items():
        content = path.read_bytes()
        for what, damaged in forged_tables.damaged_bytes(content, count, seed=1):
            outcome = forged_tables.read_outcome(damaged, folder / f"x{name}")
            if outcome == "read":
                row.right += 1
            elif outcome == "refused":
                row.errors += 1
            else:
                row.failures.append(f"{name}, {what}: {outcome}")
    return row


def checks_row(what: str, checks: dict) -> Row:
    """Functions that raise where something is wrong; each is one try."""
    row = Row(what, note=", ".join(checks))
    for name, check in checks.items():
        try:
            check()
            row.right += 1
        except Exception as error:
            row.failures.append(f"{name}: {type(error).__name__}: {error}")
    return row


def mutants_row() -> Row | None:
    """What the tests notice, if `tests/tools/mutants.py` left its result."""
    if not MUTANTS.exists():
        return None
    found = json.loads(MUTANTS.read_text())["rooms"]["all"]
    low, high = found["interval of all"]
    note = (
        f"{found['noticed']:,} of {found['tried']:,} noticed, {found['share of all']:.1%} "
        f"({low:.1%} to {high:.1%}); {found['no fault']} of the others break no promise"
    )
    return Row("mutants", note=note)


def rows(quick: bool) -> list[Row]:
    """All lines of the table."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        step = 20 if quick else 1
        found = [inputs_row("dualfold")]
        found += [forged_row(kind, folder, step) for kind in forgeries.KINDS]
        found.append(tables_row(folder, 20 if quick else 400))
        found.append(checks_row("the same bits", faults.DETERMINISM))
        found.append(checks_row("faults", faults.FAULTS))
    if not quick:
        found += [inputs_row(side) for side in ("scikit-learn", "UMAP", "openTSNE")]
    mutants = mutants_row()
    return [*found, mutants] if mutants else found


def table(found: list[Row]) -> str:
    """As Markdown."""
    lines = [
        "| what | tried | right | clear errors | failures | |",
        "|---|---:|---:|---:|---:|---|",
    ]
    return "\n".join([*lines, *("| " + " | ".join(row.cells()) + " |" for row in found)])


def page(found: list[Row]) -> str:
    """docs/dev/reliability.md."""
    peers = [row for row in found if row.what.startswith("bad inputs") and row.failures]
    seen = "\n\n".join(
        f"{row.what}:\n\n" + "\n".join(f"* {said[:160]}" for said in row.failures) for row in peers
    )
    return (
        "# Reliability\n\nMade by `python -m tests.robustness.reliability --publish`; what is "
        "trusted and what is not is in [SECURITY.md](../../SECURITY.md).\n\n"
        f"{table(found)}\n\nBad inputs: {', '.join(INPUTS)}. A failure is a crash, a raw error of "
        "LAPACK or Python, NaN, a map of what has none, or another map than that of the same rows "
        "in other units. The same inputs and judge for all; `tests/robustness/bad_inputs.py` has "
        "both.\n\n"
        f"## What failed elsewhere\n\n{seen or 'Nothing.'}\n"
    )


def main() -> int:
    """Run, print, and say by the exit code whether anything of ours failed."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--quick", action="store_true")
    asked.add_argument("--publish", action="store_true")
    options = asked.parse_args()
    found = rows(options.quick)
    print(table(found))
    ours = [row for row in found if not row.what.startswith("bad inputs") or "dualfold" in row.what]
    for row in ours:
        for failure in row.failures:
            print(f"FAILED {row.what}: {failure}")
    if options.publish:
        PAGE.write_text(page(found))
    return 1 if any(row.failures for row in ours) else 0


if __name__ == "__main__":
    sys.exit(main())

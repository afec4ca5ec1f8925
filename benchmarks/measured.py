"""Every published number, and where it comes from: measured.csv and measured_runs.csv.

A value has a key (a case of `benchmarks.cases`, or what a script here measured), a side, a quantity
and a unit; its run has a date, a command and a machine. README, RESULTS.md and the pages are filled
from these files (`python docs/generated.py`) or compared with them
(tests/workflows/test_measured_numbers.py). `record` replaces what is known of a key and a side.
Scripts that print lines of JSON are recorded through a pipe:

    python -m benchmarks.placing | python -m benchmarks.measured KEY "python -m benchmarks.placing"
"""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.verdicts import GIB, Run

VALUES = Path(__file__).with_name("measured.csv")
RUNS = Path(__file__).with_name("measured_runs.csv")
# Fields of a run that are bytes; the file has GiB.
BYTES = ("peak", "before", "given bytes")
UNITS = dict.fromkeys(BYTES, "GiB") | dict.fromkeys(("seconds", "cpu"), "s")
SHARES = ("quality", "gap", "recall", "unbalanced", "found by brute force", "trustworthiness")


@dataclass(frozen=True)
class Value:
    """One number (or word) with its unit: s, GiB, MB, share (1 is all), times, or none."""

    key: str
    side: str
    quantity: str
    value: str
    unit: str = ""
    run: str = ""


@dataclass(frozen=True)
class Made:
    """The run behind values: one command on one day on one machine."""

    run: str
    date: str
    command: str
    machine: str


def values(path: Path = VALUES) -> list[Value]:
    """All values, in the order of the file."""
    with path.open(encoding="utf-8", newline="") as stream:
        return [Value(**row) for row in csv.DictReader(stream)]


def runs(path: Path = RUNS) -> dict[str, Made]:
    """The runs by their names."""
    with path.open(encoding="utf-8", newline="") as stream:
        return {row["run"]: Made(**row) for row in csv.DictReader(stream)}


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def record(
    new: Iterable[Value],
    command: str,
    machine: str,
    *,
    date: str = "",
    paths: tuple[Path, Path] = (VALUES, RUNS),
) -> None:
    """Replace all values of the keys and sides in `new`; a key's place in the file stays."""
    new, old, made, date = list(new), values(paths[0]), runs(paths[1]), date or today()
    numbers = [int(name.rpartition(".")[2]) for name in made if name.startswith(f"{date}.")]
    name = f"{date}.{1 + max(numbers, default=0)}"
    made[name] = Made(name, date, command, machine)
    measured = {(value.key, value.side) for value in new}
    left = [value for value in old if (value.key, value.side) not in measured]
    order = list(dict.fromkeys(value.key for value in [*old, *new]))
    whole = sorted(
        [*left, *(replace(value, run=name) for value in new)],
        key=lambda value: order.index(value.key),  # stable: sides stay in their order
    )
    used = {value.run for value in whole}
    _write(paths[0], Value, whole)
    _write(paths[1], Made, [one for one in made.values() if one.run in used])


def _write(path: Path, kind: type[Value] | type[Made], rows: Iterable[Value | Made]) -> None:
    draft = path.with_suffix(".draft")
    with draft.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([field.name for field in fields(kind)])
        writer.writerows(astuple(row) for row in rows)
    draft.replace(path)


# ---- a run of a side as values, and back ----


def values_of_run(key: str, side: str, run: Run) -> list[Value]:
    """The fields of a run that are published: times and memory of five digits, facts in full."""
    told: dict[str, Any] = {
        name: run[name] for name in ("status", "why", "seconds", "cpu", *BYTES, "quality")
        if run.get(name) is not None
    }  # fmt: skip
    told |= {f"stage {name}": value for name, value in run.get("stages", {}).items()}
    told |= {f"fact {name}": value for name, value in run.get("facts", {}).items()}
    if told.get("status") == "done":
        told |= {"runs": len(run.get("runs", [0])), "levels": ";".join(run.get("levels", []))}
    return [
        Value(key, side, name, _text(name, value), _unit(name))
        for name, value in told.items()
        if not isinstance(value, (dict, list)) and value != ""
    ]


def run_of_values(rows: Iterable[Value]) -> Run:
    """What `values_of_run` was given, but for rounding."""
    run: dict[str, Any] = {"stages": {}, "facts": {}}
    for row in rows:
        kind, _, name = row.quantity.partition(" ")
        if kind in ("stage", "fact"):
            run[f"{kind}s"][name] = _number(row.value)
        elif row.quantity == "levels":
            run["levels"] = row.value.split(";")
        else:
            run[row.quantity] = _number(row.value)
    return run | {name: run[name] * GIB for name in BYTES if name in run}


def published() -> dict[str, Mapping[str, Run]]:
    """The runs of the file by key and side, each with its date."""
    found: dict[str, dict[str, list[Value]]] = {}
    for value in values():
        found.setdefault(value.key, {}).setdefault(value.side, []).append(value)
    made = runs()
    return {
        key: {
            side: {**run_of_values(rows), "date": made[rows[0].run].date}
            for side, rows in sides.items()
        }
        for key, sides in found.items()
    }


def _unit(name: str) -> str:
    plain = name.removeprefix("fact ")
    if name.startswith("stage "):
        return "s"
    return UNITS.get(plain, "share" if plain in SHARES else "")


def _text(name: str, value: Any) -> str:
    number = value / GIB if name in BYTES else value
    digits = 12 if name.startswith("fact ") else 5
    return f"{number:.{digits}g}" if isinstance(number, float) else str(number)


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


# ---- lines of JSON, as scripts print them ----

# How such a line names what was measured, and the units of its numbers.
NAMES = ("side", "method", "table", "rows")
LINE_UNITS = {"seconds": "s", "cpu": "s", "fit": "s", "place": "s", "start": "s", "fixed_s": "s",
              "peak_MB": "MB", "peak_MiB": "MiB", "before_MiB": "MiB", "further_row_us": "µs",
              "ours": "share", "kept": "share",
              "fitted": "share", "best recipe": "share", "mean of ours": "share",
              "mean of the best recipe": "share", "recall": "share", "purity": "share",
              "named share": "share", "telling": "share", "page MB": "MB"}  # fmt: skip


def values_of_line(key: str, line: Mapping[str, Any]) -> list[Value]:
    """The numbers of a line, those of a list one by one; a row's time is in µs."""
    if "quantity" in line:  # a line that is one number and names its unit
        number = line["value"]
        words = f"{number:.4g}" if isinstance(number, float) else str(number)
        return [Value(key, line["side"], line["quantity"], words, line["unit"])]
    side = " ".join(str(line[name]) for name in NAMES if name in line)
    told = dict(line)
    if "cpu" in told and "rows" in told and not isinstance(told["cpu"], list):
        told["further_row_us"] = 1e6 * told["cpu"] / int(told["rows"])
    found = []
    for name, value in told.items():
        each = value if isinstance(value, list) else [value]
        for number, one in enumerate(each, 1):
            if name not in NAMES and isinstance(one, (int, float)):
                quantity = f"{name} {number}" if len(each) > 1 else name
                found.append(Value(key, side, quantity, f"{one:.5g}", LINE_UNITS.get(name, "")))
    return found


def main() -> None:
    from benchmarks.tables import machine_words

    key, command = sys.argv[1:]
    lines = [json.loads(line) for line in sys.stdin if line.startswith("{")]
    record(
        [value for line in lines for value in values_of_line(key, line)], command, machine_words()
    )


if __name__ == "__main__":
    main()

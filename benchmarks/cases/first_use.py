"""What somebody sees who runs the program for the first time."""

from __future__ import annotations

from benchmarks.case import Case, ours
from benchmarks.sets import table
from benchmarks.verdicts import Certified, Seconds

FIRST_USE = {
    "first-use": Case(
        "first use: a cold process, import, read 2,000 rows of CSV, Isomap, write",
        table(2_000),
        {
            "dualfold": ours("first_use", bytecode=True, note="as pip installs it"),
            "dualfold without bytecode": ours(
                "first_use", bytecode=False, note="every module imported is compiled first"
            ),
        },
        (Seconds(5), Seconds(5, side="dualfold without bytecode"), Certified()),
    ),
}

"""Columns labelled by hand: how many identifiers are found, how many measurements are lost.

    python -m benchmarks.identifiers FOLDER [--half tune]

FOLDER holds tables of R as CSV files and index.csv, with the name, the number of rows and columns,
and the half of each ("tune" or "report": rules were made by looking at the first one). Columns
that `labelled_columns.csv` does not list are not counted, but for R's row names, the first column
without a name: where they are numbers, they are identifiers unless it says otherwise.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import pandas as pd

from dualfold.data import Reading
from dualfold.data.table_reader import raw_table
from dualfold.errors import DualfoldError

LABELS = Path(__file__).parent / "labelled_columns.csv"
ROW_NAMES = "column_1"


def verdicts(path: Path, labels: dict[str, str]) -> dict[str, str]:
    """For each labelled column: found or missed (identifiers); used or lost (measurements).

    An identifier is found if it is no feature; one of words may be a label.
    """
    table = raw_table(path, Reading(), mixed=True)
    labels = {ROW_NAMES: "identifier"} | {name or ROW_NAMES: one for name, one in labels.items()}
    if table.labels.get(ROW_NAMES) is not None:  # words, which are labels
        del labels[ROW_NAMES]
    features, there = {*table.names, *table.kinds}, {*table.names, *table.labels}
    unnamed = "column_2" in there  # the header was taken for data: no name of the file is left
    return {
        name: ("missed" if name in features else "found")
        if label == "identifier"
        else ("used" if name in there else "renamed" if unnamed else "lost")
        for name, label in labels.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=("tune", "report"), default="tune")
    options = parser.parse_args()
    labels = pd.read_csv(LABELS, keep_default_na=False)
    index = pd.read_csv(options.folder / "index.csv")
    counts: Counter[tuple[str, bool]] = Counter()
    for name in index.name[index.half == options.half]:
        own = labels[labels.table == name]
        try:
            found = verdicts(
                options.folder / f"{name}.csv", dict(zip(own.column, own.label, strict=True))
            )
        except DualfoldError:
            counts["refused", False] += 1
            continue
        for column, verdict in found.items():
            counts[verdict, column == ROW_NAMES] += 1
            if verdict in ("lost", "missed"):
                print(f"{verdict}: {name} {column}")
    print(f"\n| half {options.half} | named columns | row names |\n|---|---|---|")
    for verdict in ("found", "missed", "used", "lost", "renamed", "refused"):
        print(f"| {verdict} | {counts[verdict, False]} | {counts[verdict, True]} |")


if __name__ == "__main__":
    main()

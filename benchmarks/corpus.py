"""`python -m benchmarks --corpus`: every method on real tables that packages ship.

The tables come from scikit-learn, statsmodels, palmerpenguins and vega_datasets
(`pip install dualfold[corpus]`); none of them is copied. Each is read as a careful person would:
columns with gaps in a fifth of the rows are left out, then rows with gaps; numbers are
standardised, categories of at most 20 values become columns of 0 and 1 (as wide as one number
each), text and constant columns are left out. A cell of the table is one method with the
command line's defaults: a map or a refusal in one sentence, the verdict, the share of 10
neighbours kept, and seconds of processor time. What fails, warns from below or takes over a
minute is a defect.
"""

from __future__ import annotations

import csv
import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import DualfoldError, DualfoldWarning, NotConverged
from dualfold.exploration.plan import Plan
from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.quality import neighbor_agreement

# Seconds that a cell of less than 20,000 rows may take.
LONGEST = 60.0
MOST_CATEGORIES, MOST_GAPS, KEPT_OF = 20, 0.2, 10
SKLEARN = ("iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud")
# package: the folder of its files, and the files
FILES = {
    "palmerpenguins": ("data", ("penguins.csv", "penguins-raw.csv")),
    "statsmodels": (
        "datasets",
        (
            "ccard/ccard.csv", "committee/committee.csv", "copper/copper.csv",
            "cpunish/cpunish.csv", "danish_data/data.csv", "elnino/elnino.csv", "fair/fair.csv",
            "fair/fair_pt.csv", "fertility/fertility.csv", "grunfeld/grunfeld.csv",
            "heart/heart.csv", "interest_inflation/E6.csv", "longley/longley.csv",
            "macrodata/macrodata.csv", "randhie/randhie.csv", "scotland/scotvote.csv",
            "stackloss/stackloss.csv", "star98/star98.csv", "statecrime/statecrime.csv",
        ),
    ),
    "vega_datasets": (
        "_data",
        (
            "anscombe.json", "barley.json", "burtin.json", "cars.json", "driving.json",
            "ohlc.json", "seattle-weather.csv", "us-employment.csv", "airports.csv",
        ),
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """What one method made of one table."""

    table: str
    method: str
    rows: int
    columns: int
    outcome: str  # "map", "refused", "failed", "warned" (from below) or "slow"
    verdict: str
    kept: float | None
    seconds: float
    words: str = ""


def names() -> tuple[str, ...]:
    """The tables, as "package/table"."""
    filed = [
        f"{package}/{Path(file).stem if Path(file).stem != 'data' else Path(file).parent.name}"
        for package, (_, files) in FILES.items()
        for file in files
    ]
    return (*(f"scikit-learn/{name}" for name in SKLEARN), *filed)


def table(name: str) -> tuple[Array, Array] | None:
    """The numbers of a table and a class for each row; None where its package is not there."""
    import pandas as pd

    package, _, short = name.partition("/")
    if package == "scikit-learn":
        from sklearn import datasets

        found = getattr(datasets, f"load_{short}")()
        target = found.target if found.target.ndim == 1 else found.target[:, 0]
        return standardised(np.asarray(found.data, dtype=float)), thirds(target)
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return None
    folder, files = FILES[package]
    file = next(f for f in files if short in (Path(f).stem, Path(f).parent.name))
    path = Path(spec.origin).parent / folder / file
    frame = pd.read_csv(path) if path.suffix == ".csv" else pd.read_json(path)
    X = numbers(frame)
    return X, thirds(X[:, 0])


def numbers(frame: Any) -> Array:
    """A data frame as standardised numbers; categories as columns of 0 and 1."""
    import pandas as pd

    frame = frame.loc[:, frame.isna().mean() <= MOST_GAPS].dropna()
    parts = []
    for name in frame.columns:
        column = frame[name]
        if pd.api.types.is_bool_dtype(column) or not pd.api.types.is_numeric_dtype(column):
            column = column.astype(str)
            if 2 <= column.nunique() <= MOST_CATEGORIES:
                levels = pd.get_dummies(column).to_numpy(dtype=float)
                # Two rows of different categories are √2 apart, as two usual numbers are.
                parts.append(levels - levels.mean(axis=0))
        elif column.nunique() > 1:
            parts.append(standardised(column.to_numpy(dtype=float)[:, None]))
    return np.hstack(parts)


def standardised(X: Array) -> Array:
    """Columns of mean 0 and deviation 1; constant ones are left out."""
    spread = X.std(axis=0)
    return np.asarray((X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0])


def thirds(numbers_: Array) -> Array:
    """Three classes for the method that needs some, by the order of a column."""
    ranks = np.argsort(np.argsort(numbers_, kind="stable"), kind="stable")
    return np.asarray(3 * ranks // len(ranks))


def cell(name: str, method: str, X: Array, classes: Array) -> Cell:
    """Fit one method as the command line would, and write down what happens."""
    plan, _ = Plan(DESCRIPTIONS[method]).for_rows(len(X))
    estimator = plan.estimator()
    begin = process_time()
    outcome, verdict, kept, words = "map", "", None, ""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            points = estimator.fit_transform(X, classes)
        except DualfoldError as refusal:
            # One that gives up after the work is no refusal.
            outcome = "failed" if isinstance(refusal, NotConverged) else "refused"
            words = str(refusal)
        except Exception as error:
            outcome, words = "failed", f"{type(error).__name__}: {error}"
    seconds = process_time() - begin
    if outcome == "map":
        verdict = estimator.certificate_.level
        below = [w for w in heard if not issubclass(w.category, DualfoldWarning)]
        own = [str(w.message) for w in heard if issubclass(w.category, DualfoldWarning)]
        words = " | ".join(own)
        if not np.isfinite(points).all() or verdict == "failed":
            outcome = "failed"
        elif below:
            outcome, words = "warned", str(below[0].message)
        if len(X) > KEPT_OF + 1:
            drawn = 1000 if len(X) > 5000 else None
            kept = float(np.mean(_share(X, points, drawn)))
    if seconds > LONGEST and len(X) <= 20_000 and outcome in ("map", "refused"):
        outcome = "slow"
    n, columns = X.shape
    return Cell(name, method, n, columns, outcome, verdict, kept, round(seconds, 2), words)


def _share(X: Array, points: Array, drawn: int | None) -> Any:
    found: Any = neighbor_agreement(X, points, n_neighbors=KEPT_OF, sample=drawn)
    return getattr(found, "value", found)


def cells(chosen: tuple[str, ...], methods: tuple[str, ...]) -> Iterator[Cell]:
    """All cells, table by table; tables whose package is not installed are passed over."""
    for name in chosen:
        found = table(name)
        if found is not None:
            for method in methods:
                yield cell(name, method, *found)


def page(found: list[Cell]) -> str:
    """The cells as Markdown: a row for each method, and what was refused and why."""
    count = {o: sum(c.outcome == o for c in found) for o in OUTCOMES}
    n_tables = len({c.table for c in found})
    methods = [m for m in DESCRIPTIONS if any(c.method == m for c in found)]
    share = count["refused"] / max(1, len(found))
    lines = [
        "# Every method on real tables",
        "",
        f"{n_tables} tables × {len(methods)} methods, {len(found)} fits: {count['map']} maps, "
        f"{count['refused']} refusals in a sentence ({share:.1%}), {count['failed']} failures, "
        f"{count['warned']} with a warning of another library, {count['slow']} of at most 20,000 "
        f"rows over a minute. The longest of all took {max(c.seconds for c in found):.0f} s.",
        "",
        "The tables come with scikit-learn, statsmodels, palmerpenguins and vega_datasets. "
        "`python -m benchmarks --corpus` (`pip install 'dualfold[corpus]'`) makes this page and "
        "[corpus.csv](../../benchmarks/corpus.csv), which has every fit: rows, columns, level of "
        "the certificate, share of the 10 nearest neighbours kept, processor seconds. "
        "`benchmarks/corpus.py` says how tables are read.",
        "",
        "| method | maps | neighbours kept, median (least to most) | longest, seconds | levels |",
        "|---|---|---|---|---|",
        *(_method_row(m, [c for c in found if c.method == m]) for m in methods),
        "",
        "## What was refused",
        "",
    ]
    others = [c for c in found if c.outcome != "map"]
    lines += [f"* {c.table}, {c.method}: {c.outcome}. {c.words[:300]}" for c in others]
    return "\n".join(lines) + "\n"


def _method_row(method: str, found: list[Cell]) -> str:
    kept = [100 * c.kept for c in found if c.kept is not None]
    shares = f"{np.median(kept):.0f} % ({min(kept):.0f} to {max(kept):.0f} %)" if kept else "–"
    levels = Counter(c.verdict for c in found if c.verdict)
    words = ", ".join(f"{count} {level}" for level, count in levels.most_common())
    maps = sum(c.outcome == "map" for c in found)
    return f"| {method} | {maps} | {shares} | {max(c.seconds for c in found):.1f} | {words} |"


def write_csv(found: list[Cell], path: Path) -> None:
    """One row for each fit."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [one.name for one in fields(Cell)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(c) for c in found)


OUTCOMES = ("map", "refused", "failed", "warned", "slow")
LETTERS = {
    "within": "w",
    "measured": "m",
    "within reach": "r",
    "stationary": "s",
    "not stationary": "n",
    "unresolved": "u",
}


def _shown(c: Cell) -> str:
    if c.outcome == "refused":
        return "–"
    if c.outcome == "failed":
        return "**failed**"
    kept = "" if c.kept is None else f"{100 * c.kept:.0f} % "
    mark = "" if c.verdict == "proved" else f" {LETTERS[c.verdict]}"
    return f"{kept}{c.seconds:.1f} s{mark}"


def main(
    chosen: tuple[str, ...] = (), into: Path = Path("results/corpus.json"),
    say: Callable[[str], None] = print,
) -> int:  # fmt: skip
    """Run what is not kept yet, write page and data beside it; 1 where a cell is a defect."""
    into.parent.mkdir(parents=True, exist_ok=True)
    kept = [Cell(**one) for one in json.loads(into.read_text())] if into.exists() else []
    done = {(c.table, c.method) for c in kept}
    wanted = [n for n in names() if not chosen or any(word in n for word in chosen)]
    for name in wanted:
        missing = tuple(m for m in DESCRIPTIONS if (name, m) not in done)
        for found in cells((name,), missing) if missing else ():
            kept.append(found)
            into.write_text(json.dumps([asdict(c) for c in kept], indent=0))
            say(f"{found.table:34} {found.method:18} {_shown(found):18} {found.words[:120]}")
    order = {n: place for place, n in enumerate(names())}
    kept.sort(key=lambda c: (order.get(c.table, -1), list(DESCRIPTIONS).index(c.method)))
    into.with_suffix(".md").write_text(page(kept), encoding="utf-8")
    write_csv(kept, into.with_suffix(".csv"))
    return int(any(c.outcome not in ("map", "refused") for c in kept))

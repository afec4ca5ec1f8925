"""From the papers to the code: every item of the papers with the name that computes it.

Each paper's folder holds `items.csv`, one row an item, in the order of the paper: the place, what
stands there, the Python names, the experiments that show it and its errata. `docs/generated.py`
writes docs/papers-to-code.md from them.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from papers.finding import PAPERS, Paper

# How an item is reached, by the first part of its names; the first that fits counts.
REACHED_BY = {
    "dualfold": "dualfold",
    "numpy": "NumPy or SciPy",
    "scipy": "NumPy or SciPy",
    "papers": "papers/ only",
}
NOTHING_TO_COMPUTE = "nothing to compute"
INTRODUCTION = """# Every item of the papers and its Python name

Every definition, theorem, algorithm, equation, figure and claim of the five papers, in their order:
the Python name that computes it, the experiment that shows it (`python -m papers run NAME`, see
[the papers](papers.md)) and the check of its misprint, where it has one ([errata](errata.md)).
Where plain NumPy or SciPy computes it, that name stands here. `python docs/generated.py` writes
this page from `papers/*/items.csv`, and `tests/papers/test_items.py` looks up every name.
"""


@dataclass(frozen=True)
class Item:
    """Item of a paper: `place` in it, `subject`, and the names that lead to the code."""

    place: str
    subject: str
    names: tuple[str, ...]
    experiments: tuple[str, ...]
    errata: tuple[str, ...]

    @property
    def reached_by(self) -> str:
        """Package whose name computes it: dualfold's, NumPy's or SciPy's, or one of `papers/`."""
        packages = {name.partition(".")[0] for name in self.names}
        found = (words for package, words in REACHED_BY.items() if package in packages)
        return next(found, NOTHING_TO_COMPUTE)


def items_of(paper: Paper) -> tuple[Item, ...]:
    """The items of one paper, in its order."""
    path = Path(__file__).parent / paper.author.lower() / "items.csv"
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file, delimiter="|", quoting=csv.QUOTE_NONE)
    return tuple(
        Item(place, subject, *(tuple(cell.split()) for cell in rest))
        for place, subject, *rest in rows
    )


def items_page() -> str:
    """The whole table as Markdown: counts, then one section a paper."""
    parts = [INTRODUCTION, _counts_table()]
    for paper in PAPERS:
        rows = [_row(item) for item in items_of(paper)]
        heads = ("where", "what", "Python", "experiment", "erratum")
        parts.append(f"## {paper.author}: {paper.title}\n\n{_table(heads, rows)}")
    return "\n".join(parts)


def _counts_table() -> str:
    ways = [*dict.fromkeys(REACHED_BY.values()), NOTHING_TO_COMPUTE]
    rows = []
    for paper in PAPERS:
        counts = Counter(item.reached_by for item in items_of(paper))
        rows.append([paper.author, str(counts.total()), *(str(counts[way]) for way in ways)])
    return _table(("paper", "items", *ways), rows)


def _row(item: Item) -> list[str]:
    codes = (
        " ".join(f"`{name}`" for name in names)
        for names in (item.names, item.experiments, item.errata)
    )
    return [item.place, item.subject, *codes]


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(cell or '–' for cell in line)} |\n" for line in lines)

"""What ties docs/errata.md to its checks: every number in its tables comes from a test.

A check computes the printed form and the right one and ends in `shows(printed, right)`, which
looks up the row that names the calling test and compares its two numbers.

    python -m tests.papers.errata            the numbers of all checks, beside the document's
    python -m tests.papers.errata --update   write them into the document
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

DOCUMENT = Path(__file__).parents[2] / "docs" / "errata.md"
CELLS = 7  # where, printed, right, what is compared, printed gives, right gives, check
# A number rounded to three digits is off by at most 5 in the fourth; another machine's
# rounding may add a little.
ROUNDING = 6e-3


@dataclass(frozen=True)
class Entry:
    """Row of the document: a place in a paper, two numbers and the check of them."""

    line: int
    cells: tuple[str, ...]

    @property
    def check(self) -> str:
        return "test_" + self.cells[-1].strip("`")

    @property
    def numbers(self) -> tuple[str, str]:
        return self.cells[4], self.cells[5]


def entries() -> list[Entry]:
    """The rows whose last cell names a check."""
    found = []
    for line, text in enumerate(DOCUMENT.read_text(encoding="utf-8").splitlines()):
        cells = tuple(cell.strip() for cell in text.strip().strip("|").split("|"))
        if text.startswith("|") and cells[-1].startswith("`"):
            if len(cells) != CELLS:
                raise ValueError(f"errata.md, line {line + 1}: {len(cells)} cells, not {CELLS}")
            found.append(Entry(line, cells))
    return found


def rounded(value: float) -> str:
    """Three digits and a true minus sign; what only rounding left over is 0."""
    short = float(f"{0.0 if abs(value) < 1e-9 else value:.3g}")
    return np.format_float_positional(short, trim="-").replace("-", "−")


def normal(*shape: int, seed: int = 0) -> Any:
    """Draws that do not depend on the tests that ran before: documents quote them."""
    return np.random.default_rng(seed).normal(size=shape)


def check_files() -> list[str]:
    here = Path(__file__).parent
    return sorted(f"tests.papers.{path.stem}" for path in here.glob("test_errata_*.py"))


def checks() -> dict[str, Callable[[], None]]:
    """All tests of the errata by name."""
    modules = [importlib.import_module(name) for name in check_files()]
    return {
        name: test
        for module in modules
        for name, test in vars(module).items()
        if name.startswith("test_")
    }


_recorded: dict[str, tuple[float, float]] | None = None


def shows(printed: float, right: float) -> None:
    """The row of the calling test holds these two numbers, and they are not the same."""
    name = sys._getframe(1).f_code.co_name
    assert rounded(printed) != rounded(right), f"{name}: both forms give {rounded(right)}"
    if _recorded is not None:
        _recorded[name] = printed, right
        return
    rows = [entry for entry in entries() if entry.check == name]
    assert len(rows) == 1, f"{name} is named by {len(rows)} rows of docs/errata.md"
    for value, written in zip((printed, right), rows[0].numbers, strict=True):
        stated = float(written.replace("−", "-"))
        assert abs(float(value) - stated) <= ROUNDING * abs(stated) + 1e-9, (
            f"{name}: docs/errata.md says {written}, the check gives {rounded(value)} "
            "(python -m tests.papers.errata --update writes it)"
        )


def recorded() -> dict[str, tuple[float, float]]:
    """Run every check and keep its numbers instead of comparing them."""
    global _recorded
    _recorded = {}
    try:
        for test in checks().values():
            test()
        return _recorded
    finally:
        _recorded = None


def main(update: bool) -> None:
    found = recorded()
    lines = DOCUMENT.read_text(encoding="utf-8").splitlines()
    for entry in entries():
        if entry.check not in found:
            print(f"{entry.check}: no such check")
            continue
        new = tuple(rounded(value) for value in found[entry.check])
        print(f"{entry.check}: {' / '.join(new)}, the document has {' / '.join(entry.numbers)}")
        lines[entry.line] = f"| {' | '.join((*entry.cells[:4], *new, entry.cells[6]))} |"
    if update:
        DOCUMENT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    # The tests import this file as `tests.papers.errata`; as __main__ it would be a second copy.
    importlib.import_module("tests.papers.errata").main("--update" in sys.argv)

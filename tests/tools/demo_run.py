"""`dualfold demo` of few rows, once for all tests of a process; as a script it is the command."""

from __future__ import annotations

import contextlib
import functools
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

from typer.testing import CliRunner

from dualfold.cli import app, main
from dualfold.cli import run_demo as demo
from dualfold.data import digits

ROWS = 300  # so many of the roll and of the digits: seconds, and every method still has an answer
_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


@dataclass(frozen=True)
class DemoRun:
    folder: Path
    stdout: str


@contextlib.contextmanager
def few_rows() -> Iterator[None]:
    """The demo's data sets, cut."""
    whole = digits()
    few = replace(
        whole, points=whole.points[:ROWS], labels=whole.labels[:ROWS], rows=whole.rows[:ROWS]
    )
    # Rounds of few rows take no time. When forces balance depends on rounding: after 1,000 of
    # them 0.1 to 1.5 % were left (four rolls), after 2,000 less than 0.01 %.
    with (
        patch.object(demo, "ROLL_POINTS", ROWS),
        patch.dict(demo.DEMO_OPTIONS, tsne={"max_iter": 2_000}),
        patch.object(demo, "digits", lambda: few),
    ):
        yield


@functools.cache
def a_demo() -> DemoRun:
    """The demo with --json, in a folder that has a space in its name."""
    _folders.append(tempfile.TemporaryDirectory())
    folder = Path(_folders[-1].name) / "a folder"
    with few_rows():
        result = CliRunner().invoke(app, ["demo", "--output", str(folder), "--json"])
    assert result.exit_code == 0, (result.output, result.exception)
    return DemoRun(folder, result.stdout)


if __name__ == "__main__":
    with few_rows():
        main()

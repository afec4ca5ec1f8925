"""One run of `dualfold demo` for all tests of a process: it takes seconds."""

from __future__ import annotations

import functools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from typer.testing import CliRunner

from dualfold.cli import app

_folders: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


@dataclass(frozen=True)
class DemoRun:
    folder: Path
    stdout: str


@functools.cache
def a_demo() -> DemoRun:
    """The demo with --json, in a folder that has a space in its name."""
    _folders.append(tempfile.TemporaryDirectory())
    folder = Path(_folders[-1].name) / "a folder"
    result = CliRunner().invoke(app, ["demo", "--output", str(folder), "--json"])
    assert result.exit_code == 0, (result.output, result.exception)
    return DemoRun(folder, result.stdout)

"""What the command line says, and where: data on standard output, all else on standard error.

On a terminal a line shows the stage at work, after two seconds with a bar and the time left.
The bar moves by what the library reports of its work (`dualfold.kernels.reports`). Where it
reports nothing, the line shows a guess of the time and the bar shows no share.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator

import typer

from dualfold.cli.wording import command_text
from dualfold.exploration.listener import sentence, warnings_as_notes

# Terms of a list that are longer have a line of their own.
MAX_TERM_WIDTH = 24


class Console:
    """Writes to standard error, or nothing where `quiet`."""

    def __init__(self, *, quiet: bool = False) -> None:
        from rich.console import Console as Terminal

        self.quiet = quiet
        self.prefix = ""  # before the names of stages: which of several things is at work
        self._noted: set[str] = set()
        self._terminal = Terminal(stderr=True, highlight=False, soft_wrap=True)

    def say(self, text: str, style: str = "") -> None:
        if not self.quiet:
            self._terminal.print(printable(text), style=style or None, markup=False)

    def note(self, text: str) -> None:
        """Something the user should know about the data or the answer, said once."""
        words = f"note: {sentence(command_text(text))}"
        if words not in self._noted:
            self._noted.add(words)
            self.say(words, "yellow")

    @contextlib.contextmanager
    def stage(self, name: str, expected: float | None = None) -> Iterator[None]:
        """A line with a bar and the time left while it lasts, on a terminal only.

        expected : seconds, by a guess that the line calls one
        """
        if self.quiet or not self._terminal.is_terminal:
            yield
            return
        from dualfold.cli.terminal import shown_stage

        with shown_stage(printable(self.prefix + name), expected, self._terminal):
            yield

    def finish(self, summary: dict[str, object], lines: list[str], *, as_json: bool) -> None:
        """The last words of a command: its summary where `--json` asks for it, then lines."""
        if as_json:
            print_json(summary)
        for line in lines:
            self.say(line)

    def note_warnings(self, notices: list[str]) -> contextlib.AbstractContextManager[None]:
        """Warnings of dualfold as notes, added to `notices` too; others only in debug."""

        def show(message: Warning | str, category: type[Warning]) -> None:
            if is_debugging():
                self.say(f"{category.__name__}: {message}")

        return warnings_as_notes(self.note, notices, show)


# Names come from files; a terminal obeys such characters: colours, titles, the direction of text.
_CONTROL_CODES = {*range(32), *range(127, 160), *range(0x202A, 0x202F), *range(0x2066, 0x206A)}
_ESCAPED_CODES = {
    code: f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" for code in _CONTROL_CODES - {9, 10}
}


def printable(text: str) -> str:
    """The text with commands to a terminal written out, as \\x1b."""
    return str(text).translate(_ESCAPED_CODES)


def print_json(content: dict[str, object]) -> None:
    """Print one JSON object on standard output."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    rest = {code: f"\\u{code:04x}" for code in _CONTROL_CODES if code > 31}  # JSON's own writing
    typer.echo(text.translate(rest))


def print_definitions(rows: Iterable[tuple[str, str]]) -> None:
    """Terms and what they mean on standard output, wrapped to the width of a terminal."""
    rows, width = list(rows), terminal_width()
    longest = max(len(term) for term, _ in rows)
    indent = min(longest, MAX_TERM_WIDTH) + 2 * (longest > 0)
    for term, meaning in rows:
        lines = [meaning] if width is None else textwrap.wrap(meaning, max(width - indent, 20))
        if len(term) > MAX_TERM_WIDTH:
            typer.echo(term)
            term = ""
        for line in lines:
            typer.echo(f"{term:<{indent}}{line}")
            term = ""


def terminal_width() -> int | None:
    """Characters in a line of standard output; None where it is no terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def is_debugging() -> bool:
    return os.environ.get("DUALFOLD_DEBUG", "") not in ("", "0")

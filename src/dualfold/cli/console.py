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
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import typer

from dualfold.cli.wording import command_text
from dualfold.exploration.listener import sentence, warnings_as_notes

if TYPE_CHECKING:
    from dualfold.kernels.reports import Report

# Terms of a list that are longer have a line of their own.
MAX_TERM_WIDTH = 24
# Stages that end sooner show their name only.
BAR_AFTER_SECONDS = 2.0


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
        from dualfold.kernels.reports import reporting_to

        stage = Stage(printable(self.prefix + name), expected)
        with _line_of(stage, self._terminal), reporting_to(stage.update):
            yield

    def finish(self, summary: dict[str, Any], lines: list[str], *, as_json: bool) -> None:
        """The last words of a command: its summary where `--json` asks for it, then lines."""
        if as_json:
            print_json(summary)
        for line in lines:
            self.say(line)

    def note_warnings(self, notices: list[str]) -> contextlib.AbstractContextManager[None]:
        """Warnings of dualfold as notes, added to `notices` too; others only in debug."""

        def show(message: Any, category: Any) -> None:
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


def print_json(content: dict[str, Any]) -> None:
    """One JSON object on standard output."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    rest = {code: f"\\u{code:04x}" for code in _CONTROL_CODES if code > 31}  # JSON's own writing
    typer.echo(text.translate(rest))


def print_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, pipe_width: int, numbers: int = 0
) -> None:
    """A table on standard output; its first column names the rows.

    pipe_width : characters in a line where standard output is no terminal
    numbers : how many columns after the first hold numbers
    """
    from rich import box
    from rich.console import Console as Terminal
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(heads):
        side: Any = "right" if 0 < place <= numbers else "left"
        table.add_column(head, no_wrap=not place, style="" if place else "bold", justify=side)
    for row in rows:
        table.add_row(*row)
    width = terminal_width() or pipe_width
    Terminal(highlight=False, width=width, markup=False).print(table)


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


class Stage:
    """One stage at work, in parts where the library reports them.

    expected : seconds by a guess; None without one
    """

    def __init__(self, name: str, expected: float | None = None) -> None:
        self.name = name
        self.part = ""
        self.begin = self.part_begin = perf_counter()
        self.share: float | None = None
        self.expected = expected

    def update(self, report: Report) -> None:
        """A listener of `dualfold.kernels.reports.reporting_to`."""
        if report.share is None:  # something begins
            self.part, self.part_begin = report.what, perf_counter()
            self.share, self.expected = None, report.seconds
        else:
            # It never goes back: a bar that does says nothing.
            self.share = max(self.share or 0.0, min(report.share, 1.0))

    @property
    def title(self) -> str:
        return f"{self.name}: {self.part}" if self.part else self.name

    def words(self) -> str:
        """Time taken by this part, and the time left where it is known or guessed."""
        taken = perf_counter() - self.part_begin
        if self.share:
            left = round(taken * (1 - self.share) / self.share)
            words = f"about {duration(left)} left" if left else "nearly done"
            return f"{duration(taken)}, {words}"
        if not self.expected or self.expected < BAR_AFTER_SECONDS:
            return f"{duration(taken)} so far"
        if taken < self.expected:
            return f"{duration(taken)}, a guess: about {duration(self.expected)} in all"
        return f"{duration(taken)}, longer than the {duration(self.expected)} guessed"


def duration(seconds: float) -> str:
    """12 s, 3 min 05 s, 2 h 10 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


@contextlib.contextmanager
def _line_of(stage: Stage, terminal: Any) -> Iterator[None]:
    """The stage as a line of the terminal while it lasts."""
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.spinner import Spinner
    from rich.table import Table

    spinner = Spinner("dots")

    def line() -> Any:
        grid = Table.grid(padding=(0, 1))
        if perf_counter() - stage.begin < BAR_AFTER_SECONDS:
            grid.add_row(spinner, stage.name)
        else:
            done = stage.share
            bar = ProgressBar(total=1.0, completed=done or 0.0, pulse=done is None, width=24)
            grid.add_row(spinner, stage.title, bar, stage.words())
        return grid

    with Live(
        get_renderable=line,
        console=terminal,
        transient=True,
        refresh_per_second=8,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield

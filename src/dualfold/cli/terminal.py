"""Tables and progress lines as rich draws them; loaded when the first one is drawn."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

from rich import box
from rich.console import Console as Terminal
from rich.console import JustifyMethod
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table

from dualfold.cli.console import terminal_width
from dualfold.kernels.reports import Report, reporting_to

# Stages that end sooner show their name only.
BAR_AFTER_SECONDS = 2.0


def print_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], *, pipe_width: int, numbers: int = 0
) -> None:
    """A table on standard output; its first column names the rows.

    pipe_width : characters in a line where standard output is no terminal
    numbers : how many columns after the first hold numbers
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, head in enumerate(heads):
        side: JustifyMethod = "right" if 0 < place <= numbers else "left"
        table.add_column(head, no_wrap=not place, style="" if place else "bold", justify=side)
    for row in rows:
        table.add_row(*row)
    width = terminal_width() or pipe_width
    Terminal(highlight=False, width=width, markup=False).print(table)


class Stage:
    """Stage at work, in parts where the library reports them.

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
def shown_stage(name: str, expected: float | None, terminal: Terminal) -> Iterator[None]:
    """A stage as a line of the terminal while it lasts.

    expected : seconds by a guess; None without one
    """
    stage = Stage(name, expected)
    spinner = Spinner("dots")

    def line() -> Table:
        grid = Table.grid(padding=(0, 1))
        if perf_counter() - stage.begin < BAR_AFTER_SECONDS:
            grid.add_row(spinner, stage.name)
        else:
            done = stage.share
            bar = ProgressBar(total=1.0, completed=done or 0.0, pulse=done is None, width=24)
            grid.add_row(spinner, stage.title, bar, stage.words())
        return grid

    with (
        Live(
            get_renderable=line,
            console=terminal,
            transient=True,
            refresh_per_second=8,
            redirect_stdout=False,
            redirect_stderr=False,
        ),
        reporting_to(stage.update),
    ):
        yield

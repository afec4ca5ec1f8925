"""What is being done, how long it has taken and how long it may still take.

Shown on a terminal only, with a bar after two seconds, since shorter stages need none. The bar
moves by what the library reports of its work (`dualfold.kernels.reports`). Where it can report
nothing, the line says how long it may take by a guess, and the bar shows no share.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualfold.kernels.reports import Report

# Stages that end sooner show their name only.
BAR_AFTER = 2.0


class Stage:
    """One stage at work, in parts where the library reports them.

    expected : seconds by a guess; None where nobody can guess
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
    def shown_name(self) -> str:
        return f"{self.name}: {self.part}" if self.part else self.name

    def words(self) -> str:
        """Time taken by this part, and the time left where it is known or guessed."""
        taken = perf_counter() - self.part_begin
        if self.share:
            left = round(taken * (1 - self.share) / self.share)
            words = f"about {duration(left)} left" if left else "nearly done"
            return f"{duration(taken)}, {words}"
        if not self.expected or self.expected < BAR_AFTER:
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
def displayed(console: Any, stage: Stage) -> Iterator[None]:
    """The stage as a line of the terminal while it lasts."""
    from rich.live import Live
    from rich.progress_bar import ProgressBar
    from rich.spinner import Spinner
    from rich.table import Table

    spinner = Spinner("dots")

    def line() -> Any:
        grid = Table.grid(padding=(0, 1))
        if perf_counter() - stage.begin < BAR_AFTER:
            grid.add_row(spinner, stage.name)
        else:
            done = stage.share
            bar = ProgressBar(total=1.0, completed=done or 0.0, pulse=done is None, width=24)
            grid.add_row(spinner, stage.shown_name, bar, stage.words())
        return grid

    with Live(
        get_renderable=line, console=console, transient=True, refresh_per_second=8,
        redirect_stdout=False, redirect_stderr=False,
    ):  # fmt: skip
        yield

"""What is being done, how long it has taken and how long it may still take.

Shown on a terminal only. A stage that tells its share done, or whose work can be foreseen, has
a bar with the time left; the bar comes after two seconds, since shorter stages need none.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from math import log
from time import perf_counter
from typing import Any

# Stages that end sooner show their name only.
BAR_AFTER = 2.0


class Stage:
    """One stage at work: `tell(share)` where the share done is known."""

    def __init__(self, name: str, expected: float | None = None) -> None:
        self.name = name
        self.expected = expected
        self.begin = perf_counter()
        self.share: float | None = None

    def tell(self, share: float) -> None:
        # It never goes back: a bar that does is believed by nobody.
        self.share = max(self.share or 0.0, min(share, 1.0))

    @property
    def elapsed(self) -> float:
        return perf_counter() - self.begin

    def done(self) -> float | None:
        """The share that is done, told or foreseen; None if nobody knows."""
        if self.share:
            return self.share
        if self.expected and self.elapsed < self.expected:
            return self.elapsed / self.expected
        return None

    def words(self) -> str:
        """Time taken, and time left where it is known."""
        done = self.done()
        if not done:
            return f"{duration(self.elapsed)} so far"
        return f"{duration(self.elapsed)}, about {duration(self.elapsed * (1 - done) / done)} left"


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
        if stage.elapsed < BAR_AFTER:
            grid.add_row(spinner, stage.name)
        else:
            done = stage.done()
            bar = ProgressBar(total=1.0, completed=done or 0.0, pulse=done is None, width=24)
            grid.add_row(spinner, stage.name, bar, stage.words())
        return grid

    with Live(
        get_renderable=line, console=console, transient=True, refresh_per_second=8,
        redirect_stdout=False, redirect_stderr=False,
    ):  # fmt: skip
        yield


def gap_share(first: float, now: float, wanted: float) -> float:
    """How far a gap has come on its way down, by its digits."""
    if not (0 < now < first) or wanted >= first:
        return 0.0
    return min(1.0, log(first / now) / log(first / wanted))

"""How far long work has come: reported where it is done, to whoever listens.

    with reporting_to(lambda report: print(report.what, report.share)):
        Isomap().fit(X)

Loops report their share done (`steps`), iterations how many of the digits they need are there
(`descent`), and single calls of a library, which report nothing, the time predicted for them
(`foreseen`). What begins inside something that reports already is silent, so there is one report
at a time. Without a listener all of it costs one look at an empty list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from threading import Lock

from dualfold.kernels.locks import ForkedLock

__all__ = ["Report", "descent", "digits_share", "foreseen", "reporting_to", "steps"]


@dataclass(frozen=True)
class Report:
    """What is being done, and how much of it is done.

    share : None when it begins
    seconds : the time predicted for it, where it will report no share
    """

    what: str
    share: float | None = None
    seconds: float | None = None


Listener = Callable[[Report], None]
_listening: list[Listener] = []
_reporting: list[str] = []
_lock = ForkedLock()


@contextmanager
def reporting_to(listener: Listener) -> Iterator[None]:
    """`listener` gets all reports made inside the `with` block, also by other threads.

    It is called by the threads that work, one at a time: it should be quick.
    """
    with _lock:
        _listening.append(listener)
    try:
        yield
    finally:
        with _lock:
            _listening.remove(listener)


@contextmanager
def steps(what: str, total: float) -> Iterator[Callable[[float], None]]:
    """Yields `done(amount)`, to be called from any thread until the amounts are `total`."""
    with _channel(what) as send:
        if send is None:
            yield _silent
            return
        send(Report(what))
        so_far, in_turn = 0.0, Lock()

        def done(amount: float) -> None:
            nonlocal so_far
            with in_turn:  # one after the other, or shares would go back
                so_far += amount
                send(Report(what, min(1.0, so_far / total) if total > 0 else 1.0))

        yield done


@contextmanager
def descent(what: str, wanted: float) -> Iterator[Callable[[float], None]]:
    """Yields `at(residual)`, whose share is that of the digits on the way down to `wanted`."""
    with _channel(what) as send:
        if send is None:
            yield _silent
            return
        send(Report(what))
        first: float | None = None

        def at(residual: float) -> None:
            nonlocal first
            if 0 < residual < float("inf"):
                first = first or residual
                send(Report(what, digits_share(first, residual, wanted)))

        yield at


@contextmanager
def foreseen(what: str, seconds: float) -> Iterator[None]:
    """Something that can report nothing while it lasts, with the time predicted for it."""
    with _channel(what) as send:
        if send is not None:
            send(Report(what, None, seconds))
        yield


def digits_share(first: float, now: float, wanted: float) -> float:
    """How far a number has come on its way down, by its digits; to 0 that is unknown."""
    if not (0 < now < first and 0 < wanted < first):
        return 0.0
    return min(1.0, log(first / now) / log(first / wanted))


@contextmanager
def _channel(what: str) -> Iterator[Listener | None]:
    """The listeners as one; None if there is none, or something else is reporting."""
    if not _listening:
        yield None
        return
    with _lock:
        free = not _reporting
        if free:
            _reporting.append(what)
    if not free:
        yield None
        return

    def send(report: Report) -> None:
        for listener in list(_listening):
            listener(report)

    try:
        yield send
    finally:
        with _lock:
            _reporting.clear()


def _silent(amount: float) -> None:
    """Nobody listens."""

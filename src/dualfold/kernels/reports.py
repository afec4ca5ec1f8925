"""What running code reports to its listeners: how far it has come, and how much work it did.

    with reporting_to(lambda report: print(report.what, report.share)), count_work() as work:
        Isomap().fit(X)
    work["geodesic visits"], work["seconds: certify"]

Progress: loops report the share that is done (`steps`), iterations the share of the digits that
they need (`descent`), and single calls of a library, which report nothing, the time predicted for
them (`long_call`). Work that begins inside other work that reports is silent, so that there is one
report at a time.

Counts (`tally`): products, multiply-adds and visits are the same on a busy machine and a quiet
one; `tests/workflows/test_counts.py` compares them with a baseline, and the benchmarks read the
seconds of the stages. A kernel's call is counted once, not each of its items.

Without a listener a report costs one look at an empty list.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from threading import Lock
from time import perf_counter

from dualfold.kernels.threads import ForkedLock


@dataclass(frozen=True)
class Report:
    """Piece of work that is under way, and the share of it that is done.

    share : None when it begins
    seconds : the time predicted for it, where it will report no share
    """

    what: str
    share: float | None = None
    seconds: float | None = None


Listener = Callable[[Report], None]
_listening: list[Listener] = []
_counters: list[Counter[str]] = []
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
def long_call(what: str, seconds: float) -> Iterator[None]:
    """Something that can report nothing while it lasts, with the time predicted for it."""
    with _channel(what) as send:
        if send is not None:
            send(Report(what, None, seconds))
        yield


def digits_share(first: float, now: float, wanted: float) -> float:
    """Share of the digits by which a number must fall that it has fallen; unknown on a way to 0."""
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
    """Report nothing: there is no listener."""


def tally(what: str, amount: float) -> None:
    """Add to the count of `what` for everybody who listens, from any thread."""
    if _counters:
        with _lock:
            for counts in _counters:
                counts[what] += amount  # type: ignore[assignment]


@contextmanager
def time_stage(stage: str) -> Iterator[None]:
    """Count the seconds spent inside as "seconds: stage"."""
    begin = perf_counter()
    try:
        yield
    finally:
        tally(f"seconds: {stage}", perf_counter() - begin)


@contextmanager
def count_work() -> Iterator[Counter[str]]:
    """All counts made inside the `with` block, also by other threads."""
    counts: Counter[str] = Counter()
    with _lock:
        _counters.append(counts)
    try:
        yield counts
    finally:
        with _lock:
            # By identity: two listeners may have got the same reports.
            _counters[:] = [other for other in _counters if other is not counts]

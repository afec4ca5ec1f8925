"""How far long work has come, told where it is done and heard by whoever asks.

    with hearing(lambda told: print(told.what, told.share)):
        Isomap().fit(X)

Loops tell their share done (`steps`), iterations how many of the digits they need are there
(`descent`), and single calls of a library, which tell nothing, what they were foreseen to take
(`foreseen`). What begins inside something that tells already is silent, so one thing is told at
a time. Without a listener all of it costs one look at an empty list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import log
from threading import Lock

__all__ = ["Told", "descent", "digits_share", "foreseen", "hearing", "steps"]


@dataclass(frozen=True)
class Told:
    """What is being done, and how much of it is done.

    share : None when it begins
    seconds : that it was foreseen to take, where it will tell no share
    """

    what: str
    share: float | None = None
    seconds: float | None = None


Listener = Callable[[Told], None]
_listening: list[Listener] = []
_telling: list[str] = []
_lock = Lock()


@contextmanager
def hearing(listener: Listener) -> Iterator[None]:
    """`listener` gets all that is told inside the `with` block, also by other threads.

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
    with _spoken(what) as tell:
        if tell is None:
            yield _silent
            return
        tell(Told(what))
        so_far, in_turn = 0.0, Lock()

        def done(amount: float) -> None:
            nonlocal so_far
            with in_turn:  # told one after the other, or shares would go back
                so_far += amount
                tell(Told(what, min(1.0, so_far / total) if total > 0 else 1.0))

        yield done


@contextmanager
def descent(what: str, wanted: float) -> Iterator[Callable[[float], None]]:
    """Yields `at(residual)`, whose share is that of the digits on the way down to `wanted`."""
    with _spoken(what) as tell:
        if tell is None:
            yield _silent
            return
        tell(Told(what))
        first: float | None = None

        def at(residual: float) -> None:
            nonlocal first
            if 0 < residual < float("inf"):
                first = first or residual
                tell(Told(what, digits_share(first, residual, wanted)))

        yield at


@contextmanager
def foreseen(what: str, seconds: float) -> Iterator[None]:
    """Something that can tell nothing while it lasts, with the time predicted for it."""
    with _spoken(what) as tell:
        if tell is not None:
            tell(Told(what, None, seconds))
        yield


def digits_share(first: float, now: float, wanted: float) -> float:
    """How far a number has come on its way down, by its digits; to 0 there is no telling."""
    if not (0 < now < first and 0 < wanted < first):
        return 0.0
    return min(1.0, log(first / now) / log(first / wanted))


@contextmanager
def _spoken(what: str) -> Iterator[Listener | None]:
    """The listeners as one; None if there is none, or something else is telling."""
    if not _listening:
        yield None
        return
    with _lock:
        free = not _telling
        if free:
            _telling.append(what)
    if not free:
        yield None
        return

    def tell(told: Told) -> None:
        for listener in list(_listening):
            listener(told)

    try:
        yield tell
    finally:
        with _lock:
            _telling.clear()


def _silent(amount: float) -> None:
    """Nobody listens."""

"""Computations that Ctrl-C ends early, with what they have reached.

Python raises KeyboardInterrupt in the main thread. Where a computation runs in another one, as on
the command line, the thread that waits for it asks it to stop (`request_stop`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Stop:
    """Whether a computation has something to keep (`ready`), and is asked to stop (`asked`)."""

    ready: bool = False
    asked: bool = False


_open: list[Stop] = []


@contextmanager
def stoppable() -> Iterator[Stop]:
    """A computation that looks at `asked` from time to time, once it has said that it is ready."""
    stop = Stop()
    _open.append(stop)
    try:
        yield stop
    finally:
        _open.remove(stop)


def request_stop() -> bool:
    """Ask running computations to stop; False where none is ready, or all were asked before."""
    waiting = [stop for stop in list(_open) if stop.ready and not stop.asked]
    for stop in waiting:
        stop.asked = True
    return bool(waiting)

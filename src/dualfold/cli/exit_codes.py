"""Ctrl-C, and the signals that end a process, are answered at once, whatever is computed.

Python delivers signals to the main thread between two of its own instructions; a
factorisation in C may take minutes. So the work runs in a thread of its own and the main one
only waits: when the signal comes it removes files that are not complete and ends the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn, TypeVar

R = TypeVar("R")


def interruptible(work: Callable[[], R]) -> R:
    """The result of `work`, done in another thread; its exceptions are raised here."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: dict[str, Any] = {}

    def attempt() -> None:
        try:
            outcome["result"] = work()
        except BaseException as error:
            outcome["error"] = error

    for name in ("SIGTERM", "SIGHUP"):  # a closed terminal, a batch system's end of time
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), lambda number, _: end_now(128 + number))
    worker = threading.Thread(target=attempt, daemon=True)
    worker.start()
    while worker.is_alive():
        worker.join(0.2)  # on Windows a wait without end would not hear the signal
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def end_now(code: int) -> NoReturn:
    """End without waiting for threads that are still computing; nothing half-written stays."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    from dualfold.data.atomic_files import discard_unfinished

    discard_unfinished()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)

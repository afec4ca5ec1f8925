"""A lock that a forked process finds open.

A fork copies the memory and one thread. A lock that another thread held at that moment would
stay closed in the new process for ever.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager

__all__ = ["ForkedLock"]

MOMENT = 0.5  # seconds; what is guarded takes microseconds


class ForkedLock(AbstractContextManager[None]):
    """A `threading.Lock`, made anew in each forked process.

    held : a fork waits for it a moment, so that nobody is in the middle of what it guards
    """

    def __init__(self, *, held: bool = False) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)
            if held:
                os.register_at_fork(before=self._wait, after_in_parent=self._go_on)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def _wait(self) -> None:
        self._waited = self._lock.acquire(timeout=MOMENT)

    def _go_on(self) -> None:
        if self._waited:
            self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

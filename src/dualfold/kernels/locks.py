"""A lock that a forked process finds open.

A fork copies the memory and one thread. A lock that another thread held at that moment would
stay closed in the new process for ever.
"""

from __future__ import annotations

import os
import threading
from contextlib import AbstractContextManager

__all__ = ["ForkedLock"]


class ForkedLock(AbstractContextManager[None]):
    """A `threading.Lock`, made anew in each forked process."""

    def __init__(self) -> None:
        self._renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()

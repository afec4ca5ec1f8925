"""Locks that a forked process finds open.

A fork copies the memory and one thread. A lock that another thread held at that moment would
stay closed in the new process for ever.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import AbstractContextManager
from functools import cached_property

FORK_WAIT_SECONDS = 0.5  # what is guarded takes microseconds


class ForkedLock(AbstractContextManager[None]):
    """A `threading.Lock`, made anew in each forked process.

    held : a fork waits for it a moment, so that no thread is in the middle of what it guards
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
        self._waited = self._lock.acquire(timeout=FORK_WAIT_SECONDS)

    def _go_on(self) -> None:
        if self._waited:
            self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *error: object) -> None:
        self._lock.release()


def _renew_cached_properties() -> None:
    """Give cached properties new locks: before Python 3.12 their first reader holds one."""
    modules = [module for name, module in list(sys.modules.items()) if name.startswith("dualfold.")]
    classes = {one for module in modules for one in vars(module).values() if isinstance(one, type)}
    for held in classes:
        for one in vars(held).values():
            if isinstance(one, cached_property):
                one.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork") and hasattr(cached_property(id), "lock"):
    os.register_at_fork(after_in_child=_renew_cached_properties)

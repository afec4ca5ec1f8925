"""Threads: how many there are, how work is divided among them, and when BLAS takes only one.

Kernels and NumPy release Python's lock, so Python threads run them in parallel. Work is
divided into parts that write to different places. The parts do not depend on the number of
threads, except in `in_shares`, whose callers add up one result a share.
"""

from __future__ import annotations

import _thread
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from dualfold.errors import Argument, InvalidInput

Item = TypeVar("Item")
Result = TypeVar("Result")

# Numbers in a tile of rows that is multiplied by a few columns: few enough to be in the cache
# after the shift by the mean (docs/dev/notes/threads.md). Wide data has tiles of at least
# MIN_TILE_ROWS rows, because each tile goes through all of the columns once.
THIN_TILE_NUMBERS = 2**17
MIN_TILE_ROWS = 64
# Up to this many rows BLAS takes one thread without a limit.
MAX_UNLIMITED_ROWS = 64
# Up to this many rows a second thread of LAPACK saves less than it can cost (`lapack_threads`).
MAX_ONE_THREAD_ROWS = 1_500
# More threads than this (or than cores, where these are more) only wait for one another.
MAX_THREADS = 64
FORK_WAIT_SECONDS = 0.5  # what is guarded takes microseconds
# Inside `one_thread`, of the thread (or task) that entered it alone.
_alone: ContextVar[bool] = ContextVar("one thread", default=False)


def thread_count(n_jobs: int | None = None) -> int:
    """Number of threads that `n_jobs` asks for: None and -1 mean every core we may use.

    Inside `one_thread` it is 1, whatever was asked for. No answer depends on it.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral)):
        raise InvalidInput(
            Argument("n_jobs"), f" must be a whole number or None (all cores); it is {n_jobs!r}"
        )
    if _alone.get():
        return 1
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    available = available or 1
    if n_jobs is None or n_jobs == -1:
        return available
    asked = available + 1 + int(n_jobs) if n_jobs < 0 else int(n_jobs)
    return max(1, min(asked, max(available, MAX_THREADS)))


@dataclass(frozen=True)
class Threads:
    """A number of threads, of which the caller is one."""

    count: int

    def map(
        self,
        work: Callable[[Item], Result],
        items: Iterable[Item],
        done: Callable[[float], None] = lambda _: None,
    ) -> list[Result]:
        """The results of `work` on every item, in order; `done` is told how many are ready.

        When one fails, or Ctrl-C interrupts, items that wait are dropped, and those that run
        are waited for: they may write into arrays that the caller gives up. Of several failures
        the first item's is raised, as without threads.
        """
        every = list(items)
        if self.count == 1 or len(every) == 1:
            return list(_one_by_one(work, every, done))
        shared = _Round(work, every)
        try:
            with suppress(RuntimeError):  # no thread is to be had: the caller does it alone
                for _ in range(min(self.count, len(shared.items)) - 1):
                    _thread.start_new_thread(shared.help, ())
            while shared.do_one():
                done(shared.newly_ready())
        finally:
            shared.end()
        if shared.failures:
            raise shared.failures.pop(min(shared.failures))
        if late := shared.newly_ready():
            done(late)
        return shared.results


def _one_by_one(
    work: Callable[[Item], Result], items: list[Item], done: Callable[[float], None]
) -> Iterator[Result]:
    for item in items:
        yield work(item)
        done(1)


class _Round(Generic[Item, Result]):
    """Items that several threads take one after the other.

    Threads are started for each round and never waited for unless they are at work: a fifth of
    what a round of `ThreadPoolExecutor` costs (docs/dev/notes/threads.md).
    """

    def __init__(self, work: Callable[[Item], Result], items: list[Item]) -> None:
        self.work, self.items = work, items
        self.results: list[Any] = [None] * len(items)
        self.failures: dict[int, BaseException] = {}
        self.taken = self.ready = self.helpers = 0
        self.lock, self.helped = threading.Lock(), threading.Lock()

    def do_one(self) -> bool:
        """Do one more item; False where there is none left."""
        with self.lock:
            at, self.taken = self.taken, self.taken + 1
        if at >= len(self.items):
            return False
        try:
            self.results[at] = self.work(self.items[at])
        except BaseException as failure:
            self.failures[at] = failure
            self.drop()
            if not isinstance(failure, Exception):
                raise
        with self.lock:
            self.ready += 1
        return True

    def help(self) -> None:
        """A thread takes items while there are any; one that comes too late touches nothing."""
        with self.lock:
            if self.taken >= len(self.items):
                return
            self.helpers += 1
            if self.helpers == 1:
                self.helped.acquire()
        try:
            with suppress(BaseException):  # kept for the caller
                while self.do_one():
                    pass
        finally:
            with self.lock:
                self.helpers -= 1
                if self.helpers == 0:
                    self.helped.release()

    def newly_ready(self) -> int:
        """Number of items that got ready since this was asked last."""
        with self.lock:
            ready, self.ready = self.ready, 0
        return ready

    def drop(self) -> None:
        with self.lock:
            self.taken = max(self.taken, len(self.items))

    def end(self) -> None:
        """No item is taken any more, and those at work are waited for."""
        self.drop()
        with self.helped:
            pass


def in_threads(
    work: Callable[[Item], Result],
    items: Iterable[Item],
    threads: int,
    done: Callable[[float], None] = lambda _: None,
) -> list[Result]:
    """The results of `work` on every item, in order, by `threads` threads; see `Threads.map`."""
    return Threads(threads).map(work, items, done)


def in_shares(work: Callable[[list[slice]], Result], slices: Iterable[slice]) -> list[Result]:
    """`work` on the slices, divided among threads; the result of each share, in order.

    BLAS keeps to one thread in each: on a busy machine threads inside small products wait
    for one another (docs/dev/notes/threads.md).
    """
    every = list(slices)
    if len(every) < 4:  # two slices a thread at the least
        return [work(every)]
    threads = min(thread_count(), len(every) // 2)
    bounds = np.linspace(0, len(every), threads + 1).astype(int)
    shares = [every[a:b] for a, b in pairwise(bounds)]
    with one_blas_thread() if threads > 1 else nullcontext():
        return in_threads(work, shares, threads)


def row_slices(n: int, height: int) -> Iterator[slice]:
    """Slices of n rows, `height` at a time."""
    return (slice(start, min(n, start + height)) for start in range(0, n, height))


def thin_tiles(X: np.ndarray) -> Iterator[slice]:
    """Slices of rows that hold about `THIN_TILE` numbers."""
    return row_slices(len(X), max(MIN_TILE_ROWS, THIN_TILE_NUMBERS // max(1, X.shape[1])))


class ForkedLock(AbstractContextManager[None]):
    """A `threading.Lock`, made anew in each forked process.

    A fork copies the memory and one thread: a lock that another thread held at that moment would
    stay closed in the new process for ever.

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


class _BlasLibrary(Protocol):
    """Controller of a BLAS library, as threadpoolctl gives it."""

    user_api: str

    def get_num_threads(self) -> int: ...
    def set_num_threads(self, number: int, /) -> None: ...


class _OneThread(AbstractContextManager[None]):
    """The limit, entered by the first and left by the last of all threads that want it.

    If each thread saved and restored the limit, BLAS would keep one thread for ever: the second
    thread saves the limit of the first. A BLAS on OpenMP has a number for each thread instead,
    and each thread restores its own.
    """

    def __init__(self) -> None:
        self.lock, self.inside = ForkedLock(held=True), 0
        self.before: list[tuple[_BlasLibrary, int]] = []
        self.own = threading.local()

    def __enter__(self) -> None:
        mine = [(blas, blas.get_num_threads()) for blas in _blas_libraries(of_threads=True)]
        self.own.before = [*getattr(self.own, "before", []), mine]
        _set([(blas, 1) for blas, _ in mine])
        with self.lock:
            self.inside += 1
            if self.inside == 1:
                shared = _blas_libraries(of_threads=False)
                self.before = [(blas, blas.get_num_threads()) for blas in shared]
                _set([(blas, 1) for blas in shared])

    def __exit__(self, *error: object) -> None:
        _set(self.own.before.pop())
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                _set(self.before)

    def forget(self) -> None:
        """In a forked process the threads that held the limit are not there.

        BLAS keeps to one thread in it: its own locks may be held by threads that are gone, and
        more than one thread would wait for them.
        """
        self.inside = 0


def _blas_libraries(*, of_threads: bool) -> list[_BlasLibrary]:
    """BLAS libraries whose number of threads is set per thread, or those set per process."""
    known = [library for library in _loaded_libraries() if library.user_api == "blas"]
    layers = [getattr(blas, "threading_layer", "") == "openmp" for blas in known]
    return [blas for blas, own in zip(known, layers, strict=True) if own == of_threads]


def _set(numbers: list[tuple[_BlasLibrary, int]]) -> None:
    """Since threadpoolctl 3.8 a thread that is not the last caller is ignored, unless cleared."""
    for blas, number in numbers:
        clear = getattr(blas, "clear_controlling_thread", None)
        if clear is not None:
            clear(force=True)
        blas.set_num_threads(number)
        if clear is not None:
            clear(force=True)


_ONE_BLAS_THREAD = _OneThread()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ONE_BLAS_THREAD.forget)


@cache
def _loaded_libraries() -> list[_BlasLibrary]:
    from threadpoolctl import ThreadpoolController

    libraries: list[_BlasLibrary] = ThreadpoolController().lib_controllers
    return libraries


def one_blas_thread() -> AbstractContextManager[None]:
    """Keep BLAS to the calling thread inside a `with` block.

    Products with tall, thin matrices are bound by memory: a second thread gains little
    on an idle machine and costs twentyfold on a busy one (docs/dev/notes/threads.md).
    """
    return _ONE_BLAS_THREAD


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep our kernels and BLAS to the calling thread: for tasks that run side by side.

    Sums that are divided among threads then have one order, so the bits do not depend on the
    number of cores.
    """
    token = _alone.set(True)
    try:
        with _ONE_BLAS_THREAD:
            yield
    finally:
        _alone.reset(token)


def lapack_threads(rows: int) -> AbstractContextManager[None]:
    """Limit of LAPACK: a single thread for a small square matrix, all of them for a large one.

    BLAS takes one without a limit for the smallest; to find BLAS would take longer than the work.

    A second thread saves a few hundredths of a second on 784 rows, and costs seconds
    beside two other busy processes. It also waits for more work in a busy loop, and delays what
    runs next.
    """
    return one_blas_thread() if MAX_UNLIMITED_ROWS < rows <= MAX_ONE_THREAD_ROWS else nullcontext()

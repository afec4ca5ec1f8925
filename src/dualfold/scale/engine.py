"""Tasks over the tiles of a table: run by Dask, each on one thread, added in one order.

Dask is the engine: the scheduler that is set (a `distributed.Client`, `dask.config`), else
threads of this process. What is here says how a task behaves and what its failure means.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from typing import Any

from dualfold.errors import DualfoldError, InvalidInput, MissingDependency
from dualfold.kernels.reports import steps
from dualfold.kernels.threads import one_thread

# Bytes of partial results that wait to be added together, at most.
MAX_MERGED_BYTES = 2**26
MAX_MERGED_PARTS = 16
# Between two reports of the progress of a cluster.
PROGRESS_SECONDS = 1.0


class SchedulerLost(DualfoldError, ConnectionError):
    """The Dask scheduler or its workers went away; nothing was written.

    Examples
    --------
    >>> from dualfold.scale import SchedulerLost
    >>> issubclass(SchedulerLost, ConnectionError)
    True
    """


class TileFailed(InvalidInput):
    """A tile of the table could not be read or used; the message names it.

    Examples
    --------
    >>> from dualfold.scale import TileFailed
    >>> issubclass(TileFailed, ValueError)
    True
    """


class OneTask:
    """`work` as a task: one thread of ours and of BLAS, and the tile's name in its errors.

    work : called with the rows of a tile
    """

    def __init__(self, work: Callable[..., Any]) -> None:
        self.work = work

    def __call__(self, name: str, rows: Any, *more: Any) -> Any:
        """The result of `work` on the rows (None of none); `name` is the tile's, for errors."""
        if not rows.shape[0]:
            return None
        try:
            with one_thread():
                return self.work(rows, *more)
        except TileFailed:
            raise
        except (InvalidInput, ValueError, TypeError) as error:
            raise TileFailed(f"{name}: {error}") from error


def merge_parts(merge: Callable[[Any, Any], Any], parts: Sequence[Any]) -> Any:
    """The parts added from left to right; None is nothing."""
    total: Any = None
    for part in parts:
        if part is not None:
            total = part if total is None else merge(total, part)
    return total


def in_order(parts: Sequence[Any], merge: Callable[[Any, Any], Any], result_bytes: int) -> Any:
    """Delayed parts added as a tree whose shape depends on their number alone.

    So do the bits of the sum: neither the workers nor the order in which they finish count.
    """
    together = max(2, min(MAX_MERGED_PARTS, MAX_MERGED_BYTES // max(1, result_bytes)))
    add = require_module("dask").delayed(merge_parts, pure=False)
    parts = list(parts)
    while len(parts) > 1:
        groups = [parts[at : at + together] for at in range(0, len(parts), together)]
        parts = [add(merge, group) if len(group) > 1 else group[0] for group in groups]
    return parts[0]


def compute(what: str, *collections: Any, threads: int | None = None) -> tuple[Any, ...]:
    """The values of Dask collections by the scheduler that is set; `what` names the progress bar.

    threads : of this process, where no scheduler is set
    """
    dask = require_module("dask")
    client = active_client()
    if client is not None:
        with translate_failures(), steps(what, 1) as done:
            return _from_cluster(client, collections, done)
    with translate_failures(), _report_tasks(what):
        if dask.config.get("scheduler", None) is None:
            # BLAS is looked for now: in a thread of its own, beside one that imports a library,
            # the search and the import could wait for each other.
            with one_thread():
                pass
            more = {} if threads is None else {"num_workers": threads}
            return tuple(dask.compute(*collections, scheduler=own_threads(), **more))
        return tuple(dask.compute(*collections))


def own_threads() -> Any:
    """The scheduler of threads in this process; by its name Dask would import `distributed`."""
    return require_module("dask.threaded").get


def active_client() -> Any:
    """The `distributed.Client` that computes, or None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        client = distributed.get_client()
    except ValueError:
        return None
    return client if require_module("dask").base.get_scheduler() == client.get else None


def _from_cluster(
    client: Any, collections: Sequence[Any], done: Callable[[float], None]
) -> tuple[Any, ...]:
    """Results of a cluster; what goes wrong on the way, Ctrl-C too, cancels the tasks.

    done : called with the share that was done since, as the scheduler counts it
    """
    futures = client.compute(list(collections))
    most, share = 1, 0.0
    try:
        while not all(future.done() for future in futures):
            with contextlib.suppress(TimeoutError):
                sys.modules["distributed"].wait(futures, timeout=PROGRESS_SECONDS)
                break
            left = client.run_on_scheduler(_tasks_left)
            most = max(most, left)
            done(max(0.0, 1 - left / most - share))
            share = max(share, 1 - left / most)
        return tuple(client.gather(futures))
    except BaseException:
        with contextlib.suppress(Exception):
            client.cancel(futures, force=True)
        raise


def _tasks_left(dask_scheduler: Any = None) -> int:
    """On the scheduler: our tasks that are not done."""
    prefix = dask_scheduler.task_prefixes.get(OneTask.__name__)
    states: dict[str, int] = getattr(prefix, "states", {})  # no promise of distributed's
    return sum(states.get(name, 0) for name in ("waiting", "queued", "processing", "no-worker"))


@contextlib.contextmanager
def translate_failures() -> Iterator[None]:
    """Raise in our words what a lost scheduler, a lost worker or a full one raise."""
    try:
        yield
    except Exception as error:
        distributed = sys.modules.get("distributed")
        if distributed is None:
            raise
        if isinstance(error, distributed.KilledWorker):
            raise SchedulerLost(
                f"a task ended its worker again and again ({error}). Most often it needs more "
                "memory than the worker has: make the chunks smaller (X.rechunk, X.repartition)"
            ) from error
        lost = (distributed.CancelledError, distributed.comm.CommClosedError, TimeoutError)
        if isinstance(error, lost):
            raise SchedulerLost(
                f"the Dask scheduler does not answer any more ({type(error).__name__}: {error}). "
                "Nothing was written. Start it, make a new distributed.Client, and fit again"
            ) from error
        raise


@contextlib.contextmanager
def _report_tasks(what: str) -> Iterator[None]:
    """Progress: tasks that are done, of those that the local scheduler knows."""
    callback: Any = require_module("dask.callbacks").Callback
    known = {"total": 1}
    with steps(what, 1) as done:

        class Counting(callback):
            def _start_state(self, dsk: Any, state: Any) -> None:
                known["total"] = max(1, len(state["waiting"]) + len(state["ready"]))

            def _posttask(self, *task: Any) -> None:
                done(1 / known["total"])

        with Counting():
            yield


def require_module(module: str) -> Any:
    """A module of an optional package, or how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependency(
            f"tables in tiles need the package {package}, and it cannot be imported ({error}): "
            "pip install 'dualfold[dask]'"
        ) from error

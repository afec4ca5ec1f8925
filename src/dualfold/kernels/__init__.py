"""The compiled loops, called through ctypes (which releases the GIL).

A kernel is plain C over arrays the caller owns. `kernel(name, result, *arguments)`
declares one; arrays are checked for type and contiguity at each call.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.errors import DualfoldError

__all__ = ["kernel", "lapack_threads", "one_blas_thread", "thread_count"]

# Up to this many rows BLAS takes one thread without being told.
MOST_ALONE = 64

_SCALARS: dict[str, Any] = {
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


@cache
def _library() -> ctypes.CDLL:
    """The library compiled for the highest instruction level this machine has."""
    built = sorted((Path(__file__).parent / "lib").glob("dualfold-*"))
    if not built:
        raise DualfoldError(
            "the compiled kernels are missing from this installation of dualfold; "
            "reinstall it (pip install .), or run `python build_kernels.py` in a source tree"
        )
    level = ctypes.CDLL(str(built[0])).instruction_level()
    wanted = os.environ.get("DUALFOLD_LEVEL")  # for tests: a lower level than the best
    usable = [path for path in built if not path.stem[-1].isdigit() or int(path.stem[-1]) <= level]
    if wanted:
        usable = [path for path in usable if path.stem.endswith(wanted)] or usable
    return ctypes.CDLL(str(usable[-1]))


def kernel(name: str, result: str | None, *arguments: str) -> Callable[..., Any]:
    """The C function `name`; arguments are "int64", … or "float32[]" for an array.

    "float32[]?" also takes None (a null pointer).
    """
    converters: list[Any] = []
    for argument in arguments:
        if "[]" not in argument:
            converters.append(_SCALARS[argument])
            continue
        pointer = np.ctypeslib.ndpointer(dtype=argument.split("[")[0], flags="C_CONTIGUOUS")
        converters.append(_optional(pointer) if argument.endswith("?") else pointer)

    @cache
    def function() -> Any:
        found = getattr(_library(), name)
        found.restype = _SCALARS[result] if result else None
        found.argtypes = converters
        return found

    def call(*values: Any) -> Any:
        return function()(*values)

    call.__name__ = name
    return call


def _optional(pointer: Any) -> Any:
    class Optional(pointer):
        @classmethod
        def from_param(cls, value: Any) -> Any:
            return None if value is None else super().from_param(value)

    return Optional


class _OneThread(AbstractContextManager[None]):
    """The limit, entered by the first and left by the last of all threads that want it.

    Each saving and restoring for itself would leave BLAS with one thread for ever: who comes
    second saves the first one's limit.
    """

    def __init__(self) -> None:
        self.lock, self.inside = threading.Lock(), 0
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            self.inside += 1
            if self.inside == 1:
                self.limit = _blas().limit(limits=1, user_api="blas").__enter__()

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.limit.__exit__(*error)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep BLAS to the calling thread inside a `with` block.

    Products with tall, thin matrices are bound by memory: a second thread gains little
    on an idle machine and costs twentyfold on a busy one (Q·S, 100,000×20 by 20×3: 1.0 ms
    with two threads, 1.6 ms with one, 40 ms with two beside another busy process).
    """
    return _ONE


def lapack_threads(rows: int) -> AbstractContextManager[Any]:
    """One thread for a factorisation of a small square matrix, all of them for a large one.

    BLAS takes one by itself for the smallest; finding it (10 ms once a process) would take
    longer than the work.

    A second thread saves a few hundredths of a second on 784 rows, and cost seconds
    beside two other busy processes. It also waits for more work for some hundredths,
    in a busy loop, and holds up what runs next.
    """
    return one_blas_thread() if MOST_ALONE < rows <= 1_500 else nullcontext()


_ONE = _OneThread()


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def thread_count(n_jobs: int | None = None) -> int:
    """How many threads `n_jobs` asks for: None and -1 mean every core we may use."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    available = available or 1
    if n_jobs is None or n_jobs == -1:
        return available
    return max(1, available + 1 + n_jobs) if n_jobs < 0 else max(1, n_jobs)

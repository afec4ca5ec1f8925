"""Progress of a fit: through scikit-learn's callbacks where it has them, and `verbose`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from time import perf_counter
from typing import Any

from dualfold.kernels.reports import tally

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""


# `with stage("neighbours"):` around a step of a fit.
Stage = Callable[[str], AbstractContextManager[None]]


@contextmanager
def fit_task(estimator: Any, X: Any) -> Iterator[None]:
    """The whole fit, as the root task of the callbacks."""
    if not hasattr(estimator, "_init_callback_context"):
        yield
        return
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator, X=X)
    yield
    root.call_on_fit_task_end(estimator=estimator, X=X)


@contextmanager
def fit_stage(estimator: Any, name: str) -> Iterator[None]:
    """One step of it: told to callbacks and, if the estimator is verbose, to standard error."""
    begin = perf_counter()
    root = getattr(estimator, "_callback_fit_ctx", None)
    task = None if root is None else root.subcontext(task_name=name)
    if task is not None:
        task.call_on_fit_task_begin(estimator=estimator)
    try:
        yield
        # As in scikit-learn, what fails does not end: callbacks are only torn down.
        if task is not None:
            task.call_on_fit_task_end(estimator=estimator)
    finally:
        seconds = perf_counter() - begin
        tally(f"seconds: {name}", seconds)
        if getattr(estimator, "verbose", False):
            print(f"[{type(estimator).__name__}] {name}: {seconds:.2f} s", file=sys.stderr)

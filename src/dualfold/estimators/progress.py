"""Progress of a fit: through scikit-learn's callbacks where it has them, and `verbose`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from dualfold.kernels.reports import tally

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""


class TellsProgress(CallbackSupportMixin):
    """`with self._stage("neighbours"):` reports to callbacks and, if verbose, to standard error."""

    @contextmanager
    def _telling(self, X: Any) -> Iterator[None]:
        """The whole fit, as the root task of the callbacks."""
        if not hasattr(self, "_init_callback_context"):
            yield
            return
        root = self._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=self, X=X)
        yield
        root.call_on_fit_task_end(estimator=self, X=X)

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        """One stage of it."""
        begin = perf_counter()
        root = getattr(self, "_callback_fit_ctx", None)
        task = None if root is None else root.subcontext(task_name=name)
        if task is not None:
            task.call_on_fit_task_begin(estimator=self)
        try:
            yield
            # As in scikit-learn, what fails does not end: callbacks are only torn down.
            if task is not None:
                task.call_on_fit_task_end(estimator=self)
        finally:
            seconds = perf_counter() - begin
            tally(f"seconds: {name}", seconds)
            if getattr(self, "verbose", False):
                print(f"[{type(self).__name__}] {name}: {seconds:.2f} s", file=sys.stderr)

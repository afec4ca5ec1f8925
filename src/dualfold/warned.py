"""Warnings that are said once for a search of parameters, not once for each of its folds."""

from __future__ import annotations

import sys
import warnings
from typing import Any
from weakref import WeakKeyDictionary

__all__ = ["warn"]

# What was said during each search or cross-validation that is running.
_SAID: WeakKeyDictionary[Any, dict[type[Warning], Warning]] = WeakKeyDictionary()


def warn(warning: Warning, *, stacklevel: int) -> None:
    """As `warnings.warn`; but a kind of warning is said once for all folds of a search.

    Folds differ in the numbers of a message, so that Python would show one for each fold and
    setting. Where scikit-learn's model selection calls, the first of a kind is enough.

    warning : an instance, whose class is the kind
    stacklevel : as for `warnings.warn`, counted from the caller
    """
    search = _search()
    if search is not None:
        # One step, so that of two folds in threads only one is the first.
        first = _SAID.setdefault(search, {}).setdefault(type(warning), warning)
        if first is not warning:
            return
    warnings.warn(warning, stacklevel=stacklevel + 1)


def _search() -> Any:
    """The outermost running search of scikit-learn, by the pool that it made for itself."""
    found, frame = None, sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn.model_selection"):
            # `parallel` is made in each call of fit or cross_validate and dies with it
            found = frame.f_locals.get("parallel", found)
        frame = frame.f_back  # type: ignore[assignment]
    return found

"""The methods as scikit-learn estimators, by the names of `dualfold.descriptions`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dualfold.descriptions import ESTIMATORS

__all__ = sorted(ESTIMATORS)


def __getattr__(name: str) -> Any:
    if name in ESTIMATORS:
        return getattr(import_module(f"dualfold.estimators.{ESTIMATORS[name]}"), name)
    raise AttributeError(f"module 'dualfold.estimators' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

"""Each method in a file of its own: the problem that it states, and its estimator.

(A random projection optimises nothing, and says so.)
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dualfold.descriptions import FUNCTION_MODULES

__all__ = sorted(FUNCTION_MODULES)


def __getattr__(name: str) -> Any:
    if name in FUNCTION_MODULES:
        return getattr(import_module(f"dualfold.methods._{FUNCTION_MODULES[name]}"), name)
    raise AttributeError(f"module 'dualfold.methods' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

"""Each method in a file of its own: the problem that it states, and its estimator.

(A random projection optimises nothing, and says so.)

What they share:

graph : the neighbours, from `dualfold.graph`
n_components : number of coordinates, d
ridge : what steadies reconstruction weights, as a share of the local trace
weights, width : of edges: "heat" exp(−‖x−y‖²/width²) (None: the root mean square length),
    "binary" or "density"
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

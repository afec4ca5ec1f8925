"""Each method in a file of its own: the problem that it states, and its estimator.

(A random projection optimises nothing, and says so.)
"""

from __future__ import annotations

from dualfold.lazy_names import lazy_names
from dualfold.methods.descriptions import FUNCTION_MODULES

__all__ = sorted(FUNCTION_MODULES)
__getattr__, __dir__ = lazy_names(
    __name__,
    {name: f"_{module}" for name, module in FUNCTION_MODULES.items()},
    rooms=("maps", "points"),
)

"""Out-of-sample maps: rules that place new rows, and that files can hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.lazy_names import lazy_names

if TYPE_CHECKING:
    from dualfold.methods.maps.linear_map import LinearMap
    from dualfold.methods.maps.random_maps import random_map

__all__ = [
    "LinearMap",
    "random_map",
]
# Loaded when first used: most estimators need one kind of map.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "LinearMap": "linear_map",
        "random_map": "random_maps",
    },
)

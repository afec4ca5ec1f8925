"""Out-of-sample maps: rules that place new rows, and that files can hold."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualfold.maps.linear_map import LinearMap
    from dualfold.maps.random_maps import random_map

__all__ = [
    "LinearMap",
    "random_map",
]
# Loaded when first used: most estimators need one kind of map.
_NAMES_BY_MODULE = {
    "linear_map": ("LinearMap",),
    "random_maps": ("random_map",),
}
_MODULE_OF = {name: home for home, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'dualfold.maps' has no attribute {name!r}")
    return getattr(import_module(f"dualfold.maps.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__

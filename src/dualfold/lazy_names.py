"""Names of a package that are loaded when first used, so that importing it stays light."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, module_of: Mapping[str, str], rooms: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of a package.

    `module_of` says in which module each name is; `rooms` are packages inside, loaded by name.
    """

    def load(name: str) -> Any:
        if name in rooms:
            return import_module(f"{package}.{name}")
        if name not in module_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{module_of[name]}"), name)

    return load, lambda: sorted([*module_of, *rooms])

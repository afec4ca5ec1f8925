"""The packages that tables larger than memory need, asked for when the first one comes."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dualfold.errors import MissingDependency


def require_module(module: str) -> Any:
    """A module of an optional package, or how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingDependency(
            f"tables in tiles need the package {package}, and it cannot be imported ({error}): "
            "pip install 'dualfold[dask]'"
        ) from error

"""The compiled loops, called through ctypes (which releases the GIL).

A kernel is plain C over arrays the caller owns. `kernel(name, result, *arguments)`
declares one; arrays are checked for type and contiguity at each call.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.errors import DualfoldError

__all__ = ["kernel"]

_SCALARS: dict[str, Any] = {
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
}


@cache
def _library() -> ctypes.CDLL:
    """The library compiled for the highest instruction level this machine has."""
    built = sorted((Path(__file__).parent / "lib").glob("dualfold-*"))
    if not built:
        raise DualfoldError(
            "the compiled kernels are missing from this installation of dualfold; "
            "reinstall it (pip install .), or run `python build_kernels.py` in a source tree"
        )
    level = ctypes.CDLL(str(built[0])).instruction_level()
    wanted = os.environ.get("DUALFOLD_LEVEL")  # for tests: a lower level than the best
    usable = [path for path in built if not path.stem[-1].isdigit() or int(path.stem[-1]) <= level]
    if wanted:
        usable = [path for path in usable if path.stem.endswith(wanted)] or usable
    return ctypes.CDLL(str(usable[-1]))


def kernel(name: str, result: str | None, *arguments: str) -> Callable[..., Any]:
    """The C function `name`; arguments are "int64", … or "float32[]" for an array.

    "float32[]?" also takes None (a null pointer).
    """
    converters: list[Any] = []
    for argument in arguments:
        if "[]" not in argument:
            converters.append(_SCALARS[argument])
            continue
        pointer = np.ctypeslib.ndpointer(dtype=argument.split("[")[0], flags="C_CONTIGUOUS")
        converters.append(_optional(pointer) if argument.endswith("?") else pointer)

    @cache
    def function() -> Any:
        found = getattr(_library(), name)
        found.restype = _SCALARS[result] if result else None
        found.argtypes = converters
        return found

    def call(*values: Any) -> Any:
        return function()(*values)

    call.__name__ = name
    return call


def _optional(pointer: Any) -> Any:
    class Optional(pointer):
        @classmethod
        def from_param(cls, value: Any) -> Any:
            return None if value is None else super().from_param(value)

    return Optional

"""The compiled loops, called through ctypes (which releases the GIL).

A kernel is plain C over arrays the caller owns. `kernel(name)` is the C function of that
name and `shared(name)` a constant of the C sources. Types and constants are stated in C
alone: the compiled library states them, so Python cannot hold another opinion. This is the only
entry point to C. Each call is checked: the number of arguments; of arrays the type, contiguity,
whether they may be written, and what they must hold (`conditions.py`).
"""

from __future__ import annotations

import ctypes
import os
import platform
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dualfold.errors import DualfoldError
from dualfold.kernels.conditions import checker

_SCALAR_TYPES: dict[str, Any] = {
    "int32": ctypes.c_int32,
    "int64": ctypes.c_int64,
    "float32": ctypes.c_float,
    "float64": ctypes.c_double,
    "void": None,
}
_REBUILD_MESSAGE = (
    "reinstall dualfold (pip install .), or run `python build_kernels.py` in a source tree"
)


@cache
def _library() -> ctypes.CDLL:
    """The library compiled for the highest instruction level this machine has."""
    built = sorted((Path(__file__).parent / "lib").glob("dualfold-*"))
    if not built:
        raise DualfoldError(
            f"the compiled kernels are missing from this installation, and dualfold does not work "
            f"without them; {_REBUILD_MESSAGE}"
        )
    level = _open_library(built[0]).instruction_level()
    wanted = os.environ.get("DUALFOLD_LEVEL")  # for tests: a lower level than the best
    usable = [path for path in built if not path.stem[-1].isdigit() or int(path.stem[-1]) <= level]
    if wanted:
        usable = [path for path in usable if path.stem.endswith(wanted)] or usable
    return _open_library(usable[-1])


def _open_library(path: Path) -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(path))
    except OSError as error:
        raise DualfoldError(
            f"the compiled kernels ({path.name}) do not load on this machine, "
            f"{platform.system()} on {platform.machine()}: {error}. They were made for another "
            f"one, or are damaged; {_REBUILD_MESSAGE}"
        ) from error


@cache
def interface() -> tuple[str, dict[str, tuple[str, ...]]]:
    """The fingerprint of the C sources, and of each function the result and the arguments.

    Names, types and conditions of the arguments were read from the C prototypes when the
    library was built (`build_kernels.py`).
    """
    ask = _library().interface
    ask.restype = ctypes.c_char_p
    fingerprint, *lines = ask().decode().splitlines()
    words = (line.split() for line in lines)
    return fingerprint, {name: tuple(types) for name, *types in words}


def c_constant(name: str) -> int:
    """The constant that the C sources share under this name, `SHARED(name)`."""
    try:
        return int(ctypes.c_int64.in_dll(_library(), f"shared_{name}").value)
    except ValueError as error:
        raise _missing_symbol("constant", name) from error


def _function(name: str) -> tuple[Any, list[str], Callable[[Sequence[object]], None]]:
    """The C function, its arguments as they were stated, and what refuses values."""
    if name not in interface()[1]:
        raise _missing_symbol("function", name)
    result, *arguments = interface()[1][name]
    function = _library()[name]  # an object of its own: no other caller changes its types
    function.restype = _SCALAR_TYPES[result]
    function.argtypes = [_converter(argument.split(":")[1]) for argument in arguments]
    return function, arguments, checker(name, arguments, c_constant)


def kernel(name: str) -> Callable[..., Any]:
    """The C function `name`, looked up at its first call."""
    looked_up = cache(lambda: _function(name))

    def call(*values: object) -> Any:
        function, arguments, check = looked_up()
        _refuse_count(name, len(arguments), len(values))
        check(values)
        return function(*values)

    call.__name__ = name
    return call


def kernel_in_shares(name: str) -> Callable[..., Callable[..., Any]]:
    """The C function `name` for work in shares, which differ in the first numbers alone.

    It takes what all shares read and write, checks it once, and returns a function of those
    numbers. If each share checked them, the same arrays would be checked again and again, in
    threads that wait for one another (docs/dev/notes/kernels.md).
    """
    looked_up = cache(lambda: _function(name))

    def call(*common: object) -> Callable[..., Any]:
        function, arguments, check = looked_up()
        own = len(arguments) - len(common)
        if own < 1 or any("[]" in argument for argument in arguments[:own]):
            raise TypeError(f"the kernel {name} does not end in {len(common)} arguments for all")
        check((0,) * own + common)

        def share(*numbers: int) -> object:
            _refuse_count(name, own, len(numbers))
            return function(*numbers, *common)

        return share

    call.__name__ = name
    return call


def _refuse_count(name: str, wanted: int, given: int) -> None:
    if given != wanted:  # ctypes would pass the ones too many, and C read others
        raise TypeError(f"the kernel {name} takes {wanted} arguments; {given} were given")


def kernels_by_dtype(name: str) -> dict[np.dtype[Any], Callable[..., Any]]:
    """The kernels name32 and name64, by the type of the numbers that they take."""
    return {np.dtype(f"float{bits}"): kernel(f"{name}{bits}") for bits in (32, 64)}


def _converter(argument: str) -> Any:
    """ "float32" is a number, "float32[]" an array, "[]=" one that is written, "?" or None."""
    dtype, array, rest = argument.partition("[]")
    if not array:
        return _SCALAR_TYPES[dtype]
    return _array(np.dtype(dtype), written="=" in rest, optional="?" in rest)


@cache  # to make a class takes longer than many a kernel
def _array(dtype: np.dtype[Any], *, written: bool, optional: bool) -> type:
    """The type that gives ctypes an array's address, if C may use the array.

    NumPy's `ndpointer` does the same and takes twice as long (docs/dev/notes/kernels.md).
    """

    class Array:
        @classmethod
        def from_param(cls, value: object) -> ctypes.c_void_p | None:
            if value is None and optional:
                return None
            if not isinstance(value, np.ndarray) or value.dtype != dtype:
                raise TypeError(f"array must have data type {dtype}")
            if not value.flags.c_contiguous:
                raise TypeError("array must be C-contiguous")
            if written and not value.flags.writeable:
                raise TypeError("array must be writeable")
            return ctypes.c_void_p(value.ctypes.data)

    return Array


def _missing_symbol(what: str, name: str) -> DualfoldError:
    return DualfoldError(f"the compiled kernels have no {what} {name}; {_REBUILD_MESSAGE}")

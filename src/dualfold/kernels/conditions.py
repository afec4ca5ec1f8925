"""What the arrays of a kernel must hold, checked before C reads or writes them.

The conditions stand in the C prototypes (`kernels.h`): how many entries an array has at least,
the limit that its entries stay below, and whether they rise. An array that was cut, altered or
came from a damaged file is refused here in a sentence, where C would leave the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any

import numpy as np

from dualfold.errors import InvalidInput


@dataclass(frozen=True)
class Condition:
    """Of one array: its place among the arguments, and what it must hold."""

    place: int
    name: str
    holds: CodeType
    below: CodeType | None
    rising: bool


def conditions(arguments: Sequence[str]) -> list[Condition]:
    """Those that the arguments of a prototype state ("name:type:holds:below:rising")."""
    found = []
    for place, argument in enumerate(arguments):
        name, _, *stated = argument.split(":")
        if stated:
            holds, below, rising = stated
            limit = _compiled(below) if below else None
            found.append(Condition(place, name, _compiled(holds), limit, bool(rising)))
    return found


def checker(
    kernel: str, arguments: Sequence[str], constant: Callable[[str], int]
) -> Callable[[Sequence[Any]], None]:
    """A function that refuses values against the conditions; `constant` knows C's constants."""
    names = [argument.partition(":")[0] for argument in arguments]
    wanted = conditions(arguments)
    codes = [code for one in wanted for code in (one.holds, one.below) if code]
    used = {name for code in codes for name in code.co_names} - {*names, "COUNT"}
    known: dict[str, Any] = {name: constant(name) for name in used}
    known |= {"COUNT": np.size, "__builtins__": {}}

    def check(values: Sequence[Any]) -> None:
        given = dict(zip(names, values, strict=True))
        for one in wanted:
            array = values[one.place]
            if not isinstance(array, np.ndarray):
                continue  # None where it may be; anything else is refused by its type
            try:
                entries = int(eval(one.holds, known, given))
                limit = None if one.below is None else int(eval(one.below, known, given))
            except ZeroDivisionError:  # rows of no columns: nothing of them is read
                continue
            except IndexError:  # an array that says how long another is ends too early
                entries, limit = array.size + 1, None
            _refuse(kernel, one, array, entries, limit)

    return check


def _refuse(
    kernel: str, one: Condition, array: np.ndarray, entries: int, limit: int | None
) -> None:
    if not 0 <= entries <= array.size:
        raise _damaged(kernel, one, f"has {array.size} entries where {entries} are needed")
    some = array.ravel()[:entries]
    if not entries:
        return
    if limit is not None:
        # Read as numbers without a sign, those below 0 are the largest: one pass finds both.
        whole = some.view(np.uint32 if some.dtype == np.int32 else np.uint64)
        if int(whole.max()) >= limit:
            raise _damaged(kernel, one, f"has entries outside of 0 to {limit - 1}")
    if one.rising and not (some[0] >= 0 and bool(np.all(some[1:] >= some[:-1]))):
        raise _damaged(kernel, one, "has entries that do not rise from 0 on")


def _damaged(kernel: str, one: Condition, what: str) -> InvalidInput:
    return InvalidInput(
        f"the array {one.name!r} of {kernel} {what}: a sparse matrix, a graph or a list of rows "
        "was damaged or altered; make it again"
    )


def _compiled(text: str) -> CodeType:
    """A C expression of whole numbers, whose / is Python's //."""
    return compile(text.replace("/", "//"), "<prototype>", "eval")

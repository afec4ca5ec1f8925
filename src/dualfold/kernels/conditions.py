"""What the arrays of a kernel must hold, checked before C reads or writes them.

The conditions stand in the C prototypes (`kernels.h`): how many entries an array has at least,
the limit that its entries stay below, and whether they rise. An array that was cut, altered or
came from a damaged file is refused here in a sentence, where C would leave the array.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dualfold.errors import InvalidInput

# A name that is no attribute of another.
WORD = re.compile(r"(?<![.\w])[A-Za-z_]\w*")


@dataclass(frozen=True)
class Condition:
    """Condition on one array argument: its index among the arguments, and what it must hold.

    holds, below : expressions of the arguments; below is "" where there is no limit
    """

    place: int
    name: str
    holds: str
    below: str
    rising: bool

    def expression(self) -> str:
        """All of it as one expression, true where the array fits."""
        parts = [f"0 <= ({self.holds}) <= {self.name}.size"]
        if self.below:
            parts.append(f"BELOW({self.name}, {self.holds}, {self.below})")
        if self.rising:
            parts.append(f"RISES({self.name}, {self.holds})")
        return f"({self.name} is None or {' and '.join(parts)})"


def conditions(arguments: Sequence[str]) -> list[Condition]:
    """Conditions that the arguments of a prototype state ("name:type:holds:below:rising")."""
    found = []
    for place, argument in enumerate(arguments):
        name, _, *stated = argument.split(":")
        if stated:  # of whole numbers, whose / is Python's //
            holds, below, rising = (text.replace("/", "//") for text in stated)
            found.append(Condition(place, name, holds, below, bool(rising)))
    return found


def checker(
    kernel: str, arguments: Sequence[str], constant: Callable[[str], int]
) -> Callable[[Sequence[object]], None]:
    """A function that refuses values against the conditions; `constant` knows C's constants.

    All conditions are one compiled expression, because kernels are called thousands of times for
    small work. Where it is not true, or has no value, they are checked one by one.
    """
    names = [argument.partition(":")[0] for argument in arguments]
    wanted = conditions(arguments)
    if not wanted:
        return lambda values: None
    every = " and ".join(one.expression() for one in wanted)
    known: dict[str, object] = {"COUNT": np.size, "BELOW": _below, "RISES": _rises}
    words = {
        word for one in wanted for word in re.findall(r"[A-Za-z]\w*", f"{one.holds} {one.below}")
    }
    known |= {word: constant(word) for word in words - {*names, *known}}
    known["__builtins__"] = {}
    # An argument may have a name that means something to Python ("from").
    text = f"lambda {', '.join(names)}: {every}"
    own = set(names)
    fits = eval(WORD.sub(lambda word: word[0] + "_" * (word[0] in own), text), known)

    def check(values: Sequence[object]) -> None:
        try:
            if fits(*values):
                return
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            pass
        given = dict(zip(names, values, strict=True))
        for condition in wanted:
            array = values[condition.place]
            if isinstance(array, np.ndarray):  # anything else is refused by its type
                _refuse(kernel, condition, array, known, given)

    return check


def _refuse(
    kernel: str,
    one: Condition,
    array: np.ndarray,
    known: dict[str, object],
    given: dict[str, object],
) -> None:
    """In words, unless the array fits."""
    try:
        entries = int(eval(one.holds, known, given))
        limit = int(eval(one.below, known, given)) if one.below else None
    except ZeroDivisionError:  # rows of no columns: nothing of them is read
        return
    except IndexError:  # an array that says how long another is ends too early
        entries, limit = array.size + 1, None
    what = ""
    if not 0 <= entries <= array.size:
        what = f"has {array.size} entries where {entries} are needed"
    elif limit is not None and not _below(array, entries, limit):
        what = f"has entries outside of 0 to {limit - 1}"
    elif one.rising and not _rises(array, entries):
        what = "has entries that do not rise from 0 on"
    if what:
        raise InvalidInput(
            f"the array {one.name!r} of {kernel} {what}: a sparse matrix, a graph or a list of "
            "rows was damaged or altered; make it again"
        )


def _below(array: np.ndarray, entries: int, limit: int) -> bool:
    """Whether the first entries are in 0 … limit − 1.

    Read as numbers without a sign, those below 0 are the largest: one pass finds both.
    """
    some = array.ravel()[:entries].view(np.uint32 if array.dtype == np.int32 else np.uint64)
    return not entries or int(np.maximum.reduce(some)) < limit


def _rises(array: np.ndarray, entries: int) -> bool:
    """Whether none of the first entries is negative or smaller than the one before it."""
    some = array.ravel()[:entries]
    return not entries or bool(some[0] >= 0 and np.logical_and.reduce(some[1:] >= some[:-1]))

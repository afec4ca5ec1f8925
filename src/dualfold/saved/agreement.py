"""Whether a stored map is the one that its data and its judged vectors lead to, part by part."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.saved.doubts import SAME
from dualfold.saved.parts import Parts

# Parts that come from the answer are known to `SAME` of the largest entry of their column.
# All others are copied from the data or computed from it alone, entry by entry.
FROM_ANSWER = {"components", "directions", "mean_squares", "points", "values"}
FROM_ANSWER |= {"times", "over", "offsets"}
COPIED = 1e-9
# Means of a linear map are compared by where they put the data: 0 has no relative error.
ELSEWHERE = {"mean"}


def disagreements(mine: Parts, stored: Parts) -> list[str]:
    """In words, what of a `stored` map differs from mine; nothing where they agree."""
    if mine.kind != stored.kind:
        return [f"the model holds a map of kind {stored.kind!r}, the method makes {mine.kind!r}"]
    found = [f"the fact {name!r} differs" for name in _facts_apart(mine.facts, stored.facts)]
    for name in sorted(mine.arrays.keys() | stored.arrays.keys()):
        ours, theirs = mine.arrays.get(name), stored.arrays.get(name)
        if ours is None or theirs is None:
            found.append(f"the part {name!r} is {'too much' if ours is None else 'missing'}")
        elif name.rpartition(".")[2] not in ELSEWHERE and not _agree(name, ours, theirs):
            found.append(f"the part {name!r} is not what the data leads to")
    return found


def _agree(name: str, ours: Array, theirs: Array) -> bool:
    if ours.shape != theirs.shape or theirs.dtype.kind not in "fiub":
        return False
    if ours.dtype.kind != "f" or ours.size == 0:
        return bool(np.array_equal(ours, theirs))
    a, b = ours.astype(float), theirs.astype(float)
    same = a == b  # infinite scales among them
    with np.errstate(invalid="ignore", over="ignore"):
        off = np.abs(a - b)
    if name.rpartition(".")[2] in FROM_ANSWER:
        allowed = SAME * np.abs(a).max(axis=0)
    else:
        narrow = max(float(np.finfo(x.dtype).eps) for x in (ours, theirs) if x.dtype.kind == "f")
        allowed = max(COPIED, 4 * narrow) * np.abs(a)
    return bool(np.all(same | (off <= allowed)))  # NaN is no agreement


def _facts_apart(mine: dict[str, Any], stored: dict[str, Any], before: str = "") -> list[str]:
    """The names of facts that differ, those of inner maps with dots."""
    apart = []
    for name in sorted(mine.keys() | stored.keys(), key=str):
        ours, theirs, whole = mine.get(name), stored.get(name), f"{before}{name}"
        if isinstance(ours, dict) and isinstance(theirs, dict):
            apart += _facts_apart(ours, theirs, f"{whole}.")
        elif not _same_fact(ours, theirs):
            apart.append(whole)
    return apart


def _same_fact(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(_same_fact, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, int | float):
        if ours != ours:  # NaN: the rounding of a metric is unknown to both
            return bool(theirs != theirs)
        return ours == theirs or abs(ours - theirs) <= COPIED * abs(ours)
    return type(ours) is type(theirs) and bool(ours == theirs)


def numbers_apart(mine: Array | None, stored: Any, scale: Array | None = None) -> bool:
    """Whether one number for each column is stored as another than `mine`.

    `scale` is what their rounding is relative to (None: they themselves). None is nothing.
    """
    if mine is None or stored is None:
        return (mine is None) != (stored is None)
    if stored.shape != mine.shape or stored.dtype.kind not in "fiu":
        return True
    theirs = stored.astype(float)
    with np.errstate(invalid="ignore"):
        off = np.abs(mine - theirs)
    allowed = COPIED * (np.abs(mine) if scale is None else scale)
    return not bool(np.all((mine == theirs) | (off <= allowed)))

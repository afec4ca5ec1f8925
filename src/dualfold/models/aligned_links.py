"""Slices and links as `AlignedMaps` takes them: checks, and which rows are the same thing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_array

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.inputs import numbers_of


def checked_tables(slices: Sequence[Any]) -> list[Array]:
    tables = []
    for number, X in enumerate(slices, 1):
        options: dict[str, Any] = {"input_name": f"slice {number}", "ensure_min_samples": 3}
        tables.append(check_array(numbers_of(X), dtype=np.float64, **options))
    if len(tables) < 2:
        raise InvalidInput(
            f"{counted(len(tables), 'slice')} {'was' if len(tables) == 1 else 'were'} given; at "
            "least two are needed"
        )
    return tables


def checked_links(tables: list[Array], ids: Any, links: Any) -> list[Array]:
    if ids is not None and links is not None:
        raise InvalidInput(Argument("ids"), " and ", Argument("links"), " were given; give one")
    if links is not None:
        return _given_links(tables, links)
    if ids is None:
        sizes = {len(X) for X in tables}
        if len(sizes) > 1:
            raise InvalidInput(
                "the slices have different numbers of rows, so rows cannot be linked by their "
                "numbers; give ",
                Argument("ids"),
                " or ",
                Argument("links"),
            )
        rows = np.arange(len(tables[0]))
        return [np.column_stack([rows, rows]) for _ in tables[1:]]
    if len(ids) != len(tables) or any(len(a) != len(X) for a, X in zip(ids, tables, strict=False)):
        raise InvalidInput(Argument("ids"), " must have one identifier for each row of each slice")
    places = [_places_of(list(names), number) for number, names in enumerate(ids, 1)]
    pairs = []
    for t in range(len(tables) - 1):
        after = places[t + 1]
        both = [(row, after[name]) for name, row in places[t].items() if name in after]
        if not both:
            raise InvalidInput(
                f"slices {t + 1} and {t + 2} have no identifier in common; without links their "
                "maps would not be related"
            )
        pairs.append(np.array(both))
    return pairs


def _places_of(names: list[object], number: int) -> dict[object, int]:
    """The row of each identifier; two rows with one are refused."""
    places: dict[object, int] = {}
    for row, name in enumerate(names):
        if name in places:
            raise InvalidInput(
                f"slice {number} has the identifier {name!r} in rows {places[name] + 1} and "
                f"{row + 1}; each row needs its own"
            )
        places[name] = row
    return places


def _given_links(tables: list[Array], links: Any) -> list[Array]:
    if len(links) != len(tables) - 1:
        raise InvalidInput(
            Argument("links"),
            f" has {len(links)} lists of pairs; {len(tables)} slices need {len(tables) - 1}",
        )
    checked = []
    for t, pairs in enumerate(links):
        array = np.asarray(pairs)
        sizes = len(tables[t]), len(tables[t + 1])
        good = array.ndim == 2 and array.shape[1] == 2 and array.dtype.kind in "iu"
        if not good or (array < 0).any() or (array >= np.array(sizes)).any():
            raise InvalidInput(
                Argument("links"),
                f" between slices {t + 1} and {t + 2} are no pairs of row numbers below "
                f"{sizes[0]} and {sizes[1]}",
            )
        checked.append(array.astype(int))
    return checked


def things_of(sizes: Sequence[int], links: Sequence[Array]) -> list[Array]:
    """The number of the thing that each row of each slice stands for; linked rows are one thing."""
    ends = np.cumsum([0, *sizes])
    pairs = [linked + ends[t : t + 2] for t, linked in enumerate(links)]
    rows, columns = np.vstack([np.zeros((0, 2), int), *pairs]).T
    shape = int(ends[-1]), int(ends[-1])
    graph = sp.coo_array((np.ones(len(rows), np.int8), (rows, columns)), shape=shape)
    return np.split(connected_components(graph, directed=False)[1], ends[1:-1])


def are_one_to_one(links: Sequence[Array]) -> bool:
    """Whether each row is linked to at most one row of the next slice, and of the one before."""
    return all(len(np.unique(pairs[:, side])) == len(pairs) for pairs in links for side in (0, 1))

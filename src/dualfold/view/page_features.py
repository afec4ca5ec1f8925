"""The table that the maps were made from: its columns one by one, and which of them matter most."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.view.page_columns import values_of

# Rows whose neighbours say how much a column has to do with who is near whom.
ASKED = 1000


@dataclass(frozen=True, eq=False)
class Features:
    """Columns that are made when they are asked for: a table may hold far more than a page can.

    column : from the place of a column to its values
    """

    names: tuple[str, ...]
    column: Callable[[int], Array]


def features_of(given: Any, n: int, taken: Container[str] = ()) -> Features:
    """The columns of a table; those whose names are `taken` are on the page already.

    given : a DataFrame, a mapping from names to values, an n×D matrix (dense or sparse), or
        (names, matrix)
    """
    if given is None:
        return Features((), lambda place: np.empty(n))
    if isinstance(given, tuple):
        names, matrix = given
        return _chosen(_matrix(matrix, n, tuple(map(str, names))), taken)
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        keys = list(given.columns if hasattr(given, "columns") else given.keys())
        found = Features(tuple(map(str, keys)), lambda place: values_of(given[keys[place]]))
        return _chosen(found, taken)
    return _chosen(_matrix(given, n, None), taken)


def _matrix(matrix: Any, n: int, names: tuple[str, ...] | None) -> Features:
    rows = matrix if hasattr(matrix, "tocsc") else np.asarray(matrix)
    if rows.ndim != 2 or rows.shape[0] != n:
        raise InvalidInput(
            Argument("features"),
            f" must be a table of the same {n} rows; its shape is {rows.shape}",
        )
    names = names or tuple(f"column {place + 1}" for place in range(rows.shape[1]))
    if len(names) != rows.shape[1]:
        raise InvalidInput(
            Argument("features"), f" has {rows.shape[1]} columns and {len(names)} names for them"
        )
    if isinstance(rows, np.ndarray):
        return Features(names, lambda place: rows[:, place])
    by_column = rows.tocsc()
    return Features(names, lambda place: _dense(by_column, place))


def _dense(matrix: Any, place: int) -> Array:
    """One column of a sparse matrix (arrays and matrices of SciPy are cut alike by slices)."""
    return np.asarray(matrix[:, place : place + 1].toarray(), dtype=float)[:, 0]


def _chosen(found: Features, taken: Container[str]) -> Features:
    left = [place for place, name in enumerate(found.names) if name not in taken]
    if len(left) == len(found.names):
        return found
    return Features(tuple(found.names[p] for p in left), lambda place: found.column(left[place]))


def shared_by_neighbors(values: Array, rows: Array, neighbors: Array) -> float:
    """How much more alike neighbours are in this column than any two rows: 1 equal, 0 no more.

    For numbers this is 1 − Geary's C, one minus the mean squared difference of neighbours over
    that of all pairs; for words the same with "differs" (0 or 1) as the squared difference.
    """
    if values.dtype.kind in "iufM":
        numbers = values.astype(float)
        known = np.isfinite(numbers)
        expected = 2 * float(numbers[known].var()) if known.any() else 0.0
        steps = numbers[rows][:, None] - numbers[neighbors[rows]]
        steps = steps[np.isfinite(steps)] ** 2
    else:
        codes = np.unique(values.astype(str), return_inverse=True)[1]
        expected = 1.0 - float(((np.bincount(codes) / len(codes)) ** 2).sum())
        steps = (codes[rows][:, None] != codes[neighbors[rows]]).astype(float).ravel()
    return 1.0 - float(steps.mean()) / expected if expected > 0 and len(steps) else -np.inf


def in_order(features: Features, neighbors: Any, n: int) -> list[int]:
    """The places of the columns, those first that neighbours share most; as given without any."""
    places = list(range(len(features.names)))
    if neighbors is None:
        return places
    drawn = np.random.default_rng(0).choice(n, min(n, ASKED), replace=False)
    known = np.asarray(neighbors)
    shared = [shared_by_neighbors(features.column(place), drawn, known) for place in places]
    return sorted(places, key=lambda place: -shared[place])

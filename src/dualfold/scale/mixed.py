"""Tables in tiles with categories beside numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dualfold.data.encoding import Encoding, category, encoded_columns, sources_of, words_of
from dualfold.errors import InvalidInput
from dualfold.scale.moments import Moments, moments_of
from dualfold.scale.table import TiledTable


class _Levels:
    """The levels of each column of categories in a tile; merged by their union."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    def __call__(self, block: Any) -> dict[str, set[str]]:
        found = {name: {word for word in words_of(block[name]) if word} for name in self.names}
        for name, levels in found.items():
            category(name, (), sorted(levels))  # too many in one tile are too many
        return found


def _union_of_levels(one: dict[str, set[str]], other: dict[str, set[str]]) -> dict[str, set[str]]:
    return {name: one[name] | other[name] for name in one}


def encodings_of(rows: TiledTable) -> tuple[Encoding, ...]:
    """How the columns of a data frame in tiles become numbers; () where they are numbers."""
    numbers = {str(name) for name in rows.meta.select_dtypes("number").columns}
    names = [str(name) for name in rows.meta.columns]
    others = [name for name in names if name not in numbers]
    if not others:
        return ()
    levels = rows.total("looking for categories", _Levels(others), _union_of_levels, raw=True)
    if levels is None:
        raise InvalidInput("the table has no rows in any of its tiles")
    return tuple(
        category(name, (), sorted(levels[name])) if name in levels else Encoding(name, "number")
        for name in names
    )


class _EncodedMoments:
    """The moments of a tile whose columns are encoded_columns; gaps are refused by name."""

    def __init__(self, encodings: tuple[Encoding, ...]) -> None:
        self.encodings = encodings

    def __call__(self, block: Any) -> Moments:
        columns = {str(name): column for name, column in block.items()}
        rows = encoded_columns(self.encodings, columns)
        gaps = ~np.isfinite(rows).all(axis=0)
        if gaps.any():
            name = sources_of(self.encodings)[int(np.argmax(gaps))]
            raise InvalidInput(f"'{name}' contains NaN or has gaps; leave these rows out first")
        return Moments.of(rows, precision=np.float64)


def encoded_moments(rows: TiledTable, encodings: tuple[Encoding, ...]) -> Moments:
    """The moments of the columns of 0, 1 and numbers; of the numbers as they are for ()."""
    if not encodings:
        return moments_of(rows)
    width = sum(len(one.features) for one in encodings)
    total = rows.total(
        "adding up tiles",
        _EncodedMoments(encodings),
        Moments.__add__,
        result_bytes=8 * width**2,
        raw=True,
    )
    found: Moments = total
    return found

"""What a page gets of names of groups and of the terms of texts, JSON-ready."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.zoom_names import GroupNames
from dualfold.view.page_columns import packed_numbers


@dataclass(frozen=True, eq=False)
class RowTerms:
    """The heaviest terms of the text of each row, and how many of its neighbours have each.

    words : all terms that are shown
    codes : n×k places in `words`, −1 where a row has fewer terms
    shared : n×k, how many neighbours have the term; of : of so many
    """

    words: tuple[str, ...]
    codes: Array
    shared: Array
    of: int

    def of_rows(self, rows: Array) -> RowTerms:
        """Those of some rows."""
        return replace(self, codes=self.codes[rows], shared=self.shared[rows])

    @property
    def content(self) -> dict[str, Any]:
        """JSON-ready; `page_parts/zoom_names.js` reads it."""
        return {
            "words": list(self.words),
            "k": self.codes.shape[1],
            "of": self.of,
            "codes": packed_numbers(self.codes + 1),
            "shared": packed_numbers(self.shared),
        }


def names_content(names: GroupNames, points: Array) -> dict[str, Any] | None:
    """The groups with their names, and the finest group of each row; None where none has a name."""
    if not any(one.name for one in names) or points.shape[1] != 2:
        return None
    finest = np.zeros(names.n_rows, dtype=np.int64)
    for place, one in enumerate(names):
        finest[one.rows] = place + 1
    keys = ("name", "level", "parent", "size", "verdict")
    groups = [
        {key: getattr(one, key) for key in keys} | {"at": list(one.place[:2]), "text": str(one)}
        for one in names
    ]
    return {"groups": groups, "finest": packed_numbers(finest)}

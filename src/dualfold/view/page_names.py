"""Groups of a map and terms of texts as a page takes them, JSON-ready."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dualfold.arrays import Array
from dualfold.judging.named_groups import NamedGroups
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
        """Terms of some rows."""
        return replace(self, codes=self.codes[rows], shared=self.shared[rows])

    @property
    def content(self) -> dict[str, object]:
        """JSON-ready; `page_parts/terms.js` reads it."""
        return {
            "words": list(self.words),
            "k": self.codes.shape[1],
            "of": self.of,
            "codes": packed_numbers(self.codes + 1),
            "shared": packed_numbers(self.shared),
        }


def groups_content(groups: NamedGroups) -> dict[str, object] | None:
    """The groups, and the finest group of each row; None where the map shows none."""
    if not len(groups):
        return None
    finest = np.zeros(groups.n_rows, dtype=np.int64)
    for index, group in enumerate(groups):
        finest[group.rows] = index + 1
    keys = ("letter", "name", "level", "parent", "size", "verdict", "about")
    return {
        "list": [
            {key: getattr(group, key) for key in keys} | {"at": list(group.place[:2])}
            for group in groups
        ],
        "finest": packed_numbers(finest),
    }

"""New rows of a model, judged: are they like the rows that it was made of?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import betabinom

from dualfold.arrays import Array
from dualfold.quality.conformal import conformal_p_values
from dualfold.saved.model import Model

# A row is foreign where at most this share of the old rows is as far out.
FOREIGN_SHARE = 0.05
# What a model of a linear map, which holds no rows itself, stores of them for this.
MAX_STORED_ROWS = 2_000
MAX_STORED_NUMBERS = 4_000_000
# Of more old rows this many are compared with.
MAX_COMPARED_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class ForeignRows:
    """p_values : conformal, one for each new row; old_rows : how many they were compared with."""

    p_values: Array
    old_rows: int

    @property
    def count(self) -> int:
        """New rows as far out as at most 1 in 20 of the old ones."""
        return int(np.sum(self.p_values <= FOREIGN_SHARE))

    @property
    def share(self) -> float:
        """The share of the new rows that is foreign, beyond the 1 in 20 that chance gives."""
        share = self.count / max(1, len(self.p_values))
        return max(0.0, (share - FOREIGN_SHARE) / (1 - FOREIGN_SHARE))

    @property
    def more_than_chance(self) -> bool:
        """Whether chance would put this many far out less than once in 100 times.

        All new rows are compared with the same old ones, so counts spread more than binomial ones:
        the chance of a new row to be among the l = ⌊(n + 1)/20⌋ furthest is Beta(l, n + 1 − l).
        """
        n, count = self.old_rows, self.count
        far = int(FOREIGN_SHARE * (n + 1) * (1 + 1e-12))
        return bool(count and betabinom.sf(count - 1, len(self.p_values), far, n + 1 - far) < 0.01)

    def __str__(self) -> str:
        m = len(self.p_values)
        rows = f"{m:,} new row{'s' if m != 1 else ''}"
        by_chance = f"{FOREIGN_SHARE * m:.1f} would be by chance"
        if not self.more_than_chance:
            return (
                f"The {rows} lie among the old ones: {self.count:,} as far out as at most 1 in 20 "
                f"of these, where {by_chance}."
            )
        return (
            f"{self.count:,} of {rows} are foreign: as far out as at most 1 in 20 of the old ones, "
            f"where {by_chance}. Where they lie on the map is a guess."
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "count": self.count,
            "share": self.share,
            "level": FOREIGN_SHARE,
            "more_than_chance": self.more_than_chance,
            "old_rows": self.old_rows,
        }


def kept_rows(X: Any) -> Array | None:
    """The numbers of the rows that a model stores; None where the table is sparse."""
    if not isinstance(X, np.ndarray):
        return None
    n, width = X.shape
    count = min(n, MAX_STORED_ROWS, max(50, MAX_STORED_NUMBERS // max(1, width)))
    return np.sort(np.random.default_rng(0).choice(n, count, replace=False))


def old_rows(model: Model) -> tuple[Any, Any] | None:
    """Rows that the model was made of, as its map takes them, and their metric; None: none."""
    rows, metric = model.map.fitted_rows() or (model.reference, "euclidean")
    if rows is None or metric == "precomputed" or rows.shape[0] < 3:
        return None
    if rows.shape[0] > MAX_COMPARED_ROWS:
        chosen = np.random.default_rng(0).choice(rows.shape[0], MAX_COMPARED_ROWS, replace=False)
        rows = rows[np.sort(chosen)]
    return rows, metric


def judged_rows(model: Model, X: Any) -> ForeignRows | None:
    """How foreign the rows of X are (columns as for `transform`); None without old rows."""
    fitted = old_rows(model)
    if fitted is None or X.shape[0] == 0:
        return None
    old, metric = fitted
    new, scale = model.standardized_rows(X), model.map.column_scale()
    if scale is not None:  # a linear map that divides its columns measures in these units
        old, new = old / scale, new / scale
    k = min(5, old.shape[0] - 1)
    p_values = conformal_p_values(old, new, n_neighbors=k, metric=metric)
    return ForeignRows(p_values, old.shape[0])

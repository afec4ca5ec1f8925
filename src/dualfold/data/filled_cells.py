"""The cells of a table that were filled in: how many, and what else they could hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dualfold.arrays import Array
from dualfold.data.imputation import Imputation

# Of its values: a row or column that has fewer is mostly invented, and left out.
MIN_KNOWN_SHARE = 0.2
# Measures differ little between them (docs/calibration.md), and least in long tables.
PLAUSIBLE_TABLES = 5
LONG_PLAUSIBLE_TABLES = 2
MAX_SHORT_ROWS = 2_000
# Columns in which two rows both have values, on average: with fewer, distances were hardly ever
# observed, and a verdict is about the model (docs/calibration.md).
MIN_SHARED_COLUMNS = 1.0


@dataclass(frozen=True, eq=False)
class FilledCells:
    """Which cells of X were filled in, and how.

    hole : n×width, where X had no value
    share : of the cells of the file; a category is one cell
    shared_columns : how many columns of the file a pair of rows has values in, on average
    """

    imputation: Imputation
    hole: NDArray[np.bool_]
    share: float
    shared_columns: float

    @classmethod
    def of(
        cls, imputation: Imputation, hole: NDArray[np.bool_], firsts: NDArray[np.int64]
    ) -> FilledCells:
        """`firsts` : one column of X for each column of the file."""
        n = len(hole)
        known = n - hole[:, firsts].sum(axis=0, dtype=np.float64)
        pairs = max(1.0, n * (n - 1.0))
        shared = float(np.sum(known * (known - 1))) / pairs
        return cls(imputation, hole, float(1 - known.sum() / (n * len(firsts))), shared)

    @property
    def n_rows(self) -> int:
        return len(self.hole)

    @property
    def model(self) -> Imputation | None:
        """The model of missing values; None where the means of columns were filled in."""
        return self.imputation if self.imputation.n_components else None

    @property
    def share_text(self) -> str:
        """As a reader wants it: two digits below 10 %."""
        return f"{100 * self.share:.0f} %" if self.share >= 0.1 else f"{100 * self.share:.2g} %"

    @property
    def doubt(self) -> str:
        """Why a map of this table cannot be judged; "" where it can."""
        if self.shared_columns >= MIN_SHARED_COLUMNS:
            return ""
        return (
            f"{self.share_text} of the cells were filled in, and two rows have values in "
            f"{self.shared_columns:.1f} columns in common on average, where "
            f"{MIN_SHARED_COLUMNS:g} is needed"
        )

    def drawn_rows(self, X: Array, seed: int) -> Array:
        """X with random values in these cells, as far off as known cells are when predicted."""
        incomplete = np.where(self.hole, np.nan, X)
        return self.imputation.drawn_rows(incomplete, np.random.default_rng([seed, self.hole.size]))

"""The verdict on rows that came later: are some of them foreign, by conformal p-values?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import betabinom

from dualfold.arrays import Array

# A row is far out where at most this share of the old rows is as far out.
FOREIGN_SHARE = 0.05
# Rows are foreign where exchangeable ones look so in at most this share of tables, over both looks.
FALSE_ALARM_SHARE = 0.05
# With fewer old rows 1/(n + 1), the smallest p-value, is above the half of that share which one
# look has: a single row cannot be called foreign, however far it is.
MIN_OLD_ROWS = 39
# Rows this many times as far from every old row as any of these from its nearest are named.
FAR_RATIO = 10.0
# Equal rows are so far apart by rounding: distances of single precision, from squares.
ROUNDING_SPREADS = 1e-6


@dataclass(frozen=True, eq=False)
class ForeignRows:
    """New rows against those of a model; `print` it.

    p_values : conformal, one for each new row: they assume exchangeable rows
    old_rows : how many they were compared with
    distances, old_distance : of each new row from its nearest old one, and the longest of an old
        row from its nearest, in spreads (`quality.conformal.ComparedRows`)
    """

    p_values: Array
    old_rows: int
    distances: Array | None = None
    old_distance: float = np.inf

    @property
    def n_far_ranks(self) -> int:
        """A row is far out that is one of this many furthest, with the old rows: 1 in 20."""
        return max(1, int(FOREIGN_SHARE * (self.old_rows + 1) * (1 + 1e-12)))

    @property
    def far_out(self) -> Array:
        """Which new rows are as far out as at most 1 in 20 old ones (of few: as none is)."""
        return np.asarray(self._ranks <= self.n_far_ranks)

    @property
    def count(self) -> int:
        """Number of new rows that are far out."""
        return int(np.sum(self.far_out))

    @property
    def share(self) -> float:
        """The share of the new rows that is far out, beyond what chance gives."""
        m, chance = max(1, len(self.p_values)), self.n_far_ranks / (self.old_rows + 1)
        return max(0.0, (self.count / m - chance) / (1 - chance))

    @property
    def chance_of_count(self) -> float:
        """The chance of exchangeable rows to have as many far out.

        All new rows are compared with the same old ones, so counts spread more than binomial ones:
        the chance of a new row to be among the l furthest is Beta(l, n + 1 − l).
        """
        return self.chance_of(self.count, self.n_far_ranks)

    @property
    def chance_of_furthest(self) -> float:
        """The chance that the furthest of as many exchangeable rows lies as far out."""
        return self.chance_of(1, int(self._ranks.min(initial=self.old_rows + 1)))

    @property
    def more_than_chance(self) -> bool:
        """Whether the count or the furthest row says that there are foreign rows among these.

        Exchangeable rows look so in at most 1 of 20 tables: 1 of 40 for each of the two tests.
        """
        return self.has_many_far or _is_rare(self.chance_of_furthest)

    @property
    def has_many_far(self) -> bool:
        """Whether more new rows are far out than chance allows."""
        return _is_rare(self.chance_of_count)

    @property
    def _ranks(self) -> Array:
        return np.rint(np.asarray(self.p_values) * (self.old_rows + 1)).astype(int)

    def chance_of(self, count: int, rank: int) -> float:
        """That `count` or more new rows are among the `rank` furthest, with the old rows."""
        others = self.old_rows + 1 - rank
        if count == 0 or others <= 0:
            return 1.0
        return float(betabinom.sf(count - 1, len(self.p_values), rank, others))

    def __str__(self) -> str:
        # A row that is very far leads, where the count alone would sound reassuring.
        first = (self._far, self._verdict) if not self.more_than_chance else (self._verdict,)
        return " ".join(filter(None, (*first, self._distance, self._limit)))

    @property
    def _verdict(self) -> str:
        m, count = len(self.p_values), self.count
        if self.has_many_far:
            are = "is" if count == 1 else "are"
            places = "Its place" if count == 1 else "Their places"
            guess = f"{places} on the map {are} a guess."
            return f"{count:,} of {m:,} new rows {are} foreign: {self._as_far}. {guess}"
        as_this = int(self._ranks.min(initial=self.old_rows + 1)) - 1
        old = f"{as_this:,} of {self.old_rows:,} old rows {'is' if as_this == 1 else 'are'}"
        if m == 1:
            foreign = "is foreign" if self.more_than_chance else "cannot be called foreign"
            return (
                f"The new row {foreign}: {old} as far out (p-value {self.p_values[0]:.2g} if rows "
                "are exchangeable)."
            )
        if self.more_than_chance:
            return (
                f"1 of {m:,} new rows is foreign: {old} as far out as this one, which has a chance "
                f"of {self.chance_of_furthest:.2g} if rows are exchangeable. Its place on the map "
                "is a guess."
            )
        no_sign = "The number of rows far out is no sign of foreign rows"
        return f"{no_sign}: {count:,} of {m:,} new rows lie {self._as_far}."

    @property
    def _as_far(self) -> str:
        """Words for how far out a row is, and how many would be by chance."""
        share = self.n_far_ranks / (self.old_rows + 1)
        how = "as far out as at most 1 in 20 old rows"
        if self.n_far_ranks == 1:
            how = "farther out than every old row"
        by_chance = f"{share * len(self.p_values):.1f} are expected by chance"
        return f"{how}, where {by_chance} if rows are exchangeable"

    @property
    def _limit(self) -> str:
        if self.old_rows >= MIN_OLD_ROWS:
            return ""
        return (
            f"With {self.old_rows} old rows no p-value is below {1 / (self.old_rows + 1):.2g}, so "
            f"that a single row is never called foreign; that needs {MIN_OLD_ROWS} old rows."
        )

    @property
    def _distance(self) -> str:
        if self.distances is None or not len(self.distances):
            return ""
        largest, median = float(self.distances.max()), float(np.median(self.distances))
        if np.isinf(largest):
            return "The old rows are all equal, so that distances from them have no unit."
        spread = "a spread is the median distance between two old rows that differ"
        unit = f"(old rows: at most {_two_digits(self.old_distance)}; {spread})."
        if len(self.distances) == 1:
            return f"Its nearest old row is {_two_digits(largest)} spreads away {unit}"
        away = f"{_two_digits(median)} spreads away in the median, {_two_digits(largest)} at most"
        return f"Their nearest old rows are {away} {unit}"

    @property
    def _far(self) -> str:
        if self.distances is None:
            return ""
        far = int(np.sum(self.distances > FAR_RATIO * (self.old_distance or 1.0)))
        if not far:
            return ""
        m = len(self.distances)
        rows = "The new row" if m == 1 else f"{far:,} of {m:,} new rows"
        return (
            f"{rows} {'is' if far == 1 else 'are'} more than {FAR_RATIO:.0f} times as far from "
            "every old row as any old row from its nearest; look at units and columns."
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "count": self.count,
            "share": self.share,
            "level": FOREIGN_SHARE,
            "more_than_chance": self.more_than_chance,
            "chance_of_count": self.chance_of_count,
            "chance_of_furthest": self.chance_of_furthest,
            "old_rows": self.old_rows,
        } | self._distances_in_spreads()

    def _distances_in_spreads(self) -> dict[str, Any]:
        if self.distances is None or not len(self.distances):
            return {}
        three = np.median(self.distances), self.distances.max(), self.old_distance
        names = "median_distance", "largest_distance", "old_distance"
        # JSON has no number for infinity.
        return {k: float(v) if np.isfinite(v) else None for k, v in zip(names, three, strict=True)}


def _is_rare(chance: float) -> bool:
    """Whether a chance is at most that of one of the two looks, up to its rounding."""
    return chance <= FALSE_ALARM_SHARE / 2 * (1 + 1e-9)


def _two_digits(number: float) -> str:
    """Two digits, whole numbers from 100 to 100,000 in full, and 0 for what rounding leaves."""
    if abs(number) < ROUNDING_SPREADS:
        return "0"
    return f"{number:,.0f}" if 100 <= number < 1e5 else f"{number:.2g}"

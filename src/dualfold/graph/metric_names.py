"""Names of metrics, for those that ask before numerics are loaded."""

from __future__ import annotations

# Distances that compare sets alone; Hamming's also compares numbers.
SET_METRICS = ("jaccard", "tanimoto", "dice")
MANHATTAN_NAMES = ("manhattan", "cityblock", "l1")

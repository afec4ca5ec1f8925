"""What links show of a valley that is just deep enough, in many dimensions.

Where data have many dimensions, links are as long as a valley is wide: they cross it without
touching its floor, and θ of `auditing.valleys` comes out too large. Large numbers are no proof of
one cloud then. So the bar for "there is no valley" is measured: two normal clouds are drawn, of
the data's dimension, with the groups' sizes and a valley of exactly half the height between them.
Their mean θ is the bar. A group is torn only where its θ is surely above it.
"""

from __future__ import annotations

from functools import lru_cache
from math import log2

import numpy as np
from scipy.optimize import brentq

from dualfold.auditing.links import LEAST
from dualfold.auditing.valleys import CUT, between
from dualfold.graph import nearest

__all__ = ["LINKS", "half_valley"]

# Links of a point: its nearest in the data.
LINKS = 15
# Pairs drawn: their mean wavers by 0.05 at most (1,000 points, 2 to 10 dimensions).
PAIRS = 8
# Of the drawn clouds: fewer points have longer links, so that the bar is rather too high.
MOST, WIDEST = 1_024, 100


def half_valley(dimension: float, first: int, second: int) -> float:
    """The θ that two clouds with a valley of half the height show; never below ½.

    dimension : of the data; first, second : sizes of the groups
    """
    whole = first + second
    width = int(np.clip(round(dimension), 1, WIDEST)) if np.isfinite(dimension) else WIDEST
    total = min(MOST, 2 ** round(log2(whole)))
    # Sizes in steps: groups that are alike share a bar.
    small = max(round(10 * min(first, second) / whole), 1) / 10
    return _bar(width, max(total, 2 * LEAST), small)


@lru_cache(maxsize=256)
def _bar(width: int, total: int, share: float) -> float:
    few = max(round(share * total), LEAST)
    apart = _apart(few / total)
    found = []
    for seed in range(PAIRS):
        points = np.random.default_rng(seed).standard_normal((total, width))
        points[:few, 0] += apart
        lists = nearest(points, min(LINKS, total - 1)).indices
        found.append(float(between(lists, np.arange(few), np.arange(few, total), 1).share))
    return max(CUT, float(np.mean(found)))


def _apart(share: float) -> float:
    """How far apart two normal clouds are whose valley is half as high as the lower top."""

    def depth(apart: float) -> float:
        x = np.linspace(0, apart, 400)
        heights = share * np.exp(-((x - apart) ** 2) / 2) + (1 - share) * np.exp(-(x**2) / 2)
        return float(heights.min() / heights[-1]) - CUT

    return float(brentq(depth, 2.0, 8.0))

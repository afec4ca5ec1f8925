"""Kruskal's stress: how far the map is from any that keeps the order of the distances."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.quality.estimate import drawn_rows, estimate_of_sums, values_at_all_points
from dualfold.quality.ranks import both_spaces
from dualfold.quality.space import Space

# Pairs sorted together: 16 bytes each and as much again for the sort.
MAX_SORTED_PAIRS = 1 << 24
_HISTOGRAM_BINS = 1 << 14


def nonmetric_stress(
    X: Any,
    Y: Any,
    *,
    metric: Any = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Kruskal's stress-1: the part of the map's distances no rising curve explains.

        min over rising f of √( Σ_ij (δ_ij − f(d_ij))² / Σ_ij δ_ij² ),   0 to 1; 0: the
        order of all distances is kept

    Pairs at equal distance in X get equal f (the secondary approach to ties). A map of
    equal points keeps any order trivially and has 0: look at `stress` too. The curve
    is exact: pairs are taken in slices of d small enough to sort, each slice one pass
    over the data, and pooled. That is n²/33,000,000 passes and as many sorts, so for more
    than some 20,000 points a `sample` of points (against all others) is advisable.

    Kruskal, "Nonmetric multidimensional scaling" (1964).
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    if x.n < 2:
        raise InvalidInput("distances need at least two points")
    rows = drawn_rows(x.n, sample, random_state)
    starts, heights = rising_curve(x, y, rows)
    sums = np.empty((x.n if rows is None else len(rows), 2))

    def tile(places: slice, names: Array) -> None:
        before, after = x.true_rows(names), y.true_rows(names)
        fitted = heights[np.searchsorted(starts, before, side="right") - 1]
        fitted[np.arange(len(names)), names] = after[np.arange(len(names)), names] = 0.0
        sums[places, 0] = np.square(after - fitted).sum(axis=1)
        sums[places, 1] = np.square(after).sum(axis=1)

    x.each_tile(tile, rows)
    if per_point:
        return values_at_all_points(_root_share(sums), rows, x.n)
    return estimate_of_sums(sums, x.n, _root_share, (0.0, 1.0))


def _root_share(total: Array) -> Array:
    part, whole = total[..., 0], total[..., 1]
    share = np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole > 0)
    return np.asarray(np.sqrt(share))


def rising_curve(x: Space, y: Space, rows: Array | None) -> tuple[Array, Array]:
    """The best rising step function of d: (where each step starts, its height)."""
    edges = _slice_edges(x, rows)
    steps = [
        pool_violators(*_merged_ties(*_pairs_between(x, y, rows, low, high)))
        for low, high in pairwise(edges)
    ]
    starts, heights, _ = pool_violators(
        *(np.concatenate(part) for part in zip(*steps, strict=True))
    )
    starts[0] = 0.0
    return starts, heights


def pool_violators(values: Array, heights: Array, weights: Array) -> tuple[Array, Array, Array]:
    """Adjacent violators pooled: (start, height, weight) of each step.

    Pooling what was pooled in parts gives what pooling the whole would.
    """
    from scipy.optimize import isotonic_regression

    if len(values) == 0:
        return values, heights, weights
    fit = isotonic_regression(heights, weights=weights)
    first = fit.blocks[:-1]
    return values[first], fit.x[first], np.add.reduceat(weights, first)


def _merged_ties(before: Array, after: Array) -> tuple[Array, Array, Array]:
    if len(before) == 0:
        return before, after, after
    order = np.argsort(before)
    before, after = before[order], after[order]
    first = np.flatnonzero(np.diff(before, prepend=-1.0))
    counts = np.diff(np.append(first, len(before))).astype(float)
    return before[first], np.add.reduceat(after, first) / counts, counts


def _slice_edges(x: Space, rows: Array | None) -> Array:
    """Distances that cut all pairs into slices of about `PAIRS`."""
    m = x.n if rows is None else len(rows)
    total = m * (x.n - 1) // (2 if rows is None else 1)
    if total <= MAX_SORTED_PAIRS:
        return np.array([-1.0, np.inf])
    # The largest distance from one point, doubled, bounds all of a true metric; what lies
    # beyond (dissimilarities) falls into the last slice.
    one = x.rows(np.zeros(1, dtype=np.int32))[0]
    top = 2.0 * float(one[np.isfinite(one)].max())
    if top == 0:
        return np.array([-1.0, np.inf])
    parts: list[Array] = []

    def tile(_: slice, names: Array) -> None:
        before = x.true_rows(names)
        scaled = np.minimum(
            before[np.isfinite(before)] * (_HISTOGRAM_BINS / top), _HISTOGRAM_BINS - 1
        )
        parts.append(np.bincount(scaled.astype(np.int64), minlength=_HISTOGRAM_BINS))

    x.each_tile(tile, rows)
    counts = np.cumsum(np.sum(parts, axis=0)) / (2 if rows is None else 1)
    cuts = np.searchsorted(counts, np.arange(MAX_SORTED_PAIRS, total, MAX_SORTED_PAIRS))
    return np.unique(np.concatenate([[-1.0], (cuts + 1) * (top / _HISTOGRAM_BINS), [np.inf]]))


def _pairs_between(
    x: Space, y: Space, rows: Array | None, low: float, high: float
) -> tuple[Array, Array]:
    """(d, δ) of the pairs with low <= d < high; each pair once when all rows are asked."""
    parts: dict[int, tuple[Array, Array]] = {}

    def tile(places: slice, names: Array) -> None:
        before, after = x.true_rows(names), y.true_rows(names)
        wanted = (before >= low) & (before < high)
        if rows is None:
            wanted &= np.arange(x.n) > names[:, None]
        parts[places.start] = before[wanted], after[wanted]

    x.each_tile(tile, rows)
    found = [parts[start] for start in sorted(parts)]
    return np.concatenate([d for d, _ in found]), np.concatenate([s for _, s in found])

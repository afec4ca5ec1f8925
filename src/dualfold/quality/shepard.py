"""The Shepard diagram: distances before against distances after, as a binned density."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

import numpy as np

from dualfold.arrays import Array, Metric, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels import kernel
from dualfold.quality.estimate import drawn_rows
from dualfold.quality.pair_tiles import each_pair_tile
from dualfold.quality.space import MapPoints, Measured, Space, both_spaces, refuse_single_point

# Of each axis; the grid of twice as many both ways takes half a gigabyte then.
MAX_BINS = 4096
MAX_DOUBLE = float(np.finfo(float).max)

_pair_histogram = kernel("pair_histogram")


@dataclass(frozen=True, eq=False)
class Shepard:
    """Numbers of pairs by their distances before and after.

    counts : [b, a] pairs with the distance in X in bin b and that in Y in bin a; each pair
        is counted from both its ends (of a sample, from each sampled end)
    before, after : edges of the bins, one more than bins
    """

    counts: Array
    before: Array
    after: Array

    def typical(self) -> Array:
        """The mean distance after, for each bin of distances before; NaN where empty."""
        middle = (self.after[:-1] + self.after[1:]) / 2
        pairs = self.counts.sum(axis=1)
        total = self.counts @ middle
        return np.divide(total, pairs, out=np.full(len(pairs), np.nan), where=pairs > 0)


def shepard(
    X: Measured,
    Y: MapPoints,
    *,
    bins: int = 128,
    metric: Metric = "euclidean",
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> Shepard:
    """Shepard diagram: how many pairs have which distance in X and on the map.

    On a map that keeps distances the pairs lie on a line. Above it the map stretches, below it the
    map compresses. One pass over all pairs, counted into cells.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    bins : int in [1, 4096], default=128
        Number of cells of each axis; there may be somewhat more.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    Shepard
        `counts[b, a]`, the pairs whose distance in X is in cell b and on the map in cell a, each
        counted from both ends; `before` and `after`, the edges of the cells; `typical()`, the mean
        distance on the map for each cell of distances in X.

    Raises
    ------
    InvalidInput
        If `bins` is out of its range, or X and Y have different numbers of rows.

    See Also
    --------
    stress : The distance from the line as one number.
    dualfold.view.shepard_figure : The diagram as a figure.

    References
    ----------
    .. [1] R. N. Shepard, "The analysis of proximities: multidimensional scaling with an unknown
       distance function. I", Psychometrika, 27(2), 125–140, 1962.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import shepard
    >>> X = np.random.default_rng(0).normal(size=(30, 3))
    >>> int(shepard(X, X[:, :2]).counts.sum()) == 30 * 29
    True
    """
    if not isinstance(bins, int | np.integer) or not 1 <= bins <= MAX_BINS:
        raise InvalidInput(
            Argument("bins"), f" must be a whole number from 1 to {MAX_BINS}; it is {bins!r}"
        )
    x, y = both_spaces(X, Y, metric, n_jobs)
    grid = DistanceGrid(x, y, int(bins))
    each_pair_tile(
        x,
        y,
        drawn_rows(x.n, sample, random_state),
        lambda before, after, _, names: grid.add(before, after, names),
        lambda before, after, _: grid.add_once(before, after),
    )
    return grid.diagram()


class DistanceGrid:
    """Bins that widen, two becoming one, whenever a larger distance is met.

    The range starts at the largest distance from the first point and doubles, so the final
    edges do not depend on the order of the tiles.
    """

    def __init__(self, x: Space, y: Space, bins: int) -> None:
        refuse_single_point(x.n)
        self._bins, self._powers = 2 * bins, (x.power, y.power)
        first = np.zeros(1, dtype=np.int32)
        seen = [_largest(space.rows(first), first) for space in (x, y)]
        self._top = [largest * (1 + 1e-9) if largest > 0 else 1.0 for largest in seen]
        self._counts = np.zeros((self._bins, self._bins), dtype=np.int64)
        self._lock = Lock()

    def add_once(self, before: Array, after: Array) -> None:
        """Count the pairs of a tile that has only the points from its first row on."""
        self.add(before, after, np.arange(len(before), dtype=np.int32), once=True)

    def add(self, before: Array, after: Array, names: Array, *, once: bool = False) -> None:
        """Count the pairs of a tile, of rows that are in the columns `names`.

        once : whether pairs with columns beyond those of the rows are met here alone
        """
        wanted = [_largest(before, names), _largest(after, names)]
        with self._lock:
            for axis, largest in enumerate(wanted):
                while self._top[axis] <= largest:  # an edge belongs to the bin above it
                    self._counts = _merged_bins(self._counts, axis)
                    self._top[axis] *= 2
            tops = list(self._top)
        per_bin = [self._bins / top for top in tops]
        counts = self._pair_counts(before, after, names, per_bin)
        if once:
            height = len(names)
            near, map_near = (np.ascontiguousarray(part[:, :height]) for part in (before, after))
            counts = 2 * counts - self._pair_counts(near, map_near, names, per_bin)
        with self._lock:
            for axis in (0, 1):
                while tops[axis] < self._top[axis]:
                    counts = _merged_bins(counts, axis)
                    tops[axis] *= 2
            self._counts += counts

    def _pair_counts(
        self, before: Array, after: Array, names: Array, per_bin: list[float]
    ) -> Array:
        counts = np.zeros((self._bins, self._bins), dtype=np.int64)
        table = before, after, before.shape[1], len(names), names
        _pair_histogram(*table, *per_bin, self._bins, counts)
        return counts

    def diagram(self) -> Shepard:
        """The cells up to the last that holds a pair."""
        used = [int(np.flatnonzero(self._counts.any(axis=1 - axis))[-1]) + 1 for axis in (0, 1)]
        with np.errstate(over="ignore"):  # the largest double for a distance beyond it
            edges = [
                np.minimum(np.ldexp(np.arange(count + 1) * (top / self._bins), power), MAX_DOUBLE)
                for count, top, power in zip(used, self._top, self._powers, strict=True)
            ]
        return Shepard(self._counts[: used[0], : used[1]].copy(), edges[0], edges[1])


def _largest(distances: Array, names: Array) -> float:
    distances[np.arange(len(names)), names] = 0.0
    return float(distances.max())


def _merged_bins(counts: Array, axis: int) -> Array:
    """Two bins become one along an axis; the upper half is free then."""
    bins = len(counts)
    pairs = counts.reshape(bins // 2, 2, bins) if axis == 0 else counts.reshape(bins, bins // 2, 2)
    half = pairs.sum(axis=1 if axis == 0 else 2)
    out = np.zeros_like(counts)
    out[tuple(slice(size) for size in half.shape)] = half
    return out

"""Points and the distances between them, however they are given.

A space answers three questions without ever holding all distances: the nearest points of
some rows, the ranks of given pairs, and rows of distances, a tile at a time. Lists of the nearest
are ordered by (distance, index); ranks of points that are as far as each other are shared.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Metric
from dualfold.errors import Argument, InvalidInput, counted
from dualfold.graph.cosines import directions, is_cosine
from dualfold.graph.distances import distance_rounding
from dualfold.graph.geodesics import geodesic_distances
from dualfold.graph.graph import Graph
from dualfold.graph.kd_tree import nearest_by_scan
from dualfold.graph.metrics import (
    double_table,
    is_euclidean,
    is_precomputed,
    metric_distances,
    metric_failure,
)
from dualfold.graph.neighbor_lists import Neighbors, best_of_rows
from dualfold.graph.neighbors import nearest
from dualfold.graph.number_rows import as_array, rows_in_units
from dualfold.graph.pair_sums import UNMEASURABLE_DISTANCES
from dualfold.inputs import measurable_rows, random_generator
from dualfold.kernels import kernel, kernels_by_dtype
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.kernels.reports import steps
from dualfold.kernels.sparse import canonical_rows
from dualfold.kernels.threads import in_threads, one_blas_thread, row_slices, thread_count
from dualfold.quality.rank_counts import (
    FEW_COLUMNS,
    Ranks,
    euclidean_ranks,
    given_ranks,
    listed_distances,
)

# Sparse data is made dense up to here, as in graph.nearest.
MAX_DENSE_NUMBERS = 1 << 27
_TILE_DISTANCES = 1 << 23
_MAX_TILE_ROWS = 128
_NUMBERS_PER_CHUNK = 1 << 20
# Up to here X is cached centred in float64: centring again for each tile takes a third of the
# time of the products.
_MAX_CACHED_NUMBERS = 1 << 26
# Below this share of |x|² + |y|² a product has lost half its digits: it is computed again.
_MIN_SQUARE_SHARE = 1e-8

# Of a row, when a table is rotated or its columns are standardised: docs/dev/notes/quality.md
_ROUNDINGS = 8
# Of a distance by another metric: sums and products that are not ours.
_METRIC_ROUNDINGS = 32
# Rows are different where they are farther from each other, as a part of the extent.
DISTINCT_STEPS = 1e8
# Fourth powers of distances from here to its inverse, and sums of them, have room.
MIN_SAFE_DISTANCE = 2.0**-200

_row_distances = kernels_by_dtype("row_distances")
_row_distances_direct = kernel("row_distances_direct")
_finish_rows = kernels_by_dtype("finish_rows")


class Space(ABC):
    """n points; `threads` threads compute at the same time.

    about : in which table or by which metric, in words that follow "nearest neighbours"
    power : distances are those of the data times 2^-power, so that fourth powers have room
    """

    n: int
    threads: int
    about: str = ""
    power: int = 0

    @abstractmethod
    def nearest(self, k: int, rows: Array | None = None) -> tuple[Array, Array]:
        """(indices, distances) of the k nearest others of each row (None: of all)."""

    @abstractmethod
    def ranks(self, columns: Array, rows: Array | None = None, *, rounded: bool = False) -> Ranks:
        """The ranks of the given points around each row.

        rounded : whether distances that differ by rounding alone tie, too
        """

    @abstractmethod
    def distances_to(self, columns: Array, rows: Array) -> Array:
        """The distances from each row to the given points (m×k)."""

    @abstractmethod
    def tie_widths(self, rows: Array | None, distances: Array) -> Array:
        """By how much equal distances from these rows (m×k) may differ because of rounding.

        That is the rounding of the numbers that are stored, as after a rotation or after columns
        were standardised, and of the distances.
        """

    @abstractmethod
    def true_rows(self, rows: Array) -> Array:
        """Distances from each row to all points, infinite to itself; ties are exact."""

    def between(self, rows: Array, columns: Array) -> Array:
        """Distances from each row to the given points, infinite to itself."""
        return self.true_rows(rows)[:, columns]

    def rows(self, rows: Array) -> Array:
        """Distances as `true_rows` up to rounding, but faster; a row's own means nothing."""
        return self.true_rows(rows)

    def in_order(self, order: Array) -> Callable[[Array], Array]:
        """`rows` with its columns in another order."""
        return lambda rows: np.ascontiguousarray(self.rows(rows)[:, order])

    @property
    def height(self) -> int:
        """Rows of a tile."""
        return max(1, min(_MAX_TILE_ROWS, _TILE_DISTANCES // self.n))

    def tiles(self, rows: Array | None) -> Iterator[slice]:
        count = self.n if rows is None else len(rows)
        return row_slices(count, self.height)

    def each_tile(self, work: Callable[[slice, Array], None], rows: Array | None) -> None:
        """`work(places, names)` on tiles of rows, shared out over the threads."""
        names = np.arange(self.n, dtype=np.int32) if rows is None else rows.astype(np.int32)
        tiles = list(self.tiles(rows))
        with one_blas_thread(), steps("comparing distances", len(tiles)) as done:
            in_threads(lambda part: work(part, names[part]), tiles, self.threads, done)


class EuclideanSpace(Space):
    """Rows of numbers; distances as in `graph.nearest`, bit for bit (in units of 2^power)."""

    def __init__(self, X: Any, n_jobs: int | None = None, name: str = "X") -> None:
        self.points, self.power = rows_in_units(X, name)
        self.n, self.width = self.points.shape
        self.threads = thread_count(n_jobs)
        self._across = (
            np.ascontiguousarray(self.points.T, dtype=np.float64)
            if self.width <= FEW_COLUMNS
            else None
        )
        whole = np.dtype(getattr(X, "dtype", np.float64)).kind in "biu"
        self._unit = _ROUNDINGS * UNIT_ROUNDOFF
        if not whole:  # what is stored was rounded to the precision that it is stored in
            self._unit += np.finfo(self.points.dtype).eps
        self._mean: Array | None = None
        self._centred: Array | None = None
        self._found: Neighbors | None = None

    def neighbors(self, k: int) -> Neighbors:
        """The k nearest others of all rows. The longest lists so far are cached."""
        if self._found is None or self._found.indices.shape[1] < k:
            self._found = nearest(self.points, k, n_jobs=self.threads)
        return self._found.first(k)

    def nearest(self, k: int, rows: Array | None = None) -> tuple[Array, Array]:
        known = self._found is not None and self._found.indices.shape[1] >= k
        if rows is not None and not known:
            return nearest_by_scan(self.points, None, rows, k, self.threads)
        lists = self.neighbors(k)
        chosen = slice(None) if rows is None else rows
        return lists.indices[chosen], lists.distances[chosen]

    def ranks(self, columns: Array, rows: Array | None = None, *, rounded: bool = False) -> Ranks:
        widths = (lambda distances: self.tie_widths(rows, distances)) if rounded else None
        return euclidean_ranks(self.points, rows, columns, self.threads, widths)

    def distances_to(self, columns: Array, rows: Array) -> Array:
        return listed_distances(self.points, rows, columns, self.threads)

    def tie_widths(self, rows: Array | None, distances: Array) -> Array:
        points = self.points if rows is None else self.points[rows]
        lengths = np.sqrt(np.einsum("ij,ij->i", points, points, dtype=np.float64))[:, None]
        # |x_j| is at most |x_i| + d.
        relative = self._unit + 2 * distance_rounding(self.width)
        return np.asarray(2 * self._unit * lengths + relative * distances)

    def true_rows(self, rows: Array) -> Array:
        if self._across is not None:
            return _direct_rows(self._across, rows)
        out = np.empty((len(rows), self.n))
        names = np.ascontiguousarray(rows, dtype=np.int32)
        _row_distances[self.points.dtype](self.points, self.n, self.width, names, len(names), out)
        return out

    def rows(self, rows: Array) -> Array:
        return self.true_rows(rows) if self._across is not None else self._products_from(0, rows)

    def in_order(self, order: Array) -> Callable[[Array], Array]:
        if self._across is None:
            return super().in_order(order)
        # Points in order once cost less than each row of distances.
        across = np.ascontiguousarray(self._across[:, order])
        position = np.empty(self.n, dtype=np.int32)
        position[order] = np.arange(self.n, dtype=np.int32)
        return lambda rows: _direct_rows(across, position[rows])

    def later_rows(self, rows: Array) -> Array:
        """`rows` without the points before the first of these, which follow one another."""
        first = int(rows[0])
        if self._across is None:
            return self._products_from(first, rows)
        return _direct_rows(np.ascontiguousarray(self._across[:, first:]), rows - first)

    def _products_from(self, first: int, rows: Array) -> Array:
        """Distances to the points from `first` on, none of `rows` before it, by products."""
        mean, squares = self._centre()
        points, n = self.points[first:], self.n - first
        names = np.ascontiguousarray(rows - first, dtype=np.int32)
        asked = points[names] - mean
        out = np.empty((len(names), n))
        table = points, n, self.width, names, len(names)
        rule = squares[first:], _MIN_SQUARE_SHARE
        centre = None if self._centred is None else self._centred[first:]
        step = max(64, _NUMBERS_PER_CHUNK // self.width)
        for part in row_slices(n, step):
            centred = points[part] - mean if centre is None else centre[part]
            products = asked @ centred.T
            columns = part.start, part.stop - part.start
            _finish_rows[self.points.dtype](*table, *columns, products, *rule, out)
        return out

    def _centre(self) -> tuple[Array, Array]:
        """The mean, and the squared length of every point around it."""
        if self._mean is None:
            step = max(64, _NUMBERS_PER_CHUNK // self.width)
            parts = list(row_slices(self.n, step))
            totals = (self.points[part].sum(axis=0, dtype=np.float64) for part in parts)
            mean = sum(totals, np.zeros(self.width)) / self.n
            self._squares = np.concatenate(
                [np.square(self.points[part] - mean).sum(axis=1) for part in parts]
            )
            if self.n * self.width <= _MAX_CACHED_NUMBERS:
                self._centred = self.points - mean
            self._mean = mean
        return self._mean, self._squares

    def each_tile(self, work: Callable[[slice, Array], None], rows: Array | None) -> None:
        if self._across is None:
            self._centre()  # once, before the threads start
        super().each_tile(work, rows)


def _direct_rows(across: Array, rows: Array) -> Array:
    """Distances from some points to all; each coordinate is a row of `across`."""
    width, n = across.shape
    out = np.empty((len(rows), n))
    names = np.ascontiguousarray(rows, dtype=np.int32)
    _row_distances_direct(across, n, width, names, len(names), out)
    return out


# What measures compare: rows of numbers, the geodesics of a graph, or a space already made.
Measured = ArrayLike | Graph | Space
# A map: rows of numbers, or the space of them.
MapPoints = ArrayLike | Space
# (rows, columns) → the distances between them; columns None: to all points.
Distances = Callable[[Array, Array | None], Array]


class DistanceSpace(Space):
    """Distances that are computed when asked for: any metric, given ones, geodesics."""

    def __init__(self, n: int, distances: Distances, n_jobs: int | None) -> None:
        self.n, self._distances = n, distances
        self.threads = thread_count(n_jobs)
        first_row = np.zeros(1, dtype=np.int32)
        first = np.asarray(self._distances(first_row, None) if n else np.zeros((0, 0)))
        finite = float(np.abs(first[np.isfinite(first)]).max(initial=0.0))
        if finite and not MIN_SAFE_DISTANCE < finite < 1 / MIN_SAFE_DISTANCE:
            self.power = int(np.frexp(finite)[1])
        stored = np.finfo(first.dtype).eps if first.dtype.kind == "f" else 0.0
        # Relative to the distances from the first point: a metric has no other unit.
        unit = float(np.ldexp(finite, -self.power))
        self._tie_width = (stored + _METRIC_ROUNDINGS * UNIT_ROUNDOFF) * unit

    def true_rows(self, rows: Array) -> Array:
        return self._valid_distances(rows, None)

    def between(self, rows: Array, columns: Array) -> Array:
        return self._valid_distances(rows, columns)

    def _valid_distances(self, rows: Array, columns: Array | None) -> Array:
        out = np.array(self._distances(rows, columns), dtype=np.float64, order="C")
        if self.power:
            out = np.ldexp(out, -self.power)
        places = np.arange(len(rows)), rows
        selves = places if columns is None else np.nonzero(rows[:, None] == columns)
        out[selves] = np.inf
        if out.min(initial=0.0) < 0:
            raise InvalidInput(
                "some distances are negative, and a distance is at least 0; a similarity s of at "
                "most 1 becomes one as sqrt(2 - 2s)"
            )
        if np.isnan(out).any() or np.count_nonzero(np.isinf(out)) > len(selves[0]):
            raise InvalidInput(UNMEASURABLE_DISTANCES)
        return out

    def nearest(self, k: int, rows: Array | None = None) -> tuple[Array, Array]:
        count = self.n if rows is None else len(rows)
        indices, distances = np.empty((count, k), dtype=np.int32), np.empty((count, k))

        def tile(places: slice, names: Array) -> None:
            indices[places], distances[places] = best_of_rows(self.true_rows(names), k)

        self.each_tile(tile, rows)
        return indices, distances

    def ranks(self, columns: Array, rows: Array | None = None, *, rounded: bool = False) -> Ranks:
        out = Ranks(*(np.empty(columns.shape, dtype=np.int32) for _ in range(2)))
        columns = np.ascontiguousarray(columns, dtype=np.int32)

        def tile(places: slice, names: Array) -> None:
            def widths(distances: Array) -> Array:
                return self.tie_widths(names, distances) if rounded else np.zeros_like(distances)

            ranks = given_ranks(self.true_rows(names), columns[places], widths)
            out.first[places], out.last[places] = ranks

        self.each_tile(tile, rows)
        return out

    def distances_to(self, columns: Array, rows: Array) -> Array:
        out = np.empty(columns.shape)

        def tile(places: slice, names: Array) -> None:
            out[places] = np.take_along_axis(self.true_rows(names), columns[places], axis=1)

        self.each_tile(tile, rows)
        return out

    def tie_widths(self, rows: Array | None, distances: Array) -> Array:
        return np.full(distances.shape, self._tie_width)


def space_of(X: Measured, metric: Metric = "euclidean", n_jobs: int | None = None) -> Space:
    """X as a space: rows of numbers (dense, sparse, memory-mapped) and a metric, or a
    `Graph` (its geodesics), or square distances with metric="precomputed"."""
    if isinstance(X, Space):
        return X
    if isinstance(X, Graph):
        return DistanceSpace(X.n, _along_graph(X), n_jobs)
    if is_precomputed(metric):
        return DistanceSpace(*_given_distances(X), n_jobs)
    rows = measurable_rows(X)
    rows = canonical_rows(rows, "X") if sp.issparse(rows) else as_array(rows, "X")
    if rows.ndim != 2:
        raise InvalidInput(
            Argument("X"),
            f" must be a table with one row for each point; its shape is {rows.shape}",
        )
    too_wide = sp.issparse(rows) and rows.shape[0] * rows.shape[1] > MAX_DENSE_NUMBERS
    if not too_wide and is_euclidean(metric):
        return EuclideanSpace(rows, n_jobs)
    return DistanceSpace(rows.shape[0], _by_metric(rows, metric), n_jobs)


def _along_graph(graph: Graph) -> Distances:
    def distances(rows: Array, columns: Array | None) -> Array:
        geodesics = geodesic_distances(graph, rows, n_jobs=1)
        return geodesics if columns is None else geodesics[:, columns]

    return distances


def _given_distances(distances: Any) -> tuple[int, Distances]:
    if sp.issparse(distances):
        raise InvalidInput(
            "precomputed distances must be dense here: ranks and stress need the distance of "
            "every pair, a sparse matrix leaves some out. Pass distances.toarray(), or a Graph "
            "for its geodesics"
        )
    D = np.asanyarray(distances)
    if D.ndim != 2 or D.shape[0] != D.shape[1]:
        raise InvalidInput(
            Argument("metric", "precomputed"),
            f" needs square distances, one row for each point; the shape is {D.shape}",
        )
    step = max(1, _TILE_DISTANCES // max(1, len(D)))
    if any(D[a : a + step].min() < 0 for a in range(0, len(D), step)):
        raise InvalidInput(
            "precomputed distances must not be negative; for similarities s pass sqrt(2 - 2s)"
        )
    return len(D), lambda rows, columns: D[rows] if columns is None else D[np.ix_(rows, columns)]


def _by_metric(X: Any, metric: Metric) -> Distances:
    lines = directions(X) if is_cosine(metric) else None
    if lines is not None:
        return _by_cosine(lines.unit_table(np.float64))
    table = double_table(X, "X")  # as the search of neighbours has it
    # These two need the whole of X once; scikit-learn sees only some rows at a time here.
    whole: dict[str, Any] = {}
    if metric in ("seuclidean", "mahalanobis"):
        table = table.toarray() if sp.issparse(table) else table
        whole = _moments_for(metric, table)

    def distances(rows: Array, columns: Array | None) -> Array:
        others = table if columns is None else table[columns]
        return metric_distances(table[rows], others, metric, **whole)

    return distances


def _by_cosine(unit_rows: Array) -> Distances:
    """1 − cos: rows get their length of 1 once, not for each tile."""

    def distances(rows: Array, columns: Array | None) -> Array:
        others = unit_rows if columns is None else unit_rows[columns]
        return np.clip(1.0 - unit_rows[rows] @ others.T, 0.0, 2.0)

    return distances


def _moments_for(metric: str, table: Array) -> dict[str, Any]:
    """The variances, or the inverse covariance, that a metric divides by."""
    if len(table) < 2:
        raise InvalidInput(Argument("metric", metric), " needs two rows or more for its variances")
    try:
        with np.errstate(all="ignore"):  # what overflows gives no distances, and is refused
            if metric == "seuclidean":
                return {"V": np.var(table, axis=0, ddof=1)}
            return {"VI": np.linalg.inv(np.atleast_2d(np.cov(table.T))).T}
    except (ValueError, TypeError) as trouble:
        raise metric_failure(metric, trouble) from trouble


def both_spaces(
    X: Measured, Y: MapPoints, metric: Metric, n_jobs: int | None
) -> tuple[Space, EuclideanSpace]:
    """X with its metric and Y as a Euclidean map, checked to be as many points."""
    x = space_of(X, metric, n_jobs)
    y = Y if isinstance(Y, EuclideanSpace) else EuclideanSpace(Y, n_jobs, "Y")
    if x.n != y.n:
        raise InvalidInput(
            Argument("X"),
            f" has {counted(x.n, 'row')} and ",
            Argument("Y"),
            f" has {y.n}; both must hold the same points, one row for each point",
        )
    return x, y


def subspace(space: Space, rows: Array) -> Space:
    """Some points of a space, as a space."""
    if isinstance(space, EuclideanSpace):
        if len(rows) == space.n:
            return space
        return EuclideanSpace(space.points[rows], space.threads)
    rows = np.asarray(rows, dtype=np.int32)

    def distances(names: Array, columns: Array | None) -> Array:
        between = space.between(rows[names], rows if columns is None else rows[columns])
        between[np.isinf(between)] = 0.0  # the distance to itself
        return between

    return DistanceSpace(len(rows), distances, space.threads)


def distinct_rows(space: Space) -> int | None:
    """Number of different rows of a table, up to rounding; None for distances alone.

    Rows are compared along one random direction.
    """
    if not isinstance(space, EuclideanSpace) or space.n == 0:
        return None
    direction = random_generator(space.width).normal(size=space.width)
    along = np.asarray(space.points @ direction, dtype=float)
    extent = float(np.ptp(along))
    return len(np.unique(np.round(along * (DISTINCT_STEPS / extent)))) if extent > 0 else 1


def refuse_single_point(n: int) -> None:
    """Raise where there is no pair of points."""
    if n < 2:
        raise InvalidInput(f"distances need at least two points, and there are {n}; give more rows")


def neighbor_count(k: object, n: int) -> int:
    """k, if there are as many other points."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k < n:
        raise InvalidInput(
            Argument("n_neighbors"),
            f" must be a whole number from 1 to {n - 1} for {counted(n, 'point')}; it is {k!r}",
        )
    return int(k)

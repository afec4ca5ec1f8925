"""Shortest paths along the edges of a graph: distances within a curved sheet.

All pairs of 10,000 points take 9 to 18 times less than SciPy's Dijkstra, which holds Python's
lock (docs/dev/notes/neighbours.md).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, DType, Seed
from dualfold.errors import Argument, InvalidInput, TooLarge
from dualfold.graph.distances import distance_rounding
from dualfold.graph.elimination import eliminated_graph
from dualfold.graph.graph import Graph
from dualfold.inputs import random_generator
from dualfold.kernels import c_constant, kernel, kernels_by_dtype
from dualfold.kernels.arithmetic import SINGLE_ROUNDOFF, UNIT_ROUNDOFF
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, row_slices, thread_count

# Sources that a kernel processes side by side.
PATCH_SOURCES = c_constant("PATCH")
# What a visit for 16 scattered sources takes, in visits for one: docs/dev/notes/neighbours.md
SCATTERED_VISIT_COST = 3.0
# Ctrl-C waits for one call: 16 patches of 16 sources, tens of milliseconds at 10,000 points.
SOURCES_PER_CALL = 256
# Fewer sources than one in this many points lie too far apart for a patch.
MAX_POINTS_PER_SOURCE = 8
# Farthest points, and as many random ones, among which a batch of landmarks is chosen.
LANDMARK_CANDIDATES = 512
# How far the kernel's threshold moves, in mean edge lengths; the time hardly depends on it.
THRESHOLD_STEP_LENGTHS = 2.0
# Rows of a matrix that are made symmetric together.
ROWS_PER_CHUNK = 512

_patches = kernel("patches")
SourceBatch = Literal["patch", "scattered", "one"]
SOURCES_BY_BATCH: dict[SourceBatch, int] = {
    "patch": PATCH_SOURCES,
    "scattered": PATCH_SOURCES,
    "one": 1,
}
_geodesics = {batch: kernel(f"geodesics_{batch}") for batch in SOURCES_BY_BATCH}
_symmetric_least = kernels_by_dtype("symmetric_least")


class Landmarks(NamedTuple):
    """Some points of a graph and their geodesic distances to every point.

    indices : the m points
    distances : m×n, one row a landmark
    """

    indices: Array
    distances: Array


def geodesic_distances(
    graph: Graph,
    sources: ArrayLike | None = None,
    *,
    dtype: DType | None = None,
    n_jobs: int | None = None,
    out: Array | None = None,
) -> Array:
    """Compute the lengths of shortest paths along the edges of a graph.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    sources : array-like of int or None, default=None
        Rows that paths begin at; None takes all rows.
    dtype : {"float32", "float64"} or None, default=None
        Type of the result; None is float32 unless lengths overflow or underflow in it. Sums along
        paths are made in float64 and rounded once.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.
    out : ndarray of shape (n_sources, n_samples) or None, default=None
        Array of this type that is filled and returned.

    Returns
    -------
    ndarray of shape (n_sources, n_samples)
        One row for each source; infinite where no path leads. With all rows as sources it is
        symmetric to the last bit.

    Raises
    ------
    InvalidInput
        If lengths are negative or too large for the type.

    See Also
    --------
    farthest_points : Landmarks with their distances.

    Notes
    -----
    Nodes are finished in the order of their distance, by a threshold that moves on, for 16 near
    sources side by side. For many sources that lie far apart, on a graph with small separators (a
    surface), the graph is eliminated instead [1]_, and two sweeps over it give the distances from
    16 sources [2]_. Predicted work decides. The edges of a path are then added in another order, so
    that lengths in float64 may differ in their last digits, by a relative n·2⁻⁵³ at most.

    References
    ----------
    .. [1] J. Dibbelt, B. Strasser and D. Wagner, "Customizable contraction hierarchies", Journal of
       Experimental Algorithmics, 21, 1–49, 2016.
    .. [2] D. Delling, A. V. Goldberg, A. Nowatzyk and R. F. Werneck, "PHAST: Hardware-accelerated
       shortest path trees", Journal of Parallel and Distributed Computing, 73(7), 940–952, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import geodesic_distances, knn
    >>> graph = knn(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> geodesic_distances(graph, [0])
    array([[0., 1., 3.]], dtype=float32)
    """
    kind = _float_kind(geodesic_kind(graph) if dtype is None else dtype)
    n, everyone = graph.n, sources is None
    wanted = np.arange(n) if sources is None else _source_rows(graph, sources)
    rows = _output_array(out, (len(wanted), n), kind)
    threads = thread_count(n_jobs)
    if n:
        refuse_lengths(graph, kind)
        few = len(wanted) * MAX_POINTS_PER_SOURCE <= n
        paths = eliminated_graph(graph, len(wanted)) if few else None
        (paths or RenumberedGraph.of(graph)).fill(rows, wanted, threads)
    if everyone:
        edges = [*range(0, n, ROWS_PER_CHUNK), n]
        in_threads(lambda ends: _symmetric_least[kind](n, *ends, rows), pairwise(edges), threads)
    return rows


def geodesic_kind(graph: Graph) -> type[np.floating]:
    """float32, or float64 where lengths would overflow or underflow in float32."""
    lengths = graph.lengths.data
    least, longest = _length_limits(graph, np.dtype(np.float32))
    most = float(lengths.max()) if lengths.size else 0.0
    return np.float32 if not most or least <= most < longest else np.float64


def _length_limits(graph: Graph, kind: np.dtype[Any]) -> tuple[float, float]:
    """Longest edges below the first lose digits; above the second paths have no length."""
    info = np.finfo(kind)
    return float(info.tiny) / float(info.eps) ** 2, float(info.max) / max(graph.n, 1)


def refuse_lengths(graph: Graph, kind: np.dtype[Any]) -> None:
    """Raise for edges whose paths have no length in this type."""
    lengths = graph.lengths.data
    least, longest = _length_limits(graph, kind)
    if lengths.size and not (lengths.min() >= 0 and lengths.max() < longest):
        raise InvalidInput(
            f"edge lengths must be numbers from 0 to {longest:.1g}, so that paths have a "
            f"length; these run from {lengths.min():.3g} to {lengths.max():.3g}"
        )
    if lengths.size and 0 < lengths.max() < least:
        raise InvalidInput(
            f"edge lengths up to {lengths.max():.3g} vanish (are rounded to 0) as {kind}; use ",
            Argument("dtype", "float64"),
        )


def geodesic_rounding(graph: Graph, dtype: DType) -> float:
    """A bound of the relative error of a geodesic that is stored as `dtype`.

    A path has at most n − 1 edges, each off by what distances are (0 where they were
    given), so that its sum in float64, in any order of additions that is used here, is off by
    n·2⁻⁵³ and that. The least rounded sum and the rounding of the least sum are both within that
    of the least sum.
    """
    given = graph.points is None or graph.search.method in ("precomputed", "metric")
    edge = 0.0 if given else distance_rounding(np.shape(graph.points)[1])
    stored = SINGLE_ROUNDOFF if _float_kind(dtype) == np.float32 else 0.0
    return 1.01 * (graph.n * UNIT_ROUNDOFF + edge + stored)


def farthest_points(
    graph: Graph,
    count: int,
    *,
    at_once: int = 32,
    start: int | None = None,
    random_state: Seed = None,
    dtype: DType | None = None,
) -> Landmarks:
    """Choose landmarks, each as far as possible from those before it (maxmin).

    Ties go to the smaller row number. A piece that no landmark reaches yet counts as farther than
    anything.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    count : int
        Number of landmarks.
    at_once : int, default=32
        Number of landmarks that are chosen together after the first ones, so that their shortest
        paths are computed side by side.
    start : int or None, default=None
        The first landmark; None draws it.
    random_state : int, Generator or None, default=None
        Seed of the first landmark and of the candidates.
    dtype : {"float32", "float64"} or None, default=None
        Type of the distances; None is float32 unless lengths overflow or underflow in it.

    Returns
    -------
    Landmarks
        Row numbers `indices` and an m×n array `distances` from each landmark to each row.

    See Also
    --------
    geodesic_distances : Distances between all rows.

    Notes
    -----
    The first landmarks are found one by one, and so are their shortest paths; where the graph is
    eliminated (see `geodesic_distances`), these come from sweeps, too, by all threads together.

    Within a batch the distance of two candidates p and q is replaced by its lower bound, the
    largest difference between their distances to a landmark that is chosen already. With
    `at_once=1` nothing is replaced, and the largest distance from a row to its landmark is at most
    twice the least that is possible [1]_.

    References
    ----------
    .. [1] T. F. Gonzalez, "Clustering to minimize the maximum intercluster distance", Theoretical
       Computer Science, 38, 293–306, 1985.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import farthest_points, knn
    >>> graph = knn(np.arange(9.0)[:, None], 2)
    >>> farthest_points(graph, 3, at_once=1, start=0).indices
    array([0, 8, 4])
    """
    if not 1 <= count <= graph.n:
        raise InvalidInput(
            f"{count} landmarks were asked for; a graph of {graph.n} points has 1 to {graph.n}"
        )
    if at_once < 1:
        raise InvalidInput(Argument("at_once", at_once), " must be 1 or more")
    rng = random_generator(random_state)
    chosen = _source_rows(graph, np.full(count, rng.integers(graph.n) if start is None else start))
    kind = _float_kind(geodesic_kind(graph) if dtype is None else dtype)
    refuse_lengths(graph, kind)
    rows = np.empty((count, graph.n), kind)
    eliminated = eliminated_graph(graph, count, alone=min(at_once, count) if at_once > 1 else count)
    searched = None if eliminated else RenumberedGraph.of(graph)
    nearest = np.full(graph.n, np.inf, kind)
    n_chosen, choice = 0, _BatchChoice()
    with steps("shortest paths from landmarks", count) as done:
        while n_chosen < count:
            batch = slice(n_chosen, min(count, n_chosen + (at_once if n_chosen >= at_once else 1)))
            size = batch.stop - n_chosen
            if size > 1:
                chosen[batch] = _scattered_points(rows[:n_chosen], nearest, size, rng)
            elif n_chosen:
                chosen[n_chosen] = np.argmax(nearest)
            if eliminated is not None:
                eliminated.fill(rows[batch], chosen[batch], thread_count())
            elif searched is not None:
                together = choice.best(size)
                visits = searched.fill(rows[batch], chosen[batch], thread_count(), together)
                choice.count(together, size, visits)
            np.minimum(nearest, rows[batch].min(axis=0), out=nearest)
            n_chosen = batch.stop
            nearest[chosen[:n_chosen]] = -1  # duplicates of a landmark stay eligible, it does not
            done(size)
    return Landmarks(chosen, rows)


class _BatchChoice:
    """Whether scattered sources are processed together, by the visits counted on the graph.

    That is faster on graphs of images, which are crossed in a few steps, and slower on
    surfaces. Both give the same bits.
    """

    def __init__(self) -> None:
        self.visits: Counter[SourceBatch] = Counter()
        self.sources: Counter[SourceBatch] = Counter()

    def best(self, sources: int) -> SourceBatch:
        """The batch for this number of sources; "scattered" is tried once to be counted."""
        if sources < 2 * PATCH_SOURCES:
            return "one"
        if not self.sources["scattered"]:
            return "scattered"
        kinds: tuple[SourceBatch, SourceBatch] = ("one", "scattered")
        alone, together = (self.visits[kind] / max(1, self.sources[kind]) for kind in kinds)
        return "scattered" if SCATTERED_VISIT_COST * together < alone else "one"

    def count(self, batch: SourceBatch, sources: int, visits: int) -> None:
        """Add the visits of some sources."""
        self.sources[batch] += sources
        self.visits[batch] += visits


def _scattered_points(rows: Array, nearest: Array, count: int, rng: np.random.Generator) -> Array:
    """`count` points far from the landmarks behind `rows` and, by bounds, from each other.

    The candidates are the farthest points, and random ones, since the former may all lie
    in one hole.
    """
    n_drawn = min(LANDMARK_CANDIDATES, len(nearest))
    farthest = np.argpartition(-nearest, n_drawn - 1)[:n_drawn]
    drawn = rng.choice(len(nearest), n_drawn, replace=False)
    candidates = np.union1d(farthest, drawn)
    seen, distance = rows[:, candidates], nearest[candidates].copy()
    picked = []
    for _ in range(count):
        best = int(np.argmax(distance))
        picked.append(candidates[best])
        np.minimum(distance, _distance_bounds(seen, seen[:, best]), out=distance)
        distance[best] = -2  # not picked again, not even among duplicates of landmarks
    return np.asarray(picked)


def _distance_bounds(seen: Array, distances: Array) -> Array:
    """max_l |g_lp − g_lq| for every p; infinite where a landmark reaches only one of them."""
    reached = np.isfinite(seen) & np.isfinite(distances)[:, None]
    differences = np.abs(
        np.subtract(seen, distances[:, None], where=reached, out=np.zeros_like(seen))
    )
    differences[np.isfinite(seen) != np.isfinite(distances)[:, None]] = np.inf
    return np.asarray(differences.max(axis=0))


def landmarks_at(graph: Graph, landmarks: Any) -> Landmarks:
    """The landmarks with their geodesics; given as `Landmarks`, nothing is computed."""
    if isinstance(landmarks, Landmarks):
        return landmarks
    indices = _source_rows(graph, landmarks)
    return Landmarks(indices, geodesic_distances(graph, indices))


@dataclass(frozen=True, eq=False)
class RenumberedGraph:
    """A graph renumbered so that 16 nodes in a row are a patch of it.

    order : new number → point, places : point → new number; the rest is CSR.
    """

    order: Array
    places: Array
    indptr: Array
    indices: Array
    lengths: Array

    @classmethod
    def of(cls, graph: Graph) -> RenumberedGraph:
        indptr = graph.lengths.indptr.astype(np.int64)
        indices = graph.lengths.indices.astype(np.int32)
        lengths = graph.lengths.data
        order = np.empty(graph.n, np.int32)
        _refuse_failure(_patches(graph.n, indptr, indices, order))
        places = np.empty_like(order)
        places[order] = np.arange(graph.n, dtype=np.int32)
        counts = np.diff(indptr)[order]
        moved = np.concatenate([[0], np.cumsum(counts)])
        from_where = np.arange(len(indices)) + np.repeat(indptr[order] - moved[:-1], counts)
        return cls(
            order, places, moved, places[indices[from_where]], lengths[from_where].astype(float)
        )

    def fill(
        self, rows: Array, sources: Array, threads: int, batch: SourceBatch | None = None
    ) -> int:
        """rows[i] = the geodesics from sources[i]; the number of visits.

        Sums are made in float64, in a working array where `rows` are float32.
        """
        width = (
            THRESHOLD_STEP_LENGTHS * float(self.lengths.mean(dtype=float))
            if self.lengths.size
            else 1.0
        )
        numbers = self.places[sources]
        into = np.argsort(numbers, kind="stable")  # near sources side by side
        numbers = numbers[into]

        dense = len(sources) * MAX_POINTS_PER_SOURCE > len(self.order)
        taken: SourceBatch = batch or ("patch" if dense else "one")
        size = SOURCES_PER_CALL if dense else SOURCES_BY_BATCH[taken]
        wide = rows.dtype == np.float64
        free: SimpleQueue[Array] = SimpleQueue()
        for _ in range(0 if wide else threads):
            free.put(np.empty((min(size, len(into)), len(self.order))))
        graph = len(self.order), self.indptr, self.indices, self.lengths, self.places, width

        def chunk(part: slice) -> int:
            count = len(into[part])
            sums = rows if wide else free.get()
            try:
                places = into[part] if wide else np.arange(count)
                visits: int = _geodesics[taken](*graph, numbers[part], places, count, sums)
                _refuse_failure(visits)
                if not wide:
                    rows[into[part]] = sums[:count]
            finally:  # other threads wait for it, also when this one was interrupted
                free.put(sums)
            tally("geodesic visits", visits)
            return visits

        chunks = list(row_slices(len(into), size))
        with steps("shortest paths", len(chunks)) as done:
            return sum(in_threads(chunk, chunks, threads, done))


def _refuse_failure(ok: int) -> None:
    if not ok:
        raise TooLarge(
            "shortest paths found no memory for their scratch (150 bytes a point and "
            "thread); free some, or use ",
            Argument("n_jobs", 1),
        )


def _float_kind(dtype: DType) -> np.dtype[Any]:
    kind = np.dtype(dtype)
    if kind not in _symmetric_least:
        raise InvalidInput(Argument("dtype"), f" is {kind}; geodesics come as float32 or float64")
    return kind


def _source_rows(graph: Graph, sources: ArrayLike) -> Array:
    wanted = np.atleast_1d(np.asarray(sources))
    inside = (wanted.ndim == 1 and wanted.dtype.kind in "iu") or wanted.size == 0
    if not inside or (wanted.size and not (wanted.min() >= 0 and wanted.max() < graph.n)):
        raise InvalidInput(
            Argument("sources"),
            f" must be row numbers from 0 to {graph.n - 1}, in one list; given were "
            f"{wanted.dtype} of shape {wanted.shape}",
        )
    return wanted.astype(np.int64)


def _output_array(out: Array | None, shape: tuple[int, int], kind: np.dtype[Any]) -> Array:
    if out is None:
        return np.empty(shape, kind)
    if (
        out.shape != shape
        or out.dtype != kind
        or not (out.flags.c_contiguous and out.flags.writeable)
    ):
        raise InvalidInput(
            Argument("out"),
            f" must be a writeable C-contiguous {kind} array of shape {shape}; given was "
            f"{out.dtype} of shape {out.shape}",
        )
    return out

"""Shortest paths by elimination, for many sources that lie far apart on a surface.

The graph is eliminated once, node by node in a fill-reducing order, in the (min, +) algebra: each
node leaves shortcuts between its later neighbours (customisable contraction hierarchies [1]_). Two
sweeps in memory order then give the distances from 16 sources to all nodes [2]_, with no queue.

Lengths are the same paths' as by any other way, added in another order: no sum passes more than
twice the height of the elimination tree additions, and a graph is eliminated only where these are
fewer than it has nodes. The bound of `geodesic_rounding` holds either way.

.. [1] J. Dibbelt, B. Strasser and D. Wagner, "Customizable contraction hierarchies", Journal of
   Experimental Algorithmics, 21, 1–49, 2016.
.. [2] D. Delling, A. V. Goldberg, A. Nowatzyk and R. F. Werneck, "PHAST: Hardware-accelerated
   shortest path trees", Journal of Parallel and Distributed Computing, 73(7), 940–952, 2013.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from queue import SimpleQueue

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, DualfoldError, TooLarge
from dualfold.graph.graph import Graph
from dualfold.kernels import c_constant, kernel, kernel_in_shares
from dualfold.kernels.ordering import (
    Ordering,
    fill_reducing_ordering,
    is_small_world,
    raise_without_memory,
)
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, row_slices

# Sources that go through a sweep together.
SWEPT_SOURCES = c_constant("SWEPT_SOURCES")
# What the parts of the work take, in edges of a search from one source (11 to 13 ns): to order the
# graph, for each edge; a sum of the elimination; an entry in the sweeps of 16 sources.
# docs/dev/notes/neighbours.md
ORDERING_COST = 14.0
ELIMINATION_COST = 0.03
SWEEP_COST = 0.4
# A graph is eliminated where this is predicted to be less work by this factor.
MIN_GAIN = 1.5
# Below this many points a source takes less than a millisecond, and lengths keep Dijkstra's bits.
MIN_ROWS = 10_000
# Numbers of all shortcuts, 2 GiB.
MAX_SHORTCUTS = 2**28

# Doubles of 64 bytes.
CACHE_LINE_NUMBERS = 8

_shortcut_lengths = kernel("shortcut_lengths")
_swept_geodesics = {
    np.dtype(np.float32): kernel_in_shares("swept_geodesics32"),
    np.dtype(np.float64): kernel_in_shares("swept_geodesics64"),
}


@dataclass(frozen=True, eq=False)
class EliminatedGraph:
    """A graph with the shortcuts that its elimination left.

    places : point → its number in the order of elimination
    shortcuts : their lengths, supernode by supernode
    """

    ordering: Ordering
    places: Array
    shortcuts: Array = field(repr=False)
    scratch: dict[str, Array] = field(default_factory=dict, repr=False)  # of `fill`, a cache

    @classmethod
    def of(cls, graph: Graph, ordering: Ordering) -> EliminatedGraph:
        """Eliminate the graph in this order; TooLarge where memory runs out."""
        n, o = graph.n, ordering
        places = np.empty(n, np.int32)
        places[o.permutation] = np.arange(n, dtype=np.int32)
        size = 8 * int(o.panel_start[-1])
        try:
            shortcuts = np.empty(o.panel_start[-1])
        except MemoryError as error:
            raise _without_memory(size) from error
        tally("shortcut sums", o.flops)
        status = _shortcut_lengths(
            *(n, len(o.above), graph.lengths.indptr.astype(np.int64)),
            *(graph.lengths.indices.astype(np.int32), graph.lengths.data.astype(float)),
            *(o.permutation, places, o.first, o.row_start, o.rows, o.panel_start, shortcuts),
        )
        raise_without_memory([status], size)
        if status:
            raise DualfoldError(f"an edge is outside the eliminated pattern (status {status})")
        return cls(ordering, places, shortcuts)

    def fill(self, rows: Array, sources: Array, threads: int) -> int:
        """rows[i] = the geodesics from sources[i]; the number of entries that were swept."""
        o, n, count = self.ordering, len(self.places), len(sources)
        tree = o.first, o.above, o.row_start, o.rows, o.panel_start
        numbers = self.places[sources]
        into = np.argsort(numbers, kind="stable")  # near sources climb over the same nodes
        chunks = list(row_slices(count, SWEPT_SOURCES))
        callers: SimpleQueue[int] = SimpleQueue()
        for caller in range(min(threads, len(chunks))):
            callers.put(caller)
        share = _swept_geodesics[rows.dtype](
            *(n, len(o.above), *tree, self.shortcuts, self.places, numbers[into], into, count),
            *(rows, callers.qsize(), self._scratch(callers.qsize())),
        )

        def chunk(some: slice) -> int:
            caller = callers.get()
            try:
                share(some.start, some.stop, caller)
            finally:  # other threads wait for it, also when this one was interrupted
                callers.put(caller)
            tally("path sweep entries", o.factor_entries)
            return o.factor_entries

        with steps("shortest paths", len(chunks)) as done:
            return sum(in_threads(chunk, chunks, threads, done))

    def _scratch(self, threads: int) -> Array:
        """Memory for this many threads; kept, for new memory takes as long as half a sweep."""
        size = threads * len(self.places) * SWEPT_SOURCES
        if len(self.scratch.get("numbers", ())) < size:
            try:
                numbers = np.empty(size + CACHE_LINE_NUMBERS)
            except MemoryError as error:
                raise _without_memory(8 * size) from error
            begin = -(numbers.ctypes.data // 8) % CACHE_LINE_NUMBERS
            self.scratch["numbers"] = numbers[begin : begin + size]
        return self.scratch["numbers"]


def eliminated_graph(graph: Graph, count: int) -> EliminatedGraph | None:
    """The graph, eliminated, where that is predicted to pay for `count` scattered sources.

    The prediction is in counted work, so that the same graph and count have the same answer.
    """
    edges = graph.lengths.nnz
    search = count * edges
    budget = search / MIN_GAIN - ORDERING_COST * edges
    if graph.n < MIN_ROWS or budget <= 0 or is_small_world(graph.lengths):
        return None
    try:
        ordering = fill_reducing_ordering(graph.lengths, most_flops=budget / ELIMINATION_COST)
    except TooLarge:  # no small separators
        return None
    sweeps = -(-count // SWEPT_SOURCES) * ordering.factor_entries
    predicted = ELIMINATION_COST * ordering.flops + SWEEP_COST * sweeps
    if predicted > budget or ordering.panel_start[-1] > MAX_SHORTCUTS:
        return None
    if 2 * tree_height(ordering) >= graph.n:
        return None
    try:
        return EliminatedGraph.of(graph, ordering)
    except TooLarge:
        return None


def tree_height(ordering: Ordering) -> int:
    """Nodes on the longest way from a leaf of the elimination tree to its root, at most."""
    own = np.diff(ordering.first).tolist()
    height = own.copy()
    for s, above in enumerate(ordering.above.tolist()):  # children come before their parents
        if above >= 0:
            height[above] = max(height[above], height[s] + own[above])
    return max(height, default=0)


def _without_memory(size: int) -> TooLarge:
    return TooLarge(
        f"shortest paths found no memory for {size / 2**30:.1f} GiB; free some, or use ",
        Argument("n_jobs", 1),
    )

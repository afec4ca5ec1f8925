"""Shortest paths by elimination, for many sources that lie far apart on a surface.

The graph is eliminated once, node by node in a fill-reducing order, in the (min, +) algebra: each
node leaves shortcuts between its later neighbours (customisable contraction hierarchies [1]_). Two
sweeps in memory order then give the distances from 16 sources to all nodes [2]_, with no queue; or
those from one source, by several threads.

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
from functools import cached_property
from queue import SimpleQueue
from typing import Any

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
from dualfold.kernels.threads import in_threads, row_slices, thread_count

# Sources that go through a sweep together.
SWEPT_SOURCES = c_constant("SWEPT_SOURCES")
# Numbers behind the shortcuts that a kernel may read and does not use.
SWEPT_COLUMNS = c_constant("SWEPT_COLUMNS")
# Subtrees that threads take side by side, and the sums above which a tree is divided
# (docs/dev/notes/neighbours.md, 2026-11-19).
PARTS = 16
MIN_DIVIDED_SUMS = 1e8
# Rows of a large supernode, and supernodes, that a call takes.
BLOCK_ROWS = 64
SUPERNODES_PER_CALL = 4096
# What the parts of the work take, in edges of a search from one source (11 to 13 ns): to order the
# graph, for each edge; a sum of the elimination; an entry in the sweeps of 16 sources, or of one.
# docs/dev/notes/neighbours.md
ORDERING_COST = 14.0
ELIMINATION_COST = 0.03
SWEEP_COST = 0.4
LONE_SWEEP_COST = 0.1
# A graph is eliminated where this is predicted to be less work by this factor.
MIN_GAIN = 1.5
# Below this many points a source takes less than a millisecond, and lengths keep Dijkstra's bits.
MIN_ROWS = 10_000
# Numbers of all shortcuts, 2 GiB.
MAX_SHORTCUTS = 2**28

# Bytes; sweeps write past the caches where a row of results is whole lines.
CACHE_LINE = 64

_plan = kernel("ldl_plan")
_shortcut_edges = kernel_in_shares("shortcut_edges")
_shortcuts_in_part = kernel_in_shares("shortcuts_in_part")
_shortcuts_from_parts = kernel_in_shares("shortcuts_from_parts")
_shortcuts_in_rows = kernel_in_shares("shortcuts_in_rows")
_shortcuts_from_rows = kernel_in_shares("shortcuts_from_rows")
_swept_geodesics = {
    np.dtype(np.float32): kernel_in_shares("swept_geodesics32"),
    np.dtype(np.float64): kernel_in_shares("swept_geodesics64"),
}
_swept_from_one = {
    np.dtype(np.float32): kernel_in_shares("swept_from_one32"),
    np.dtype(np.float64): kernel_in_shares("swept_from_one64"),
}


@dataclass(frozen=True, eq=False)
class EliminatedGraph:
    """A graph with the shortcuts that its elimination left.

    places : point → its number in the order of elimination
    shortcuts : their lengths, supernode by supernode
    parts : subtrees of the elimination tree that threads take side by side
    """

    ordering: Ordering
    places: Array
    parts: Subtrees
    shortcuts: Array = field(repr=False)
    scratch: dict[str, Array] = field(default_factory=dict, repr=False)  # of `fill`, a cache

    @classmethod
    def of(
        cls, graph: Graph, ordering: Ordering, threads: int = 1, parts: int | None = None
    ) -> EliminatedGraph:
        """Eliminate the graph in this order; TooLarge where memory runs out.

        The answer does not depend on the number of `parts` that are wanted: None is `PARTS`, or
        one for small work.
        """
        n, o = graph.n, ordering
        places = np.empty(n, np.int32)
        places[o.permutation] = np.arange(n, dtype=np.int32)
        size = 8 * int(o.panel_start[-1])
        try:
            shortcuts = np.empty(o.panel_start[-1] + SWEPT_COLUMNS)
        except MemoryError as error:
            raise _without_memory(size) from error
        tally("shortcut sums", o.flops)
        usual = PARTS if o.flops > MIN_DIVIDED_SUMS else 1
        divided = Subtrees.of(ordering, usual if parts is None else parts)
        _place_edges(graph, ordering, places, shortcuts, threads)
        raise_without_memory(_eliminate(ordering, divided, shortcuts, threads), size)
        return cls(ordering, places, divided, shortcuts)

    def fill(self, rows: Array, sources: Array, threads: int) -> int:
        """rows[i] = the geodesics from sources[i]; the number of entries that were swept."""
        if len(sources) == 1:
            return self._fill_one(rows[0], int(self.places[sources[0]]), threads)
        o, n, count = self.ordering, len(self.places), len(sources)
        tree = o.first, o.above, o.row_start, o.rows, o.panel_start
        stack = self.stack
        numbers = self.places[sources]
        into = np.argsort(numbers, kind="stable")  # near sources climb over the same nodes
        chunks = list(row_slices(count, SWEPT_SOURCES))
        callers: SimpleQueue[int] = SimpleQueue()
        for caller in range(min(threads, len(chunks))):
            callers.put(caller)
        sizes = callers.qsize(), stack.height, min(n, SWEPT_SOURCES * stack.height)
        share = _swept_geodesics[rows.dtype](
            *(n, len(o.above), *tree, self.shortcuts, self.parts.owner, stack.depth, stack.places),
            *(self.places, numbers[into], into, count, rows, *sizes),
            *self._scratch(rows.dtype, *sizes),
        )

        def chunk(part: slice) -> int:
            caller = callers.get()
            try:
                share(part.start, part.stop, caller)
            finally:  # other threads wait for it, also when this one was interrupted
                callers.put(caller)
            tally("path sweep entries", o.factor_entries)
            return o.factor_entries

        with steps("shortest paths", len(chunks)) as done:
            return sum(in_threads(chunk, chunks, threads, done))

    def _fill_one(self, row: Array, source: int, threads: int) -> int:
        """row = the geodesics from one source, a number in the order of elimination."""
        o, n = self.ordering, len(self.places)
        share = _swept_from_one[row.dtype](
            *(n, len(o.above), o.first, o.above, o.row_start, o.rows, o.panel_start),
            *(self.shortcuts, self.parts.of_supernode, o.permutation, np.empty(n), row),
        )
        share(self.parts.count, self.parts.count, source)
        in_threads(lambda p: share(p, self.parts.count, source), range(self.parts.count), threads)
        tally("lone path sweep entries", o.factor_entries)
        return o.factor_entries

    @cached_property
    def stack(self) -> Stack:
        """Where the sweeps keep the nodes above a node."""
        return Stack.of(self.ordering, self.parts.owner)

    def _scratch(self, kind: np.dtype[Any], threads: int, height: int, climbed: int) -> list[Array]:
        """Memory for this many threads; kept, for new memory takes as long as half a sweep."""
        wanted: dict[str, tuple[np.dtype[Any], int]] = {
            f"found {kind}": (kind, threads * len(self.places) * SWEPT_SOURCES),
            "room": (np.dtype(float), threads * (height + climbed) * SWEPT_SOURCES),
            "listed": (np.dtype(np.int32), threads * len(self.ordering.above) * 2),
        }
        for name, (dtype, size) in wanted.items():
            if len(self.scratch.get(name, ())) < size:
                try:
                    self.scratch[name] = _cache_aligned_memory(size, dtype)
                except MemoryError as error:
                    raise _without_memory(dtype.itemsize * size) from error
        return [self.scratch[name] for name in wanted]


def _cache_aligned_memory(size: int, dtype: np.dtype[Any]) -> Array:
    """New memory that begins with a line of the cache."""
    numbers = np.empty(size + CACHE_LINE // dtype.itemsize, dtype)
    begin = -numbers.ctypes.data % CACHE_LINE // dtype.itemsize
    return numbers[begin : begin + size]


@dataclass(frozen=True, eq=False)
class Stack:
    """Nodes on the way from a root of the elimination tree: each below those above it.

    depth : supernode → how many nodes are above it
    places : how many are above each node of the ordering's `rows`
    height : more than any of these
    """

    depth: Array
    places: Array
    height: int

    @classmethod
    def of(cls, o: Ordering, owner: Array) -> Stack:
        of_supernode = nodes_above(o)
        of_node = (of_supernode - o.first[:-1])[owner] + np.arange(len(owner), dtype=np.int32)
        return cls(of_supernode, of_node[o.rows], int(of_node.max(initial=0)) + 1)


@dataclass(frozen=True, eq=False)
class Subtrees:
    """Subtrees of an elimination tree with about the same work, and what is above them all.

    of_supernode : its part, `count` above them all
    owner : node → its supernode
    """

    count: int
    of_supernode: Array
    owner: Array

    @classmethod
    def of(cls, o: Ordering, wanted: int) -> Subtrees:
        """At most `wanted` parts."""
        supers = len(o.above)
        of_supernode, handed = np.empty(supers, np.int32), np.empty(supers + 1, np.int64)
        tree = o.first, o.above, o.row_start
        stacks, work = np.empty(wanted + 1, np.int64), np.empty(wanted + 1)
        count = _plan(supers, wanted, *tree, of_supernode, handed, stacks, work)
        raise_without_memory([count], 16 * supers)
        owner = np.repeat(np.arange(supers, dtype=np.int32), np.diff(o.first))
        return cls(count, of_supernode, owner)

    @property
    def above(self) -> list[int]:
        """The supernodes above all parts, children before their parents."""
        supernodes: list[int] = np.flatnonzero(self.of_supernode == self.count).tolist()
        return supernodes


def _place_edges(graph: Graph, o: Ordering, places: Array, shortcuts: Array, threads: int) -> None:
    """The edges as the first shortcuts, and infinity elsewhere."""
    supers = len(o.above)
    edges = graph.lengths
    share = _shortcut_edges(
        *(graph.n, supers, edges.indptr.astype(np.int64, copy=False)),
        *(edges.indices.astype(np.int32, copy=False), edges.data.astype(float, copy=False)),
        *(o.permutation, places, o.first, o.row_start, o.rows, o.panel_start, shortcuts),
    )
    shortcuts[o.panel_start[-1] :] = np.inf
    slices = row_slices(supers, SUPERNODES_PER_CALL)
    states = in_threads(lambda part: share(part.start, part.stop), slices, threads)
    if any(states):
        raise DualfoldError(f"an edge is outside the eliminated pattern (status {min(states)})")


def _eliminate(o: Ordering, parts: Subtrees, shortcuts: Array, threads: int) -> list[int]:
    """Lower the shortcuts by the nodes before them; the states of the kernels."""
    n, supers, above = len(o.permutation), len(o.above), parts.above
    tree = n, supers, o.first, o.row_start, o.rows, o.panel_start, parts.owner
    in_part = _shortcuts_in_part(*tree, parts.of_supernode, shortcuts)
    states = in_threads(in_part, range(parts.count), threads)
    from_parts = _shortcuts_from_parts(*tree, parts.of_supernode, shortcuts)
    states += in_threads(from_parts, above[::-1], threads)
    in_rows = _shortcuts_in_rows(supers, o.first, o.row_start, o.panel_start, shortcuts)
    from_rows = _shortcuts_from_rows(*tree, shortcuts)

    for s in above:
        width = int(o.first[s + 1] - o.first[s])
        below = int(o.row_start[s + 1] - o.row_start[s])
        in_rows(0, width, s)
        rest = [
            (width + part.start, width + part.stop, s) for part in row_slices(below, BLOCK_ROWS)
        ]
        in_threads(lambda part: in_rows(*part), rest, threads)
        rest = [(part.start, part.stop, s) for part in row_slices(below, BLOCK_ROWS)]
        states += in_threads(lambda part: from_rows(*part), rest, threads)
    return states


def eliminated_graph(graph: Graph, count: int, *, alone: int = 0) -> EliminatedGraph | None:
    """The graph, eliminated, where that is predicted to pay for `count` scattered sources.

    `alone` of them are asked for one by one. The prediction is in counted work, so that the same
    graph and counts have the same answer.
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
    sweeps = -(-(count - alone) // SWEPT_SOURCES) * SWEEP_COST + alone * LONE_SWEEP_COST
    predicted = ELIMINATION_COST * ordering.flops + sweeps * ordering.factor_entries
    if predicted > budget or ordering.panel_start[-1] > MAX_SHORTCUTS:
        return None
    if 2 * tree_height(ordering) >= graph.n:
        return None
    try:
        return EliminatedGraph.of(graph, ordering, thread_count())
    except TooLarge:
        return None


def tree_height(ordering: Ordering) -> int:
    """Nodes on the longest way from a leaf of the elimination tree to its root, at most."""
    return int((nodes_above(ordering) + np.diff(ordering.first)).max(initial=0))


def nodes_above(ordering: Ordering) -> Array:
    """Number of nodes in the supernodes above each supernode, up to its root."""
    above = np.append(ordering.above, -1)  # the last one stands above the roots
    count = np.append(np.diff(ordering.first), 0)[above].astype(np.int32)
    while above.max() >= 0:  # those of 1, 2, 4, … supernodes above
        count += count[above]
        above = above[above]
    return count[:-1]


def _without_memory(size: int) -> TooLarge:
    return TooLarge(
        f"shortest paths found no memory for {size / 2**30:.1f} GiB; free some, or use ",
        Argument("n_jobs", 1),
    )

"""New points beside a graph: the rows they would have in it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Rows
from dualfold.errors import InvalidInput, counted
from dualfold.graph.builders import spread_of, variable_counts
from dualfold.graph.cosines import cosines_within, directions, is_cosine
from dualfold.graph.distances import (
    UNDERFLOW_DISTANCE,
    correct_underflow_lists,
    correct_underflow_pairs,
)
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.lower_bounds import frame_of
from dualfold.graph.metrics import check_distances, is_euclidean, is_precomputed, metric_distances
from dualfold.graph.neighbor_lists import Pairs, joined_pairs
from dualfold.graph.neighbors import nearest
from dualfold.graph.number_rows import OutOfRange, as_array, in_units, rows_alike
from dualfold.graph.scan import ReverseNeighbors, pairs_between, scan_queries
from dualfold.graph.search_plan import is_tree_faster
from dualfold.kernels.sparse import canonical_rows
from dualfold.kernels.threads import thread_count

# Distances between new and old points that are computed together.
MAX_TILE_DISTANCES = 2**23


@dataclass(frozen=True, eq=False)
class Attachment:
    """The rows that new points would have in a graph.

    lengths : m×n CSR, one row a new point
    lists : the nearest old points of each new one, all of them
    kept : those of them that the graph's rule makes neighbours
    same : the old point that each new one coincides with, −1 for none
    """

    lengths: sp.csr_array
    lists: Lists
    kept: Lists
    same: Array


def attach(graph: Graph, queries: Rows) -> Attachment:
    """Link new points to the graph by the rule that made it.

    With the "or" rule x ~ x_j when x_j is among x's nearest or x lies within the radius
    of x_j (the distance to its own last neighbour). A new point that *is* an old one
    does not count itself, so the old points get the rows they have in the graph.
    For metric="precomputed" the queries are their distances to the old points.
    """
    if graph.kind == "given":
        raise InvalidInput(
            "this graph was given without a rule for neighbours, so new points cannot be "
            "attached to it; build it with knn, radius or variable"
        )
    n_new = _count(queries)
    nearest_old, reverse = _nearest_and_reverse(graph, queries)
    lists = _own_lists(graph, queries, nearest_old)
    kept = _lists_by_rule(graph, lists)
    same = _coinciding_points(nearest_old, n_new)
    pairs = pairs_of_lists(kept)
    # Where distances underflow, equal ones are not listed by their numbers.
    tiny = ((kept.distances > 0) & (kept.distances < UNDERFLOW_DISTANCE)).any()
    if reverse is not None and _uses_own_kernel(graph) and not tiny:
        pairs = joined_pairs([pairs, _pairs_not_listed(kept, reverse, same)])
    elif reverse is not None:
        both = joined_pairs([pairs, _without_self(reverse)])
        pairs = pairs_of_lists(as_lists(both, n_new))
    elif graph.kind != "radius":
        pairs = pairs.where(pairs.distances <= graph.lists.radius[pairs.columns])
    rows, columns, distances = pairs
    lengths = sp.csr_array(sp.coo_array((distances, (rows, columns)), shape=(n_new, graph.n)))
    lengths.sort_indices()
    return Attachment(lengths, lists, kept, same)


def _nearest_and_reverse(graph: Graph, queries: Rows) -> tuple[Pairs, Pairs | None]:
    """The nearest old points of new ones, one more than the rule has, and reverse neighbours.

    The latter count by the "or" rule of lists alone.
    """
    count = (graph.n_neighbors or 0) + 1
    if graph.kind == "radius" or graph.symmetry != "or":
        return nearest_old_pairs(graph, queries, count), None
    radius = graph.lists.radius
    if not _uses_own_kernel(graph) or is_tree_faster(*graph.points.shape):  # the tree needs no scan
        return nearest_old_pairs(graph, queries, count), pairs_within_radii(graph, queries, radius)
    nearest_old = nearest_and_reverse(graph.points, min(count, graph.n), queries, radius)
    indices, distances, reverse = nearest_old
    return flat_pairs(indices, distances), reverse


def nearest_and_reverse(
    X: Rows, n_neighbors: int, queries: Rows, radius: Array
) -> tuple[Array, Array, Pairs]:
    """The nearest rows of X to each query (numbers, distances), as `nearest` finds them, and all
    pairs (query, row) at a distance within the radius of the row.

    Both come from one scan, which is faster than two: docs/dev/notes/neighbours.md
    """
    try:
        X, Q = rows_alike(X, queries)
    except OutOfRange as out:
        scaled = in_units(X, out.power), n_neighbors, in_units(queries, out.power)
        indices, distances, pairs = nearest_and_reverse(*scaled, np.ldexp(radius, -out.power))
        reverse = pairs._replace(distances=np.ldexp(pairs.distances, out.power))
        return indices, np.ldexp(distances, out.power), reverse
    frame = frame_of(X, Q, None)
    points, asked = frame.coordinates(X), frame.coordinates(Q)
    collected = ReverseNeighbors(points, asked, np.maximum(radius, UNDERFLOW_DISTANCE))
    lists = scan_queries(points, asked, n_neighbors, thread_count(None), reverse=collected)
    correct_underflow_lists(X, Q, *lists)
    pairs = collected.pairs()
    correct_underflow_pairs(Q, X, *pairs)
    return *lists, pairs.where(pairs.distances <= radius[pairs.columns])


def _uses_own_kernel(graph: Graph) -> bool:
    """Whether our kernel computes all distances: then both searches find the same bits."""
    plain = is_euclidean(graph.metric) and not is_precomputed(graph.metric)
    return plain and not sp.issparse(graph.points)


def _coinciding_points(pairs: Pairs, n: int) -> Array:
    """The old point that each new one coincides with; of several the first by its number."""
    zeros = np.flatnonzero(pairs.distances == 0)
    new, first = np.unique(pairs.rows[zeros], return_index=True)
    same = np.full(n, -1)
    same[new] = pairs.columns[zeros[first]]
    return same


def _pairs_not_listed(lists: Lists, pairs: Pairs, same: Array) -> Pairs:
    """Pairs missing from the lists, without the old point that a new one coincides with.

    All that is not farther than the last entry of a list is in it, so that nothing needs to be
    sorted, which would take 40 % of the time: docs/dev/notes/neighbours.md
    """
    rows, columns, distances = pairs
    last, last_row = np.full(len(lists), -np.inf), np.full(len(lists), -1)
    filled = lists.counts > 0
    ends = lists.indptr[1:][filled] - 1
    last[filled], last_row[filled] = lists.distances[ends], lists.indices[ends]
    listed = (distances < last[rows]) | ((distances == last[rows]) & (columns <= last_row[rows]))
    return pairs.where(~listed & (columns != same[rows]))


def pairs_of_lists(lists: Lists) -> Pairs:
    """The entries of lists as pairs."""
    return Pairs(np.repeat(np.arange(len(lists)), lists.counts), lists.indices, lists.distances)


def nearest_graph_points(graph: Graph, queries: Rows) -> tuple[Array, Array]:
    """The old points through which new ones enter the graph, and the distances to them, m×k.

    The nearest old points, an identical one included, as many as the graph's rule has;
    with a radius those within it, at least the nearest. Shorter rows repeat their first.
    """
    if graph.kind == "given":
        raise InvalidInput(
            "this graph was given without a rule for neighbours, so new points cannot enter it; "
            "build it with knn, radius or variable"
        )
    queries = queries if hasattr(queries, "shape") else as_array(queries, "X")
    lists = as_lists(nearest_old_pairs(graph, queries, graph.n_neighbors or 1), _count(queries))
    if graph.kind == "variable":
        # As few as the rule gives it, and the nearest one, which may be itself.
        nearest_old = nearest_old_pairs(graph, queries, (graph.n_neighbors or 0) + 1)
        lists = lists.first(_lists_by_rule(graph, _own_lists(graph, queries, nearest_old)).counts)
    if graph.kind == "radius":
        near = pairs_within_radii(graph, queries, np.full(graph.n, graph.radius))
        lists = as_lists(joined_pairs([pairs_of_lists(lists), near]), _count(queries))
    width = int(lists.counts.max(initial=1))
    columns = np.minimum(np.arange(width), lists.counts[:, None] - 1)
    where = lists.indptr[:-1, None] + np.maximum(columns, 0)
    return lists.indices[where], lists.distances[where]


def _own_lists(graph: Graph, queries: Rows, nearest_old: Pairs) -> Lists:
    """Each new point's nearest old ones, itself left out: within the radius, or t of them.

    nearest_old : t + 1 of them, itself among them
    """
    if graph.kind == "radius":
        near = pairs_within_radii(graph, queries, np.full(graph.n, graph.radius))
        return as_lists(_without_self(near), _count(queries))
    rows, columns, distances = _without_self(nearest_old)  # near to far as they come
    counts = np.bincount(rows, minlength=_count(queries))
    lists = Lists(np.concatenate([[0], np.cumsum(counts)]), columns, distances)
    return lists.first(graph.n_neighbors or 1)


def _lists_by_rule(graph: Graph, lists: Lists) -> Lists:
    """Lists cut to the neighbours that the graph's rule keeps."""
    if graph.kind != "variable":
        return lists
    k = graph.n_neighbors or 1
    return lists.first(variable_counts(spread_of(lists, k), k, graph.usual_spread or 0.0))


def nearest_old_pairs(graph: Graph, queries: Rows, k: int) -> Pairs:
    if is_precomputed(graph.metric):
        return pairs_of_lists(_distance_rows(graph, queries).first(k))
    lists = nearest(graph.points, min(k, graph.n), queries=queries, metric=graph.metric)
    return flat_pairs(lists.indices, lists.distances)


def flat_pairs(indices: Array, distances: Array, rows: Array | None = None) -> Pairs:
    """Lists of equal length as pairs; `rows` are their owners (None: 0, 1, 2, …)."""
    owners = np.arange(len(indices)) if rows is None else rows
    return Pairs(np.repeat(owners, indices.shape[1]), indices.ravel(), distances.ravel())


def pairs_within_radii(graph: Graph, queries: Rows, radius: Array) -> Pairs:
    """All pairs (new, old) at a distance within the old point's radius."""
    if is_precomputed(graph.metric):
        pairs = pairs_of_lists(_distance_rows(graph, queries))
        return pairs.where(pairs.distances <= radius[pairs.columns])
    if not is_euclidean(graph.metric):
        return _pairs_within_by_metric(graph, queries, radius)
    try:
        X, Q = rows_alike(graph.points, queries)
    except OutOfRange as out:
        scaled = replace(graph, points=in_units(graph.points, out.power))
        pairs = pairs_within_radii(
            scaled, in_units(queries, out.power), np.ldexp(radius, -out.power)
        )
        return pairs._replace(distances=np.ldexp(pairs.distances, out.power))
    frame, safe = frame_of(X, Q, None), np.maximum(radius, UNDERFLOW_DISTANCE)
    points, asked = frame.coordinates(X), frame.coordinates(Q)
    pairs = pairs_between(asked, points, safe, thread_count(None))
    correct_underflow_pairs(Q, X, *pairs)
    return pairs.where(pairs.distances <= radius[pairs.columns])


def _pairs_within_by_metric(graph: Graph, queries: Rows, radius: Array) -> Pairs:
    if is_cosine(graph.metric):  # as `nearest` computes it: the same pair, the same distance
        lines, asked = directions(graph.points), directions(queries, "queries")
        if lines is not None and asked is not None:
            return cosines_within(lines, asked, radius, thread_count(None))
    parts = []
    step = max(1, MAX_TILE_DISTANCES // graph.n)
    for start in range(0, _count(queries), step):
        rows = queries.iloc if hasattr(queries, "iloc") else queries
        block = metric_distances(rows[start : start + step], graph.points, graph.metric)
        row, column = np.nonzero(block <= radius)
        parts.append(Pairs(row + start, column, block[row, column]))
    return joined_pairs(parts)


def _distance_rows(graph: Graph, queries: Rows) -> Lists:
    """Precomputed distances to the old points as lists, near to far."""
    if queries.shape[1] != graph.n:
        raise InvalidInput(
            f"the distances of new points have {counted(queries.shape[1], 'column')}; there are "
            f"{graph.n} old points, one column each"
        )
    if sp.issparse(queries):
        matrix = canonical_rows(queries, "X")
        check_distances(matrix.data)
        rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        return as_lists(Pairs(rows, matrix.indices, matrix.data), matrix.shape[0])
    block = np.asarray(queries, dtype=float)
    check_distances(block.ravel())
    order = np.argsort(block, axis=1, kind="stable")
    return Lists.of_equal(order, np.take_along_axis(block, order, axis=1))


def _without_self(pairs: Pairs) -> Pairs:
    """Pairs without one old point at distance 0 from each row: the new point itself."""
    zeros = np.flatnonzero(pairs.distances == 0)
    _, first = np.unique(pairs.rows[zeros], return_index=True)
    others = np.ones(len(pairs.rows), bool)
    others[zeros[first]] = False
    return pairs.where(others)


def as_lists(pairs: Pairs, n: int) -> Lists:
    """Pairs as lists, near to far, each pair once."""
    order = np.lexsort((pairs.columns, pairs.distances, pairs.rows))
    rows, columns, distances = pairs.where(order)
    fresh = np.ones(len(rows), bool)
    fresh[1:] = (rows[1:] != rows[:-1]) | (columns[1:] != columns[:-1])
    counts = np.bincount(rows[fresh], minlength=n)
    return Lists(np.concatenate([[0], np.cumsum(counts)]), columns[fresh], distances[fresh])


def _count(queries: Rows) -> int:
    return int(queries.shape[0])

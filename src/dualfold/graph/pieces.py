"""Graphs of several pieces: count them, name the remedy, join them, or separate them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import minimum_spanning_tree

from dualfold.arrays import Array
from dualfold.errors import Argument, DisconnectedGraph, InPython, Message, PiecesJoined, warn
from dualfold.graph.builders import neighborhood_spread, searched_lists
from dualfold.graph.graph import Graph, Lists
from dualfold.graph.metrics import is_precomputed
from dualfold.graph.neighbor_lists import Pairs, joined_pairs
from dualfold.graph.neighbors import nearest

Link = tuple[int, int, float]
# The nearest row outside of a piece this small is among its next neighbours, in one query for
# all small pieces; a larger piece is searched against all other rows.
MAX_SMALL_PIECE_ROWS = 32
# Up to here lists are searched again with more neighbours, only to name a number, where every
# pair has to be compared (with a kd-tree always).
MAX_ROWS_TO_SEARCH_AGAIN = 20_000
MAX_EDGES_TO_SEARCH_AGAIN = 10_000_000
# Lists so many times as long are searched next: one search that is too wide costs less than two.
NEIGHBORS_RATIO = 3


def pieces_in_words(graph: Graph) -> Message:
    """Number of pieces, and what would join them, in words."""
    sizes = np.bincount(graph.piece_of)
    k, enough = graph.n_neighbors, joining_n_neighbors(graph)
    given = ("the given graph",) if graph.kind == "given" else ("the graph of ", graph.rule)
    words = Message(
        *(("the graph of ", Argument("n_neighbors", k)) if k else given),
        f" has {graph.n_pieces} pieces (largest {sizes[0]} of {graph.n} points)",
    )
    if enough is not None:
        return Message(words, "; ", Argument("n_neighbors", enough), " connects them")
    return Message(words, "; more neighbours may connect them") if k else words


def joining_n_neighbors(graph: Graph) -> int | None:
    """The smallest n_neighbors that gives one piece; None where it is not known.

    Number each edge by the smallest k that brings it in. The largest number in a
    minimum spanning tree is the smallest k that connects everything.
    """
    if graph.kind != "fixed" or graph.points is None or graph.n_neighbors is None:
        return None
    if graph.n_pieces == 1:
        return graph.n_neighbors
    if graph.search.method != "kd-tree" and graph.n > MAX_ROWS_TO_SEARCH_AGAIN:
        return None
    most = graph.n_neighbors
    while most < graph.n - 1:
        affordable = MAX_EDGES_TO_SEARCH_AGAIN // graph.n
        most = min(graph.n - 1, NEIGHBORS_RATIO * most, affordable + 2 * graph.n_neighbors)
        lists, _ = searched_lists(graph.points, most, graph.metric)
        tree = minimum_spanning_tree(_edge_ranks(lists, graph.symmetry))
        if tree.nnz == graph.n - 1:
            return int(tree.data.max())
        if most >= affordable:
            return None
    return None


SEPARATE_MESSAGE = Message(Argument("pieces", "separate"), " embeds each on its own")


def join_pieces(graph: Graph, *, otherwise: str = SEPARATE_MESSAGE) -> Graph:
    """Join the pieces of a graph by the shortest edges between them.

    The edges are those of a minimum spanning tree of the pieces (Borůvka's algorithm). A graph of
    one piece is returned as it is.

    Parameters
    ----------
    graph : Graph
        The neighbour graph; it must know its rows or their distances.
    otherwise : str, default="pieces='separate' embeds each on its own"
        End of the warning: what to do instead.

    Returns
    -------
    Graph
        The connected graph; `links` are the new edges.

    Raises
    ------
    DisconnectedGraph
        If only edges were given, so that no distance between pieces is known.

    Warns
    -----
    PiecesJoined
        If the graph had several pieces.

    See Also
    --------
    separate : Each piece as a graph of its own.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from dualfold.graph import join_pieces, knn
    >>> graph = knn(np.array([[0.0], [1.0], [10.0], [11.0]]), 1)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     join_pieces(graph).links
    ((2, 1, 9.0),)
    """
    if graph.n_pieces == 1:
        return graph
    labels, links = graph.piece_of.copy(), list[Link]()
    while labels.max() > 0:
        for i, j, length in sorted(
            _shortest_links(graph, labels), key=lambda link: (link[2], link[:2])
        ):
            if labels[i] != labels[j]:
                links.append((i, j, length))
                labels[labels == max(labels[i], labels[j])] = min(labels[i], labels[j])
        labels = np.unique(labels, return_inverse=True)[1]
    links.sort(key=lambda link: (link[2], link[:2]))
    plural = "s" if len(links) > 1 else ""
    warn(
        PiecesJoined(
            pieces_in_words(graph),
            f". They were joined by their {len(links)} shortest link{plural}; ",
            otherwise,
        )
    )
    return replace(graph, lengths=_with_links(graph.lengths, links), links=tuple(links))


def separate(graph: Graph) -> Iterator[tuple[Array, Graph]]:
    """Split a graph into its pieces, largest first.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.

    Yields
    ------
    rows : ndarray of int
        Row numbers of one piece.
    piece : Graph
        The graph of these rows.

    See Also
    --------
    join_pieces : One graph, with edges between the pieces.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn, separate
    >>> graph = knn(np.array([[0.0], [1.0], [10.0], [11.0], [11.5]]), 1)
    >>> [rows.tolist() for rows, piece in separate(graph)]
    [[2, 3, 4], [0, 1]]
    """
    for piece in range(graph.n_pieces):
        rows = np.flatnonzero(graph.piece_of == piece)
        yield rows, subgraph(graph, rows)


def merge_graphs(parts: Sequence[tuple[Array, Graph]], points: Any) -> Graph:
    """Graphs of some rows each as one graph over all rows of `points`: undoes `separate`.

    The rows of the parts are all rows, each once. There are no edges between parts, and no rule
    by which new points would find their neighbours: its kind is "given".
    """
    n = sum(len(rows) for rows, _ in parts)
    owners = np.concatenate([np.repeat(rows, part.lists.counts) for rows, part in parts])
    order = np.argsort(owners, kind="stable")  # lists stay as they are, from near to far
    lists = Lists(
        np.concatenate([[0], np.cumsum(np.bincount(owners, minlength=n))]),
        np.concatenate([rows[part.lists.indices] for rows, part in parts])[order],
        np.concatenate([part.lists.distances for _, part in parts])[order],
    )
    edges = [(rows, part.lengths.tocoo()) for rows, part in parts]
    lengths = _from_edges(
        np.concatenate([rows[edge.row] for rows, edge in edges]),
        np.concatenate([rows[edge.col] for rows, edge in edges]),
        np.concatenate([edge.data for _, edge in edges]),
        n,
    )
    graphs = [part for _, part in parts]
    spread = np.empty(n)
    for rows, part in parts:
        spread[rows] = neighborhood_spread(part)
    return replace(
        graphs[0],
        lengths=lengths,
        lists=lists,
        search=min((part.search for part in graphs), key=lambda search: search.recall),
        kind="given",
        points=points,
        n_neighbors=max(part.n_neighbors or 0 for part in graphs) or None,
        radius=None,
        spread=spread,
        usual_spread=None,
        links=(),
        weights=None,
    )


def one_piece(graph: Graph) -> Graph:
    """The graph itself, or `DisconnectedGraph` with the remedies."""
    if graph.n_pieces > 1:
        raise DisconnectedGraph(
            pieces_in_words(graph),
            "; ",
            Argument("pieces", "join"),
            InPython(" (dualfold.graph.join_pieces for a graph)"),
            " joins them by their shortest links, ",
            Argument("pieces", "separate"),
            InPython(" (dualfold.graph.separate)"),
            " embeds each on its own",
        )
    return graph


def _shortest_links(graph: Graph, labels: Array) -> list[Link]:
    """For every piece but the largest (label 0), the shortest link to another piece."""
    if graph.points is None or (sp.issparse(graph.points) and is_precomputed(graph.metric)):
        raise DisconnectedGraph(
            pieces_in_words(graph),
            ". It was given without coordinates, so the links that would join the pieces are not "
            "known: add edges until the number of connected components is 1, or use ",
            Argument("pieces", "separate"),
        )
    sizes = np.bincount(labels)
    parts: list[Pairs] = []
    small = np.flatnonzero((sizes[labels] <= MAX_SMALL_PIECE_ROWS) & (labels > 0))
    if len(small):
        k = min(graph.n, int(sizes[labels[small]].max()) + 1)
        indices, distances = _nearest_to(graph, small, np.arange(graph.n), k)
        outside = labels[indices] != labels[small][:, None]
        first = np.argmax(outside, axis=1)
        rows = np.arange(len(small))
        parts.append(Pairs(small, indices[rows, first], distances[rows, first]))
    for piece in np.flatnonzero(sizes > MAX_SMALL_PIECE_ROWS):
        if piece == 0:
            continue
        inside, outside = np.flatnonzero(labels == piece), np.flatnonzero(labels != piece)
        indices, distances = _nearest_to(graph, inside, outside, 1)
        parts.append(Pairs(inside, outside[indices[:, 0]], distances[:, 0]))
    pairs = joined_pairs(parts)
    pairs = pairs.where(np.lexsort((pairs.columns, pairs.rows, pairs.distances)))
    best = pairs.where(np.unique(labels[pairs.rows], return_index=True)[1])
    return list(zip(*(part.tolist() for part in best), strict=True))


def _nearest_to(graph: Graph, queries: Array, among: Array, k: int) -> tuple[Array, Array]:
    if is_precomputed(graph.metric):
        block = np.asarray(graph.points)[np.ix_(queries, among)]
        order = np.argsort(block, axis=1, kind="stable")[:, :k]
        return order, np.take_along_axis(block, order, axis=1)
    rows = graph.points.iloc if hasattr(graph.points, "iloc") else graph.points
    everything = len(among) == graph.n
    lists = nearest(
        graph.points if everything else rows[among], k, queries=rows[queries], metric=graph.metric
    )
    return lists.indices, lists.distances


def _with_links(lengths: sp.csr_array, links: list[Link]) -> sp.csr_array:
    """The lengths with more edges; SciPy's sums would drop stored zeros, this does not."""
    ends = np.array([(i, j) for i, j, _ in links])
    extra = np.array([length for *_, length in links])
    coo = lengths.tocoo()
    rows = np.concatenate([coo.row, ends[:, 0], ends[:, 1]])
    columns = np.concatenate([coo.col, ends[:, 1], ends[:, 0]])
    data = np.concatenate([coo.data, extra, extra])
    return _from_edges(rows, columns, data, lengths.shape[0])


def _from_edges(rows: Array, columns: Array, data: Array, n: int) -> sp.csr_array:
    """Edges, each in both directions, as a matrix of lengths that keeps those of length 0."""
    order = np.lexsort((columns, rows))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    kind = np.int32 if len(rows) < 2**31 else np.int64
    columns, indptr = columns[order].astype(kind), indptr.astype(kind)
    return sp.csr_array((data[order], columns, indptr), shape=(n, n))


def subgraph(graph: Graph, rows: Array) -> Graph:
    """Keep some rows of a graph, with the edges between them.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    rows : ndarray of int
        Row numbers, in ascending order.

    Returns
    -------
    Graph
        The graph of these rows, numbered from 0.

    See Also
    --------
    separate : The graph of each piece.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.graph.pieces import subgraph
    >>> graph = knn(np.array([[0.0], [1.0], [3.0], [6.0]]), 1)
    >>> subgraph(graph, np.array([0, 1, 2])).n_edges
    2
    """
    new_row = np.full(graph.n, -1)
    new_row[rows] = np.arange(len(rows))
    owners = np.repeat(np.arange(graph.n), graph.lists.counts)
    mine = (new_row[owners] >= 0) & (new_row[graph.lists.indices] >= 0)
    counts = np.bincount(new_row[owners[mine]], minlength=len(rows))
    lists = Lists(
        np.concatenate([[0], np.cumsum(counts)]),
        new_row[graph.lists.indices[mine]],
        graph.lists.distances[mine],
    )
    points: Any = graph.points
    if points is not None:
        picked = points.iloc[rows] if hasattr(points, "iloc") else points[rows]
        points = picked[:, rows] if is_precomputed(graph.metric) else picked
    lengths = sp.csr_array(graph.lengths[rows][:, rows])
    weights = None if graph.weights is None else sp.csr_array(graph.weights[rows][:, rows])
    spread = None if graph.spread is None else graph.spread[rows]
    return replace(
        graph, lengths=lengths, lists=lists, points=points, spread=spread, weights=weights
    )


def _edge_ranks(lists: Lists, symmetry: str) -> sp.csr_array:
    """The smallest n_neighbors at which each edge of the graph appears."""
    n = len(lists)
    rank = np.arange(len(lists.indices)) - np.repeat(lists.indptr[:-1], lists.counts) + 1.0
    # Short indices, which SciPy's spanning tree before 1.15 needs; there are at most 10⁷ edges.
    pattern = lists.indices.astype(np.int32), lists.indptr.astype(np.int32)
    ranks = sp.csr_array((rank, *pattern), shape=(n, n))
    if symmetry == "or":
        return ranks  # the spanning tree takes the smaller of both directions itself
    both = ranks.minimum(ranks.T).astype(bool)
    return ranks.maximum(ranks.T).multiply(both).tocsr()

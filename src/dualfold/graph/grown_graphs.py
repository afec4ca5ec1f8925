"""A graph that grows by rows that come, and shrinks by rows that leave.

The grown graph is the one that its rule makes of all rows; only new distances are computed. A row
that comes is listed by the old rows that it is near enough to, and lists old and new ones; a row
that leaves makes room in the lists of those that had it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric, Rows
from dualfold.errors import InvalidInput
from dualfold.graph.attachment import (
    as_lists,
    flat_pairs,
    nearest_old_pairs,
    pairs_of_lists,
    pairs_within_radii,
)
from dualfold.graph.builders import radius, variable
from dualfold.graph.graph import Graph, Lists, symmetric_lengths
from dualfold.graph.metrics import is_precomputed
from dualfold.graph.neighbor_lists import Pairs, joined_pairs
from dualfold.graph.neighbors import nearest


def grown_graph(graph: Graph, new: Rows) -> Graph:
    """The graph of the old rows and of new ones behind them, without links that joined pieces."""
    refuse_fixed_graph(graph)
    points = stacked_rows(graph.points, new)
    if graph.kind == "variable":  # its lists are cut by a mean over all rows
        return _graph_from_nothing(graph, points)
    if graph.kind == "radius":
        lists = _lists_within_radius(graph, new)
    else:
        lists = _lists_of_nearest(graph, new)
    return _graph_of_lists(graph, points, lists)


def graph_without(graph: Graph, gone: Array) -> Graph:
    """The graph of the rows that stay, in their order, without links that joined pieces.

    gone : whether each row leaves
    """
    refuse_fixed_graph(graph)
    points, stay = graph.points[~gone], np.flatnonzero(~gone)
    if graph.kind == "variable":
        return _graph_from_nothing(graph, points)
    new_row = np.full(graph.n, -1)
    new_row[stay] = np.arange(len(stay))
    rows, columns, distances = pairs_of_lists(graph.lists)
    kept = ~gone[rows] & ~gone[columns]
    pairs = Pairs(new_row[rows[kept]], new_row[columns[kept]], distances[kept])
    if graph.kind == "fixed":
        short = np.unique(new_row[rows[~gone[rows] & gone[columns]]])
        others = ~np.isin(pairs.rows, short)
        count = min(graph.n_neighbors or 1, len(stay) - 1)
        searched = nearest_others(points, short, count, graph.metric)
        pairs = joined_pairs([pairs.where(others), flat_pairs(*searched, short)])
    return _graph_of_lists(graph, points, as_lists(pairs, len(stay)))


def refuse_fixed_graph(graph: Graph) -> None:
    """Refuse graphs that no row can join or leave: without a rule, or without rows."""
    if graph.kind == "given" or graph.points is None or is_precomputed(graph.metric):
        raise InvalidInput(
            "this graph was made from edges or distances that were given, and nothing says which "
            "edges other rows would have; fit on features"
        )


def stacked_rows(old: Any, new: Any) -> Any:
    """The rows of two tables as one, sparse where the first is."""
    if sp.issparse(old):
        return sp.csr_array(sp.vstack([old, sp.csr_array(new)]))
    dense = new.toarray() if sp.issparse(new) else new
    return np.concatenate([np.asarray(old), np.asarray(dense)])


def _lists_of_nearest(graph: Graph, new: Rows) -> Lists:
    """The nearest rows of all rows: old lists, with new rows that are as near, and new lists."""
    n, m = graph.n, int(new.shape[0])
    count = graph.n_neighbors or 1
    of_new = nearest_old_pairs(graph, new, count)
    parts = [of_new._replace(rows=of_new.rows + n)]
    if m > 1:
        among = nearest(new, min(count, m - 1), metric=graph.metric)
        parts.append(flat_pairs(among.indices + n, among.distances, n + np.arange(m)))
    # An old row with fewer others than the rule asks for lists every new one.
    radii = np.where(graph.lists.counts < count, np.inf, graph.lists.radius)
    rows, columns, distances = pairs_within_radii(graph, new, radii)
    touched = np.zeros(n, bool)
    touched[columns] = True
    listed = np.repeat(touched, graph.lists.counts)
    changed = pairs_of_lists(graph.lists).where(listed)
    every = joined_pairs([changed, Pairs(columns, rows + n, distances), *parts])
    lists = as_lists(every, n + m).first(count)
    return _with_untouched(graph.lists, touched, lists)


def _with_untouched(old: Lists, touched: Array, changed: Lists) -> Lists:
    """Lists of old rows that no new row entered, and the changed ones; nothing is sorted again."""
    n, m = len(old), len(changed) - len(old)
    counts = np.concatenate([np.where(touched, changed.counts[:n], old.counts), changed.counts[n:]])
    indptr = np.concatenate([[0], np.cumsum(counts)])
    from_old = np.repeat(np.concatenate([~touched, np.zeros(m, bool)]), counts)
    indices = np.empty(indptr[-1], np.result_type(old.indices, changed.indices))
    distances = np.empty(indptr[-1])
    kept = np.repeat(~touched, old.counts)
    indices[from_old], distances[from_old] = old.indices[kept], old.distances[kept]
    indices[~from_old], distances[~from_old] = changed.indices, changed.distances
    return Lists(indptr, indices, distances)


def _lists_within_radius(graph: Graph, new: Rows) -> Lists:
    """All rows within the radius: old pairs, pairs with a new row both ways, and new pairs."""
    n, m = graph.n, int(new.shape[0])
    rows, columns, distances = pairs_within_radii(graph, new, np.full(n, graph.radius))
    both_ways = Pairs(rows + n, columns, distances), Pairs(columns, rows + n, distances)
    parts = [pairs_of_lists(graph.lists), *both_ways]
    if m > 1:
        among = pairs_of_lists(radius(new, graph.radius or 0.0, metric=graph.metric).lists)
        parts.append(Pairs(among.rows + n, among.columns + n, among.distances))
    return as_lists(joined_pairs(parts), n + m)


def nearest_others(X: Rows, rows: Array, count: int, metric: Metric) -> tuple[Array, Array]:
    """The nearest other rows of some rows of X, and their distances: len(rows) × count."""
    if not len(rows) or count < 1:
        return np.zeros((len(rows), 0), int), np.zeros((len(rows), 0))
    lists = nearest(X, count + 1, queries=X[rows], metric=metric)
    is_self = lists.indices == np.asarray(rows)[:, None]
    is_self[~is_self.any(axis=1), -1] = True  # more copies of a row than places: it is one of them
    shape = len(rows), count
    return lists.indices[~is_self].reshape(shape), lists.distances[~is_self].reshape(shape)


def _graph_from_nothing(graph: Graph, points: Any) -> Graph:
    settings: dict[str, Any] = {"metric": graph.metric, "symmetry": graph.symmetry}
    return variable(points, graph.n_neighbors or 1, **settings)


def _graph_of_lists(graph: Graph, points: Any, lists: Lists) -> Graph:
    lengths = symmetric_lengths(lists, graph.symmetry)
    return replace(graph, lengths=lengths, lists=lists, points=points, links=(), spread=None)

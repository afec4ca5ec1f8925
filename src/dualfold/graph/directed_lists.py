"""The directed lists of a graph: with links and unlisted points, connected, and where they end."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array
from dualfold.errors import Argument, DisconnectedGraph, InvalidInput
from dualfold.graph.graph import Graph, Lists, refuse_sets
from dualfold.graph.metrics import is_precomputed
from dualfold.graph.pieces import one_piece


def neighborhoods(graph: Graph, *, n_components: int, least: int = 1) -> tuple[Any, Lists]:
    """The coordinates of a graph in one piece and its lists, `least` neighbours or more each.

    Links that joined pieces are in the lists of both their ends.
    """
    points = graph.points
    if points is None or is_precomputed(graph.metric):
        raise InvalidInput(
            f"local weights are made from the coordinates of the neighbours, and this graph "
            f"({graph.rule}) knows only distances; make it from the points: "
            "dualfold.graph.knn(X, n_neighbors)"
        )
    refuse_sets(graph)
    if not 1 <= n_components <= points.shape[1]:
        raise InvalidInput(
            Argument("n_components", n_components),
            f" was asked for, and the points have {points.shape[1]} columns; give a number "
            f"from 1 to {points.shape[1]}",
        )
    n = points.shape[0]
    if n <= least:
        raise InvalidInput(
            Argument("n_components", n_components),
            f" needs {least} or more neighbours of every row here, so {least + 1} or more rows; "
            f"there are {n}",
        )
    lists = linked_lists(graph)
    shortest = int(lists.counts.min())
    if shortest < least:
        raise InvalidInput(
            Argument("n_components", n_components),
            f" needs {least} or more neighbours of every point here; point "
            f"{int(lists.counts.argmin())} has {shortest} ({graph.rule}). Raise ",
            Argument("n_neighbors"),
            " or lower ",
            Argument("n_components"),
        )
    one_piece(graph)
    return points, lists


def linked_lists(graph: Graph) -> Lists:
    """The lists, with the links that joined pieces in those of both ends."""
    if not graph.links:
        return graph.lists
    ends = np.array([(i, j) for i, j, _ in graph.links])
    length = np.array([length for *_, length in graph.links])
    return _with_entries(
        graph.lists,
        np.concatenate([ends[:, 0], ends[:, 1]]),
        np.concatenate([ends[:, 1], ends[:, 0]]),
        np.concatenate([length, length]),
    )


def with_unlisted_points(lists: Lists) -> Lists:
    """The lists, with every point that no other point lists added to its own.

    Where only neighbours and not the point itself are linked, such a point would be free.
    """
    alone = np.flatnonzero(np.bincount(lists.indices, minlength=len(lists)) == 0)
    return _with_entries(lists, alone, alone, np.zeros(len(alone))) if len(alone) else lists


def connected_lists(lists: Lists) -> Lists:
    """The lists themselves, or `DisconnectedGraph` when they form groups that share no point.

    Each of two such groups could be moved without the other.
    """
    counts = lists.counts
    heads = np.repeat(lists.indices[lists.indptr[:-1]], counts)
    n = len(lists)
    edges = sp.csr_array((np.ones(len(heads), np.int8), (heads, lists.indices)), shape=(n, n))
    groups = connected_components(edges, directed=False)[0]
    if groups > 1:
        raise DisconnectedGraph(
            f"the neighbourhoods fall into {groups} groups that share no point, so nothing "
            "ties the groups together; raise ",
            Argument("n_neighbors"),
        )
    return lists


def terminal_components(lists: Lists) -> Array:
    """For each point the terminal component it is in, from the largest; −1 in none.

    A terminal component is a set of points that reach one another along the lists and
    no other point. Every walk ends in one, so there is at least one.
    """
    n = len(lists)
    steps = sp.csr_array((np.ones(len(lists.indices)), lists.indices, lists.indptr), shape=(n, n))
    count, component = connected_components(steps, directed=True, connection="strong")
    leaves = np.repeat(component, lists.counts) != component[lists.indices]
    terminal = np.ones(count, bool)
    terminal[np.repeat(component, lists.counts)[leaves]] = False
    sizes = np.where(terminal, np.bincount(component, minlength=count), 0)
    number = np.full(count, -1)
    order = np.argsort(-sizes, kind="stable")[: int(terminal.sum())]
    number[order] = np.arange(len(order))
    return np.asarray(number[component])


def _with_entries(lists: Lists, owners: Array, indices: Array, distances: Array) -> Lists:
    """The lists with more entries, each row from near to far again."""
    n = len(lists)
    owner = np.concatenate([np.repeat(np.arange(n), lists.counts), owners])
    index = np.concatenate([lists.indices, indices])
    distance = np.concatenate([lists.distances, distances])
    order = np.lexsort((index, distance, owner))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=n))])
    return Lists(indptr, index[order], distance[order])

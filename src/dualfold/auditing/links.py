"""Links in the data: the graph of a part of the points, and the best cut through it.

Kannan, Vempala and Vetta, "On clusterings: good, bad and spectral" (2004), for the cut.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array
from dualfold.errors import DualfoldError
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto

__all__ = ["LEAST", "fiedler", "graph_of", "parts_of"]

# Points that a part has at least, to be judged.
LEAST = 20


def graph_of(lists: Array, rows: Array) -> sp.csr_array:
    """The links inside a part, both ways, each of weight 1."""
    place = np.full(len(lists), -1)
    place[rows] = np.arange(len(rows))
    ends = place[lists[rows]]
    start = np.repeat(np.arange(len(rows)), lists.shape[1])
    inside = ends.ravel() >= 0
    pairs = start[inside], ends.ravel()[inside]
    links = sp.csr_array((np.ones(len(pairs[0])), pairs), shape=(len(rows), len(rows)))
    both = links + links.T
    both.data[:] = 1.0
    return both


def fiedler(graph: sp.csr_array) -> Array | None:
    """The second eigenvector of the normalised Laplacian; None where no solver arrives."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    laplacian = sp.diags_array(degrees).tocsr() - graph
    problem = TraceProblem(
        laplacian, sp.diags_array(degrees).tocsr(), 1, "min", excluded=np.ones(len(degrees))
    )
    try:
        return np.asarray(Auto(tol=1e-4).solve(problem).vectors[:, 0])
    except DualfoldError:
        return None


def parts_of(lists: Array, rows: Array) -> Array | None:
    """True for one of the two parts that the data would cut a group into; None: too small.

    The cut of least conductance along Fiedler's vector (a sweep).
    """
    graph = graph_of(lists, rows)
    count, pieces = connected_components(graph, directed=False)
    sizes = np.bincount(pieces)
    if count > 1 and len(rows) - sizes.max() >= LEAST:
        return np.asarray(pieces != np.argmax(sizes))
    kept = np.flatnonzero(pieces == np.argmax(sizes))
    if len(kept) < 2 * LEAST:
        return None
    vector = fiedler(graph[kept][:, kept])
    if vector is None:
        return None
    order = kept[np.argsort(vector, kind="stable")]
    place = np.full(len(rows), len(rows))
    place[order] = np.arange(len(order))
    edges = sp.triu(graph).tocoo()
    ends = np.sort([place[edges.row], place[edges.col]], axis=0)
    ends = ends[:, ends[1] < len(rows)]
    opened = np.bincount(ends[0], minlength=len(order)) - np.bincount(ends[1], minlength=len(order))
    cut = np.cumsum(opened)
    degrees = np.asarray(graph.sum(axis=1)).ravel()[order]
    volume = np.cumsum(degrees)
    lighter = np.minimum(volume, volume[-1] - volume)
    valid = slice(LEAST - 1, len(order) - LEAST)
    at = LEAST - 1 + int(np.argmin(cut[valid] / np.maximum(lighter[valid], 1)))
    return np.asarray(place <= at)

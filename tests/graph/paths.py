"""Graphs for shortest paths, and their paths by Floyd–Warshall."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from dualfold.graph import from_lengths, knn
from tests.tools.tables import digit_points, roll_points


def graph_of(n, edges):
    """A graph from rows (i, j, length); zeros are edges."""
    edges = np.array(edges, dtype=float).reshape(-1, 3)
    i, j = edges[:, :2].astype(int).T
    order = np.lexsort((np.concatenate([j, i]), np.concatenate([i, j])))
    rows, columns = np.concatenate([i, j])[order], np.concatenate([j, i])[order]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
    lengths = np.concatenate([edges[:, 2]] * 2)[order]
    return from_lengths(sp.csr_array((lengths, columns, indptr), shape=(n, n)))


def random_graph(n, m, seed, zeros=0.0):
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.sort(rng.integers(0, n, (m, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    lengths = rng.exponential(size=len(pairs)) ** 3  # long and short ones side by side
    lengths[rng.random(len(pairs)) < zeros] = 0
    return graph_of(n, np.column_stack([pairs, lengths]))


def by_floyd(graph):
    """Floyd–Warshall on a dense matrix in which absent is infinite, so zeros are edges."""
    D = np.full((graph.n, graph.n), np.inf)
    coo = graph.lengths.tocoo()
    D[coo.row, coo.col] = coo.data
    np.fill_diagonal(D, 0)
    for k in range(graph.n):
        np.minimum(D, D[:, k, None] + D[k], out=D)
    return D


GRAPHS = {
    "sparse, in pieces": random_graph(300, 330, 0),
    "dense": random_graph(120, 3000, 1),
    "zero lengths": random_graph(250, 700, 2, zeros=0.4),
    "all zero": random_graph(60, 200, 3, zeros=1.1),
    "roll": knn(roll_points(500, random_state=0), 7),
    "digits": knn(digit_points(400), 5),
    "fewer points than lanes": random_graph(7, 10, 4),
}

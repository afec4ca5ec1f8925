"""Graph → Laplacian L = Deg − W, with three kinds of weights.

Each function returns (L, degrees): L sparse and symmetric with L·1 = 0, degrees the
row sums of W. "Normalised" is not another matrix but another inner product: pass the
degrees as B of the trace problem.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.graph import Graph
from dualfold.weights.affinity import Affinity, Weights, affinity

Laplacian = tuple[sp.csr_array, Array]


def heat_laplacian(graph: Graph, *, width: float | None = None) -> Laplacian:
    """W_ij = exp(−‖x_i − x_j‖²/σ²) on edges, σ = `width` (default: `heat_width`)."""
    return laplacian_of(graph, affinity(graph, weights="heat", width=width))


def density_laplacian(graph: Graph, *, n_neighbors: int | None = None) -> Laplacian:
    """W_ij = exp(−‖x_i − x_j‖²/(t·A_i·A_j)) on edges: widths follow the local density.

    A_i is the spread of i's t nearest points (`graph.neighborhood_spread`), t = `n_neighbors`
    (default: the graph's own), also where a variable graph keeps fewer of them.
    """
    return laplacian_of(graph, affinity(graph, weights="density", n_neighbors=n_neighbors))


def weighted_laplacian(
    graph: Graph, *, weights: Weights = "heat", width: float | None = None
) -> Laplacian:
    """The Laplacian whose weights have this name; `width` is for heat weights."""
    return laplacian_of(graph, affinity(graph, weights=weights, width=width))


def laplacian_of(graph: Graph, rule: Affinity) -> Laplacian:
    """The Laplacian with weights by that rule."""
    weights = rule.of_graph(graph)
    shape = graph.lengths.shape
    W = sp.csr_array((weights, graph.lengths.indices, graph.lengths.indptr), shape=shape)
    if not weights.all():
        heavy = W.copy()
        heavy.eliminate_zeros()
        pieces = connected_components(heavy, directed=False)[0]
        if pieces > graph.n_pieces:
            longest = float(graph.lengths.data.max())
            raise InvalidInput(
                rule.words,
                " is too narrow: weights of long edges underflow to 0 and the graph "
                f"falls into {pieces} pieces; the longest edge is {longest:.3g}, use ",
                Argument("width", float(f"{longest / 10:.2g}")),
                " or more (",
                Argument("width", None),
                " chooses one)",
            )
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(degrees, format="csr") - W), degrees

"""Graph → Laplacian L = Deg − W, with three kinds of weights.

Each function returns (L, degrees): L sparse and symmetric with L·1 = 0, degrees the
row sums of W. "Normalised" is not another matrix but another inner product: pass the
degrees as B of the trace problem.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.errors import InvalidInput
from dualfold.graph.build import neighborhood_spread
from dualfold.graph.graph import Graph

Array = np.ndarray[Any, np.dtype[Any]]
Laplacian = tuple[sp.csr_array, Array]
Weights = Literal["heat", "binary", "density"]


def heat_width(graph: Graph) -> float:
    """The kernel width taken when none is given: the root mean square edge length.

    An edge of that length weighs 1/e, whatever the unit of the data.
    """
    squares = float(np.mean(np.square(graph.lengths.data))) if graph.lengths.nnz else 0.0
    return float(np.sqrt(squares)) or 1.0  # only duplicates: every weight is 1 anyway


def heat_laplacian(graph: Graph, *, width: float | None = None) -> Laplacian:
    """W_ij = exp(−‖x_i − x_j‖²/σ²) on edges, σ = `width` (default: `heat_width`)."""
    if width is not None and not (np.isfinite(width) and width > 0):
        raise InvalidInput(f"width is {width}; a kernel width is a positive number (or None)")
    sigma = heat_width(graph) if width is None else float(width)
    exponents = np.square(graph.lengths.data / sigma)
    return _laplacian(graph, np.exp(-exponents), f"width={sigma:.3g}")


def binary_laplacian(graph: Graph) -> Laplacian:
    """W_ij = 1 on edges."""
    return _laplacian(graph, np.ones(graph.lengths.nnz), "binary weights")


def density_laplacian(graph: Graph, *, n_neighbors: int | None = None) -> Laplacian:
    """W_ij = exp(−‖x_i − x_j‖²/(t·A_i·A_j)) on edges: widths follow the local density.

    A_i is the spread of i's t nearest neighbours, t = `n_neighbors` (default: those
    of the graph). Points surrounded by duplicates only have no spread of their own;
    they borrow the smallest one that is not 0.
    """
    t = n_neighbors or graph.n_neighbors or int(graph.lists.counts.max())
    spread = neighborhood_spread(graph.lists, t)
    smallest = spread[spread > 0].min() if (spread > 0).any() else 1.0
    spread = np.where(spread > 0, spread, smallest)
    rows = np.repeat(np.arange(graph.n), np.diff(graph.lengths.indptr))
    scales = t * spread[rows] * spread[graph.lengths.indices]
    return _laplacian(graph, np.exp(-np.square(graph.lengths.data) / scales), "density weights")


def weighted_laplacian(
    graph: Graph, *, weights: Weights = "heat", width: float | None = None
) -> Laplacian:
    """The Laplacian whose weights have this name; `width` is for heat weights."""
    if weights == "heat":
        return heat_laplacian(graph, width=width)
    if width is not None:
        raise InvalidInput(f"width is {width}, but {weights!r} weights have none; leave it None")
    if weights == "binary":
        return binary_laplacian(graph)
    if weights == "density":
        return density_laplacian(graph)
    raise InvalidInput(f"weights is {weights!r}; it is 'heat', 'binary' or 'density'")


def _laplacian(graph: Graph, weights: Array, made: str) -> Laplacian:
    shape = graph.lengths.shape
    W = sp.csr_array((weights, graph.lengths.indices, graph.lengths.indptr), shape=shape)
    if not weights.all():
        heavy = W.copy()
        heavy.eliminate_zeros()
        pieces = connected_components(heavy, directed=False)[0]
        if pieces > graph.n_pieces:
            longest = float(graph.lengths.data.max())
            raise InvalidInput(
                f"{made} is too narrow: weights of long edges underflow to 0 and the graph falls "
                f"into {pieces} pieces; the longest edge is {longest:.3g}, use "
                f"width={longest / 10:.2g} or more (width=None chooses one)"
            )
    degrees = np.asarray(W.sum(axis=1)).ravel()
    return sp.csr_array(sp.diags_array(degrees, format="csr") - W), degrees

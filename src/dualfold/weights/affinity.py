"""How an edge length becomes a weight: heat, binary or density-scaled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.attach import Attachment
from dualfold.graph.build import neighborhood_spread
from dualfold.graph.graph import Graph

Weights = Literal["heat", "binary", "density"]


@dataclass(frozen=True, eq=False)
class Affinity:
    """One rule for weights, with what it learnt from a graph, so that new edges fit in.

    By its `kind`:

    heat     W_ij = exp(−‖x_i − x_j‖²/σ²), σ = `width`
    binary   W_ij = 1
    density  W_ij = exp(−‖x_i − x_j‖²/(t·A_i·A_j)), A = `spread`, t = `n_neighbors`
    """

    kind: Weights
    width: float | None = None
    n_neighbors: int | None = None
    spread: Array | None = None

    @property
    def words(self) -> str:
        """The rule in a few words, for titles."""
        return f"width={self.width:.3g}" if self.kind == "heat" else f"{self.kind} weights"

    def of_graph(self, graph: Graph) -> Array:
        """The weights of the graph's edges, in the order of `graph.lengths.data`.

        Links that joined pieces weigh 1: by their length they would weigh nothing, the
        pieces would be apart all the same and all but one would collapse to a point.
        """
        spread = self.spread if self.spread is not None else np.zeros(0)
        return np.where(graph.is_link, 1.0, self._weights(graph.lengths, spread, spread))

    def of_attachment(self, new: Attachment) -> sp.csr_array:
        """The weights between new points (rows) and old ones."""
        spread, old = np.zeros(0), np.zeros(0)
        if self.spread is not None:
            old = self.spread
            spread = _positive(neighborhood_spread(new.lists, self.n_neighbors or 1))
        W = new.lengths.copy()
        W.data = self._weights(new.lengths, spread, old)
        return W

    def _weights(self, lengths: sp.csr_array, row_spread: Array, column_spread: Array) -> Array:
        if self.kind == "binary":
            return np.ones(lengths.nnz)
        squares = np.square(lengths.data)
        if self.kind == "heat":
            assert self.width is not None
            return np.exp(-squares / self.width**2)
        assert self.n_neighbors is not None
        rows = np.repeat(row_spread, np.diff(lengths.indptr))
        return np.exp(-squares / (self.n_neighbors * rows * column_spread[lengths.indices]))


def affinity(
    graph: Graph,
    *,
    weights: Weights = "heat",
    width: float | None = None,
    n_neighbors: int | None = None,
) -> Affinity:
    """The rule of that name, fitted to the graph.

    `width` is for heat weights (default: `heat_width`), `n_neighbors` for density
    weights (default: the graph's own number).
    """
    if weights == "heat":
        if width is not None and not (np.isfinite(width) and width > 0):
            raise InvalidInput(
                Argument("width"), f" is {width}; a kernel width is a positive number (or None)"
            )
        return Affinity("heat", width=heat_width(graph) if width is None else float(width))
    if width is not None:
        raise InvalidInput(
            Argument("width"), f" is {width}, but {weights!r} weights have none; leave it None"
        )
    if weights == "binary":
        return Affinity("binary")
    if weights == "density":
        t = n_neighbors or graph.n_neighbors or int(graph.lists.counts.max())
        spread = _positive(neighborhood_spread(graph.lists, t))
        return Affinity("density", n_neighbors=t, spread=spread)
    raise InvalidInput(Argument("weights"), f" is {weights!r}; it is 'heat', 'binary' or 'density'")


def heat_width(graph: Graph) -> float:
    """The kernel width taken when none is given: the root mean square edge length.

    An edge of that length weighs 1/e, whatever the unit of the data.
    """
    lengths = graph.lengths.data[~graph.is_link] if graph.links else graph.lengths.data
    squares = float(np.mean(np.square(lengths))) if len(lengths) else 0.0
    return float(np.sqrt(squares)) or 1.0  # only duplicates: every weight is 1 anyway


def _positive(spread: Array) -> Array:
    """Points among duplicates have no spread; they borrow the smallest that is not 0."""
    smallest = spread[spread > 0].min() if (spread > 0).any() else 1.0
    return np.where(spread > 0, spread, smallest)

"""The neighbour graph: immutable, with the rule and the search that made it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.metrics import is_precomputed
from dualfold.graph.neighbor_lists import Search
from dualfold.graph.set_distances import are_sets
from dualfold.kernels import kernel
from dualfold.kernels.sparse import canonical_rows, rows_are_sound

Symmetry = Literal["or", "and"]
_pieces = kernel("graph_pieces")
_symmetric_lists = kernel("symmetric_lists")
Kind = Literal["fixed", "variable", "radius", "given"]


@dataclass(frozen=True, eq=False)
class Lists:
    """Directed neighbour lists of any length; row i is indices[indptr[i]:indptr[i+1]].

    Rows run from near to far, ties by index; a point is not in its own list.
    """

    indptr: Array
    indices: Array
    distances: Array

    @classmethod
    def of_equal(cls, indices: Array, distances: Array) -> Lists:
        """Lists of k entries each, from n×k arrays."""
        n, k = indices.shape
        return cls(np.arange(0, n * k + 1, k), indices.ravel(), distances.ravel())

    @property
    def counts(self) -> Array:
        """Number of neighbours that each row lists."""
        return np.diff(self.indptr)

    @property
    def radius(self) -> Array:
        """The distance from each row to the last that it lists; 0 where it lists none."""
        radius, filled = np.zeros(len(self)), self.counts > 0
        radius[filled] = self.distances[self.indptr[1:][filled] - 1]
        return radius

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def first(self, counts: Array | int) -> Lists:
        """Each row cut to its first `counts` entries."""
        kept = np.minimum(self.counts, counts)
        rank = np.arange(len(self.indices)) - np.repeat(self.indptr[:-1], self.counts)
        inside = rank < np.repeat(kept, self.counts)
        indptr = np.concatenate([[0], np.cumsum(kept)])
        return Lists(indptr, self.indices[inside], self.distances[inside])


@dataclass(frozen=True, eq=False)
class Graph:
    """Symmetric neighbour graph: edge lengths, pieces, and how it was made.

    Graphs are made by `knn`, `variable`, `radius`, `from_lengths` and `from_affinities`, and never
    change.

    Attributes
    ----------
    lengths : csr_array of shape (n_samples, n_samples)
        Symmetric matrix of edge lengths without a diagonal. Duplicate rows have edges of length 0,
        which are stored: an entry that is not stored is no edge.
    lists : Lists
        The directed neighbour lists that the graph was made from.
    search : Search
        How the neighbours were found, with the share of rows that is proved and the recall.
    kind : {"fixed", "variable", "radius", "given"}
        Rule of neighbourhood: a fixed number, a variable number, a radius, or edges that were
        given.
    points : array-like or None
        The rows of data, by reference; None if only edges were given.
    metric : str or callable
        Metric of the lengths.
    n_neighbors : int or None
        Number of neighbours that the rule was given; None if it has none.
    radius : float or None
        Radius that the rule was given; None if it has none.
    spread : ndarray of shape (n_samples,) or None
        Spread of each neighbourhood, where `lists` do not hold the neighbours that it needs.
    usual_spread : float or None
        Mean spread that a variable graph compares neighbourhoods with.
    symmetry : {"or", "and"}
        Whether one end of an edge must list the other, or both.
    links : tuple of (int, int, float)
        Edges that were added to join pieces: two rows and a length.
    weights : csr_array or None
        Affinities of the edges, if these were given.

    See Also
    --------
    knn : Graph of the nearest rows.
    join_pieces : Adds the shortest edges between pieces.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> graph = knn(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> graph
    Graph(3 points, 2 edges, one piece; 1 nearest neighbours, 'or' rule)
    >>> graph.lengths.toarray()
    array([[0., 1., 0.],
           [1., 0., 2.],
           [0., 2., 0.]])
    """

    lengths: sp.csr_array
    lists: Lists
    search: Search
    kind: Kind = "given"
    points: Any = None
    metric: Metric = "euclidean"
    n_neighbors: int | None = None
    radius: float | None = None
    spread: Array | None = None
    usual_spread: float | None = None
    symmetry: Symmetry = "or"
    links: tuple[tuple[int, int, float], ...] = ()
    weights: sp.csr_array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "lengths", canonical_rows(self.lengths, "lengths"))
        if self.lengths.shape != (len(self.lists), len(self.lists)):
            raise InvalidInput(
                f"the edge lengths have shape {self.lengths.shape} and there are "
                f"{len(self.lists)} neighbour lists; both must be about the same points"
            )
        lists = self.lists
        if len(lists.distances) != len(lists.indices) or not rows_are_sound(
            lists.indptr, lists.indices, self.lengths.shape
        ):
            raise InvalidInput(
                "the neighbour lists are damaged: they name rows that are not there, or their "
                "lengths do not fit; search the neighbours again"
            )
        if self.weights is not None:
            object.__setattr__(self, "weights", canonical_rows(self.weights, "weights"))
            lengths, weights = self.lengths, self.weights
            if not (
                lengths.shape == weights.shape
                and np.array_equal(lengths.indptr, weights.indptr)
                and np.array_equal(lengths.indices, weights.indices)
            ):
                raise InvalidInput(
                    "the graph has other edges than the affinities that it was made of; make one "
                    "of all affinities (graph.from_affinities)"
                )

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.lengths.shape[0])

    @property
    def rule(self) -> str:
        """The rule of neighbourhood, in words."""
        return {
            "fixed": f"{self.n_neighbors} nearest neighbours, {self.symmetry!r} rule",
            "variable": f"variable neighbourhoods of at most {self.n_neighbors}, "
            f"{self.symmetry!r} rule",
            "radius": f"radius {self.radius:g}" if self.radius is not None else "radius",
            "given": "a given graph",
        }[self.kind]

    @property
    def n_edges(self) -> int:
        """Number of edges, each counted once."""
        return int(self.lengths.nnz) // 2

    @cached_property
    def piece_of(self) -> Array:
        """Number of the piece that each row belongs to; pieces are numbered from the largest."""
        lengths, labels = self.lengths, np.empty(self.n, np.int32)
        _pieces(self.n, lengths.indptr.astype(np.int64), lengths.indices.astype(np.int32), labels)
        sizes = np.bincount(labels)
        rank = np.empty(len(sizes), dtype=np.int64)
        rank[np.argsort(-sizes, kind="stable")] = np.arange(len(sizes))
        return np.asarray(rank[labels])

    @cached_property
    def is_link(self) -> Array:
        """Whether each entry of `lengths.data` is a link that joined pieces."""
        if not self.links:
            return np.zeros(self.lengths.nnz, bool)
        rows = np.repeat(np.arange(self.n), np.diff(self.lengths.indptr))
        ends = np.array([link[:2] for link in self.links])
        keys = np.concatenate([ends[:, 0] * self.n + ends[:, 1], ends[:, 1] * self.n + ends[:, 0]])
        return np.isin(rows * self.n + self.lengths.indices, keys)

    @property
    def n_pieces(self) -> int:
        """Number of connected pieces."""
        return int(self.piece_of.max()) + 1 if self.n else 0

    def __repr__(self) -> str:
        pieces = "one piece" if self.n_pieces == 1 else f"{self.n_pieces} pieces"
        return f"Graph({self.n} points, {self.n_edges} edges, {pieces}; {self.rule})"


def coordinates(graph: Graph) -> Any:
    """The points the graph was made of, for methods that map features."""
    if graph.points is None or is_precomputed(graph.metric):
        raise InvalidInput(
            "a linear map needs the features of the points and this graph was made from distances "
            "or edges alone; attach them: dataclasses.replace(graph, points=X, metric='euclidean')"
        )
    return graph.points


def refuse_sets(graph: Graph) -> None:
    """Raise where rows are sets: weights that rebuild a row from others, as LLE's, mean nothing."""
    if graph.points is not None and are_sets(graph.points, graph.metric):
        raise InvalidInput(
            Argument("metric", graph.metric),
            " compares sets, and a row cannot be rebuilt from neighbours as a weighted sum of "
            "sets; Isomap, eigenmaps, diffusion maps and t-SNE need distances alone",
        )


def symmetric_lengths(lists: Lists, symmetry: Symmetry) -> sp.csr_array:
    """Edges i~j where either ("or") or both ("and") list the other; zeros are kept."""
    n, listed = len(lists), len(lists.indices)
    row_start, columns = np.empty(n + 1, np.int64), np.empty(2 * listed, np.int32)
    places = np.empty(2 * listed, np.int64)
    rows = lists.indptr.astype(np.int64), lists.indices.astype(np.int32, copy=False)
    count = _symmetric_lists(n, *rows, symmetry == "and", row_start, columns, places)
    if count < 0:
        raise MemoryError("the edges of the graph do not fit into memory")
    # 32-bit indices wherever they fit: half the memory, and scikit-learn takes no others.
    kind = np.int32 if count < 2**31 else np.int64
    lengths = lists.distances[places[:count]]
    parts = columns[:count].astype(kind), row_start.astype(kind)
    matrix = sp.csr_array((lengths, *parts), shape=(n, n))
    matrix.has_canonical_format = True
    return matrix

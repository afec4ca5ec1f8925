"""Graphs by three rules of neighbourhood (number, variable number, radius), and given graphs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.graph import Graph, Lists, Symmetry, symmetric_lengths
from dualfold.graph.metrics import from_precomputed, is_precomputed
from dualfold.graph.neighbor_lists import Neighbors, Search, exact_search
from dualfold.graph.neighbors import nearest, neighbors_within, radius_search
from dualfold.kernels.sparse import canonical_rows


def knn(
    X: Any,
    n_neighbors: int = 10,
    *,
    metric: Metric = "euclidean",
    symmetry: Symmetry = "or",
    search: str = "auto",
    n_jobs: int | None = None,
    random_state: Seed = None,
    known: Neighbors | None = None,
) -> Graph:
    """Connect each row to its nearest rows.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; float32 and memory maps are read as they are. With `metric="precomputed"`
        it is a square matrix of distances.
    n_neighbors : int, default=10
        Number of nearest rows that each row lists.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn by its name, a function of two rows, or "precomputed".
    symmetry : {"or", "and"}, default="or"
        "or" keeps an edge if one of its ends lists the other; "and" keeps it if both do.
    search : {"auto", "kd-tree", "blocked", "filtered", "approximate"}, default="auto"
        Algorithm of the search. "auto" chooses an exact one by size, dimension and spectrum;
        "approximate" compares rows of near cells and measures its recall, for large tables.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.
    random_state : int, Generator or None, default=None
        Seed of the approximate search; the exact searches ignore it.
    known : Neighbors or None, default=None
        Lists of at least `n_neighbors` neighbours that `nearest` returned for the same X; nothing
        is searched then.

    Returns
    -------
    Graph
        The symmetric neighbour graph with its edge lengths.

    Raises
    ------
    InvalidInput
        If X is no table of finite numbers, or has `n_neighbors` rows or fewer.

    See Also
    --------
    variable : Fewer neighbours where rows lie far apart.
    radius : All rows within a distance.
    nearest : The lists alone.

    Notes
    -----
    A sparse X with `metric="precomputed"` may store any number of neighbours in each row; the
    nearest of them are used.

    Examples
    --------
    >>> import numpy as np
    >>> graph = knn(np.array([[0.0], [1.0], [3.0], [100.0], [101.0]]), 1)
    >>> graph.n_edges, graph.n_pieces
    (3, 2)
    >>> print(graph.search.sentence())
    exact neighbours (kd-tree), every row proved; ties within 2e-15 may be either way
    """
    settings = {"search": search, "n_jobs": n_jobs, "random_state": random_state}
    lists, record = searched_lists(X, n_neighbors, metric, known, **settings)
    graph = Graph(symmetric_lengths(lists, symmetry), lists, record, "fixed", X, metric)
    return _frozen(replace(graph, n_neighbors=n_neighbors, symmetry=symmetry))


def variable(
    X: Any,
    n_neighbors: int = 18,
    *,
    metric: Metric = "euclidean",
    symmetry: Symmetry = "or",
    search: str = "auto",
    n_jobs: int | None = None,
    random_state: Seed = None,
    known: Neighbors | None = None,
) -> Graph:
    """Connect each row to fewer rows where rows lie far apart.

    Let A_i be the spread of the neighbourhood of row i (`neighborhood_spread`) and t =
    `n_neighbors`. Row i lists its min(⌊t·mean(A)/A_i⌋, t) nearest rows, and at least one.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; float32 and memory maps are read as they are. With `metric="precomputed"`
        it is a square matrix of distances.
    n_neighbors : int, default=18
        Largest number of nearest rows that a row lists.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn by its name, a function of two rows, or "precomputed".
    symmetry : {"or", "and"}, default="or"
        "or" keeps an edge if one of its ends lists the other; "and" keeps it if both do.
    search : {"auto", "kd-tree", "blocked", "filtered", "approximate"}, default="auto"
        Algorithm of the search. "auto" chooses an exact one by size, dimension and spectrum;
        "approximate" compares rows of near cells and measures its recall, for large tables.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.
    random_state : int, Generator or None, default=None
        Seed of the approximate search; the exact searches ignore it.
    known : Neighbors or None, default=None
        Lists of at least `n_neighbors` neighbours that `nearest` returned for the same X; nothing
        is searched then.

    Returns
    -------
    Graph
        The symmetric neighbour graph with its edge lengths.

    See Also
    --------
    knn : The same number of neighbours for each row.
    neighborhood_spread : The spread A_i.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Definition 3.5.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import variable
    >>> line = np.array([[0.0], [1.0], [2.0], [3.0], [9.0]])
    >>> graph = variable(line, 2)
    >>> graph.lists.counts
    array([2, 2, 2, 2, 1])
    """
    settings = {"search": search, "n_jobs": n_jobs, "random_state": random_state}
    lists, record = searched_lists(X, n_neighbors, metric, known, **settings)
    spread = spread_of(lists, n_neighbors)
    usual = float(spread.mean())
    lists = lists.first(variable_counts(spread, n_neighbors, usual))
    graph = Graph(symmetric_lengths(lists, symmetry), lists, record, "variable", X, metric)
    graph = replace(graph, n_neighbors=n_neighbors, symmetry=symmetry, usual_spread=usual)
    return _frozen(replace(graph, spread=spread))


def radius(
    X: Any, radius: float, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Graph:
    """Connect every two rows that lie within a distance of each other.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; float32 and memory maps are read as they are. With `metric="precomputed"`
        it is a square matrix of distances.
    radius : float
        Largest length of an edge.
    metric : str or callable, default="euclidean"
        Any metric of scikit-learn by its name, a function of two rows, or "precomputed".
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    Graph
        The symmetric neighbour graph with its edge lengths.

    See Also
    --------
    knn : A number of nearest rows instead of a distance.
    neighbors_within : The lists alone.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import radius
    >>> radius(np.array([[0.0], [1.0], [3.0]]), 1.5)
    Graph(3 points, 1 edges, 2 pieces; radius 1.5)
    """
    lists = Lists(*neighbors_within(X, radius, metric=metric, n_jobs=n_jobs))
    record = radius_search(X, metric)
    graph = Graph(symmetric_lengths(lists, "or"), lists, record, "radius", X, metric)
    return _frozen(replace(graph, radius=float(radius)))


def from_lengths(lengths: Any, *, symmetry: Symmetry = "or") -> Graph:
    """Make a graph of a sparse matrix of edge lengths.

    Parameters
    ----------
    lengths : sparse matrix of shape (n_samples, n_samples)
        Entry (i, j) is the length of the edge from i to j. Stored zeros are edges of length 0;
        entries that are not stored are no edges.
    symmetry : {"or", "and"}, default="or"
        "or" keeps an edge if one of its ends lists the other; "and" keeps it if both do.

    Returns
    -------
    Graph
        The symmetric graph. It has no coordinates, so its pieces cannot be joined by distance.

    Raises
    ------
    InvalidInput
        If `lengths` is dense or has negative or infinite entries.

    See Also
    --------
    from_affinities : Edges with weights instead of lengths.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from dualfold.graph import from_lengths
    >>> path = sp.csr_array(([1.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    >>> from_lengths(path)
    Graph(3 points, 2 edges, one piece; a given graph)
    """
    if not sp.issparse(lengths):
        raise InvalidInput(
            "a precomputed graph is a sparse matrix of edge lengths; for a dense matrix of "
            "distances use knn(distances, n_neighbors, metric='precomputed')"
        )
    lists = Lists(*from_precomputed(lengths))
    lengths = symmetric_lengths(lists, symmetry)
    record = exact_search("precomputed", 0.0)
    return _frozen(Graph(lengths, lists, record, "given", None, "precomputed", symmetry=symmetry))


def from_affinities(affinities: Any) -> Graph:
    """Make a graph of given affinities W, for methods with `weights="precomputed"`.

    An entry W_ij > 0 is an edge; its length √(log(max W/W_ij)) orders neighbours. The diagonal is
    left out, since it changes no embedding. A W that is not symmetric is replaced by the mean of W
    and Wᵀ, with a warning.

    Parameters
    ----------
    affinities : array-like or sparse matrix of shape (n_samples, n_samples)
        The weights W, numbers ≥ 0.

    Returns
    -------
    Graph
        The graph with W as its `weights`.

    Raises
    ------
    InvalidInput
        If W is not square, or has entries that are negative or not finite.

    See Also
    --------
    from_lengths : Edges with lengths.

    Examples
    --------
    >>> import numpy as np
    >>> path = from_affinities(np.array([[0.0, 4, 0], [4, 0, 2], [0, 2, 0]]))
    >>> path.n_edges, path.weights.data
    (2, array([4., 4., 2., 2.]))
    """
    from sklearn.utils import check_symmetric

    shape = np.shape(affinities)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise InvalidInput(
            "affinities are a square matrix, a row and a column for each point; their shape is "
            f"{shape}"
        )
    if sp.issparse(affinities):
        affinities = canonical_rows(affinities, "affinities")
    W = sp.csr_array(check_symmetric(affinities), dtype=float)  # warns where it must average
    W = sp.csr_array(W - sp.diags_array(W.diagonal()))
    W.eliminate_zeros()
    W.sort_indices()
    if not np.isfinite(W.data).all():
        raise InvalidInput("affinities must be finite numbers")
    if W.data.min(initial=0.0) < 0:
        raise InvalidInput(f"affinities must not be negative; the smallest is {W.data.min():.3g}")
    logarithms, lengths = np.log(W.data), W.copy()
    lengths.data = np.sqrt(logarithms.max(initial=-np.inf) - logarithms)
    return replace(from_lengths(lengths), weights=W)


def neighborhood_spread(graph: Graph, n_neighbors: int | None = None) -> Array:
    """Compute the spread A_i = √(Σ_j ‖x_i − x_j‖²)/t of the neighbourhood of each row.

    The sum runs over the t nearest rows j of row i, whichever of them the rule of the graph keeps.

    Parameters
    ----------
    graph : Graph
        The neighbour graph.
    n_neighbors : int or None, default=None
        The number t; None takes the graph's own number. A graph without one (by a radius, or given)
        sums over the neighbours that row i lists.

    Returns
    -------
    ndarray of shape (n_samples,)
        The spread of each row, in the unit of the distances.

    See Also
    --------
    variable : The graph that chooses its neighbourhoods by these spreads.

    References
    ----------
    .. [1] Lucas Tucker, "Dimensionality reduction and the Fenchel game", Definition 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.array([[0.0], [1.0], [2.0], [6.0]])
    >>> neighborhood_spread(variable(line, 2)).round(3)
    array([1.118, 0.707, 1.118, 3.202])
    """
    if n_neighbors is not None and n_neighbors < 1:
        raise InvalidInput(Argument("n_neighbors", n_neighbors), " must be 1 or more")
    t = n_neighbors or graph.n_neighbors
    if t is None:
        return spread_of(graph.lists, graph.n)
    if graph.spread is not None and t == graph.n_neighbors:
        return graph.spread
    lists = graph.lists
    if graph.points is not None and lists.counts.min(initial=t) < t:
        lists = searched_lists(graph.points, t, graph.metric)[0]
    return spread_of(lists, t)


def spread_of(lists: Lists, n_neighbors: int) -> Array:
    """A_i of `neighborhood_spread`, of lists that hold those neighbours."""
    nearest_ones = lists.first(n_neighbors)
    total = np.zeros(len(lists))
    owners = np.repeat(np.arange(len(lists)), nearest_ones.counts)
    # In a unit of their own, a power of 2: squares have room, and no digit changes.
    power = int(np.frexp(nearest_ones.distances.max(initial=0.0))[1])
    np.add.at(total, owners, np.ldexp(nearest_ones.distances, -power) ** 2)
    return np.asarray(np.ldexp(np.sqrt(total) / np.maximum(nearest_ones.counts, 1), power))


def variable_counts(spread: Array, n_neighbors: int, usual: float) -> Array:
    """Numbers of neighbours that points of this spread keep; `usual` is the mean spread."""
    # 1e-9: without it rounding would take one neighbour from equally dense points.
    with np.errstate(divide="ignore", invalid="ignore"):
        counts = np.floor(n_neighbors * usual / spread + 1e-9)
    counts[~np.isfinite(counts)] = n_neighbors  # all neighbours are duplicates: no spread
    return np.clip(counts, 1, n_neighbors).astype(np.int64)


def searched_lists(
    X: Any, n_neighbors: int, metric: Metric, known: Neighbors | None = None, **settings: Any
) -> tuple[Lists, Search]:
    """The lists of this many neighbours, and how they were found; `settings` as `nearest` has."""
    if sp.issparse(X) and is_precomputed(metric):
        return Lists(*from_precomputed(X, n_neighbors)), exact_search("precomputed", 0.0)
    known = known or nearest(X, n_neighbors, metric=metric, **settings)
    known = known.first(n_neighbors)
    return Lists.of_equal(known.indices, known.distances), known.search


def _frozen(graph: Graph) -> Graph:
    """The graph with its arrays locked: no caller can alter what C will read."""
    lengths, lists = graph.lengths, graph.lists
    parts = (lengths.data, lengths.indices, lengths.indptr)
    for array in (*parts, lists.indptr, lists.indices, lists.distances):
        array.flags.writeable = False
    return graph

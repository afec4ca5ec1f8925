"""From a graph to an unfolding problem, and back: points at distance 0 become one.

An edge of length 0 leaves the feasible set without an interior and a scaled point without
a value, so points that must coincide are one point here, with their number as its mass.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput, Unrealisable
from dualfold.graph import Graph, geodesic_distances
from dualfold.graph.metrics import is_euclidean, is_precomputed
from dualfold.graph.pieces import one_piece
from dualfold.unfolding.problem import Constraints, UnfoldingProblem, doubles, graph_of

# Lengths that differ by no more than this, relatively, are equal up to rounding.
SAME_LENGTH_TOLERANCE = 1e-9
# Squares of lengths that were computed from rows differ from those of the rows by less than this.
ROUNDED_SQUARE_TOLERANCE = 1e-13
MAX_LENGTH = 2.0**510
# Rows of geodesics in one chunk, for the triangle inequality.
SOURCE_CHUNK_ROWS = 512


@dataclass(frozen=True, eq=False)
class Contraction:
    """The unfolding problem of a graph, and the way back to the points of the graph.

    problem : over the distinct points
    point_of_row : the distinct point that each point of the graph is
    edges : the edge of the graph that each edge of the problem stands for (m×2)
    count : the number of coordinates that are wanted
    about : which points of a larger table these are, in words; "" for all
    """

    problem: UnfoldingProblem
    point_of_row: Array
    edges: Array
    count: int = 2
    about: str = ""

    def points(self, factor: Array) -> Array:
        """Rows for every point of the graph; duplicates share theirs."""
        return np.asarray(factor[self.point_of_row])

    def weights(self, weights: Array) -> sp.csr_array:
        """Weights of the problem's edges as a symmetric matrix over the graph's points."""
        n = len(self.point_of_row)
        i, j = self.edges.T
        both = (np.concatenate([i, j]), np.concatenate([j, i]))
        return sp.csr_array(sp.coo_array((np.tile(weights, 2), both), shape=(n, n)))


def contraction_of(
    graph: Graph,
    *,
    constraints: Constraints = "at_most",
    angles: bool = False,
    n_components: int = 2,
) -> Contraction:
    """State the unfolding problem of a connected graph.

    Points at distance 0 become one point with their number as its mass. The squared lengths of the
    problem are those of the graph, each rounded once; certificates are about these numbers.

    Parameters
    ----------
    graph : Graph
        Connected neighbour graph.
    constraints : {"at_most", "equal"}, default="at_most"
        Whether edges may be at most as long as given, or must have these lengths.
    angles : bool, default=False
        Whether neighbours of a common row are tied to one another, too, which keeps the angles
        between edges.
    n_components : int, default=2
        Number of coordinates that are wanted.

    Returns
    -------
    Contraction
        The `problem`, and the way back to the rows of the graph.

    Raises
    ------
    DisconnectedGraph
        If the graph has several pieces.
    Unrealisable
        If equal lengths contradict one another along the edges.

    See Also
    --------
    unfold : Solves the problem.
    dualfold.embed : Takes a Contraction as a problem.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.unfolding import contraction_of
    >>> found = contraction_of(knn(np.array([[0.0], [1.0], [1.0], [3.0]]), 2))
    >>> found.problem.n, found.problem.masses
    (3, array([1., 2., 1.]))
    """
    ends, lengths = _edges(one_piece(graph))
    if angles:
        ends, lengths = _with_angles(graph, ends, lengths)
    zero = lengths == 0
    pattern = sp.coo_array((np.ones(int(zero.sum())), tuple(ends[zero].T)), shape=(graph.n,) * 2)
    classes, point_of_row = connected_components(pattern, directed=False)
    pairs = np.sort(point_of_row[ends], axis=1)
    distinct = pairs[:, 0] != pairs[:, 1]
    if constraints == "equal" and np.any(lengths[~distinct] > 0):
        i, j = ends[~distinct][np.argmax(lengths[~distinct])]
        raise Unrealisable(
            f"points {i} and {j} are {lengths[~distinct].max():g} apart but linked by edges of "
            "length 0; no points have these distances. Use ",
            Argument("constraints", "at_most"),
            " or mend them",
        )
    pairs, ends, lengths = pairs[distinct], ends[distinct], lengths[distinct]
    _refuse_extreme(lengths)
    # Of parallel edges the shortest binds; the others are implied (or, for "equal", wrong).
    order = np.lexsort((lengths, pairs[:, 1], pairs[:, 0]))
    pairs, ends, lengths = pairs[order], ends[order], lengths[order]
    fresh = np.ones(len(pairs), bool)
    fresh[1:] = np.any(np.diff(pairs, axis=0) != 0, axis=1)
    masses = np.bincount(point_of_row, minlength=classes).astype(float)
    problem = UnfoldingProblem(classes, pairs[fresh], lengths[fresh] ** 2, constraints, masses)
    if constraints == "equal":
        problem = replace(problem, positions=_positions(graph, point_of_row, problem))
        _refuse_parallel(pairs, lengths, fresh)
        _refuse_shortcuts(problem)
    return Contraction(problem, point_of_row, ends[fresh], n_components)


def _positions(graph: Graph, point_of_row: Array, problem: UnfoldingProblem) -> Array | None:
    """Row of each distinct point, if the problem's lengths are theirs up to rounding."""
    if graph.points is None or not is_euclidean(graph.metric):
        return None
    first = np.unique(point_of_row, return_index=True)[1]
    rows = graph.points.iloc if hasattr(graph.points, "iloc") else graph.points
    X = _doubles(rows[first])
    if X.ndim != 2 or not np.isfinite(X).all():
        return None
    i, j = problem.edges.T
    lengths = _norms(X[i] - X[j]) ** 2
    same = np.abs(lengths - problem.squared) <= ROUNDED_SQUARE_TOLERANCE * problem.squared
    return X if np.all(same) else None


def _edges(graph: Graph) -> tuple[Array, Array]:
    """(m×2 ends with i < j, lengths), stored zeros kept."""
    rows = np.repeat(np.arange(graph.n), np.diff(graph.lengths.indptr))
    columns = graph.lengths.indices
    once = rows < columns
    ends = np.stack([rows[once], columns[once]], axis=1).astype(np.intp)
    return ends, graph.lengths.data[once].astype(float)


def _with_angles(graph: Graph, ends: Array, lengths: Array) -> tuple[Array, Array]:
    """The edges and all pairs of neighbours of a common point."""
    pattern = sp.csr_array(
        (np.ones(graph.lengths.nnz), graph.lengths.indices, graph.lengths.indptr),
        shape=graph.lengths.shape,
    )
    common = sp.csr_array(pattern @ pattern).tocoo()
    pairs = np.stack([common.row, common.col], axis=1)[common.row < common.col].astype(np.intp)
    known = ends[:, 0] * graph.n + ends[:, 1]
    pairs = pairs[~np.isin(pairs[:, 0] * graph.n + pairs[:, 1], known)]
    return np.vstack([ends, pairs]), np.concatenate([lengths, _distances(graph, pairs)])


def _distances(graph: Graph, pairs: Array) -> Array:
    """The distances of given pairs of points, by the graph's metric."""
    if graph.points is None or (sp.issparse(graph.points) and is_precomputed(graph.metric)):
        raise InvalidInput(
            Argument("angles", True),
            " needs the distances between neighbours of a point, and this graph was given "
            "without points; pass X or the dense distances, or use ",
            Argument("angles", False),
        )
    rows = graph.points.iloc if hasattr(graph.points, "iloc") else graph.points
    if is_precomputed(graph.metric):
        return np.asarray(graph.points)[pairs[:, 0], pairs[:, 1]].astype(float)
    from sklearn.metrics.pairwise import paired_distances

    if graph.metric == "euclidean":
        one, other = (_doubles(rows[pairs[:, side]]) for side in (0, 1))
        return _norms(one - other)
    return np.asarray(paired_distances(rows[pairs[:, 0]], rows[pairs[:, 1]], metric=graph.metric))


def _doubles(points: Any) -> Array:
    """Rows as dense doubles, before any subtraction: small integers would wrap around."""
    return doubles(points.toarray() if sp.issparse(points) else points, "the points")


def _norms(differences: Array) -> Array:
    """Lengths of rows; each in a unit of its own, so that no square underflows."""
    power = np.frexp(np.abs(differences).max(axis=1, initial=0.0))[1]
    unit = np.ldexp(differences, -power[:, None])
    return np.asarray(np.ldexp(np.sqrt(np.einsum("ij,ij->i", unit, unit)), power))


def _refuse_extreme(lengths: Array) -> None:
    """Squares of lengths must be doubles with all their digits."""
    if len(lengths) and not (lengths.min() >= 1 / MAX_LENGTH and lengths.max() <= MAX_LENGTH):
        raise InvalidInput(
            f"edges that are not 0 go from {lengths.min():.1e} to {lengths.max():.1e}; an "
            f"unfolding needs their squares, so they must lie between {1 / MAX_LENGTH:.0e} and "
            f"{MAX_LENGTH:.0e}: give the data in another unit"
        )


def _refuse_parallel(pairs: Array, lengths: Array, fresh: Array) -> None:
    first = np.maximum.accumulate(np.where(fresh, np.arange(len(pairs)), 0))
    differ = lengths > lengths[first] * (1 + SAME_LENGTH_TOLERANCE)
    if differ.any():
        e = int(np.argmax(differ))
        raise Unrealisable(
            f"duplicates have different distances to the same point ({lengths[first[e]]:g} "
            f"and {lengths[e]:g}); no points have these distances. Use ",
            Argument("constraints", "at_most"),
            " or mend them",
        )


def _refuse_shortcuts(problem: UnfoldingProblem) -> None:
    """An edge longer than a path between its ends cannot have its length in any space."""
    i, j = problem.edges.T
    lengths = np.sqrt(problem.squared)
    paths = graph_of(problem)
    for start in range(0, problem.n, SOURCE_CHUNK_ROWS):
        rows = np.arange(start, min(start + SOURCE_CHUNK_ROWS, problem.n))
        mine = np.flatnonzero((i >= start) & (i < start + SOURCE_CHUNK_ROWS))
        shortest = geodesic_distances(paths, rows, dtype=np.float64)[i[mine] - start, j[mine]]
        long = lengths[mine] > shortest * (1 + SAME_LENGTH_TOLERANCE)
        if long.any():
            e = int(np.argmax(np.where(long, lengths[mine] / shortest, 0)))
            a, b = problem.edges[mine[e]]
            raise Unrealisable(
                f"points {a} and {b} are {lengths[mine[e]]:g} apart, but a path of edges "
                f"between them is only {shortest[e]:g} long: the triangle inequality fails, "
                "so no points have these distances. Use ",
                Argument("constraints", "at_most"),
                " or mend the distances",
            )

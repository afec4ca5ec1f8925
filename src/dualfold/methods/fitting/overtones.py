"""Which eigenvectors are the coordinates: the first ones, or some that are independent.

On a strip three times as long as wide the second eigenvector is a function of the first, its
overtone, and the map of the two is a curve: proved and useless. The direction across comes later.
So more eigenvectors are computed than coordinates are wanted, and those are taken that keep the
most neighbours: after the first one, each time the one that adds most.

`benchmarks/coordinates.py` measures this rule beside two of the literature, on rolls, strips, a
torus, a sphere cap and images, five samples each: the local regression residuals of Dsilva,
Talmon, Coifman and Kevrekidis ("Parsimonious representation of nonlinear dynamical systems
through manifold learning", 2018), and the volume score of Chen and Meilă ("Selecting the
independent coordinates of manifolds with large aspect ratios", 2019). Both find the direction
across of most rolls, take mixtures of it with overtones on long ones, and lose neighbours on
images, where eigenvectors tell clusters apart. The residuals serve here to see overtones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from dualfold.arrays import Array
from dualfold.graph import Graph
from dualfold.trace.lift import CoordinateScale, SelectedColumns

# Fewer rows are too few to tell a function of a coordinate from noise.
FEWEST_ROWS = 50
# Rows whose neighbours are counted, and those of a regression: shares are known to 0.01.
MAX_COUNTED_ROWS, MAX_REGRESSED_ROWS = 1_000, 2_000
# Neighbours of a row that are counted, if it lists so many.
MAX_LISTED_NEIGHBORS = 10
# An eigenvector further up must keep so much more: two samples of rows differ by that much.
MIN_GAIN = 0.01
# A coordinate of which the ones before it leave less than this share of its deviation is an
# overtone: they leave 0.03 on strips, and 0.8 or more of a direction of its own.
OVERTONE_SHARE = 0.2
# So many eigenvectors are looked at, and more where none of them is independent of the first: a
# strip of aspect a has about a overtones before the direction across.
DIRECTION_COUNTS = (6, 20, 50)
# More coordinates than these are not looked at one by one: the first ones are taken.
MOST_COORDINATES = 10


@dataclass(frozen=True)
class ColumnChoice:
    """Which eigenvectors are taken, and how they were found.

    indices : their numbers, from 0, in the order of their values
    settled : whether more eigenvectors would hardly change the choice
    """

    indices: tuple[int, ...]
    settled: bool


def independent_columns(
    graph: Graph, V: Array, values: Array, count: int, scale: CoordinateScale
) -> ColumnChoice:
    """`count` of the columns of V (eigenvectors of `values`, the first first) to be coordinates.

    Points are compared as they will be drawn, with the `scale` of the map.
    """
    rows = _some_rows(graph.n, MAX_COUNTED_ROWS)
    taken: tuple[int, ...] = (0,)
    while len(taken) < count:
        taken = tuple(sorted((*taken, _next(graph, V, values, taken, scale, rows))))
    # Next to an independent one lie its mixtures with overtones, some of which may come later.
    early = taken[-1] < 3 * V.shape[1] // 4
    return ColumnChoice(taken, early and not overtones(V[:, list(taken)]))


def _next(
    graph: Graph,
    V: Array,
    values: Array,
    taken: tuple[int, ...],
    scale: CoordinateScale,
    rows: Array,
) -> int:
    best, most = -1, -np.inf
    for k in sorted(set(range(V.shape[1])) - set(taken)):
        lift = SelectedColumns(tuple(sorted((*taken, k))), scale)
        share = kept_neighbors(graph, lift(V, values), rows)
        if best < 0 or share > most + MIN_GAIN:
            best, most = k, share
    return best


def kept_neighbors(graph: Graph, points: Array, rows: Array) -> float:
    """Mean share of their listed neighbours that rows have among the nearest points of a map.

    Parameters
    ----------
    graph : Graph
        Neighbour graph of the data.
    points : ndarray of shape (n_samples, n_components)
        Map.
    rows : ndarray of int
        Row numbers that count.

    Returns
    -------
    float
        The share, from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.methods.fitting.overtones import kept_neighbors
    >>> from dualfold.graph import knn
    >>> line = np.arange(6.0)[:, None] ** 1.5
    >>> kept_neighbors(knn(line, 2), 3 * line, np.arange(6))
    1.0
    """
    lists = graph.lists
    starts, counts = lists.indptr[rows], np.minimum(lists.counts[rows], MAX_LISTED_NEIGHBORS)
    most = min(MAX_LISTED_NEIGHBORS, graph.n - 1)
    tree = cKDTree(points, balanced_tree=False, compact_nodes=False)
    near = np.asarray(tree.query(points[rows], most + 1)[1])
    # The row itself is among them, unless more points than that lie on one spot.
    is_self = near == rows[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    near = near[~is_self].reshape(len(rows), most)
    listed = np.arange(MAX_LISTED_NEIGHBORS) < counts[:, None]
    places = np.minimum(starts[:, None] + np.arange(MAX_LISTED_NEIGHBORS), len(lists.indices) - 1)
    known = np.where(listed, lists.indices[places], -1)
    shown = np.arange(most) < counts[:, None]
    hits = (known[:, :, None] == np.where(shown, near, -2)[:, None, :]).sum(axis=(1, 2))
    return float(np.mean(hits[counts > 0] / counts[counts > 0]))


def unexplained_share(before: Array, coordinate: Array) -> float:
    """The share of a coordinate's deviation that a function of the columns `before` leaves.

    The function is a local linear regression (each point from its nearest in `before`, without
    itself): 0 for an overtone, about 1 for an independent coordinate. Dsilva et al. (2018),
    equation (10), with nearest points in place of a kernel whose width is the same everywhere:
    that one is too wide for the tenth overtone.
    """
    rows = _some_rows(len(coordinate), MAX_REGRESSED_ROWS)
    P, f = _standard(before[rows]), _standard(coordinate[rows, None])[:, 0]
    p = P.shape[1]
    k = min(20 + 2 * p, len(rows) - 1)
    near = np.asarray(cKDTree(P).query(P, k + 1)[1])
    is_self = near == np.arange(len(rows))[:, None]
    is_self[~is_self.any(axis=1), -1] = True
    near = near[~is_self].reshape(len(rows), k)
    around = np.concatenate([np.ones((len(rows), k, 1)), P[near] - P[:, None]], axis=2)
    form = around.transpose(0, 2, 1) @ around
    # A ridge of 1e-8: points on one spot have no slope.
    form += 1e-8 * np.trace(form, axis1=1, axis2=2)[:, None, None] * np.eye(p + 1)
    fitted = np.linalg.solve(form, around.transpose(0, 2, 1) @ f[near][..., None])[:, 0, 0]
    return float(min(1.0, np.sqrt(np.mean((f - fitted) ** 2))))


def overtones(V: Array) -> list[tuple[int, float]]:
    """Columns that are functions of those before them, with the share that these leave."""
    if len(V) < FEWEST_ROWS:
        return []
    V = V[:, :MOST_COORDINATES]
    shares = [(k, unexplained_share(V[:, :k], V[:, k])) for k in range(1, V.shape[1])]
    return [(k, share) for k, share in shares if share < OVERTONE_SHARE]


def direction_counts(n: int, least: int) -> list[int]:
    """Numbers of eigenvectors that are looked at in turn, of n rows; none for too few rows."""
    most = (n - 2) // 4
    steps = [step for step in DIRECTION_COUNTS if least < step <= most]
    return steps if n >= FEWEST_ROWS and least <= MOST_COORDINATES else []


def _standard(columns: Array) -> Array:
    columns = columns - columns.mean(axis=0)
    size = columns.std(axis=0)
    return np.asarray(columns / np.where(size > 0, size, 1.0))


def _some_rows(n: int, most: int) -> Array:
    """Rows drawn at random, the same each time."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def in_words(indices: Any) -> str:
    """Numbers of eigenvectors as people count them."""
    names = [str(int(k) + 1) for k in indices]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))

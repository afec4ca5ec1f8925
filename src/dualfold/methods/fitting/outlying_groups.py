"""A few rows that hang on the others by almost nothing do not dominate the map.

Two outliers beside each other, or a dozen rows apart, are the cheapest cut of a neighbour graph:
a coordinate is then about them alone, and all others share one spot of the map. Such outlying
groups are left out of the problem, which the certificate says, and placed as new rows are
(docs/dev/notes/outlying-groups.md).
"""

from __future__ import annotations

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, RowsLeftOut, warn
from dualfold.graph import Graph
from dualfold.methods.fitting.fitted_rows import FittedRows, rows_in_words
from dualfold.trace.problem import TraceProblem

# An outlying group is a fiftieth of the rows at most, and never more than 100: beyond, it is a
# cluster. With ten neighbours a piece has 11 rows or more, so of few rows it may be a twentieth, up
# to 24; and 3 rows in any case.
GROUP_SHARE = 50
MAX_GROUP_ROWS = 100
SMALL_TABLE_SHARE = 20
MAX_SMALL_TABLE_ROWS = 24
MIN_GROUP_ROWS = 3
# It dominates a coordinate when it holds half of the coordinate's sum of squares.
DOMINANT_SHARE = 0.5
# Fewer rows have no "few among many".
MIN_TABLE_ROWS = 30
# Each round is one more embedding. Tables that still have such groups after them are made of them,
# and so are those where a tenth of the rows would go.
MAX_ROUNDS = 8
LEFT_OUT_SHARE = 10


def outlying_rows(problem: TraceProblem, vectors: Array) -> Array:
    """Rows of the graph that dominate a coordinate, few among many: A is its Laplacian.

    Of a coordinate that they dominate, the best cut among its heaviest rows: the set S with the
    least 1ᵀ_S A 1_S/1ᵀ_S B 1_S, taken by falling size (a sweep, as in Cheeger's inequality).
    """
    if problem.n < MIN_TABLE_ROWS:
        return np.zeros(0, int)
    most = max_group_rows(problem.n)
    masses = vectors * problem.metric.times(vectors)
    groups = [np.zeros(0, int)]
    for vector, mass in zip(vectors.T, masses.T, strict=True):
        least = np.partition(mass, problem.n - most)[problem.n - most]
        heavy = np.flatnonzero(mass >= least)
        heavy = heavy[np.argsort(-mass[heavy], kind="stable")][:most]
        if mass[heavy].sum() < DOMINANT_SHARE * mass.sum():
            continue
        heavy = heavy[np.sign(vector[heavy]) == np.sign(vector[heavy[0]])]
        inside = problem.A[heavy][:, heavy].toarray()
        cuts = np.cumsum(np.cumsum(inside, axis=0), axis=1).diagonal()
        ones = np.zeros((problem.n, 1))
        ones[heavy] = 1.0
        volumes = np.cumsum(problem.metric.times(ones)[heavy, 0])
        groups.append(heavy[: int(np.argmin(cuts / volumes)) + 1])
    return np.unique(np.concatenate(groups))


def rows_of_small_pieces(graph: Graph) -> Array:
    """The rows of pieces that are no larger than an outlying group."""
    sizes = np.bincount(graph.piece_of)
    return np.flatnonzero(sizes[graph.piece_of] <= max_group_rows(graph.n))


def rows_without(rows: FittedRows, outlying: Array) -> FittedRows | None:
    """The rows but those `outlying` among the embedded; None where there are none or too many."""
    left = np.delete(rows.embedded_rows, outlying)
    if not len(outlying) or len(left) < len(rows.pool) - len(rows.pool) // LEFT_OUT_SHARE:
        return None
    return rows.only(left)


def max_group_rows(n: int) -> int:
    """As many rows as an outlying group of n rows has at most."""
    return max(
        MIN_GROUP_ROWS,
        min(MAX_GROUP_ROWS, n // GROUP_SHARE),
        min(MAX_SMALL_TABLE_ROWS, n // SMALL_TABLE_SHARE),
    )


def warn_of_rows_left_out(rows: Array) -> None:
    """`RowsLeftOut` that names them."""
    warn(
        RowsLeftOut(
            rows_in_words(rows),
            " left out of the problem and placed as new rows are: they hang "
            "on the others by so little that a coordinate of the map would be mostly about them; ",
            Argument("left_out", ()),
            " keeps them in",
        )
    )

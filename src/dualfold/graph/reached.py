"""New points among old ones: whom they list and who would list them, by one scan."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.graph.distances import (
    UNDERFLOW_DISTANCE,
    correct_underflow_lists,
    correct_underflow_pairs,
)
from dualfold.graph.lower_bounds import frame_of
from dualfold.graph.number_rows import OutOfRange, in_units, rows_alike
from dualfold.graph.scan import ReverseNeighbors, scan_queries
from dualfold.kernels.threads import thread_count

__all__ = ["Pairs", "nearest_and_reverse"]

# New points, old points, and the distances between them.
Pairs = tuple[Array, Array, Array]


def nearest_and_reverse(
    X: Any, n_neighbors: int, queries: Any, reach: Array
) -> tuple[Array, Array, Pairs]:
    """The nearest rows of X to each query (numbers, distances), as `nearest` finds them, and all
    pairs (query, row) at a distance within the reach of the row.

    Both come from the same lower bounds of all pairs, so that they are looked at once: placing a
    row among 2,000 landmarks took 13.7 µs with two scans and 12.1 with one.
    """
    try:
        X, Q = rows_alike(X, queries)
    except OutOfRange as out:
        scaled = in_units(X, out.power), n_neighbors, in_units(queries, out.power)
        near, apart, pairs = nearest_and_reverse(*scaled, np.ldexp(reach, -out.power))
        further = (*pairs[:2], np.ldexp(pairs[2], out.power))
        return near, np.ldexp(apart, out.power), further
    frame = frame_of(X, Q, None)
    points, scale = frame.coordinates(X), frame.scale
    met = ReverseNeighbors(Q, X, scale, np.maximum(reach, UNDERFLOW_DISTANCE))
    indices, distances = scan_queries(
        X, points, Q, frame.coordinates(Q), scale, n_neighbors, thread_count(None), reached=met
    )
    correct_underflow_lists(X, Q, indices, distances)
    rows, columns, lengths = met.pairs()
    correct_underflow_pairs(Q, X, rows, columns, lengths)
    close = lengths <= reach[columns]
    return indices, distances, (rows[close], columns[close], lengths[close])

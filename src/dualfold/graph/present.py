"""Neighbours by the sum of absolute differences, over the columns that both rows have."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.graph.metrics import exact_doubles
from dualfold.graph.neighbor_lists import Neighbors, exact_search
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.reports import steps
from dualfold.kernels.threads import in_threads, row_slices, thread_count

_present_nearest = kernel("present_nearest")
# Queries of one call: progress is reported between them.
_QUERIES_PER_CALL = 256


def present_nearest(
    X: Any,
    n_neighbors: int,
    *,
    queries: Any = None,
    weights: Any = None,
    n_jobs: int | None = None,
) -> Neighbors:
    """The nearest rows of X to each of `queries`, or to each row of X but itself; NaN is a gap.

    The distance is Σ|x − y| over the columns that both rows have, times Σ`weights` of all columns
    over that of these. Without gaps it is the Manhattan distance. With each number over its range
    and each category as columns of 0 and ½ (`weights` 1 and 1/levels), it is Gower's
    distance times the number of columns. Exact: every pair is measured, in double precision.

    n_neighbors : how many of them
    n_jobs : threads (None: all cores); the lists do not depend on them

    Gower, "A general coefficient of similarity and some of its properties" (1971).
    """
    rows = _doubles_with_missing(X, "X")
    asked = rows if queries is None else _doubles_with_missing(queries, "queries")
    n, width = rows.shape
    own = queries is None
    if not 1 <= n_neighbors <= n - own:
        raise InvalidInput(
            Argument("n_neighbors", n_neighbors), f" must be between 1 and {n - own} for {n} rows"
        )
    shares = np.ones(width) if weights is None else np.asarray(weights, dtype=np.float64)
    gaps = np.isnan(rows).any(axis=0).astype(np.int32)
    panels = _panels(rows)
    indices = np.empty((len(asked), n_neighbors), dtype=np.int32)
    distances = np.empty((len(asked), n_neighbors))

    def search(part: slice) -> None:
        count, skip = part.stop - part.start, part.start if own else -1
        found = distances[part], indices[part]
        batch = asked[part]
        _present_nearest(
            panels, n, width, batch, count, shares, gaps, skip, n_neighbors, *found
        )  # fmt: skip

    parts = [
        slice(p.start, min(p.stop, len(asked))) for p in row_slices(len(asked), _QUERIES_PER_CALL)
    ]
    with steps("comparing points", len(parts)) as done:
        in_threads(search, parts, thread_count(n_jobs), done)
    if np.isinf(distances).any():
        row = int(np.argmax(np.isinf(distances).any(axis=1)))
        raise InvalidInput(
            f"row {row} has no column in common with enough other rows to find "
            f"{n_neighbors} neighbours; leave out rows that are nearly empty"
        )
    # Sums of `width` terms >= 0: of the differences, of all weights, of those present.
    return Neighbors(indices, distances, exact_search("present", 2.0**-52 * (2 * width + 2)))


def _doubles_with_missing(X: Any, name: str) -> Array:
    """The numbers that were given, none of them rounded or infinite; NaN is a gap."""
    table = np.asarray(X)
    given = np.ascontiguousarray(
        exact_doubles(table, name) if table.dtype.kind in "iu" else table, dtype=np.float64
    )
    if table.dtype.kind == "f" and not np.all((given == table) | np.isnan(table)):
        raise InvalidInput(Argument(name), f" is {table.dtype}, with numbers beyond float64")
    if np.isinf(given).any():
        raise InvalidInput(Argument(name), " holds infinite numbers; leave out their rows")
    return given


def _panels(rows: Array) -> Array:
    """Rows side by side, so many together as the kernel takes, a column after the other."""
    lanes = c_constant("PRESENT_LANES")
    padded = np.zeros((-(-len(rows) // lanes) * lanes, rows.shape[1]))
    padded[: len(rows)] = rows
    by_panel = padded.reshape(-1, lanes, rows.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(by_panel)

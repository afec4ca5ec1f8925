"""Neighbours by any other metric, by given distances, and of sparse data too large to be dense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric
from dualfold.errors import Argument, InPython, InvalidInput, RowNumbers
from dualfold.graph.neighbor_lists import (
    Neighbors,
    Pairs,
    best_of_rows,
    exact_search,
    joined_pairs,
)
from dualfold.graph.number_rows import exact_numbers, exceeds_float64
from dualfold.graph.set_distances import are_sets, set_distances, sets_within
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.arithmetic import EPS
from dualfold.kernels.reports import steps
from dualfold.kernels.sparse import canonical_rows
from dualfold.kernels.threads import in_threads, row_slices, thread_count

ListArrays = tuple[np.ndarray, np.ndarray, np.ndarray]
# Distances computed at a time.
_WORKING_MEMORY_MIB = 256
# The rounding of distances computed twice in float32, with room; more is meant, or a mistake.
ASYMMETRY_TOLERANCE = 1e-4
# Progress is reported between calls.
_QUERIES_PER_CALL = 256

_present_nearest = kernel("present_nearest")


def is_precomputed(metric: Metric | None) -> bool:
    """Whether the data are distances; a metric may also be a function or another object."""
    return isinstance(metric, str) and metric == "precomputed"


def is_euclidean(metric: Metric) -> bool:
    """Whether it is the Euclidean metric by one of its names."""
    return isinstance(metric, str) and metric in ("euclidean", "l2")


def refuse_other_width(metric: Metric, parameters: Mapping[str, Any], width: int) -> None:
    """Raise for a matrix of Mahalanobis' metric of another size, beyond which SciPy would read."""
    known = {"V", "VI"} if isinstance(metric, str) and metric == "mahalanobis" else set()
    for name in sorted(known & parameters.keys()):
        if np.shape(parameters[name]) != (width, width):
            raise InvalidInput(
                Argument("metric_params"),
                f": {name} must be {width}×{width}, a row and a column for each column of X; its "
                f"shape is {np.shape(parameters[name])}",
            )


def double_table(X: Any, name: str) -> Any:
    """X with its real numbers in double precision; refused where they do not fit.

    Metrics may see where the origin is, so nothing is shifted here. Booleans stay what
    they are, which some metrics ask for.
    """
    if sp.issparse(X):
        stored = canonical_rows(X, name)
        return stored.astype(exact_doubles(stored.data, name).dtype)
    table = exact_doubles(X, name)
    if table.ndim != 2:
        raise InvalidInput(
            Argument(name), f" must be a table, a row for each point; its shape is {table.shape}"
        )
    return table


def exact_doubles(X: Any, name: str) -> np.ndarray:
    """An array of float64 (or booleans) with exactly the numbers of X."""
    numbers = exact_numbers(X, name)
    if numbers.dtype == bool:
        return numbers
    refuse_long_integers(numbers, name)
    return numbers.astype(np.float64, copy=False)


def refuse_long_integers(numbers: np.ndarray, name: str) -> None:
    """Raise for an array of integers that float64 does not hold."""
    if exceeds_float64(numbers):
        raise InvalidInput(
            Argument(name),
            " holds integers beyond 2^53, which double precision cannot hold; subtract a "
            "constant or divide by one first",
        )


class MetricWithParameters:
    """A metric of scikit-learn with its parameters, as a function of two points."""

    def __init__(self, metric: Metric, parameters: dict[str, Any]) -> None:
        self.metric, self.parameters = metric, parameters

    def __call__(self, x: np.ndarray, y: np.ndarray) -> float:
        if callable(self.metric):
            return float(self.metric(x, y, **self.parameters))
        return float(metric_distances(np.vstack([x, y]), None, self)[0, 1])


def _plain_metric(
    metric: Metric, parameters: dict[str, Any], width: int
) -> tuple[Metric, dict[str, Any]]:
    """A metric by its name and all of its parameters, so that pairs are computed together."""
    plain: Metric = metric
    if isinstance(metric, MetricWithParameters):
        plain, parameters = metric.metric, metric.parameters | parameters
    refuse_other_width(plain, parameters, width)
    return plain, parameters


def metric_distances(X: Any, others: Any, metric: Metric, **parameters: Any) -> np.ndarray:
    """Distances by any metric of scikit-learn (others None: between the rows of X).

    In float64: of float32 rows scikit-learn computes some metrics in float32.
    """
    from sklearn.metrics import pairwise_distances

    X, others = (None if rows is None else double_table(rows, "X") for rows in (X, others))
    metric, parameters = _plain_metric(metric, parameters, X.shape[1])
    if not parameters and are_sets(X, metric) and (others is None or are_sets(others, metric)):
        return set_distances(X, others, metric)
    try:
        with np.errstate(invalid="ignore", over="ignore"):  # the caller looks at what comes out
            return np.asarray(pairwise_distances(X, others, metric=metric, **parameters))
    except (ValueError, TypeError, AttributeError) as trouble:
        raise metric_failure(metric, trouble) from trouble


def metric_failure(metric: Metric, trouble: Exception) -> InvalidInput:
    """The refusal of a metric that scikit-learn, or a function of the user's, cannot compute."""
    return InvalidInput(
        Argument("metric", metric),
        f" could not be computed: {' '.join(str(trouble).split())[:300]}",
        InPython(". sklearn.metrics.pairwise_distances lists the metrics and what each needs"),
    )


def _distance_blocks(
    X: Any, queries: Any, metric: Metric, threads: int
) -> Iterator[tuple[int, Array]]:
    """Blocks of rows of the distance matrix, with the row each begins at."""
    from sklearn.metrics import pairwise_distances_chunked

    first = 0
    metric, parameters = _plain_metric(metric, {}, X.shape[1])
    for table in (X, X if queries is None else queries):
        if np.isinf(table.data if sp.issparse(table) else table).any():
            raise InvalidInput(Argument("X"), " holds infinite numbers; leave out their rows")
    blocks: Any = None
    while X.shape[0]:
        try:
            blocks = blocks or pairwise_distances_chunked(
                X if queries is None else queries,
                None if queries is None else X,
                metric=metric,
                n_jobs=threads,
                working_memory=_WORKING_MEMORY_MIB,
                **parameters,
            )
            block = np.asarray(next(blocks), dtype=np.float64)
        except StopIteration:
            return
        except (ValueError, TypeError, AttributeError) as trouble:
            raise metric_failure(metric, trouble) from trouble
        if block.size and block.min() < 0:
            raise InvalidInput(
                Argument("metric", metric),
                f" gives negative distances ({block.min():g}), and a distance is at least 0; "
                "take absolute values or squares of what it computes",
            )
        if not np.isfinite(block).all():
            raise InvalidInput(
                Argument("metric", metric),
                " gives distances that are not finite on these rows (cosine and correlation "
                "have none for constant or zero rows); drop those rows",
            )
        if queries is None:
            rows = np.arange(len(block))
            block[rows, first + rows] = np.inf
        yield first, block
        first += len(block)


def metric_search(
    X: Any, queries: Any, k: int, metric: Metric, threads: int
) -> tuple[np.ndarray, np.ndarray]:
    """Brute force by scikit-learn's pairwise distances, a block of rows at a time."""
    parts = []
    asked = X.shape[0] if queries is None else queries.shape[0]
    with steps("comparing points", asked) as done:
        for _, block in _distance_blocks(X, queries, metric, threads):
            parts.append(best_of_rows(block, k))
            done(len(block))
    return np.concatenate([i for i, _ in parts]), np.concatenate([d for _, d in parts])


def metric_within(X: Any, radius: float, metric: Metric, threads: int) -> ListArrays:
    """All pairs at distance <= radius, brute force."""
    if are_sets(X, metric):
        return sorted_lists(sets_within(X, radius, metric), X.shape[0])
    parts = []
    for first, block in _distance_blocks(X, None, metric, threads):
        row, column = np.nonzero(block <= radius)
        parts.append(Pairs(row + first, column, block[row, column]))
    return sorted_lists(joined_pairs(parts), X.shape[0])


def sorted_lists(pairs: Pairs, n: int) -> ListArrays:
    """Pairs as lists (indptr, indices, distances), rows sorted by (distance, index)."""
    row, column, distance = pairs
    by = np.lexsort((column, distance, row))
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n), out=indptr[1:])
    return indptr, column[by].astype(np.int32), distance[by].astype(np.float64)


def from_precomputed(distances: Any, n_neighbors: int | None = None) -> ListArrays:
    """Neighbour lists from given distances: (indptr, indices, distances).

    A dense square matrix gives every other point; a sparse one gives what is
    stored, explicit zeros included (they are duplicates, not absent), any number
    per row. The diagonal is left out. `n_neighbors` keeps at most that many of
    the nearest of each row.
    """
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1]:
        raise InvalidInput(
            "precomputed distances must be square, one row and column per point; the shape "
            f"is {distances.shape}. For points instead of distances use ",
            Argument("metric", "euclidean"),
        )
    n = distances.shape[0]
    if sp.issparse(distances):
        entries = sp.coo_array(canonical_rows(distances, "distances"))  # it keeps explicit zeros
        row, column = entries.row.astype(np.int64), entries.col.astype(np.int64)
        value = exact_doubles(entries.data, "distances").astype(np.float64)
    else:
        row, column = np.divmod(np.arange(n * n, dtype=np.int64), n)
        value = exact_doubles(distances, "distances").astype(np.float64).ravel()
    check_distances(value)
    if not sp.issparse(distances):
        _refuse_asymmetric(value.reshape(n, n))
    indptr, indices, value = sorted_lists(Pairs(row, column, value).where(row != column), n)
    if n_neighbors is None:
        return indptr, indices, value
    rank = np.arange(len(indices)) - np.repeat(indptr[:-1], np.diff(indptr))
    kept = rank < n_neighbors
    counts = np.minimum(np.diff(indptr), n_neighbors)
    return np.concatenate([[0], np.cumsum(counts)]), indices[kept], value[kept]


def _refuse_asymmetric(distances: np.ndarray) -> None:
    """Raise where the two directions of an edge differ: an edge of a graph has one length."""
    off = np.abs(distances - distances.T)
    if float(off.max(initial=0.0)) <= ASYMMETRY_TOLERANCE * float(
        np.abs(distances).max(initial=0.0)
    ):
        return
    i, j = np.unravel_index(int(off.argmax()), off.shape)
    raise InvalidInput(
        "precomputed distances must be symmetric, but between ",
        RowNumbers(int(i), int(j)),
        f" they are {distances[i, j]:g} and back {distances[j, i]:g}. If both mean "
        "something, pass (D + D.T) / 2, or np.minimum(D, D.T) for the shorter of both",
    )


def check_distances(value: np.ndarray) -> None:
    if not np.isfinite(value).all():
        raise InvalidInput(
            "precomputed distances must be finite; leave unknown ones out of a sparse matrix "
            "instead of storing NaN or infinity"
        )
    if len(value) and value.min() < 0:
        raise InvalidInput(
            f"precomputed distances must not be negative; the smallest is {value.min():g}. "
            "For similarities s pass a distance such as sqrt(2 - 2s)"
        )


def present_nearest(
    X: Any, n_neighbors: int, *, queries: Any = None, weights: Any = None, n_jobs: int | None = None
) -> Neighbors:
    """The nearest rows of X to each of `queries`, or to each row of X but itself; NaN is missing.

    The distance is Σ|x − y| over the columns that both rows have, times Σ`weights` of all columns
    over that of these. Without missing values it is the Manhattan distance. With each number
    over its range and each category as columns of 0 and ½ (`weights` 1 and 1/levels), it is Gower's
    distance times the number of columns. Exact: every pair is measured, in double precision.

    n_neighbors : how many of them
    n_jobs : threads (None: all cores); the lists do not depend on them

    Gower, "A general coefficient of similarity and some of its properties" (1971).
    """
    rows = _doubles_with_missing(X, "X")
    asked = rows if queries is None else _doubles_with_missing(queries, "queries")
    n, width = rows.shape
    is_self_join = queries is None
    if not 1 <= n_neighbors <= n - is_self_join:
        raise InvalidInput(
            Argument("n_neighbors", n_neighbors),
            f" must be between 1 and {n - is_self_join} for {n} rows",
        )
    shares = np.ones(width) if weights is None else np.asarray(weights, dtype=np.float64)
    has_missing = np.isnan(rows).any(axis=0).astype(np.int32)
    panels = _panels(rows)
    indices = np.empty((len(asked), n_neighbors), dtype=np.int32)
    distances = np.empty((len(asked), n_neighbors))

    def search(part: slice) -> None:
        batch = asked[part], part.stop - part.start
        rule = shares, has_missing, part.start if is_self_join else -1, n_neighbors
        _present_nearest(panels, n, width, *batch, *rule, distances[part], indices[part])

    parts = [
        slice(p.start, min(p.stop, len(asked))) for p in row_slices(len(asked), _QUERIES_PER_CALL)
    ]
    with steps("comparing points", len(parts)) as done:
        in_threads(search, parts, thread_count(n_jobs), done)
    if np.isinf(distances).any():
        row = int(np.argmax(np.isinf(distances).any(axis=1)))
        raise InvalidInput(
            RowNumbers(row),
            " has no column in common with enough other rows to find "
            f"{n_neighbors} neighbours; leave out rows that are nearly empty",
        )
    # Sums of `width` terms >= 0: of the differences, of all weights, of those present.
    return Neighbors(indices, distances, exact_search("present", EPS * (2 * width + 2)))


def _doubles_with_missing(X: Any, name: str) -> Array:
    """The given numbers, none of them rounded or infinite; NaN is a missing value."""
    table = exact_numbers(X.toarray() if sp.issparse(X) else X, name)
    if table.ndim != 2 or not table.shape[1]:
        raise InvalidInput(
            Argument(name),
            f" must be a table, a row for each point; its shape is {table.shape}",
        )
    given = np.ascontiguousarray(
        exact_doubles(table, name) if table.dtype.kind in "iu" else table, dtype=np.float64
    )
    if np.isinf(given).any():
        raise InvalidInput(Argument(name), " holds infinite numbers; leave out their rows")
    return given


def _panels(rows: Array) -> Array:
    """Rows in panels of as many as the kernel takes, each panel column by column."""
    lanes = c_constant("PRESENT_LANES")
    padded = np.zeros((-(-len(rows) // lanes) * lanes, rows.shape[1]))
    padded[: len(rows)] = rows
    by_panel = padded.reshape(-1, lanes, rows.shape[1]).transpose(0, 2, 1)
    return np.ascontiguousarray(by_panel)

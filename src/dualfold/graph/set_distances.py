"""Distances between sets: rows of 0 and 1, or sparse rows whose stored entries are the elements.

With p and q elements, a of them in common, and D columns:

    jaccard, tanimoto : (p + q − 2a)/(p + q − a)
    dice              : (p + q − 2a)/(p + q)
    hamming           : (p + q − 2a)/D

Two empty sets have distance 0. Every distance is a quotient of whole numbers, rounded once, so that
sets that are as far as each other tie, and ties are broken by row number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Metric
from dualfold.errors import Argument, InvalidInput, RowNumbers
from dualfold.graph.metric_names import SET_METRICS
from dualfold.graph.neighbor_lists import Pairs, best_of_rows, joined_pairs
from dualfold.graph.number_rows import exact_numbers
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.reports import steps
from dualfold.kernels.sparse import canonical_rows
from dualfold.kernels.threads import in_threads, row_slices, thread_count

# Beyond it two quotients of counts could round to the same number.
_MAX_COLUMNS = 1 << 24
# Progress is reported between calls; the queries of one stay in the cache.
_QUERIES_PER_CALL = 256
# Counts in common that are held at a time.
_COUNTS_PER_CHUNK = 1 << 22
# Nanoseconds of one core, of which only the ratio counts: docs/dev/notes/neighbours.md
_WORD_NS = 0.25
_ELEMENT_NS = 2.0
_COUNT_NS = 5.0

_nearest_sets = kernel("nearest_sets")
_sets_in_common = kernel("sets_in_common")


def are_sets(X: Any, metric: Metric) -> bool:
    """Whether the rows of X are compared as sets by this metric.

    Hamming's distance also compares numbers; these are no sets.
    """
    if not isinstance(metric, str) or metric not in (*SET_METRICS, "hamming"):
        return False
    if metric != "hamming":
        return True
    entries = X.data if sp.issparse(X) else np.asarray(X)
    return entries.dtype == bool or bool(((entries == 0) | (entries == 1)).all())


@dataclass(frozen=True, eq=False)
class Sets:
    """Sets as rows of a sparse matrix of ones.

    members : n×D, CSR; every entry is 1
    sizes : how many elements each has
    """

    members: Any
    sizes: Array

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.members.shape[1])

    def bits(self, rows: slice | None = None) -> Array:
        """Rows of words of 64 bits."""
        part = self.members if rows is None else self.members[rows]
        n, words = part.shape[0], _words(self.width)
        packed = np.zeros((n, words * 64), dtype=bool)
        packed[np.repeat(np.arange(n), np.diff(part.indptr)), part.indices] = True
        return np.packbits(packed, axis=1, bitorder="little").view("<i8")


def sets_of(X: Any, name: str = "X") -> Sets:
    """The rows of X as sets: an entry that is not 0 is an element; NaN and others are refused."""
    table: Any = canonical_rows(X, name) if sp.issparse(X) else exact_numbers(X, name)
    if table.ndim != 2 or table.shape[1] > _MAX_COLUMNS:
        raise InvalidInput(
            Argument(name),
            f" must be a table of at most {_MAX_COLUMNS:,} columns, a row for each set; its shape "
            f"is {table.shape}",
        )
    entries = table.data if sp.issparse(table) else table
    strange: Array = ~((entries == 0) | (entries == 1))
    if strange.any():
        row = int(np.argmax(strange.any(axis=1))) if not sp.issparse(table) else None
        value = entries[strange].ravel()[0]
        raise InvalidInput(
            *((RowNumbers(row), " of ") if row is not None else ()),
            Argument(name),
            f" holds {value:g}, and sets are rows of 0 and 1. To ask which entries are there at "
            "all, pass (X != 0); to compare numbers, take another ",
            Argument("metric"),
        )
    members = sp.csr_array(table != 0)
    members.sort_indices()
    return Sets(members, np.diff(members.indptr).astype(np.int32))


def _rule(metric: Metric, width: int) -> tuple[int, int, int]:
    """The denominator of a distance: base, and what (p + q) and −a are multiplied by."""
    if metric == "hamming":
        return max(width, 1), 0, 0
    return (0, 1, 0) if metric == "dice" else (0, 1, 1)


def set_distances(X: Any, others: Any, metric: Metric) -> Array:
    """Distances between the sets of X and those of `others` (None: of X)."""
    first = sets_of(X)
    second = first if others is None else sets_of(others, "others")
    _refuse_other_width(first, second)
    distances = np.empty((len(first), len(second)))
    rows_of_distances = _distance_rows(second, first, metric)
    for part in row_slices(len(first), max(1, _COUNTS_PER_CHUNK // max(1, len(second)))):
        distances[part] = rows_of_distances(part)
    return distances


def nearest_sets(
    X: Any, queries: Any, k: int, metric: Metric, n_jobs: int | None
) -> tuple[Array, Array]:
    """The k nearest sets of each query, or of each row of X but itself: (indices, distances)."""
    sets = sets_of(X)
    asked = sets if queries is None else sets_of(queries, "queries")
    _refuse_other_width(sets, asked)
    indices = np.empty((len(asked), k), dtype=np.int32)
    distances = np.empty((len(asked), k))
    if _are_bits_faster(sets, asked):
        search = _search_by_bits(sets, asked, queries is None, metric, indices, distances)
    else:
        search = _search_by_elements(sets, asked, queries is None, metric, indices, distances)
    parts = list(row_slices(len(asked), _QUERIES_PER_CALL))
    with steps("comparing sets", len(parts)) as done:
        in_threads(search, parts, thread_count(n_jobs), done)
    return indices, distances


def sets_within(X: Any, radius: float, metric: Metric) -> Pairs:
    """All pairs of different rows at distance ≤ radius: (rows, columns, distances)."""
    sets = sets_of(X)
    rows_of_distances = _distance_rows(sets, sets, metric)
    parts = []
    for part in row_slices(len(sets), max(1, _COUNTS_PER_CHUNK // max(1, len(sets)))):
        block = rows_of_distances(part)
        selves = np.arange(part.stop - part.start)
        block[selves, part.start + selves] = np.inf
        row, column = np.nonzero(block <= radius)
        parts.append(Pairs(row + part.start, column, block[row, column]))
    return joined_pairs(parts)


def _refuse_other_width(first: Sets, second: Sets) -> None:
    if first.width != second.width:
        raise InvalidInput(
            f"sets of {first.width} and of {second.width} columns cannot be compared; give both "
            "the same columns"
        )


def _are_bits_faster(sets: Sets, asked: Sets) -> bool:
    """Whether comparing words of bits is less work than going through the elements."""
    first, second = (
        np.bincount(s.members.indices, minlength=s.width).astype(float) for s in (sets, asked)
    )
    pairs = float(len(sets)) * len(asked)
    by_bits = pairs * _words(sets.width) * _WORD_NS
    return by_bits <= float(first @ second) * _ELEMENT_NS + pairs * _COUNT_NS


def _distance_rows(sets: Sets, asked: Sets, metric: Metric) -> Callable[[slice], Array]:
    """A function of some queries that returns their distances to all sets."""
    base, each, shared = _rule(metric, sets.width)
    common = _common_by_bits if _are_bits_faster(sets, asked) else _common_by_elements
    counts_of = common(sets, asked)

    def distances(part: slice) -> Array:
        counts = counts_of(part)
        both = asked.sizes[part][:, None] + sets.sizes
        over = np.maximum(base + each * both - shared * counts, 1)
        return np.asarray((both - 2 * counts) / over)

    return distances


def _common_by_elements(sets: Sets, asked: Sets) -> Callable[[slice], Array]:
    by_column = sp.csr_array(sets.members.T.astype(np.int32))
    return lambda part: (asked.members[part].astype(np.int32) @ by_column).toarray()


def _common_by_bits(sets: Sets, asked: Sets) -> Callable[[slice], Array]:
    panels, words = _panels(sets), _words(sets.width)

    def counts(part: slice) -> Array:
        height = part.stop - part.start
        common = np.empty((height, len(sets)), dtype=np.int32)
        _sets_in_common(panels, len(sets), words, asked.bits(part), height, common)
        return common

    return counts


def _search_by_elements(
    sets: Sets, asked: Sets, is_self_join: bool, metric: Metric, indices: Array, distances: Array
) -> Callable[[slice], None]:
    rows_of_distances = _distance_rows(sets, asked, metric)

    def search(part: slice) -> None:
        block = rows_of_distances(part)
        if is_self_join:
            places = np.arange(part.stop - part.start)
            block[places, part.start + places] = np.inf
        indices[part], distances[part] = best_of_rows(block, indices.shape[1])

    return search


def _search_by_bits(
    sets: Sets, asked: Sets, is_self_join: bool, metric: Metric, indices: Array, distances: Array
) -> Callable[[slice], None]:
    panels, words, k = _panels(sets), _words(sets.width), indices.shape[1]
    sizes = np.zeros(panels.shape[0] * panels.shape[2], dtype=np.int32)
    sizes[: len(sets)] = sets.sizes
    rule = np.array(_rule(metric, sets.width), dtype=np.int32)

    def search(part: slice) -> None:
        queries = asked.bits(part), np.ascontiguousarray(asked.sizes[part])
        first_self = part.start if is_self_join else -1
        how = part.stop - part.start, rule, first_self, k
        lists = distances[part], indices[part]
        _nearest_sets(panels, sizes, len(sets), words, *queries, *how, *lists)

    return search


def _words(width: int) -> int:
    """The number of words of 64 bits that a row of `width` columns needs."""
    return max(1, -(-width // 64))


def _panels(sets: Sets) -> Array:
    """Sets in panels of as many as the kernel takes, each panel word by word."""
    lanes, words = c_constant("SET_LANES"), _words(sets.width)
    panels = np.zeros((-(-len(sets) // lanes), words, lanes), dtype=np.int64)
    for part in row_slices(len(sets), lanes * _QUERIES_PER_CALL):
        bits = sets.bits(part)
        padded = np.zeros((-(-len(bits) // lanes), lanes, words), dtype=np.int64)
        padded.reshape(-1, words)[: len(bits)] = bits
        first = part.start // lanes
        panels[first : first + len(padded)] = padded.transpose(0, 2, 1)
    return panels

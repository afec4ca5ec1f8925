"""In which order to eliminate the rows of a sparse symmetric matrix, and at what cost.

The order decides how many zeros fill in. Minimum degree (always next the row with the
fewest entries left) is quick and best on graphs of surfaces; nested dissection (a
separator last, each side before it, in turn) wins on graphs of solids. Graphs without
small separators, as of neighbours in many dimensions, fill in whatever the order: they
are recognised early and refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dualfold.errors import Argument, DualfoldError, InvalidInput, TooLarge
from dualfold.kernels import c_constant, kernel
from dualfold.kernels.sparse import canonical_rows, distinct_rows

__all__ = [
    "Ordering",
    "fill_reducing_ordering",
    "is_small_world",
    "ordering_after",
    "paired_ordering",
]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

# Nested dissection stops at pieces this small and orders them by minimum degree.
MAX_LEAF_ROWS = 200
# Multiply-adds a row above which dissection is tried too. Minimum degree needs fewer on surfaces,
# dissection on solids (docs/dev/notes/trace-solvers.md).
MIN_DISSECTION_FLOPS_A_ROW = 15_000
# Share of all rows that a few steps reach in a graph without small separators.
SMALL_WORLD_SHARE = 0.9
NO_MEMORY = c_constant("NO_MEMORY")
TOO_COSTLY = c_constant("TOO_COSTLY")
# D^-½ L D^-½ is symmetric only to round-off. More than this share of the largest entry
# is not round-off.
ASYMMETRY_TOLERANCE = 1e-10

_asymmetry = kernel("asymmetry")
_relabelled = kernel("breadth_first")
_order = kernel("sparse_ordering")
_supernodes = kernel("sparse_supernodes")
_rows = kernel("sparse_rows")
_rows_within = kernel("rows_within")


@dataclass(frozen=True, eq=False)
class Ordering:
    """In which order to eliminate the rows of a pattern, and what that costs.

    Columns with (nearly) the same pattern are stored together as a dense block, a
    supernode; `factor_entries` counts the zeros that this adds.
    """

    permutation: Ints  # permutation[k] = the row of the matrix placed k-th
    factor_entries: int  # of L, unit diagonal included
    flops: float  # multiply-adds of the numeric factorisation
    longest_row: int  # most entries of L left of the diagonal in one row
    first: Ints = field(repr=False)  # columns first[s] .. first[s+1] are supernode s
    above: Ints = field(repr=False)  # the supernode that s hangs on in the tree, or -1
    row_start: Longs = field(repr=False)
    rows: Ints = field(repr=False)  # rows below the columns of supernode s, ascending
    panel_start: Longs = field(repr=False)  # where the block of s begins in L's storage


def fill_reducing_ordering(matrix: csr_array, *, most_flops: float | None = None) -> Ordering:
    """An order of elimination that keeps the factor of `matrix` sparse.

    Nested dissection down to small pieces, those by minimum degree. Rows with entries in a
    large part of all columns go last. Only the pattern is used; it must be symmetric.

    `most_flops` bounds the multiply-adds of the factorisation to come. A graph without
    small separators (neighbours in many dimensions) is refused as soon as one of its
    separators, or the smallest degree left, alone costs more: TooLarge.
    """
    n, given_start, given_columns, *_ = symmetric_rows(matrix, with_values=False)
    if len(given_columns) >= 2**30:  # the ordering counts entries, and those of halos, in int32
        raise TooLarge(
            f"at most 2³⁰ entries can be ordered and the matrix has {len(given_columns)}; "
            "use a solver that does not factorise"
        )
    label = np.empty(n, np.int32)
    start, columns = np.zeros_like(given_start), np.empty_like(given_columns)
    status = _relabelled(n, given_start, given_columns, label, start, columns)
    raise_without_memory([status], 4 * n)
    tree = _cheapest_tree(n, start, columns, most_flops)
    return _ordering_of_tree(n, start, columns, label, tree)


def ordering_after(matrix: csr_array, leading: int, *, most_flops: float | None = None) -> Ordering:
    """Fill-reducing order behind the `leading` first rows, which have no entries in common.

    Only the pattern that is left after them is ordered. Of runs of leading rows with the same
    columns, as one neighbourhood gives them, that pattern needs one: it is found sooner than
    minimum degree finds the same order row by row.
    """
    n, start, columns, *_ = symmetric_rows(matrix, with_values=False)
    whole = csr_array((np.ones(len(columns), np.int8), columns, start), shape=(n, n))
    sides = whole[distinct_rows(whole[:leading, leading:])][:, leading:].astype(np.int32)
    rest = fill_reducing_ordering(
        csr_array(sides.T @ sides + whole[leading:, leading:]), most_flops=most_flops
    )
    order = np.arange(n, dtype=np.int32)
    order[leading:] = leading + rest.permutation
    tree = _tree_of_order(n, start, columns, order)
    if most_flops is not None and tree.flops > most_flops:
        raise _refusal(n, tree.flops, most_flops)
    return _ordering_of_tree(n, start, columns, np.arange(n, dtype=np.int32), tree)


def _ordering_of_tree(n: int, start: Longs, columns: Ints, label: Ints, tree: _Tree) -> Ordering:
    """The order with the rows of every supernode; label[i] is the given number of row i."""
    order, first, above, row_start = tree.order, tree.first, tree.above, tree.row_start
    panel_start, entries = _panels(first, row_start)
    rows = np.empty(row_start[-1], np.int32)
    longest = np.zeros(1, np.int64)
    status = _rows(n, start, columns, order, len(above), first, above, row_start, rows, longest)
    raise_without_memory([status], 12 * n)
    if status:
        raise DualfoldError(f"the symbolic factorisation is inconsistent (status {status})")
    return Ordering(
        permutation=label[order],
        factor_entries=entries,
        flops=tree.flops,
        longest_row=int(longest[0]),
        first=first,
        above=above,
        row_start=row_start,
        rows=rows,
        panel_start=panel_start,
    )


def paired_ordering(ordering: Ordering) -> Ordering:
    """The order of a matrix of 2×2 blocks, each as full as one entry of the ordered pattern.

    Rows i and n + i stand for row i and are eliminated together, so nothing is ordered anew.
    """
    n = len(ordering.permutation)
    permutation = np.empty(2 * n, np.int32)
    permutation[::2], permutation[1::2] = ordering.permutation, ordering.permutation + n
    rows = np.empty(2 * len(ordering.rows), np.int32)
    rows[::2] = 2 * ordering.rows
    rows[1::2] = rows[::2] + 1
    first, row_start = 2 * ordering.first, 2 * ordering.row_start
    panel_start, entries = _panels(first, row_start)
    return Ordering(
        permutation=permutation,
        factor_entries=entries,
        flops=_multiply_adds(first, row_start),
        longest_row=2 * ordering.longest_row + 1,
        first=first,
        above=ordering.above,
        row_start=row_start,
        rows=rows,
        panel_start=panel_start,
    )


def small_world_steps(n: int) -> int:
    """Steps in which a graph of n rows without small separators is crossed."""
    return int(2 * np.log2(max(n, 1)))


def is_small_world(matrix: csr_array) -> bool:
    """Whether a graph is crossed in about log n steps, as graphs of images are.

    Such graphs have no small separators; a walk over them finds that out, where the symbolic
    analysis needs a good part of the time that other algorithms do.
    """
    n = matrix.shape[0]
    rows = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32, copy=False)
    count = _rows_within(n, *rows, n // 2, small_world_steps(n)) if n else 0
    raise_without_memory([count], 5 * n)
    return bool(count > SMALL_WORLD_SHARE * n)


def _panels(first: Ints, row_start: Longs) -> tuple[Longs, int]:
    """Where the block of each supernode begins, and the entries of L in all of them."""
    own, below = np.diff(first).astype(np.int64), np.diff(row_start)
    starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(own * (own + below))])
    return starts, int(starts[-1] - np.sum(own * (own - 1) // 2))


def _multiply_adds(first: Ints, row_start: Longs) -> float:
    low = np.diff(row_start).astype(np.float64)
    high = low + np.diff(first) - 1
    return float(np.sum(high * (high + 1) * (high + 2) - (low - 1) * low * (low + 1)) / 6)


@dataclass(frozen=True, eq=False)
class _Tree:
    """An order of elimination, its supernodes and their cost."""

    order: Ints
    first: Ints
    above: Ints
    row_start: Longs
    flops: float


def _cheapest_tree(n: int, start: Longs, columns: Ints, most_flops: float | None) -> _Tree:
    """By minimum degree; where that is costly, by nested dissection if that is cheaper."""
    limit = np.inf if most_flops is None else float(most_flops)
    tree = _tree(n, start, columns, max(n, 1), limit)
    if tree.flops <= min(limit, MIN_DISSECTION_FLOPS_A_ROW * n):
        return tree
    if tree.flops > 8 * limit:  # a separator says so already
        raise _refusal(n, tree.flops, limit)
    other = _tree(n, start, columns, MAX_LEAF_ROWS, min(limit, tree.flops))
    if len(other.order):
        return other
    if len(tree.order):
        return tree
    raise _refusal(n, min(tree.flops, other.flops), limit)


def _tree(n: int, start: Longs, columns: Ints, leaf: int, limit: float) -> _Tree:
    """The supernodes of one ordering, or an empty order where it costs more than `limit`."""
    order = np.empty(n, np.int32)
    cost = np.array([limit, 0.0])
    status = _order(n, start, columns, leaf, order, cost)
    raise_without_memory([status], 20 * len(columns) + 60 * n)
    if status == TOO_COSTLY:
        none = np.zeros(1, np.int32)
        return _Tree(order[:0], none, none[:0], np.zeros(1, np.int64), float(cost[1]))
    tree = _tree_of_order(n, start, columns, order)
    return tree if tree.flops <= limit else replace(tree, order=order[:0])


def _tree_of_order(n: int, start: Longs, columns: Ints, order: Ints) -> _Tree:
    """The supernodes of an order, which is renumbered so that subtrees stay together."""
    first = np.zeros(n + 1, np.int32)
    above = np.empty(n, np.int32)
    row_start = np.zeros(n + 1, np.int64)
    made = _supernodes(n, start, columns, order, first, above, row_start)
    raise_without_memory([made], 44 * n)
    first, above = first[: made + 1].copy(), above[:made].copy()
    row_start = row_start[: made + 1].copy()
    return _Tree(order, first, above, row_start, _multiply_adds(first, row_start))


def symmetric_rows(
    matrix: csr_array, *, with_values: bool
) -> tuple[int, Longs, Ints, Floats, float]:
    """The compressed rows in the kernels' types, sorted, known to be symmetric."""
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] >= 2**31:
        raise InvalidInput(
            f"a square matrix of fewer than 2³¹ rows is needed; given was {matrix.shape}"
        )
    rows = canonical_rows(matrix, "matrix")
    n = rows.shape[0]
    start = rows.indptr.astype(np.int64, copy=False)
    columns = rows.indices.astype(np.int32, copy=False)
    values, largest = np.empty(0), 0.0
    if with_values:
        values = np.ascontiguousarray(rows.data, dtype=np.float64)
        largest = float(max(np.max(values, initial=0.0), -np.min(values, initial=0.0)))
        if not np.isfinite(largest):
            raise InvalidInput("the matrix holds entries that are not finite; remove them first")
    apart = _asymmetry(
        n, start, columns, values if with_values else None, np.empty(n, np.int64), np.empty(n)
    )
    if apart < 0 or apart > ASYMMETRY_TOLERANCE * largest:
        raise InvalidInput(
            "the matrix must be symmetric, and so must be the places of its stored entries; "
            "take (M + M.T) / 2"
        )
    return n, start, columns, values, apart


def raise_without_memory(states: list[int], size: int) -> None:
    if NO_MEMORY in states:
        raise TooLarge(
            f"about {size / 2**30:.1f} GiB could not be had for a sparse factorisation; "
            "use a solver that does not factorise"
        )


def _refusal(n: int, flops: float, most_flops: float) -> TooLarge:
    error = TooLarge(
        f"factorising this pattern of {n} rows costs about {flops:.1e} multiply-adds or more and ",
        Argument("most_flops", float(f"{most_flops:.1e}")),
        " was allowed: it has no small separators; use a solver that does not factorise",
    )
    error.flops = flops  # type: ignore[attr-defined]
    return error

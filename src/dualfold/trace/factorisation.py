"""Sparse LDLᵀ without pivoting: solves with A − σB, and proofs by counting signs.

Two steps, so that the price is known before it is paid and the first can be kept:
`fill_reducing_ordering` looks at the pattern only and says exactly how many numbers
the factor will hold and how many multiply-adds it costs; `factorise` does the work.

By Sylvester's law the signs of D are those of the eigenvalues of the matrix that was
really factorised, LDLᵀ. That is the given matrix up to `backward_error`, so the count
below σ is a proof for every eigenvalue further from σ than that.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from dualfold.errors import DualfoldError, InvalidInput, TooLarge
from dualfold.kernels import kernel, thread_count

__all__ = ["Factorisation", "Ordering", "factorise", "fill_reducing_ordering"]

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]

# Nested dissection stops at pieces this small and orders them by minimum degree.
LEAF = 200
# Multiply-adds a row above which dissection is tried too: it takes about ten microseconds a row.
# Plain minimum degree gave fewer on every swiss roll (10,000 a row at n = 10⁶), dissection
# on 3-D grids.
WORTH_DISSECTING = 15_000
# Shares of the work that threads may take; more balance better, fewer cost less scratch.
PARTS = 24
NO_MEMORY, TOO_COSTLY, OUTSIDE_PATTERN = -1, -2, -4
ROUND_OFF = 2.0**-53
# D^-½ L D^-½ is symmetric only to round-off. More than this share of the largest entry
# is not round-off.
MOST_ASYMMETRY = 1e-10

_asymmetry = kernel(
    "asymmetry", "float64", "int64", "int64[]", "int32[]", "float64[]?", "int64[]", "float64[]"
)
_relabelled = kernel(
    "breadth_first", "int32", "int64", "int64[]", "int32[]", "int32[]", "int64[]", "int32[]"
)
_order = kernel(
    "sparse_ordering", "int32", "int64", "int64[]", "int32[]", "int64", "int32[]", "float64[]"
)
_supernodes = kernel(
    "sparse_supernodes",
    "int64",
    "int64",
    "int64[]",
    "int32[]",
    "int32[]",
    "int32[]",
    "int32[]",
    "int64[]",
)
_rows = kernel(
    "sparse_rows",
    "int32",
    "int64",
    "int64[]",
    "int32[]",
    "int32[]",
    "int64",
    "int32[]",
    "int32[]",
    "int64[]",
    "int32[]",
    "int64[]",
)
_plan = kernel(
    "ldl_plan",
    "int64",
    "int64",
    "int64",
    "int32[]",
    "int32[]",
    "int64[]",
    "int32[]",
    "int64[]",
    "int64[]",
    "float64[]",
)
_factorise = kernel(
    "ldl_factorise",
    "int32",
    "int64",
    "int64",
    "int64",
    "int64",
    "int64",
    "int64[]",
    "int32[]",
    "float64[]",
    "int32[]",
    "int32[]",
    "int32[]",
    "int32[]",
    "int64[]",
    "int32[]",
    "int64[]",
    "int32[]",
    "int64[]",
    "float64[]",
    "int64",
    "float64[]",
    "float64[]",
)
_solve = kernel(
    "ldl_solve",
    "int32",
    "int64",
    "int64",
    "int64",
    "int64",
    "int64",
    "int32[]",
    "int32[]",
    "int64[]",
    "int32[]",
    "int64[]",
    "float64[]",
    "float64[]",
    "float64[]",
    "float64[]",
)
_absolute = kernel(
    "ldl_absolute",
    None,
    "int64",
    "int64",
    "int32[]",
    "int64[]",
    "int32[]",
    "int64[]",
    "float64[]",
    "float64[]",
    "float64[]",
    "float64[]",
)


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


@dataclass(frozen=True, eq=False)
class Factorisation:
    """P M Pᵀ = L D Lᵀ up to `backward_error` in the 2-norm, and the signs of D.

    The bound. Entry (i, j), i ≥ j, of L D is computed as m_ij − Σ_{k<j} l_ik d_k l_jk,
    then divided by d_j when i > j. The fronts add those terms in an order given by the
    tree and the blocks: products within a block, blocks into fronts, fronts of children
    into their parents. In whatever order (Higham, *Accuracy and Stability*, lemma 8.4: at each
    addition put the rounding on the terms, then divide by the factors that m_ij
    collected), the result satisfies

        m_ij = Σ_{k≤j} l_ik d_k l_jk (1 + θ_k),   |θ_k| ≤ γ_t = tu/(1 − tu)

    with t = (number of additions) + 2 for the two products + 1 for the division.
    A sum of r terms and m_ij has r additions; those with an exact zero (padding of the
    supernodes, a fresh front) round nothing; r is at most the entries of row j of L left
    of the diagonal, `longest_row`. So |E| ≤ γ_t |L||D||L|ᵀ, entry by entry, and
    ‖E‖₂ ≤ ‖E‖_∞ ≤ γ_t max_i (|L|(|D|(|L|ᵀ1)))_i because |E| is bounded by a symmetric
    matrix. That maximum is a sum of positive terms, right to a relative 3nu; a factor
    1 + 10⁻⁶ covers it for every n < 2³¹. Each product or quotient that underflows adds at most
    2⁻¹⁰⁷⁴ times the number it is then multiplied by. A matrix symmetric only to round-off is
    read from one entry of each pair: that adds at most ‖M − Mᵀ‖_∞ (doubled, for its rounding).
    """

    ordering: Ordering
    negative: int
    zero: int
    positive: int
    backward_error: float
    lower: Floats = field(repr=False)
    pivots: Floats = field(repr=False)

    def solve(self, rhs: NDArray[Any]) -> Floats:
        """The x of M x = rhs, for one right-hand side (n,) or several (n, k) at once."""
        right = np.ascontiguousarray(rhs, dtype=np.float64)
        o = self.ordering
        n = len(self.pivots)
        if right.ndim not in (1, 2) or len(right) != n:
            raise InvalidInput(
                f"a right-hand side of {n} rows is needed, one or two dimensions; "
                f"given was the shape {right.shape}"
            )
        if self.zero or not np.isfinite(self.backward_error):
            raise InvalidInput(
                f"{self.zero} pivots of this factorisation are zero or not finite, so it "
                "cannot solve; move the shift a little and factorise again"
            )
        out = np.empty_like(right)
        count = 1 if right.ndim == 1 else right.shape[1]
        # Eight columns go through the factor at once; threads take such groups.
        groups = [(c, min(c + 8, count)) for c in range(0, count, 8)]

        def one(group: tuple[int, int]) -> int:
            status: int = _solve(
                n,
                count,
                *group,
                len(o.above),
                o.permutation,
                o.first,
                o.row_start,
                o.rows,
                o.panel_start,
                self.lower,
                self.pivots,
                right,
                out,
            )
            return status

        _raise_without_memory(_in_threads(one, groups), n * 9 * 8)
        return out


def fill_reducing_ordering(matrix: csr_array[Any], *, most_flops: float | None = None) -> Ordering:
    """An order of elimination that keeps the factor of `matrix` sparse.

    Nested dissection down to small pieces, those by minimum degree. Rows that touch a
    large part of all others go last. Only the pattern is looked at; it must be symmetric.

    `most_flops` bounds the multiply-adds of the factorisation to come. A graph without
    small separators (neighbours in many dimensions) is refused as soon as one of its
    separators, or the smallest degree left, alone costs more: TooLarge.
    """
    n, given_start, given_columns, *_ = _checked(matrix, with_values=False)
    label = np.empty(n, np.int32)
    start, columns = np.zeros_like(given_start), np.empty_like(given_columns)
    status = _relabelled(n, given_start, given_columns, label, start, columns)
    _raise_without_memory([status], 4 * n)
    tree = _cheapest_tree(n, start, columns, most_flops)
    order, first, above, row_start = tree.order, tree.first, tree.above, tree.row_start
    own, below = np.diff(first).astype(np.int64), np.diff(row_start)
    panel_start = np.concatenate([np.zeros(1, np.int64), np.cumsum(own * (own + below))])
    rows = np.empty(row_start[-1], np.int32)
    longest = np.zeros(1, np.int64)
    status = _rows(n, start, columns, order, len(above), first, above, row_start, rows, longest)
    _raise_without_memory([status], 12 * n)
    if status:
        raise DualfoldError(f"the symbolic factorisation is inconsistent (status {status})")
    return Ordering(
        permutation=label[order],
        factor_entries=int(panel_start[-1] - np.sum(own * (own - 1) // 2)),
        flops=tree.flops,
        longest_row=int(longest[0]),
        first=first,
        above=above,
        row_start=row_start,
        rows=rows,
        panel_start=panel_start,
    )


@dataclass(frozen=True, eq=False)
class _Tree:
    """An order of elimination, its supernodes and their price."""

    order: Ints
    first: Ints
    above: Ints
    row_start: Longs
    flops: float


def _cheapest_tree(n: int, start: Longs, columns: Ints, most_flops: float | None) -> _Tree:
    """By minimum degree; where that is costly, by nested dissection if that is cheaper."""
    limit = np.inf if most_flops is None else float(most_flops)
    tree = _tree(n, start, columns, max(n, 1), limit)
    if tree.flops <= min(limit, WORTH_DISSECTING * n):
        return tree
    if tree.flops > 8 * limit:  # a separator says so already
        raise _refusal(n, tree.flops, limit)
    other = _tree(n, start, columns, LEAF, min(limit, tree.flops))
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
    _raise_without_memory([status], 20 * len(columns) + 60 * n)
    first = np.zeros(n + 1, np.int32)
    above = np.empty(n, np.int32)
    row_start = np.zeros(n + 1, np.int64)
    if status == TOO_COSTLY:
        return _Tree(order[:0], first, above, row_start, float(cost[1]))
    made = _supernodes(n, start, columns, order, first, above, row_start)
    _raise_without_memory([made], 44 * n)
    first, above = first[: made + 1].copy(), above[:made].copy()
    row_start = row_start[: made + 1].copy()
    low = np.diff(row_start).astype(np.float64)
    high = low + np.diff(first) - 1
    flops = float(np.sum(high * (high + 1) * (high + 2) - (low - 1) * low * (low + 1)) / 6)
    return _Tree(order if flops <= limit else order[:0], first, above, row_start, flops)


def factorise(matrix: csr_array[Any], ordering: Ordering) -> Factorisation:
    """L D Lᵀ of a symmetric matrix whose pattern lies in the one that was ordered."""
    n, start, columns, values, apart = _checked(matrix, with_values=True)
    o = ordering
    if len(o.permutation) != n:
        raise InvalidInput(
            f"the ordering is for {len(o.permutation)} rows and the matrix has {n}; "
            "order this matrix's pattern first"
        )
    supers = len(o.above)
    part = np.empty(supers, np.int32)
    hand_at = np.empty(supers + 1, np.int64)
    stacks = np.empty(PARTS + 1, np.int64)
    work = np.empty(PARTS + 1)
    parts = _plan(supers, PARTS, o.first, o.above, o.row_start, part, hand_at, stacks, work)
    _raise_without_memory([parts], 16 * supers)
    place = np.empty(n, np.int32)
    place[o.permutation] = np.arange(n, dtype=np.int32)
    try:
        lower = np.empty(o.panel_start[-1])
        handed = np.empty(hand_at[-1])
    except MemoryError:
        _raise_without_memory([NO_MEMORY], 8 * int(o.panel_start[-1] + hand_at[-1]))
    pivots = np.empty(n)

    def one(which: int) -> int:
        status: int = _factorise(
            which,
            0,
            supers,
            n,
            supers,
            start,
            columns,
            values,
            o.permutation,
            place,
            o.first,
            o.above,
            o.row_start,
            o.rows,
            o.panel_start,
            part,
            hand_at,
            handed,
            int(stacks[which]),
            lower,
            pivots,
        )
        return status

    # The subtrees side by side, the largest first; then what hangs above them all.
    states = _in_threads(one, sorted(range(parts), key=lambda p: -work[p]))
    if not any(states):
        states = [one(parts)]
    _raise_without_memory(states, 8 * int(stacks[: parts + 1].max(initial=0)))
    if OUTSIDE_PATTERN in states:
        raise InvalidInput(
            "the matrix has entries outside the pattern that was ordered; "
            "order the pattern that holds them all"
        )
    good = np.isfinite(pivots)
    return Factorisation(
        ordering=o,
        negative=int(np.count_nonzero(good & (pivots < 0))),
        zero=int(np.count_nonzero(~good | (pivots == 0))),
        positive=int(np.count_nonzero(good & (pivots > 0))),
        backward_error=_backward_error(o, lower, pivots) + 2 * apart,
        lower=lower,
        pivots=pivots,
    )


def _backward_error(o: Ordering, lower: Floats, pivots: Floats) -> float:
    """The bound derived in `Factorisation`; infinite when a pivot is zero or not finite."""
    n = len(pivots)
    if n == 0:
        return 0.0
    if not np.all(np.isfinite(pivots)) or np.any(pivots == 0):
        return float("inf")
    size = np.empty(n)
    largest = np.empty(1)
    _absolute(
        n, len(o.above), o.first, o.row_start, o.rows, o.panel_start, lower, pivots, size, largest
    )
    terms = o.longest_row + 3
    gamma = terms * ROUND_OFF / (1 - terms * ROUND_OFF)
    biggest_pivot = float(np.max(np.abs(pivots)))
    underflow = n * 2.0**-1074 * (terms * (1 + float(largest[0])) + biggest_pivot)
    bound = (1 + 1e-6) * (gamma * float(np.max(size)) + underflow)
    return bound if np.isfinite(bound) else float("inf")


def _checked(
    matrix: csr_array[Any], *, with_values: bool
) -> tuple[int, Longs, Ints, Floats, float]:
    """The compressed rows in the kernels' types, sorted, known to be symmetric."""
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] >= 2**31:
        raise InvalidInput(
            f"a square matrix of fewer than 2³¹ rows is needed; given was {matrix.shape}"
        )
    rows = csr_array(matrix)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    n = rows.shape[0]
    start = rows.indptr.astype(np.int64, copy=False)
    columns = rows.indices.astype(np.int32, copy=False)
    values = np.ascontiguousarray(rows.data, dtype=np.float64)
    if with_values and not np.all(np.isfinite(values)):
        raise InvalidInput("the matrix holds entries that are not finite; remove them first")
    apart = _asymmetry(
        n, start, columns, values if with_values else None, np.empty(n, np.int64), np.empty(n)
    )
    if apart < 0 or apart > MOST_ASYMMETRY * np.max(np.abs(values), initial=0.0):
        raise InvalidInput(
            "a symmetric matrix is needed, also in where its entries are, and this one is not; "
            "take (M + M.T) / 2"
        )
    return n, start, columns, values, apart


def _in_threads(one: Any, items: list[Any]) -> list[int]:
    workers = min(thread_count(), len(items))
    if workers < 2:
        return [one(item) for item in items]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(one, items))


def _raise_without_memory(states: list[int], size: int) -> None:
    if NO_MEMORY in states:
        raise TooLarge(
            f"about {size / 2**30:.1f} GiB could not be had for a sparse factorisation; "
            "use a solver that does not factorise"
        )


def _refusal(n: int, flops: float, most_flops: float) -> TooLarge:
    error = TooLarge(
        f"factorising this pattern of {n} rows costs about {flops:.1e} multiply-adds or more "
        f"and most_flops={most_flops:.1e} was allowed: it has no small separators; "
        "use a solver that does not factorise"
    )
    error.flops = flops  # type: ignore[attr-defined]
    return error

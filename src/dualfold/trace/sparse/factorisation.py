"""Sparse LDLᵀ without pivoting: solves with A − σB, and proofs by counting signs.

Two steps, so that the cost is known before the work and the result of the first can be cached:
`fill_reducing_ordering` uses the pattern only and returns exactly how many numbers
the factor will hold and how many multiply-adds it takes; `factorise` does the work.

By Sylvester's law the signs of D are those of the eigenvalues of LDLᵀ, the matrix that was
factorised in fact. That is the given matrix up to `backward_error`, so the count
below σ is a proof for every eigenvalue further from σ than that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels import c_constant, kernel, kernel_in_shares
from dualfold.kernels.arithmetic import SMALLEST_NORMAL, gamma
from dualfold.kernels.ordering import (
    NO_MEMORY,
    Floats,
    Ints,
    Longs,
    Ordering,
    fill_reducing_ordering,
    ordering_after,
    paired_ordering,
    raise_without_memory,
    symmetric_rows,
)
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.threads import in_threads, row_slices, thread_count
from dualfold.trace.sparse.mirrored_rows import RotatedMatrix

__all__ = [
    "Factorisation",
    "Ordering",
    "factorise",
    "fill_reducing_ordering",
    "memory_used_again",
    "ordering_after",
    "paired_ordering",
]

# Shares of the work for each thread. More shares balance better but leave more to the end, which
# one thread does alone (docs/dev/notes/trace-solvers.md).
SHARES_A_THREAD = 3
# A larger factor is solved with by parts, always the same, which threads take side by side
# (docs/dev/notes/trace-solvers.md).
MIN_ENTRIES_IN_PARTS = 2_000_000
SOLVE_PARTS = 8
OUTSIDE_PATTERN = c_constant("OUTSIDE_PATTERN")
SOLVE_COLUMNS = c_constant("WIDE")  # right-hand sides that go through the factor together

_plan = kernel("ldl_plan")
_factorise = kernel_in_shares("ldl_factorise")
_factorise_rotated = kernel_in_shares("ldl_factorise_rotated")
_solve = kernel("ldl_solve")
_solve_rotated = kernel("ldl_solve_rotated")
_solve_parts = kernel("ldl_solve_parts")
_forward = kernel_in_shares("ldl_forward")
_backward = kernel_in_shares("ldl_backward")
_absolute = kernel("ldl_absolute")


# Inside `memory_used_again`: that of a factor which is not needed any more.
_left_over: ContextVar[list[Floats] | None] = ContextVar("memory of a factor", default=None)


@contextmanager
def memory_used_again() -> Iterator[None]:
    """Inside, the next factorisation of the same size takes the memory of a released factor.

    Memory that a process has not used before takes longer to get than to fill
    (docs/dev/notes/trace-solvers.md).
    """
    token = _left_over.set([])
    try:
        yield
    finally:
        _left_over.reset(token)


def _free_memory(size: int) -> Floats:
    for at, block in enumerate(left := _left_over.get() or []):
        if len(block) == size:
            return left.pop(at)
    return np.empty(size)


def _leave_over(*blocks: Floats) -> None:
    left = _left_over.get()
    if left is not None:
        left.extend(blocks)


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
    2⁻¹⁰²² times the number it is then multiplied by. Row by row: entry (i, j) has no more
    terms than row i or row j of L has entries, so |xᵀEx| ≤ Σ_i x_i² `row_errors`_i, the bound
    above with row i's own t and own entry of |L||D||L|ᵀ1 (because 2|x_i x_j| ≤ x_i² + x_j²);
    `backward_error` is the largest of them. A matrix symmetric only to round-off is
    read from one entry of each pair: that adds at most ‖M − Mᵀ‖_∞ (doubled, for its rounding).
    """

    ordering: Ordering
    negative: int
    zero: int
    positive: int
    asymmetry: float  # ‖M − Mᵀ‖_∞
    lower: Floats = field(repr=False)
    pivots: Floats = field(repr=False)

    @cached_property
    def row_errors(self) -> Floats:
        """The bounds above in the order of the matrix's rows; solvers need none."""
        return _row_errors(self.ordering, self.lower, self.pivots) + 2 * self.asymmetry

    @cached_property
    def backward_error(self) -> float:
        """The largest of them."""
        return float(self.row_errors.max(initial=0.0))

    def release(self) -> None:
        """Say that the factor is not used any more: the next one may be written over it."""
        _leave_over(self.lower)

    def solve(self, rhs: Array) -> Floats:
        """The x of M x = rhs, for one right-hand side (n,) or several (n, k)."""
        right = self._right_sides(rhs, len(self.pivots))
        if right.ndim == 2 and self._goes_by_parts(right.shape[1]):
            found = self._solved_by_parts(right, self.ordering.permutation)[1]
            return self._finite_solution(found, right)
        out = np.empty_like(right)
        count = 1 if right.ndim == 1 else right.shape[1]
        factor = (self.ordering.permutation, *self._parts)

        def one(columns: slice) -> int:
            sizes = (len(right), count, columns.start, columns.stop, len(self.ordering.above))
            status: int = _solve(*sizes, *factor, right, out)
            return status

        self._solve_columns(one, count)
        return self._finite_solution(out, right)

    def solve_rotated(self, rhs: Floats) -> tuple[Floats, Floats]:
        """(x + y)/2 and (x − y)/2 of the solution of M (x, y) = (rhs, −rhs), M a rotated matrix."""
        right = self._right_sides(rhs, len(self.pivots) // 2)
        half, count = right.shape
        order = np.ascontiguousarray(self.ordering.permutation[::2])
        if self._goes_by_parts(count):
            sums, differences = self._solved_by_parts(right, order)
            return sums, self._finite_solution(differences, right)
        sums, differences = np.empty_like(right), np.empty_like(right)
        factor = (order, *self._parts)

        def one(columns: slice) -> int:
            sizes = (half, count, columns.start, columns.stop, len(self.ordering.above))
            status: int = _solve_rotated(*sizes, *factor, right, sums, differences)
            return status

        self._solve_columns(one, count)
        return sums, self._finite_solution(differences, right)

    def _goes_by_parts(self, count: int) -> bool:
        return count > 1 and self.ordering.factor_entries >= MIN_ENTRIES_IN_PARTS

    @cached_property
    def _solve_plan(self) -> tuple[int, int, Ints, Ints, Ints]:
        """Parts, rows above them all and one, and what `ldl_solve_parts` says of each supernode."""
        o = self.ordering
        n, supers = len(o.permutation), len(o.above)
        parts, part, *_ = _parts_of_tree(o, SOLVE_PARTS)
        ends, place = np.empty(supers, np.int32), np.empty(n, np.int32)
        top = _solve_parts(n, supers, parts, o.first, o.above, part, ends, place)
        return parts, int(top), part, ends, place

    def _solved_by_parts(self, right: Floats, order: Ints) -> tuple[Floats, Floats]:
        """The solutions, and before them those of the twins where `order` is one of pairs."""
        half, count = right.shape
        twins, supers = len(self.pivots) // half, len(self.ordering.above)
        parts, top, part, ends, place = self._solve_plan
        halves, found = np.empty(((twins - 1) * half, count)), np.empty_like(right)
        states = []
        for columns in row_slices(count, SOLVE_COLUMNS):
            used = columns.stop - columns.start
            width = SOLVE_COLUMNS if used > SOLVE_COLUMNS // 2 else SOLVE_COLUMNS // 2
            x, sums = _free_memory(half * twins * width), _free_memory(parts * top * width)
            sizes = (half, twins, count, columns.start, used, width)
            factor = (supers, order, *self._parts, part)
            forward = _forward(*sizes, parts, top, *factor, ends, place, right, x, sums)
            backward = _backward(*sizes, *factor, x, halves, found)
            in_threads(forward, range(parts), thread_count())
            forward(parts)
            states += [backward(parts), *in_threads(backward, range(parts), thread_count())]
            _leave_over(x, sums)
        raise_without_memory(states, 8 * len(self.pivots) * (SOLVE_COLUMNS + 1))
        return halves, found

    def _finite_solution(self, found: Floats, right: Floats) -> Floats:
        ends = [found.min(initial=0.0), found.max(initial=0.0)]
        if not np.isfinite(ends).all() and np.isfinite(right).all():
            raise self._no_solution()
        return found

    @property
    def _parts(self) -> tuple[object, ...]:
        o = self.ordering
        return o.first, o.row_start, o.rows, o.panel_start, self.lower, self.pivots

    def _right_sides(self, rhs: Array, n: int) -> Floats:
        right = np.ascontiguousarray(rhs, dtype=np.float64)
        if right.ndim not in (1, 2) or len(right) != n:
            raise InvalidInput(
                f"a right-hand side of {n} rows is needed, one or two dimensions; "
                f"given was the shape {right.shape}"
            )
        if self.zero:
            raise self._no_solution()
        return right

    def _solve_columns(self, one: Callable[[slice], int], count: int) -> None:
        states = in_threads(one, row_slices(count, SOLVE_COLUMNS), thread_count())
        raise_without_memory(states, 8 * len(self.pivots) * (SOLVE_COLUMNS + 1))

    def _no_solution(self) -> InvalidInput:
        return InvalidInput(
            f"{self.zero} pivots of this factorisation are zero or not finite, or its entries "
            "overflow, so it cannot solve; move the shift a little and factorise again"
        )


def factorise(matrix: csr_array | RotatedMatrix, ordering: Ordering) -> Factorisation:
    """L D Lᵀ of a symmetric matrix whose pattern lies in the one that was ordered."""
    o = ordering
    if isinstance(matrix, RotatedMatrix):
        n, apart = matrix.shape[0], 0.0
        kernel_of_matrix, parts = _factorise_rotated, matrix.parts
        _refuse_order_without_pairs(o)
    else:
        n, start, columns, values, apart = symmetric_rows(matrix, with_values=True)
        kernel_of_matrix, parts = _factorise, (n, start, columns, values)
    if len(o.permutation) != n:
        raise InvalidInput(
            f"the ordering is for {len(o.permutation)} rows and the matrix has {n}; "
            "order this matrix's pattern first"
        )
    tally("factor entries", o.factor_entries)
    tally("factor multiply-adds", o.flops)
    lower, pivots = _factor(o, kernel_of_matrix, parts)
    good = np.isfinite(pivots)
    return Factorisation(
        ordering=o,
        negative=int(np.count_nonzero(good & (pivots < 0))),
        zero=int(np.count_nonzero(~good | (pivots == 0))),
        positive=int(np.count_nonzero(good & (pivots > 0))),
        asymmetry=apart,
        lower=lower,
        pivots=pivots,
    )


def _refuse_order_without_pairs(o: Ordering) -> None:
    half = len(o.permutation) // 2
    if not np.array_equal(o.permutation[::2] + half, o.permutation[1::2]):
        raise InvalidInput("a rotated matrix is factorised in the order of its pairs")


def _factor(
    o: Ordering, kernel_of_matrix: Callable[..., Callable[..., int]], matrix: tuple[object, ...]
) -> tuple[Floats, Floats]:
    """L, block by block, and D, of the matrix that the kernel reads from these parts."""
    n, supers = len(o.permutation), len(o.above)
    wanted = SHARES_A_THREAD * thread_count()
    parts, part, hand_at, stacks, work = _parts_of_tree(o, wanted)
    place = np.empty(n, np.int32)
    place[o.permutation] = np.arange(n, dtype=np.int32)
    threads = min(thread_count(), parts) or 1
    deepest = int(stacks[: parts + 1].max(initial=0))
    sizes = (int(o.panel_start[-1]), int(hand_at[-1]), threads * deepest)
    try:
        lower, handed, stack = (_free_memory(size) for size in sizes)
    except MemoryError:
        raise_without_memory([NO_MEMORY], 8 * sum(sizes))
    pivots = np.empty(n)

    tree = (o.first, o.above, o.row_start, o.rows, o.panel_start)
    rows = (matrix[0], supers, *matrix[1:], o.permutation, place)
    share = kernel_of_matrix(*rows, *tree, part, hand_at, handed, len(stack), stack, lower, pivots)
    free = [deepest * which for which in range(threads)]  # where a part's stack may lie

    # The subtrees side by side, the largest first; then the supernodes above all of them.
    with steps("factorising", float(work[: parts + 1].sum())) as done:

        def one(which: int) -> int:
            at = free.pop()
            status: int = share(which, at)
            free.append(at)
            done(float(work[which]))
            return status

        states = in_threads(one, sorted(range(parts), key=lambda p: -work[p]), threads)
        if not any(states):
            states = [one(parts)]
    _leave_over(handed, stack)
    raise_without_memory(states, 8 * deepest)
    if OUTSIDE_PATTERN in states:
        raise InvalidInput(
            "the matrix has entries outside the pattern that was ordered; "
            "order the pattern that holds them all"
        )
    return lower, pivots


def _parts_of_tree(o: Ordering, wanted: int) -> tuple[int, Ints, Longs, Longs, Floats]:
    """Number of parts below the last, which is above them all, and the plan of `ldl_plan`."""
    supers = len(o.above)
    part, hand_at = np.empty(supers, np.int32), np.empty(supers + 1, np.int64)
    stacks, work = np.empty(wanted + 1, np.int64), np.empty(wanted + 1)
    parts = _plan(supers, wanted, o.first, o.above, o.row_start, part, hand_at, stacks, work)
    raise_without_memory([parts], 16 * supers)
    return int(parts), part, hand_at, stacks, work


def _row_errors(o: Ordering, lower: Floats, pivots: Floats) -> Floats:
    """The bounds derived in `Factorisation`; infinite when a pivot is zero or not finite."""
    n = len(pivots)
    if n == 0:
        return np.zeros(0)
    if not np.all(np.isfinite(pivots)) or np.any(pivots == 0):
        return np.full(n, np.inf)
    size = np.empty(n)
    largest = np.empty(1)
    _absolute(
        n, len(o.above), o.first, o.row_start, o.rows, o.panel_start, lower, pivots, size, largest
    )
    own, below = np.diff(o.first), np.diff(o.row_start)
    inside = np.arange(n) - np.repeat(o.first[:-1], own)
    terms = np.bincount(o.rows, weights=np.repeat(own, below), minlength=n) + inside + 3
    biggest_pivot = float(np.max(np.abs(pivots)))
    underflow = n * SMALLEST_NORMAL * (float(terms.max()) * (1 + float(largest[0])) + biggest_pivot)
    errors = np.empty(n)
    errors[o.permutation] = (1 + 1e-6) * (gamma(terms) * size + underflow)
    return np.where(np.isfinite(errors), errors, np.inf)

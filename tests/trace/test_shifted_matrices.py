"""The matrices that are factorised for a trace problem: shared, and gone with it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from scipy.sparse.linalg import aslinearoperator

from dualfold.errors import TooLarge
from dualfold.trace import Gramian, TraceProblem
from tests.kernels.door import distinct_rows
from tests.trace.door import factorise, fill_reducing_ordering, ordering_after, shifted_matrices

ROOM = "trace.sparse.shifted_matrices"


def posed(kind: str, sense: str, seed: int = 0) -> tuple[TraceProblem, np.ndarray, np.ndarray]:
    """A problem of 40 rows with its dense A and B."""
    rng = np.random.default_rng(seed)
    M = sp.random_array((40 if kind == "square" else 55, 40), density=0.1, rng=rng).tocsr()
    M = sp.csr_array(M + sp.eye_array(*M.shape))
    b = rng.uniform(0.5, 2, 40)
    dense = (M.T @ M).toarray()
    A = Gramian(M) if kind in ("square", "tall") else sp.csr_array(dense)
    return TraceProblem(A, b, 2, sense), dense, np.diag(b)


@pytest.mark.parametrize("sense", ["min", "max"])
@pytest.mark.parametrize("kind", ["sparse", "tall", "square", "turned"])
@pytest.mark.parametrize("shift", [-0.7, 0.3, 2.1])
def test_counts_and_solves_of_every_form(set_limits, kind, sense, shift):
    least = 10 if kind == "turned" else 10**9
    set_limits(ROOM, MIN_ROTATED_ROWS=least, MAX_ROTATED_FLOPS_RATIO=1e9)
    problem, A, B = posed("square" if kind == "turned" else kind, sense)
    pencil = shifted_matrices(problem)
    assert pencil.is_rotated == (kind == "turned")
    factor = factorise(pencil.at(shift), pencil.ordering)
    whole = problem.sign * A - shift * B
    below = np.sum(np.linalg.eigvalsh(whole) < 0)
    assert factor.negative - (pencil.auxiliary if sense == "min" else 0) == below
    R = np.random.default_rng(1).normal(size=(40, 3))
    np.testing.assert_allclose(whole @ pencil.solve(factor, shift, R), R, atol=1e-9)


def test_a_problem_has_its_matrices_once_and_takes_them_along():
    problem, _, _ = posed("tall", "min")
    assert shifted_matrices(problem) is shifted_matrices(problem)
    assert shifted_matrices(problem).ordering is shifted_matrices(problem).ordering
    assert shifted_matrices(posed("tall", "min")[0]) is not shifted_matrices(problem)
    gone = weakref.ref(shifted_matrices(problem))
    del problem
    gc.collect()
    assert gone() is None


def test_an_operator_has_no_pivots():
    problem = TraceProblem(aslinearoperator(np.diag([1.0, 2.0, 3.0])), count=1)
    with pytest.raises(TooLarge, match="no pivots"):
        shifted_matrices(problem).at(0.0)


@pytest.mark.parametrize("metric", ["plain", "cancels"])
def test_the_turned_matrix_has_room_for_every_entry_of_b(set_limits, metric):
    set_limits(ROOM, MIN_ROTATED_ROWS=3, MAX_ROTATED_FLOPS_RATIO=1e9)
    n = 5
    M = sp.csr_array(np.eye(n) - 0.5 * np.eye(n, k=1) - 0.5 * np.eye(n, k=-1))
    # |M| + |M|ᵀ and B have equal entries: as numbers they would cancel, as a pattern they do not.
    B = (
        None
        if metric == "plain"
        else sp.csr_array(2 * np.eye(n) + abs(M + M.T - 2 * sp.eye_array(n)))
    )
    problem = TraceProblem(Gramian(M), B, count=2)
    pencil = shifted_matrices(problem)
    assert pencil.is_rotated
    height = 0.3
    dense = (M.T @ M).toarray() - height * problem.metric.sparse().toarray()
    count = factorise(pencil.at(height), pencil.ordering).negative - n
    assert count == np.sum(np.linalg.eigvalsh(dense) < 0)


def neighborhood_factor(n: int, width: int, rows: int, seed: int = 0) -> sp.csr_array:
    """`rows` rows for each window of `width` neighbours on a ring, all with the same columns."""
    rng = np.random.default_rng(seed)
    columns = (np.arange(n)[:, None, None] + np.arange(width)) % n
    columns = np.broadcast_to(columns, (n, rows, width)).reshape(-1, width)
    owners = np.repeat(np.arange(n * rows), width)
    values = rng.standard_normal(columns.size)
    return sp.csr_array((values, (owners, columns.ravel())), shape=(n * rows, n))


@pytest.mark.parametrize("metric", [None, "sparse"])
def test_a_tall_factor_is_eliminated_first_and_counts_the_same(metric):
    M = neighborhood_factor(60, 8, 6)
    B = sp.csr_array(3 * sp.eye_array(60) + sp.eye_array(60, k=1) + sp.eye_array(60, k=-1))
    problem = TraceProblem(Gramian(M), None if metric is None else B, 2)
    pencil = shifted_matrices(problem)
    assert pencil._has_small_square
    plain = fill_reducing_ordering(pencil.at(1.0))
    assert pencil.ordering.flops <= 1.2 * plain.flops
    whole, sides = (M.T @ M).toarray(), np.eye(60) if metric is None else B.toarray()
    for shift in (30.0, 60.0, 120.0):
        factor = factorise(pencil.at(shift), pencil.ordering)
        below = np.sum(eigh(whole, sides, eigvals_only=True) < shift)
        assert below > 0
        assert factor.negative - pencil.auxiliary == below
        R = np.random.default_rng(1).normal(size=(60, 3))
        np.testing.assert_allclose(
            (whole - shift * sides) @ pencil.solve(factor, shift, R), R, atol=1e-8
        )


def test_rows_that_fill_the_square_are_ordered_with_the_others():
    M = sp.csr_array(np.random.default_rng(0).normal(size=(90, 30)))
    one_pattern = shifted_matrices(TraceProblem(Gramian(M), None, 1))
    assert one_pattern._has_small_square  # 90 times the same columns: one of them is enough
    holes = sp.random_array((90, 30), density=0.9, rng=np.random.default_rng(1)).tocsr()
    assert not shifted_matrices(TraceProblem(Gramian(holes), None, 1))._has_small_square


def test_a_run_of_equal_patterns_counts_once():
    rows = sp.csr_array(
        np.array([[1, 0, 2, 0], [3, 0, 4, 0], [0, 1, 2, 0], [1, 0, 2, 0], [0] * 4, [0] * 4])
    )
    np.testing.assert_array_equal(distinct_rows(rows), [0, 2, 3, 4])


def test_an_order_of_a_tall_factor_keeps_to_its_limit():
    M = neighborhood_factor(60, 8, 6)
    matrix = shifted_matrices(TraceProblem(Gramian(M), None, 1)).at(1.0)
    free = ordering_after(matrix, M.shape[0])
    assert sorted(free.permutation) == list(range(sum(M.shape)))
    with pytest.raises(TooLarge):
        ordering_after(matrix, M.shape[0], most_flops=free.flops * 0.99)

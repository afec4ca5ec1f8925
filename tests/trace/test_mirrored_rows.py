"""A sparse matrix beside its transpose: the same numbers as SciPy's sums, on any threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.embedding import embed
from dualfold.errors import InvalidInput
from dualfold.trace import TraceProblem
from dualfold.trace.solvers import Factored
from tests.trace.door import (
    MAX_SMALL_ROWS,
    MirroredRows,
    RotatedMatrix,
    factorisation,
    factorise,
    fill_reducing_ordering,
    memory_used_again,
    mirrored_pattern,
    paired_ordering,
    shifted_matrices,
)


def factor(n: int, seed: int, size: float = 1.0) -> sp.csr_array:
    """Random rows, some of them empty, some without a diagonal entry."""
    rng = np.random.default_rng(seed)
    M = sp.random_array((n, n), density=min(1.0, 4 / n), rng=rng, format="csr")
    M.data = size * rng.standard_normal(M.nnz)
    return sp.csr_array(M + sp.diags_array(size * (rng.random(n) < 0.7)))


def both(M: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    return M, M.T.tocsr()


def rotated(M: np.ndarray, scale: float, mean: np.ndarray, cross: np.ndarray) -> np.ndarray:
    own, other = scale * M, scale * M.T
    even, odd = (own + other) / 2, (other - own) / 2
    D, H = np.diag(mean), np.diag(cross)
    return np.block([[even + D, odd + H], [H - odd, D - even]])


@pytest.mark.parametrize("size", [1.0, 1e-300, 1e300])
@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_rows_are_those_of_both_and_of_the_diagonal(n, size):
    M = factor(n, n, size)
    pattern = mirrored_pattern(*both(M))
    places = (M.toarray() != 0) | (M.toarray().T != 0) | np.eye(n, dtype=bool)
    assert np.array_equal(pattern.toarray() != 0, places)
    assert pattern.nnz == places.sum()
    for i in range(n):
        columns = pattern.indices[pattern.indptr[i] : pattern.indptr[i + 1]]
        assert np.all(np.diff(columns) > 0)
    mean, cross = np.random.default_rng(1).standard_normal((2, n))
    matrix = RotatedMatrix.of(MirroredRows.of(*both(M)), -0.5, mean, cross)
    found, wanted = matrix.as_compressed_rows(), rotated(M.toarray(), -0.5, mean, cross)
    assert np.array_equal(found.toarray(), wanted)
    assert found.nnz == 4 * places.sum()
    assert np.array_equal(wanted, wanted.T)
    assert np.array_equal(matrix.diagonal(), np.diagonal(wanted))
    np.testing.assert_allclose(matrix.absolute_sums(), np.abs(wanted).sum(axis=1), rtol=1e-14)


def test_a_lowered_diagonal_is_rounded_once():
    M, room = factor(9, 1), np.random.default_rng(3).random(18)
    mean, cross = np.random.default_rng(1).standard_normal((2, 9))
    matrix = RotatedMatrix.of(MirroredRows.of(*both(M)), 1.0, mean, cross)
    wanted = matrix.as_compressed_rows().toarray()
    wanted[np.diag_indices(18)] -= room
    lowered = matrix.with_less_diagonal(room)
    assert np.array_equal(lowered.as_compressed_rows().toarray(), wanted)
    assert np.array_equal(lowered.diagonal(), np.diagonal(wanted))
    with pytest.raises(ValueError, match="lowered before"):
        lowered.with_less_diagonal(room)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_entries_that_are_not_finite_are_refused(wrong):
    M = factor(9, 1)
    M.data[3] = wrong
    with pytest.raises(InvalidInput, match="not finite"):
        MirroredRows.of(*both(M))


@pytest.mark.parametrize("seed", range(4))
def test_the_factor_is_that_of_the_matrix_written_out(seed):
    n = 80
    M = factor(n, seed)
    pattern = mirrored_pattern(*both(M))
    order = paired_ordering(fill_reducing_ordering(pattern))
    mean, cross, room = np.random.default_rng(seed).standard_normal((3, n))
    matrix = RotatedMatrix.of(MirroredRows.of(*both(M)), 1.0, mean, cross)
    matrix = matrix.with_less_diagonal(np.concatenate([room, -room]))
    found, plain = factorise(matrix, order), factorise(matrix.as_compressed_rows(), order)
    for part in ("lower", "pivots", "row_errors"):
        assert np.array_equal(getattr(found, part), getattr(plain, part))
    for count in (1, 3, 8, 11):
        R = np.random.default_rng(count).standard_normal((n, count))
        x = plain.solve(np.vstack([R, -R]))
        sums, differences = found.solve_rotated(R)
        assert np.array_equal(sums, (x[:n] + x[n:]) / 2)
        assert np.array_equal(differences, (x[:n] - x[n:]) / 2)


def test_an_order_without_pairs_is_refused():
    matrix = RotatedMatrix.of(MirroredRows.of(*both(factor(9, 1))), 1.0, *np.ones((2, 9)))
    with pytest.raises(InvalidInput, match="order of its pairs"):
        factorise(matrix, fill_reducing_ordering(matrix.as_compressed_rows()))


def test_entries_outside_the_order_are_refused():
    matrix = RotatedMatrix.of(MirroredRows.of(*both(factor(9, 1))), 1.0, *np.ones((2, 9)))
    few = paired_ordering(fill_reducing_ordering(sp.eye_array(9, format="csr")))
    with pytest.raises(InvalidInput, match="outside the pattern"):
        factorise(matrix, few)


def test_threads_do_not_change_a_bit(set_threads):
    M = factor(500, 3)
    order = paired_ordering(fill_reducing_ordering(mirrored_pattern(*both(M))))
    diagonals, found = np.random.default_rng(2).standard_normal((2, 500)), []
    for threads in (1, 4):
        set_threads(threads)
        matrix = RotatedMatrix.of(MirroredRows.of(*both(M)), 1.0, *diagonals)
        factor_of_it, rows = factorise(matrix, order), matrix.as_compressed_rows()
        sums = matrix.absolute_sums()
        found.append((rows.data, rows.indices, sums, factor_of_it.lower, factor_of_it.pivots))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def test_memory_of_a_released_factor_is_used_again():
    matrix = sp.csr_array(sp.diags_array(np.arange(1.0, 30)) + sp.eye_array(29, k=1) / 9)
    matrix = sp.csr_array((matrix + matrix.T) / 2)
    order = fill_reducing_ordering(matrix)
    with memory_used_again():
        first = factorise(matrix, order)
        kept = factorise(matrix, order)
        wanted, block = kept.lower.copy(), first.lower
        first.release()
        again = factorise(matrix, order)
        assert again.lower is block
        assert np.array_equal(again.lower, wanted)
        assert not np.shares_memory(kept.lower, again.lower)
        again.release()
    outside = factorise(matrix, order)
    assert outside.lower is not block
    outside.release()
    assert factorise(matrix, order).lower is not outside.lower


def test_a_certificate_writes_over_the_factor_of_the_solver(monkeypatch):
    n = 2 * MAX_SMALL_ROWS  # fewer are proved without a factorisation
    taken, given = [], factorisation._free_memory

    def told(size: int) -> np.ndarray:
        taken.append(given(size))
        return taken[-1]

    monkeypatch.setattr(factorisation, "_free_memory", told)
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[1, -1])
    laplacian = sp.csr_array(sp.diags_array(path.sum(axis=1)) - path)
    problem = TraceProblem(laplacian, np.linspace(1, 2, n), excluded=np.ones((n, 1)))
    found = embed(problem, solver=Factored())
    assert found.certificate.level == "proved"
    size = shifted_matrices(problem).ordering.panel_start[-1]
    first, *later = [block for block in taken if len(block) == size]
    assert later
    assert all(block is first for block in later)

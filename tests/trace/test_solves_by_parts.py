"""Solves by parts of the tree: the same answers as by the whole, the same bits on any threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.trace.door import (
    Factorisation,
    MirroredRows,
    RotatedMatrix,
    factorise,
    fill_reducing_ordering,
    mirrored_pattern,
    paired_ordering,
)


@pytest.fixture
def every_factor(set_limits):
    set_limits("trace.sparse.factorisation", MIN_ENTRIES_IN_PARTS=0)


def matrix(kind: str, seed: int = 0) -> sp.csr_array:
    """A grid, some separate paths, rows without links, one long chain."""
    rng = np.random.default_rng(seed)
    path = sp.diags_array([np.ones(24), np.ones(24)], offsets=[1, -1])
    links = {
        "grid": sp.kron(sp.eye_array(25), path) + sp.kron(path, sp.eye_array(25)),
        "paths": sp.kron(sp.eye_array(9), path),
        "rows": sp.csr_array((40, 40)),
        "chain": sp.diags_array([np.ones(199), np.ones(199)], offsets=[1, -1]),
        "one": sp.csr_array((1, 1)),
    }[kind]
    n = links.shape[0]
    return sp.csr_array(links + sp.diags_array(rng.uniform(-6, 6, n)))


def solved_plainly(factor: Factorisation, R: np.ndarray) -> np.ndarray:
    return np.column_stack([factor.solve(column) for column in R.T])


@pytest.mark.usefixtures("every_factor")
@pytest.mark.parametrize("count", [2, 4, 5, 8, 9, 19])
@pytest.mark.parametrize("kind", ["grid", "paths", "rows", "chain", "one"])
def test_answers_are_those_of_the_whole(kind, count):
    A = matrix(kind)
    factor = factorise(A, fill_reducing_ordering(A))
    R = np.random.default_rng(count).standard_normal((A.shape[0], count))
    found, wanted = factor.solve(R), solved_plainly(factor, R)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())
    np.testing.assert_allclose(A @ found, R, atol=1e-8 * np.abs(found).max())


@pytest.mark.usefixtures("every_factor")
@pytest.mark.parametrize("size", [1e-200, 1e200])
def test_sizes_of_right_hand_sides_do_not_matter(size):
    A = matrix("grid")
    factor = factorise(A, fill_reducing_ordering(A))
    R = np.random.default_rng(0).standard_normal((A.shape[0], 3))
    power = 2.0 ** np.round(np.log2(size))
    assert np.array_equal(factor.solve(power * R), power * factor.solve(R))


@pytest.mark.usefixtures("every_factor")
def test_bits_are_those_of_one_thread(set_threads):
    A = matrix("grid")
    M = sp.csr_array(sp.eye_array(A.shape[0]) - 0.1 * A)
    both, found = (M, M.T.tocsr()), []
    order = paired_ordering(fill_reducing_ordering(mirrored_pattern(*both)))
    rotated = RotatedMatrix.of(MirroredRows.of(*both), 1.0, *np.ones((2, A.shape[0])))
    R = np.random.default_rng(1).standard_normal((A.shape[0], 11))
    for threads in (1, 4):
        set_threads(threads)
        plain, turned = factorise(A, fill_reducing_ordering(A)), factorise(rotated, order)
        assert plain._solve_plan[0] > 1
        found.append([plain.solve(R), *turned.solve_rotated(R), turned.solve(np.vstack([R, R]))])
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@pytest.mark.usefixtures("every_factor")
def test_pairs_are_solved_as_the_matrix_written_out():
    A = matrix("grid")
    M = sp.csr_array(sp.eye_array(A.shape[0]) - 0.1 * A)
    both, n = (M, M.T.tocsr()), A.shape[0]
    order = paired_ordering(fill_reducing_ordering(mirrored_pattern(*both)))
    factor = factorise(RotatedMatrix.of(MirroredRows.of(*both), 1.0, *np.ones((2, n))), order)
    R = np.random.default_rng(1).standard_normal((n, 6))
    x = factor.solve(np.vstack([R, -R]))
    sums, differences = factor.solve_rotated(R)
    assert np.array_equal(sums, (x[:n] + x[n:]) / 2)
    assert np.array_equal(differences, (x[:n] - x[n:]) / 2)

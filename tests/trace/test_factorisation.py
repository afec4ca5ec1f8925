"""The sparse LDLᵀ against dense linear algebra and a brute-force elimination."""

from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse import block_array, csr_array, diags_array, eye_array, kron, random_array

from dualfold.errors import InvalidInput, TooLarge
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from tests.kernels.door import count_work
from tests.trace.door import Factorisation, factorise, fill_reducing_ordering, product


def symmetric(n, density, seed, shift=0.0):
    rng = np.random.default_rng(seed)
    half = random_array((n, n), density=density, rng=rng, data_sampler=rng.standard_normal)
    return csr_array(half + half.T + shift * eye_array(n))


def path(n):
    return csr_array(
        diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    )


def grid(*sides):
    total = csr_array((1, 1))
    for side in sides:
        total = kron(total, eye_array(side)) + kron(eye_array(total.shape[0]), path(side))
    return csr_array(total)


def star(n):
    dense = np.eye(n) * n
    dense[0] = dense[:, 0] = 1.0
    dense[0, 0] = -3.0
    return csr_array(dense)


def expander(n, seed=0):
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, n, 7 * n)
    half = csr_array((np.ones(7 * n), (np.repeat(np.arange(n), 7), ends)), shape=(n, n))
    return csr_array(half + half.T + eye_array(n))


def dense_factor(f: Factorisation):
    """L and D as dense matrices, from the supernodal storage."""
    o = f.ordering
    n = len(f.pivots)
    lower = np.eye(n)
    for s in range(len(o.above)):
        columns = np.arange(o.first[s], o.first[s + 1])
        rows = np.concatenate([columns, o.rows[o.row_start[s] : o.row_start[s + 1]]])
        block = f.lower[o.panel_start[s] : o.panel_start[s + 1]].reshape(len(columns), len(rows)).T
        for k, column in enumerate(columns):
            lower[rows[k + 1 :], column] = block[k + 1 :, k]
    return lower, f.pivots


def brute_force_entries(matrix, order):
    """nnz of L by playing the elimination game on sets."""
    near = [
        set(matrix.indices[a:b]) - {i}
        for i, (a, b) in enumerate(zip(matrix.indptr, matrix.indptr[1:], strict=False))
    ]
    total = 0
    for v in order:
        total += 1 + len(near[v])
        for u in near[v]:
            near[u] |= near[v]
            near[u] -= {u, v}
    return total


CASES = {
    "path": path(50),
    "grid": grid(13, 11),
    "cube": grid(7, 6, 5),
    "star": star(400),
    "complete": csr_array(np.ones((30, 30)) + 7 * np.eye(30)),
    "one": csr_array([[-2.0]]),
    "isolated": csr_array(diags_array(np.r_[1.0, -2.0, 3.0, 4.0])),
    "pieces": block_array(
        [[path(20), None, None], [None, grid(4, 5), None], [None, None, -path(9)]], format="csr"
    ),
    "definite": symmetric(150, 0.02, 1, shift=12.0),
    "indefinite": symmetric(150, 0.02, 2, shift=0.3),
    "denser": symmetric(60, 0.3, 3, shift=-2.0),
    "larger": symmetric(700, 0.004, 4, shift=1.5),
}


@pytest.fixture(params=[10**6, 20], ids=["minimum degree", "dissection"])
def road(request, set_limits):
    """Both ways to order: dissection is forced by calling every matrix costly."""
    if request.param == 20:
        set_limits("kernels.ordering", MAX_LEAF_ROWS=20, MIN_DISSECTION_FLOPS_A_ROW=0)


@pytest.mark.usefixtures("road")
@pytest.mark.parametrize("name", CASES)
def test_inertia_and_solve_agree_with_dense(name):
    matrix = csr_array(CASES[name])
    n = matrix.shape[0]
    ordering = fill_reducing_ordering(matrix)
    assert sorted(ordering.permutation) == list(range(n))
    f = factorise(matrix, ordering)
    values = np.linalg.eigvalsh(matrix.toarray())
    assert f.backward_error < np.min(np.abs(values))  # else the count would prove nothing
    assert (f.negative, f.zero, f.positive) == (np.sum(values < 0), 0, np.sum(values > 0))
    rhs = np.random.default_rng(0).standard_normal((n, 11))
    wanted = np.linalg.solve(matrix.toarray(), rhs)
    scale = np.abs(wanted).max()
    np.testing.assert_allclose(f.solve(rhs), wanted, atol=1e-9 * scale)
    np.testing.assert_allclose(f.solve(rhs[:, 0]), wanted[:, 0], atol=1e-9 * scale)


@pytest.mark.parametrize("name", CASES)
def test_nested_dissection_costs_no_more_than_minimum_degree(name, set_limits):
    matrix = csr_array(CASES[name])
    plain = fill_reducing_ordering(matrix)
    set_limits("kernels.ordering", MAX_LEAF_ROWS=20, MIN_DISSECTION_FLOPS_A_ROW=0)
    assert fill_reducing_ordering(matrix).flops <= plain.flops


@pytest.mark.usefixtures("road")
@pytest.mark.parametrize("name", CASES)
def test_predicted_cost_is_that_of_the_elimination(name):
    matrix = csr_array(CASES[name])
    ordering = fill_reducing_ordering(matrix)
    exact = brute_force_entries(matrix, ordering.permutation)
    assert exact <= ordering.factor_entries
    # Only pairs of columns are joined at any price; else at most a fifth are zeros.
    assert ordering.factor_entries <= 2 * exact
    lower, _ = dense_factor(factorise(matrix, ordering))
    assert np.count_nonzero(lower) <= ordering.factor_entries


@pytest.mark.parametrize("name", CASES)
def test_without_padding_the_prediction_is_exact(name):
    """The stored pattern without its zeros is the brute-force one, entry for entry."""
    matrix = csr_array(CASES[name])
    rng = np.random.default_rng(5)
    generic = matrix.copy()  # values for which no entry of L cancels by chance
    generic.data = rng.uniform(0.5, 1.5, len(generic.data))
    generic = csr_array(generic + generic.T + 100 * eye_array(matrix.shape[0]))
    f = factorise(generic, fill_reducing_ordering(matrix))
    lower, _ = dense_factor(f)
    assert np.count_nonzero(lower) == brute_force_entries(matrix, f.ordering.permutation)


def measured_error(matrix, f):
    """‖PMPᵀ − LDLᵀ‖₂ in extended precision."""
    lower, pivots = dense_factor(f)
    p = f.ordering.permutation
    wide = lower.astype(np.longdouble)
    difference = matrix.toarray()[np.ix_(p, p)] - (wide * pivots) @ wide.T
    return float(np.linalg.norm(difference.astype(float), 2))


@pytest.mark.parametrize("seed", range(40))
def test_backward_error_bounds_the_true_one(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 120))
    matrix = symmetric(n, rng.uniform(0.01, 0.4), seed)
    if seed % 4 == 1:  # badly scaled
        scale = diags_array(10.0 ** rng.uniform(-8, 8, n))
        matrix = csr_array(scale @ matrix @ scale)
        matrix = csr_array((matrix + matrix.T) / 2)
    if seed % 4 == 2:  # pivots near zero, hence growth
        matrix = csr_array(matrix - diags_array(matrix.diagonal() * (1 - 1e-12)))
    if seed % 4 == 3:
        matrix = csr_array(matrix + 1e-13 * eye_array(n))
    f = factorise(matrix, fill_reducing_ordering(matrix))
    if np.isfinite(f.backward_error):
        assert measured_error(matrix, f) <= f.backward_error
    else:
        assert f.zero > 0


def test_the_bound_is_not_idle():
    """It is within a few hundred of the truth on a benign matrix, and a wrong L breaks it."""
    matrix = csr_array(grid(15, 15) + 0.1 * eye_array(225))
    f = factorise(matrix, fill_reducing_ordering(matrix))
    assert f.backward_error < 1e3 * measured_error(matrix, f)
    f.pivots[100] *= 1 + 1e-11
    assert measured_error(matrix, f) > f.backward_error


def test_missing_diagonal_and_explicit_zeros():
    dense = np.array([[4.0, 1.0, 0.0], [1.0, 0.0, 2.0], [0.0, 2.0, 5.0]])
    missing = csr_array(dense)
    stored = csr_array(
        (dense.ravel(), (np.repeat(range(3), 3), np.tile(range(3), 3))), shape=(3, 3)
    )
    for matrix in (missing, stored):
        f = factorise(matrix, fill_reducing_ordering(matrix))
        assert (f.negative, f.positive) == (1, 2)
        np.testing.assert_allclose(dense @ f.solve(np.arange(3.0)), np.arange(3.0), atol=1e-14)


def test_nothing_at_all():
    f = factorise(csr_array((0, 0)), fill_reducing_ordering(csr_array((0, 0))))
    assert (f.negative, f.zero, f.positive, f.backward_error) == (0, 0, 0, 0.0)
    assert f.solve(np.empty(0)).shape == (0,)


def test_one_ordering_serves_every_shift():
    """Counting below σ walks the spectrum of the grid, known in closed form."""
    matrix = grid(12, 17)
    ordering = fill_reducing_ordering(matrix)
    one = 2 - 2 * np.cos(np.pi * np.arange(1, 13) / 13)
    other = 2 - 2 * np.cos(np.pi * np.arange(1, 18) / 18)
    values = np.sort((one[:, None] + other[None]).ravel())
    for shift in np.linspace(0.05, 7.9, 30):
        f = factorise(csr_array(matrix - shift * eye_array(204)), ordering)
        if np.min(np.abs(values - shift)) > f.backward_error:
            assert f.negative == np.sum(values < shift)


def test_expander_is_refused_quickly_with_its_price():
    matrix = expander(70_000)
    begin = time.process_time()
    with pytest.raises(TooLarge, match="multiply-adds") as refusal:
        fill_reducing_ordering(matrix, most_flops=1e10)
    assert time.process_time() - begin < 1.5
    assert refusal.value.flops > 1e10


def test_a_budget_that_suffices_changes_nothing():
    matrix = grid(40, 40)
    free = fill_reducing_ordering(matrix)
    held = fill_reducing_ordering(matrix, most_flops=free.flops * 1.01)
    np.testing.assert_array_equal(free.permutation, held.permutation)
    with pytest.raises(TooLarge):
        fill_reducing_ordering(matrix, most_flops=free.flops / 20)


def test_many_hubs_and_many_pieces_stay_fast():
    n = 50_000
    rows = np.r_[np.zeros(n - 1, int), np.arange(1, n)]
    columns = np.r_[np.arange(1, n), np.zeros(n - 1, int)]
    hub = csr_array((np.ones(2 * n - 2), (rows, columns)), shape=(n, n)) + n * eye_array(n)
    begin = time.process_time()
    assert fill_reducing_ordering(csr_array(hub)).flops < 4 * n
    assert fill_reducing_ordering(csr_array(eye_array(n))).factor_entries == n
    assert time.process_time() - begin < 1.0


@pytest.mark.usefixtures("road")
def test_same_bits_twice():
    matrix = csr_array(grid(30, 31) - 1.7 * eye_array(930))
    first, second = (factorise(matrix, fill_reducing_ordering(matrix)) for _ in range(2))
    np.testing.assert_array_equal(first.ordering.permutation, second.ordering.permutation)
    np.testing.assert_array_equal(first.pivots, second.pivots)
    rhs = np.random.default_rng(0).standard_normal((930, 17))
    np.testing.assert_array_equal(first.solve(rhs), second.solve(rhs))


def test_same_bits_whatever_the_threads(set_threads):
    matrix = csr_array(grid(40, 41) - 1.7 * eye_array(1640))
    ordering = fill_reducing_ordering(matrix)
    found = []
    for threads in (1, 2, 5):
        set_threads(threads)
        found.append(factorise(matrix, ordering))
    for other in found[1:]:
        np.testing.assert_array_equal(found[0].pivots, other.pivots)
        assert found[0].backward_error == other.backward_error


def test_wrong_input_is_named():
    with pytest.raises(InvalidInput, match="symmetric"):
        fill_reducing_ordering(csr_array(np.triu(np.ones((4, 4)))))
    with pytest.raises(InvalidInput, match="symmetric"):
        factorise(csr_array([[1.0, 2.0], [3.0, 1.0]]), fill_reducing_ordering(path(2)))
    with pytest.raises(InvalidInput, match="pattern"):
        factorise(csr_array(np.ones((90, 90)) + np.eye(90)), fill_reducing_ordering(path(90)))
    with pytest.raises(InvalidInput, match="rows"):
        factorise(path(4), fill_reducing_ordering(path(5)))
    with pytest.raises(InvalidInput, match="finite"):
        factorise(path(4) * np.nan, fill_reducing_ordering(path(4)))


def test_only_square_matrices_have_an_order_of_elimination():
    with pytest.raises(InvalidInput, match="square"):
        fill_reducing_ordering(sp.csr_array(np.ones((3, 4))))


@pytest.mark.usefixtures("coarsely")
def test_factors_of_tiny_numbers_are_charged_for_what_underflows():
    A = 2.0**-1000 * np.array([[4.0, 2.0, 2.0], [2.0, 5.0, 2.0], [2.0, 2.0, 5.0]])
    matrix = sp.csr_array(A)
    errors = factorise(matrix, fill_reducing_ordering(matrix)).row_errors
    # Five terms in the last row, each lost in a product with an entry of L, the largest of which
    # is at least 1 (the diagonal).
    assert errors.min() >= 3 * 2.0**-1022 * 5


def test_prices_and_products_are_counted():
    full = sp.csr_array(np.ones((5, 5)) + 5 * np.eye(5))
    assert fill_reducing_ordering(full).factor_entries == 15  # a triangle
    for wide in (sp.csr_array((3, 5)), sp.csr_array((5, 3))):
        with pytest.raises(InvalidInput, match="square"):
            fill_reducing_ordering(wide)
    with count_work() as seen:
        product(np.eye(4), np.ones((4, 3)))
        product(np.eye(4), np.ones(4))
    assert seen["products"] == 4


def test_prices_of_elimination_by_hand():
    n = 6
    path = sp.csr_array(2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1))
    star = sp.lil_array(np.eye(n))
    star[0], star[:, 0] = 1.0, 1.0
    for tree in (path, sp.csr_array(star)):  # a leaf has one neighbour: 1 multiply-add each
        found = fill_reducing_ordering(tree)
        assert n - 1 <= found.flops <= 4 * n  # supernodes may be padded
    beside = sp.kron(path, sp.eye_array(n)) + sp.kron(sp.eye_array(n), path)  # a grid
    found = fill_reducing_ordering(sp.csr_array(beside))
    left = (beside != 0).toarray()[np.ix_(found.permutation, found.permutation)]
    count = 0
    for k in range(n * n):
        below = np.flatnonzero(left[k + 1 :, k]) + k + 1
        left[np.ix_(below, below)] = True
        count += len(below) * (len(below) + 1) / 2
    assert count <= found.flops <= 1.5 * count
    full = fill_reducing_ordering(sp.csr_array(np.ones((n, n))))
    assert full.flops == sum(k * (k + 1) / 2 for k in range(n))


def test_one_pivot_of_0_leaves_no_bound():
    for diagonal in ([1.0, 0.0, 2.0], [0.0, 1.0], [3.0, 0.0]):
        matrix = sp.csr_array(np.diag(diagonal))
        matrix.setdiag(diagonal)
        factor = factorise(
            matrix, fill_reducing_ordering(sp.eye_array(len(diagonal), format="csr"))
        )
        assert factor.zero == 1
        assert factor.backward_error == np.inf
        assert np.isinf(factor.row_errors).all()
        with pytest.raises(InvalidInput, match="shift"):
            factor.solve(np.ones(len(diagonal)))
    good = factorise(
        sp.eye_array(3, format="csr"), fill_reducing_ordering(sp.eye_array(3, format="csr"))
    )
    for wrong in (np.ones(4), np.ones((4, 2)), np.ones((3, 1, 1))):
        with pytest.raises(InvalidInput, match="right-hand side"):
            good.solve(wrong)


def test_errors_of_rows_are_not_below_highams():
    """t·u·(|L||D||L|ᵀ1), t additions, products and a division of the longest entry of a row."""
    rng = np.random.default_rng(3)
    S = rng.normal(size=(5, 5))
    S = S + S.T + 8 * np.eye(5)
    ordering = fill_reducing_ordering(sp.csr_array(S))
    factor = factorise(sp.csr_array(S), ordering)
    P = S[np.ix_(ordering.permutation, ordering.permutation)]
    L, D = np.eye(5), np.zeros(5)
    for j in range(5):
        D[j] = P[j, j] - (L[j, :j] ** 2) @ D[:j]
        L[j + 1 :, j] = (P[j + 1 :, j] - L[j + 1 :, :j] @ (D[:j] * L[j, :j])) / D[j]
    size = np.abs(L) @ (np.abs(D) * (np.abs(L).T @ np.ones(5)))
    least = (np.arange(5) + 1) * UNIT_ROUNDOFF * size
    found = factor.row_errors[ordering.permutation]
    assert (found >= least).all()
    assert (found <= 4 * least).all()

"""Certificates: broken answers are rejected, bounds hold, twins are no one's fault."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.trace import Gramian, TraceCertificate, TraceProblem, certify
from dualfold.trace.solvers import Lanczos
from tests.proofs.families import FAMILIES, cycle, laplacian, path, walk_square
from tests.proofs.fuzz_trace import routes
from tests.trace.door import (
    SpectralFloor,
    balanced_problem,
    deflated_norm_floor,
    norm_floor,
    random_floor,
    trial,
)
from tests.trace.door import random_search as search
from tests.workflows.test_contract import dense_reference


def dropped(problem, V):
    """The last wanted eigenvector replaced by the next one."""
    return np.column_stack([V[:, : problem.count - 1], V[:, problem.count]]), None


def first_dropped(problem, V):
    return V[:, 1 : problem.count + 1], None


def swapped_values(problem, V):
    right = np.einsum("ij,ij->j", V, problem.A @ V)[: problem.count]
    wrong = right.copy()
    wrong[[0, -1]] = wrong[[-1, 0]]
    return V[:, : problem.count], wrong


def perturbed(problem, V):
    noise = np.random.default_rng(1).standard_normal(problem.n)
    W = V[:, : problem.count].copy()
    W[:, 0] += 1e-2 * noise / np.linalg.norm(noise) * np.linalg.norm(W[:, 0])
    return _orthonormal(problem, W), None


def noise(problem, V):
    W = np.random.default_rng(2).standard_normal((problem.n, problem.count))
    return _orthonormal(problem, W), None


def wrong_scale(problem, V):
    return 1.001 * V[:, : problem.count], None


def repeated(problem, V):
    return np.repeat(V[:, :1], problem.count, axis=1), None


def trivial_included(problem, V):
    W = V[:, : problem.count].copy()
    W[:, -1] = problem.excluded_basis[:, 0]
    return W, None


def not_a_number(problem, V):
    W = V[:, : problem.count].copy()
    W[0, 0] = np.nan
    return W, None


def worst_end(problem, V):
    return V[:, -problem.count :], None


def _orthonormal(problem, W):
    W = problem.without_excluded(W)
    return np.linalg.solve(np.linalg.cholesky(W.T @ problem.metric.times(W)), W.T).T


BREAKERS = [
    dropped,
    first_dropped,
    swapped_values,
    perturbed,
    noise,
    wrong_scale,
    repeated,
    trivial_included,
    not_a_number,
    worst_end,
]


def is_still_right(family, breaker):
    """Where the 'broken' answer is optimal all the same: twins may stand for each other."""
    problem = family.problem
    spectrum, count = family.spectrum, problem.count
    scale = np.abs(spectrum).max()
    tie = 1e-5 * max(abs(spectrum[:count].sum()), 1e-3 * scale)
    return {
        dropped: abs(spectrum[count] - spectrum[count - 1]) < tie,
        first_dropped: abs(spectrum[count] - spectrum[0]) < tie,
        swapped_values: abs(spectrum[count - 1] - spectrum[0]) < 1e-6 * scale,
        perturbed: np.ptp(spectrum) < 1e-9 * scale,
        noise: np.ptp(spectrum) < 1e-9 * scale,
        worst_end: np.ptp(spectrum) < 1e-9 * scale,
        trivial_included: not problem.excluded_basis.shape[1],
    }.get(breaker, False)


@pytest.mark.parametrize("breaker", BREAKERS, ids=lambda breaker: breaker.__name__)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_broken_answers_are_rejected(family, breaker):
    if breaker is trivial_included and not family.problem.excluded_basis.shape[1]:
        pytest.skip("this problem has no trivial directions")
    _, V = dense_reference(family.problem)
    vectors, values = breaker(family.problem, V)
    certificate = certify(family.problem, vectors, values)
    if is_still_right(family, breaker):
        assert certificate.level != "failed", certificate
        return
    if certificate.level == "failed":
        assert certificate.reasons
        assert certificate.complete is not True
        assert str(certificate).startswith("failed: ")
        return
    # A proved distance, which covers the true one; its columns are no eigenvectors, and it says so.
    assert breaker is perturbed
    optimum = family.spectrum[: family.problem.count].sum()
    value = np.trace(vectors.T @ (family.problem.A @ vectors))
    assert certificate.gap >= abs(value - optimum) / abs(optimum)
    assert (certificate.gap <= certificate.tolerance) == (certificate.level == "proved")
    assert not certificate.eigenvectors


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_exact_answers_pass_without_a_guard(family):
    _, V = dense_reference(family.problem)
    certificate = certify(family.problem, V[:, : family.problem.count])
    assert certificate.level in ("proved", "measured")
    assert certificate.gap < 1e-5
    assert certificate.complete


def test_gap_of_a_turned_subspace_is_right():
    # Turn the last wanted eigenvector by an angle into the next one: the value rises by
    # sin²·(difference), and the certificate's gap must cover that and not much more.
    family = path(60)
    _, V = dense_reference(family.problem)
    for angle in (1e-3, 1e-2):
        W = V[:, :4].copy()  # the fourth column only hints where the next eigenvalue lies
        W[:, 2] = np.cos(angle) * V[:, 2] + np.sin(angle) * V[:, 3]
        W[:, 3] = np.cos(angle) * V[:, 3] - np.sin(angle) * V[:, 2]
        certificate = certify(family.problem, W, tolerance=1.0)
        true = np.sin(angle) ** 2 * (family.spectrum[3] - family.spectrum[2])
        shown = certificate.value - certificate.bound
        assert shown >= true * (1 - 1e-9)
        assert shown <= 4 * true + 1e-12


def test_rotated_basis_of_the_right_subspace_has_the_right_value():
    family = cycle(51, 4)
    _, V = dense_reference(family.problem)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))[0]
    certificate = certify(family.problem, V[:, :4] @ Q)
    assert certificate.level == "proved"
    assert certificate.complete
    assert certificate.gap < 1e-6
    assert max(certificate.residuals) > 1e-3
    assert not certificate.eigenvectors
    assert "no eigenvectors" in str(certificate)
    assert certify(family.problem, V[:, :4]).eigenvectors


def test_a_cut_pair_of_twins_is_complete():
    # 3 directions of a cycle cut the second pair: either twin is optimal.
    family = cycle(51, 3)
    _, V = dense_reference(family.problem)
    for pick in ([0, 1, 2], [0, 1, 3]):
        certificate = certify(family.problem, V[:, pick])
        assert certificate.level == "proved", certificate


def test_eigengap_is_a_proved_lower_bound():
    family = path(60)
    _, V = dense_reference(family.problem)
    certificate = certify(family.problem, V[:, :4])
    assert 0 < certificate.eigengap <= family.spectrum[3] - family.spectrum[2]


def test_norm_bound_proves_dominant_directions():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((50, 50)))[0]
    problem = TraceProblem((Q * np.r_[9.0, 7.0, np.full(48, 0.1)]) @ Q.T, None, 2, "max")
    certificate = certify(problem, Q[:, :2])
    assert (certificate.level, certificate.proof) == ("proved", "norm")
    assert certificate.gap < 1e-10
    floor = norm_floor(problem, trial(problem, Q[:, :2]))
    assert floor is not None
    assert -floor.height >= 0.1  # never below the true third eigenvalue


def expander(n=4000, k=12):
    """A random graph with a wide eigengap, too large to fill, no use to factor."""
    rng = np.random.default_rng(0)
    ends = np.column_stack([np.repeat(np.arange(n), k), rng.integers(0, n, n * k)])
    L, _ = laplacian(ends[ends[:, 0] != ends[:, 1]], n)
    return TraceProblem(L, None, 2, "min", np.ones(n))


def test_without_factorisation_the_level_is_measured():
    problem = expander()
    solution = Lanczos().solve(problem)
    whole = np.hstack([solution.vectors, solution.guard])
    with routes("random"):
        certificate = certify(problem, whole)
    assert certificate.level == "measured", certificate
    assert 0 < certificate.chance < 1e-3
    assert certificate.gap < 0.5
    # One eigenpair dropped is seen; a spectrum that cannot be resolved is not vouched for.
    wider = Lanczos().solve(TraceProblem(problem.A, None, 4, "min", np.ones(problem.n)))
    family = path(400)
    _, V = dense_reference(family.problem)
    with routes("random"):
        assert certify(problem, wider.vectors[:, [1, 2, 3]]).level == "failed"
        certificate = certify(family.problem, V[:, :4])
    assert certificate.level == "unresolved"
    assert "too close together" in str(certificate)


def test_certificate_is_json_and_words():
    family = walk_square()
    _, V = dense_reference(family.problem)
    certificate = certify(family.problem, V[:, :4])
    plain = json.loads(json.dumps(certificate.to_dict(), allow_nan=False))
    assert plain["level"] == "proved"
    assert plain["verdict"] == str(certificate)
    assert len(plain["residuals"]) == 4
    broken = certify(family.problem, np.full((48, 4), np.nan))
    assert json.loads(json.dumps(broken.to_dict(), allow_nan=False))["gap"] is None


def test_wrong_shape_is_explained():
    family = path(60)
    with pytest.raises(InvalidInput, match="60 rows and at least 3 columns"):
        certify(family.problem, np.ones((60, 2)))


def spectrum_matrix(values, dtype, seed=0):
    """A dense symmetric matrix with these eigenvalues, and its eigenvectors."""
    V = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values),) * 2))[0]
    A = (V * values) @ V.T
    return ((A + A.T) / 2).astype(dtype), V


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_deflated_norm_proves_what_the_norm_alone_cannot(dtype, set_limits):
    # Twenty eigenvalues of the same order, both signs, above a flat tail.
    tail = np.random.default_rng(1).uniform(-1, 1, 580)
    values = np.concatenate([[100, 90], np.linspace(70, 30, 18) * np.tile([1, -1], 9), tail])
    A, V = spectrum_matrix(values, dtype)
    problem = TraceProblem(A, None, 2, "max")
    answer = trial(problem, V[:, :2])
    assert norm_floor(problem, answer).height < -90
    height = deflated_norm_floor(problem, answer).height
    assert -90 < height <= -70 * (1 - 1e-5)
    assert certify(problem, V[:, :2]).proof == "Cholesky"  # as quick while n is small
    set_limits("trace.proof.routes", MAX_FILLED_ROWS=100)
    certificate = certify(problem, V[:, :2])
    assert (certificate.level, certificate.proof) == ("proved", "norm")


@pytest.mark.parametrize("seed", range(4))
def test_deflated_norm_never_hides_an_eigenvalue(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.standard_normal(400) ** 3)[::-1]
    A, V = spectrum_matrix(values, float, seed)
    problem = TraceProblem(A, None, 2, "max")
    for chosen in ([0, 1], [0, 2], [1, 3], [5, 9]):
        answer = trial(problem, V[:, chosen])
        rest = np.delete(values, chosen).max()
        # "At most two eigenvalues lie beyond": true only if the best of the others does not.
        assert -deflated_norm_floor(problem, answer).height >= rest * (1 - 1e-12)
    assert certify(problem, V[:, [0, 2]]).level == "failed"


# ---- answers and problems made to deceive


def turned_to(values, rows=8, seed=0):
    """A factor M (rows×n) whose MᵀM has these eigenvalues, and its eigenvectors."""
    rng = np.random.default_rng(seed)
    n = len(values)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    return sp.csr_array(np.sqrt(np.asarray(values))[:, None] * Q.T), Q


def test_a_guard_along_the_trivial_direction_proves_nothing():
    M, Q = turned_to([1.0, 2.0, 5.0, 100.0, 101.0, 102.0])
    problem = TraceProblem(Gramian(M), None, 1, "min", excluded=Q[:, 2])
    for size in 10.0 ** np.arange(0, 14):
        guards = np.column_stack([Q[:, 1], size * Q[:, 2], Q[:, 3]])
        assert certify(problem, guards).level == "failed"
    assert certify(problem, Q[:, [0, 1]]).level == "proved"


def test_trivial_directions_that_are_not_invariant_prove_nothing():
    A = np.diag([0.0, 0, 1, 10, 11, 12])
    A[0, 1] = A[1, 0] = 2
    problem = TraceProblem(sp.csr_array(A), None, 1, "min", excluded=np.eye(6)[:, 0])
    assert certify(problem, np.eye(6)[:, 2]).level in ("failed", "unresolved")


def test_scales_whose_squares_leave_the_numbers_are_judged_in_units_of_their_own():
    for power in (-565, 565):
        problem = TraceProblem(np.ldexp(np.diag([3.0, 2.0, 1.0, 0.5]), power), None, 1, "max")
        wrong = certify(problem, np.eye(4)[:, 2])
        assert wrong.level == "failed"
        assert "in units of 2^" in str(wrong)  # the numbers in its words
        right = certify(problem, np.eye(4)[:, 0])
        assert right.level == "proved"
        assert right.value == np.ldexp(3.0, power)


def test_an_optimum_that_no_double_holds_is_not_proved():
    A = 5e-324 * np.array([[5.0, 2.0], [2.0, 3.0]])  # eigenvalues (4 ± √5)·5e-324
    V = np.linalg.eigh(np.array([[5.0, 2.0], [2.0, 3.0]]))[1]
    assert "rescale" in str(certify(TraceProblem(A, None, 1, "min"), V[:, 0]))


def test_a_matrix_not_quite_symmetric_is_judged_by_its_symmetric_part():
    A = np.diag([1.0, 1.0, 1e3, 1e3])
    A[0, 1] += 5e-4
    certificate = certify(TraceProblem(A, None, 1, "min"), np.eye(4)[:, 0])
    assert certificate.gap > 2e-4 or certificate.level == "failed"


def test_a_little_of_the_trivial_direction_is_taken_out():
    M, Q = turned_to([1e-13, 1e-3, 1.0, 1.0, 1.0])
    problem = TraceProblem(Gramian(M), None, 1, "min", excluded=Q[:, 1])
    tainted = Q[:, 0] + 9e-7 * Q[:, 1]
    certificate = certify(problem, np.column_stack([tainted, Q[:, 2]]), tolerance=1.0)
    assert certificate.value == pytest.approx(1e-13, rel=1e-2)


def test_no_eigengap_is_claimed_that_is_not_proved():
    problem = TraceProblem(np.diag([1.0, 1, 1, 5, 9]), None, 2, "min")
    certificate = certify(problem, np.eye(5)[:, [0, 1, 4]])
    assert certificate.level == "proved"
    assert certificate.eigengap is None


def test_entries_that_cancel_in_one_shift_are_not_lost():
    A = sp.csr_array([[2.0, 1, 0], [1, 4, 0], [0, 0, 9]])
    B = sp.csr_array([[3.0, 1, 0], [1, 3, 0], [0, 0, 3]])
    problem = TraceProblem(A, B, 1, "min")
    _, V = dense_reference(problem)
    assert certify(problem, V[:, :2]).level == "proved"


def test_a_trivial_direction_at_the_far_end_is_no_alarm():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((20, 20)))[0]
    A = (Q * np.r_[-1000.0, np.arange(1, 20)]) @ Q.T
    problem = TraceProblem((A + A.T) / 2, None, 2, "min", excluded=Q[:, 0])
    assert certify(problem, Q[:, 1:4]).level == "proved"


def test_singular_squares_and_zero_matrices():
    problem = TraceProblem(Gramian(sp.csr_array(np.diag([0.0, 1, 2]))), None, 1, "min")
    assert certify(problem, np.eye(3)[:, 0]).level == "proved"


def test_values_of_the_wrong_number():
    family = path(60)
    _, V = dense_reference(family.problem)
    with pytest.raises(InvalidInput, match="1 values were given for 3 directions"):
        certify(family.problem, V[:, :3], [1.0])


@pytest.mark.parametrize("n", [2_001, 20_001])
def test_one_of_two_equal_eigenvalues_of_a_long_ring_is_proved(n):
    """Pivots near an eigenvalue are small in a few rows; only those rows are charged for it."""
    turn = 2 * np.pi * np.arange(n) / n
    A = sp.diags_array([2.0, -1, -1, -1, -1], offsets=[0, 1, -1, n - 1, 1 - n], shape=(n, n))
    V = np.column_stack([np.cos(turn), np.sin(turn)]) * np.sqrt(2 / n)
    problem = TraceProblem(sp.csr_array(A), count=1, excluded=np.ones((n, 1)))
    found = certify(problem, V[:, :1])
    assert found.level == "proved"
    best = 4 * np.sin(np.pi / n) ** 2
    assert best * (1 - 1e-4) <= found.bound <= best * (1 + 1e-12)
    further = np.sqrt(2 / n) * np.column_stack([np.cos(2 * turn)])
    assert certify(problem, further).level == "failed"


def test_a_hub_of_many_leaves_is_proved():
    """λ = 1 is 4,997 times there; the hub's row alone has large errors."""
    n = 5_000
    rows = np.arange(1, n)
    W = sp.coo_array((np.ones(n - 1), (np.zeros(n - 1, int), rows)), shape=(n, n))
    A = sp.csr_array(sp.diags_array(np.r_[n - 1.0, np.ones(n - 1)]) - W - W.T)
    V = np.zeros((n, 1))
    V[1, 0], V[2, 0] = np.sqrt(0.5), -np.sqrt(0.5)
    found = certify(TraceProblem(A, count=1, excluded=np.ones((n, 1))), V)
    assert found.level == "proved"
    assert found.bound <= 1


@pytest.mark.parametrize("size", [1e-3, 1e-4])
def test_an_excluded_value_just_above_the_height_is_no_missed_direction(size):
    """The coupling pulls N's own value under the height, where it is counted; V is optimal."""
    coupling = np.array([size, 1.67 * size])
    A = np.eye(3)
    A[0, 0] = 1 - 8 * size + 0.1 * np.linalg.norm(coupling)
    A[0, 1:] = A[1:, 0] = coupling
    problem = TraceProblem(sp.csr_array(A), count=1, excluded=np.eye(3)[:, 0])
    found = certify(problem, np.eye(3)[:, 1:2])
    assert found.complete is not False
    assert found.bound <= 1 <= found.bound * (1 + 10 * size)


def test_a_start_that_does_not_see_a_direction_is_followed_by_others(monkeypatch):
    """Few eigenvalues: the Krylov space ends early, and one start in a thousand is like this."""

    n, drawn = 400, search.uniform_start
    values = np.r_[1e-11, 0.4e-11, np.full(n // 2, 1.1e-11), np.ones(n - n // 2 - 2)]
    problem = TraceProblem(sp.diags_array(values, format="csr"), count=1)

    def blind(problem, V, seed):
        start = drawn(problem, V, seed)
        start[1] *= 1e-4 if seed == first else 1
        return start

    answer = trial(problem, np.eye(n)[:, :1])
    first = search.seed_of(problem, answer.V, False)
    monkeypatch.setattr(search, "uniform_start", blind)
    floor = random_floor(problem, answer, 1.0, 1e-4, fresh=False)
    assert floor.height <= 0.4e-11 or floor.seen > 1
    assert floor.chance <= 1e-11


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-200, 1e200, 1e308])
@pytest.mark.parametrize("weight", [1.0, 1e-200, 1e200])
def test_balanced_units_keep_the_excluded_directions(size, weight):
    """Any length of N is the same problem, and the basis is the one its error was bounded for."""

    B = np.array([1.0, 2.0**-6, 1.0, 2.0**20]) * weight
    N = np.column_stack([np.ones(4), [1, 3, 0, 2]]) * min(size, 1e308 / 3)
    problem = TraceProblem(np.diag([1.0, 2.0, 3.0, 4.0]) * weight, B, count=1, excluded=N)
    changed, _ = balanced_problem(problem, np.eye(4)[:, :1])
    assert changed is not problem
    back = np.sqrt(B / changed.metric.entries)
    assert np.array_equal(changed.excluded_basis, problem.excluded_basis * back[:, None])
    for given, kept in zip(N.T, changed.excluded_columns.T, strict=True):
        shares = {
            Fraction(float(k)) / (Fraction(float(x)) * Fraction(float(b)))
            for x, k, b in zip(given, kept, back, strict=True)
            if x
        }
        assert len(shares) == 1


def test_the_factor_of_a_gramian_is_real_and_in_doubles():
    M = np.array([[100, -128, 3], [50, 60, 70], [-128, 127, -128]])
    narrow = Gramian(sp.csr_array(M.astype(np.int8)))
    assert (narrow.absolute.toarray() == np.abs(M)).all()
    with pytest.raises(InvalidInput, match="complex"):
        Gramian(sp.csr_array(M * 1j))


def test_excluded_directions_in_a_metric_of_very_uneven_rows():
    """In the metric of B all columns look like their heaviest row; the others still count."""
    N = np.random.default_rng(0).standard_normal((5, 2))
    B = np.array([1e20, 1.0, 2.0, 0.5, 1.0])
    trivial = TraceProblem(np.eye(5), B, count=1, excluded=N).excluded_basis
    assert np.allclose(trivial.T @ (B[:, None] * trivial), np.eye(2), atol=1e-5)
    # Off the heaviest row nothing but N[0, 1]·N[:, 0] − N[0, 0]·N[:, 1] is left of the second.
    rest = (N[0, 1] * N[:, 0] - N[0, 0] * N[:, 1])[1:]
    light = trivial[1:, np.argmax(np.abs(trivial[1:]).max(axis=0))]
    assert abs(rest @ light) >= (1 - 1e-6) * np.linalg.norm(rest) * np.linalg.norm(light)
    with pytest.raises(InvalidInput, match="linearly dependent"):
        TraceProblem(np.eye(5), B**3, count=1, excluded=N)


def test_defaults_say_that_nothing_is_known_and_nothing_is_wrong():
    plain = SpectralFloor(1, 2.0, "norm")
    assert (plain.chance, plain.seen, plain.error) == (0.0, None, 0.0)
    fields = {field.name: field.default for field in dataclasses.fields(TraceCertificate)}
    assert fields["eigenvectors"] is True

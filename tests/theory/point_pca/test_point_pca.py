"""PCA by descent on the points: against PCA, the definition by distances, and counterexamples."""

from __future__ import annotations

import json
import os
import tracemalloc
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_iris

import dualfold
from dualfold.errors import CertificateFailed, InvalidInput, TooLarge
from dualfold.point_pca import (
    algorithm_one,
    certify_points,
    descend_points,
    pair_forces,
    point_error,
    point_forces,
    point_gradient,
)
from papers.draganov.attraction import attraction

Array = np.ndarray[Any, Any]

IRIS, DIGITS = load_iris().data, load_digits().data


def error_of_distances(X: Array, Y: Array) -> float:
    """‖H(E^X − E^Y)H‖², word by word."""
    n = len(X)
    H = np.eye(n) - 1 / n
    E = [np.square(Z[:, None] - Z[None]).sum(axis=2) for Z in (X, Y)]
    return float(np.square(H @ (E[0] - E[1]) @ H).sum())


def fourth_powers(X: Array) -> Array:
    return np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 4


# --- objective, gradient, forces ----------------------------------------------------


def test_error_and_gradient_are_those_of_the_distances() -> None:
    rng = np.random.default_rng(0)
    X, Y, direction = (rng.standard_normal((12, k)) + 3 for k in (5, 2, 2))
    squares = float(fourth_powers(X).sum())
    assert point_error(X, Y, squares) == pytest.approx(error_of_distances(X, Y))
    for data in (X, sp.csr_array(X), X[:3]):  # fewer rows than columns, too
        rows = Y[: data.shape[0]]
        wanted = error_of_distances(X[: len(rows)], rows)
        assert point_error(data, rows) == pytest.approx(wanted)
    assert point_error(X, X) <= 1e-12 * squares
    gradient = point_gradient(X, Y)
    slope = error_of_distances(X, Y + 1e-5 * direction) - error_of_distances(
        X, Y - 1e-5 * direction
    )
    assert float((gradient * direction).sum()) == pytest.approx(slope / 2e-5, rel=1e-7)
    np.testing.assert_allclose(point_gradient(sp.csr_array(X), Y), gradient, rtol=1e-9)


def test_forces_are_sums_over_pairs() -> None:
    rng = np.random.default_rng(2)
    X, Y = rng.standard_normal((15, 4)), rng.standard_normal((15, 3))
    forces = point_forces(X, Y)
    of_data, of_points = pair_forces(X, Y)
    np.testing.assert_allclose(forces.of_data, of_data.sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(forces.of_points, of_points.sum(axis=1), atol=1e-10)
    np.testing.assert_allclose(forces.descent, -point_gradient(X, Y), atol=1e-9)
    np.testing.assert_allclose(forces.descent.sum(axis=0), 0, atol=1e-9)
    with pytest.raises(TooLarge, match="point_forces"):
        pair_forces(np.zeros((2_001, 1)), np.zeros((2_001, 1)))


def test_algorithm_one_is_the_descent_it_stands_for() -> None:
    X = IRIS[::6]
    rate = 1 / (12 * np.sqrt(fourth_powers(X)[0]))
    steps = algorithm_one(X, 2, n_epochs=600, rate=rate, seed=0)
    # Its gradient is half of ∇f, at every step; printed as it is, with +, it would climb.
    for before, after in pairwise(steps[:6]):
        moved, gradient = before - after, point_gradient(X, before)
        np.testing.assert_allclose(moved, rate * gradient / 2, rtol=1e-6)
    errors = [error_of_distances(X, Y) for Y in steps[::50]]
    assert (np.diff(errors) < 0).all()
    assert error_of_distances(X, steps[0] + rate * point_gradient(X, steps[0])) > errors[0]
    assert errors[-1] == pytest.approx(4 * fourth_powers(X)[2:].sum(), rel=1e-3)
    with pytest.raises(TooLarge, match="descend_points"):
        algorithm_one(np.zeros((2_001, 2)), rate=0.1)


# --- the descent and its certificate ------------------------------------------------


@pytest.mark.parametrize(
    ("X", "count"),
    [(IRIS, 1), (IRIS, 2), (IRIS, 4), (DIGITS, 2), (DIGITS, 7), (DIGITS[:40], 3)],
    ids=["iris-1", "iris-2", "iris-4", "digits-2", "digits-7", "wide"],
)
def test_points_are_pcas(X: Array, count: int) -> None:
    exact = dualfold.PCA(count).fit(X)
    found = dualfold.PointPCA(count, random_state=0).fit(X)
    size = np.abs(exact.transform(X)).max()
    np.testing.assert_allclose(found.embedding_, exact.transform(X), atol=1e-5 * size)
    np.testing.assert_allclose(found.transform(X), found.embedding_, atol=1e-5 * size)
    np.testing.assert_allclose(found.components_, exact.components_, atol=1e-5)
    np.testing.assert_allclose(found.eigenvalues_, exact.eigenvalues_, rtol=1e-5)
    np.testing.assert_allclose(
        found.inverse_transform(found.embedding_),
        exact.inverse_transform(exact.transform(X)),
        atol=1e-5 * size,
    )
    verdict = found.certificate_
    assert verdict.level == "proved"
    assert verdict.bound == pytest.approx(4 * fourth_powers(X)[count:].sum(), rel=1e-8, abs=1e-6)
    assert (np.diff(found.history_[:, 0]) <= 1e-12).all()
    assert found.n_iter_ == len(found.history_) - 1 < 100


def test_the_gap_is_exact() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 8)) * np.geomspace(4, 0.5, 8)
    for spread in (0.0, 1e-3, 1.0):
        Y = dualfold.PCA(3).fit_transform(X) + spread * rng.standard_normal((30, 3))
        verdict = certify_points(X, Y)
        least = 4 * fourth_powers(X)[3:].sum()
        fall = 4 * fourth_powers(X)[:3].sum()
        assert verdict.value == pytest.approx(error_of_distances(X, Y), rel=1e-10)
        assert verdict.bound == pytest.approx(least)
        missing = (error_of_distances(X, Y) - least) / fall
        assert missing - 1e-14 <= verdict.gap <= missing * (1 + 1e-6) + 1e-11  # from above
        assert verdict.level == ("within" if spread else "proved")
    # The points of another minimum of f along fewer directions, or of none, do not pass.
    assert certify_points(X, dualfold.PCA(4).fit_transform(X)[:, 1:]).level == "within"
    assert certify_points(X, -3 * Y).level == "failed"  # worse than no points at all
    assert certify_points(X, np.zeros((30, 3))).gap == pytest.approx(1)
    assert json.loads(json.dumps(verdict.to_dict()))["level"] == "within"
    turned = dualfold.PCA(3).fit_transform(X) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    assert certify_points(X, turned + 5).level == "proved"  # turned and moved is as good


def test_small_gaps_and_other_starts() -> None:
    rng = np.random.default_rng(0)
    U = rng.standard_normal((120, 20))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    sigma = np.sqrt(np.concatenate([[3.0, 1.0], np.full(18, 1.0 - 1e-2)]))
    found = dualfold.PointPCA(2, random_state=0, tol=1e-14).fit(U * sigma)
    assert found.certificate_.level == "proved"
    assert np.abs(found.components_[:, 2:]).max() < 1e-4
    warm = dualfold.PointPCA(2, init=found.embedding_).fit(U * sigma)
    assert warm.n_iter_ <= 3
    with pytest.raises(InvalidInput, match="120×2"):
        descend_points(U, 2, start=np.zeros((3, 2)))
    with pytest.warns(CertificateFailed, match="Raise max_iter"):
        dualfold.PointPCA(2, max_iter=1, random_state=0).fit(U * sigma)


def test_degenerate_data() -> None:
    line = np.outer(np.arange(10.0), [1.0, 2.0, 2.0])
    found = dualfold.PointPCA(3, random_state=0).fit(line)
    along = 3 * np.abs(np.arange(10) - 4.5)
    np.testing.assert_allclose(np.abs(found.embedding_[:, 0]), along, atol=1e-4)
    assert not found.embedding_[:, 1:].any()
    flat = dualfold.PointPCA(2).fit(np.ones((5, 3)))
    assert not flat.embedding_.any()
    assert flat.certificate_.level == "proved"
    assert certify_points(np.full((5, 3), 0.1), np.zeros((5, 2))).level == "proved"
    faint = 1e-170 * np.random.default_rng(0).standard_normal((3, 9))
    assert certify_points(faint, np.zeros((3, 2))).level == "failed"  # not equal, only faint
    two = dualfold.PointPCA(2, random_state=0).fit([[0.0, 0.0], [3.0, 4.0]])
    np.testing.assert_allclose(np.abs(two.embedding_), [[2.5, 0], [2.5, 0]], atol=1e-5)


def test_nothing_n_by_n_is_held() -> None:
    X = np.random.default_rng(0).standard_normal((6_000, 12)) * np.geomspace(3, 1, 12)
    tracemalloc.start()
    dualfold.PointPCA(2, random_state=0).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.05 * 8 * 6_000**2


# --- the claim ----------------------------------------------------------------------


def test_nearest_neighbours_can_repel() -> None:
    """On the line {−.1, .1, −10, 10} the mutual nearest pair has c = 0.02 > 0."""
    line = np.array([[-0.1], [0.1], [-10.0], [10.0]])
    of_data, _ = pair_forces(line, line)
    assert of_data[1, 0, 0] > 0  # pushes .1 away from −.1
    measured = attraction(line)
    assert measured.nearest_pairs == 1
    assert measured.nearest_attract == 0
    assert measured.farthest_repel == 1


def test_farthest_points_can_attract() -> None:
    """A triangle whose third corner is heavy: seen from the mean, which is there, the two
    others are less than 90° apart, and yet no two points are farther from one another."""
    corners = np.array([[0.0, 0.0]] * 50 + [[1.0, 0.65], [1.0, -0.65]])
    measured = attraction(corners)
    assert measured.farthest_pairs == 1
    assert measured.farthest_repel == 0
    of_data, _ = pair_forces(corners, corners)
    assert of_data[-2, -1, 1] < 0  # the upper one is drawn down


def test_attraction_against_brute_force() -> None:
    X = IRIS[::3] + 1e-6 * np.random.default_rng(0).standard_normal((50, 4))
    E = np.square(X[:, None] - X[None]).sum(axis=2)
    H = np.eye(50) - 1 / 50
    C = H @ E @ H
    near = [min((j for j in range(50) if j != i), key=lambda j: E[i, j]) for i in range(50)]
    far = [int(np.argmax(E[i])) for i in range(50)]
    pairs = [(i, near[i]) for i in range(50) if near[near[i]] == i and i < near[i]]
    ends = [(i, far[i]) for i in range(50) if far[far[i]] == i and i < far[i]]
    measured = attraction(X)
    assert (measured.nearest_pairs, measured.farthest_pairs) == (len(pairs), len(ends))
    assert measured.nearest_attract == pytest.approx(np.mean([C[i, j] < 0 for i, j in pairs]))
    assert measured.farthest_repel == pytest.approx(np.mean([C[i, j] > 0 for i, j in ends]))
    assert attraction(X, most=20).looked_at == 20
    assert measured.monotone < 1  # "must change monotonically" holds for few points, if any
    assert "monotone" in str(measured)
    assert json.loads(json.dumps(measured.to_dict()))["looked_at"] == 50
    with pytest.raises(InvalidInput, match="3 points"):
        attraction([[0.0], [1.0]])


# --- the certificate against 50 digits ----------------------------------------------


def true_gap(X: Any, Y: Array) -> float:
    """(f(Y) − min f)/(f(0) − min f) in 50 digits, from the definition and all eigenvalues."""
    rows = X.toarray() if sp.issparse(X) else np.asarray(X)
    with mpmath.workdps(50):
        Z, W = (mpmath.matrix(np.asarray(table, dtype=float).tolist()) for table in (rows, Y))
        for M in (Z, W):
            for j in range(M.cols):
                mean = mpmath.fsum(M[i, j] for i in range(M.rows)) / M.rows
                for i in range(M.rows):
                    M[i, j] -= mean
        S = Z.T * Z if Z.cols <= Z.rows else Z * Z.T
        values = sorted(mpmath.eigsy(S, eigvals_only=True), reverse=True)
        fall = mpmath.fsum(v**2 for v in values[: W.cols])
        across, gram = (mpmath.fsum(one**2 for one in M) for M in (Z.T * W, W.T * W))
        return float((fall - 2 * across + gram) / fall)


def hostile_points(rng: np.random.Generator) -> list[tuple[str, Any, Array, bool]]:
    """(name, X, Y, whether it is a right answer to a well-posed problem)"""
    cases = []
    for name, X in {
        "plain": rng.standard_normal((14, 5)) * np.geomspace(2, 0.3, 5),
        "wide": rng.standard_normal((5, 9)),
        "float32, far": (rng.standard_normal((12, 4)) + 300).astype(np.float32),
        "far": rng.standard_normal((12, 4)) + 1e7,
        "very far": rng.standard_normal((12, 4)) + 1e13,
        "sparse, far": sp.csr_array(rng.standard_normal((12, 4)) + 1e4),
        "small units": 1e-20 * rng.standard_normal((12, 4)),
        "large units": 1e20 * rng.standard_normal((12, 4)),
        "twins": np.vstack([np.eye(4), -np.eye(4)]) + 1e-9 * rng.standard_normal((8, 4)),
        "line": np.outer(rng.standard_normal(9), [1.0, 2.0, 3.0]),
    }.items():
        dense = X.toarray() if sp.issparse(X) else X.astype(float)
        U, s, _ = np.linalg.svd(dense - dense.mean(axis=0), full_matrices=False)
        Y = U[:, :2] * s[:2]
        noise = rng.standard_normal(Y.shape) * s[0]
        well = name not in ("very far", "sparse, far", "far")
        cases += [(name, X, Y, well), (name + ", moved", X, Y + 3 * s[0], well)]
        for size in (1e-12, 1e-6, 1e-3, 0.3):
            cases.append((f"{name}, noise {size}", X, Y + size * noise, False))
        cases.append((name + ", scaled", X, 1.001 * Y, False))
        cases.append((name + ", next axes", X, U[:, 1:3] * s[1:3], False))
    return cases


@pytest.mark.parametrize("searched", [False, True])
@pytest.mark.parametrize("turn", range(2))
def test_no_claim_is_false(turn: int, searched: bool, set_limits: Any) -> None:
    """`searched`: as if the matrix were too large to be decomposed."""
    if searched:
        set_limits("theory.point_pca.leading_sum", MAX_DECOMPOSED_ROWS=0)
    rng = np.random.default_rng((int(os.environ.get("DUALFOLD_FUZZ_SEED", "0")), turn))
    for name, X, Y, well_posed in hostile_points(rng):
        verdict = certify_points(X, Y)
        if verdict.level in ("proved", "within"):
            assert true_gap(X, Y) <= verdict.gap * (1 + 1e-9), (name, str(verdict))
        if verdict.level == "proved":
            assert verdict.gap <= verdict.tolerance == 1e-8
        if well_posed and not (searched and name.startswith("twins")):
            assert verdict.level == "proved", (name, str(verdict))


def test_the_tolerance_is_the_callers() -> None:
    assert (
        dualfold.PointPCA(2, random_state=0, tolerance=1e-3).fit(IRIS).certificate_.tolerance
        == 1e-3
    )
    for nonsense in (float("nan"), float("inf"), -1, "all"):
        with pytest.raises(InvalidInput, match="tolerance"):
            certify_points(IRIS, IRIS[:, :2], tolerance=nonsense)


def test_directions_are_a_hint_and_not_believed(set_limits: Any) -> None:
    """Too large for LAPACK: wrong directions make no proof, right ones a measured one."""
    set_limits("theory.point_pca.leading_sum", MAX_SPECTRUM_ROWS=3)
    set_limits("trace.proof.routes", MAX_FILLED_ROWS=3)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 40)) * np.r_[9.0, 5.0, np.full(38, 0.1)]
    _, _, Vt = np.linalg.svd(X - X.mean(axis=0))
    Y = (X - X.mean(axis=0)) @ Vt[:2].T
    good = certify_points(X, Y, directions=Vt[:3].T)
    assert good.level == "measured"
    assert 0 < good.chance < 1e-6
    assert "chance" in str(good)
    assert np.isnan(good.value)
    bad = certify_points(X, Y, directions=Vt[5:8].T)
    assert bad.level == "failed"
    assert bad.reasons
    with pytest.raises(InvalidInput, match="directions"):
        certify_points(X, Y)


RNG = np.random.default_rng(0)

X = RNG.normal(size=(30, 4))


def test_a_descent_that_is_cut_short_says_so():
    assert not descend_points(X, 2, most_steps=1, tol=0.0).converged


def test_of_equal_sparse_rows_one_point_is_the_best_map():
    equal, different = sp.csr_array(np.ones((4, 3))), sp.csr_array(np.eye(4)[:, :3])
    assert certify_points(equal, np.zeros((4, 2))).gap == 0
    assert certify_points(different, np.zeros((4, 2))).gap > 0

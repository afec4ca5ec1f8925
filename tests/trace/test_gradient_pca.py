"""PCA by gradient descent: against exact PCA, the paper's steps and numeric derivatives."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import dualfold
from dualfold.errors import CertificateFailed, InvalidInput, NotConverged
from dualfold.methods import eigenmaps, pca
from dualfold.trace.solvers import Gradient, PaperGradient
from tests.tools.angles import principal_sine
from tests.trace.door import _projection_error

Array = np.ndarray[Any, Any]
DIGITS = load_digits().data


def with_spectrum(n: int, variances: Array, seed: int = 0) -> tuple[Array, Array]:
    """Data with exactly these variances, far from the origin, and its principal directions."""
    rng = np.random.default_rng(seed)
    D = len(variances)
    U = rng.standard_normal((n, D))
    U = np.linalg.qr(U - U.mean(axis=0))[0]
    V = np.linalg.qr(rng.standard_normal((D, D)))[0]
    return (U * np.sqrt(n * variances)) @ V.T + 10 * rng.standard_normal(D), V


@pytest.mark.parametrize("count", [1, 3, 12])
@pytest.mark.parametrize("eigengap", [0.5, 1e-2, 1e-3])
@pytest.mark.parametrize("tail", ["flat", "falling"])
def test_the_subspace_is_that_of_exact_pca(count: int, eigengap: float, tail: str) -> None:
    """Relative eigengaps down to 1e-3, with everything behind just as near, or falling off."""
    rest = 60 - count
    behind = np.full(rest, 1.0) if tail == "flat" else np.geomspace(1, 0.1, rest)
    variances = np.concatenate([np.geomspace(5, 1, count), behind * (1 - eigengap)])
    variances[:count] = np.maximum(variances[:count], 1.0)
    variances[count - 1] = 1.0
    X, V = with_spectrum(200, variances)
    found = dualfold.PCA(count, svd_solver="gradient", random_state=1).fit(X)
    assert principal_sine(found.components_.T, V[:, :count]) < 1e-6
    np.testing.assert_allclose(found.eigenvalues_, variances[:count], rtol=1e-9)
    assert found.certificate_.level == "proved"
    # The history falls, and its bound of the excess holds at every step.
    errors, excess = found.history_.T
    best = variances[count:].sum() / variances.sum()
    assert (np.diff(errors) <= 1e-12).all()
    assert (errors - best <= excess + 1e-12).all()
    assert errors[-1] == pytest.approx(best, rel=1e-9)
    assert found.n_iter_ == len(errors) - 1 <= 400


def test_the_bound_on_the_angle_holds() -> None:
    variances = np.concatenate([[4.0, 3.0], np.geomspace(2.9, 0.1, 40)])
    X, V = with_spectrum(150, variances, seed=3)
    for tol in (1e-1, 1e-3, 1e-5):
        found = Gradient(tol=tol).solve(pca(X, n_components=2, matrix="products"))
        assert principal_sine(found.vectors, V[:, :2]) <= tol


@pytest.mark.parametrize("count", [1, 2, 5, 64])
def test_gradient_of_real_data_and_of_all_directions(count: int) -> None:
    exact = dualfold.PCA(count).fit(DIGITS)
    found = dualfold.PCA(count, svd_solver="gradient", random_state=0).fit(DIGITS)
    np.testing.assert_allclose(found.explained_variance_, exact.explained_variance_, atol=1e-9)
    if count < 60:  # the last directions have no variance and are nobody's
        assert principal_sine(found.components_.T, exact.components_.T) < 1e-6
        np.testing.assert_allclose(found.transform(DIGITS), exact.transform(DIGITS), atol=1e-4)


def test_sparse_single_precision_and_standardised_data() -> None:
    dense = np.where(np.random.default_rng(0).random((150, 30)) < 0.2, DIGITS[:150, :30], 0)
    exact = dualfold.PCA(3, standardize=True).fit(dense)
    for X in (dense, sp.csr_array(dense), dense.astype(np.float32)):
        found = dualfold.PCA(3, standardize=True, svd_solver="gradient", random_state=0).fit(X)
        assert principal_sine(found.components_.T.astype(float), exact.components_.T) < 1e-6
        assert found.components_.dtype == X.dtype


def test_wide_data_needs_no_square_matrix() -> None:
    """4,000 features: nothing near 4,000² numbers is held while descending."""
    X = np.random.default_rng(0).standard_normal((60, 4_000)) * np.geomspace(90, 0.1, 4_000)
    problem = pca(X, n_components=2, matrix="products")
    tracemalloc.start()
    Gradient(tol=1e-4).solve(problem)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.05 * 8 * 4_000**2


def test_a_start_is_used_and_ties_are_no_trouble() -> None:
    X, V = with_spectrum(80, np.array([3.0, 2.0, 2.0, 1.0, 0.5]))
    near = dualfold.PCA(1, svd_solver="gradient", gradient_start=V[:, :1]).fit(X)
    far = dualfold.PCA(1, svd_solver="gradient", random_state=0).fit(X)
    assert near.n_iter_ <= far.n_iter_
    # Two equal variances, one of them wanted: any direction between them will do.
    tied = dualfold.PCA(2, svd_solver="gradient", random_state=0).fit(X)
    np.testing.assert_allclose(tied.eigenvalues_, [3, 2], rtol=1e-10)
    assert tied.certificate_.level == "proved"


def test_what_descents_refuse() -> None:
    X = DIGITS[:100]
    for wanted in (0.9, "auto", "mle"):
        with pytest.raises(InvalidInput, match=r"needs all variances|cannot be a string|between"):
            dualfold.PCA(wanted, svd_solver="gradient").fit(X)
    with pytest.raises(InvalidInput, match="64 rows"):
        dualfold.PCA(2, svd_solver="gradient", gradient_start=np.eye(3)).fit(X)
    with pytest.raises(InvalidInput, match="PCA"):
        Gradient().solve(eigenmaps(dualfold.graph.knn(X, 10)))
    with pytest.raises(NotConverged, match="most_steps"):
        Gradient(most_steps=1).solve(pca(DIGITS, n_components=5, matrix="products"))


# --- the paper's form ---------------------------------------------------------------


def test_the_gradient_is_the_derivative_of_the_error() -> None:
    """Theorem 1.7, against differences of ‖XUUᵀ − X‖² itself."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6)) * np.arange(1, 7)
    X -= X.mean(axis=0)
    U, direction = rng.standard_normal((2, 6, 2))

    def error(M: Array) -> float:
        return float(np.square(X @ M @ M.T - X).sum())

    problem = pca(X, n_components=2, matrix="products")
    half, value = _projection_error(problem, U)
    slope = (error(U + 1e-5 * direction) - error(U - 1e-5 * direction)) / 2e-5
    assert 2 * 30 * float((half * direction).sum()) == pytest.approx(slope, rel=1e-7)
    assert 30 * value + np.square(X).sum() == pytest.approx(error(U))


@pytest.mark.parametrize(("rounds", "radius"), [(10, 25.0), (10, 1.0), (3, 0.5)])
def test_the_papers_descent_step_by_step(rounds: int, radius: float) -> None:
    """Written out with S = XᵀX as in the paper: same start, same subspace and error."""
    X = DIGITS[:300, 10:30]
    centred = X - X.mean(axis=0)
    S, k, step = centred.T @ centred, 3, radius / np.sqrt(rounds)
    start = np.linalg.qr(np.random.default_rng(0).standard_normal((20, k)))[0]
    start /= np.linalg.norm(start)
    U, total = start, np.zeros_like(start)
    for _ in range(rounds):
        gradient = 2 * (S @ U @ U.T @ U + U @ U.T @ S @ U - 2 * S @ U)
        U = U - step * gradient / np.linalg.norm(gradient)
        total += U
    left, _, right = np.linalg.svd(total / rounds, full_matrices=False)
    expected = left @ right
    polar = PaperGradient(rounds, step, start=start).attempt(pca(X, n_components=k)).vectors
    np.testing.assert_allclose(polar, expected, atol=1e-10)
    with pytest.warns(CertificateFailed):
        found = dualfold.PCA(
            k,
            svd_solver="gradient-paper",
            gradient_start=start,
            gradient_step=step,
            gradient_rounds=rounds,
        ).fit(X)
    assert principal_sine(found.components_.T, expected) < 1e-7
    lost = np.square(centred - centred @ expected @ expected.T).sum() / np.square(centred).sum()
    assert found.history_[-1, 0] == pytest.approx(lost, rel=1e-9)
    assert found.explained_variance_ratio_.sum() == pytest.approx(1 - lost, rel=1e-9)
    assert (np.diff(found.explained_variance_) <= 0).all()
    assert found.certificate_.level == "failed"  # and it says by how much
    assert found.n_iter_ == rounds


def test_the_papers_default_start_and_step() -> None:
    problem = pca(DIGITS, n_components=4)
    drawn = np.linalg.qr(np.random.default_rng(5).standard_normal((64, 4)))[0]
    given = PaperGradient(10, 25 / np.sqrt(10), start=drawn / np.linalg.norm(drawn))
    default = PaperGradient(seed=5).attempt(problem)
    np.testing.assert_allclose(default.vectors, given.attempt(problem).vectors, atol=1e-12)
    kept = {}
    for step in (25 / np.sqrt(10), 1 / np.sqrt(10)):
        with pytest.warns(CertificateFailed):
            found = dualfold.PCA(
                10, svd_solver="gradient-paper", gradient_step=step, random_state=0
            ).fit(DIGITS)
        kept[step] = found.explained_variance_ratio_.sum()
    best = dualfold.PCA(10).fit(DIGITS).explained_variance_ratio_.sum()
    assert all(0.5 * best < share < best for share in kept.values())

"""Every solver gives the same LLE and eigenmaps, with a proof; broken answers get none."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import dualfold
from dualfold.errors import NotConverged
from dualfold.graph import knn
from dualfold.methods import eigenmaps, hessian_lle, lle, ltsa, modified_lle
from dualfold.trace import certify
from dualfold.trace.solvers import Auto, Dense, Factored, Lanczos, Preconditioned
from tests.tools.angles import principal_sine
from tests.tools.tables import curve_points, digit_points, roll_points
from tests.workflows.door import factorise, shifted_matrices

pytestmark = pytest.mark.usefixtures("one_blas_thread")

METHODS = {"standard": lle, "modified": modified_lle, "ltsa": ltsa, "hessian": hessian_lle}


# Digits are whole numbers and tie: a little noise makes the neighbours unique.
NOISE = np.random.default_rng(0).standard_normal((500, 64))
DATA = {
    "roll": roll_points(600, random_state=0),
    "curve": curve_points(400, random_state=1),
    "digits": digit_points(500) + 1e-3 * NOISE,
}


@pytest.mark.parametrize("solver", [Auto(), Factored(), Dense(), Preconditioned()], ids=repr)
@pytest.mark.parametrize("method", METHODS)
def test_every_road_gives_the_same_and_is_proved(method, solver):
    problem = METHODS[method](knn(DATA["curve"], 12))
    reference = dualfold.embed(problem, solver=Dense())
    embedding = dualfold.embed(problem, solver=solver)
    assert embedding.certificate.level == "proved"
    np.testing.assert_allclose(embedding.values, reference.values, rtol=1e-6)
    assert principal_sine(embedding.points, reference.points) < 1e-4


def test_lanczos_arrives_or_says_that_it_did_not():
    embedding = dualfold.embed(ltsa(knn(DATA["curve"], 12)), solver=Lanczos())
    assert embedding.certificate.level == "proved"
    with pytest.raises(NotConverged, match="Factored"):
        Lanczos(most_products=500).solve(lle(knn(DATA["digits"], 12)))


def test_broken_answers_are_refused():
    problem = lle(knn(roll_points(3000, random_state=0), 12))
    embedding = dualfold.embed(problem)
    assert embedding.values.max() < 1e-6  # tiny against the spectrum: hard to tell from noise
    V, guard = embedding.solution.vectors, embedding.solution.guard
    assert certify(problem, V).level == "proved"
    third = guard[:, :1] - V @ (V.T @ guard[:, :1])
    third /= np.linalg.norm(third)
    skipped = np.hstack([V[:, :1], third])
    noisy = problem.without_excluded(V + 1e-7 * np.random.default_rng(0).standard_normal(V.shape))
    noisy = np.linalg.qr(noisy)[0]
    turned = np.hstack([V[:, :1], np.cos(0.1) * V[:, 1:] + np.sin(0.1) * third])
    for wrong in (skipped, np.hstack([skipped, guard[:, 1:]])):
        assert certify(problem, wrong).level == "failed"
    optimum = embedding.values.sum()
    for wrong in (noisy, turned):  # not far off: by how much is proved, and covers the truth
        certificate = certify(problem, wrong)
        assert certificate.level == "within", certificate
        off = np.linalg.norm(problem.A.factor @ wrong) ** 2 / optimum - 1
        assert 1e-4 < off <= certificate.gap < 1.5 * off


def test_the_turned_matrix_counts_and_solves_like_the_square(set_limits):
    from dualfold.trace.solvers import Factored

    set_limits("trace.sparse.shifted_matrices", MIN_ROTATED_ROWS=10)
    graph = dualfold.graph.knn(roll_points(700, random_state=1), 10)
    problem = dualfold.methods.lle(graph, n_components=3)
    pencil = shifted_matrices(problem)
    assert pencil.is_rotated
    M = problem.A.factor.toarray()
    exact = np.linalg.svd(M, compute_uv=False)[::-1] ** 2
    rng = np.random.default_rng(0)
    R = rng.standard_normal((problem.n, 2))
    for shift in (-1e-3, -1e-9, exact[3] * 1.2, exact[40] * 1.0001, exact[300] * 1.0001):
        factor = factorise(pencil.at(shift), pencil.ordering)
        assert factor.negative - pencil.auxiliary == np.sum(exact < shift)
        x = pencil.solve(factor, shift, R)
        np.testing.assert_allclose(M.T @ (M @ x) - shift * x, R, atol=1e-6 * np.abs(x).max())
    ours = dualfold.embed(problem, solver=Factored())
    assert ours.certificate.level == "proved"
    np.testing.assert_allclose(ours.values, exact[1:4], rtol=1e-6)


def test_a_roll_of_many_points_is_proved():
    # Eigenvalues of 1e-12 against a spectrum of order 1; plain pivots prove nothing there.
    graph = dualfold.graph.knn(roll_points(30_000, random_state=0), 10)
    embedding = dualfold.embed(dualfold.methods.lle(dualfold.graph.join_pieces(graph)))
    assert shifted_matrices(embedding.problem).is_rotated
    assert embedding.values[-1] < 1e-9
    assert embedding.certificate.level == "proved"
    assert embedding.certificate.gap < 1e-4


TABLES = {
    "roll": roll_points(700, random_state=0),
    "curve": curve_points(600, random_state=0),
    "digits": digit_points(900),
}


@pytest.mark.parametrize("solver", [Auto(), Dense(), Factored(), Lanczos()], ids=repr)
def test_eigenmaps_against_dense_lapack(solver):
    import scipy.linalg

    X = TABLES["curve"]
    D = cdist(X, X)
    listed = np.zeros_like(D, bool)
    rows = np.argsort(D + np.diag(np.full(len(X), np.inf)), axis=1)[:, :8]
    np.put_along_axis(listed, rows, True, axis=1)
    listed |= listed.T
    W = np.exp(-((D / 0.4) ** 2)) * listed
    degrees = W.sum(1)
    values, V = scipy.linalg.eigh(np.diag(degrees) - W, np.diag(degrees))
    embedding = dualfold.embed(eigenmaps(knn(X, 8), n_components=3, width=0.4), solver=solver)
    assert embedding.certificate.level == "proved"
    np.testing.assert_allclose(embedding.values, values[1:4], rtol=1e-7)
    metric = embedding.problem.metric
    assert principal_sine(embedding.points, V[:, 1:4], metric) < 1e-5
    np.testing.assert_allclose(
        embedding.points.T @ (degrees[:, None] * embedding.points), np.eye(3), atol=1e-9
    )

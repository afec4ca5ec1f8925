"""An unfolding beside Isomap, LLE and eigenmaps: the numbers of chains, and of a roll by hand."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.linalg

from dualfold.data import swiss_roll
from dualfold.graph import join_pieces, knn
from dualfold.unfolding import certify_unfolding, connections, unfold
from tests.proofs.unfoldings import unfolded_chain


def unfolding_of_chain(bend, factor=1.0):
    """A chain as an unfolding: points on a line or bent, and weights in units of the caller's."""
    problem, Y, w = unfolded_chain(bend=bend)
    return SimpleNamespace(
        problem=problem,
        solution=SimpleNamespace(factor=Y, weights=factor * w),
        certificate=certify_unfolding(problem, Y, factor * w),
    )


@pytest.mark.parametrize("factor", [1.0, 0.5])
def test_connections_of_a_straight_chain(factor):
    found = connections(unfolding_of_chain(0.0, factor), n_components=1)
    assert found.value == pytest.approx(42.0, rel=1e-9)
    assert found.local_linearity < 1e-9
    assert found.eigenmaps_angle < 1e-4
    assert 0.1 < found.normalised_angle < 60
    assert found.second_eigenvalue == pytest.approx(factor, rel=1e-9)
    assert found.budget == pytest.approx(42.0 * factor)
    assert found.scaling_law == pytest.approx(1.0, rel=1e-8)
    assert (found.rank, found.kept_components) == (1, 1)
    assert found.variance_outside == pytest.approx(0.0, abs=1e-12)
    assert found.shortened < 1e-9
    assert found.longest < 1e-9
    assert "times that" in str(found)


def test_connections_of_what_one_coordinate_leaves_out():
    chain = unfolding_of_chain(0.3)
    problem, Y, w = chain.problem, chain.solution.factor, chain.solution.weights
    found = connections(chain, n_components=1)
    centred = Y - Y.mean(axis=0)
    lengths = np.linalg.svd(centred, compute_uv=False)
    assert found.variance_outside == pytest.approx(lengths[1] ** 2 / (lengths**2).sum(), rel=1e-9)
    axis = np.linalg.svd(centred)[2][0]
    kept, whole = np.diff(centred @ axis) ** 2, np.square(np.diff(centred, axis=0)).sum(axis=1)
    assert found.shortened == pytest.approx(np.sqrt(np.mean((whole - kept) ** 2)), rel=1e-9)
    assert found.longest == pytest.approx((whole - kept).max(), rel=1e-9)
    L = problem.laplacian(w).toarray()
    away = np.linalg.norm(L @ centred - centred)
    left = np.linalg.norm((np.diag(L) - 1)[:, None] * centred)
    assert found.local_linearity == pytest.approx(away / left, rel=1e-6)
    both = connections(chain, n_components=2)
    assert both.variance_outside == pytest.approx(0.0, abs=1e-12)
    assert both.longest < 1e-9


def test_points_are_compared_with_all_eigenvectors_of_their_value(set_limits):
    """By dense eigenvectors and SciPy's angles between spaces, for points with masses."""
    X = swiss_roll(60, random_state=0).points
    unfolding = unfold(join_pieces(knn(np.vstack([X, X[:3]]), 6)))
    found = connections(unfolding)
    problem, certificate = unfolding.problem, unfolding.certificate
    mass, root = problem.mass, np.sqrt(problem.mass)
    L = problem.laplacian(unfolding.solution.weights).toarray()
    Y = problem.centred_points(unfolding.solution.factor)
    U = np.linalg.svd(root[:, None] * Y, full_matrices=False)[0][:, : found.rank]
    wide = max(certificate.rank, certificate.multiplicity)

    def angle(space, vectors):
        return np.degrees(scipy.linalg.subspace_angles(space, vectors).max())

    bottom = root[:, None] * scipy.linalg.eigh(L, np.diag(mass))[1][:, 1 : wide + 1]
    assert found.rank == certificate.rank
    assert found.eigenmaps_angle == pytest.approx(angle(U, bottom), abs=1e-3)
    degrees = np.diag(np.diagonal(L))
    contrast = scipy.linalg.eigh(L, degrees)[1][:, 1 : wide + 1]
    rotated = Y @ np.linalg.svd(root[:, None] * Y, full_matrices=False)[2].T
    contrast = contrast - contrast.mean(axis=0)
    expected = angle(rotated[:, : found.rank], contrast)
    assert found.normalised_angle == pytest.approx(expected, abs=1e-3)
    set_limits("unfolding.connections", MAX_CONTRAST_ROWS=problem.n - 1)
    assert np.isnan(connections(unfolding).normalised_angle)

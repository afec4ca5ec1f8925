"""An unfolding beside Isomap, LLE and eigenmaps: what is compared, and the numbers of a chain."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.unfolding import certify_unfolding, connections
from dualfold.unfolding.connections import _angle
from dualfold.unfolding.contraction import Contraction
from tests.proofs.unfoldings import unfolded_chain
from tests.unfolding.test_rounding import problem

module = sys.modules["dualfold.unfolding.connections"]  # the function has that name too


def spoken(monkeypatch, multiplicity, second):
    """What `connections` compares: the widths of both spaces, and the scaled weights."""
    seen = []
    stated = problem()
    factor = np.random.default_rng(0).normal(size=(5, 2))
    monkeypatch.setattr(
        module,
        "lowest_pairs",
        lambda *_: (np.array([second, 1.0]), np.random.default_rng(1).normal(size=(5, 4))),
    )
    monkeypatch.setattr(module, "_angle", lambda U, V: seen.append((U, V)) or 0.0)
    monkeypatch.setattr(module, "_normalised_angle", lambda L, Y, wide: float(wide))
    made = SimpleNamespace(
        problem=stated,
        solution=SimpleNamespace(weights=np.ones(7), factor=factor),
        certificate=SimpleNamespace(rank=2, multiplicity=multiplicity, value=1.0),
    )
    with np.errstate(all="raise"):
        found = connections(made)
    return found, [(U_.shape[1], V.shape[1]) for U_, V in seen]


def test_points_are_compared_with_all_eigenvectors_of_their_value(monkeypatch):
    for multiplicity, wide in ((3, 3), (1, 2), (None, 2)):
        found, widths = spoken(monkeypatch, multiplicity, 0.5)
        assert widths == [(2, wide)]
        assert found.normalised_angle == wide
    assert spoken(monkeypatch, 1, 0.0)[0].second_eigenvalue == 0.0  # nothing to divide by


def test_normalised_eigenmaps_are_left_out_where_there_are_none(monkeypatch):
    L = problem().laplacian(np.ones(7))
    Y = np.random.default_rng(0).normal(size=(5, 1))
    angle = module._normalised_angle
    assert 0 <= angle(L, Y, 3) <= 90
    assert np.isnan(angle(L, Y, 4))
    assert np.isnan(angle(sp.csr_array(np.diag([1.0, 2, 0, 1, 1])), Y, 1))
    monkeypatch.setattr(module, "MAX_CONTRAST_ROWS", 5)
    assert 0 <= angle(L, Y, 3) <= 90
    monkeypatch.setattr(module, "MAX_CONTRAST_ROWS", 4)
    assert np.isnan(angle(L, Y, 3))


def test_angles_between_spaces():
    turn = np.radians(25.0)
    U = np.eye(3)[:, :1]
    V = np.array([[np.cos(turn)], [np.sin(turn)], [0.0]])
    assert _angle(U, V) == pytest.approx(25.0, rel=1e-9)
    assert _angle(U, np.hstack([V, np.eye(3)[:, 1:2]])) == pytest.approx(0.0, abs=1e-6)
    assert _angle(3.0 * U, np.eye(3)[:, 2:]) == pytest.approx(90.0, rel=1e-9)


def test_connections_of_a_straight_chain():
    problem, Y, w = unfolded_chain(bend=0.0)
    contraction = Contraction(problem, np.arange(8), problem.edges)
    for factor in (1.0, 0.5):
        solution = SimpleNamespace(factor=Y, weights=factor * w)
        certificate = certify_unfolding(problem, Y, factor * w)
        unfolding = SimpleNamespace(
            problem=problem, solution=solution, certificate=certificate, contraction=contraction
        )
        found = connections(unfolding, n_components=1)
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
    problem, Y, w = unfolded_chain(bend=0.3)
    solution = SimpleNamespace(factor=Y, weights=w)
    certificate = certify_unfolding(problem, Y, w)
    found = connections(
        SimpleNamespace(problem=problem, solution=solution, certificate=certificate), n_components=1
    )
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
    two = connections(
        SimpleNamespace(problem=problem, solution=solution, certificate=certificate), n_components=2
    )
    assert two.variance_outside == pytest.approx(0.0, abs=1e-12)
    assert two.longest < 1e-9

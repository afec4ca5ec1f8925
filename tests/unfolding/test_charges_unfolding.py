"""Both sides of an unfolding: what rounding is charged equals its formula; small parts by hand.

As in `test_charges_trace.py`, with a coarse unit.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.graph import from_lengths
from dualfold.unfolding import UnfoldingProblem, bounds, certify_unfolding, contraction
from dualfold.unfolding import certificate as judge
from dualfold.unfolding import spectral_floor as floors
from tests.proofs.coarse import U, gamma, patched
from tests.unfolding.test_rounding import D2, EDGES, MASS, problem

connections = sys.modules["dualfold.unfolding.connections"]  # the function has that name too


@pytest.fixture
def coarsely(monkeypatch):
    patched(monkeypatch, bounds, floors, UNIT_ROUNDOFF=U, UNDERFLOW_BOUND=0.0)


# ---- bounds


def test_lengths_are_charged_by_their_dimensions(coarsely):
    for r in (1, 3):
        Y = np.random.default_rng(r).normal(size=(5, r))
        ratios = np.sum((Y[EDGES[:, 0]] - Y[EDGES[:, 1]]) ** 2, axis=1) / D2
        found = bounds.edge_fit(problem(), Y)
        assert found.high == pytest.approx(ratios.max() * (1 + 2 * gamma(r + 8)), rel=1e-12)
        assert found.low == pytest.approx(ratios.min() * (1 - 2 * gamma(r + 8)), rel=1e-12)


def test_points_that_are_all_equal_or_infinitely_far_have_no_value():
    assert bounds.EdgeFit(0.0, 0.0, 1.0).value == 0.0
    assert bounds.EdgeFit(0.0, np.inf, 1.0).value == 0.0
    assert bounds.EdgeFit(1.0, 2.0, 1.0).value == 0.5 * (1 - 4 * bounds.UNIT_ROUNDOFF)


def test_values_and_bounds_are_charged_by_their_terms(coarsely, monkeypatch):
    w = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 0.25, 2.0])
    parts, relaxation = w * D2, 0.5
    size = np.abs(parts).sum()
    charged = (7 + 16) * 2 * U * 1.5 * size
    found = bounds.dual_value(problem("equal"), w, relaxation)
    assert found == pytest.approx(parts.sum() + 0.5 * size + charged, rel=1e-12)
    Y, scale = np.random.default_rng(0).normal(size=(5, 2)), 4.0
    q = scale * np.sum((Y[EDGES[:, 0]] - Y[EDGES[:, 1]]) ** 2, axis=1)
    own = 4 * U * abs(w @ q) + 64 * (2 + 8) * U**2 * (np.abs(w) @ q)
    found = bounds.own_lengths_value(problem("equal"), w, Y, scale)
    assert found - w @ q == pytest.approx(own, rel=1e-8)
    for value in (3.0, -3.0):
        found = bounds.upper_bound(value, 4.0)
        assert found == np.nextafter(value / 4 + 4 * U * 0.75, np.inf)
    patched(monkeypatch, bounds, UNIT_ROUNDOFF=0.0, UNDERFLOW_BOUND=2.0**-12)
    for scale, times in ((4.0, 4.0), (0.25, 1.0)):
        q = scale * np.sum((Y[EDGES[:, 0]] - Y[EDGES[:, 1]]) ** 2, axis=1)
        found = bounds.own_lengths_value(problem("equal"), w, Y, scale)
        assert found - w @ q == pytest.approx(7 * 2 * times * 2.0**-12, rel=1e-9)


def test_paths_are_charged_by_their_number_of_points(coarsely):
    path = np.column_stack([np.arange(4), np.arange(1, 5)])
    chain = UnfoldingProblem(5, path, np.full(4, 4.0), "at_most", MASS)
    sums = 4.0 * (np.arange(5)[:, None] - np.arange(5)) ** 2 @ MASS
    found = bounds.geodesic_bounds(chain)
    assert found.centre == pytest.approx(sums.min() * (1 + 8 * (5 + 16) * U), rel=1e-12)


# ---- λ₂ from below


def charged_forming(stated, weights, height):
    degree = np.bincount(stated.edges.ravel(), minlength=stated.n)
    rows = np.bincount(stated.edges.ravel(), weights=np.repeat(np.abs(weights), 2))
    return np.max((degree + 8) * 2 * U * (rows + abs(height) * stated.mass) / stated.mass)


@pytest.mark.parametrize("n", [4, 5, 9])
def test_factorisations_are_charged_by_their_rows(coarsely, n):
    edges = np.array([[0, 1], [0, n - 1], *([i, i + 1] for i in range(1, n - 1))])
    stated, weights, height = UnfoldingProblem(n, edges, np.ones(n)), np.ones(n), 0.2
    diagonal = 2 - height + 2 * height / n
    formed = charged_forming(stated, weights, 4 * height)
    error = gamma(2 * n + 8) * n * diagonal + formed
    found = floors.cholesky_floor(stated, weights, height)
    assert found == pytest.approx((height - error * (1 + 16 * U)) * (1 - 4 * U), rel=1e-10)
    for at in (height, -height):
        formed = charged_forming(stated, weights, at)
        assert floors._forming_error(stated, weights, at) == pytest.approx(formed, rel=1e-12)


def tried(monkeypatch, n, drops):
    """The shares below the Ritz value 1 that each way is tried at, and the best floor."""
    seen = {"proved_floor": [], "cholesky_floor": [], "precise_floor": []}
    for name, heights in seen.items():

        def floor(stated, weights, height, *_, name=name, heights=heights):
            heights.append(float(f"{1 - height:.0e}"))
            return drops.get(name, 0.0)

        monkeypatch.setattr(floors, name, floor)
    best = floors._best_floor(SimpleNamespace(n=n), None, 1.0, None)
    return [seen[name] for name in seen], best


def test_lower_floors_are_tried_while_they_can_do_better(monkeypatch):
    every = [10.0**-k for k in range(12, 0, -1)] + [0.5, 0.9]
    assert tried(monkeypatch, 5, {}) == ([every] * 3, 0.0)
    # What leaves 1e-8 open is not worth double-doubles; doubles are tried as far as they can help.
    fair = {"proved_floor": 1 - floors.DENSE_OPEN_SHARE}
    assert tried(monkeypatch, 5, fair) == ([every[:4], every[:4], []], 1 - floors.DENSE_OPEN_SHARE)
    good = {"proved_floor": 1 - floors.SPARSE_OPEN_SHARE}
    assert tried(monkeypatch, 5, good) == ([every[:3], [], []], 1 - floors.SPARSE_OPEN_SHARE)
    later = {"proved_floor": 1 - 5e-7, "cholesky_floor": 1 - 2e-7}
    assert tried(monkeypatch, 5, later) == ([every[:6], every[:6], every[:6]], 1 - 2e-7)
    monkeypatch.setattr(floors, "MAX_DOUBLE_DOUBLE_ROWS", 5)
    monkeypatch.setattr(floors, "MAX_DENSE_ROWS", 5)
    assert tried(monkeypatch, 5, {})[0] == [every] * 3
    assert tried(monkeypatch, 6, {})[0] == [every, [], []]


def test_bases_hold_directions_of_any_length():
    block = np.random.default_rng(0).normal(size=(5, 2)) * [1.0, 1e-9]
    Q = floors._orthonormal(problem(), block)
    np.testing.assert_allclose(Q.T @ (MASS[:, None] * Q), np.eye(2), atol=1e-12)
    np.testing.assert_allclose(MASS @ Q, 0.0, atol=1e-12)
    alone = UnfoldingProblem(1, np.zeros((0, 2), dtype=int), np.zeros(0))
    values, vectors = floors.lowest_pairs(alone, np.zeros(0), np.zeros((1, 1)))
    assert (values.tolist(), vectors.tolist()) == ([0.0], [[0.0]])


# ---- verdicts and words


def test_weights_of_0_are_not_counted_as_negative():
    w = np.array([0.0, -1.0, 1.0, 0.0, 2.0, 1.0, 1.0])
    Y = np.random.default_rng(3).normal(size=(5, 2))
    found = certify_unfolding(problem(), Y, w)
    assert found.clipped == 1
    assert any(reason.startswith("1 weights are negative") for reason in found.reasons)


def test_a_bound_of_twice_the_value_is_worth_nothing():
    for upper, level in ((1.75, "unresolved"), (2.0, "failed")):
        sides = SimpleNamespace(constraints="equal", lower=1.0, upper=upper)
        assert (
            judge._level_and_reasons(sides, 0, 1e-4, judge.NEARLY_EQUAL_TOLERANCE, 1e-9)[0] == level
        )


def triangle():
    rows, columns = np.array([0, 0, 1, 1, 2, 2, 2, 3]), np.array([1, 2, 0, 2, 0, 1, 3, 2])
    return from_lengths(sp.csr_array((np.ones(8), (rows, columns)), shape=(4, 4)))


def test_angles_tie_each_pair_once(monkeypatch):
    """Points 0, 1, 2 see one another already; 3 sees 2, and so ties to 0 and 1."""
    graph = triangle()
    ends = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    monkeypatch.setattr(contraction, "_distances", lambda graph, pairs: np.ones(len(pairs)))
    found, _ = contraction._with_angles(graph, ends, np.ones(4))
    assert sorted(map(tuple, found.tolist())) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def spoken(monkeypatch, multiplicity, second):
    """What `connections` compares: the widths of both spaces, and the scaled weights."""
    seen = []
    stated = problem()
    factor = np.random.default_rng(0).normal(size=(5, 2))
    monkeypatch.setattr(
        connections,
        "lowest_pairs",
        lambda *_: (np.array([second, 1.0]), np.random.default_rng(1).normal(size=(5, 4))),
    )
    monkeypatch.setattr(connections, "_angle", lambda U, V: seen.append((U, V)) or 0.0)
    monkeypatch.setattr(connections, "_normalised_angle", lambda L, Y, wide: float(wide))
    made = SimpleNamespace(
        problem=stated,
        solution=SimpleNamespace(weights=np.ones(7), factor=factor),
        certificate=SimpleNamespace(rank=2, multiplicity=multiplicity, lower=1.0),
    )
    with np.errstate(all="raise"):
        found = connections.connections(made)
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
    angle = connections._normalised_angle
    assert 0 <= angle(L, Y, 3) <= 90
    assert np.isnan(angle(L, Y, 4))
    assert np.isnan(angle(sp.csr_array(np.diag([1.0, 2, 0, 1, 1])), Y, 1))
    monkeypatch.setattr(connections, "MAX_CONTRAST_ROWS", 5)
    assert 0 <= angle(L, Y, 3) <= 90
    monkeypatch.setattr(connections, "MAX_CONTRAST_ROWS", 4)
    assert np.isnan(angle(L, Y, 3))

"""What rounding costs both sides of an unfolding, in a coarse arithmetic.

Each bound pays at least what its formula needs, and not much more; some are held to the formula
of their docstring exactly.
"""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.unfolding import UnfoldingProblem, geodesic_bounds
from tests.proofs.coarse import U, gamma, patched
from tests.unfolding.door import (
    bounds,
    cholesky_floor,
    dual_value,
    edge_fit,
    eigenvalues_below,
    feasible_scale,
    own_lengths_value,
    precise_floor,
    proved_floor,
    spectral_floor,
    upper_bound,
)

EDGES = np.array([[0, 1], [0, 2], [0, 4], [1, 2], [1, 3], [2, 4], [3, 4]])
MASS = np.array([1.0, 4.0, 2.0, 1.0, 7.0])
D2 = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 2.5])


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    patched(
        monkeypatch,
        bounds,
        spectral_floor,
        UNIT_ROUNDOFF=U,
        PRODUCT_UNDERFLOW=0.0,
        ROW_UNDERFLOW=0.0,
    )


def problem(constraints="at_most", mass=MASS):
    return UnfoldingProblem(5, EDGES, D2, constraints, mass)


@pytest.mark.parametrize("r", [1, 3])
def test_lengths_and_variance_are_said_from_the_safe_side(r):
    Y = np.random.default_rng(r).normal(size=(5, r)) + 3.0
    found = edge_fit(problem(), Y)
    ratios = np.sum((Y[EDGES[:, 0]] - Y[EDGES[:, 1]]) ** 2, axis=1) / D2
    wide = gamma(r + 3)  # a difference squared, r of them added, a quotient
    assert ratios.max() * (1 + wide) <= found.high <= ratios.max() * (1 + 10 * wide)
    assert ratios.min() * (1 - 10 * wide) <= found.low <= ratios.min() * (1 - wide)
    away = Y - MASS @ Y / MASS.sum()
    spread = MASS @ np.sum(away**2, axis=1)
    moved = gamma(5 + 1) * (MASS @ np.abs(away))  # the mean as computed may be so far off
    most = spread * (1 - gamma(5 + r + 1)) - moved @ moved / MASS.sum()
    assert spread * (1 - 100 * U) <= found.variance <= most
    assert found.value <= found.variance / found.high * (1 - 2 * U)
    assert found.value >= found.variance / found.high * (1 - 8 * U)
    scale, value = feasible_scale(problem(), Y)
    assert scale * found.high <= 1 - 2 * U
    assert value == found.value


def test_values_of_weights_pay_for_each_term():
    w = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 0.25, 2.0])
    parts = w * D2
    size = np.abs(parts).sum()
    for relaxation in (0.0, 0.5):
        truth = parts.sum() + relaxation * size
        found = dual_value(problem("equal"), w, relaxation)
        least = gamma(len(w)) * (1 + relaxation) * size
        assert truth + least <= found <= truth + 10 * least
    Y, scale = np.random.default_rng(0).normal(size=(5, 2)), 0.75
    q = scale * np.sum((Y[EDGES[:, 0]] - Y[EDGES[:, 1]]) ** 2, axis=1)
    own = own_lengths_value(problem("equal"), w, Y, scale)
    least = U * abs(w @ q) + (2 + 8) * 4 * U**2 * (np.abs(w) @ q)
    assert w @ q + least <= own <= w @ q + 40 * least
    # Weights that cancel: only the products of double-doubles are left to pay for.
    w[-1] -= (w @ q) / q[-1]
    least = (2 + 8) * 4 * U**2 * (np.abs(w) @ q)
    assert least - 1e-12 <= own_lengths_value(problem("equal"), w, Y, scale) <= 40 * least
    for value in (3.0, -3.0):
        found = upper_bound(value, 4.0)
        assert value / 4 + U * 0.75 <= found <= value / 4 + 8 * U * 0.75


def test_what_underflows_is_paid_for_on_the_safe_side(monkeypatch):
    lost = 2.0**-12
    patched(
        monkeypatch,
        bounds,
        spectral_floor,
        UNIT_ROUNDOFF=0.0,
        PRODUCT_UNDERFLOW=lost,
        ROW_UNDERFLOW=lost,
    )
    Y, w = np.random.default_rng(5).normal(size=(5, 2)), np.ones(7)
    ratios = np.sum((Y[EDGES[:, 0]] - Y[EDGES[:, 1]]) ** 2, axis=1)
    found = edge_fit(problem(), Y)
    assert found.low == pytest.approx(((ratios - 2 * lost) / D2).min(), rel=1e-12)
    assert found.high == pytest.approx(((ratios + 2 * lost) / D2).max(), rel=1e-12)
    away = Y - MASS @ Y / MASS.sum()
    assert found.variance <= MASS @ np.sum(away**2, axis=1) - 5 * 2 * lost
    assert dual_value(problem(), w) == pytest.approx(D2.sum() + 7 * lost, rel=1e-12)
    own = own_lengths_value(problem(), w, Y, 1.0)
    assert own == pytest.approx(ratios.sum() + 7 * 2 * lost, rel=1e-12)
    line = np.arange(5.0)[:, None] ** 2  # of one column no sum loses anything
    squares = (line[EDGES[:, 0], 0] - line[EDGES[:, 1], 0]) ** 2
    assert edge_fit(problem(), line).high == pytest.approx(((squares + lost) / D2).max(), rel=1e-14)
    plain = geodesic_bounds(problem())
    patched(monkeypatch, bounds, PRODUCT_UNDERFLOW=0.0)
    before = geodesic_bounds(problem())
    for more, less in ((plain.isomap, before.isomap), (plain.centre, before.centre)):
        assert more - less == pytest.approx(4 * MASS.sum() * lost, rel=1e-9)
    assert cholesky_floor(problem(), w, 0.05) <= 0.05 - 5 * lost / MASS.min()
    assert eigenvalues_below(problem(), w, 0.05)[1] >= lost / MASS.min()


def test_path_lengths_pay_for_their_roots_and_sums():
    n = 5
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    chain = UnfoldingProblem(n, path, np.full(n - 1, 4.0), "at_most", MASS)
    squares = 4.0 * (np.arange(n)[:, None] - np.arange(n)) ** 2
    sums = squares @ MASS
    for near in (geodesic_bounds(chain), geodesic_bounds(chain, all_pairs=0)):
        least, most = 1 + (4 * n + 16) * U, 1 + 400 * U
        assert sums.min() * least <= near.centre <= sums.min() * most
        if near.isomap is not None:
            isomap = MASS @ sums / (2 * MASS.sum())
            assert isomap * least <= near.isomap <= isomap * most


# ---- λ₂ from below


def forming(stated, weights, height):
    """Rounding of L(w) − σM: a sum of `degree` weights, a product, a difference."""
    ends, mass = stated.edges.ravel(), stated.mass
    degree = np.bincount(ends, minlength=5)
    rows = np.bincount(ends, weights=np.repeat(np.abs(weights), 2), minlength=5)
    return float(np.max((gamma(degree) * rows + 2 * U * height * mass) / mass))


COMPLETE = np.array([[i, j] for i in range(5) for j in range(i + 1, 5)])
STAR = np.array([[0, 1], [0, 2], [0, 3], [0, 4]])
HEAVY = np.array([0.25, 40.0, 40.0, 40.0, 40.0])


@pytest.mark.parametrize(
    ("edges", "mass"),
    [(EDGES, np.ones(5)), (EDGES, MASS), (EDGES, MASS / 64), (COMPLETE, np.ones(5)), (STAR, HEAVY)],
    ids=["ones", "masses", "light", "complete", "star"],
)
def test_floors_of_the_second_eigenvalue_pay_for_rounding(edges, mass):
    weights = np.resize([1.0, 1.25, 1.0, 1.5, 1.0, 0.75, 1.0], len(edges))
    stated = UnfoldingProblem(5, edges, np.ones(len(edges)), "at_most", mass)
    root = 1 / np.sqrt(mass)
    L = stated.laplacian(weights).toarray()
    second = np.linalg.eigvalsh(root[:, None] * L * root)[1]
    height = 0.9 * second
    A = L - height * np.diag(mass) + np.outer(mass, 2 * height * mass / mass.sum())
    formed = forming(stated, weights, height)
    # Cholesky: |E_ij| ≤ γ_{n+1}√(a_ii a_jj) (Higham 10.5), so the form is γ Σ a_ii/m_i.
    factored = gamma(5 + 1) * np.sum(np.diagonal(A) / mass)
    found = cholesky_floor(stated, weights, height)
    least = factored + formed + 3 * U * 2 * height
    assert found <= max(height - least, 0.0)
    assert found >= height - 12 * least
    count, error = eigenvalues_below(stated, weights, height)
    assert count == 1
    assert formed <= error <= 12 * formed
    assert proved_floor(stated, weights, height) <= height - error
    # In double-doubles: 16(n + 16)²u² of the diagonal, and of the sizes of its sums.
    rows = np.max((2 * L.diagonal() + 5 * height * mass) / mass)
    least = 16 * 21**2 * U**2 * (np.sum(np.diagonal(A) / mass) + rows)
    found = precise_floor(stated, weights, height)
    assert found <= height - least
    assert found >= height - 6 * least - 8 * U * height


@pytest.mark.parametrize("n", [4, 5, 60])
@pytest.mark.parametrize("coarse", [True, False])
def test_many_and_few_rows_pay_for_their_factorisation(monkeypatch, n, coarse):
    """γ_{n+1} of the trace (Higham, theorem 10.5), beside the rounding of the matrix: in a ring."""
    unit = 2.0**-24 if coarse else 2.0**-53
    edges = np.array([[0, 1], [0, n - 1], *([i, i + 1] for i in range(1, n - 1))])
    stated, weights = UnfoldingProblem(n, edges, np.ones(n)), np.ones(n)
    height = 1e-3
    patched(monkeypatch, spectral_floor, UNIT_ROUNDOFF=unit)
    lost = height - cholesky_floor(stated, weights, height)
    trace = n * (2 - height + 2 * height / n)
    least = ((n + 1) * trace + 2 * 2) * unit
    assert least <= lost <= 12 * least
    # The matrix alone, as counts of eigenvalues pay for it: above 0 and below.
    for at in (height, -height):
        error = eigenvalues_below(stated, weights, at)[1]
        assert error >= (2 * 2 + abs(at)) * unit


# ---- Bounds that are equal to the formula of their docstring


@pytest.mark.parametrize("r", [1, 3])
def test_lengths_are_charged_by_their_dimensions(r):
    Y = np.random.default_rng(r).normal(size=(5, r))
    ratios = np.sum((Y[EDGES[:, 0]] - Y[EDGES[:, 1]]) ** 2, axis=1) / D2
    fit = edge_fit(problem(), Y)
    assert fit.high == pytest.approx(ratios.max() * (1 + 2 * gamma(r + 8)), rel=1e-12)
    assert fit.low == pytest.approx(ratios.min() * (1 - 2 * gamma(r + 8)), rel=1e-12)


def test_values_and_bounds_are_charged_by_their_terms():
    w = np.array([1.0, -2.0, 0.5, 3.0, -1.0, 0.25, 2.0])
    parts, size = w * D2, np.abs(w * D2).sum()
    charged = (7 + 16) * 2 * U * 1.5 * size
    value = dual_value(problem("equal"), w, 0.5)
    assert value == pytest.approx(parts.sum() + 0.5 * size + charged, rel=1e-12)
    Y, scale = np.random.default_rng(0).normal(size=(5, 2)), 4.0
    q = scale * np.sum((Y[EDGES[:, 0]] - Y[EDGES[:, 1]]) ** 2, axis=1)
    charged = 4 * U * abs(w @ q) + 64 * (2 + 8) * U**2 * (np.abs(w) @ q)
    value = own_lengths_value(problem("equal"), w, Y, scale)
    assert value - w @ q == pytest.approx(charged, rel=1e-8)
    for value in (3.0, -3.0):
        assert upper_bound(value, 4.0) == np.nextafter(value / 4 + 4 * U * 0.75, np.inf)


def test_paths_are_charged_by_their_number_of_points():
    path = np.column_stack([np.arange(4), np.arange(1, 5)])
    chain = UnfoldingProblem(5, path, np.full(4, 4.0), "at_most", MASS)
    sums = 4.0 * (np.arange(5)[:, None] - np.arange(5)) ** 2 @ MASS
    centre = geodesic_bounds(chain).centre
    assert centre == pytest.approx(sums.min() * (1 + 8 * (5 + 16) * U), rel=1e-12)


@pytest.mark.parametrize("n", [4, 5, 9])
def test_factorisations_are_charged_by_their_rows(n):
    """γ_{2n+8} of the trace, and (degree + 8)·2u of each row of a ring as it is formed."""
    edges = np.array([[0, 1], [0, n - 1], *([i, i + 1] for i in range(1, n - 1))])
    stated, height = UnfoldingProblem(n, edges, np.ones(n)), 0.2
    formed = (2 + 8) * 2 * U * (2 + 4 * height)
    error = gamma(2 * n + 8) * n * (2 - height + 2 * height / n) + formed
    floor = cholesky_floor(stated, np.ones(n), height)
    assert floor == pytest.approx((height - error * (1 + 16 * U)) * (1 - 4 * U), rel=1e-10)

"""Both sides of an unfolding in a coarse arithmetic: what they are charged for.

As in `test_margins.py`.
"""

from __future__ import annotations

import numpy as np
import pytest
from coarse import U, gamma, patched

from dualfold.unfolding import UnfoldingProblem, bounds, spectral_floor
from dualfold.unfolding.bounds import dual_value, fit, geodesic_bounds, own_value, upper_bound
from dualfold.unfolding.spectral_floor import cholesky_floor, eigenvalues_below, precise_floor

EDGES = np.array([[0, 1], [0, 2], [0, 4], [1, 2], [1, 3], [2, 4], [3, 4]])
MASS = np.array([1.0, 4.0, 2.0, 1.0, 7.0])
D2 = np.array([1.0, 2.0, 0.5, 1.5, 1.0, 3.0, 2.5])


@pytest.fixture(autouse=True)
def _coarse(monkeypatch):
    patched(monkeypatch, bounds, spectral_floor, UNIT=U, UNDERFLOW=0.0)


def problem(form="at_most", mass=MASS):
    return UnfoldingProblem(5, EDGES, D2, form, mass)


@pytest.mark.parametrize("r", [1, 3])
def test_lengths_and_variance_are_said_from_the_safe_side(r):
    Y = np.random.default_rng(r).normal(size=(5, r)) + 3.0
    found = fit(problem(), Y)
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
    scale, value = bounds.scaled_into(problem(), Y)
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
    own = own_value(problem("equal"), w, Y, scale)
    least = U * abs(w @ q) + (2 + 8) * 4 * U**2 * (np.abs(w) @ q)
    assert w @ q + least <= own <= w @ q + 40 * least
    for value in (3.0, -3.0):
        found = upper_bound(value, 4.0)
        assert value / 4 + U * 0.75 <= found <= value / 4 + 8 * U * 0.75


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


def forming(weights, height, mass):
    """What rounding can do to L(w) − σM: a sum of `degree` weights, a product, a difference."""
    degree = np.bincount(EDGES.ravel(), minlength=5)
    rows = np.zeros(5)
    np.add.at(rows, EDGES.ravel(), np.repeat(np.abs(weights), 2))
    return float(np.max((gamma(degree) * rows + 2 * U * height * mass) / mass))


@pytest.mark.parametrize("mass", [np.ones(5), MASS], ids=["ones", "masses"])
def test_floors_of_the_second_eigenvalue_pay_for_rounding(mass):
    weights = np.array([1.0, 2.0, 1.0, 3.0, 1.0, 0.5, 2.0])
    stated = problem(mass=mass)
    root = 1 / np.sqrt(mass)
    L = stated.laplacian(weights).toarray()
    second = np.linalg.eigvalsh(root[:, None] * L * root)[1]
    height = 0.9 * second
    A = L - height * np.diag(mass) + np.outer(mass, 2 * height * mass / mass.sum())
    formed = forming(weights, height, mass)
    # Cholesky: |E_ij| ≤ γ_{n+1}√(a_ii a_jj) (Higham 10.5), so the form is γ Σ a_ii/m_i.
    factored = gamma(5 + 1) * np.sum(np.diagonal(A) / mass)
    found = cholesky_floor(stated, weights, height)
    least = factored + formed + 3 * U * 2 * height
    assert height - found >= least
    assert height - found <= 12 * least
    count, error = eigenvalues_below(stated, weights, height)
    assert count == 1
    assert formed <= error <= 12 * formed
    assert spectral_floor.proved_floor(stated, weights, height) <= height - error
    # In double-doubles: 16(n + 16)²u² of the diagonal, and of the sizes of its sums.
    rows = np.max((np.abs(L).sum(axis=1) + height * mass) / mass)
    least = 16 * 21**2 * U**2 * (np.sum(np.diagonal(A) / mass) + rows)
    found = precise_floor(stated, weights, height)
    assert height - found >= least
    assert height - found <= 6 * least + 8 * U * height


def test_what_is_left_of_a_height_is_rounded_down():
    less = spectral_floor._less
    assert 1 - 0.25 - 40 * U <= less(1.0, 0.25) <= (1 - 0.25) * (1 - 3 * U)
    assert less(1.0, 0.0) < 1.0
    assert less(1.0, 1.0) == 0.0
    assert less(np.inf, 1.0) == 0.0

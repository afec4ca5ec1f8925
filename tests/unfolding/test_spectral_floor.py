"""Floors under the second eigenvalue: reached, and paying for their rounding."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.unfolding import UnfoldingProblem, spectral_floor
from dualfold.unfolding.spectral_floor import cholesky_floor


@pytest.mark.parametrize("n", [9, 30])
def test_a_cholesky_floor_pays_what_higham_asks(n):
    """λ₂ ≥ σ − γ_(n+1) Σ a_ii/m_i (theorem 10.5), at least."""
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem, w = UnfoldingProblem(n, path, np.ones(n - 1)), np.full(n - 1, 64.0)
    height = 0.5 * 64 * (2 - 2 * np.cos(np.pi / n))
    diagonal = problem.laplacian(w).diagonal() - height + 2 * height / n
    paid = height - cholesky_floor(problem, w, height)
    assert paid >= (n + 1) * 2.0**-53 * diagonal.sum()
    assert paid <= 8 * (n + 1) * 2.0**-53 * diagonal.sum() + 1e-12


X = np.random.default_rng(0).normal(size=(120, 4))


def test_sparse_proofs_alone_reach_the_second_eigenvalue(monkeypatch):
    monkeypatch.setattr(spectral_floor, "MAX_DENSE_ROWS", 0)
    monkeypatch.setattr(spectral_floor, "MAX_DOUBLE_DOUBLE_ROWS", 0)
    n = 9
    path = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    problem = UnfoldingProblem(n, path, np.ones(n - 1))
    second = 2 - 2 * np.cos(np.pi / n)
    found = spectral_floor.second_eigenvalue(problem, np.ones(n - 1), X[:n, :2])
    assert second * (1 - 1e-5) <= found.proved <= second
    dense = []
    monkeypatch.setattr(spectral_floor, "MAX_DENSE_ROWS", 20)
    monkeypatch.setattr(spectral_floor, "proved_floor", lambda *_: 0.0)
    plain = spectral_floor.cholesky_floor
    monkeypatch.setattr(
        spectral_floor, "cholesky_floor", lambda *given: dense.append(given[2]) or plain(*given)
    )
    found = spectral_floor.second_eigenvalue(problem, np.ones(n - 1), X[:n, :2])
    assert second * (1 - 1e-9) <= found.proved <= second
    assert dense == sorted(dense, reverse=True)  # further and further below

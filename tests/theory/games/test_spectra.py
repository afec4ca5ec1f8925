"""Bounds of least eigenvalues pay for rounding."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.kernels.arithmetic import intervals
from tests.proofs.coarse import patched


def test_least_eigenvalues_are_charged_for_their_trace(monkeypatch):
    eps = 2.0**-20
    patched(monkeypatch, intervals, EPS=eps)
    M, n = np.array([[1.0, 0.5], [0.5, 1.0]]), 2
    room = 2 * (n + 4) * eps * (2 + n * 0.5)
    height = 0.5 - room
    charged = 2 * (n + 4) * eps * (2 - 2 * height) + eps * height
    assert intervals._shifted_cholesky_bound(M, 0.5) == pytest.approx(height - charged, rel=1e-12)

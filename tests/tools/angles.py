"""Subspaces are compared by the angles between them."""

from __future__ import annotations

import numpy as np


def principal_sine(U, V, B=None):
    """The sine of the largest angle between two subspaces, in the inner product of B."""
    times = (lambda X: X) if B is None else B.times
    U = np.linalg.solve(np.linalg.cholesky(U.T @ times(U)), U.T).T
    V = np.linalg.solve(np.linalg.cholesky(V.T @ times(V)), V.T).T
    rest = V - U @ (U.T @ times(V))
    return float(np.sqrt(max(np.linalg.eigvalsh(rest.T @ times(rest)).max(), 0.0)))

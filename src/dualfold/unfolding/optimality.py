"""The conditions of Karush, Kuhn and Tucker for an unfolding, as numbers; none is a proof."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.spectral_floor import SecondEigenvalue, eigenvalues_below

# Eigenvalues of L as near to λ₂ as this, or as the root of the gap, count as equal to it.
CLUSTER = 1e-6


def conditions(
    problem: UnfoldingProblem, Y: Array, w: Array, second: SecondEigenvalue, gap: float
) -> dict[str, Any]:
    """Stationarity, slackness, rank and multiplicity of a certificate, by their names there."""
    Y = problem.centred(Y)
    known = second.ritz > 0 and np.isfinite(second.ritz)
    R = problem.laplacian(w / second.ritz if known else w) @ Y - problem.mass[:, None] * Y
    gram = Y.T @ Y
    size = float(np.sqrt(np.sum(gram**2)))
    off = float(np.sqrt(max(float(np.sum((R.T @ R) * gram)), 0.0)))
    loose = problem.squared - problem.squared_lengths(Y)
    total = float(np.abs(w) @ problem.squared)
    spectrum = np.linalg.eigvalsh((problem.mass[:, None] * Y).T @ Y)
    cluster = max(CLUSTER, float(np.sqrt(gap)) if np.isfinite(gap) else 0.0)
    multiplicity = None
    if known and second.factorised and cluster < 1:
        count, _ = eigenvalues_below(problem, w, second.ritz * (1 + cluster))
        multiplicity = None if count is None else max(0, count - 1)
    return {
        "stationarity": off / size if size else 0.0,
        "slackness": float(np.abs(w * loose).sum()) / total if total else 0.0,
        "rank": int(np.sum(spectrum > cluster * spectrum.sum())),
        "multiplicity": multiplicity,
        "cluster": cluster,
    }

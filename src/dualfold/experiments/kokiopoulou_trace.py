"""The trace theorem on random matrices: no orthonormal basis beats the eigenvectors."""

from __future__ import annotations

import numpy as np

from dualfold.experiments.finding import Experiment, Finding, Row, Setting


def trace_theorem(setting: Setting) -> Finding:
    """min tr(VᵀAV) over VᵀV = I is the sum of the smallest eigenvalues, max of the largest."""
    rng = setting.random()
    matrices, bases = setting.of((20, 50), (100, 500), (1_000, 2_000))
    below = above = reached = 0.0
    for _ in range(matrices):
        n = int(rng.integers(3, 12))
        d = int(rng.integers(1, n + 1))
        A = rng.standard_normal((n, n))
        A += A.T
        values, vectors = np.linalg.eigh(A)
        least, most = values[:d].sum(), values[n - d :].sum()
        scale = np.abs(values).sum()
        reached = max(reached, abs(np.trace(vectors[:, :d].T @ A @ vectors[:, :d]) - least) / scale)
        V = np.linalg.qr(rng.standard_normal((bases, n, d)))[0]
        traces = np.einsum("bij,ik,bkj->b", V, A, V)
        below = max(below, float(least - traces.min()) / scale)
        above = max(above, float(traces.max() - most) / scale)
    rows = (
        Row("a random basis below the sum of the smallest", 0.0, below, below < 1e-12, "≤ 1e-12"),
        Row("a random basis above the sum of the largest", 0.0, above, above < 1e-12, "≤ 1e-12"),
        Row("the eigenvectors off that sum", 0.0, reached, reached < 1e-12, "≤ 1e-12"),
    )
    sentence = (
        f"None of {matrices * bases:,} random bases on {matrices:,} random matrices beats the "
        "eigenvectors, which reach the bound."
    )
    return Finding(sentence, rows, notes=("Relative to the sum of |λ|.",))


EXPERIMENTS = (
    Experiment(
        "kokiopoulou-trace",
        "K",
        "§2, Theorem 2.1",
        "The trace theorem on random matrices",
        trace_theorem,
    ),
)

"""PCA: against the least it can do, and where the mean is far from 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.case import Answer, Case, Data, Side, ours, peer
from benchmarks.sets import far_from_zero, images
from benchmarks.verdicts import Certified, Fact, NoCopy, NoMoreThan


def angle_to_truth(answer: Answer, data: Data) -> dict[str, Any]:
    """The largest angle between the directions found and the true ones, by its sine."""
    found = np.linalg.qr(np.asarray(answer.components, dtype=float).T)[0]
    left = data.truth.T - found @ (found.T @ data.truth.T)
    return {"angle": float(np.linalg.norm(left, 2))}


PCA = {
    "pca-mnist": Case(
        "PCA, MNIST 70,000×784 float32 → 50",
        images(70_000),
        {
            "dualfold": ours("pca"),
            "floor": Side("floor:pca", "floor"),
            "scikit-learn": peer("scikit_learn:pca"),
        },
        (NoMoreThan(1.2, ("floor",)), NoMoreThan(1.0, ("scikit-learn",)), NoCopy(), Certified()),
    ),
    "pca-far-mean": Case(
        "PCA, 20,000×100 float64 → 10, the mean 10⁶ times the spread",
        far_from_zero(20_000, 100, 10, 1e6),
        {
            "dualfold": ours("pca", n_components=10),
            "scikit-learn": peer("scikit_learn:pca", n_components=10),
            "scikit-learn full": peer("scikit_learn:pca", n_components=10, svd_solver="full"),
        },
        # Rounding of a mean of 10⁶ is 10⁻¹⁰ of the spread; the gaps between the variances
        # (a hundredth of the first) turn that into 10⁻⁸.
        (Fact("angle", most=1e-6), Certified()),
        check=angle_to_truth,
    ),
}

"""Kernel PCA of images, and truncated SVD of texts."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.case import Answer, Case, Data, ours, peer
from benchmarks.sets import exact_images, texts
from benchmarks.verdicts import AsMuch, Certified, Fact, Faster, LessMemory, NoMoreThan

# About 1/(the variance of images).
GAMMA = 3e-7


def largest_residual(answer: Answer, data: Data) -> dict[str, Any]:
    """max ‖XᵀXv − σ²v‖/σ² over the components v, with σ = ‖Xv‖."""
    X, V = data.given, np.asarray(answer.components, dtype=float).T
    images = X @ V
    squares = np.square(images).sum(axis=0)
    residuals = np.linalg.norm(X.T @ images - V * squares, axis=0) / squares
    return {"residual": float(residuals.max()), "value": float(squares.sum())}


def kept_variance(answer: Answer, data: Data) -> dict[str, Any]:
    """The value of the trace problem."""
    assert answer.points is not None
    return {"value": float(np.square(answer.points).sum())}


def kernel_case(n: int) -> Case:
    """rbf of n images, 10 components."""
    return Case(
        f"kernel PCA (rbf), MNIST {n:,}×784 float64 → 10",
        exact_images(n),
        {
            "dualfold": ours("kernel_pca", gamma=GAMMA),
            "scikit-learn": peer("scikit_learn:kernel_pca", gamma=GAMMA),
            "scikit-learn arpack": peer(
                "scikit_learn:kernel_pca", gamma=GAMMA, eigen_solver="arpack"
            ),
        },
        (
            Faster(1.0, ("scikit-learn",)),
            LessMemory(1.2, "scikit-learn"),
            AsMuch("value", "scikit-learn", 1e-9),
            Certified(),
        ),
        check=kept_variance,
    )


KERNELS_AND_TEXTS = {
    "kernel-pca-2000": kernel_case(2_000),
    "kernel-pca-5000": kernel_case(5_000),
    "svd-texts": Case(
        "truncated SVD, TF-IDF of 20,000 texts × 50,000 words (sparse) → 100",
        texts(20_000, 50_000),
        {
            "dualfold": ours("truncated_svd"),
            "dualfold solve": ours("truncated_svd_solution", note="without the certificate"),
            "scikit-learn arpack": peer("scikit_learn:truncated_svd", algorithm="arpack"),
            "scikit-learn": peer("scikit_learn:truncated_svd", note="its default, five rounds"),
        },
        (
            NoMoreThan(1.0, ("scikit-learn arpack",), side="dualfold solve"),
            Fact("residual", most=1e-13, side="dualfold solve"),
            Certified(),
        ),
        check=largest_residual,
    ),
}

"""Lecture 3: encoder and decoder on MNIST, and the best approximation of rank M."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold import PCA
from dualfold.arrays import Array
from papers.figures.charts import Chart, Line, chart_figure
from papers.figures.lectures import images_figure
from papers.finding import Experiment, Finding, Row, Setting, theorem

SHOWN = (1, 5, 10, 50, 100, 300)  # numbers of components with a picture each
BLOCK = 5_000  # rows reconstructed at a time


def reconstruction(setting: Setting) -> Finding:
    """Mean squared error of x̃ = BBᵀx against M: the sum of the discarded eigenvalues."""
    n = setting.of(800, 5_000, 60_000)
    images = setting.images
    X = images.points[:n].astype(float) / float(images.points.max())
    model = PCA(svd_solver="covariance_eigh").fit(X)
    values, width = model.eigenvalues_, X.shape[1]
    total = float(values.sum())
    counts = [M for M in (1, 2, 5, 10, 20, 50, 100, 200, 300, 500) if width > M]
    rows, measured, worst = [], [], 0.0
    for M in counts:
        error = mean_square_error(X, model.mean_, model.components_[:M])
        discarded = float(values[M:].sum())
        measured.append(error)
        off = abs(error - discarded) / total
        worst = max(worst, off)
        rows.append(
            theorem(f"variance lost by our PCA, M = {M}", error / total,
                    equals=discarded / total, within=1e-10, about="Σ of the discarded λ")
        )  # fmt: skip
    whole = mean_square_error(X, model.mean_, model.components_)
    rows.append(theorem(f"the same, M = {width}", whole / total, at_most=1e-12))
    ninety = 1 + int(np.argmax(np.cumsum(values) / total >= 0.9))
    rows.append(_ninety_row(X, ninety))
    pixels = np.argsort(-X.var(axis=0))
    kept = [1 - float(X.var(axis=0)[pixels[:M]].sum()) / total for M in counts]
    sentence = (
        f"On {len(X):,} images of {width} pixels {ninety} components keep 90 % of the variance; "
        f"the measured error is the sum of the discarded eigenvalues to {worst:.1g} for every M."
    )
    lines = [
        Line("PCA, measured", counts, np.array(measured) / total),
        Line("Σ of the discarded λ", np.arange(1, len(values)),
             1 - np.cumsum(values)[:-1] / total, look="bound"),
        Line("the M pixels that vary most", counts, kept),
    ]  # fmt: skip
    chart = Chart(lines, "", "M", "share of the variance lost", x_scale="log")
    figures = (
        (
            "Error against the number of components, as a share of the variance.",
            chart_figure([chart]),
        ),
        ("Images and what M components make of them.", _decoded(X, images, model)),
    )
    notes = (setting.stand_in or f"The first {len(X):,} images of MNIST, pixels from 0 to 1.",)
    return Finding(sentence, tuple(rows), figures, notes)


def _ninety_row(X: Array, ninety: int) -> Row:
    """Cunha and Shin keep about 90 %: the estimator asked for that share takes as many."""
    kept = PCA(n_components=0.9).fit(X).n_components_
    return theorem("components that PCA(n_components=0.9) keeps", kept, equals=ninety,
                   about="the fewest that hold 90 % of the variance")  # fmt: skip


def low_rank(setting: Setting) -> Finding:
    """Eckart and Young: no matrix of rank M is nearer than the truncated SVD."""
    rng, n = setting.random(), setting.of(80, 200, 400)
    X = setting.images.points[:n].astype(float)
    X -= X.mean(axis=0)
    s = np.linalg.svd(X, compute_uv=False)
    rows, spectral, frobenius = list[Row](), list[float](), list[float]()
    for M in (1, 5, 20, 50):
        model = PCA(n_components=M, svd_solver="full").fit(X)
        truncated = model.inverse_transform(model.transform(X))
        rest = float(np.sqrt(np.square(s[M:]).sum()))
        others = rivals(X, truncated, M, rng)
        near = min(float(np.linalg.norm(X - other, 2)) / s[M] for other in others)
        whole = min(float(np.linalg.norm(X - other)) / rest for other in others)
        spectral.append(near - 1)
        frobenius.append(whole - 1)
        rows += [
            theorem(f"M = {M}: ‖X − X̃‖₂ of our PCA over σ_(M+1)",
                    np.linalg.norm(X - truncated, 2) / s[M], equals=1, within=1e-9),
            theorem(f"M = {M}: ‖X − X̃‖_F of our PCA over √Σσ²",
                    np.linalg.norm(X - truncated) / rest, equals=1, within=1e-9),
            theorem(f"M = {M}: the nearest rival's ‖·‖₂ over σ_(M+1)", near, at_least=1,
                    within=1e-12),
            theorem(f"M = {M}: the nearest rival's ‖·‖_F over √Σσ²", whole, at_least=1,
                    within=1e-12),
        ]  # fmt: skip
    sentence = (
        f"The truncated SVD is off by exactly the next singular value. Of {len(others)} rivals for "
        f"each M none is nearer: the nearest is farther by {max(min(spectral), 0):.1g} in the norm "
        f"‖·‖₂, where X̃ is not the only best matrix, and by {min(frobenius):.1g} in the Frobenius "
        "one."
    )
    notes = (
        f"{n:,} images; rivals are nearby and random subspaces, and X̃ shrunk.",
        setting.stand_in,
    )
    return Finding(sentence, tuple(rows), notes=tuple(note for note in notes if note))


def rivals(X: Array, truncated: Array, M: int, rng: np.random.Generator) -> list[Array]:
    """Other matrices of rank M: projections onto random and perturbed spaces, and a shrunk one."""
    others = [0.999 * truncated]
    _, _, Vt = np.linalg.svd(truncated, full_matrices=False)
    best = Vt[:M].T
    for size in (0.01, 0.1, 1.0, np.inf):
        noise = rng.standard_normal(best.shape) / np.sqrt(len(best))
        basis = np.linalg.qr(noise if np.isinf(size) else best + size * noise)[0]
        others.append(X @ basis @ basis.T)
    return others


def mean_square_error(X: Array, mean: Array, components: Array) -> float:
    """The mean of ‖x − x̃‖² over the rows, x̃ = mean + B(Bᵀ(x − mean)), by making every x̃."""
    total = 0.0
    for start in range(0, len(X), BLOCK):
        centred = X[start : start + BLOCK] - mean
        total += float(np.square(centred - (centred @ components.T) @ components).sum())
    return total / len(X)


def _decoded(X: Array, images: Any, model: PCA) -> Any:
    shown = [M for M in SHOWN if X.shape[1] > M]
    rows = []
    for digit in (3, 5, 7, 8):
        x = X[int(np.flatnonzero(images.labels[: len(X)] == digit)[0])]
        code = (x - model.mean_) @ model.components_.T
        each = [x, *(model.mean_ + code[:M] @ model.components_[:M] for M in shown)]
        rows.append([np.clip(one, 0, 1).reshape(images.shape) for one in each])
    return images_figure(rows, ["image", *(f"M = {M}" for M in shown)])


EXPERIMENTS = (
    Experiment(
        "shin-pca-mnist",
        "S",
        "lecture 3, Encoder and Decoder",
        "Reconstruction of digits against the number of components",
        reconstruction,
    ),
    Experiment(
        "shin-pca-low-rank", "S", "lecture 3, Low-Rank Approximations",
        "The best approximation of rank M", low_rank,
    ),
)  # fmt: skip

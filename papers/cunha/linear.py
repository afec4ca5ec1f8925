"""The equations of the paper's first part, PCA and MDS, with numbers put in."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist, squareform

from dualfold.arrays import Array
from dualfold.estimators import PCA, ClassicalMDS
from dualfold.weights.gram import centred_gram
from papers.finding import Experiment, Finding, Row, Setting, agrees


def linear_methods(setting: Setting) -> Finding:
    """(1)–(12): projection error, variance, Gram matrices, and the best of each rank."""
    rng = setting.random()
    n, D, r, tries = setting.of((40, 6, 2, 200), (200, 10, 3, 2_000), (500, 20, 3, 5_000))
    X = rng.standard_normal((n, D)) @ np.diag(np.linspace(3, 0.5, D)) @ _turn(rng, D)
    X -= X.mean(axis=0)
    rows = [*_projection_rows(X, r, rng, tries), *_gram_rows(X, r, rng, tries)]
    model = PCA(n_components=r).fit(X)
    # From the distances: from X, classical MDS would use the same algorithm as PCA.
    apart = squareform(pdist(X))
    by_mds = ClassicalMDS(n_components=r, metric="precomputed").fit_transform(apart)
    by_pca = model.transform(X)
    signs = np.sign(np.sum(by_pca * by_mds, axis=0))
    off = float(np.abs(by_pca - signs * by_mds).max())
    rows.append(agrees("PCA's outputs less MDS's from distances, signs aside", off, 1e-9))
    sigma, gram = np.linalg.eigvalsh(X.T @ X), np.linalg.eigvalsh(X @ X.T)
    rows.append(
        agrees(
            "eigenvalues of Σ less the leading ones of G",
            np.abs(sigma - gram[-D:]).max() / sigma[-1],
            1e-12,
            about="one is D×D, the other n×n: printed as the same product",
        )
    )
    share = float(model.explained_variance_ratio_.sum())
    sentence = (
        f"Error and variance add up to Σ‖x‖², no direction or matrix of rank {r} among {tries} "
        f"random ones beats the eigenvectors, and PCA and MDS give the same {r} coordinates to "
        f"{off:.0e} ({share:.0%} of the variance)."
    )
    return Finding(sentence, tuple(rows), notes=(f"{n} points in {D} dimensions.",))


def _turn(rng: np.random.Generator, size: int) -> Array:
    return np.asarray(np.linalg.qr(rng.standard_normal((size, size)))[0])


def _projection_rows(X: Array, r: int, rng: np.random.Generator, tries: int) -> list[Row]:
    """(1)–(7)."""
    n, D = X.shape
    U = _turn(rng, D)[:, :r]
    P, Y = U @ U.T, X @ U
    total = float(np.sum(X**2))
    error = float(np.sum((X - X @ P) ** 2))
    spread = float(np.sum(pdist(Y) ** 2)) / n  # each pair twice in the sum, over 2n
    S = X.T @ X
    values, vectors = np.linalg.eigh(S)
    first, second = vectors[:, -1], vectors[:, -2]
    directions = rng.standard_normal((tries, D))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    best = float(np.einsum("ti,ij,tj->t", directions, S, directions).max() / values[-1])
    beside = directions - np.outer(directions @ first, first)
    beside /= np.linalg.norm(beside, axis=1, keepdims=True)
    next_best = float(np.einsum("ti,ij,tj->t", beside, S, beside).max() / values[-2])
    below = min(
        float(np.sum((X - X @ V @ V.T) ** 2))
        for V in (_turn(rng, D)[:, :r] for _ in range(tries // 10))
    )
    left = float(values[:-r].sum())
    return [
        agrees(
            "(1) ‖P² − P‖ + ‖P − Pᵀ‖", np.linalg.norm(P @ P - P) + np.linalg.norm(P - P.T), 1e-12
        ),
        agrees(
            "(2), (3) (Σ‖x − Px‖² + Σ‖y‖²)/Σ‖x‖²", (error + np.sum(Y**2)) / total, 1e-12, paper=1.0
        ),
        agrees("(4) Σ‖y_i − y_j‖²/2n over Σ‖y‖²", spread / np.sum(Y**2), 1e-12, paper=1.0),
        Row("(1) smallest error of random P over the least", "≥ 1", below / left, below >= left),
        Row("(5) largest αᵀΣα/λ₁ of random α", "≤ 1", best, best <= 1 + 1e-12),
        agrees(
            "(6) ‖Σα − λα‖/λ", np.linalg.norm(S @ first - values[-1] * first) / values[-1], 1e-12
        ),
        Row("(7) largest αᵀΣα/λ₂ of random α ⊥ α₁", "≤ 1", next_best, next_best <= 1 + 1e-12),
        agrees(
            "(7) covariance of the first two, α₁ᵀΣα₂/λ₁", first @ S @ second / values[-1], 1e-12
        ),
    ]


def _gram_rows(X: Array, r: int, rng: np.random.Generator, tries: int) -> list[Row]:
    """(8)–(12)."""
    n = len(X)
    G = X @ X.T
    size = float(np.linalg.norm(G))
    values, vectors = np.linalg.eigh(G)
    lead, top = values[::-1][:r], vectors[:, ::-1][:, :r]
    Y = top * np.sqrt(lead)
    K = Y @ Y.T
    least = float(np.sum(values[:-r] ** 2))
    reached = float(np.linalg.norm(G - K) ** 2)
    # Other matrices of rank r: projections of G onto random subspaces, and near the best one.
    closest = np.inf
    for trial in range(tries // 10):
        near = top if trial % 2 else np.zeros_like(top)
        Q = np.linalg.qr(near + 0.05 * rng.standard_normal((n, r)))[0]
        closest = min(closest, float(np.linalg.norm(G - Q @ (Q.T @ G @ Q) @ Q.T) ** 2))
    centred = centred_gram(squareform(pdist(X)))
    return [
        agrees("(9) smallest eigenvalue of G over the largest", values[0] / values[-1], 1e-12),
        agrees("(10) ‖−½HDH − G‖/‖G‖", np.linalg.norm(centred - G) / size, 1e-10),
        agrees("(8), (11) ‖G − K‖²/Σ_(k>r) λ_k²", reached / least, 1e-8, paper=1.0),
        Row("(11) least ‖G − A‖² of random A, of that", "≥ 1", closest / least, closest >= least),
        agrees("(12) ‖YYᵀ − Σ λ v vᵀ‖/‖G‖", np.linalg.norm(K - (top * lead) @ top.T) / size, 1e-12),
    ]


EXPERIMENTS = (
    Experiment(
        "cunha-linear", "C", "(1)–(12)", "PCA and MDS, equation by equation", linear_methods
    ),
)

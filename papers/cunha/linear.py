"""The equations of the paper's first part, PCA and MDS, with numbers put in."""

from __future__ import annotations

from functools import partial
from operator import eq

import numpy as np
from scipy.spatial.distance import pdist, squareform

from dualfold import PCA, ClassicalMDS, Isomap
from dualfold.arrays import Array
from dualfold.weights import centred_gram
from papers.finding import Experiment, Finding, Row, Setting, claim, identity, theorem


def linear_methods(setting: Setting) -> Finding:
    """(1)–(12): projection error, variance, Gram matrices, and the best of each rank."""
    rng = setting.random()
    n, D, r, tries = setting.of((40, 6, 2, 200), (200, 10, 3, 2_000), (500, 20, 3, 5_000))
    X = rng.standard_normal((n, D)) @ np.diag(np.linspace(3, 0.5, D)) @ _turn(rng, D)
    X -= X.mean(axis=0)
    model = PCA(n_components=r).fit(X)
    # From the distances: from X, classical MDS would use the same algorithm as PCA.
    apart = squareform(pdist(X))
    by_mds = ClassicalMDS(n_components=r, metric="precomputed").fit_transform(apart)
    by_pca = model.transform(X)
    signs = np.sign(np.sum(by_pca * by_mds, axis=0))
    off = float(np.abs(by_pca - signs * by_mds).max())
    rows = [
        *_projection_rows(X, model, rng, tries),
        *_gram_rows(X, by_mds, rng, tries),
        theorem("our PCA's outputs less our MDS's from distances, signs aside", off, at_most=1e-9),
        *_gap_rows(rng, n),
    ]
    share = float(model.explained_variance_ratio_.sum())
    sentence = (
        f"Error and variance add up to Σ‖x‖², no direction or matrix of rank {r} among {tries} "
        f"random ones beats ours, and our PCA and MDS give the same {r} coordinates to "
        f"{off:.0e} ({share:.0%} of the variance)."
    )
    return Finding(sentence, tuple(rows), notes=(f"{n} points in {D} dimensions.",))


def _turn(rng: np.random.Generator, size: int) -> Array:
    return np.asarray(np.linalg.qr(rng.standard_normal((size, size)))[0])


def _projection_rows(X: Array, model: PCA, rng: np.random.Generator, tries: int) -> list[Row]:
    """(1)–(7), with the U of our PCA."""
    n, D = X.shape
    U, values = model.components_.T, n * model.eigenvalues_
    P, Y, S = U @ U.T, model.transform(X), X.T @ X
    total, error = float(np.sum(X**2)), float(np.sum((X - model.inverse_transform(Y)) ** 2))
    spread = float(np.sum(pdist(Y) ** 2)) / n  # each pair twice in the sum, over 2n
    first, second = U[:, 0], U[:, 1]
    directions = rng.standard_normal((tries, D))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    best = float(np.einsum("ti,ij,tj->t", directions, S, directions).max() / values[0])
    beside = directions - np.outer(directions @ first, first)
    beside /= np.linalg.norm(beside, axis=1, keepdims=True)
    next_best = float(np.einsum("ti,ij,tj->t", beside, S, beside).max() / values[1])
    below = min(
        float(np.sum((X - X @ V @ V.T) ** 2))
        for V in (_turn(rng, D)[:, : U.shape[1]] for _ in range(tries // 10))
    )
    return [
        identity("(1) ‖P² − P‖ + ‖P − Pᵀ‖ of our P = UUᵀ",
                 np.linalg.norm(P @ P - P) + np.linalg.norm(P - P.T), 1e-12),
        identity("(2), (3) (Σ‖x − Px‖² + Σ‖y‖²)/Σ‖x‖²", (error + np.sum(Y**2)) / total, 1e-12,
                 equals=1),
        identity("(4) Σ‖y_i − y_j‖²/2n over Σ‖y‖²", spread / np.sum(Y**2), 1e-12, equals=1),
        theorem("(1) smallest error of random P over ours", below / error, at_least=1),
        theorem("(5) largest αᵀΣα of random α over our λ₁", best, at_most=1, within=1e-12),
        theorem("(6) ‖Σα − λα‖/λ", np.linalg.norm(S @ first - values[0] * first) / values[0],
                at_most=1e-10),
        theorem("(7) largest αᵀΣα of random α ⊥ α₁ over our λ₂", next_best, at_most=1,
                within=1e-12),
        theorem("(7) covariance of our first two, α₁ᵀΣα₂/λ₁", abs(first @ S @ second) / values[0],
                at_most=1e-10),
    ]  # fmt: skip


def _gram_rows(X: Array, Y: Array, rng: np.random.Generator, tries: int) -> list[Row]:
    """(8)–(12), with our Gram matrix of the distances and our MDS."""
    G, r = X @ X.T, Y.shape[1]
    ours = centred_gram(squareform(pdist(X)))
    size = float(np.linalg.norm(G))
    values, vectors = np.linalg.eigh(G)
    top = vectors[:, ::-1][:, :r]
    least, K = float(np.sum(values[:-r] ** 2)), Y @ Y.T
    # Other matrices of rank r: projections of G onto random subspaces, and near the best one.
    closest = np.inf
    for trial in range(tries // 10):
        near = top if trial % 2 else np.zeros_like(top)
        Q = np.linalg.qr(near + 0.05 * rng.standard_normal((len(X), r)))[0]
        closest = min(closest, float(np.linalg.norm(G - Q @ (Q.T @ G @ Q) @ Q.T) ** 2))
    reached = float(np.linalg.norm(G - K) ** 2)
    return [
        theorem("(9) smallest eigenvalue of our G over the largest",
                np.linalg.eigvalsh(ours)[0] / values[-1], at_least=0, within=1e-10),
        identity("(10) our −½HDH off G, ‖·‖/‖G‖", np.linalg.norm(ours - G) / size, 1e-10),
        theorem("(8), (11) ‖G − K‖² of our MDS over Σ_(k>r) λ_k²", reached / least, equals=1,
                within=1e-8),
        theorem("(11) least ‖G − A‖² of random A over ours", closest / reached, at_least=1),
        theorem("(12) ‖YYᵀ − Σ λ v vᵀ‖/‖G‖ of our Y",
                np.linalg.norm(K - (top * values[::-1][:r]) @ top.T) / size, at_most=1e-10),
    ]  # fmt: skip


def _gap_rows(rng: np.random.Generator, n: int) -> list[Row]:
    """A large gap after λ_r says that r dimensions are enough: n_components="auto"."""
    rows: list[Row] = []
    D = 20  # more than the ten among which the gap is looked for
    for r in (2, 4):
        scales = np.where(np.arange(D) < r, 3.0, 0.1)
        X = rng.standard_normal((n, D)) * scales @ _turn(rng, D)
        model = Isomap(n_components="auto", n_neighbors=n - 1).fit(X)
        rows.append(
            claim(f"coordinates that the widest eigengap gives, {r} strong directions", r,
                  model.embedding_.shape[1], partial(eq, r),
                  f"complete graph, so that it is MDS; {model.n_components_reason_}")
        )  # fmt: skip
    return rows


EXPERIMENTS = (
    Experiment(
        "cunha-linear", "C", "(1)–(12)", "PCA and MDS, equation by equation", linear_methods
    ),
)

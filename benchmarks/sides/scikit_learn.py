"""scikit-learn, every core allowed."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.decomposition import PCA, KernelPCA, TruncatedSVD
from sklearn.manifold import (
    TSNE,
    ClassicalMDS,
    Isomap,
    LocallyLinearEmbedding,
    SpectralEmbedding,
    trustworthiness,
)
from sklearn.neighbors import NearestNeighbors

from benchmarks.case import THREADS, Answer

K = 10


def pca(X: Any, *, n_components: int = 50, svd_solver: str = "auto") -> Answer:
    fitted = PCA(n_components, svd_solver=svd_solver, random_state=0)
    return Answer(fitted.fit_transform(X), components=fitted.components_)


def mds(X: Any, *, metric: str = "euclidean") -> Answer:
    return Answer(ClassicalMDS(metric=metric).fit_transform(X))


def kernel_pca(
    X: Any, *, gamma: float, n_components: int = 10, eigen_solver: str = "auto"
) -> Answer:
    fitted = KernelPCA(
        n_components, kernel="rbf", gamma=gamma, eigen_solver=eigen_solver, random_state=0
    )
    return Answer(fitted.fit_transform(X))


def truncated_svd(X: Any, *, n_components: int = 100, algorithm: str = "randomized") -> Answer:
    fitted = TruncatedSVD(n_components, algorithm=algorithm, random_state=0)
    return Answer(fitted.fit_transform(X), components=fitted.components_)


def isomap(X: Any) -> Answer:
    return Answer(Isomap(n_neighbors=K, n_jobs=-1).fit_transform(X))


def lle(X: Any, *, method: str = "standard") -> Answer:
    fitted = LocallyLinearEmbedding(n_neighbors=K, method=method, random_state=0, n_jobs=-1)
    return Answer(fitted.fit_transform(X))


def tsne(X: Any, *, rounds: int) -> Answer:
    return Answer(TSNE(max_iter=rounds, random_state=0, n_jobs=THREADS).fit_transform(X))


def eigenmaps(X: Any, *, eigen_solver: str = "arpack") -> Answer:
    fitted = SpectralEmbedding(
        2, affinity="nearest_neighbors", n_neighbors=K, eigen_solver=eigen_solver,
        random_state=0, n_jobs=-1,
    )  # fmt: skip
    return Answer(fitted.fit_transform(X))


def eigenmaps_amg(X: Any) -> Answer:
    """pyamg draws from NumPy's global generator, so that is seeded and put back."""
    import pyamg  # noqa: F401  (told apart from "not installed" inside scikit-learn)

    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    try:
        return eigenmaps(X, eigen_solver="amg")
    finally:
        np.random.set_state(before)  # noqa: NPY002


def neighbours(X: Any) -> Answer:
    return Answer(lists=NearestNeighbors(n_neighbors=K, n_jobs=-1).fit(X).kneighbors()[1])


def trustworthiness_of_map(mapped: Any) -> Answer:
    value = trustworthiness(mapped.X, mapped.Y, n_neighbors=K)
    return Answer(facts={"trustworthiness": float(value)})

"""Dimensionality reduction you can check.

Every embedding comes with a certificate, computed from the problem and the answer
alone, that says how far from optimal it can be.

    import dualfold
    graph = dualfold.graph.knn(X, 10)
    embedding = dualfold.embed(dualfold.methods.eigenmaps(graph))
    print(embedding.certificate)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from dualfold import (
        data,
        descent,
        errors,
        estimators,
        games,
        graph,
        maps,
        methods,
        programs,
        quality,
        saved,
        trace,
        unfolding,
        view,
        weights,
    )
    from dualfold.embedding import Embedding, embed
    from dualfold.estimators import (
        PCA,
        ClassicalMDS,
        Isomap,
        LaplacianEigenmaps,
        LocalityPreservingProjection,
        LocallyLinearEmbedding,
        MaximumVarianceUnfolding,
        NeighborhoodPreservingProjection,
        OrthogonalLPP,
        OrthogonalNPP,
        PointPCA,
        RandomProjection,
        SpectralEmbedding,
    )
    from dualfold.graph import Graph
    from dualfold.quality import (
        QualityReport,
        continuity,
        residual_variance,
        t_similarity,
        trustworthiness,
    )
    from dualfold.trace import Certificate, TraceProblem, certify

# Names are looked up when first used: `import dualfold` itself loads nothing.
_HOMES = {
    "Certificate": "dualfold.trace",
    "ClassicalMDS": "dualfold.estimators",
    "Embedding": "dualfold.embedding",
    "Graph": "dualfold.graph",
    "Isomap": "dualfold.estimators",
    "LaplacianEigenmaps": "dualfold.estimators",
    "LocallyLinearEmbedding": "dualfold.estimators",
    "MaximumVarianceUnfolding": "dualfold.estimators",
    "SpectralEmbedding": "dualfold.estimators",
    "LocalityPreservingProjection": "dualfold.estimators",
    "NeighborhoodPreservingProjection": "dualfold.estimators",
    "OrthogonalLPP": "dualfold.estimators",
    "OrthogonalNPP": "dualfold.estimators",
    "PCA": "dualfold.estimators",
    "PointPCA": "dualfold.estimators",
    "QualityReport": "dualfold.quality",
    "RandomProjection": "dualfold.estimators",
    "TraceProblem": "dualfold.trace",
    "certify": "dualfold.trace",
    "continuity": "dualfold.quality",
    "embed": "dualfold.embedding",
    "residual_variance": "dualfold.quality",
    "t_similarity": "dualfold.quality",
    "trustworthiness": "dualfold.quality",
}
_ROOMS = (
    "data",
    "descent",
    "errors",
    "estimators",
    "experiments",
    "games",
    "graph",
    "maps",
    "methods",
    "programs",
    "quality",
    "saved",
    "trace",
    "unfolding",
    "view",
    "weights",
)

__all__ = [
    "PCA",
    "Certificate",
    "ClassicalMDS",
    "Embedding",
    "Graph",
    "Isomap",
    "LaplacianEigenmaps",
    "LocalityPreservingProjection",
    "LocallyLinearEmbedding",
    "MaximumVarianceUnfolding",
    "NeighborhoodPreservingProjection",
    "OrthogonalLPP",
    "OrthogonalNPP",
    "PointPCA",
    "QualityReport",
    "RandomProjection",
    "SpectralEmbedding",
    "TraceProblem",
    "__version__",
    "certify",
    "continuity",
    "data",
    "descent",
    "embed",
    "errors",
    "estimators",
    "experiments",
    "games",
    "graph",
    "maps",
    "methods",
    "programs",
    "quality",
    "residual_variance",
    "saved",
    "t_similarity",
    "trace",
    "trustworthiness",
    "unfolding",
    "view",
    "weights",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"dualfold.{name}")
    raise AttributeError(f"module 'dualfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

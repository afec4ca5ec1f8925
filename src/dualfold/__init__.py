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
from typing import Any

__version__ = "0.1.0"

# Names are looked up when first used: `import dualfold` itself loads nothing. Type checkers read
# them in __init__.pyi, which docs/generated.py writes.
_HOMES = {
    "Audit": "dualfold.auditing",
    "Certificate": "dualfold.certificate",
    "Embedding": "dualfold.embedding",
    "Graph": "dualfold.graph",
    "QualityReport": "dualfold.quality",
    "TraceProblem": "dualfold.trace",
    "audit": "dualfold.auditing",
    "certify": "dualfold.trace",
    "continuity": "dualfold.quality",
    "embed": "dualfold.embedding",
    "recommend": "dualfold.recommendation",
    "residual_variance": "dualfold.quality",
    "t_similarity": "dualfold.quality",
    "trustworthiness": "dualfold.quality",
}
_ROOMS = (
    "auditing",
    "data",
    "errors",
    "estimators",
    "forces",
    "games",
    "graph",
    "maps",
    "methods",
    "programs",
    "quality",
    "recommendation",
    "saved",
    "scale",
    "trace",
    "unfolding",
    "view",
    "weights",
)


def _estimators() -> dict[str, str]:
    """Those of the descriptions."""
    from dualfold.descriptions import ESTIMATORS

    return dict.fromkeys(ESTIMATORS, "dualfold.estimators")


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"dualfold.{name}")
    if name == "__all__":
        return sorted([*_HOMES, *_estimators(), *_ROOMS, "__version__"])
    homes = _HOMES if name in _HOMES or name.startswith("_") else _estimators()
    if name in homes:
        return getattr(import_module(homes[name]), name)
    raise AttributeError(f"module 'dualfold' has no attribute {name!r}")


def __dir__() -> list[str]:
    return list(__getattr__("__all__"))

"""Dimensionality reduction you can check.

Every fit returns a certificate, computed from the problem and the answer alone: a proved bound of
the distance from the optimum where one exists, and a plain "no bound" where none is known (t-SNE).

>>> import dualfold
>>> X = dualfold.data.swiss_roll(100, random_state=0).points
>>> dualfold.Isomap(n_neighbors=8).fit(X).certificate_.level
'proved'

The same in its parts, as building blocks:

>>> problem = dualfold.methods.isomap(dualfold.graph.knn(X, 8))
>>> dualfold.embed(problem).certificate.level
'proved'
"""

from __future__ import annotations

import os
import sys
import time
from importlib import import_module
from types import FrameType
from typing import Any

__version__ = "0.1.0"

# Names are looked up when first used: `import dualfold` itself loads nothing. Type checkers read
# them in __init__.pyi, which docs/generated.py writes.
_HOMES = {
    "AlignedMaps": "dualfold.models.aligned_maps",
    "Audit": "dualfold.judging",
    "Certificate": "dualfold.certificate",
    "Embedding": "dualfold.embedding",
    "Exploration": "dualfold.exploration",
    "Graph": "dualfold.graph",
    "QualityReport": "dualfold.quality",
    "TraceProblem": "dualfold.trace",
    "UpdatedMap": "dualfold.models",
    "audit": "dualfold.judging",
    "certify": "dualfold.trace",
    "continuity": "dualfold.quality",
    "embed": "dualfold.embedding",
    "explore": "dualfold.exploration",
    "recommend": "dualfold.judging.recommendation",
    "residual_variance": "dualfold.quality",
    "t_similarity": "dualfold.quality",
    "trustworthiness": "dualfold.quality",
}
_ROOMS = (
    "anndata",
    "data",
    "errors",
    "exploration",
    "games",
    "graph",
    "judging",
    "methods",
    "point_pca",
    "programs",
    "quality",
    "recommendation",
    "saved",
    "scale",
    "text",
    "trace",
    "unfolding",
    "view",
    "weights",
)


def _estimators() -> dict[str, str]:
    """Those of the descriptions."""
    from dualfold.methods.descriptions import ESTIMATOR_MODULES

    return {name: f"dualfold.methods._{module}" for name, module in ESTIMATOR_MODULES.items()}


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


def _wait_for_imports(longest: float = 60.0) -> None:
    """Before a fork: wait until other threads have imported our modules, at most `longest` seconds.

    A fork copies Python's lock of each module that another thread is importing. No thread of the
    new process releases it, so the first use of the module there would never end. Our modules load
    when first used, so this would happen to a fork while a thread fits for the first time. An
    import takes 2 s of a processor's time, and on a busy machine more than 10 s of the clock.
    """
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return  # a module forks while it is imported: it would wait for itself
        frame = frame.f_back
    until = time.monotonic() + longest
    while _being_imported() and time.monotonic() < until:
        time.sleep(0.005)


def _being_imported() -> bool:
    ours = [module for name, module in list(sys.modules.items()) if name.startswith("dualfold.")]
    if any(getattr(module.__spec__, "_initializing", False) for module in ours):
        return True
    # A module whose file is still looked for is locked, too, and not yet among sys.modules.
    locks = getattr(sys.modules.get("_frozen_importlib"), "_module_locks", {})
    known = [lock() for name, lock in list(locks.items()) if name.startswith("dualfold")]
    return any(getattr(lock, "owner", None) is not None for lock in known)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait_for_imports)

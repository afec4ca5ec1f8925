"""Matrices of graphs and rows: Laplacians, reconstruction weights, Gram and scatter matrices."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualfold.weights.covariance import scatter
    from dualfold.weights.gram import centred_gram, point_gram
    from dualfold.weights.laplacians import (
        affinity,
        density_laplacian,
        heat_laplacian,
        laplacian_of,
        weighted_laplacian,
    )
    from dualfold.weights.local_tangents import tangent_alignment, tangent_hessian
    from dualfold.weights.reconstruction import reconstruction_error, reconstruction_weights

__all__ = [
    "affinity",
    "centred_gram",
    "density_laplacian",
    "heat_laplacian",
    "laplacian_of",
    "point_gram",
    "reconstruction_error",
    "reconstruction_weights",
    "scatter",
    "tangent_alignment",
    "tangent_hessian",
    "weighted_laplacian",
]
# Loaded when first used: PCA needs the scatter, and no graph.
_NAMES_BY_MODULE = {
    "laplacians": (
        "affinity",
        "density_laplacian",
        "heat_laplacian",
        "laplacian_of",
        "weighted_laplacian",
    ),
    "covariance": ("scatter",),
    "gram": ("centred_gram", "point_gram"),
    "local_tangents": ("tangent_alignment", "tangent_hessian"),
    "reconstruction": ("reconstruction_error", "reconstruction_weights"),
}
_MODULE_OF = {name: home for home, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'dualfold.weights' has no attribute {name!r}")
    return getattr(import_module(f"dualfold.weights.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__

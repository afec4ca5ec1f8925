"""Matrices of graphs and rows: Laplacians, reconstruction weights, Gram and scatter matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dualfold.lazy_names import lazy_names

if TYPE_CHECKING:
    from dualfold.weights.column_moments import column_means
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
    from dualfold.weights.reconstruction import (
        reconstruction_error,
        reconstruction_null_vectors,
        reconstruction_weights,
    )

__all__ = [
    "affinity",
    "centred_gram",
    "column_means",
    "density_laplacian",
    "heat_laplacian",
    "laplacian_of",
    "point_gram",
    "reconstruction_error",
    "reconstruction_null_vectors",
    "reconstruction_weights",
    "scatter",
    "tangent_alignment",
    "tangent_hessian",
    "weighted_laplacian",
]
# Loaded when first used: PCA needs the scatter, and no graph.
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "affinity": "laplacians",
        "centred_gram": "gram",
        "column_means": "column_moments",
        "density_laplacian": "laplacians",
        "heat_laplacian": "laplacians",
        "laplacian_of": "laplacians",
        "point_gram": "gram",
        "reconstruction_error": "reconstruction",
        "reconstruction_null_vectors": "reconstruction",
        "reconstruction_weights": "reconstruction",
        "scatter": "covariance",
        "tangent_alignment": "local_tangents",
        "tangent_hessian": "local_tangents",
        "weighted_laplacian": "laplacians",
    },
)

"""Graph → matrices: Laplacians, reconstruction weights, Gram matrices."""

from dualfold.weights.gram import centred_gram, column_means, scatter
from dualfold.weights.laplacian import (
    binary_laplacian,
    density_laplacian,
    heat_laplacian,
    heat_width,
)
from dualfold.weights.local_tangents import tangent_alignment, tangent_hessian
from dualfold.weights.null_vectors import reconstruction_null_vectors
from dualfold.weights.reconstruction import reconstruction_weights
from dualfold.weights.several_weights import several_weights

__all__ = [
    "binary_laplacian",
    "centred_gram",
    "column_means",
    "density_laplacian",
    "heat_laplacian",
    "heat_width",
    "reconstruction_null_vectors",
    "reconstruction_weights",
    "scatter",
    "several_weights",
    "tangent_alignment",
    "tangent_hessian",
]

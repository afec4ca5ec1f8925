"""Graph → matrices: Laplacians, reconstruction weights, Gram matrices."""

from dualfold.weights.gram import centred_gram, column_means, scatter
from dualfold.weights.laplacian import (
    binary_laplacian,
    density_laplacian,
    heat_laplacian,
    heat_width,
)
from dualfold.weights.reconstruction import reconstruction_weights

__all__ = [
    "binary_laplacian",
    "centred_gram",
    "column_means",
    "density_laplacian",
    "heat_laplacian",
    "heat_width",
    "reconstruction_weights",
    "scatter",
]

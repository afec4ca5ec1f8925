"""Graph → matrices: Laplacians, reconstruction weights, Gram matrices, row spaces."""

from dualfold.weights.gram import centred_gram, point_gram, scatter
from dualfold.weights.laplacian import (
    binary_laplacian,
    density_laplacian,
    heat_laplacian,
    heat_width,
    weighted_laplacian,
)
from dualfold.weights.reconstruction import reconstruction_error, reconstruction_weights
from dualfold.weights.reduction import RowSpace, row_space
from dualfold.weights.rows import column_deviations, column_means

__all__ = [
    "RowSpace",
    "binary_laplacian",
    "centred_gram",
    "column_deviations",
    "column_means",
    "density_laplacian",
    "heat_laplacian",
    "heat_width",
    "point_gram",
    "reconstruction_error",
    "reconstruction_weights",
    "row_space",
    "scatter",
    "weighted_laplacian",
]

"""From graphs to matrices: Laplacians, reconstruction weights, Gram matrices, row spaces."""

from dualfold.data.column_moments import column_deviations, column_means
from dualfold.weights.affinity import (
    Affinity,
    affinity,
    density_laplacian,
    heat_laplacian,
    heat_width,
    laplacian_of,
    weighted_laplacian,
)
from dualfold.weights.covariance import scatter
from dualfold.weights.gram import centred_gram, point_gram
from dualfold.weights.local_tangents import tangent_alignment, tangent_hessian
from dualfold.weights.reconstruction import (
    reconstruction_error,
    reconstruction_null_vectors,
    reconstruction_weights,
    several_weights,
)
from dualfold.weights.reduction import RowSpace, row_space

__all__ = [
    "Affinity",
    "RowSpace",
    "affinity",
    "centred_gram",
    "column_deviations",
    "column_means",
    "density_laplacian",
    "heat_laplacian",
    "heat_width",
    "laplacian_of",
    "point_gram",
    "reconstruction_error",
    "reconstruction_null_vectors",
    "reconstruction_weights",
    "row_space",
    "scatter",
    "several_weights",
    "tangent_alignment",
    "tangent_hessian",
    "weighted_laplacian",
]

"""Matrices of graphs and rows: Laplacians, reconstruction weights, Gram and scatter matrices."""

from dualfold.weights.affinity import (
    affinity,
    density_laplacian,
    heat_laplacian,
    laplacian_of,
    weighted_laplacian,
)
from dualfold.weights.covariance import scatter
from dualfold.weights.gram import centred_gram, point_gram
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

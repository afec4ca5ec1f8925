"""Classical multidimensional scaling."""

from __future__ import annotations

from typing import Any

from dualfold.maps.linear import Projected
from dualfold.trace.lift import scaled_vectors
from dualfold.trace.problem import TraceProblem
from dualfold.weights.covariance import scatter, scatter_error, scatter_kind
from dualfold.weights.gram import centred_gram, in_double, made_symmetric
from dualfold.weights.precision import centred_distances_error, in_words, joined_words
from dualfold.weights.rows import table


def mds(X: Any, *, n_components: int = 2) -> TraceProblem:
    """Keep the Euclidean distances between the rows of X.

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX

    The n×n Gram matrix HXXᵀH has the same eigenvalues as the D×D matrix A, and its
    scaled eigenvectors are the projections H·X·V: classical scaling of Euclidean
    distances *is* PCA, so nothing n×n is formed. For other distances see
    `mds_of_distances`.

    Torgerson, "Multidimensional scaling: theory and method" (1952).
    """
    data = table(X)
    total, mean = scatter(data)
    about = in_words(scatter_error(data, total, mean), total, scatter_kind(data))
    return TraceProblem(total, None, n_components, "max", lift=Projected(data, mean), about=about)


def mds_of_distances(distances: Any, *, n_components: int = 2) -> TraceProblem:
    """Points whose inner products match those that the distances imply.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH,   points VΛ^½

    Minimises the strain ‖K − YYᵀ‖. Distances that no Euclidean points have give K
    negative eigenvalues; directions with λ ≤ 0 get no extent. Δ is the mean of the squares
    there and back, which differ where distances were rounded.
    """
    K = centred_gram(in_double(distances))
    symmetric = made_symmetric(K)
    about = joined_words(symmetric, in_words(centred_distances_error(K, 0.0, K.dtype), K, K.dtype))
    return TraceProblem(K, None, n_components, "max", lift=scaled_vectors, about=about)

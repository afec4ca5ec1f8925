"""Classical multidimensional scaling."""

from __future__ import annotations

from typing import Any

from dualfold.maps.linear import Projected
from dualfold.trace.lift import scaled_vectors
from dualfold.trace.problem import TraceProblem
from dualfold.weights.covariance import scatter
from dualfold.weights.gram import centred_gram
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
    return TraceProblem(total, None, n_components, "max", lift=Projected(data, mean))


def mds_of_distances(distances: Any, *, n_components: int = 2) -> TraceProblem:
    """Points whose inner products match those that the distances imply.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH,   points VΛ^½

    Minimises the strain ‖K − YYᵀ‖. Distances that no Euclidean points have give K
    negative eigenvalues; directions with λ ≤ 0 get no extent.
    """
    return TraceProblem(centred_gram(distances), None, n_components, "max", lift=scaled_vectors)

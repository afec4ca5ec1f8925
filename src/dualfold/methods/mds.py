"""Classical multidimensional scaling."""

from __future__ import annotations

from typing import Any

from dualfold.methods.pca import centred_problem
from dualfold.trace.lift import ScaledVectorLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.gram import centred_gram, small_as_float64, symmetrize
from dualfold.weights.precision import centred_distances_error, joined_sentences, rounding_sentence


def mds(X: Any, *, n_components: int = 2) -> TraceProblem:
    """Keep the Euclidean distances between the rows of X.

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX       (D×D)
                                                  A = HXXᵀH      (n×n)

    The two have the same eigenvalues, and the scaled eigenvectors of the second are the
    projections H·X·V by those of the first: classical scaling of Euclidean distances *is* PCA.
    The smaller one is taken, or its products where both are too large. For other distances
    see `mds_of_distances`.

    Torgerson, "Multidimensional scaling: theory and method" (1952).
    """
    return centred_problem(X, n_components, 1)


def mds_of_distances(distances: Any, *, n_components: int = 2) -> TraceProblem:
    """Points whose inner products match those that the distances imply.

        maximise tr(VᵀKV)  subject to  VᵀV = I,   K = −½HΔH,   points VΛ^½

    Minimises the strain ‖K − YYᵀ‖. Distances that no Euclidean points have give K
    negative eigenvalues; directions with λ ≤ 0 get no extent. Δ is the mean of the squares
    there and back, which differ where distances were rounded.
    """
    K = centred_gram(small_as_float64(distances))
    symmetric = symmetrize(K)
    about = joined_sentences(
        symmetric, rounding_sentence(centred_distances_error(K, 0.0, K.dtype), K, K.dtype)
    )
    return TraceProblem(K, None, n_components, "max", lift=ScaledVectorLift(), about=about)

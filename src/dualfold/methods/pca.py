"""Principal component analysis."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Argument, InvalidInput
from dualfold.maps.linear import GramProjectionLift, ProjectionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.covariance import CentredScatter, scatter, scatter_error, scatter_kind
from dualfold.weights.gram import MAX_DENSE_ROWS, gram_kind, point_gram, point_gram_error
from dualfold.weights.precision import rounding_sentence
from dualfold.weights.row_passes import column_deviations, column_means, table

Matrix = Literal["auto", "covariance", "gram", "products"]

# Sparse X of more rows and columns than this is known by its products: the matrix (200 MB)
# would take longer to fill than a few hundred products take.
MOST_SPARSE_ROWS = 5_000


def pca(
    X: Any, *, n_components: int = 2, standardize: bool = False, matrix: Matrix = "auto"
) -> TraceProblem:
    """The directions along which the data varies most.

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX/n       (covariance, D×D)
                                                  A = HXXᵀH/n      (Gram, n×n)

    Preserves variance: no other linear map to so few dimensions loses less (Eckart and
    Young). Fails to see anything curved; a roll stays rolled. The value of the problem
    is the variance kept (divisor n), its points are H·X·V. Both matrices have the same
    values and points: with λ and c of the Gram matrix the points are c√(nλ) and the
    component is XᵀHc/√(nλ). `matrix`="auto" takes the smaller matrix, or where both are too large
    the covariance by its "products" alone (certified as measured, not proved); sparse X
    is not filled on any. `standardize` divides each feature by its standard deviation
    first (features that do not vary stay as they are). A is rounded as every number is;
    where that may count, `about` says how much (`dualfold.weights.precision`).

    Pearson, "On lines and planes of closest fit to systems of points in space" (1901).
    """
    data = table(X)
    scale = column_deviations(data, column_means(data)) if standardize else None
    return centred_problem(data, n_components, data.shape[0], matrix, scale)


def centred_problem(
    X: Any, count: int, divisor: int, matrix: Matrix = "auto", scale: Any = None
) -> TraceProblem:
    """XᵀHX/m or HXXᵀH/m with m = `divisor` and features divided by `scale` (None: 1)."""
    data = table(X)
    matrix = pca_matrix(data.shape, matrix, sparse=sp.issparse(data))
    if matrix == "covariance":
        total, mean = scatter(data)
        A: Any = (total if scale is None else total / np.outer(scale, scale)) / divisor
        error, kind = scatter_error(data, total, mean, scale) / divisor, scatter_kind(data)
    else:
        mean = column_means(data)
    if matrix == "gram":
        A = point_gram(data, mean, scale) / divisor
        error, kind = point_gram_error(data, divisor * A, mean, scale) / divisor, gram_kind(data)
    if matrix == "products":
        A = CentredScatter(data, mean, scale, divisor)
        error, kind = A.product_error, np.float64
    lift: Any = ProjectionLift(data, mean, scale)
    if matrix == "gram":
        lift = GramProjectionLift(data, mean, scale, divisor)
    about = rounding_sentence(error, A, kind)
    return TraceProblem(A, None, count, "max", lift=lift, about=about)


def pca_matrix(shape: tuple[int, int], matrix: Matrix = "auto", *, sparse: bool = False) -> Matrix:
    """The matrix to take for data of this shape: the smaller one, unless that is too large."""
    if matrix not in ("auto", "covariance", "gram", "products"):
        raise InvalidInput(
            Argument("matrix"), f" is {matrix!r}; it is 'auto', 'covariance', 'gram' or 'products'"
        )
    if matrix != "auto":
        return matrix
    if min(shape) > (MOST_SPARSE_ROWS if sparse else MAX_DENSE_ROWS):
        return "products"
    return "gram" if shape[0] < shape[1] else "covariance"

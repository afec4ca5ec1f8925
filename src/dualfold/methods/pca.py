"""Principal component analysis."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.maps.linear import Projected, ProjectedFromGram
from dualfold.trace.problem import TraceProblem
from dualfold.weights.covariance import CentredScatter, scatter
from dualfold.weights.gram import MOST_ROWS, point_gram
from dualfold.weights.rows import column_deviations, column_means, table

Road = Literal["auto", "covariance", "gram", "products"]

# Sparse X of more rows and columns than this is known by its products: the matrix (200 MB)
# would take longer to fill than a few hundred products take.
MOST_SPARSE_ROWS = 5_000


def pca(
    X: Any, *, n_components: int = 2, standardize: bool = False, road: Road = "auto"
) -> TraceProblem:
    """The directions along which the data varies most.

        maximise tr(VᵀAV)  subject to  VᵀV = I,   A = XᵀHX/n       (covariance, D×D)
                                                  A = HXXᵀH/n      (Gram, n×n)

    Preserves variance: no other linear map to so few dimensions loses less (Eckart and
    Young). Fails to see anything curved; a roll stays rolled. The value of the problem
    is the variance kept (divisor n), its points are H·X·V. Both roads have the same
    values and points: with λ and c of the Gram matrix the points are c√(nλ) and the
    component is XᵀHc/√(nλ). `road`="auto" takes the smaller matrix, or where both are too large
    the covariance by its "products" alone (certified as measured, not proved); sparse X
    is not filled on any. `standardize` divides each feature by its standard deviation
    first (features that do not vary stay as they are).

    Pearson, "On lines and planes of closest fit to systems of points in space" (1901).
    """
    data = table(X)
    n = data.shape[0]
    scale = column_deviations(data, column_means(data)) if standardize else None
    road = pca_road(data.shape, road, sparse=sp.issparse(data))
    if road == "products":
        mean = column_means(data)
        known = CentredScatter(data, mean, scale)
        return TraceProblem(known, None, n_components, "max", lift=Projected(data, mean, scale))
    if road == "gram":
        mean = column_means(data)
        products, lift = point_gram(data, mean, scale), ProjectedFromGram(data, mean, scale)
        return TraceProblem(products / n, None, n_components, "max", lift=lift)
    total, mean = scatter(data)
    total = total if scale is None else total / np.outer(scale, scale)
    return TraceProblem(total / n, None, n_components, "max", lift=Projected(data, mean, scale))


def pca_road(shape: tuple[int, int], road: Road = "auto", *, sparse: bool = False) -> Road:
    """The matrix to take for data of this shape: the smaller one, unless told or too large."""
    if road not in ("auto", "covariance", "gram", "products"):
        raise InvalidInput(f"road is {road!r}; it is 'auto', 'covariance', 'gram' or 'products'")
    if road != "auto":
        return road
    if min(shape) > (MOST_SPARSE_ROWS if sparse else MOST_ROWS):
        return "products"
    return "gram" if shape[0] < shape[1] else "covariance"

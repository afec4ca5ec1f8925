"""PCA by descent on the points or on the directions."""

from dualfold.theory.point_pca.certificate import certify_points
from dualfold.theory.point_pca.direction_descent import (
    averaged_directions,
    direction_error,
    direction_gradient,
)
from dualfold.theory.point_pca.point_descent import (
    descend_points,
    pair_forces,
    point_error,
    point_forces,
    point_gradient,
)
from dualfold.theory.point_pca.printed_forms import (
    algorithm_one,
    commutation_matrix,
    kronecker_gradient,
)

__all__ = [
    "algorithm_one",
    "averaged_directions",
    "certify_points",
    "commutation_matrix",
    "descend_points",
    "direction_error",
    "direction_gradient",
    "kronecker_gradient",
    "pair_forces",
    "point_error",
    "point_forces",
    "point_gradient",
]

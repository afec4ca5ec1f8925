"""PCA by descent, on the points or on the directions, and the forces that move the points."""

from dualfold.point_pca.algorithm_one import algorithm_one
from dualfold.point_pca.certificate import PointCertificate, certify_points
from dualfold.point_pca.direction_descent import (
    AveragedDescent,
    averaged_directions,
    direction_error,
    direction_gradient,
)
from dualfold.point_pca.kronecker import commutation_matrix, kronecker_gradient
from dualfold.point_pca.point_descent import (
    Forces,
    PointDescent,
    descend_points,
    pair_forces,
    point_error,
    point_forces,
    point_gradient,
)

__all__ = [
    "AveragedDescent",
    "Forces",
    "PointCertificate",
    "PointDescent",
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

"""Points that descend: PCA on the points or on the directions, and least stress."""

from dualfold.point_pca.certificate import PointCertificate, certify_points
from dualfold.point_pca.direction_descent import (
    AveragedDescent,
    averaged_directions,
    direction_error,
    direction_gradient,
)
from dualfold.point_pca.point_descent import (
    Forces,
    PointDescent,
    descend_points,
    pair_forces,
    point_error,
    point_forces,
    point_gradient,
)
from dualfold.point_pca.printed_forms import (
    algorithm_one,
    commutation_matrix,
    kronecker_gradient,
)
from dualfold.point_pca.stress import (
    StressCertificate,
    StressDescent,
    certify_stress,
    descend_stress,
    guttman_transform,
)

__all__ = [
    "AveragedDescent",
    "Forces",
    "PointCertificate",
    "PointDescent",
    "StressCertificate",
    "StressDescent",
    "algorithm_one",
    "averaged_directions",
    "certify_points",
    "certify_stress",
    "commutation_matrix",
    "descend_points",
    "descend_stress",
    "direction_error",
    "direction_gradient",
    "guttman_transform",
    "kronecker_gradient",
    "pair_forces",
    "point_error",
    "point_forces",
    "point_gradient",
]

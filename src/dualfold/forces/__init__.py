"""PCA by descent on the points themselves: objective, forces, certificate."""

from dualfold.forces.certificate import PointCertificate, certify_points
from dualfold.forces.directions import (
    AveragedDescent,
    averaged_directions,
    direction_error,
    direction_gradient,
)
from dualfold.forces.pairs import Forces, pair_forces, point_forces
from dualfold.forces.points import PointDescent, descended_points, point_error, point_gradient

__all__ = [
    "AveragedDescent",
    "Forces",
    "PointCertificate",
    "PointDescent",
    "averaged_directions",
    "certify_points",
    "descended_points",
    "direction_error",
    "direction_gradient",
    "pair_forces",
    "point_error",
    "point_forces",
    "point_gradient",
]

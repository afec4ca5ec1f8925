"""PCA by descent on the points themselves: objective, forces, certificate."""

from dualfold.descent.certificate import PointCertificate, certify_points
from dualfold.descent.forces import Forces, pair_forces, point_forces
from dualfold.descent.points import PointDescent, descended_points, point_error, point_gradient

__all__ = [
    "Forces",
    "PointCertificate",
    "PointDescent",
    "certify_points",
    "descended_points",
    "pair_forces",
    "point_error",
    "point_forces",
    "point_gradient",
]

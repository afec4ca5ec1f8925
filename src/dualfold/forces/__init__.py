"""Points that attract and repel: PCA by descent on the points, and t-SNE, with certificates."""

from dualfold.forces.certificate import PointCertificate, certify_points
from dualfold.forces.directions import (
    AveragedDescent,
    averaged_directions,
    direction_error,
    direction_gradient,
)
from dualfold.forces.pairs import Forces, pair_forces, point_forces
from dualfold.forces.points import PointDescent, descended_points, point_error, point_gradient
from dualfold.forces.tsne_certificate import TsneCertificate, certify_tsne
from dualfold.forces.tsne_descent import Descent, Look, Phase, descended
from dualfold.forces.tsne_objective import Objective, tsne_objective
from dualfold.forces.tsne_problem import TsneProblem

__all__ = [
    "AveragedDescent",
    "Descent",
    "Forces",
    "Look",
    "Objective",
    "Phase",
    "PointCertificate",
    "PointDescent",
    "TsneCertificate",
    "TsneProblem",
    "averaged_directions",
    "certify_points",
    "certify_tsne",
    "descended",
    "descended_points",
    "direction_error",
    "direction_gradient",
    "pair_forces",
    "point_error",
    "point_forces",
    "point_gradient",
    "tsne_objective",
]

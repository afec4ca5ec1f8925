"""Points that attract and repel: PCA by descent, t-SNE, neighbour maps with a bound."""

from dualfold.forces.certificate import PointCertificate, certify_points
from dualfold.forces.directions import (
    AveragedDescent,
    averaged_directions,
    direction_error,
    direction_gradient,
)
from dualfold.forces.fantope import Relaxed, relaxed
from dualfold.forces.homotopy import NeighborAnswer
from dualfold.forces.neighbor_bound import neighbor_bound
from dualfold.forces.neighbor_certificate import NeighborCertificate, certify_neighbors
from dualfold.forces.neighbors import NeighborProblem, divergence, neighbor_problem
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
    "NeighborAnswer",
    "NeighborCertificate",
    "NeighborProblem",
    "Objective",
    "Phase",
    "PointCertificate",
    "PointDescent",
    "Relaxed",
    "TsneCertificate",
    "TsneProblem",
    "averaged_directions",
    "certify_neighbors",
    "certify_points",
    "certify_tsne",
    "descended",
    "descended_points",
    "direction_error",
    "direction_gradient",
    "divergence",
    "neighbor_bound",
    "neighbor_problem",
    "pair_forces",
    "point_error",
    "point_forces",
    "point_gradient",
    "relaxed",
    "tsne_objective",
]

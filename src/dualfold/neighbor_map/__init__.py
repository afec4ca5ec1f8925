"""Neighbour maps by a Gaussian kernel, and a lower bound of the divergence of all such maps."""

from dualfold.neighbor_map.certificate import NeighborCertificate, certify_neighbors
from dualfold.neighbor_map.fantope import FantopeMinimum, fantope_minimum
from dualfold.neighbor_map.homotopy import NeighborAnswer
from dualfold.neighbor_map.lower_bound import neighbor_bound
from dualfold.neighbor_map.problem import NeighborProblem, divergence, neighbor_problem

__all__ = [
    "FantopeMinimum",
    "NeighborAnswer",
    "NeighborCertificate",
    "NeighborProblem",
    "certify_neighbors",
    "divergence",
    "fantope_minimum",
    "neighbor_bound",
    "neighbor_problem",
]

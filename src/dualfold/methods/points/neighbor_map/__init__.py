"""Neighbour maps by a Gaussian kernel, and a lower bound of the divergence of all such maps."""

from dualfold.methods.points.neighbor_map.certificate import NeighborCertificate, certify_neighbors
from dualfold.methods.points.neighbor_map.lower_bound import neighbor_bound
from dualfold.methods.points.neighbor_map.problem import neighbor_problem

__all__ = [
    "NeighborCertificate",
    "certify_neighbors",
    "neighbor_bound",
    "neighbor_problem",
]

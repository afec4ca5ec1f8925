"""Convex programs with both sides: a point, its multipliers, and the gap between them."""

from dualfold.duality.bounds import geodesic_bounds, second_eigenvalue
from dualfold.duality.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.duality.connections import Connections, connections
from dualfold.duality.contraction import Contraction, contracted
from dualfold.duality.interior_point import interior_point
from dualfold.duality.solution import Record, UnfoldingSolution
from dualfold.duality.unfold import Unfolding, unfold
from dualfold.duality.unfolding import UnfoldingProblem

__all__ = [
    "Connections",
    "Contraction",
    "Record",
    "Unfolding",
    "UnfoldingCertificate",
    "UnfoldingProblem",
    "UnfoldingSolution",
    "certify_unfolding",
    "connections",
    "contracted",
    "geodesic_bounds",
    "interior_point",
    "second_eigenvalue",
    "unfold",
]

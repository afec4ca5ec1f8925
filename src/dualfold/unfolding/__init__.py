"""Maximum variance unfolding: the problem as data, its solvers, and a proof from both sides."""

from dualfold.unfolding.bounds import geodesic_bounds
from dualfold.unfolding.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.unfolding.connections import Connections, connections
from dualfold.unfolding.contraction import Contraction, contraction_of
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import Record, UnfoldingSolution
from dualfold.unfolding.solvers import Unfolder, interior_point
from dualfold.unfolding.spectral_floor import second_eigenvalue
from dualfold.unfolding.unfold import Unfolding, unfold

__all__ = [
    "Connections",
    "Contraction",
    "Record",
    "Unfolder",
    "Unfolding",
    "UnfoldingCertificate",
    "UnfoldingProblem",
    "UnfoldingSolution",
    "certify_unfolding",
    "connections",
    "contraction_of",
    "geodesic_bounds",
    "interior_point",
    "second_eigenvalue",
    "unfold",
]

"""Maximum variance unfolding: the problem as data, its solvers, and a proof from both sides."""

from dualfold.unfolding.bounds import geodesic_bounds
from dualfold.unfolding.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.unfolding.connections import connections
from dualfold.unfolding.contraction import contraction_of
from dualfold.unfolding.duality import (
    dual_function,
    dual_slack,
    lagrangian,
    lowest_bend,
    optimality_residuals,
    weights_of_budget,
    weights_of_unit_bend,
)
from dualfold.unfolding.problem import UnfoldingProblem
from dualfold.unfolding.solution import UnfoldingSolution
from dualfold.unfolding.solvers import Unfolder, interior_point
from dualfold.unfolding.spectral_floor import second_eigenvalue
from dualfold.unfolding.unfold import Unfolding, unfold

__all__ = [
    "Unfolder",
    "Unfolding",
    "UnfoldingCertificate",
    "UnfoldingProblem",
    "UnfoldingSolution",
    "certify_unfolding",
    "connections",
    "contraction_of",
    "dual_function",
    "dual_slack",
    "geodesic_bounds",
    "interior_point",
    "lagrangian",
    "lowest_bend",
    "optimality_residuals",
    "second_eigenvalue",
    "unfold",
    "weights_of_budget",
    "weights_of_unit_bend",
]

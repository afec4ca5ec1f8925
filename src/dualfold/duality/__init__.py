"""Convex programs with both sides: a point, its multipliers, and the gap between them."""

from dualfold.duality.bounds import geodesic_bounds
from dualfold.duality.certificate import UnfoldingCertificate, certify_unfolding
from dualfold.duality.connections import Connections, connections
from dualfold.duality.contraction import Contraction, contracted
from dualfold.duality.interior_point import interior_point
from dualfold.duality.program_certificate import ProgramCertificate, certify_program
from dualfold.duality.program_solvers import ProgramAnswer, farkas_ray, solve_program
from dualfold.duality.programs import LinearProgram, QuadraticProgram
from dualfold.duality.ray_certificate import (
    RayCertificate,
    certify_infeasible,
    certify_unbounded,
)
from dualfold.duality.solution import Record, UnfoldingSolution
from dualfold.duality.spectral_floor import second_eigenvalue
from dualfold.duality.unfold import Unfolding, unfold
from dualfold.duality.unfolding import UnfoldingProblem

__all__ = [
    "Connections",
    "Contraction",
    "LinearProgram",
    "ProgramAnswer",
    "ProgramCertificate",
    "QuadraticProgram",
    "RayCertificate",
    "Record",
    "Unfolding",
    "UnfoldingCertificate",
    "UnfoldingProblem",
    "UnfoldingSolution",
    "certify_infeasible",
    "certify_program",
    "certify_unbounded",
    "certify_unfolding",
    "connections",
    "contracted",
    "farkas_ray",
    "geodesic_bounds",
    "interior_point",
    "second_eigenvalue",
    "solve_program",
    "unfold",
]

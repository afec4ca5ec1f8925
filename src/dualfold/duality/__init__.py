"""Convex programs with both sides: a point, its multipliers, and the gap between them."""

from dualfold.duality.program_certificate import ProgramCertificate, certify_program
from dualfold.duality.program_solvers import ProgramAnswer, farkas_ray, solve_program
from dualfold.duality.programs import LinearProgram, QuadraticProgram
from dualfold.duality.ray_certificate import (
    RayCertificate,
    certify_infeasible,
    certify_unbounded,
)

__all__ = [
    "LinearProgram",
    "ProgramAnswer",
    "ProgramCertificate",
    "QuadraticProgram",
    "RayCertificate",
    "certify_infeasible",
    "certify_program",
    "certify_unbounded",
    "farkas_ray",
    "solve_program",
]

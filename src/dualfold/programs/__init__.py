"""Linear and convex quadratic programs: as data, with their duals, and proofs of their answers."""

from dualfold.programs.certificate import ProgramCertificate, certify_program
from dualfold.programs.program import LinearProgram, QuadraticProgram
from dualfold.programs.rays import RayCertificate, certify_infeasible, certify_unbounded
from dualfold.programs.solve import ProgramAnswer, farkas_ray, solve_program

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

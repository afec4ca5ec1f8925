"""Linear and convex quadratic programs: as data, with their duals, and proofs of their answers."""

from dualfold.programs.certificate import ProgramCertificate, certify_program
from dualfold.programs.general_solution import GeneralAnswer, solve_general
from dualfold.programs.lagrangian import DualValue, GeneralProblem, Residuals, quadratic_dual
from dualfold.programs.program import LinearProgram, QuadraticProgram
from dualfold.programs.rays import RayCertificate, certify_infeasible, certify_unbounded
from dualfold.programs.solve import ProgramAnswer, farkas_ray, solve_program

__all__ = [
    "DualValue",
    "GeneralAnswer",
    "GeneralProblem",
    "LinearProgram",
    "ProgramAnswer",
    "ProgramCertificate",
    "QuadraticProgram",
    "RayCertificate",
    "Residuals",
    "certify_infeasible",
    "certify_program",
    "certify_unbounded",
    "farkas_ray",
    "quadratic_dual",
    "solve_general",
    "solve_program",
]

"""Linear and convex quadratic programs: as data, with their duals, and proofs of their answers."""

from dualfold.theory.programs.certificate import ProgramCertificate, certify_program
from dualfold.theory.programs.general_solution import solve_general
from dualfold.theory.programs.lagrangian import DualValue, GeneralProblem, Residuals, quadratic_dual
from dualfold.theory.programs.program import LinearProgram, QuadraticProgram
from dualfold.theory.programs.rays import certify_infeasible, certify_unbounded
from dualfold.theory.programs.solve import farkas_ray, solve_program

__all__ = [
    "DualValue",
    "GeneralProblem",
    "LinearProgram",
    "ProgramCertificate",
    "QuadraticProgram",
    "Residuals",
    "certify_infeasible",
    "certify_program",
    "certify_unbounded",
    "farkas_ray",
    "quadratic_dual",
    "solve_general",
    "solve_program",
]

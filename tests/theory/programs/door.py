"""Internal door: exact arithmetic of programs, which tests hold to fractions and brute force.

Everything else about programs is tested by the names of `dualfold.programs`.
"""

from __future__ import annotations

# The module whose unit of rounding is replaced by a coarse one (tests/proofs/coarse.py).
from dualfold.theory.programs import objective_bounds

# Units of a program: no entry may be lost in them, or another program would be certified.
from dualfold.theory.programs.balance import balanced_program

# A bound about points up to a size, for sizes that no answer of a solver has.
from dualfold.theory.programs.certificate import Certification

# Programs and systems in fractions.
from dualfold.theory.programs.exact import (
    Enclosure,
    ExactProgram,
    corrections,
    elimination_solution,
    enclosed_solution,
)

# Each term of a bound, against brute force.
from dualfold.theory.programs.objective_bounds import (
    Curvature,
    VariableBounds,
    curvature,
    eigenvalue_floor,
    enclosed_bound,
    enclosed_value,
    is_semidefinite,
    least_between,
    least_linear,
    lower_bound,
    quadratic_change,
)

__all__ = [
    "Certification",
    "Curvature",
    "Enclosure",
    "ExactProgram",
    "VariableBounds",
    "balanced_program",
    "corrections",
    "curvature",
    "eigenvalue_floor",
    "elimination_solution",
    "enclosed_bound",
    "enclosed_solution",
    "enclosed_value",
    "is_semidefinite",
    "least_between",
    "least_linear",
    "lower_bound",
    "objective_bounds",
    "quadratic_change",
]

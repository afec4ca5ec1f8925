"""The forces of t-SNE: Student's t with one degree of freedom, normalised over all pairs.

With t_ij = ‖y_i − y_j‖² the potential of the attraction is log(1 + t_ij), and the repulsion is
log Σ 1/(1 + t_ij).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.methods.points.forces import Attraction, Field, Forces, Repulsion
from dualfold.methods.points.objective import Objective
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.tsne.attraction import DoubleAttraction, PackedAttraction
from dualfold.methods.points.tsne.field import student_field
from dualfold.methods.points.tsne.repulsion import repulsion_for
from dualfold.methods.points.tsne.student_objective import student_objective


@dataclass(frozen=True)
class StudentForces(Forces):
    """Student's t: the only forces so far with a bound of their rounding (`student_objective`)."""

    name: ClassVar[str] = "Student's t"
    width: ClassVar[float] = 1.0
    least_step: ClassVar[float] = 50.0
    collapse_formula: ClassVar[str] = "1/λ = "

    def attraction(self, P: sp.csr_array, width: int, exact: bool) -> Attraction:
        return PackedAttraction(P) if width == 2 and not exact else DoubleAttraction(P)

    def repulsion(self, n: int, width: int, exact: bool, angle: float) -> Repulsion:
        return repulsion_for(n, width, exact, angle)

    def value(self, problem: AttractionProblem, strength: float, cost: float, Z: float) -> float:
        return float(strength * cost + np.log(Z) - problem.entropy)

    def step_length(self, n: int, strength: float) -> float:
        return n / strength / 4

    def objective(self, problem: AttractionProblem, Y: Array, n_jobs: int | None) -> Objective:
        return student_objective(problem, Y, n_jobs)

    def pull_weights(self, affinities: Array, squares: Array) -> Array:
        return affinities / (1.0 + squares)

    def field(self, points: Array) -> Field:
        return student_field(points)

    def collapse_attraction(self, eigenvalue: float) -> float:
        return 1 / eigenvalue if eigenvalue > 0 else float("inf")


STUDENT = StudentForces()

"""Attraction and repulsion as data: what a descent, a judgement and a rule for new rows ask.

Points y_i minimise

    F(Y) = ρ·Σ p_ij a(‖y_i − y_j‖²) + r(Y)

where p_ij are affinities of neighbours, a the potential of the attraction, ρ its strength, and r
the repulsion of all pairs. `Forces` owns a and r: how they are summed while points move, which step
is right for them, what the objective is and how far rounding can move it. The steps of a fit
(`points/fit.py`) know no formula.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, ClassVar, Protocol

import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.kernels.threads import Threads, row_slices

if TYPE_CHECKING:
    from dualfold.methods.points.objective import Objective
    from dualfold.methods.points.problem import AttractionProblem

Task = Callable[[], None]
# Repulsion of points that stay: the force on each of some other points.
Field = Callable[[Array], Array]


class Attraction(Protocol):
    """Attraction of neighbours: of every point, a quarter of its gradient."""

    def order(self, Y: Array) -> Array:
        """Order in which rows at these places are to be stored from now on."""

    def tasks(self, Y: Array, out: Array, parts: int) -> list[Task]:
        """Work that fills `out` for points in that order; parts may run side by side."""

    def costs(self, Y: Array, out: Array, parts: int) -> list[Task]:
        """Work that fills `out` with Σ_j p_ij a(t_ij), a number for each point."""


class Repulsion(Protocol):
    """Repulsion of all pairs: push/Z is, of every point, a quarter of its gradient.

    phi : what Z is the sum of, a number for each point
    """

    phi: Array
    push: Array

    def before(self, Y: Array) -> list[Task]:
        """Work that may run beside other work."""

    def after(self, Y: Array, pool: Threads, parts: int) -> float:
        """Z, after the rest of the work; `phi` and `push` are filled."""

    def refine(self) -> None:
        """Be closer to the exact sums from now on, at a higher cost."""


class Forces(ABC):
    """A pair of attraction and repulsion; an instance is frozen, and a problem holds it.

    name : of the forces, as a stored map states it
    width : the distance over which the forces change: steps and vanishing maps are measured by it
    least_step : the shortest step of a descent that chooses its steps itself
    collapse_formula : how `collapse_attraction` follows from an eigenvalue λ, before its number
    """

    name: ClassVar[str]
    width: ClassVar[float]
    least_step: ClassVar[float]
    collapse_formula: ClassVar[str] = ""

    @abstractmethod
    def attraction(self, P: sp.csr_array, width: int, exact: bool) -> Attraction:
        """Attraction by the fastest sums in `width` dimensions; `exact` wants doubles."""

    @abstractmethod
    def repulsion(self, n: int, width: int, exact: bool, angle: float) -> Repulsion:
        """Repulsion by the cheapest sums for n points in `width` dimensions.

        exact : whether all pairs are summed
        angle : of a tree, where it is one
        """

    @abstractmethod
    def value(self, problem: AttractionProblem, strength: float, cost: float, Z: float) -> float:
        """The objective, of attraction Σ p a = `cost` with this strength and the sum Z."""

    @abstractmethod
    def step_length(self, n: int, strength: float) -> float:
        """The step of a descent that is right for n points and this strength of attraction."""

    @abstractmethod
    def objective(self, problem: AttractionProblem, Y: Array, n_jobs: int | None) -> Objective:
        """The objective and its gradient from all pairs.

        Its errors are stated where a bound of the rounding is proved for these forces; else it is
        `unproved_objective`, and no certificate calls the points stationary.
        """

    @abstractmethod
    def pull_weights(self, affinities: Array, squares: Array) -> Array:
        """Affinities times a'(t) at squared distances t: how strongly a neighbour attracts."""

    @abstractmethod
    def field(self, points: Array) -> Field:
        """Repulsion of points that stay on others: of each, the gradient over the sum."""

    def collapse_attraction(self, eigenvalue: float) -> float:
        """The attraction from which on a small map shrinks along an eigenvector of its Laplacian.

        The matrix is `AttractionProblem.laplacian`. Infinite where nobody knows.
        """
        return float("inf")


def row_shares(n: int, parts: int) -> list[slice]:
    """The rows in `parts` slices; results do not depend on how many."""
    return list(row_slices(n, max(1, -(-n // parts))))

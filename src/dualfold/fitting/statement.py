"""What an estimator asks of some data, without the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from dualfold.arrays import Array
from dualfold.embedding import Embedding
from dualfold.maps.piecewise_map import RescaledMap
from dualfold.trace.problem import TraceProblem


@dataclass(frozen=True, eq=False)
class Scaling:
    """What coordinates are divided by (whitening), or None."""

    over: Array | None = None

    def rule(self, rule: Any) -> Any:
        """The rule of new points, scaled as they are."""
        return rule if self.over is None else RescaledMap(rule, over=self.over)

    def undone(self, points: Array) -> Array:
        """The points before they were scaled."""
        return points if self.over is None else points * self.over


@dataclass(frozen=True, eq=False)
class Statement:
    """The problem that an estimator states for its data, and where an answer leads.

    problem : the trace problem
    leads_to : the rule of new points that follows from an answer to it
    scaling : of the coordinates, by the eigenvalues
    """

    problem: TraceProblem
    leads_to: Callable[[Embedding], Any]
    scaling: Callable[[Array], Scaling] = field(default_factory=lambda: no_scaling)


def no_scaling(values: Array) -> Scaling:
    """Of coordinates that are those of the problem."""
    return Scaling()


def linear_statement(
    problem: TraceProblem, scaling: Callable[[Array], Scaling] = no_scaling
) -> Statement:
    """Of a problem whose answers are linear maps of the features."""
    lift: Any = problem.lift
    return Statement(problem, lambda a: lift.linear_map(a.solution.vectors, a.values), scaling)

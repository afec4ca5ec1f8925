"""What a solver of the unfolding problem returns: both sides, and how it found them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem

STOPPED_BY_CALLBACK = "stopped by the callback"
# Bounds that differ by less than this share of the wanted gap count as equal.
SAME_BOUND_SHARE = 0.01


@dataclass(frozen=True)
class Record:
    """Line of a solver's history.

    iteration : its number
    lower, upper : the best value and bound so far, as the solver computed them (the
        certificate proves its own)
    gap : (upper − lower)/upper
    seconds : since the solver began
    """

    iteration: int
    lower: float
    upper: float
    gap: float
    seconds: float


# Called after each iteration; it returns True to stop the solver with the best answer so far.
Callback = Callable[[Record], bool | None]


@dataclass(frozen=True, eq=False)
class UnfoldingSolution:
    """Points and weights that a solver found; nothing here is proved.

    Attributes
    ----------
    factor : ndarray of shape (n, r)
        Centred points Y, with K = YYᵀ.
    weights : ndarray of shape (n_edges,)
        The dual weights.
    history : tuple of Record
        One record for each iteration.
    solver : str
        Name of the solver.
    status : {"converged", "stopped"}
        Whether the iteration met its stopping rule.
    story : tuple of str
        Which solver was chosen and why, in words.

    See Also
    --------
    certify_unfolding : Certifies it.

    Examples
    --------
    >>> from dualfold.unfolding import UnfoldingProblem, interior_point
    >>> interior_point(UnfoldingProblem(3, [[0, 1], [1, 2]], [1.0, 1.0])).status
    'converged'
    """

    factor: Array
    weights: Array
    history: tuple[Record, ...]
    solver: str
    status: Literal["converged", "stopped"] = "converged"
    story: tuple[str, ...] = ()

    @property
    def gap(self) -> float:
        """The smallest gap in the history; infinite without one."""
        return min((record.gap for record in self.history), default=np.inf)


@dataclass
class BestSides:
    """Feasible points with the largest tr K and weights with the smallest bound so far."""

    problem: UnfoldingProblem
    tol: float
    callback: Callback | None = None
    begin: float = field(default_factory=perf_counter)
    history: list[Record] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    lower: float = 0.0
    upper: float = np.inf
    points: Array = field(default_factory=lambda: np.zeros((0, 0)))
    weights: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def gap(self) -> float:
        return relative_gap(self.lower, self.upper)

    def offer_weights(self, weights: Array, floor: float) -> None:
        """Take weights with λ₂(L(w)) ≥ floor if their bound is the best.

        Near the optimum the error of the bound is the square of the error of the weights, and
        two bounds may differ by rounding only: the later weights are then the better ones.
        """
        if floor <= 0:
            return
        upper = float(weights @ self.problem.squared) / floor
        if upper <= self.upper * (1 + SAME_BOUND_SHARE * self.tol):
            self.upper, self.weights = min(upper, self.upper), weights / floor

    def record(self, points: Array) -> bool:
        """Write a line for points that keep every edge; whether to stop."""
        value = self.problem.value(points)
        if value > self.lower:
            self.lower, self.points = value, points
        seconds = perf_counter() - self.begin
        line = Record(len(self.history) + 1, self.lower, self.upper, self.gap, seconds)
        self.history.append(line)
        stopped = self.callback is not None and bool(self.callback(line))
        if stopped:
            self.story.append(STOPPED_BY_CALLBACK)
        return stopped or self.gap <= self.tol

    def solution(self, solver: str) -> UnfoldingSolution:
        """The best of both sides, with the history."""
        return UnfoldingSolution(
            self.points,
            # Before the first bound: weights that are valid, though nothing is known of them.
            self.weights if len(self.weights) else 1 / self.problem.squared,
            tuple(self.history),
            solver,
            "converged" if self.gap <= self.tol else "stopped",
            tuple(self.story),
        )


def relative_gap(lower: float, upper: float) -> float:
    """(upper − lower)/upper, never negative; infinite without a bound."""
    if not (np.isfinite(upper) and np.isfinite(lower)):
        return float("inf")
    return max(0.0, upper - lower) / upper if upper > 0 else 0.0

"""What a solver of the unfolding problem hands back: both sides, and how it got there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dualfold.arrays import Array


@dataclass(frozen=True)
class Record:
    """One line of a solver's history.

    iteration : its number
    lower, upper : the best value and bound known then, as the solver saw them (the
        certificate proves its own)
    gap : (upper − lower)/upper
    seconds : since the solver began
    """

    iteration: int
    lower: float
    upper: float
    gap: float
    seconds: float


# Called after each iteration; returning True asks the solver to stop with what it has.
Callback = Callable[[Record], bool | None]


@dataclass(frozen=True, eq=False)
class UnfoldingSolution:
    """Points and weights of an unfolding problem; nothing here is proved.

    factor : n×r, rows sum to 0 (by mass): K = factor·factorᵀ
    weights : one for each edge of the problem
    history : a `Record` for each iteration
    solver, status : the solver's name, and whether it "converged" or was "stopped"
    story : in words, which solver was taken and why
    """

    factor: Array
    weights: Array
    history: tuple[Record, ...]
    solver: str
    status: Literal["converged", "stopped"] = "converged"
    story: tuple[str, ...] = ()


def relative(lower: float, upper: float) -> float:
    """(upper − lower)/upper, never negative; infinite without a bound."""
    if not (np.isfinite(upper) and np.isfinite(lower)):
        return float("inf")
    return max(0.0, upper - lower) / upper if upper > 0 else 0.0

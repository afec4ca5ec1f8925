"""Count, mean and scatter of rows seen in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dualfold.maps.linear import Projected
from dualfold.trace.problem import TraceProblem
from dualfold.weights.covariance import scatter

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, eq=False)
class Moments:
    """What PCA needs to know of the rows seen so far; adding two merges them exactly.

    count : number of rows
    mean : their mean, D numbers in float64
    scatter : Σ (x − mean)(x − mean)ᵀ, D×D in float64
    """

    count: int
    mean: Array
    scatter: Array

    @classmethod
    def of(cls, X: Any) -> Self:
        """The moments of the rows of X."""
        total, mean = scatter(X)
        return cls(X.shape[0], mean, total)

    def __add__(self, other: Moments) -> Moments:
        """Chan, Golub and LeVeque: S₁ + S₂ + (n₁n₂/n)·δδᵀ with δ the difference of means."""
        count = self.count + other.count
        delta = other.mean - self.mean
        between = np.outer(delta, delta * (self.count * other.count / count))
        mean = self.mean + delta * (other.count / count)
        return Moments(count, mean, self.scatter + other.scatter + between)

    def problem(self, *, standardize: bool) -> TraceProblem:
        """PCA of the rows, from their moments alone (the lift has a map and no points)."""
        scale = self.deviations if standardize else None
        A = self.scatter / self.count
        A = A if scale is None else A / np.outer(scale, scale)
        lift = Projected(None, self.mean, scale)
        return TraceProblem(A, None, 1, "max", lift=lift)

    @property
    def deviations(self) -> Array:
        """Standard deviations (divisor n), 1 where a feature is constant to rounding."""
        deviations = np.sqrt(np.maximum(np.diagonal(self.scatter), 0) / self.count)
        return np.where(deviations > 10 * np.finfo(float).eps * np.abs(self.mean), deviations, 1.0)

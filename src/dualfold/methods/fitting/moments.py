"""Count, mean and scatter of rows seen in batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dualfold.arrays import Array, DType, Rows
from dualfold.kernels.arithmetic import MIN_SQUARE_SUM
from dualfold.methods.maps.linear_map import ProjectionLift
from dualfold.trace.problem import TraceProblem
from dualfold.weights.column_moments import deviations_of, refuse_vanishing, vanishing_columns
from dualfold.weights.covariance import (
    RowShift,
    scatter,
    scatter_error,
    scatter_kind,
    scatter_mean_error,
)
from dualfold.weights.precision import rounding_sentence
from dualfold.weights.row_weights import RowWeights, row_total


@dataclass(frozen=True, eq=False)
class Moments:
    """Moments that PCA needs of the rows seen so far; adding two merges them exactly.

    count : number of rows, or the sum of their weights
    mean : their mean, D numbers in float64
    scatter : Σ (x − mean)(x − mean)ᵀ, D×D in float64
    error, mean_error : proved bounds of ‖scatter − exact‖₂ and of ‖mean − exact‖
    kind : the precision of the products
    vanishing : columns that vary although their squares vanish
    rows : number of rows that count
    """

    count: float
    mean: Array
    scatter: Array
    error: float = 0.0
    mean_error: float = 0.0
    kind: DType = np.float64
    vanishing: frozenset[int] = frozenset()
    rows: int = 0

    @classmethod
    def of(
        cls,
        X: Rows,
        *,
        precision: type[np.floating] | None = None,
        weights: RowWeights | None = None,
    ) -> Self:
        """The moments of the rows of X, multiplied in this `precision` (None: `scatter`'s)."""
        total, mean = scatter(X, precision=precision, weights=weights)
        return cls.from_scatter(X, total, mean, precision=precision, weights=weights)

    @classmethod
    def from_scatter(
        cls,
        X: Rows,
        total: Array,
        mean: Array,
        *,
        precision: type[np.floating] | None = None,
        weights: RowWeights | None = None,
        shift: RowShift | None = None,
    ) -> Self:
        """Moments where scatter (`total`) and mean of X are at hand, made in `precision`."""
        how: Any = {"precision": precision, "weights": weights}
        off = scatter_mean_error(X, total, mean, shift=shift, **how)
        error = scatter_error(X, total, mean, shift=shift, **how)
        lost = frozenset(vanishing_columns(X, np.diagonal(total)).tolist())
        kind, n = scatter_kind(X, **how), X.shape[0]
        return cls(row_total(X, weights), mean, total, error, off, kind, lost, n)

    def __add__(self, other: Moments) -> Moments:
        """Chan, Golub and LeVeque: S₁ + S₂ + (n₁n₂/n)·δδᵀ with δ the difference of means.

        Errors add up: δ is off by η₁ + η₂ and its rounding, in all η, the last term by
        (n₁n₂/n)(2‖δ‖η + η²), and all is rounded. The new mean, (n₁x̄₁ + n₂x̄₂)/n, is off by
        (n₁η₁ + n₂η₂)/n and its rounding, so that many batches are no worse than one.
        """
        count = self.count + other.count
        delta = other.mean - self.mean
        between = np.outer(delta, delta * (self.count * other.count / count))
        mean = self.mean + delta * (other.count / count)
        total = self.scatter + other.scatter + between
        length, sizes = float(np.linalg.norm(delta)), map(np.linalg.norm, (self.mean, other.mean))
        rounded = 8 * np.finfo(float).eps * (float(sum(sizes)) + length)
        off = self.mean_error + other.mean_error + rounded
        share = self.count * other.count / count
        error = self.error + other.error + share * off * (2 * length + off)
        parts = self.count * self.mean_error + other.count * other.mean_error
        mean_off = parts / count + rounded
        error += 8 * np.finfo(float).eps * max(float(np.trace(total)), 0.0)
        kind = np.float32 if np.float32 in (self.kind, other.kind) else np.float64
        small = np.diagonal(total) < MIN_SQUARE_SUM
        lost = {*self.vanishing, *other.vanishing, *np.flatnonzero(delta != 0).tolist()}
        lost &= set(np.flatnonzero(small).tolist())
        rows = self.rows + other.rows
        return Moments(count, mean, total, error, mean_off, kind, frozenset(lost), rows)

    def problem(self, *, standardize: bool) -> TraceProblem:
        """PCA of the rows, from their moments alone (the lift has a map and no points)."""
        return self.scaled_problem(self.deviations if standardize else None, self.count)

    def scaled_problem(
        self, scale: Array | None, divisor: float, indicators: Array | None = None
    ) -> TraceProblem:
        """PCA's problem with features divided by `scale` and the scatter by `divisor`.

        indicators : which columns are the 0 and 1 of categories, whose scale comes from the mean
        """
        A = self.scatter / divisor
        A = A if scale is None else A / np.outer(scale, scale)
        lift = ProjectionLift(None, self.mean, scale)
        error = self.error / divisor
        if scale is not None:
            # WEW with W = 1/scale; and W is off by half of what the diagonal is, as a share.
            share = error * (divisor / self.count) / float(scale.min()) ** 2
            if indicators is not None and indicators.any():
                share += self.mean_error / max(float(scale[indicators].min()) ** 2, 1e-300)
            trace = float(np.trace(A))
            error = share * (self.count / divisor + 1.2 * trace) if share < 0.1 else np.inf
        about = rounding_sentence(error, A, self.kind)
        return TraceProblem(A, None, 1, "max", lift=lift, about=about)

    def uncentred_problem(self) -> TraceProblem:
        """Truncated SVD of the rows: XᵀX is the scatter with n·x̄x̄ᵀ added again.

        An error η of x̄ changes that by n(2‖x̄‖η + η²), and the sum is rounded.
        """
        length, off = float(np.linalg.norm(self.mean)), self.mean_error
        A = self.scatter + self.count * np.outer(self.mean, self.mean)
        error = self.error + self.count * off * (2 * length + off)
        error += 8 * np.finfo(float).eps * max(float(np.trace(A)), 0.0)
        about = rounding_sentence(error, A, self.kind)
        lift = ProjectionLift(None, np.zeros_like(self.mean))
        return TraceProblem(A, None, 1, "max", lift=lift, about=about)

    @property
    def deviations(self) -> Array:
        """Standard deviations (divisor n), 1 where a feature is constant."""
        return self.deviations_or(1.0)

    def deviations_or(self, constant: float) -> Array:
        """Standard deviations, with another number for constant features."""
        refuse_vanishing(np.array(sorted(self.vanishing), dtype=int))
        return deviations_of(np.diagonal(self.scatter), self.count, self.mean, constant)

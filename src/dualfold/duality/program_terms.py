"""The sums that certificates of programs are made of, and the scales they are judged by."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.duality.programs import Program
from dualfold.errors import InvalidInput

Array = np.ndarray[Any, np.dtype[Any]]
EPS = float(np.finfo(float).eps)
TINY = float(np.finfo(float).tiny)
# A value of 0 is a sum of terms that cancel; two digits of them may be lost in its gap.
CANCELLED = 0.01


class Terms:
    """Sums of a program at (x, y), next to the sums of their moduli, which set the scales."""

    def __init__(self, program: Program, x: Array, y: Array) -> None:
        rows, limits, held = program.rows, program.limits, len(program.b)
        cost = program.sign * program.c
        moduli = abs(rows)
        # Only multipliers of the right sign bound anything.
        self.y = y = np.concatenate([np.maximum(y[:held], 0), y[held:]])
        Qx = np.zeros(len(x)) if program.Q is None else program.Q @ x
        Ry = np.zeros(len(y)) if program.R is None else program.R @ y
        self.gradient = Qx + cost + rows.T @ y
        self.unbalanced = self.gradient.copy()
        self.nonnegative = p = program.nonnegative
        self.unbalanced[:p] = np.minimum(self.unbalanced[:p], 0)
        curved = np.zeros(len(x)) if program.Q is None else abs(program.Q) @ np.abs(x)
        softened = np.zeros(len(y)) if program.R is None else abs(program.R) @ np.abs(y)
        heights = np.asarray(moduli.sum(axis=1)).ravel()
        widths = np.asarray(moduli.sum(axis=0)).ravel()
        # Each row is judged by its own terms: one huge entry must not excuse the others.
        self.point_size = limit_size(program) or _usual(x) or 1.0
        self.multiplier_size = _usual_ratio(cost, widths) or _usual(y) or 1.0
        self.reaches = np.maximum(np.abs(x), self.point_size)
        met = moduli @ np.abs(x) + heights * self.point_size
        self.row_scale = np.maximum(met + np.abs(limits) + softened, TINY)
        pulled = moduli.T @ np.abs(y) + widths * self.multiplier_size
        self.column_scale = np.maximum(pulled + np.abs(cost) + curved, TINY)
        self.dual_value = -float(x @ Qx) / 2 - float(y @ Ry) / 2 - float(limits @ y)
        terms = float(np.abs(x) @ curved) + float(np.abs(y) @ softened)
        terms = terms / 2 + float(np.abs(limits) @ np.abs(y))
        self.terms = max(terms, float(np.abs(cost) @ np.abs(x)))
        unit = (len(x) + len(y) + 5) * EPS  # of a sum of so many products, and a few more
        self.value_rounding = unit * terms
        self.gradient_rounding = unit * (curved + np.abs(cost) + moduli.T @ np.abs(y))

    def bound(self, reach: float) -> float:
        """What no feasible point is below whose entries are up to `reach` times as large."""
        uncertain = np.abs(self.gradient) + self.gradient_rounding
        # Where x ≥ 0 only a gradient that may be negative takes anything from the bound.
        p = self.nonnegative
        uncertain[:p] = np.maximum(self.gradient_rounding[:p] - self.gradient[:p], 0)
        return self.dual_value - reach * float(uncertain @ self.reaches) - self.value_rounding

    def value_scale(self, value: float) -> float:
        """What a gap is relative to: the value, or a share of its terms where they cancel."""
        return max(abs(value), abs(self.dual_value), CANCELLED * self.terms) or 1.0


def limit_size(program: Program) -> float:
    """How large a point is that meets the limits."""
    return _usual_ratio(program.limits, np.asarray(abs(program.rows).sum(axis=1)).ravel())


def _usual_ratio(sides: Array, sums: Array) -> float:
    """The median of |side|/sum where neither is 0: one odd row must not set the scale."""
    real = (sums > 0) & (sides != 0)
    with np.errstate(over="ignore"):
        return float(np.median(np.abs(sides[real]) / sums[real])) if real.any() else 0.0


def _usual(numbers: Array) -> float:
    """The median modulus of what is not 0; 0 if all is."""
    real = np.abs(numbers[numbers != 0])
    return float(np.median(real)) if len(real) else 0.0


def largest(numbers: Array) -> float:
    return float(np.abs(numbers).max(initial=0.0))


def finite(numbers: Any, size: int, name: str) -> Array:
    entries = np.asarray(numbers, dtype=float)
    if entries.shape != (size,) or not np.isfinite(entries).all():
        raise InvalidInput(
            f"{name} must be {size} finite numbers, one for each row of A and then of E; the shape "
            f"is {entries.shape}"
        )
    return entries


def plain(fields: dict[str, Any]) -> dict[str, Any]:
    listed = {key: list(item) if isinstance(item, tuple) else item for key, item in fields.items()}
    return {
        key: None if isinstance(item, float) and not np.isfinite(item) else item
        for key, item in listed.items()
    }

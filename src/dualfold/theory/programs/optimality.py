"""The conditions of optimality of a program as numbers, and the scales they are relative to.

They prove nothing: they say what is wrong with an answer, and whether an exact answer may be
found nearby.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import Level
from dualfold.kernels.arithmetic import SMALLEST_NORMAL
from dualfold.theory.programs.program import Program


class ProgramTerms:
    """Sums of a program at (x, y), next to the sums of their moduli, which set the scales."""

    def __init__(self, program: Program, x: Array, y: Array) -> None:
        rows, limits, n_ineq = program.rows, program.limits, len(program.b)
        cost = program.sign * program.c
        moduli = abs(rows)
        # Only multipliers of the right sign give a bound.
        self.y = y = np.concatenate([np.maximum(y[:n_ineq], 0), y[n_ineq:]])
        Qx = np.zeros(len(x)) if program.Q is None else program.Q @ x
        self.gradient = Qx + cost + rows.T @ y
        self.unbalanced = self.gradient.copy()
        p = program.nonnegative
        self.unbalanced[:p] = np.minimum(self.unbalanced[:p], 0)
        curved = np.zeros(len(x)) if program.Q is None else abs(program.Q) @ np.abs(x)
        softened = np.zeros(len(y)) if program.R is None else abs(program.R) @ np.abs(y)
        heights = np.asarray(moduli.sum(axis=1)).ravel()
        widths = np.asarray(moduli.sum(axis=0)).ravel()
        # Each row is measured by its own terms: one huge entry must not excuse the others.
        self.point_size = limit_size(program) or _usual(x) or 1.0
        self.multiplier_size = _usual_ratio(cost, widths) or _usual(y) or 1.0
        self.reaches = np.maximum(np.abs(x), self.point_size)
        met = moduli @ np.abs(x) + heights * self.point_size
        self.row_scale = np.maximum(met + np.abs(limits) + softened, SMALLEST_NORMAL)
        pulled = moduli.T @ np.abs(y) + widths * self.multiplier_size
        self.column_scale = np.maximum(pulled + np.abs(cost) + curved, SMALLEST_NORMAL)
        terms = float(np.abs(x) @ curved) + float(np.abs(y) @ softened)
        terms = terms / 2 + float(np.abs(limits) @ np.abs(y))
        self.value_scale = max(terms, float(np.abs(cost) @ np.abs(x)))


@dataclass(frozen=True)
class Conditions:
    """The largest violation of each condition of Karush, Kuhn and Tucker, relative to the
    terms of its row."""

    primal_feasibility: float
    dual_feasibility: float
    stationarity: float
    complementarity: float

    def level(self, tolerance: float) -> Level:
        """ "stationary" where all four hold to `tolerance`, else "not stationary"."""
        return "not stationary" if self.broken(tolerance) else "stationary"

    def broken(self, tolerance: float) -> tuple[str, ...]:
        """Which conditions fail, in words (nan fails, too)."""
        words = {
            "the point breaks its constraints": self.primal_feasibility,
            "a multiplier of an inequality is negative": self.dual_feasibility,
            "the gradients do not balance": self.stationarity,
            "a constraint that is not tight has a multiplier": self.complementarity,
        }
        return tuple(
            f"{name} ({number:.1e}, allowed {tolerance:.0e})"
            for name, number in words.items()
            if not number <= tolerance
        )


def conditions(program: Program, x: Array, w: Array, y: Array, slack: Array) -> Conditions:
    """Violations of the conditions by a point and multipliers; `slack` is h − Mx + Rw."""
    with np.errstate(all="ignore"):
        at = ProgramTerms(program, x, y)
        n_ineq, p = len(program.b), program.nonnegative
        short = np.concatenate([np.minimum(slack[:n_ineq], 0), slack[n_ineq:]])
        low = np.minimum(x[:p], 0)
        soft = 0.0 if program.R is None else largest_modulus((program.R @ (w - y)) / at.row_scale)
        products = np.concatenate([y[:n_ineq] * slack[:n_ineq], x[:p] * at.gradient[:p]])
        return Conditions(
            max(largest_modulus(short / at.row_scale), largest_modulus(low / at.point_size)),
            largest_modulus(np.minimum(y[:n_ineq], 0) / at.multiplier_size),
            max(largest_modulus(at.unbalanced / at.column_scale), soft),
            largest_modulus(products / max(at.value_scale, SMALLEST_NORMAL)),
        )


def limit_size(program: Program) -> float:
    """Usual size of a point that meets the limits."""
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


def largest_modulus(numbers: Array) -> float:
    return float(np.abs(numbers).max(initial=0.0))


def program_text(program: Program) -> str:
    """Subject of a certificate of the program, in words."""
    kind = "linear" if program.Q is None else "quadratic"
    return f"the {kind} program of {program.n} variables and {len(program.limits)} rows as given"

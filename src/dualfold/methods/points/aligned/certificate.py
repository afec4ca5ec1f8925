"""How far aligned maps can be from the best ones, and whether they are stationary.

Two lower bounds: the sum of the slices' own optima (K is positive semidefinite), and T times the
optimum of the relaxed problem with one constraint for all slices. Each is the proved bound of a
certificate of a trace problem; no solver is trusted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.certificate import (
    DEFAULT_TOLERANCE,
    MAX_GAP,
    Certificate,
    Level,
    checked_tolerance,
    level_of,
    share,
)
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.methods.points.aligned.problem import AlignedProblem
from dualfold.trace.certificate import certify

# The largest gradient, relative to the objective, that is called stationary.
MAX_GRADIENT = 1e-4


@dataclass(frozen=True, kw_only=True)
class AlignedCertificate(Certificate):
    """Certificate of aligned maps; print it.

    Attributes
    ----------
    level : {"proved", "within", "stationary", "not stationary", "failed"}
        How much is known; `dualfold.Certificate` explains the words.
    gap : float
        Bound of `(value − optimum)/|optimum|`.
    value : float
        Objective of the maps.
    bound : float
        Objective that no aligned maps are below.
    tolerance : float
        Largest gap that is called "proved".
    reasons : tuple of str
        What is short of "proved", in words.
    about : str
        What the statement is about.
    chance : float
        Always 0: nothing is drawn at random.
    complete : bool or None
        Not used here.
    gradient : float
        Norm of the gradient along the constraints, relative to the objective.
    separate : float
        Sum of the proved bounds of the slices' own optima; −inf if one was not proved.
    relaxed : float
        Proved bound by one constraint for all slices; −inf if it was not proved.

    See Also
    --------
    dualfold.AlignedMaps : Has one.
    """

    gradient: float = np.inf
    separate: float = -np.inf
    relaxed: float = -np.inf

    @property
    def statement(self) -> str:
        if self.level in ("stationary", "not stationary"):
            return f"a gradient of {self.gradient:.1e} of the objective; no useful bound is known"
        return super().statement

    @property
    def grounds(self) -> str:
        """Which of the two bounds is the larger one, in words."""
        if not np.isfinite(self.bound):
            return ""
        if self.bound == self.relaxed:
            return "the bound is that of one constraint for all slices"
        return "the bound is the sum of the slices' own optima"


def certify_aligned(
    problem: AlignedProblem,
    vectors: Array,
    separate: Sequence[Any],
    relaxed: Any,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
) -> AlignedCertificate:
    """The certificate of vectors as an answer to the problem of all slices.

    separate : an answer to the problem of each slice, with further columns as hints
    relaxed : an answer to the relaxed problem `problem.relaxed`, likewise; both are certified here
    """
    tolerance = checked_tolerance(tolerance)
    V = np.asarray(vectors, dtype=float)
    off = _infeasibility(problem, V)
    value = problem.value(V)
    size = float(np.sum(np.abs(V) * problem.product(np.abs(V)))) if np.isfinite(V).all() else np.inf
    if not off <= 1e-8:
        return AlignedCertificate(
            level="failed",
            gap=np.inf,
            value=value,
            bound=np.nan,
            tolerance=tolerance,
            reasons=(f"the maps are not orthonormal slice by slice ({off:.1e})",),
        )
    rounding = 8 * (len(V) * UNIT_ROUNDOFF + off) * (abs(value) + abs(size))
    lower = _separate_bound(problem, separate, tolerance)
    joint = len(problem.slices) * _proved_bound(problem.relaxed, relaxed, tolerance)
    bound = max(lower, joint)
    gradient = _gradient_norm(problem, V) / max(abs(value), 1e-300)
    # |optimum| is at least the bound where that is positive, and at least |value| where that is
    # negative.
    least = bound if bound > 0 else -value - rounding
    gap = (value + rounding - bound) / least if least > 0 and np.isfinite(bound) else np.inf
    level: Level = level_of(gap, tolerance) if gap < MAX_GAP else "stationary"
    if level == "stationary" and gradient > MAX_GRADIENT:
        level = "not stationary"
    reasons = (f"the objective is within {share(gap)} of a bound",) if level == "within" else ()
    return AlignedCertificate(
        level=level,
        gap=float(max(0.0, gap)),
        value=float(value),
        bound=float(bound) if np.isfinite(bound) else np.nan,
        tolerance=tolerance,
        reasons=reasons,
        gradient=float(gradient),
        separate=float(lower),
        relaxed=float(joint),
    )


def _separate_bound(problem: AlignedProblem, answers: Sequence[Any], tolerance: float) -> float:
    pairs = zip(problem.slices, answers, strict=True)
    return float(
        sum(_proved_bound(slice_problem, answer, tolerance) for slice_problem, answer in pairs)
    )


def _proved_bound(problem: Any, answer: Any, tolerance: float) -> float:
    """The trace that no answer is below; −inf where it is not proved."""
    verdict = certify(problem, answer, tolerance=tolerance)
    return verdict.bound if verdict.level in ("proved", "within") else -np.inf


def _infeasibility(problem: AlignedProblem, V: Array) -> float:
    if not np.isfinite(V).all():
        return np.inf
    off = 0.0
    for slice_problem, part in zip(problem.slices, problem.parts(V), strict=True):
        image = slice_problem.metric.times(part)
        off = max(off, float(np.linalg.norm(part.T @ image - np.eye(problem.count))))
        overlap = slice_problem.excluded_basis.T @ image
        off = max(off, float(np.linalg.norm(overlap)) if overlap.size else 0.0)
    return off


def _gradient_norm(problem: AlignedProblem, V: Array) -> float:
    """The gradient's length in the dual norm of the metric, off the excluded directions."""
    total = 0.0
    stacks = problem.parts(V), problem.parts(problem.gradient(V))
    for slice_problem, _, part in zip(problem.slices, *stacks, strict=True):
        image = slice_problem.without_excluded(slice_problem.metric.solve(part))
        total += float(np.sum(image * slice_problem.metric.times(image)))
    return float(np.sqrt(total))

"""A point that keeps all constraints of a program exactly, near one that does to rounding.

Floating-point answers miss equations and tight inequalities by some 1e-16, and then prove
nothing: the program might have no point at all. Candidates are checked in exact
arithmetic, so any way to find them is allowed. Tried in turn: the point itself; the equations and
the broken rows met exactly; all tight rows met exactly (a vertex); a step to the inner side
of the tight rows (where more of them meet than there are dimensions).

With the dual of a program in place of the program this finds exact multipliers.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import EPS, SMALLEST_NORMAL
from dualfold.kernels.arithmetic.exact import ZERO, ExactMatrix, floats, fractions
from dualfold.theory.programs.exact import Enclosure, corrections
from dualfold.theory.programs.program import Program

# A row is tight, or an entry 0, below these shares of the row's terms, or of the largest entry.
TIGHT_TOLERANCES = (1e-13, 1e-10, 1e-7)
# Steps to the inner side, in units of the violation and of the rounding of the row.
INWARD_STEPS = (2.0, 1e3)
# Tight rows up to which such a step is computed.
MAX_TIGHT_ROWS = 1_500


class System:
    """Wu ≤ h (the first rows), = h (the others), u_j ≥ 0 for j < p; u is x, and w after it."""

    def __init__(self, program: Program) -> None:
        rows = sp.csr_array(program.rows)
        if program.R is not None:
            rows = sp.csr_array(sp.hstack([rows, -sp.csr_array(program.R)]))
        self.rows, self.moduli = rows, abs(rows)
        self.exact, self.exact_moduli = ExactMatrix(rows), ExactMatrix(self.moduli)
        self.limits = fractions(program.limits)
        self.sides = np.abs(program.limits)
        self.n_ineq, self.p = len(program.b), program.nonnegative

    def slack(self, u: Array) -> Array:
        return self.limits - self.exact.times(u)

    def is_feasible(self, near: Enclosure, met: Array) -> bool:
        """Whether the enclosed point, which meets the rows `met` exactly, keeps all others."""
        low = near.centre - near.radius
        if any(number < 0 for number in low[: self.p]):
            return False
        slack = self.slack(near.centre)
        if any(near.radius):
            slack = slack - self.exact_moduli.times(near.radius)
            slack[met] = ZERO
        if any(number < 0 for number in slack[: self.n_ineq]):
            return False
        return not any(slack[self.n_ineq :])

    def corrected_points(self, u: Array, met: Array, movable: Array) -> Iterator[Enclosure]:
        """The point moved a little, so that it meets the rows `met` exactly."""
        columns = np.flatnonzero(movable)
        size = np.abs(floats(u))
        weights = np.where(np.arange(len(u)) < self.p, size, size.max(initial=0.0) or 1.0)
        part = sp.csr_array(self.rows[met][:, columns])
        for step in corrections(part, self.slack(u)[met], weights[columns]):
            centre, radius = u.copy(), fractions(np.zeros(len(u)))
            centre[columns] += step.centre
            radius[columns] = step.radius
            yield Enclosure(centre, radius)


def feasible_near(program: Program, point: Array) -> Enclosure | None:
    """A point that keeps the constraints exactly, from `point` (fractions); None if not found."""
    system = System(program)
    u = point.copy()
    u[: system.p] = [max(number, ZERO) for number in u[: system.p]]
    with np.errstate(all="ignore"):  # a point that overflows is no candidate
        for near, met in _candidates(system, u):
            if system.is_feasible(near, met):
                return near
    return None


def _candidates(system: System, u: Array) -> Iterator[tuple[Enclosure, Array]]:
    """Points to be checked, with the rows that each meets exactly."""
    equations = np.arange(system.n_ineq, len(system.limits))
    yield Enclosure(u, fractions(np.zeros(len(u)))), np.zeros(0, dtype=int)
    positive = np.array([bool(number) for number in u]) | (np.arange(len(u)) >= system.p)
    broken = equations
    for _ in range(3):
        near = None
        for near in system.corrected_points(u, broken, positive):
            yield near, broken
        if near is None:
            break
        low = np.flatnonzero([number < 0 for number in system.slack(near.centre)[: system.n_ineq]])
        broken = np.union1d(broken, low)
    size = np.abs(floats(u))
    slack = floats(system.slack(u)[: system.n_ineq])
    scale = system.moduli @ size + system.sides
    seen: set[tuple[bytes, bytes]] = set()
    everything = np.ones(len(u), dtype=bool)
    for close in TIGHT_TOLERANCES:
        zero = (np.arange(len(u)) < system.p) & (size <= close * size.max(initial=0.0))
        tight = np.flatnonzero(slack <= close * scale[: system.n_ineq])
        if (zero.tobytes(), tight.tobytes()) in seen:
            continue
        seen.add((zero.tobytes(), tight.tobytes()))
        rounded = u.copy()
        rounded[zero] = ZERO
        met = np.concatenate([tight, equations])
        for near in system.corrected_points(rounded, met, ~zero):
            yield near, met
        for step in INWARD_STEPS:
            inner = _inner_point(system, u, tight, zero, step)
            for near in (
                [] if inner is None else system.corrected_points(inner, equations, everything)
            ):
                yield near, equations


def _inner_point(system: System, u: Array, tight: Array, zero: Array, step: float) -> Array | None:
    """The point after the shortest step that leaves all tight rows by more than rounding.

    The step solves min ‖d‖, Gd ≥ ν, Ed = 0, which is one nonnegative least-squares problem
    (Lawson and Hanson, "Solving least squares problems", 1974, chapter 23).
    """
    if not 0 < len(tight) + int(zero.sum()) <= MAX_TIGHT_ROWS:
        return None
    size = np.abs(floats(u))
    largest = float(size.max(initial=0.0)) or 1.0
    units = np.where(zero | (np.arange(len(u)) >= system.p) | (size == 0), largest, size)
    scale = system.moduli @ size + system.sides
    rows = system.rows[tight].toarray() * -units
    broken = np.maximum(-floats(system.slack(u)[tight]), 0) + 4 * EPS * scale[tight]
    away = np.vstack([rows, np.diag(units)[zero]])
    need = step * np.concatenate([broken, np.full(int(zero.sum()), 4 * EPS * largest)])
    norms = np.maximum(np.linalg.norm(away, axis=1), SMALLEST_NORMAL)
    away, need = away / norms[:, None], need / norms
    equal = system.rows[system.n_ineq :].toarray() * units
    equal /= np.maximum(np.linalg.norm(equal, axis=1), SMALLEST_NORMAL)[:, None]
    if not (np.isfinite(away).all() and np.isfinite(equal).all()):
        return None
    away -= (away @ np.linalg.pinv(equal)) @ equal if len(equal) else 0.0
    unit = float(need.max()) or 1.0
    d = _shortest_step(away, need / unit)
    moved = None if d is None else floats(u) + unit * units * d
    if moved is None or not np.isfinite(moved).all():
        return None
    moved[: system.p] = np.maximum(moved[: system.p], 0)
    # u keeps its digits beyond a double: only the step is rounded.
    inner = u + fractions(moved - floats(u))
    inner[: system.p] = [max(number, ZERO) for number in inner[: system.p]]
    return inner


def _shortest_step(away: Array, need: Array) -> Array | None:
    """The shortest d with away·d ≥ need; None where there is none."""
    if not np.isfinite(need).all():
        return None
    table = np.vstack([away.T, need])
    goal = np.zeros(len(table))
    goal[-1] = 1.0
    try:
        weights = scipy.optimize.nnls(table, goal)[0]
    except RuntimeError:  # more iterations than it allows itself
        return None
    left = table @ weights - goal
    if not left[-1] < -1e-13:
        return None
    return np.asarray(-left[:-1] / left[-1])

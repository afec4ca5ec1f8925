"""Quadratic programs by Mehrotra's predictor and corrector, on sparse matrices.

    min ½xᵀPx + qᵀx   subject to   Ex = f,  Gx + s = g,  s ≥ 0

with multipliers y of the equations and z ≥ 0 of the inequalities. Every step solves

    [ P  Eᵀ  Gᵀ  ] [dx]
    [ E  0   0   ] [dy]   =   what is missing in the conditions of Karush, Kuhn and Tucker
    [ G  0  −S/Z ] [dz]

twice with one factor: for the optimum itself, which shows how far the boundary lets a step go,
then for a point of the central path (Mehrotra, "On the implementation of a primal-dual interior
point method", 1992; for quadratic programs Gertz and Wright, "Object-oriented software for
quadratic programming", 2003). Small multiples of I and −I make the matrix quasidefinite, so that
it has a factor also where P is singular and rows repeat; refinement removes their effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from dualfold.arrays import Array
from dualfold.theory.programs.program import Program
from dualfold.theory.programs.solvers.external import joint_cost, joint_curvature, widened_rows

# Programs that have an optimum take 10 to 30 steps: docs/dev/notes/programs.md.
MAX_STEPS = 100
# Steps without a smaller error after which only rounding moves.
MAX_VAIN_STEPS = 8
# For entries of about 1, as balanced programs have them: rounding is negligible beside it.
REGULARIZATION = 1e-10
N_REFINEMENTS = 4
# Of the way to the boundary that a step goes.
STEP_SHARE = 0.99
# Relative errors below which further steps only move rounding.
CONVERGED_TOLERANCE = 1e-15
# Relative errors at which a point may still be near an optimum.
USABLE_TOLERANCE = 1e-2


def by_interior_point(program: Program) -> tuple[Array, Array] | None:
    """An interior point and its multipliers; None where the steps lead to no optimum."""
    n_ineq, p = len(program.b), program.nonnegative
    rows = widened_rows(program)
    positive = -sp.eye_array(rows.shape[1], format="csr")[:p]
    conditions = _Conditions(
        joint_curvature(program),
        joint_cost(program),
        rows[n_ineq:],
        program.f,
        sp.vstack([rows[:n_ineq], positive], format="csr"),
        np.concatenate([program.b, np.zeros(p)]),
    )
    best, least, n_vain = None, np.inf, 0
    # What is not finite ends the steps; so does SuperLU, where s / z makes the matrix singular.
    with np.errstate(all="ignore"), suppress(RuntimeError):
        for error, v in islice(conditions.iterates(), MAX_STEPS):
            best, least, n_vain = (v, error, 0) if error < least else (best, least, n_vain + 1)
            if not np.isfinite(error) or error <= CONVERGED_TOLERANCE or n_vain == MAX_VAIN_STEPS:
                break
    if best is None or least > USABLE_TOLERANCE:
        return None
    x, y, z = np.split(best, [rows.shape[1], rows.shape[1] + len(program.f)])
    x[:p] = np.maximum(x[:p], 0)
    return x, np.concatenate([np.maximum(z[:n_ineq], 0), y])


@dataclass(frozen=True, eq=False)
class _Conditions:
    """The program of the module docstring; an iterate v is x, y and z, beside it the slack s."""

    P: sp.csr_array
    q: Array
    E: sp.csr_array
    f: Array
    G: sp.csr_array
    g: Array

    def iterates(self) -> Iterator[tuple[float, Array]]:
        """Relative errors and iterates, without end."""
        matrix = sp.block_array(
            [[self.P, self.E.T, self.G.T], [self.E, None, None], [self.G, None, None]], format="csc"
        )
        right = np.concatenate([-self.q, self.f, self.g])
        n, m = len(self.q), len(self.g)
        size = 1 + np.abs(right).max(initial=0.0)
        v = _Factor(matrix, n, np.ones(m)).solution(right)
        inner = slice(len(v) - m, None)
        s, v[inner] = _moved_inside(-v[inner]), _moved_inside(v[inner])
        while True:
            missing = right - matrix @ v
            missing[inner] -= s
            z, product = v[inner], float(s @ v[inner])
            unbalanced = np.abs(missing).max(initial=0.0) / size
            yield max(unbalanced, product / (size + abs(self.q @ v[:n]))), v
            factor = _Factor(matrix, n, s / z)
            dv, ds = factor.step(missing, s, z, -s * z)
            length = _longest_step(s, ds, z, dv[inner])
            ahead = float((s + length * ds) @ (z + length * dv[inner]))
            center = (ahead / product) ** 3 * product / m if product else 0.0
            dv, ds = factor.step(missing, s, z, center - s * z - ds * dv[inner])
            length = _longest_step(s, ds, z, dv[inner]) * (STEP_SHARE if m else 1.0)
            v, s = v + length * dv, s + length * ds


class _Factor:
    """The factor of a step's matrix, without its regularization once it is refined."""

    def __init__(self, matrix: sp.csc_array, n: int, slope: Array) -> None:
        total = matrix.shape[0]
        slope = np.concatenate([np.zeros(total - len(slope)), -slope])
        signs = np.where(np.arange(total) < n, REGULARIZATION, -REGULARIZATION)
        self._matrix = sp.csc_array(matrix + sp.diags_array(slope))
        # A quasidefinite matrix has a factor in every order of rows: pivots need no search.
        self._factor = splu(
            sp.csc_matrix(self._matrix + sp.diags_array(signs)),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def solution(self, right: Array) -> Array:
        """The vector that the matrix maps to `right`."""
        answer = self._factor.solve(right)
        for _ in range(N_REFINEMENTS):
            answer = answer + self._factor.solve(right - self._matrix @ answer)
        return answer

    def step(self, missing: Array, s: Array, z: Array, product: Array) -> tuple[Array, Array]:
        """The steps of v and s after which nothing is missing and s·z has changed by `product`."""
        right = missing.copy()
        right[len(right) - len(z) :] -= product / z
        dv = self.solution(right)
        return dv, (product - s * dv[len(dv) - len(z) :]) / z


def _moved_inside(entries: Array) -> Array:
    """The entries, raised by one number if one of them is not positive."""
    least = entries.min(initial=np.inf)
    return entries + (1 - least) if least <= 0 else entries.copy()


def _longest_step(s: Array, ds: Array, z: Array, dz: Array) -> float:
    """Share of a step, at most 1, at which the first entry of s or z is 0."""
    entries, step = np.concatenate([s, z]), np.concatenate([ds, dz])
    falling = step < 0
    return float((-entries[falling] / step[falling]).min(initial=1.0))

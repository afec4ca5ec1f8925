"""A program in units of its own: all rows and columns of about one size.

Tolerances, of solvers and of certificates, mean something only when they do. With D and
S diagonal, x = Dx′, y = Sy′ and w = Sw′ turn Q, R, M, c, h into DQD, SRS, SMD, Dc, Sh: the
same program, and the same values. D and S hold powers of 2, so nothing is rounded; where an
entry would leave the range of doubles the program is left as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Matrix
from dualfold.theory.programs.program import Program, QuadraticProgram

# Ruiz' iteration halves the logarithms each time; 2^(2^-6) is next to 1.
N_RUIZ_STEPS = 6
# The largest exponent of a unit: the product of two units is far within the range of doubles.
MAX_EXPONENT = 400


@dataclass(frozen=True, eq=False)
class BalancedProgram:
    """`program` in its own units; `columns` (D) and `rows` (S) convert back."""

    program: Program
    columns: Array
    rows: Array

    def point(self, inner: Array) -> Array:
        """A point of the original program."""
        n = len(self.columns)
        return np.concatenate([inner[:n] * self.columns, inner[n:] * self.rows[: len(inner) - n]])

    def answer(self, inner: tuple[Array, Array] | None) -> tuple[Array, Array] | None:
        """A point and multipliers of the original program; None if they are no numbers."""
        if inner is None:
            return None
        with np.errstate(all="ignore"):
            point, multipliers = self.point(inner[0]), inner[1] * self.rows
        finite = np.isfinite(point).all() and np.isfinite(multipliers).all()
        return (point, multipliers) if finite else None


def balanced_program(program: Program) -> BalancedProgram:
    """The program after Ruiz' scaling of its matrices, with powers of 2.

    Ruiz, "A scaling algorithm to equilibrate both rows and columns norms in matrices" (2001).
    """
    n, m, n_ineq = program.n, len(program.limits), len(program.b)
    D, S = _units(program)
    if not _is_lossless(program, D, S):
        return BalancedProgram(program, np.ones(n), np.ones(m))
    fields: dict[str, Any] = {
        "c": program.c * D,
        "A": _scaled_matrix(program.A, S[:n_ineq], D),
        "b": program.b * S[:n_ineq],
        "E": _scaled_matrix(program.E, S[n_ineq:], D),
        "f": program.f * S[n_ineq:],
    }
    if isinstance(program, QuadraticProgram):
        fields["Q"] = _scaled_matrix(program.Q, D, D)
        fields["R"] = None if program.R is None else _scaled_matrix(program.R, S, S)
    return BalancedProgram(replace(program, **fields), D, S)


def _units(program: Program) -> tuple[Array, Array]:
    """D and S, from the matrix [[Q, Mᵀ], [M, R]]."""
    n, m = program.n, len(program.limits)
    blocks = [_entries(program.rows, n, 0)]
    blocks += [] if program.Q is None else [_entries(program.Q, 0, 0)]
    blocks += [] if program.R is None else [_entries(program.R, n, n)]
    i, j, moduli = (np.concatenate(part) for part in zip(*blocks, strict=True))
    scale = np.ones(n + m)
    for _ in range(N_RUIZ_STEPS if len(moduli) else 0):
        with np.errstate(all="ignore"):
            scaled = moduli * scale[i] * scale[j]
            heights = np.zeros(n + m)
            np.maximum.at(heights, i, scaled)
            np.maximum.at(heights, j, scaled)
            scale /= np.sqrt(np.where((heights > 0) & np.isfinite(heights), heights, 1.0))
    scale = np.exp2(np.clip(np.round(np.log2(scale)), -MAX_EXPONENT, MAX_EXPONENT))
    return scale[:n], scale[n:]


def _entries(matrix: Matrix, down: int, right: int) -> tuple[Array, Array, Array]:
    """Rows, columns and moduli of what is not 0."""
    entries = sp.coo_array(matrix)
    return entries.coords[0] + down, entries.coords[1] + right, np.abs(entries.data)


def _is_lossless(program: Program, D: Array, S: Array) -> bool:
    """Whether every entry converts to the new units and back without rounding."""
    unit = np.ones(1)
    triples: list[tuple[Matrix, Array, Array]] = [
        (program.rows, S, D),
        (program.c[:, None], D, unit),
        (program.limits[:, None], S, unit),
        *([] if program.Q is None else [(program.Q, D, D)]),
        *([] if program.R is None else [(program.R, S, S)]),
    ]
    with np.errstate(all="ignore"):
        for matrix, left, right in triples:
            entries = sp.coo_array(matrix)
            i, j = entries.coords
            scaled = entries.data * left[i] * right[j]
            back = scaled / right[j] / left[i]
            if not (np.isfinite(scaled).all() and (back == entries.data).all()):
                return False
    return True


def _scaled_matrix(matrix: Matrix, left: Array, right: Array) -> Matrix:
    if sp.issparse(matrix):
        return sp.csr_array(sp.diags_array(left) @ matrix @ sp.diags_array(right))
    return matrix * left[:, None] * right

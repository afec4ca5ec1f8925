"""A program in units of its own: all rows and columns of about one size.

Tolerances, of solvers and of certificates, mean something only when they do. With D and
S diagonal, x = Dx′, y = Sy′ and w = Sw′ turn Q, R, M, c, h into DQD, SRS, SMD, Dc, Sh: the
same program, and the same values. D and S hold powers of 2, so nothing is rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.duality.programs import Program, QuadraticProgram

Array = np.ndarray[Any, np.dtype[Any]]
# Ruiz' iteration halves the logarithms each time; 2^(2^-6) is next to 1.
ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Balanced:
    """`program` in its own units; `columns` (D) and `rows` (S) lead back."""

    program: Program
    columns: Array
    rows: Array

    def point(self, inner: Array) -> Array:
        """A point of the original program."""
        n = len(self.columns)
        return np.concatenate([inner[:n] * self.columns, inner[n:] * self.rows[: len(inner) - n]])

    def inner_point(self, point: Array) -> Array:
        """A point of the original program in these units."""
        n = len(self.columns)
        return np.concatenate([point[:n] / self.columns, point[n:] / self.rows[: len(point) - n]])


def balanced(program: Program) -> Balanced:
    """The program after Ruiz' scaling of its matrices ("A scaling algorithm to equilibrate
    both rows and columns norms in matrices", 2001), with powers of 2."""
    n, m = program.n, len(program.limits)
    Q = sp.csr_array((n, n)) if program.Q is None else sp.csr_array(program.Q)
    R = sp.csr_array((m, m)) if program.R is None else sp.csr_array(program.R)
    M = sp.csr_array(program.rows)
    whole = abs(sp.csr_array(sp.block_array([[Q, M.T], [M, R]]))) if n + m else Q
    scale = np.ones(n + m)
    for _ in range(ROUNDS if whole.nnz else 0):
        largest = sp.diags_array(scale) @ whole @ sp.diags_array(scale)
        heights = np.asarray(largest.max(axis=1).toarray()).ravel()
        scale /= np.sqrt(np.where(heights > 0, heights, 1.0))
    scale = np.exp2(np.round(np.log2(scale)))
    D, S = scale[:n], scale[n:]
    held = len(program.b)
    fields: dict[str, Any] = {
        "c": program.c * D,
        "A": _scaled(program.A, S[:held], D),
        "b": program.b * S[:held],
        "E": _scaled(program.E, S[held:], D),
        "f": program.f * S[held:],
    }
    if isinstance(program, QuadraticProgram):
        fields["Q"] = _scaled(program.Q, D, D)
        fields["R"] = None if program.R is None else _scaled(program.R, S, S)
    return Balanced(replace(program, **fields), D, S)


def _scaled(matrix: Any, left: Array, right: Array) -> Any:
    if sp.issparse(matrix):
        return sp.csr_array(sp.diags_array(left) @ matrix @ sp.diags_array(right))
    return matrix * left[:, None] * right

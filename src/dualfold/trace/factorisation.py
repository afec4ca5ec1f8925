"""TEMPORARY stand-in on SuperLU."""
from __future__ import annotations
from dataclasses import dataclass
from typing import Any
import numpy as np, scipy.sparse as sp, scipy.sparse.linalg as sla
from dualfold.errors import TooLarge

@dataclass(frozen=True, eq=False)
class Ordering:
    permutation: Any
    factor_entries: int
    flops: float

def fill_reducing_ordering(matrix, *, most_flops=None):
    n = matrix.shape[0]
    if n > 10000 and matrix.nnz / n > 14:
        raise TooLarge("too much fill")
    return Ordering(np.arange(n), matrix.nnz * 4, matrix.nnz * 400.0)

@dataclass(frozen=True, eq=False)
class Factorisation:
    negative: int
    zero: int
    positive: int
    backward_error: float
    lu: Any
    def solve(self, rhs):
        return self.lu.solve(np.ascontiguousarray(rhs))

def factorise(matrix, ordering):
    lu = sla.splu(sp.csc_matrix(matrix), permc_spec='MMD_AT_PLUS_A', diag_pivot_thresh=0, options=dict(SymmetricMode=True))
    d = lu.U.diagonal()
    ok = np.array_equal(lu.perm_r, lu.perm_c)
    e = 1e-15 * np.max(abs(lu.L) @ (abs(lu.U) @ np.ones(matrix.shape[0]))) if ok else np.inf
    return Factorisation(int((d < 0).sum()), int((d == 0).sum()), int((d > 0).sum()), float(e), lu)

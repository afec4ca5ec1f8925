"""A polynomial in A that damps the unwanted part of the spectrum.

Products with a sparse A are cheap against orthogonalising the basis of a Krylov
method. A Chebyshev filter spends many products on one new block of directions
(Zhou and Saad, "A Chebyshev–Davidson algorithm for large symmetric eigenproblems",
2007), so the basis is touched ten times less often.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.kernels import kernel, shared
from dualfold.kernels.tally import tally
from dualfold.kernels.threads import in_threads, thread_count
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers.shift import gershgorin
from dualfold.trace.sparse.shifted_matrices import shifted

_step = kernel("sparse_recurrence")
WIDEST = shared("WIDEST")  # columns the kernel takes at once
# Degree = STEEPNESS·√(damped interval / distance from the cut to the wanted end), and the
# cut at 40 % of the Ritz values: the best of 27 settings on the 10-NN graph of MNIST
# 70,000 (1.5 s of CPU where the unfiltered iteration takes 4.6 s). Beyond MOST the
# polynomial outruns what the Ritz values know about where to cut.
STEEPNESS, LEAST, MOST, CUT = 2.0, 4, 60, 0.4


@dataclass(eq=False)
class ChebyshevFilter:
    """T: X ↦ p(B⁻¹A)·X on the Ritz vectors, p small on [cut, top], growing fast below."""

    matrix: sp.csr_array  # sign·B⁻¹A
    problem: TraceProblem
    top: float
    products: int = 0

    @cached_property
    def shares(self) -> list[tuple[int, int]]:
        """Ranges of rows with about the same number of entries, one for each thread."""
        shares = np.linspace(0, self.matrix.nnz, thread_count() + 1)
        bounds = np.searchsorted(self.matrix.indptr, shares)
        bounds[-1] = self.matrix.shape[0]
        return list(pairwise(bounds.tolist()))

    @classmethod
    def of(cls, problem: TraceProblem) -> ChebyshevFilter:
        A = shifted(problem).at(0.0)
        if A.nnz >= 2**31:
            raise TooLarge(
                f"the matrix has {A.nnz} entries and the polynomial filter takes fewer than 2³¹; "
                "use fewer neighbours"
            )
        rows = np.repeat(problem.metric.solve(np.ones(problem.n)), np.diff(A.indptr))
        matrix = sp.csr_array(
            (A.data * rows, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape
        )
        return cls(matrix, problem, gershgorin(problem)[1])

    def __call__(self, residuals: Array, vectors: Array, ritz: Array) -> Array:
        low = float(ritz[0])
        cut = float(ritz[int(CUT * len(ritz)) if len(ritz) > 2 * vectors.shape[1] else -1])
        reach = max(cut - low, 1e-12 * self.top)
        degree = int(np.clip(STEEPNESS * np.sqrt((self.top - cut) / reach), LEAST, MOST))
        parts = [vectors[:, c : c + WIDEST] for c in range(0, vectors.shape[1], WIDEST)]
        return np.hstack([self._filtered(part, low, cut, degree) for part in parts])

    def _filtered(self, X: Array, low: float, cut: float, degree: int) -> Array:
        """Scaled Chebyshev recurrence: p(low) = 1, |p| small on [cut, top]."""
        half, centre = (self.top - cut) / 2, (self.top + cut) / 2
        sigma = first = half / (low - centre)
        X = np.ascontiguousarray(X)
        Z = np.zeros_like(X)
        self._advance(X, Z, sigma / half, centre, 0.0)
        for _ in range(degree - 1):
            following = 1 / (2 / first - sigma)
            # The old X becomes the new value in place; the roles then swap.
            self._advance(Z, X, 2 * following / half, centre, sigma * following)
            X, Z, sigma = Z, X, following
        self.products += degree * X.shape[1]
        tally("products", degree * X.shape[1])
        return Z

    def _advance(self, X: Array, Z: Array, scale: float, centre: float, weight: float) -> None:
        A, width = self.matrix, X.shape[1]

        def advance(share: tuple[int, int]) -> None:
            _step(*share, width, A.indptr, A.indices, A.data, scale, centre, weight, X, Z)

        in_threads(advance, self.shares, len(self.shares))

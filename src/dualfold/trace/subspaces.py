"""Min–max (Courant and Fischer) for given subspaces.

With λ₁ ≤ … ≤ λ_n the eigenvalues of (A, B) and q(x) = xᵀAx/xᵀBx,

    λ_k = min over dim U = k of max_{x ∈ U} q(x) = max over dim U = n − k + 1 of min_{x ∈ U} q(x)

so every subspace U of dimension k bounds two of them: λ_k ≤ max q and λ_{n−k+1} ≥ min q.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from dualfold.arrays import Array
from dualfold.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class SubspaceQuotients:
    """The range of xᵀAx/xᵀBx over a subspace, and what it says of the eigenvalues.

    least, largest : the range; least_at, largest_at : where its ends are taken
    dimension : k; λ_k ≤ largest, λ_{n−k+1} ≥ least (counted from 1, the smallest first)
    """

    least: float
    largest: float
    least_at: Array
    largest_at: Array
    dimension: int


def subspace_quotients(A: ArrayLike, U: ArrayLike, B: ArrayLike | None = None) -> SubspaceQuotients:
    """Compute the least and the largest quotient xᵀAx/xᵀBx over a subspace.

    By the min–max theorem of Courant and Fischer a subspace of dimension k bounds two eigenvalues
    λ₁ ≤ … ≤ λ_n of (A, B): λ_k is at most the largest quotient, and λ_{n−k+1} at least the least.

    Parameters
    ----------
    A : array-like of shape (n, n)
        Symmetric matrix.
    U : array-like of shape (n, k)
        Independent columns that span the subspace.
    B : array-like of shape (n, n) or None, default=None
        Positive definite matrix; None is the identity.

    Returns
    -------
    SubspaceQuotients
        The quotients `least` and `largest`, with vectors that attain them.

    Raises
    ------
    InvalidInput
        If the columns of U are dependent or have the wrong length.

    References
    ----------
    .. [1] R. A. Horn and C. R. Johnson, "Matrix Analysis", 2nd edition, Theorem 4.2.6, Cambridge
       University Press, 2013.

    Examples
    --------
    >>> import numpy as np
    >>> found = subspace_quotients(np.diag([1.0, 2.0, 4.0]), [[1.0, 0], [1, 0], [0, 1]])
    >>> round(found.least, 9), round(found.largest, 9)  # λ₂ ≥ 1.5, the least; λ₂ ≤ 4, the largest
    (1.5, 4.0)
    """
    A, U = np.asarray(A, dtype=float), np.asarray(U, dtype=float)
    if U.ndim != 2 or len(U) != len(A) or np.linalg.matrix_rank(U) < U.shape[1]:
        raise InvalidInput(
            f"a subspace must be given by independent columns of {len(A)} entries; the shape is "
            f"{U.shape} and the rank {np.linalg.matrix_rank(U)}"
        )
    basis = np.linalg.qr(U)[0]
    metric = np.eye(U.shape[1]) if B is None else basis.T @ np.asarray(B, dtype=float) @ basis
    values, vectors = scipy.linalg.eigh(basis.T @ A @ basis, metric)
    ends = basis @ vectors[:, [0, -1]]
    return SubspaceQuotients(
        float(values[0]), float(values[-1]), ends[:, 0], ends[:, 1], U.shape[1]
    )

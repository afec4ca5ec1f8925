"""How far distances are from those of any points in space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from dualfold.arrays import Array

# All eigenvalues of a matrix this large take about half a second.
MOST_ROWS_FOR_SPECTRUM = 1_500


@dataclass(frozen=True)
class NegativeMass:
    """Σ|λ| over the negative eigenvalues as a share of Σ|λ| (nan: unknown), and a word."""

    share: float
    note: str


def negative_mass(K: Array, largest: Array) -> NegativeMass:
    """The negative mass of K, without its whole spectrum where two sums decide it.

    With P and N the sums over positive and negative eigenvalues, P − N = tr K. When the
    `largest` eigenvalues have all of ‖K‖²_F = Σλ², every other one is 0. Else a small K
    is decomposed, and of a large one the bound N ≥ Σ largest − tr K is given.
    """
    trace = float(np.trace(K, dtype=float))
    left = float(np.einsum("ij,ij->", K, K, dtype=float)) - float(np.square(largest).sum())
    # ‖K‖² carries rounding of its n² terms; √ of it bounds what an eigenvalue can be.
    rounding = 64 * np.finfo(K.dtype).eps * float(np.square(largest).sum())
    if abs(left) <= rounding and not (largest < 0).any():
        return NegativeMass(0.0, "0: the coordinates have all of the norm of the matrix")
    if len(K) <= MOST_ROWS_FOR_SPECTRUM:
        values = scipy.linalg.eigvalsh(K.astype(float, copy=False))
        # Rounding of LAPACK: eigenvalues this close to 0 have no sign.
        values = values[np.abs(values) > 8 * np.finfo(K.dtype).eps * len(K) * np.abs(values).max()]
        whole = float(np.abs(values).sum())
        share = float(-values[values < 0].sum()) / whole if whole else 0.0
        return NegativeMass(share, f"{share:.3g}, from all eigenvalues")
    positive = float(largest[largest > 0].sum())
    least = max(0.0, positive - trace)
    # N/(P + N) with P = N + tr K grows with N, so the least N gives the least share.
    bound = least / (2 * least + trace) if least > 0 else 0.0
    return NegativeMass(
        float("nan"),
        f"unknown: it takes all {len(K)} eigenvalues (done up to {MOST_ROWS_FOR_SPECTRUM}); "
        f"at least {bound:.3g}",
    )

"""How far from PCA a set of points is: the minimum of f is known exactly.

f(Y) − min f = 4(Σ_{i≤d}σ_i⁴ − 2‖X_cᵀY‖² + ‖YᵀY‖²), whatever produced Y. The singular values
come from LAPACK on the smaller side of the data where it has up to `MOST_SPECTRUM` rows
("proved", up to rounding); beyond, they have to be given ("measured": they are then as good
as whoever found them).
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.descent.points import centred_points, kernel_times
from dualfold.errors import InvalidInput
from dualfold.weights.covariance import scatter
from dualfold.weights.rows import column_means, combined_rows, table

Array = np.ndarray[Any, np.dtype[Any]]

# All eigenvalues of a matrix of this size take some two seconds.
MOST_SPECTRUM = 3_000


@dataclass(frozen=True)
class PointCertificate:
    """The verdict on points as an answer to min ‖X_cX_cᵀ − YYᵀ‖; `print` it.

    level : "proved", "measured" (singular values were found by an iteration) or "failed"
    gap : (f − minimum)/(f(0) − minimum): the share of the possible fall that is missing
    value, bound : f(Y) and its exact minimum 4Σ_{i>d}σ_i⁴ (None where only their difference
        is known)
    slope : ‖∇f‖/(16‖Y‖³): 0 at a standstill
    tolerance, reasons : the largest gap that passes, and what failed, in words
    """

    level: Literal["proved", "measured", "failed"]
    gap: float
    value: float | None
    bound: float | None
    slope: float
    tolerance: float
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.level == "failed":
            return "failed: " + "; ".join(self.reasons)
        known = "the minimum is known from all singular values"
        if self.level == "measured":
            known = "the minimum is known from singular values found by an iteration"
        return f"{self.level}: optimal to {self.gap:.1e} (relative); {known}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: plain numbers, lists and strings."""
        return asdict(self) | {
            "reasons": list(self.reasons),
            "verdict": str(self),
            "schema": "dualfold.points/1",
        }


def squared_singular_values(X: Any) -> Array | None:
    """σ² of the centred data, largest first, by LAPACK; None where that is too much.

    From the D×D scatter, or for n < D from the data itself: nothing n×n.
    """
    data = table(X)
    n, width = data.shape
    if min(n, width) > MOST_SPECTRUM:
        return None
    if width <= n:
        # Products of float32 rows are summed in float64 and still rounded to float32.
        values = scipy.linalg.eigvalsh(scatter(data, precision=np.float64)[0])[::-1]
        return np.maximum(values, 0)
    dense = data.toarray() if sp.issparse(data) else data
    return np.square(scipy.linalg.svdvals(dense - column_means(data)))


def certify_points(
    X: Any, Y: Any, *, leading: Any = None, tolerance: float = 1e-8
) -> PointCertificate:
    """Judge the points Y (n×d) against the exact minimum of f.

    `leading` gives σ_1², …, σ_d² where the data is too large to find all of them; a gap above
    `tolerance` fails.

        >>> import numpy as np
        >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.1], [0.0, -0.1]])
        >>> certify_points(X, X[:, :1]).level
        'proved'
        >>> certify_points(X, X[:, 1:]).level
        'failed'
    """
    data, points = centred_points(X, Y)
    d = points.shape[1]
    spectrum = squared_singular_values(data) if leading is None else None
    if spectrum is None and leading is None:
        raise InvalidInput(
            f"the data has {data.shape} rows and columns; beyond {MOST_SPECTRUM} of both give the "
            f"{d} leading squared singular values (leading=…)"
        )
    top = np.asarray(leading, dtype=float) if spectrum is None else spectrum[:d]
    reachable = 4 * float(np.square(top).sum())
    across = combined_rows(data, points, column_means(data))
    gram = points.T @ points
    excess = reachable + 4 * float(np.square(gram).sum() - 2 * np.square(across).sum())
    gap = max(excess, 0.0) / reachable if reachable else float(np.square(gram).sum() > 0)
    size = float(np.linalg.norm(gram))
    pull = kernel_times(data, column_means(data), points)
    slope = float(np.linalg.norm(points @ gram - pull)) / max(size**1.5, 1e-300)
    bound = None if spectrum is None else 4 * float(np.square(spectrum[d:]).sum())
    reasons: tuple[str, ...] = ()
    if not gap <= tolerance:
        reasons = (f"{gap:.1e} of the possible fall of the error is missing, not {tolerance:.0e}",)
    level: Literal["proved", "measured", "failed"] = "proved" if leading is None else "measured"
    return PointCertificate(
        level="failed" if reasons else level,
        gap=gap,
        value=None if bound is None else bound + excess,
        bound=bound,
        slope=slope if reachable else 0.0,
        tolerance=tolerance,
        reasons=reasons,
    )

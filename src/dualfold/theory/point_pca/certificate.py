"""How far from PCA a set of points is: the minimum of f is known from the leading axes.

    f(Y) − min f = 4(Σ_{i≤d}σ_i⁴ − 2‖X_cᵀY‖² + ‖YᵀY‖²),

whatever produced Y. `leading` bounds the sum from both sides; here the rest is bounded, in
Frobenius norms. With u = 2⁻⁵³ and n rows the sums in X_cᵀY are off by (n + 8)u·‖X_c‖‖Y‖ in all,
and by what an error η of the mean adds, ‖η‖‖1ᵀY‖; those in YᵀY by (n + 8)u·‖Y‖². Y is centred
first: an error of its mean changes X_cᵀY not at all, and makes ‖YᵀY‖ only larger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Matrix, Numbers
from dualfold.certificate import Certificate, bound_text, checked_tolerance, level_of
from dualfold.kernels.arithmetic import UNIT_ROUNDOFF
from dualfold.theory.point_pca.leading_sum import leading_fourth_powers
from dualfold.theory.point_pca.point_descent import centred_points, kernel_times
from dualfold.weights.column_moments import column_means
from dualfold.weights.precision import mean_error
from dualfold.weights.row_passes import combined_rows


@dataclass(frozen=True, kw_only=True)
class PointCertificate(Certificate):
    """The verdict on points as an answer to min ‖X_cX_cᵀ − YYᵀ‖; `print` it.

    level : "proved", "within" (proved, but the gap is larger than the tolerance), "measured"
        (true but for `chance`) or "failed"
    gap : a bound of (f − minimum)/(f(0) − minimum): the share of the possible fall that is missing
    value, bound : f(Y) from above and its minimum 4Σ_{i>d}σ_i⁴ from below (NaN where only their
        difference is known)
    slope : ‖∇f‖/(16‖Y‖³): 0 at a standstill

    The rest is as in every `dualfold.Certificate`.
    """

    slope: float

    schema: ClassVar[str] = "dualfold.points/1"
    optimum: ClassVar[str] = "the possible fall of the error"

    @property
    def grounds(self) -> str:
        """Way in which the minimum is known."""
        return f"the leading axes are {'measured' if self.chance else 'proved'}"


def certify_points(
    X: Any, Y: Numbers, *, directions: Numbers | None = None, tolerance: float = 1e-8
) -> PointCertificate:
    """Certify points against the minimum of the error that PCA attains.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows of numbers; they are centred first.
    Y : array-like of shape (n_samples, n_components)
        The points.
    directions : array-like of shape (n_features, k) or None, default=None
        Approximate leading principal axes, k ≥ n_components, from any source. They are needed if
        the data is too large for LAPACK, and no more than a hint; the gap is then true but for a
        chance ("measured").
    tolerance : float in [0, 1], default=1e-8
        Largest gap that is called "proved".

    Returns
    -------
    PointCertificate
        Which share of the possible fall of the error is missing.

    See Also
    --------
    point_error : The error.
    dualfold.PointPCA : The estimator.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.1], [0.0, -0.1]])
    >>> certify_points(X, X[:, :1]).level
    'proved'
    >>> print(certify_points(X, X[:, 1:]))
    within 100 % of the possible fall of the error; the leading axes are proved
    >>> certify_points(X, -3 * X[:, :1]).level
    'failed'
    """
    tolerance = checked_tolerance(tolerance)
    data, points = centred_points(X, Y)
    if not np.isfinite(points).all():
        reason = "the points hold NaN or infinite entries"
        return PointCertificate(
            level="failed",
            gap=np.inf,
            value=np.nan,
            bound=np.nan,
            slope=np.inf,
            tolerance=tolerance,
            reasons=(reason,),
        )
    known = leading_fourth_powers(data, points.shape[1], directions)
    across, gram = _sizes(data, points, known.total)
    excess = 4 * (known.upper - 2 * across**2 + gram**2)
    # Terms of one size cancel; what rounding leaves of them is at most this.
    excess = max(excess, 0.0) + 32 * UNIT_ROUNDOFF * (known.upper + across**2 + gram**2)
    if known.lower > 0:
        gap = excess / (4 * known.lower)
    else:
        gap = 0.0 if gram == 0 and _all_equal(data) else np.inf
    level = level_of(gap, tolerance)
    reasons: tuple[str, ...] = (known.why,) if known.why else ()
    if not gap <= tolerance and not reasons:
        missing = f"{bound_text(gap)} of the possible fall of the error may be missing"
        reasons = (f"{missing}, not {tolerance:g}",)
    if known.chance and not known.why:
        level = "measured" if level == "proved" else "failed"
    bound = np.nan if known.rest is None else 4 * known.rest
    return PointCertificate(
        level=level,
        gap=gap,
        value=bound + excess,
        bound=bound,
        slope=_slope(data, points),
        tolerance=tolerance,
        reasons=() if level in ("proved", "measured") else reasons,
        chance=known.chance,
    )


def _sizes(data: Matrix, points: Array, total: float) -> tuple[float, float]:
    """‖X_cᵀY‖ from below and ‖YᵀY‖ from above, Frobenius norms; total: about Σσ²."""
    n, mean = data.shape[0], column_means(data)
    length, middle = float(np.linalg.norm(points)), float(np.linalg.norm(mean))
    squares = total + n * middle**2
    around = squares + n * middle**2 if sp.issparse(data) else total
    share = 1.02 * (n + 8) * UNIT_ROUNDOFF
    drift = float(np.linalg.norm(points.sum(axis=0))) + share * np.sqrt(n) * length
    off = share * np.sqrt(around) * length + mean_error(squares, n, n) * drift
    across = float(np.linalg.norm(combined_rows(data, points, mean))) - off
    gram = float(np.linalg.norm(points.T @ points))
    return max(across, 0.0), gram + share * length**2


def _all_equal(data: Matrix) -> bool:
    """Whether all rows are the same: then f is 0 at Y = 0, and nothing can fall."""
    if sp.issparse(data):
        return not (data.max(axis=0) - data.min(axis=0)).nnz
    return not (data != data[:1]).any()


def _slope(data: Matrix, points: Array) -> float:
    """‖∇f‖/(16‖Y‖³), as computed."""
    gram = points.T @ points
    pull = kernel_times(data, column_means(data), points)
    size = float(np.linalg.norm(gram))
    return float(np.linalg.norm(points @ gram - pull)) / size**1.5 if size > 1e-200 else 0.0

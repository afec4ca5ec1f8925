"""Points whose distances are nearest to given ones: least stress, by majorisation.

    minimise  σ(Y) = Σ_{i<j} (‖y_i − y_j‖ − Δ_ij)²      (argmin of Tucker's Algorithm 2)

Classical scaling minimises strain instead, and is only where this begins. A step replaces Y by
Guttman's transform B(Y)Y/n, which never raises σ (SMACOF; de Leeuw 1977). σ is not convex, and no
bound of its minimum is known: a certificate says whether the forces (‖y_i − y_j‖ − Δ_ij) along the
pairs balance, and never "proved".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.linalg
from scipy.spatial.distance import cdist

from dualfold.arrays import Array
from dualfold.certificate import Certificate, bound_text, checked_tolerance, share
from dualfold.errors import InvalidInput, TooLarge
from dualfold.point_pca.point_descent import MAX_PAIRED_POINTS
from dualfold.weights.gram import centred_gram

_U = 2.0**-53
# Distances computed twice differ by rounding; more is no matrix of distances.
ASYMMETRY_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True)
class StressCertificate(Certificate):
    """The verdict on points as an answer to min Σ(‖y_i − y_j‖ − Δ_ij)²; `print` it.

    level : "stationary" (forces balance up to the tolerance), "not stationary", or "failed"
        (points that are no numbers); never "proved"
    value : σ; error : how far rounding can move it
    unbalanced : the norm of the forces that remain over that of all forces; the tolerance is
        about this number

    The rest is as in every `dualfold.Certificate`; bound and gap are NaN and infinite.
    """

    error: float
    unbalanced: float

    schema: ClassVar[str] = "dualfold.stress/1"

    @property
    def statement(self) -> str:
        """The figures in words."""
        words = f"the stress is {self.value:.6g} (computed to {bound_text(self.error)}), "
        return words + f"{share(self.unbalanced)} of the forces is not balanced"

    @property
    def grounds(self) -> str:
        """What is not known."""
        return "no bound of the least stress is known"


@dataclass(frozen=True, eq=False)
class StressDescent:
    """Points, and how they were found.

    points : n×d, centred
    stresses : σ after each step, first the start
    certificate : whether the forces balance
    """

    points: Array
    stresses: Array
    certificate: StressCertificate


def descend_stress(
    distances: Any,
    n_components: int = 2,
    *,
    start: Any = None,
    tolerance: float = 1e-4,
    most_steps: int = 10_000,
) -> StressDescent:
    """Minimise the stress Σ_{i<j} (‖y_i − y_j‖ − Δ_ij)² by majorisation (SMACOF).

    Parameters
    ----------
    distances : array-like of shape (n_samples, n_samples)
        Symmetric matrix Δ, for example of `dualfold.graph.geodesic_distances`.
    n_components : int, default=2
        Number of coordinates.
    start : array-like of shape (n_samples, n_components) or None, default=None
        The first points; None takes classical scaling.
    tolerance : float in [0, 1], default=1e-4
        Share of unbalanced forces at which it stops, and that is called "stationary".
    most_steps : int, default=10000
        Largest number of steps.

    Returns
    -------
    StressDescent
        The points, the stress after each step, and a certificate.

    See Also
    --------
    dualfold.quality.stress : The stress of a map.
    dualfold.ClassicalMDS : Minimises strain instead, with a proof.

    Notes
    -----
    A step replaces Y by Guttman's transform B(Y)Y/n, which never raises the stress. The stress is
    not convex, and no bound of its minimum is known.

    References
    ----------
    .. [1] J. de Leeuw, "Applications of convex analysis to multidimensional scaling", Recent
       Developments in Statistics, 133–145, North-Holland, 1977.

    Examples
    --------
    >>> import numpy as np
    >>> side = np.array([[0.0, 3, 4], [3, 0, 5], [4, 5, 0]])
    >>> found = descend_stress(side)
    >>> found.certificate.level, bool(found.stresses[-1] < 1e-20)
    ('stationary', True)
    """
    D = _checked_distances(distances)
    Y = _first_points(D, n_components, start)
    stresses: list[float] = []
    for _ in range(most_steps + 1):
        now = _forces(D, Y)
        stresses.append(now.stress)
        if now.unbalanced <= tolerance / 2:
            break
        Y = _transformed_points(D, now.lengths, Y)
    Y = Y - Y.mean(axis=0)
    return StressDescent(Y, np.array(stresses), certify_stress(D, Y, tolerance=tolerance))


def guttman_transform(points: Any, distances: Any) -> Array:
    """B(Y)Y/n of points Y: one step of majorisation, after which no stress is larger."""
    D, Y = _checked_distances(distances), np.asarray(points, dtype=float)
    return _transformed_points(D, cdist(Y, Y), Y)


def _transformed_points(D: Array, lengths: Array, Y: Array) -> Array:
    ratio = np.divide(D, lengths, out=np.zeros_like(D), where=lengths > 0)
    return np.asarray((ratio.sum(axis=1)[:, None] * Y - ratio @ Y) / len(Y))


def certify_stress(distances: Any, points: Any, *, tolerance: float = 1e-4) -> StressCertificate:
    """Certify points (n×d) as an answer, however they were found.

    tolerance : the largest share of the forces that may be unbalanced in a "stationary" answer
    """
    tolerance = checked_tolerance(tolerance)
    D, Y = _checked_distances(distances), np.asarray(points, dtype=float)
    if Y.ndim != 2 or len(Y) != len(D):
        raise InvalidInput(f"the points must be an array of {len(D)} rows; the shape is {Y.shape}")
    about = "these points and those near them; another start may end lower"
    if not (np.abs(Y) < 1e150).all():
        reason = "the points hold NaN, infinity or squares that overflow"
        return StressCertificate(
            level="failed", gap=np.inf, value=np.nan, bound=np.nan, tolerance=tolerance,
            reasons=(reason,), about=about, error=np.inf, unbalanced=np.inf,
        )  # fmt: skip
    now = _forces(D, Y)
    balanced = now.unbalanced <= tolerance
    reason = f"{share(now.unbalanced)} of the forces is not balanced, more than {tolerance:g}"
    return StressCertificate(
        level="stationary" if balanced else "not stationary",
        gap=np.inf,
        value=now.stress,
        bound=np.nan,
        tolerance=tolerance,
        reasons=() if balanced else (reason,),
        about=about,
        error=now.error,
        unbalanced=now.unbalanced,
    )


@dataclass(frozen=True, eq=False)
class _Forces:
    lengths: Array
    stress: float
    error: float
    unbalanced: float


def _forces(D: Array, Y: Array) -> _Forces:
    """What pulls and pushes along the pairs, with the rounding of n terms a row.

    At points in one place that should lie apart σ has no gradient and falls in every direction: all
    forces count as unbalanced there.
    """
    n, width = Y.shape
    lengths = cdist(Y, Y)
    off = lengths - D
    stress = float(np.square(off).sum()) / 2
    # A length is right to (d + 4)u of itself.
    slips = (width + 4) * _U * (lengths + D)
    error = float((2 * np.abs(off) * slips + slips**2).sum()) / 2 + (n * n + 8) * _U * stress
    apart = np.divide(off, lengths, out=np.zeros_like(off), where=lengths > 0)
    centred = Y - Y.mean(axis=0)
    left = float(np.linalg.norm(apart.sum(axis=1)[:, None] * centred - apart @ centred))
    total = float(np.linalg.norm(np.abs(off).sum(axis=1)))
    # y_i times a sum over its row cancels against the others': to u of the largest coordinates.
    sizes = np.abs(apart).sum(axis=1) * np.linalg.norm(Y, axis=1).max(initial=0.0)
    left += (n + width + 8) * _U * float(np.linalg.norm(4 * sizes) + total)
    torn = bool(((lengths == 0) & (D > 0)).any())
    return _Forces(lengths, stress, error, _share_of(left, total, slips, torn))


def _share_of(left: float, total: float, slips: Array, torn: bool) -> float:
    """The unbalanced share; 0 where every length is right to rounding, 1 where nothing is known."""
    if torn:
        return 1.0
    if total <= 2 * float(np.linalg.norm(slips.sum(axis=1))):
        return 0.0
    return min(1.0, left / total)


def _checked_distances(distances: Any) -> Array:
    D = np.asarray(distances, dtype=float)
    if D.ndim != 2 or D.shape[0] != D.shape[1] or len(D) < 2:
        raise InvalidInput(
            f"distances must be a square matrix of 2 points or more; the shape is {D.shape}"
        )
    if len(D) > MAX_PAIRED_POINTS:
        raise TooLarge(
            f"{len(D)} points have {len(D) ** 2} distances; up to {MAX_PAIRED_POINTS} points are "
            "taken. Isomap and ClassicalMDS take more, and minimise strain"
        )
    if not np.isfinite(D).all() or D.min() < 0:
        raise InvalidInput("distances must be finite and not negative")
    if np.abs(D - D.T).max() > ASYMMETRY_TOLERANCE * D.max() or np.diagonal(D).any():
        raise InvalidInput(
            "distances must be the same there and back, and 0 from a point to itself"
        )
    return np.asarray((D + D.T) / 2)


def _first_points(D: Array, n_components: int, start: Any) -> Array:
    n = len(D)
    if start is not None:
        Y = np.array(start, dtype=float)
        if Y.ndim != 2 or len(Y) != n or not np.isfinite(Y).all():
            raise InvalidInput(
                f"the start must be {n} rows of finite numbers; its shape is {Y.shape}"
            )
        return Y - Y.mean(axis=0)
    if not 1 <= n_components < n:
        raise InvalidInput(f"n_components is {n_components}; {n} points have 1 to {n - 1}")
    values, vectors = scipy.linalg.eigh(centred_gram(D), subset_by_index=[n - n_components, n - 1])
    return np.asarray(vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0)))

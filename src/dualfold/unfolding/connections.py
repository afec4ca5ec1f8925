"""What duality says about spectral methods, as numbers for one unfolding.

At the optimum L*K* = K*, so with y_i the unfolded points

    (L_ii − 1) y_i = Σ_j w_ij y_j          every point is a combination of its neighbours (LLE)
    range K* ⊆ bottom eigenspace of L*     unnormalised eigenmaps with the weights w*
    tr K* ≤ tr K_Isomap                    geodesics bound the distances
    max λ₂(L(w)) over Σ w d² = c  is  c/c* the dual, read the other way round

(c* = Σ w* d² = tr K*. With B = Deg in place of I eigenmaps do not contain the range.)

Xiao, Sun and Boyd, "A duality view of spectral methods for dimensionality reduction" (2006).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.unfolding.bounds import geodesic_bounds
from dualfold.unfolding.spectral_floor import lowest_pairs
from dualfold.unfolding.unfold import Unfolding

# Normalised eigenmaps are only a contrast; beyond this dense size they are left out.
MAX_CONTRAST_ROWS = 3_000


@dataclass(frozen=True)
class Connections:
    """An unfolding beside Isomap, LLE and eigenmaps; `print` it.

    value : tr K of the unfolding, scaled into the constraints
    isomap : Isomap's tr K, an upper bound (None: too many points for all geodesics)
    local_linearity : Σ‖(L_ii − 1)y_i − Σ w_ij y_j‖² over Σ‖(L_ii − 1)y_i‖², square root: 0 if
        every point is exactly a combination of its neighbours
    eigenmaps_angle : largest angle, in degrees, from range K to the bottom eigenspace of L(w)
    normalised_angle : the same with B = Deg, about which the theory says nothing
    rank : directions of K that were compared
    second_eigenvalue, budget : λ₂(L(w)) and Σ w d² of the weights as given
    scaling_law : λ₂·c*/Σ w d², with c* the value: 1 when max λ₂ = c/c*
    kept_components, variance_outside : coordinates kept, share of tr K in the others
    shortened, longest : with these coordinates only, how much of d² the edges have lost, root
        mean square and at worst
    """

    value: float
    isomap: float | None
    local_linearity: float
    eigenmaps_angle: float
    normalised_angle: float
    rank: int
    second_eigenvalue: float
    budget: float
    scaling_law: float
    kept_components: int
    variance_outside: float
    shortened: float
    longest: float

    def __str__(self) -> str:
        isomap = (
            "Isomap's variance was not computed (too many points)"
            if self.isomap is None
            else f"Isomap's {self.isomap:.6g} is a bound, {self.isomap / self.value:.4g} times that"
        )
        return "\n".join(
            [
                f"variance of the unfolding: {self.value:.6g}; {isomap}",
                "each point is a combination of its neighbours to "
                f"{self.local_linearity:.1e} (LLE)",
                f"the {self.rank} directions of K lie within {self.eigenmaps_angle:.2g}° of the "
                "bottom eigenvectors of L(w) (unnormalised eigenmaps; normalised ones: "
                f"{self.normalised_angle:.2g}°)",
                f"max λ₂ at the budget {self.budget:.6g} is {self.second_eigenvalue:.8g}; "
                f"λ₂·c*/c = {self.scaling_law:.10g}",
                f"{self.kept_components} coordinates leave {self.variance_outside:.2%} of the "
                f"variance outside; edges then lack {self.shortened:.2%} of d² (root mean "
                f"square), {self.longest:.2%} at worst",
            ]
        )


def connections(unfolding: Unfolding, *, n_components: int = 2) -> Connections:
    """Compare an unfolding with Isomap, LLE and eigenmaps, which duality ties to it.

    Parameters
    ----------
    unfolding : Unfolding
        The unfolding.
    n_components : int, default=2
        Number of coordinates that are kept.

    Returns
    -------
    Connections
        The numbers; `print` it.

    See Also
    --------
    geodesic_bounds : The bounds by geodesics.

    References
    ----------
    .. [1] L. Xiao, J. Sun and S. Boyd, "A duality view of spectral methods for dimensionality
       reduction", Proceedings of the 23rd International Conference on Machine Learning, 1041–1048,
       2006.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import knn
    >>> from dualfold.unfolding import connections, unfold
    >>> line = unfold(knn(np.array([[0.0], [1.0], [2.5]]), 1), n_components=1)
    >>> round(connections(line, n_components=1).scaling_law, 3)
    1.0
    """
    p, w = unfolding.problem, unfolding.solution.weights
    certificate = unfolding.certificate
    Y = p.centred_points(unfolding.solution.factor)
    root = np.sqrt(p.mass)[:, None]
    U, lengths, rotation = np.linalg.svd(root * Y, full_matrices=False)
    Y = Y @ rotation.T
    rank = int(max(1, certificate.rank))
    values, vectors = lowest_pairs(p, w, Y)
    wide = max(rank, certificate.multiplicity or 0)
    scaled = w / values[0] if values[0] > 0 else w
    L = p.laplacian(scaled)
    left = (L.diagonal() - p.mass)[:, None] * Y
    away = L @ Y - p.mass[:, None] * Y
    kept = p.squared_lengths(Y[:, :n_components]) / p.squared
    whole = p.squared_lengths(Y) / p.squared
    lost = np.maximum(whole - kept, 0.0)
    budget = float(w @ p.squared)
    total = float(np.sum(lengths**2))
    return Connections(
        value=certificate.value,
        isomap=geodesic_bounds(p).isomap,
        local_linearity=float(np.linalg.norm(away)) / max(float(np.linalg.norm(left)), 1e-300),
        eigenmaps_angle=_angle(U[:, :rank], root * vectors[:, :wide]),
        normalised_angle=_normalised_angle(L, Y[:, :rank], wide),
        rank=rank,
        second_eigenvalue=float(values[0]),
        budget=budget,
        scaling_law=float(values[0]) * certificate.value / budget if budget else 1.0,
        kept_components=n_components,
        variance_outside=max(0.0, 1 - float(np.sum(lengths[:n_components] ** 2)) / total)
        if total
        else 0.0,
        shortened=float(np.sqrt(np.mean(lost**2))) if p.m else 0.0,
        longest=float(lost.max(initial=0.0)),
    )


def _angle(U: Array, V: Array) -> float:
    """The largest principal angle from span U to span V, in degrees."""
    Q, P = np.linalg.qr(U)[0], np.linalg.qr(V)[0]
    rest = Q - P @ (P.T @ Q)
    return float(np.degrees(np.arcsin(min(1.0, float(np.linalg.norm(rest, 2))))))


def _normalised_angle(L: sp.csr_array, Y: Array, count: int) -> float:
    """Largest angle to the bottom eigenvectors of (L, Deg), off the constant one."""
    degree = L.diagonal()
    n = len(degree)
    if n > MAX_CONTRAST_ROWS or n < count + 2 or degree.min() <= 0:
        return float("nan")
    vectors = scipy.linalg.eigh(L.toarray(), np.diag(degree), subset_by_index=[1, count])[1]
    off = vectors - vectors.mean(axis=0)
    return _angle(Y, off)

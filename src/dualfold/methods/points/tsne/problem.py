"""What t-SNE asks: points whose neighbours are as likely as in the data.

    minimise  F(Y) = Σ p_ij log p_ij + ρ·Σ p_ij log(1 + t_ij) + log Σ_{i≠j} 1/(1 + t_ij),
    t_ij = ‖y_i − y_j‖²

With ρ = 1 that is KL(P‖Q), q_ij = (1 + t_ij)⁻¹/Z, Z the sum in the logarithm (van der Maaten and
Hinton 2008). ρ is the attraction (exaggeration): Böhm, Berens and Kobak (2022) show that ρ ≈ 4
looks like UMAP, and that ρ → ∞ leads to Laplacian eigenmaps. Near Y = 0

    ∇F/4 = (ρL − I/(n − 1))Y + O(‖Y‖³),   L the Laplacian of P, Y centred,

so that a direction along which (n − 1)·L has an eigenvalue λ ≥ 1/ρ shrinks to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels.sparse import canonical_rows


@dataclass(frozen=True, eq=False)
class TsneProblem:
    """The t-SNE problem: attraction along the edges of P, repulsion between all pairs.

    The objective is F(Y) = Σ p_ij log p_ij + ρ·Σ p_ij log(1 + t_ij) + log Σ_{i≠j} 1/(1 + t_ij),
    with t_ij = ‖y_i − y_j‖². For ρ = 1 it is the Kullback–Leibler divergence KL(P‖Q).

    Parameters
    ----------
    P : csr_array of shape (n, n)
        Symmetric affinities without a diagonal, whose sum is 1.
    count : int, default=2
        Number of coordinates.
    attraction : float, default=1.0
        The attraction (exaggeration) ρ: about 4 looks like UMAP, and ρ → ∞ leads to Laplacian
        eigenmaps.
    about : str, default=""
        What the problem is about, in words.

    See Also
    --------
    dualfold.methods.tsne : The problem of a neighbour graph.
    dualfold.TSNE : The estimator.

    References
    ----------
    .. [1] L. van der Maaten and G. Hinton, "Visualizing data using t-SNE", Journal of Machine
       Learning Research, 9, 2579–2605, 2008.
    .. [2] J. N. Böhm, P. Berens and D. Kobak, "Attraction-repulsion spectrum in neighbor
       embeddings", Journal of Machine Learning Research, 23(95), 1–32, 2022.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from dualfold.methods.points.tsne import TsneProblem
    >>> TsneProblem(sp.csr_array([[0.0, 0.5], [0.5, 0.0]])).n
    2
    """

    P: sp.csr_array
    count: int = 2
    attraction: float = 1.0
    about: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "P", canonical_rows(self.P, "P"))
        square = self.P.shape[0] == self.P.shape[1]
        if not square or self.P.indices.dtype != np.int32 or self.P.data.dtype != np.float64:
            raise InvalidInput(
                f"the affinities must be a square CSR array of doubles with 32-bit indices; they "
                f"are {self.P.shape}, {self.P.data.dtype}, {self.P.indices.dtype}"
            )
        if not (np.isfinite(self.P.data).all() and (self.P.data >= 0).all()):
            raise InvalidInput("the affinities must be finite and not negative")
        if self.n < 2:
            raise InvalidInput(f"the affinities must be of at least 2 points; they are of {self.n}")
        if not 0 < self.attraction < np.inf:
            raise InvalidInput(
                Argument("attraction", self.attraction), " must be above 0 and finite"
            )
        if self.count < 1:
            raise InvalidInput(Argument("n_components", self.count), " must be at least 1")

    @property
    def n(self) -> int:
        """Number of points."""
        return int(self.P.shape[0])

    @cached_property
    def entropy(self) -> float:
        """Entropy −Σ p log p of the affinities."""
        p = self.P.data[self.P.data > 0]
        return -float(np.sum(p * np.log(p)))

    def laplacian(self) -> sp.csr_array:
        """Make the matrix (n − 1)(Deg − P).

        A direction in which its eigenvalue is above 1/ρ shrinks to 0 near Y = 0.

        Returns
        -------
        csr_array of shape (n, n)
            The scaled Laplacian of P.
        """
        degrees = np.asarray(self.P.sum(axis=1)).ravel()
        return sp.csr_array((self.n - 1) * (sp.diags_array(degrees) - self.P))

    def checked_points(self, points: object) -> Array:
        """Validate points of the map.

        Parameters
        ----------
        points : array-like of shape (n, d)
            The points of the map.

        Returns
        -------
        ndarray of shape (n, d)
            The points as doubles.

        Raises
        ------
        InvalidInput
            If they are no numbers, or have another number of rows.
        """
        try:
            Y = np.ascontiguousarray(points, dtype=float)
        except (TypeError, ValueError):  # sparse, text, rows of different lengths
            Y = np.empty(0)
        if Y.ndim != 2 or Y.shape[0] != self.n or not Y.shape[1]:
            raise InvalidInput(
                f"points must be an array of {self.n} rows, one for each row of the affinities; "
                f"the shape is {Y.shape}"
            )
        return Y

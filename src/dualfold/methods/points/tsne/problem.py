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
from typing import ClassVar

from dualfold.methods.points.forces import Forces
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.tsne.student import STUDENT


@dataclass(frozen=True, eq=False)
class TsneProblem(AttractionProblem):
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

    method_name: ClassVar[str] = "t-SNE"

    @property
    def forces(self) -> Forces:
        """Student's t, normalised over all pairs."""
        return STUDENT

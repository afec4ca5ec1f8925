"""What a solver returns: directions, and the story of how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dualfold.arrays import Array


@dataclass(frozen=True, eq=False)
class Solution:
    """Directions that a solver found for a trace problem, best first; nothing here is proved.

    Attributes
    ----------
    vectors : ndarray of shape (n, count)
        B-orthonormal directions; the entry of largest modulus in each column is positive.
    values : ndarray of shape (count,)
        Their Rayleigh quotients.
    guard : ndarray of shape (n, k)
        Further, less exact directions that hint at the next eigenvalue; k may be 0.
    solver : str
        Name of the algorithm.
    status : {"converged", "stopped"}
        Whether the iteration met its stopping rule.
    products : int
        Number of products with A.
    story : tuple of str
        Why this algorithm was chosen, in words.
    history : ndarray of shape (n_steps, 2) or None
        Of descent methods: the value after each step, and a bound of its relative distance from the
        optimum (infinite if there is none).

    See Also
    --------
    certify : Certifies the vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold import embed
    >>> from dualfold.trace import TraceProblem
    >>> solution = embed(TraceProblem(np.diag([1.0, 2.0, 4.0]), count=1)).solution
    >>> solution.status, solution.vectors.round(6).ravel()
    ('converged', array([1., 0., 0.]))
    """

    vectors: Array
    values: Array
    guard: Array
    solver: str
    status: Literal["converged", "stopped"]
    products: int
    story: tuple[str, ...] = ()
    history: Array | None = None


def with_signs(V: Array) -> Array:
    """V with each column's sign set so that its entry of largest modulus is positive.

    Among entries of equal modulus (up to rounding) the first decides, so that the
    sign does not depend on the last bit.
    """
    if V.size == 0:
        return V
    modulus = np.abs(V)
    first = np.argmax(modulus >= (1 - 1e-6) * modulus.max(axis=0), axis=0)
    signs = np.sign(V[first, np.arange(V.shape[1])])
    return V * np.where(signs == 0, 1.0, signs)

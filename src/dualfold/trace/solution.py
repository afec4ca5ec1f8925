"""What a solver returns: directions, and the story of how they were found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dualfold.arrays import Array


@dataclass(frozen=True, eq=False)
class Solution:
    """Directions of a trace problem, best first; nothing here is proved.

    `vectors` is n×count, B-orthonormal; `values` are their Rayleigh quotients.
    `solver` names the algorithm, `story` says in words why it was taken, `status` is
    "converged" or "stopped" and `products` the number of products with A that it cost.
    `guard` holds further, less exact directions (maybe none) that hint at the
    next eigenvalue. Signs: the entry of largest modulus in a column is positive.
    `history`, of descent methods, has a row for each step: the value reached, and a bound of its
    relative distance from the optimum (infinite where there is none).
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

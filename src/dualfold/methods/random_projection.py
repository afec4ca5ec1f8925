"""Random projections: distances nearly kept by maps that never saw the data.

No trace problem: nothing is optimised, so nothing can be certified optimal. What can be
said instead is how far the distances were changed, and that is measured on the points
themselves (`dualfold.quality.measured_distortion`).
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

from dualfold.errors import Argument, InvalidInput, Message
from dualfold.maps.linear import LinearMap
from dualfold.maps.random import Kind, random_map


def random_projection(
    X: Any,
    *,
    n_components: int | Literal["auto"] = "auto",
    kind: Kind = "gaussian",
    eps: float = 0.1,
    density: float | None = None,
    random_state: int | np.random.Generator | None = None,
) -> LinearMap:
    """A random linear map for data of the shape of X; `encode` gives the points.

    `kind` names its entries, `random_state` draws them:
    "gaussian" has independent N(0, 1/k) entries, "orthogonal" k orthonormal directions
    times √(D/k), "sparse" mostly zeros (`density`, default 1/√D). "auto" takes the size
    that keeps all squared distances within 1±`eps`, which is often more than D: then a
    projection saves nothing and is refused.

    Johnson and Lindenstrauss, "Extensions of Lipschitz mappings into a Hilbert space"
    (1984); Tucker, "Dimensionality reduction and the Fenchel game", §2.
    """
    n, width = X.shape
    size = n_components
    if size == "auto":
        size = johnson_lindenstrauss_size(n, eps)
        if size > width:
            raise InvalidInput(
                f"to keep the distances of {n} points within 1±{eps} takes {size} components, "
                f"and the data has only {width} features, so that a random map of this size would "
                "save nothing; ",
                _looser(n, width),
                ", or leave the data as it is",
            )
    return random_map(width, size, kind=kind, density=density, random_state=random_state)


def _looser(n: int, width: int) -> Message:
    """What can be asked for instead of "auto", so that the map has at most `width` rows."""
    fitting = [eps for eps in np.arange(0.05, 1.0, 0.05) if _size(n, float(eps)) <= width]
    smaller = Message(
        "give ",
        Argument("n_components"),
        f", a number up to {width} (the distortion is then measured)",
    )
    if not fitting:
        return smaller
    return Message(Argument("eps", round(fitting[0], 2)), " would fit, or ", smaller)


def johnson_lindenstrauss_size(n: int, eps: float) -> int:
    """Dimensions that keep all squared distances of n points within 1±eps.

    k ≥ 4 ln n / (eps²/2 − eps³/3): a random map of that size does so with positive
    probability, whatever the points are.

    Dasgupta and Gupta, "An elementary proof of a theorem of Johnson and Lindenstrauss"
    (2003).
    """
    if n < 1 or not 0 < eps < 1:
        raise InvalidInput(
            Argument("n"),
            f" is {n} and ",
            Argument("eps"),
            f" is {eps}; there must be at least one point, and eps lies between 0 and 1",
        )
    return _size(n, eps)


def _size(n: int, eps: float) -> int:
    return max(1, math.ceil(4 * math.log(n) / (eps**2 / 2 - eps**3 / 3)))

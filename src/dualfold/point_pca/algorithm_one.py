"""Draganov's Algorithm 1, line by line: the reference for small n."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import TooLarge
from dualfold.point_pca.point_descent import MAX_PAIRED_POINTS, double_centred
from dualfold.weights.row_passes import numeric_table


def algorithm_one(
    X: Any, n_components: int = 2, *, n_epochs: int = 100, rate: float, seed: int = 0
) -> list[Array]:
    """The iterates Y of "PCA by gradient descent on the points", first the start.

    As printed, but for its sign: the update adds the gradient and so climbs. Distances
    are squared, start and step are the paper's (N(0, 1), a constant rate ν), the gradient is
    half of ∇f. `n_components` columns of Y are drawn by `seed`; X and Y meet only through
    their distances. O(n²) memory each epoch; ν must be below 1/(8σ₁²) to converge (the
    Hessian's largest eigenvalue at the minimum is 32σ₁²). A negative ν is the algorithm as
    printed.

        >>> steps = algorithm_one([[0.0], [1.0], [2.0]], 1, n_epochs=200, rate=0.02)
        >>> [round(abs(float(y)), 6) for y in (steps[-1] - steps[-1].mean()).ravel()]
        [1.0, 0.0, 1.0]
    """
    data = numeric_table(X)
    n = data.shape[0]
    if n > MAX_PAIRED_POINTS:
        raise TooLarge(
            f"Algorithm 1 holds {n}×{n} distances; up to {MAX_PAIRED_POINTS} points are taken. "
            "descend_points does the same in O(nDd) a step"
        )
    dense = np.asarray(data.toarray() if hasattr(data, "toarray") else data, dtype=float)
    wanted = double_centred(dense)
    Y = np.random.default_rng(seed).standard_normal((n, n_components))
    iterates = [Y]
    for _ in range(n_epochs):
        vectors = Y[:, None, :] - Y[None, :, :]
        gradient = -4 * ((wanted - double_centred(Y))[:, :, None] * vectors).sum(axis=1)
        Y = Y - rate * gradient  # the paper adds it
        iterates.append(Y)
    return iterates

"""What the axes of a map have to do with the columns, and whether they can be told apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array

__all__ = ["close_axes", "column_correlations"]

CHI_SQUARE = -2 * float(np.log(0.05))  # 95 % of χ² with two degrees of freedom lie below


def column_correlations(X: Any, Y: Any) -> Array:
    """Pearson's correlation of each column of X (a row of the answer) with each axis of Y.

    0 where one of the two does not vary. X may be sparse.

    >>> import numpy as np
    >>> t = np.arange(5.0)
    >>> print(column_correlations(np.column_stack([t, -t, np.ones(5)]), t[:, None]).T)
    [[ 1. -1.  0.]]
    """
    axes = np.asarray(Y, dtype=np.float64)
    axes = axes - axes.mean(axis=0)
    if sp.issparse(X):
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel() - mean**2
        products = np.asarray(X.T @ axes)
    else:
        centred = np.asarray(X, dtype=np.float64) - np.mean(X, axis=0, dtype=np.float64)
        squares, products = np.square(centred).mean(axis=0), centred.T @ axes
    lengths = np.sqrt(len(axes) * np.maximum(squares, 0))[:, None] * np.linalg.norm(axes, axis=0)
    return np.divide(products, lengths, out=np.zeros(products.shape), where=lengths > 0)


def close_axes(variances: Any, n: int) -> list[tuple[int, int]]:
    """Neighbouring principal axes, counted from 1, that n rows do not tell apart.

    Two equal variances λ, of n rows of normal data, come out apart by δ with n(δ/2λ)² ~ χ² of two
    degrees (Anderson 1963). Where δ is within what that gives 19 times out of 20, another sample
    may turn the two axes within their plane by any angle: read the plane and not the axes.

    Anderson, "Asymptotic theory for principal component analysis" (1963), §3.

    >>> close_axes([4.0, 1.0, 0.99], 500)
    [(2, 3)]
    """
    values = np.asarray(variances, dtype=float)
    between = (values[:-1] + values[1:]) / 2
    near = n * np.diff(values) ** 2 < 4 * CHI_SQUARE * between**2
    return [(int(place) + 1, int(place) + 2) for place in np.flatnonzero(near)]

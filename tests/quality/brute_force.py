"""What measures of all pairs are made of, written out."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist


def off_diagonal(X, Y):
    """The distances of all pairs before and after, twice each."""
    off = ~np.eye(len(X), dtype=bool)
    return cdist(X, X)[off], cdist(Y, Y)[off]

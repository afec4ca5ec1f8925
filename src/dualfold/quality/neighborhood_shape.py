"""Changes of the shape and the density of neighbourhoods."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Metric, Seed
from dualfold.quality.estimate import drawn_rows, measured_weights, values_or_mean
from dualfold.quality.space import (
    EuclideanSpace,
    MapPoints,
    Measured,
    Space,
    both_spaces,
    neighbor_count,
)

# Gathered together in float64.
BLOCK_NUMBERS = 1 << 22


def local_distortion(
    X: Measured,
    Y: MapPoints,
    *,
    n_neighbors: int = 10,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Change of the shape of neighbourhoods, after the best rotation, shift and scale of each.

    ::

        mean over i of  min over rotations R, shifts b, scales c of
        Σ_j ‖x_j − (c·R·y_j + b)‖² / Σ_j ‖x_j − x̄‖²,   j over i and its k nearest

    From 0 to 1. 0: every neighbourhood is a scaled copy of itself; 1: nothing of it is left, or it
    collapsed to a point.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    n_neighbors : int ≥ 1, default=10
        Number k of neighbours that make a neighbourhood.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    per_point : bool, default=False
        Whether to return one number for each point, whose mean is the measure.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        How much each point counts in the mean over points, 0 or more; None: all alike. Neighbours
        are counted without weights, so that whole numbers are not repeated rows.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    float or ndarray of shape (n_samples,)
        The measure. Of a `sample` it is a float with the limits `low` and `high` of its 95 %
        interval. With `per_point=True` an array, NaN where a point was not measured.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or too few.

    See Also
    --------
    stress : Change of all distances.
    procrustes : The same for a whole map.

    Notes
    -----
    With the Gram matrices G and H of a centred neighbourhood and its image the value is 1 −
    ‖G^½H^½‖²_* / (tr G · tr H). A metric other than Euclid's enters by G = −½JΔJ, with the squared
    distances Δ. Neighbourhoods of equal points count as kept.

    References
    ----------
    .. [1] Y. Goldberg and Y. Ritov, "Local Procrustes for manifold embedding: a measure of
       embedding quality and embedding algorithms", Machine Learning, 77(1), 1–25, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import local_distortion
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> round(local_distortion(X, 2 * X[:, ::-1]), 6), round(local_distortion(X, X[:, :1]), 2)
    (0.0, 0.45)
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state, sample_weight)
    lists = x.nearest(k, rows)[0]
    values = distortion_of(x, y, lists, rows)
    weights = measured_weights(sample_weight, rows, x.n)
    return values_or_mean(values, rows, x.n, (0.0, 1.0), per_point, weights)


def distortion_of(x: Space, y: EuclideanSpace, lists: Array, rows: Array | None) -> Array:
    """The local distortion of each row, from the lists of its nearest in X."""
    names = np.arange(x.n) if rows is None else rows
    members = np.hstack([names[:, None], lists]).astype(np.int32)
    k = members.shape[1]
    values = np.empty(len(members))
    wide = x.width if isinstance(x, EuclideanSpace) else k
    step = max(1, BLOCK_NUMBERS // (k * max(wide, y.width, k)))
    for first in range(0, len(members), step):
        part = members[first : first + step]
        G = _grams(x, part)
        image = y.points[part].astype(float)
        image -= image.mean(axis=1, keepdims=True)
        whole = np.einsum("ijj->i", G) * np.einsum("ijk,ijk->i", image, image)
        # ‖G^½·image‖_*: the roots of the eigenvalues of the small matrix imageᵀ·G·image.
        small = np.einsum("ija,ijk,ikb->iab", image, G, image, optimize=True)
        nuclear = np.sqrt(np.maximum(np.linalg.eigvalsh(small), 0)).sum(axis=1)
        share = np.divide(nuclear**2, whole, out=np.zeros(len(part)), where=whole > 0)
        values[first : first + step] = np.clip(1 - share, 0, 1)
        values[first : first + step][np.einsum("ijj->i", G) <= 0] = 0.0
    return values


def _grams(x: Space, members: Array) -> Array:
    """Centred Gram matrices of some neighbourhoods."""
    if isinstance(x, EuclideanSpace):
        points = x.points[members].astype(float)
        points -= points.mean(axis=1, keepdims=True)
        return np.asarray(np.einsum("ija,ika->ijk", points, points, optimize=True))
    count, k = members.shape
    squares = np.empty((count, k, k))
    names, position = np.unique(members, return_inverse=True)
    position = position.reshape(members.shape)
    for start in range(0, len(names), x.height):
        part = names[start : start + x.height]
        distances = x.true_rows(part)
        distances[np.arange(len(part)), part] = 0.0
        row, at = np.nonzero((position >= start) & (position < start + len(part)))
        squares[row, at] = distances[(position[row, at] - start)[:, None], members[row]]
    squares = squares**2
    centred = squares - squares.mean(axis=1, keepdims=True) - squares.mean(axis=2, keepdims=True)
    return np.asarray(-0.5 * (centred + squares.mean(axis=(1, 2), keepdims=True)))


def density_correlation(
    X: Measured,
    Y: MapPoints,
    *,
    n_neighbors: int = 15,
    metric: Metric = "euclidean",
    sample: int | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float:
    """Correlation of the density of neighbourhoods in the data and on the map.

    Pearson's correlation over points of log R(x) and log R(y), where R² is the mean squared
    distance to the k nearest points, in X and on the map. From −1 to 1; 1: dense regions of X are
    dense on the map.

    Parameters
    ----------
    X : array-like, sparse matrix, data frame or Graph
        Data, one row for each point; float32 and memory maps are read as they are. A `Graph` stands
        for its geodesic distances; with `metric="precomputed"` X is a square matrix of distances.
    Y : array-like of shape (n_samples, n_components)
        Map, one row for each row of X.
    n_neighbors : int ≥ 1, default=15
        Number k of neighbours that make a neighbourhood.
    metric : str or callable, default="euclidean"
        Metric of X: a name that scikit-learn knows, a function of two rows, or "precomputed".
        Distances on the map are Euclidean.
    sample : int ≥ 2 or None, default=None
        Number of random points that are measured against all points; None measures all.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the sample. The same number gives the same points.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all cores. The result does not depend on it.

    Returns
    -------
    float
        The correlation; 0 where one side does not vary. Of a `sample` it has no interval: one point
        that was not drawn may have any density.

    Raises
    ------
    InvalidInput
        If X and Y have different numbers of rows, or too few.

    See Also
    --------
    local_distortion : Change of the shape of neighbourhoods.

    Notes
    -----
    Points with R = 0 (k exact duplicates) have no density and are left out.

    References
    ----------
    .. [1] A. Narayan, B. Berger and H. Cho, "Assessing single-cell transcriptomic variability
       through density-preserving data visualization", Nature Biotechnology, 39, 765–774, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.quality import density_correlation
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> round(density_correlation(X, 3 * X), 6)
    1.0
    """
    x, y = both_spaces(X, Y, metric, n_jobs)
    k, rows = neighbor_count(n_neighbors, x.n), drawn_rows(x.n, sample, random_state)
    return correlation_of_densities(x.nearest(k, rows)[1], y.nearest(k, rows)[1])


def correlation_of_densities(before: Array, after: Array) -> float:
    """From the distances to the nearest neighbours."""
    radii = [np.square(distances).mean(axis=1) for distances in (before, after)]
    differ = (radii[0] > 0) & (radii[1] > 0)
    logs = [np.log(radius[differ]) for radius in radii]
    m = int(differ.sum())
    if m < 2 or min(np.ptp(log) for log in logs) <= 1e-12:
        return 0.0
    return float(np.corrcoef(*logs)[0, 1])

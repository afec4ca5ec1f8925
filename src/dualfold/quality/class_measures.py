"""Measures for points whose classes are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dualfold.arrays import Array, Metric, Seed
from dualfold.errors import Argument, InvalidInput
from dualfold.kernels import kernel
from dualfold.quality.estimate import drawn_rows, measured_weights, values_or_mean
from dualfold.quality.space import MapPoints, neighbor_count, space_of

_class_sums = kernel("class_sums")


def silhouette(
    Y: MapPoints,
    labels: ArrayLike,
    *,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Silhouette: how much nearer points are to their own class than to the next one.

        mean over i of (b_i − a_i) / max(a_i, b_i)

    a_i is the mean distance to the other points of the class, b_i the smallest mean distance to
    another class. The measure is from −1 to 1 and 1 is best; a class of one point counts 0.

    Parameters
    ----------
    Y : array-like, sparse matrix or Graph
        Map or any other data, one row for each point.
    labels : array-like of shape (n_samples,)
        Class of each point; from 2 to n_samples − 1 different ones.
    metric : str or callable, default="euclidean"
        Metric of Y: a name that scikit-learn knows, a function of two rows, or "precomputed".
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
        If `labels` do not name a class for each point, or name too few or too many classes.

    See Also
    --------
    knn_accuracy : Whether the neighbours name the class of a point.

    Notes
    -----
    Equal to `sklearn.metrics.silhouette_score`, without a matrix of all distances: memory O(n),
    time O(n²).

    References
    ----------
    .. [1] P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of
       cluster analysis", Journal of Computational and Applied Mathematics, 20, 53–65, 1987.

    Examples
    --------
    >>> from dualfold.quality import silhouette
    >>> round(silhouette([[0.0], [1.0], [9.0], [10.0]], ["a", "a", "b", "b"]), 2)
    0.89
    """
    space = space_of(Y, metric, n_jobs)
    classes, codes = _classes(labels, space.n)
    rows = drawn_rows(space.n, sample, random_state, sample_weight)
    order = np.argsort(codes, kind="stable")
    row_of = np.empty(space.n, dtype=np.int32)
    row_of[order] = np.arange(space.n, dtype=np.int32)
    sizes = np.bincount(codes)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    values = np.empty(space.n if rows is None else len(rows))

    by_class = space.in_order(order)

    def tile(places: slice, names: Array) -> None:
        distances = by_class(names)
        sums = np.empty((len(names), len(classes)))
        _class_sums(distances, space.n, len(names), row_of[names], starts, len(classes), sums)
        class_of, at = codes[names], np.arange(len(names))
        others = sizes[class_of] - 1
        within = sums[at, class_of] / np.maximum(others, 1)
        sums /= sizes
        sums[at, class_of] = np.inf
        between = sums.min(axis=1)
        longer = np.maximum(within, between)
        ratio = np.divide(between - within, longer, out=np.zeros(len(names)), where=longer > 0)
        values[places] = np.where(others > 0, ratio, 0.0)

    space.each_tile(tile, rows)
    weights = measured_weights(sample_weight, rows, space.n)
    return values_or_mean(values, rows, space.n, (-1.0, 1.0), per_point, weights)


def knn_accuracy(
    Y: MapPoints,
    labels: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Share of points whose k nearest neighbours vote for their class.

    From 0 to 1; 1 is best. Compare the value of the map with that of the data,
    `knn_accuracy(X, labels)`.

    Parameters
    ----------
    Y : array-like, sparse matrix or Graph
        Map or any other data, one row for each point.
    labels : array-like of shape (n_samples,)
        Class of each point; from 2 to n_samples − 1 different ones.
    n_neighbors : int ≥ 1, default=5
        Number k of neighbours that vote. A point does not vote for itself.
    metric : str or callable, default="euclidean"
        Metric of Y: a name that scikit-learn knows, a function of two rows, or "precomputed".
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
        If `labels` do not name a class for each point, or there are too few points.

    See Also
    --------
    neighborhood_hit : How many of the votes are right.

    Notes
    -----
    Equal votes go to the class that comes first in sorted order, as in
    `sklearn.neighbors.KNeighborsClassifier`.

    Examples
    --------
    >>> from dualfold.quality import knn_accuracy
    >>> Y = [[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]]
    >>> knn_accuracy(Y, ["a", "a", "a", "b", "b", "b"], n_neighbors=2)
    1.0
    """
    space = space_of(Y, metric, n_jobs)
    classes, codes = _classes(labels, space.n)
    k, rows = (
        neighbor_count(n_neighbors, space.n),
        drawn_rows(space.n, sample, random_state, sample_weight),
    )
    own_codes = codes if rows is None else codes[rows]
    right = majority_class(space.nearest(k, rows)[0], codes, len(classes)) == own_codes
    values = right.astype(float)
    weights = measured_weights(sample_weight, rows, space.n)
    return values_or_mean(values, rows, space.n, (0.0, 1.0), per_point, weights)


def neighborhood_hit(
    Y: MapPoints,
    labels: ArrayLike,
    *,
    n_neighbors: int = 5,
    metric: Metric = "euclidean",
    per_point: bool = False,
    sample: int | None = None,
    sample_weight: ArrayLike | None = None,
    random_state: Seed = 0,
    n_jobs: int | None = None,
) -> float | Array:
    """Share of a point's k nearest neighbours that are of its class, on average.

    From 0 to 1; 1 is best. `knn_accuracy` asks whether the right class has most votes; this measure
    asks how many votes it has, and falls as soon as classes mix at their borders.

    Parameters
    ----------
    Y : array-like, sparse matrix or Graph
        Map or any other data, one row for each point.
    labels : array-like of shape (n_samples,)
        Class of each point; from 2 to n_samples − 1 different ones.
    n_neighbors : int ≥ 1, default=5
        Number k of neighbours that make a neighbourhood.
    metric : str or callable, default="euclidean"
        Metric of Y: a name that scikit-learn knows, a function of two rows, or "precomputed".
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
        If `labels` do not name a class for each point, or there are too few points.

    See Also
    --------
    knn_accuracy : Whether the right class has most votes.

    References
    ----------
    .. [1] F. V. Paulovich, L. G. Nonato, R. Minghim and H. Levkowitz, "Least square projection: a
       fast high-precision multidimensional projection technique and its application to document
       mapping", IEEE Transactions on Visualization and Computer Graphics, 14(3), 564–575, 2008.

    Examples
    --------
    >>> from dualfold.quality import neighborhood_hit
    >>> neighborhood_hit([[0.0], [1.0], [9.0], [10.0]], ["a", "a", "b", "b"], n_neighbors=2)
    0.5
    """
    space = space_of(Y, metric, n_jobs)
    _, codes = _classes(labels, space.n)
    k, rows = (
        neighbor_count(n_neighbors, space.n),
        drawn_rows(space.n, sample, random_state, sample_weight),
    )
    own_codes = codes if rows is None else codes[rows]
    values = np.mean(codes[space.nearest(k, rows)[0]] == own_codes[:, None], axis=1)
    weights = measured_weights(sample_weight, rows, space.n)
    return values_or_mean(values, rows, space.n, (0.0, 1.0), per_point, weights)


def majority_class(lists: Array, codes: Array, classes: int) -> Array:
    """The class that most of each row's neighbours have, the first of equals."""
    votes = np.zeros((len(lists), classes), dtype=np.int32)
    np.add.at(votes, (np.arange(len(lists))[:, None], codes[lists]), 1)
    return np.asarray(votes.argmax(axis=1))


def _classes(labels: ArrayLike, n: int) -> tuple[Array, Array]:
    given = np.asarray(labels)
    if given.shape != (n,):
        raise InvalidInput(
            Argument("labels"),
            f" must be one class for each point ({n}); their shape is {given.shape}",
        )
    classes, codes = np.unique(given, return_inverse=True)
    if not 2 <= len(classes) <= max(n - 1, 2):
        raise InvalidInput(
            Argument("labels"),
            f" must name from 2 to n−1 classes; given are {len(classes)} classes for {n} points. "
            "Are they numbers to colour by rather than classes?",
        )
    return classes, codes

"""Neighbour lists with the search that found them, and their recall if they may be wrong."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from dualfold.arrays import Array


@dataclass(frozen=True)
class Search:
    """The algorithm that found the lists, and what is known about their correctness.

    method : "kd-tree", "blocked", "filtered", "radius", "cells", "metric" or "precomputed"
    exact, proved : whether every row is right up to `rounding`, and the share of rows of which
        that is proved
    recall, recall_interval : share of the true neighbours that were found, and its 95 % interval
    sampled : rows whose true neighbours were computed to measure it
    rounding : the distances are right to this share of their size; 0 where they were given,
        nan where a metric computed them, whose rounding is not known

    What "exact" says, with r = `rounding`: no point that a row leaves out is nearer than one
    that it lists by more than 2r of the distance, and the same of two listed ones in the
    wrong order. Of given distances, and of those by a metric as it computed them, r is 0.
    """

    method: str
    exact: bool
    proved: float
    recall: float
    recall_interval: tuple[float, float]
    sampled: int
    rounding: float = 0.0

    def sentence(self) -> str:
        """Plain words for how the neighbours were found."""
        if self.exact and self.method == "metric":
            return "exact neighbours (metric), every pair compared by the distances as computed"
        if self.exact and not self.rounding:
            return f"exact neighbours ({self.method}), every row proved"
        if self.exact:
            width = 2 * self.rounding
            step = 10.0 ** math.floor(math.log10(width))
            # A digit, rounded up: a bound stays one.
            ties = f"ties within {math.ceil(width / step - 1e-12) * step:.0e} may be either way"
            return f"exact neighbours ({self.method}), every row proved; {ties}"
        low, high = self.recall_interval
        return (
            f"approximate neighbours ({self.method}): {self.recall:.1%} of the true ones found "
            f"(95 % interval {low:.1%} to {high:.1%}, measured on {self.sampled} points)"
        )


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The nearest rows of each row, nearest first; no row is in its own list.

    Attributes
    ----------
    indices : ndarray of int32 of shape (n_samples, k)
        Row numbers of the neighbours, sorted by distance and then by number.
    distances : ndarray of float64 of shape (n_samples, k)
        Their distances.
    search : Search
        How they were found; `search.sentence()` says it in words.

    See Also
    --------
    nearest : The function that returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from dualfold.graph import nearest
    >>> found = nearest(np.array([[0.0], [1.0], [3.0]]), 2)
    >>> found.indices
    array([[1, 2],
           [0, 2],
           [1, 0]], dtype=int32)
    >>> found.first(1).distances.ravel()
    array([1., 1., 2.])
    """

    indices: np.ndarray  # (n, k) int32
    distances: np.ndarray  # (n, k) float64, rows sorted by (distance, index)
    search: Search

    def first(self, k: int) -> Neighbors:
        """The lists cut to their k nearest: bit for bit what a search for k finds.

        Parameters
        ----------
        k : int
            Length of the new lists.

        Returns
        -------
        Neighbors
            The shorter lists.
        """
        if k == self.indices.shape[1]:
            return self
        near, far = (np.ascontiguousarray(a[:, :k]) for a in (self.indices, self.distances))
        return Neighbors(near, far, self.search)


class Pairs(NamedTuple):
    """Pairs of a row (or a query) and another row, with their distances, in no order."""

    rows: Array
    columns: Array
    distances: Array

    def where(self, kept: Array) -> Pairs:
        """The pairs that a mask keeps."""
        return Pairs(*(part[kept] for part in self))


def joined_pairs(parts: Iterable[Pairs]) -> Pairs:
    """Sets of pairs as one; none where there are no parts."""
    nothing = np.empty(0, np.int32)
    every = list(parts) or [Pairs(nothing, nothing, np.empty(0))]
    return Pairs(*(np.concatenate(part) for part in zip(*every, strict=True)))


def exact_search(method: str, rounding: float) -> Search:
    """Record of an exact search: everything is proved, up to the rounding of distances."""
    return Search(method, True, 1.0, 1.0, (1.0, 1.0), 0, rounding)


def without_self(
    indices: np.ndarray, distances: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lists of k + 1 less the point itself, or less the last where duplicates hide it."""
    k = indices.shape[1] - 1
    is_self = indices == rows[:, None]
    is_self[~is_self.any(axis=1), k] = True
    return indices[~is_self].reshape(-1, k), distances[~is_self].reshape(-1, k)


def best_of_rows(distances: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The k smallest entries of each row by (value, index): (indices, values)."""
    bound = np.partition(distances, k - 1, axis=1)[:, k - 1]
    indices = np.empty((len(distances), k), dtype=np.int32)
    values = np.empty((len(distances), k))
    for row, (line, last) in enumerate(zip(distances, bound, strict=True)):
        near = np.flatnonzero(line <= last)
        by = near[np.argsort(line[near], kind="stable")[:k]]
        indices[row], values[row] = by, line[by]
    return indices, values


def recall_interval(row_recalls: np.ndarray) -> tuple[float, float]:
    """A 95 % interval of the mean recall from the recalls of sampled rows.

    Rows are the sampling unit: the k neighbours of a row are missed together, so
    counting neighbours as independent would make the interval too narrow. Without
    a single miss it is the exact binomial bound on the share of imperfect rows
    (about 3/m of m rows). Otherwise Student's interval, after adding one row of
    recall 0 and one of 1 (as Agresti and Coull do for proportions), since misses
    are rare and skewed and the plain interval would be too short.
    """
    m = len(row_recalls)
    if m == 0:
        return (0.0, 1.0)
    if row_recalls.min() == 1.0:
        return (float(0.05 ** (1 / m)), 1.0)
    padded = np.concatenate([row_recalls, [0.0, 1.0]])
    half = stdtrit(m + 1, 0.975) * padded.std(ddof=1) / np.sqrt(m + 2)
    return (max(0.0, float(padded.mean() - half)), min(1.0, float(padded.mean() + half)))

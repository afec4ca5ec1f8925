"""How far points of aligned maps move although nothing has changed.

If nothing changed, each thing has one value, and that value does not depend on the slices that the
thing is in (its presences). So every assignment of presences to values is as likely as the observed
one. Series with presences drawn at random are mapped as the observed one was; the largest movement
of the observed series exceeds those of r others by chance in 1 of r + 1 series.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dualfold.arrays import Array
from dualfold.models.aligned_links import things_of
from dualfold.quality.map_comparison import procrustes

# The largest share of rows that two successive slices have in common: if all rows were the same,
# none would move.
MAX_OVERLAP = 0.8
# The most rows of a slice, and of all slices, that are resampled. Maps of fewer rows move farther.
MAX_RESAMPLED_ROWS = 2_000
MAX_SERIES_ROWS = 10_000


def series_without_change(
    tables: Sequence[Array], links: Sequence[Array], draw: np.random.Generator
) -> tuple[list[Array], list[Array]]:
    """A series of things that keep their values, with presences of the given one, and its links.

    Presences go to other things at random. Where slices have other columns, the values are those
    of the largest slice.
    """
    things = things_of([len(X) for X in tables], links)
    values = _values_of_things(tables, things, draw)
    presences = np.zeros((max(map(max, things)) + 1, len(tables)), bool)
    for t, numbers in enumerate(things):
        presences[numbers, t] = True
    presences = presences[draw.permutation(len(presences))[: _number_kept(presences, len(values))]]
    values = values[np.sort(draw.choice(len(values), len(presences), replace=False))]
    presences = _thinned_presences(presences, draw)
    return [values[there] for there in presences.T], _links_of(presences)


def _values_of_things(
    tables: Sequence[Array], things: Sequence[Array], draw: np.random.Generator
) -> Array:
    """Values of things, one of each, from any of its slices; or the rows of the largest slice."""
    if len({X.shape[1] for X in tables}) > 1:
        return max(tables, key=len)
    rows, numbers = np.concatenate(list(tables)), np.concatenate(list(things))
    order = draw.permutation(len(rows))
    first = np.unique(numbers[order], return_index=True)[1]
    return np.asarray(rows[order[first]])


def _number_kept(presences: Array, n_values: int) -> int:
    """The number of things of a series: those that have a value, within the limits."""
    sizes = presences.sum(axis=0)
    share = min(1.0, MAX_RESAMPLED_ROWS / sizes.max(), MAX_SERIES_ROWS / sizes.sum())
    return min(n_values, int(share * len(presences)))


def _thinned_presences(presences: Array, draw: np.random.Generator) -> Array:
    """Fewer presences where successive slices have too many things in common."""
    shares = [
        2 * np.sum(one & other) / max(1, np.sum(one) + np.sum(other))
        for one, other in zip(presences.T[:-1], presences.T[1:], strict=True)
    ]
    kept = min(1.0, MAX_OVERLAP / max(*shares, MAX_OVERLAP))
    # The same number in each slice, so that series differ only in which things are there.
    thinned = presences.copy()
    for there in thinned.T:
        rows = np.flatnonzero(there)
        there[draw.choice(rows, len(rows) - int(np.ceil(kept * len(rows))), replace=False)] = False
    return thinned


def _links_of(presences: Array) -> list[Array]:
    """Pairs of places of things that are in two successive slices."""
    places = np.cumsum(presences, axis=0) - 1
    links = []
    for t in range(presences.shape[1] - 1):
        both = presences[:, t] & presences[:, t + 1]
        links.append(places[both, t : t + 2])
    return links


def movements(points: Sequence[Array], pairs: Sequence[Array]) -> list[Array]:
    """Distances between linked rows, relative to the radius of the map of the first slice."""
    moved = []
    for t, linked in enumerate(pairs):
        one, other = points[t], points[t + 1]
        apart = np.linalg.norm(one[linked[:, 0]] - other[linked[:, 1]], axis=1)
        moved.append(apart / _radius(one))
    return moved


def shift_between(points: Array, other: Array, *, centred: bool) -> float:
    """The median distance of two maps of the same rows, one of them turned onto the other.

    centred : whether each map has its own mean at 0. Links do not remove the distance between two
        means, so it counts as movement here, too; other maps are shifted onto one another.
    """
    if not centred:
        return float(np.median(procrustes(points, other, scale=1.0).residuals)) / _radius(points)
    left, _, right = np.linalg.svd(other.T @ points)
    distances = np.linalg.norm(points - other @ (left @ right), axis=1)
    return float(np.median(distances)) / _radius(points)


def _radius(points: Array) -> float:
    return float(np.sqrt(np.mean(np.sum((points - points.mean(axis=0)) ** 2, axis=1)))) or 1.0


def resampled_pair(n: int, overlap: float, draw: np.random.Generator) -> tuple[Array, Array, Array]:
    """The rows of two samples of one slice, and the pairs of their places that are one row.

    They share as large a part of their rows as slices do, but at most MAX_OVERLAP.
    """
    share = min(overlap, MAX_OVERLAP)
    count = max(3, int(n / (2 - share)))
    both = int(share * count)
    rows = draw.permutation(n)
    first = np.sort(rows[:count])
    second = np.sort(rows[count - both : 2 * count - both])
    _, places, others = np.intersect1d(first, second, return_indices=True)
    return first, second, np.column_stack([places, others])

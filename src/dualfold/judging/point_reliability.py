"""Whether a point's place on the map says something about it.

Every point is compared with the same reference points (all others, or a sample of them):

    a_i : of all references, the share that lie nearer to i in the data than a quarter of its
          nearest references on the map do
    b_i : the share that lie nearer to i on the map than a quarter of its nearest references in
          the data do
    s_i = max(a_i, b_i),   0: its surroundings are right,   about 0.5: those of a random place

A quarter, so that neither neighbours that are themselves misplaced nor a small group at the edge
of others decide. Under the hypothesis "its place says nothing about it", point i may stand at the
place of any other point j; s_i is computed again there, for random j. These are the permutations.
The p-value of a point is the share of these that are as good; which points are random is decided in
`place_mixture`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.reports import steps
from dualfold.kernels.threads import in_threads, one_blas_thread, row_slices
from dualfold.quality.space import EuclideanSpace, Space

__all__ = ["Reliability", "reliability"]

MAX_REFERENCES = 4_000  # docs/dev/notes/audits.md
MAX_NEAR_REFERENCES = 20
# In all, so that p-values go down to 5e-5.
RANDOM_PLACES = 20_000
_TILE_DISTANCES = 1 << 20  # distances of a tile: 8 MiB


@dataclass(frozen=True, eq=False)
class Reliability:
    """s of every point, and of points at random places.

    scores : one for each point, 0 (right) to 1
    random : the same at places of other points, drawn at random
    references, n_neighbors : number of reference points, and of near ones among them
    """

    scores: Array
    random: Array
    references: int
    n_neighbors: int

    @property
    def p_values(self) -> Array:
        """The share of random places with a score as good; ties count half."""
        order = np.sort(self.random)
        below = np.searchsorted(order, self.scores, side="left")
        upto = np.searchsorted(order, self.scores, side="right")
        return np.asarray((0.5 * (below + upto) + 0.5) / (len(order) + 1))


def reliability(
    x: Space, y: EuclideanSpace, seed: int, *, places: int = RANDOM_PLACES
) -> Reliability:
    """Score every point, at its own place and at those of others.

    x : the data
    y : the map
    seed : of the random places
    places : how many random places are scored in all
    """
    n, rng = x.n, np.random.default_rng(seed)
    references = (
        np.arange(n) if n <= MAX_REFERENCES else np.sort(rng.permutation(n)[:MAX_REFERENCES])
    )
    near = max(4, min(MAX_NEAR_REFERENCES, len(references) // 5))
    data, shown = _distances_to(x, references), _distances_to(y, references)
    rounds = -(-places // n)
    partners = [_random_other_points(n, rng) for _ in range(rounds)]
    scores, random = np.empty(n), np.empty((rounds, n))
    on_map = np.empty((n, near), dtype=np.intp)
    tiles = list(row_slices(n, max(16, _TILE_DISTANCES // len(references))))

    def find_nearest_on_map(part: slice) -> None:
        on_map[part] = _nearest(shown(np.arange(part.start, part.stop)), near)

    def score_points(part: slice) -> None:
        names = np.arange(part.start, part.stop)
        distances = data(names)
        in_data = _nearest(distances, near)
        scores[part] = _worse_share(distances, shown(names), on_map[part], in_data)
        for turn, other in enumerate(partners):
            there = other[part]
            random[turn, part] = _worse_share(distances, shown(there), on_map[there], in_data)

    with one_blas_thread(), steps("judging each point", 2 * len(tiles)) as done:
        in_threads(find_nearest_on_map, tiles, x.threads, done)
        in_threads(score_points, tiles, x.threads, done)
    return Reliability(scores, random.ravel(), len(references), near)


def _worse_share(distances: Array, shown: Array, on_map: Array, in_data: Array) -> Array:
    return np.maximum(_share_nearer(distances, on_map), _share_nearer(shown, in_data))


def _share_nearer(distances: Array, columns: Array) -> Array:
    """Share of all references that are nearer than a quarter of those in `columns`."""
    chosen = np.take_along_axis(distances, columns, axis=1)
    quarter = columns.shape[1] // 4
    limit = np.partition(chosen, quarter - 1, axis=1)[:, quarter - 1]
    return np.asarray(np.count_nonzero(distances < limit[:, None], axis=1) / distances.shape[1])


def _nearest(distances: Array, near: int) -> Array:
    return np.argpartition(distances, near, axis=1)[:, :near]


def _random_other_points(n: int, rng: np.random.Generator) -> Array:
    """A random other point for each."""
    return (np.arange(n) + rng.integers(1, n, size=n)) % n


def _distances_to(space: Space, references: Array) -> Callable[[Array], Array]:
    """names → their distances to the references (infinite to themselves), or an increasing
    function of these."""
    if not isinstance(space, EuclideanSpace):
        return lambda names: space.between(names, references)
    place = np.full(space.n, -1)
    place[references] = np.arange(len(references))

    def without_self(out: Array, names: Array) -> Array:
        own = place[names]
        out[np.flatnonzero(own >= 0), own[own >= 0]] = np.inf
        return out

    mean = space.points.mean(axis=0, dtype=np.float64)
    there = space.points[references] - mean
    squares = np.square(there).sum(axis=1)

    def rows(names: Array) -> Array:
        own = space.points[names] - mean
        out = squares - 2 * (own @ there.T)  # short of |own|², which is the same in all of a row
        return without_self(out, names)

    return rows

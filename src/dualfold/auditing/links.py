"""Are the groups of a map groups in the data?

A link goes from a point to each of its nearest in the data. A group that the data have is left by
few links; a piece that the map cut off something larger is left by many. How many are many? As
many as cross the group's own middle: a halving of the group is a cut through something whole.

    θ(A, B) = (links between A and B) / (links across the thinnest halving of A or of B)

both ways above and below the line, the smaller of the two halvings. Halvings tried: straight lines
on the map, and the one along the slowest direction of a part's own graph (Fiedler's vector).
Neighbouring pieces of one cloud have θ of about 1 and more, groups that lie apart have θ near 0;
`CUT` is between them, a convention.

An internal and an external conductance are compared in the same way by Kannan, Vempala and Vetta,
"On clusterings: good, bad and spectral" (2004).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.special import ndtri

from dualfold.arrays import Array
from dualfold.errors import DualfoldError
from dualfold.quality.estimate import Estimate
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto

__all__ = ["CUT", "Cut", "Halving", "between", "halving", "parts_of"]

CUT = 0.5
LINES = 8
LEAST = 20


@dataclass(frozen=True, eq=False)
class Halving:
    """The thinnest of some halvings of a part.

    rows : the part
    side : True for the points of one half
    crossed : links of each point to the other half
    """

    rows: Array
    side: Array
    crossed: Array


@dataclass(frozen=True)
class Cut:
    """Links between two parts, as a share of those through the middle of the thinner one.

    share : θ with its 95 % interval
    links : how many there are, both ways
    surely : the lower end of θ at the level 0.05/(number of pairs looked at)
    """

    share: Estimate
    links: int
    surely: float

    @property
    def apart(self) -> bool:
        """Whether there is a border, at the level 0.05."""
        return self.share.high < CUT

    @property
    def one(self) -> bool:
        """Whether there is none, at the level 0.05 for all pairs together."""
        return self.surely > CUT


def halving(lists: Array, rows: Array, Y: Array) -> Halving:
    """The thinnest halving of the points `rows`."""
    inside = np.zeros(len(lists), dtype=bool)
    inside[rows] = True
    own, place = lists[rows], np.full(len(lists), -1)
    place[rows] = np.arange(len(rows))
    within = inside[own]
    best: tuple[Array, Array] | None = None
    for values in [*_lines(Y[rows]), *_slowest(lists, rows)]:
        side = np.zeros(len(rows), dtype=bool)
        side[np.argsort(values, kind="stable")[len(rows) // 2 :]] = True
        across = within & (side[place[own]] != side[:, None])
        crossed = across.sum(axis=1)
        if best is None or crossed.sum() < best[1].sum():
            best = side, crossed
    assert best is not None
    return Halving(rows, best[0], best[1])


def between(lists: Array, codes: Array, first: Halving, second: Halving, tests: int) -> Cut:
    """Links between two parts against those through the middle of the thinner one."""
    thin = first if first.crossed.sum() <= second.crossed.sum() else second
    rows = np.concatenate([first.rows, second.rows])
    names = codes[first.rows][0], codes[second.rows][0]
    other = np.where(codes[rows] == names[0], names[1], names[0])
    across = np.count_nonzero(codes[lists[rows]] == other[:, None], axis=1)
    middle = np.zeros(len(lists))
    middle[thin.rows] = thin.crossed
    share, surely = _ratio(across.astype(float), middle[rows], tests)
    return Cut(share, int(across.sum()), surely)


def parts_of(lists: Array, rows: Array) -> Array | None:
    """True for one of the two parts that the data would cut a group into; None: too small.

    The cut of least conductance along Fiedler's vector (a sweep).
    """
    graph = _graph(lists, rows)
    count, pieces = connected_components(graph, directed=False)
    sizes = np.bincount(pieces)
    if count > 1 and len(rows) - sizes.max() >= LEAST:
        return np.asarray(pieces != np.argmax(sizes))
    kept = np.flatnonzero(pieces == np.argmax(sizes))
    if len(kept) < 2 * LEAST:
        return None
    vector = _fiedler(graph[kept][:, kept])
    if vector is None:
        return None
    order = kept[np.argsort(vector, kind="stable")]
    place = np.full(len(rows), len(rows))
    place[order] = np.arange(len(order))
    edges = sp.triu(graph).tocoo()
    ends = np.sort([place[edges.row], place[edges.col]], axis=0)
    ends = ends[:, ends[1] < len(rows)]
    opened = np.bincount(ends[0], minlength=len(order)) - np.bincount(ends[1], minlength=len(order))
    cut = np.cumsum(opened)
    degrees = np.asarray(graph.sum(axis=1)).ravel()[order]
    volume = np.cumsum(degrees)
    lighter = np.minimum(volume, volume[-1] - volume)
    valid = slice(LEAST - 1, len(order) - LEAST)
    at = LEAST - 1 + int(np.argmin(cut[valid] / np.maximum(lighter[valid], 1)))
    return np.asarray(place <= at)


def _ratio(above: Array, below: Array, tests: int) -> tuple[Estimate, float]:
    """A ratio of sums over points with its interval, on the scale of logarithms.

    Where no link is seen, the upper end is that of one link.
    """
    total, n = float(below.sum()), len(above)
    if total == 0:
        return Estimate(np.inf if above.any() else 0.0, 0.0, np.inf, n), 0.0
    value = float(above.sum()) / total
    if value == 0:
        return Estimate(0.0, 0.0, float(np.exp(1.96)) / total, n), 0.0
    spread = float(np.sqrt(np.square(above - value * below).sum())) / (total * value)
    low, high = (value * float(np.exp(z * spread)) for z in (-1.96, 1.96))
    return Estimate(value, low, high, n), value * float(np.exp(ndtri(0.05 / tests) * spread))


def _lines(Y: Array) -> list[Array]:
    """Coordinates of the points along some directions of the map."""
    centred = Y - Y.mean(axis=0)
    if Y.shape[1] == 1:
        return [centred[:, 0]]
    if Y.shape[1] == 2:
        angles = np.pi * np.arange(LINES) / LINES
        directions = np.stack([np.cos(angles), np.sin(angles)])
    else:
        directions = np.random.default_rng(0).standard_normal((Y.shape[1], 2 * LINES))
    return list((centred @ directions).T)


def _slowest(lists: Array, rows: Array) -> list[Array]:
    """Fiedler's vector of a part, where its graph is whole."""
    graph = _graph(lists, rows)
    count, pieces = connected_components(graph, directed=False)
    if count > 1:
        main = np.argmax(np.bincount(pieces))
        kept = np.flatnonzero(pieces == main)
        vector = _fiedler(graph[kept][:, kept]) if len(kept) > 3 else None
        if vector is None:
            return []
        whole = np.full(len(rows), float(np.median(vector)))
        whole[kept] = vector
        return [whole]
    vector = _fiedler(graph)
    return [] if vector is None else [vector]


def _graph(lists: Array, rows: Array) -> sp.csr_array:
    """The links inside a part, both ways, each of weight 1."""
    place = np.full(len(lists), -1)
    place[rows] = np.arange(len(rows))
    ends = place[lists[rows]]
    start = np.repeat(np.arange(len(rows)), lists.shape[1])
    inside = ends.ravel() >= 0
    pairs = start[inside], ends.ravel()[inside]
    links = sp.csr_array((np.ones(len(pairs[0])), pairs), shape=(len(rows), len(rows)))
    both = links + links.T
    both.data[:] = 1.0
    return both


def _fiedler(graph: sp.csr_array) -> Array | None:
    """The second eigenvector of the normalised Laplacian; None where no solver arrives."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    laplacian = sp.diags_array(degrees).tocsr() - graph
    problem = TraceProblem(
        laplacian, sp.diags_array(degrees).tocsr(), 1, "min", excluded=np.ones(len(degrees))
    )
    try:
        return np.asarray(Auto(tol=1e-4).solve(problem).vectors[:, 0])
    except DualfoldError:
        return None

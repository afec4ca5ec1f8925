"""Is there a valley in the data between two groups of a map?

A link goes from a point to each of its nearest in the data. A current flows along the links from
all points of A to all points of B; its potential u (Lu = b, L the Laplacian of the links)
falls steadily on the way, whatever the shape of the way. Every level of u is a section: how many
links cross it says how much of the data lies there. Then

    θ(A, B) = (links across the thinnest section between A and B)
              / (links through the middle of A or of B, whichever is thinner)

where "through the middle" is the mean of the sections at the three quartiles of the group. θ
estimates how deep the valley is: the density at the pass, divided by that of the lower of
the two groups, both taken over whole sections. One cloud that a map cut in two has no valley, θ is
about 1; two normal clouds whose centres are δ standard deviations apart have
θ = 2exp(−δ²/8)/(1 + exp(−δ²/2)), blurred by the length of the links. `CUT`, a valley of half the
height, is δ = 3.3. `benchmarks/groups.py` measures how often the verdicts are right.

Sections follow the way from A to B and no other: a group that is long in another direction can be
halved across few links there, which says nothing about its border to B.

Currents between sets as distances of a graph: Doyle and Snell, "Random walks and electric
networks" (1984).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg
from scipy.special import ndtri

from dualfold.arrays import Array
from dualfold.auditing.links import LEAST, fiedler, graph_of
from dualfold.quality.estimate import Estimate

__all__ = ["CUT", "Cut", "Slowest", "between"]

# The points of a piece, as bytes → its slowest direction; None where no solver arrives.
Slowest = dict[bytes, Array | None]
CUT = 0.5
# A section lies between two groups if so much of each is on its own side.
OWN = 0.75
QUARTILES = (0.25, 0.5, 0.75)
# Of the potential: only its order is used, by counts of links that waver by some per cent.
TOLERANCE, ROUNDS = 1e-6, 3_000


@dataclass(frozen=True)
class Cut:
    """The valley between two groups.

    share : θ with its 95 % interval
    links : how many there are between the groups as the map draws them, both ways
    surely : the lower end of θ at the level 0.05/(number of pairs looked at)
    bar : θ of two clouds with a valley of half the height, in the data's dimension
        (`auditing.blur`): below it nobody can say that there is none
    """

    share: Estimate
    links: int
    surely: float
    bar: float = CUT

    @property
    def apart(self) -> bool:
        """Whether there is a valley, at the level 0.05."""
        return self.share.high < CUT

    @property
    def one(self) -> bool:
        """Whether there is none, at the level 0.05 for all pairs together."""
        return self.surely > self.bar


def between(
    lists: Array, first: Array, second: Array, tests: int, known: Slowest | None = None
) -> Cut:
    """The valley between two groups of points.

    lists : the links of every point; first, second : the points of the groups
    tests : how many pairs are looked at
    known : slowest directions found before with the same lists; new ones are put there. Most pairs
        of many groups have no link, and each group would be solved for again with every other.
    """
    known = {} if known is None else known
    rows = np.concatenate([first, second])
    place = np.full(len(lists), -1)
    place[rows] = np.arange(len(rows))
    own = np.arange(len(rows)) < len(first)
    ends = place[lists[rows]]
    inside = ends >= 0

    def crossed(side: Array) -> Array:
        return np.count_nonzero(inside & (side[ends] != side[:, None]), axis=1)

    drawn = crossed(own)
    links = int(drawn.sum())
    order = np.argsort(way(graph_of(lists, rows), own, rows, known), kind="stable")
    rank = np.empty(len(rows), dtype=np.intp)
    rank[order] = np.arange(len(rows))
    thinnest = _thinnest(rank, ends, inside, own)
    across = drawn if thinnest is None else crossed(rank <= thinnest)
    across = drawn if links < across.sum() else across
    middles = []
    for side in (own, ~own):
        ranks = np.sort(rank[side])
        at = [ranks[int(share * (len(ranks) - 1))] for share in QUARTILES]
        middles.append(np.mean([crossed(rank <= position) for position in at], axis=0))
    middle = min(middles, key=lambda counts: float(counts.sum()))
    share, surely = _ratio(across.astype(float), middle, tests)
    return Cut(share, links, surely)


def way(graph: sp.csr_array, own: Array, names: Array, known: Slowest) -> Array:
    """A number for each point that rises along the links from one group to the other.

    The potential of a current, −1 to 1; pieces that hold points of one group alone lie beyond,
    along their slowest direction, so that sections through them are thin ones.

    own : True for the group that the way leaves
    names : of the points, to know pieces by that were met before; known : those of `between`
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    count, pieces = connected_components(graph, directed=False)
    found = np.where(own, -3.0, 3.0)
    for piece in range(count):
        rows = np.flatnonzero(pieces == piece)
        mine = own[rows]
        if mine.any() and not mine.all():
            found[rows] = _potential(graph[rows][:, rows], degrees[rows], mine)
        elif len(rows) >= 2 * LEAST:
            key = names[rows].tobytes()
            if key not in known:
                known[key] = fiedler(graph[rows][:, rows])
            if (slow := known[key]) is not None:
                found[rows] += slow / np.abs(slow).max()
    return found


def _potential(graph: sp.csr_array, degrees: Array, own: Array) -> Array:
    """Current enters at the points of one group and leaves at those of the other, by degree."""
    source = np.where(own, -degrees / degrees[own].sum(), degrees / degrees[~own].sum())
    laplacian = sp.diags_array(degrees).tocsr() - graph
    found, _ = cg(laplacian, source, rtol=TOLERANCE, maxiter=ROUNDS, M=sp.diags_array(1 / degrees))
    centred = found - np.average(found, weights=degrees)
    return np.asarray(centred / max(float(np.abs(centred).max()), np.finfo(float).tiny))


def _thinnest(rank: Array, ends: Array, inside: Array, own: Array) -> int | None:
    """The section between the groups that the fewest links cross; None: there is none.

    Where too much of a group lies on the other's side, points of both are mixed all the way.
    """
    n = len(rank)
    here = np.broadcast_to(rank[:, None], ends.shape)[inside]
    there = rank[ends[inside]]
    low, high = np.minimum(here, there), np.maximum(here, there)
    links = np.cumsum(np.bincount(low, minlength=n) - np.bincount(high, minlength=n))
    passed = np.cumsum(own[np.argsort(rank)])
    left = np.arange(1, n + 1) - passed
    between = (passed >= OWN * own.sum()) & (left <= (1 - OWN) * (~own).sum())
    valid = np.flatnonzero(between)
    return None if len(valid) == 0 else int(valid[np.argmin(links[valid])])


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

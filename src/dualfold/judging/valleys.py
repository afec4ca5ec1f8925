"""Is there a valley in the data between two groups of a map?

A link goes from a point to each of its nearest in the data. A current flows along the links from
all points of A to all points of B; its potential u (Lu = b, L the Laplacian of the links)
falls steadily on the path, whatever its shape. Every level of u is a section: the number of links
across it measures how much of the data lies there. Then

    θ(A, B) = (links across the thinnest section between A and B)
              / (links through the middle of A or of B, whichever is thinner)

where "through the middle" is the mean of the sections at the three quartiles of the group. θ
estimates how deep the valley is: the density at the pass, divided by that of the lower of
the two groups, both taken over whole sections. One cloud that a map cut in two has no valley, θ is
about 1; two normal clouds whose centres are δ standard deviations apart have
θ = 2exp(−δ²/8)/(1 + exp(−δ²/2)), blurred by the length of the links. `CUT`, a valley of half the
height, is δ = 3.3. `benchmarks/calibration/groups.py` measures how often the verdicts are right.

Sections follow the path from A to B and no other: a group that is long in another direction can be
halved across few links there, which says nothing about its border to B.

The thinnest section is the best of thousands, and where few links run side by side (a filament) it
is thin by chance: points on a uniform line leave gaps. So a valley must also be thinner than what
such a search finds where there is none. Of a uniform line the rate r(θ) of sections with a share θ
of the mean number of links was simulated. A band of links w times as wide needs w such places side
by side:

    chance(θ) = n/w·r(1)·(r(θ)/r(1))^w,   w = links through the middle half / links of a line

for all n sections together, whichever of them the map cut at. `docs/calibration.md` has how often
pieces of one line, sheet or cloud are called groups.

A thin section is no valley where the density only falls across it. Around a dense core lies a
shell, and a section around the core is small, hence thin, though nothing lies lower than the shell.
So there is no verdict where the points of a side next to the section are surely denser than what
lies behind them, near and far (`_rise`). Density is told by the length of a point's longest link.

Where data have many dimensions, links are as long as a valley is wide: they cross it without
touching its floor, and θ comes out too large. A large θ is no proof of one cloud then. So the
threshold for "there is no valley" is measured (`half_valley`): two normal clouds are drawn, of the
data's dimension, with the groups' sizes and a valley of exactly half the height between them. Their
mean θ is the threshold. A group is torn only where its θ is surely above it.

Currents between sets as distances of a graph: Doyle and Snell, "Random walks and electric
networks" (1984). The best cut through a group: Kannan, Vempala and Vetta, "On clusterings: good,
bad and spectral" (2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import log2

import numpy as np
import scipy.sparse as sp
from scipy.optimize import brentq
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg
from scipy.special import ndtri

from dualfold.arrays import Array
from dualfold.errors import DualfoldError
from dualfold.graph import nearest
from dualfold.quality.estimate import Estimate
from dualfold.trace.problem import TraceProblem
from dualfold.trace.solvers import Auto

__all__ = [
    "HALF_HEIGHT",
    "LINKS_PER_POINT",
    "MIN_PART_POINTS",
    "SlowestDirections",
    "Valley",
    "best_cut",
    "half_valley",
    "valley_between",
]

# The points of a piece, as bytes → its slowest direction; None where no solver converges.
SlowestDirections = dict[bytes, Array | None]
HALF_HEIGHT = 0.5
# A part with fewer points is not judged.
MIN_PART_POINTS = 20
# Links of a point: its nearest in the data.
LINKS_PER_POINT = 15
# Pairs of clouds that are drawn for a threshold (docs/dev/notes/audits.md).
CLOUD_PAIRS = 8
# Of the drawn clouds: fewer points have longer links, so that the threshold is rather too high.
MAX_CLOUD_POINTS = 1_024
MAX_CLOUD_DIMENSION = 100
# A section lies between two groups if this share of each is on its own side.
OWN_SIDE_SHARE = 0.75
MIDDLE_QUANTILES = (0.25, 0.5, 0.75)
# Links across a section of a uniform line, mean; and the logarithm of r(θ)/r(1), r(1) itself: how
# often the number of links falls to the share θ of that mean (docs/dev/notes/audits.md).
LINE_LINKS = 67.5
LINE_SHARES = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
LINE_LOG_RATES = (-11.1, -8.3, -7.2, -5.8, -4.9, -4.2, -3.4, -2.4, -1.5)
LINE_CROSSING_RATE = 0.052
MAX_CHANCE = 0.05
# Of a side, its points next to the section; and how much denser than the others these may be, in
# standard errors (the level 0.01: in 50 dimensions the density of a point says little) and in
# standard deviations of single points (docs/dev/notes/audits.md).
EDGE_SHARE = 0.1
MIN_EDGE_POINTS = 10
MAX_FALL = 2.33
SLIGHT_FALL = 0.5
# Of the potential: only its order is used.
POTENTIAL_TOLERANCE = 1e-6
MAX_POTENTIAL_STEPS = 3_000


@dataclass(frozen=True)
class Valley:
    """The valley between two groups.

    share : θ with its 95 % interval
    links : how many there are between the groups as the map draws them, both ways
    lower_bound : the lower end of θ at the level 0.05/(number of pairs looked at)
    threshold : θ of two clouds with a valley of half the height, in the data's dimension
        (`half_valley`): below it a valley is not excluded
    chance : that the thinnest of all sections is as thin where there is no valley
    rise : from the section into the groups the density rises by so many standard errors, on the
        side where it rises less; negative where it falls by half a standard deviation of the
        points and more, infinite where nothing was to compare
    """

    share: Estimate
    links: int
    lower_bound: float
    chance: float
    threshold: float = HALF_HEIGHT
    rise: float = np.inf

    @property
    def is_present(self) -> bool:
        """Whether there is a valley of half the height, at the level 0.05."""
        return self.is_below(HALF_HEIGHT)

    def is_below(self, height: float) -> bool:
        """Whether there is a valley, and θ is below `height`; both at the level 0.05."""
        thin = self.share.high < height and self.chance <= MAX_CHANCE
        return thin and self.rise >= -MAX_FALL

    @property
    def is_absent(self) -> bool:
        """Whether there is none, at the level 0.05 for all pairs together."""
        return self.lower_bound > self.threshold


def valley_between(
    lists: Array,
    first: Array,
    second: Array,
    tests: int,
    known: SlowestDirections | None = None,
    others: Array | None = None,
    *,
    radii: Array | None = None,
) -> Valley:
    """The valley between two groups of points.

    lists : the links of every point; first, second : the points of the groups
    tests : how many pairs are tested
    known : cache of slowest directions for the same lists. Most pairs of many groups have no link,
        and without it each group would be solved for again with every other.
    others : points of neither group that the path from one to the other may pass through
    radii : the length of the longest link of every point; None: the density is not compared
    """
    known = {} if known is None else known
    others = np.empty(0, dtype=np.intp) if others is None else others
    rows = np.concatenate([first, second, others])
    place = np.full(len(lists), -1)
    place[rows] = np.arange(len(rows))
    side = np.zeros(len(rows), dtype=np.int8)
    side[: len(first)], side[len(first) : len(first) + len(second)] = -1, 1
    ends = place[lists[rows]]
    inside = ends >= 0

    def links_across(before: Array) -> Array:
        return np.count_nonzero(inside & (before[ends] != before[:, None]), axis=1)

    drawn = np.count_nonzero(inside & (side[:, None] * side[ends] < 0), axis=1)
    links = int(drawn.sum())
    order = np.argsort(path_coordinate(link_graph(lists, rows), side, rows, known), kind="stable")
    rank = np.empty(len(rows), dtype=np.intp)
    rank[order] = np.arange(len(rows))
    counts = _section_links(rank, ends, inside)
    thinnest = _thinnest_section(counts, side[order])
    across = drawn if thinnest is None else links_across(rank <= thinnest)
    # What the map drew is a section, too, unless a path leads round it.
    across = drawn if links < across.sum() and len(others) == 0 else across
    middles, widths = [], []
    for sign in (-1, 1):
        ranks = np.flatnonzero(side[order] == sign)
        widths.append(float(counts[ranks[len(ranks) // 4 : 1 + 3 * len(ranks) // 4]].mean()))
        at = [ranks[int(share * (len(ranks) - 1))] for share in MIDDLE_QUANTILES]
        middles.append(np.mean([links_across(rank <= position) for position in at], axis=0))
    middle = min(middles, key=lambda counts: float(counts.sum()))
    share, low = _ratio(across.astype(float), middle, tests)
    chance, rise = _chance(int(across.sum()), min(widths), len(lists)), np.inf
    if radii is not None and thinnest is not None and counts[thinnest] > 0:
        rise = _rise(radii[rows[order]], thinnest)
    return Valley(share, links, low, chance, rise=rise)


def _rise(radii: Array, thinnest: int) -> float:
    """`Valley.rise`: of the better of two levels of a side, for the worse of both sides.

    radii : lengths of the longest links, by the order on the path; thinnest : the section
    """
    apart = radii[radii > 0]  # points in the same place count as the nearest that are not
    logs = np.log(np.maximum(radii, apart.min() if len(apart) else 1.0))
    found = []
    for inwards in (logs[thinnest::-1], logs[thinnest + 1 :]):
        width = max(MIN_EDGE_POINTS, round(EDGE_SHARE * len(inwards)))
        width = min(width, len(inwards) // 2)
        edge, behind = inwards[:width], inwards[width:]
        found.append(max(_difference(edge, level) for level in np.array_split(behind, 2)))
    return min(found)


def _difference(edge: Array, level: Array) -> float:
    """The difference of two means in its standard errors (Welch); 0 where it is slightly below 0.

    With many points a slight fall is sure, too, and says nothing of the shape of a section.
    """
    if min(len(edge), len(level)) < 2:
        return np.inf
    apart = float(edge.mean() - level.mean())
    variances = edge.var(ddof=1), level.var(ddof=1)
    if -SLIGHT_FALL * float(np.sqrt(np.mean(variances))) < apart < 0:
        return 0.0
    error = float(np.sqrt(variances[0] / len(edge) + variances[1] / len(level)))
    return apart / max(error, np.finfo(float).tiny)


def _chance(links: int, usual: float, sections: int) -> float:
    """That this few links cross the thinnest of all sections, `usual` ones on average."""
    width, share = usual / LINE_LINKS, links / max(usual, 1e-9)
    if width == 0 or share > LINE_SHARES[-1]:
        return 1.0
    rate = LINE_CROSSING_RATE * np.exp(width * np.interp(share, LINE_SHARES, LINE_LOG_RATES))
    return float(min(1.0, sections / width * rate))


def path_coordinate(
    graph: sp.csr_array, side: Array, names: Array, known: SlowestDirections
) -> Array:
    """A number for each point that rises along the links from one group to the other.

    The potential of a current, −1 to 1; pieces that hold points of one group alone lie beyond,
    along their slowest direction, so that sections through them are thin ones. Pieces without
    points of either group lie before all others, where no section is.

    side : −1 for the group where the path begins, 1 where it ends, 0 for points of neither
    names : of the points, the keys of `known`; known : the cache of `valley_between`
    """
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    count, pieces = connected_components(graph, directed=False)
    found = np.full(len(side), -9.0)
    for piece in range(count):
        rows = np.flatnonzero(pieces == piece)
        held = set(side[rows].tolist()) - {0}
        if len(held) == 2:
            found[rows] = _potential(graph[rows][:, rows], degrees[rows], side[rows])
        elif held:
            found[rows] = 3.0 * held.pop()
            if len(rows) < 2 * MIN_PART_POINTS:
                continue
            key = names[rows].tobytes()
            if key not in known:
                known[key] = fiedler_vector(graph[rows][:, rows])
            if (slow := known[key]) is not None:
                found[rows] += slow / np.abs(slow).max()
    return found


def _potential(graph: sp.csr_array, degrees: Array, side: Array) -> Array:
    """Current enters at the points of one group and leaves at those of the other, by degree."""
    source = np.where(side < 0, -degrees / degrees[side < 0].sum(), 0.0)
    source += np.where(side > 0, degrees / degrees[side > 0].sum(), 0.0)
    laplacian = sp.diags_array(degrees).tocsr() - graph
    found, _ = cg(
        laplacian,
        source,
        rtol=POTENTIAL_TOLERANCE,
        maxiter=MAX_POTENTIAL_STEPS,
        M=sp.diags_array(1 / degrees),
    )
    centred = found - np.average(found, weights=degrees)
    return np.asarray(centred / max(float(np.abs(centred).max()), np.finfo(float).tiny))


def _section_links(rank: Array, ends: Array, inside: Array) -> Array:
    """Number of links that cross the section behind each rank."""
    n = len(rank)
    here = np.broadcast_to(rank[:, None], ends.shape)[inside]
    there = rank[ends[inside]]
    low, high = np.minimum(here, there), np.maximum(here, there)
    return np.cumsum(np.bincount(low, minlength=n) - np.bincount(high, minlength=n))


def _thinnest_section(links: Array, along: Array) -> int | None:
    """The section between the groups that the fewest links cross; None: there is none.

    links : across each section; along : the side of each point, in their order on the path

    Where too much of a group lies on the other's side, points of both are mixed all the way.
    """
    first, second = np.cumsum(along < 0), np.cumsum(along > 0)
    between = (first >= OWN_SIDE_SHARE * first[-1]) & (second <= (1 - OWN_SIDE_SHARE) * second[-1])
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


def half_valley(dimension: float, first: int, second: int) -> float:
    """The θ that two clouds with a valley of half the height show; never below ½.

    dimension : of the data; first, second : sizes of the groups
    """
    whole = first + second
    width = (
        int(np.clip(round(dimension), 1, MAX_CLOUD_DIMENSION))
        if np.isfinite(dimension)
        else MAX_CLOUD_DIMENSION
    )
    total = min(MAX_CLOUD_POINTS, 2 ** round(log2(whole)))
    # Sizes in steps: groups of similar sizes share a threshold.
    small = max(round(10 * min(first, second) / whole), 1) / 10
    return _simulated_threshold(width, max(total, 2 * MIN_PART_POINTS), small)


@lru_cache(maxsize=256)
def _simulated_threshold(width: int, total: int, share: float) -> float:
    few = max(round(share * total), MIN_PART_POINTS)
    distance = _distance_at_threshold(few / total)
    found = []
    for seed in range(CLOUD_PAIRS):
        points = np.random.default_rng(seed).standard_normal((total, width))
        points[:few, 0] += distance
        lists = nearest(points, min(LINKS_PER_POINT, total - 1)).indices
        found.append(float(valley_between(lists, np.arange(few), np.arange(few, total), 1).share))
    return max(HALF_HEIGHT, float(np.mean(found)))


def _distance_at_threshold(share: float) -> float:
    """Distance of two normal clouds whose valley is half as high as the lower top."""

    def depth(distance: float) -> float:
        x = np.linspace(0, distance, 400)
        heights = share * np.exp(-((x - distance) ** 2) / 2) + (1 - share) * np.exp(-(x**2) / 2)
        return float(heights.min() / heights[-1]) - HALF_HEIGHT

    return float(brentq(depth, 2.0, 8.0))


def link_graph(lists: Array, rows: Array) -> sp.csr_array:
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


def fiedler_vector(graph: sp.csr_array) -> Array | None:
    """The second eigenvector of the normalised Laplacian; None where no solver converges."""
    degrees = np.asarray(graph.sum(axis=1)).ravel()
    laplacian = sp.diags_array(degrees).tocsr() - graph
    problem = TraceProblem(
        laplacian, sp.diags_array(degrees).tocsr(), 1, "min", excluded=np.ones(len(degrees))
    )
    try:
        return np.asarray(Auto(tol=1e-4).solve(problem).vectors[:, 0])
    except DualfoldError:
        return None


def best_cut(lists: Array, rows: Array) -> Array | None:
    """True for one of the two parts that the data would cut a group into; None: too small.

    The cut of least conductance along Fiedler's vector (a sweep).
    """
    graph = link_graph(lists, rows)
    count, pieces = connected_components(graph, directed=False)
    sizes = np.bincount(pieces)
    if count > 1 and len(rows) - sizes.max() >= MIN_PART_POINTS:
        return np.asarray(pieces != np.argmax(sizes))
    kept = np.flatnonzero(pieces == np.argmax(sizes))
    if len(kept) < 2 * MIN_PART_POINTS:
        return None
    vector = fiedler_vector(graph[kept][:, kept])
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
    valid = slice(MIN_PART_POINTS - 1, len(order) - MIN_PART_POINTS)
    at = MIN_PART_POINTS - 1 + int(np.argmin(cut[valid] / np.maximum(lighter[valid], 1)))
    return np.asarray(place <= at)

"""Four linear maps beside the nonlinear ones they come from.

LPP is eigenmaps and NPP is LLE with the points forced to be Y = XV; OLPP and ONPP also ask for
VᵀV = I. A map's cost is tr((YᵀBY)⁻¹YᵀAY) after its parent's centring: the parent's objective,
once Y is brought to the parent's constraint. The parent is the minimum over all Y, LPP and NPP
the minimum over Y = XV, so parent ≤ plain ≤ orthogonal in every case.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from dualfold.arrays import Array
from dualfold.data import swiss_roll
from dualfold.embedding import embed
from dualfold.errors import PointsCollapse
from dualfold.graph import Graph, join_pieces, knn
from dualfold.methods import eigenmaps, lle, lpp, npp, orthogonal_lpp, orthogonal_npp
from dualfold.quality import t_similarity
from dualfold.view.figures import Panel, gallery
from dualfold.weights import reconstruction_weights, weighted_laplacian
from papers.draganov.descent import pixels
from papers.finding import Experiment, Finding, Row, Setting, also, theorem

NEIGHBORS = 10


@dataclass(frozen=True, eq=False)
class Family:
    """A nonlinear method, its two linear ones, and the cost that they share."""

    names: tuple[str, str, str]
    maps: tuple[Array, Array, Array]
    cost: Callable[[Array], float]
    groups: int = 1  # null vectors that the parent leaves out; the linear maps only the constant

    @property
    def costs(self) -> tuple[float, ...]:
        return tuple(self.cost(points) for points in self.maps)


def eigenmap_family(graph: Graph, variance_kept: float) -> Family:
    """Eigenmaps, LPP and OLPP of one graph."""
    L, degrees = weighted_laplacian(graph)

    def cost(Y: Array) -> float:
        Y = Y - degrees @ Y / degrees.sum()
        return _trace_ratio(Y.T @ (L @ Y), Y.T @ (degrees[:, None] * Y))

    maps = (
        embed(eigenmaps(graph)).points,
        embed(lpp(graph, variance_kept=variance_kept)).points,
        embed(orthogonal_lpp(graph, variance_kept=variance_kept)).points,
    )
    return Family(("eigenmaps", "LPP", "OLPP"), maps, cost)


def lle_family(graph: Graph, variance_kept: float) -> Family:
    """LLE, NPP and ONPP of one graph."""
    W = reconstruction_weights(graph.points, graph.lists)

    def cost(Y: Array) -> float:
        Y = Y - Y.mean(axis=0)
        rest = Y - W @ Y
        return _trace_ratio(rest.T @ rest, Y.T @ Y)

    problem = lle(graph)
    maps = (
        embed(problem).points,
        embed(npp(graph, variance_kept=variance_kept)).points,
        embed(orthogonal_npp(graph, variance_kept=variance_kept)).points,
    )
    return Family(("LLE", "NPP", "ONPP"), maps, cost, problem.excluded_basis.shape[1])


def parents(setting: Setting) -> Finding:
    """Costs against the parents', neighbours kept, and pictures: on the roll and on images."""
    n = setting.of(200, 1_000, 3_000)
    roll = swiss_roll(n, random_state=setting.seed)
    X, labels = pixels(setting, n)
    sets = {"roll": (roll.points, roll.color), "images": (X, labels.astype(int))}
    rows: list[Row] = []
    figures, reached, kept = [], {}, {}
    for name, (points, color) in sets.items():
        families = _families(join_pieces(knn(points, NEIGHBORS)), 0.99)
        for family in families:
            reached[name, family.names[1]] = family.costs[0] / family.costs[1]
            rows += _rows(name, family)
            for title, Y in zip(family.names, family.maps, strict=True):
                kept[name, title] = float(t_similarity(points, Y, NEIGHBORS))
                what = f"{name}: t-similarity of {title}"
                rows.append(also(what, kept[name, title], f"t = {NEIGHBORS}"))
        if name == "images":
            rows += _coarser(points)
        panels = [_panels(family, color) for family in families]
        keys = ["along" if name == "roll" else "digit"] * 2
        title = f"Parents and their linear maps: {name}"
        caption = f"{title}, {len(points):,} points, {NEIGHBORS} neighbours."
        figures.append((caption, gallery(panels, title=title, color_names=keys)))
    beaten = [row for row in rows if row.holds is False]
    words = ", ".join(f"{share:.2g} ({where}, {who})" for (where, who), share in reached.items())
    sentence = (
        f"{len(beaten) or 'No'} linear map{'s' * (len(beaten) > 1)} below its parent's cost, which "
        f"is {words} of the best linear one's. Orthogonal directions favour faint ones: on "
        f"images OLPP keeps {kept['images', 'OLPP']:.1%} of the neighbours and ONPP "
        f"{kept['images', 'ONPP']:.1%}, LPP {kept['images', 'LPP']:.1%} and NPP "
        f"{kept['images', 'NPP']:.1%}."
    )
    notes = (
        "Linear maps see the directions that hold 99 % of the variance. Costs are the parent's "
        "objective after scaling to its constraint.",
        setting.stand_in,
    )
    return Finding(sentence, tuple(rows), tuple(figures), tuple(filter(None, notes)))


def _coarser(points: Array) -> list[Row]:
    """The orthogonal maps among the leading directions only: less noise to choose from."""
    graph, rows = join_pieces(knn(points, NEIGHBORS)), []
    problems = {
        "OLPP": orthogonal_lpp(graph, variance_kept=0.7),
        "ONPP": orthogonal_npp(graph, variance_kept=0.7),
    }
    for name, problem in problems.items():
        kept = float(t_similarity(points, embed(problem).points, NEIGHBORS))
        what = f"images: t-similarity of {name}, 70 % of the variance"
        rows.append(also(what, kept, f"t = {NEIGHBORS}"))
    return rows


def _panels(family: Family, color: Array) -> list[Panel]:
    return [
        Panel(Y, color, title, f"cost {cost:.2e}".replace("e-", "e−"), equal=False)
        for Y, title, cost in zip(family.maps, family.names, family.costs, strict=True)
    ]


def _rows(where: str, family: Family) -> list[Row]:
    parent, plain, orthogonal = family.costs
    slack = 1e-9 * orthogonal  # rounding of the parents' tiny values
    name, linear, other = family.names
    above = f"{where}: cost of {name} over that of {linear}"
    note = "plain has the parent's constraint, so it is the best linear one"
    return [
        also(above, parent / plain, f"{family.groups} closed groups: only the parent excludes them")
        if family.groups > 1
        else theorem(above, (parent - slack) / plain, at_most=1,
                     about="the parent is the minimum over all Y"),
        theorem(f"{where}: cost of {linear} over that of {other}", (plain - slack) / orthogonal,
                at_most=1, about=note),
    ]  # fmt: skip


def full_rank(setting: Setting) -> Finding:
    """As many independent features as points: every Y is some XV, so the maps are the parents'."""
    n, width = setting.of((40, 60), (120, 200), (400, 700))
    X = setting.random().standard_normal((n, width))
    graph = join_pieces(knn(X, NEIGHBORS))
    flat = join_pieces(knn(X[:, :3], NEIGHBORS))  # three features: nothing like full rank
    rows: list[Row] = []
    for wide, narrow in zip(_families(graph, 1.0), _families(flat, 1.0), strict=True):
        (name, linear, other), (parent, plain, _) = wide.names, wide.costs
        angle = float(scipy.linalg.subspace_angles(*(_centred(Y) for Y in wide.maps[:2])).max())
        rows += [
            theorem(f"cost of {linear} over that of {name}, rank n − 1", plain / parent, equals=1,
                    within=1e-7),
            theorem(f"angle between {linear} and {name}, rank n − 1", angle, at_most=1e-4,
                    about="radians; columns centred"),
            theorem(f"cost of {other} over that of {name}, rank n − 1", wide.costs[2] / parent,
                    at_least=1, within=1e-9, about="VᵀV = I is another constraint"),
            theorem(f"cost of {linear} over that of {name}, 3 features",
                    narrow.costs[1] / narrow.costs[0], at_least=1, within=1e-9),
        ]  # fmt: skip
    sentence = (
        f"With {width} features for {n} points LPP is eigenmaps and NPP is LLE, to "
        f"{max(abs(float(row.ours) - 1) for row in rows[::4]):.0e} in cost; with 3 features the "
        f"linear ones cost {rows[3].ours:.3g} and {rows[7].ours:.3g} times as much."
    )
    notes = ("Normal data; the whole row space is kept. Centred data has rank n − 1 at most.",)
    return Finding(sentence, tuple(rows), notes=notes)


def _families(graph: Graph, variance_kept: float) -> tuple[Family, Family]:
    with warnings.catch_warnings():
        # Groups that list only one another are counted, and the rows say how many.
        warnings.simplefilter("ignore", PointsCollapse)
        return eigenmap_family(graph, variance_kept), lle_family(graph, variance_kept)


def _trace_ratio(A: Array, B: Array) -> float:
    """tr(B⁻¹A): the trace once Y has been scaled to YᵀBY = I."""
    return float(np.trace(scipy.linalg.solve(B, A, assume_a="pos")))


def _centred(Y: Array) -> Array:
    return np.asarray(Y - Y.mean(axis=0))


EXPERIMENTS = (
    Experiment(
        "kokiopoulou-projections",
        "K",
        "§4.3–4.4",
        "Linear maps beside their nonlinear parents",
        parents,
    ),
    Experiment("kokiopoulou-rank", "K", "§4.3–4.4", "When a linear map is its parent", full_rank),
)

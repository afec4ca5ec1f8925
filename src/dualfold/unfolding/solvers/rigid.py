"""Rigid parts of a graph: points whose mutual distances all follow, in every dimension.

All distances in a clique are given. A clique of more points than its dimension allows, k > r + 1,
has affine dependencies: a with Σ a_i = 0 and Σ a_i x_i = 0, so that Ka = 0 for every K with
these lengths. Two parts that share points which span one of them are one part, whose other
distances follow, and with them there are more cliques. Parts that other edges make rigid are
not searched for: whether they do depends on inequalities.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem

# Squared spreads below this share of the largest are 0: distances as doubles leave 1e-15, and
# lengths of seven digits 1e-7, so that rounded data have no dependencies.
FLAT_SHARE = 1e-12
# Shared points span a part when no spread of theirs is below this share of the largest: what is
# computed from them is then good to 1e-12.
MIN_SPREAD_RATIO = 1e-4
AGREEMENT_TOLERANCE = 1e-9
# A dependency counts when this much of it is left beside the others.
INDEPENDENT_SHARE = 1e-7
# Multiples of a dependency that is nearly a mixture of others would have to be 1/share² as large.
# On rolls what is left of a row is 1e-12, or 2e-4 and more.
CLEARLY_INDEPENDENT_SHARE = 5e-4


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part: points, and their places in as many columns as they need."""

    points: tuple[int, ...]
    places: Array

    @property
    def dependencies(self) -> Array:
        """Orthonormal rows a with Σ a_i = 0 and Σ a_i x_i = 0."""
        known = np.column_stack([self.places, np.ones(len(self.points))])
        return np.linalg.svd(known.T)[2][known.shape[1] :]


def dependencies(problem: UnfoldingProblem) -> sp.csr_array:
    """Independent rows a with Ka = 0 for every K that has the lengths, part by part."""
    return _independent_rows(rigid_parts(problem), problem.n, INDEPENDENT_SHARE)


def clique_dependencies(problem: UnfoldingProblem) -> sp.csr_array:
    """Dependencies of cliques of edges alone, clearly independent; a row's entries are a clique.

    aaᵀ is then a Laplacian of edges, of which Σ w d² is 0.
    """
    known = _known_distances(problem)
    parts = [_part(known, clique) for clique in _cliques(known)]
    return _independent_rows(_with_dependencies(parts), problem.n, CLEARLY_INDEPENDENT_SHARE)


def _independent_rows(parts: list[Part], n: int, least: float) -> sp.csr_array:
    """The dependencies of parts of which at least this much is left beside the others."""
    blocks = [(part.points, part.dependencies) for part in parts]
    rows = np.concatenate([np.zeros(0)] + [block.ravel() for _, block in blocks])
    columns = [np.tile(points, len(block)) for points, block in blocks]
    counts = [np.full(len(block), len(points)) for points, block in blocks]
    nothing = np.zeros(0, dtype=np.intp)
    starts = np.concatenate([[0], np.cumsum(np.concatenate([nothing, *counts]))])
    shape = (len(starts) - 1, n)
    every = sp.csr_array((rows, np.concatenate([nothing, *columns]), starts), shape=shape)
    if shape[0] == 0:
        return every
    triangle, order = scipy.linalg.qr(every.toarray().T, mode="r", pivoting=True)
    sizes = np.abs(np.diagonal(triangle))
    return every[np.sort(order[: int(np.sum(sizes > least))])]


def _known_distances(problem: UnfoldingProblem) -> list[dict[int, float]]:
    """The squared length of each edge, by both ends."""
    known: list[dict[int, float]] = [{} for _ in range(problem.n)]
    for (i, j), squared in zip(problem.edges.tolist(), problem.squared.tolist(), strict=True):
        known[i][j] = known[j][i] = squared
    return known


def _with_dependencies(parts: list[Part]) -> list[Part]:
    return [part for part in parts if len(part.points) > part.places.shape[1] + 1]


def rigid_parts(problem: UnfoldingProblem) -> list[Part]:
    """The largest parts that cliques make rigid and that have dependencies."""
    known = _known_distances(problem)
    while True:
        parts = _merge_parts([_part(known, clique) for clique in _cliques(known)])
        if sum(_add_distances(known, part) for part in parts) == 0:
            return _with_dependencies(parts)


def _cliques(known: list[dict[int, float]]) -> list[tuple[int, ...]]:
    """The maximal cliques of three points or more (Bron and Kerbosch, with a pivot)."""
    beside = [set(row) for row in known]
    cliques: list[tuple[int, ...]] = []

    def extend(clique: list[int], wider: set[int], done: set[int]) -> None:
        if not wider:
            if not done and len(clique) > 2:
                cliques.append(tuple(sorted(clique)))
            return
        pivot = max(wider | done, key=lambda v: len(beside[v] & wider))
        for v in sorted(wider - beside[pivot]):
            extend([*clique, v], wider & beside[v], done & beside[v])
            wider, done = wider - {v}, done | {v}

    for v, around in enumerate(beside):
        extend([v], {u for u in around if u > v}, {u for u in around if u < v})
    return cliques


def _part(known: list[dict[int, float]], points: tuple[int, ...]) -> Part:
    """Places from all distances, by classical scaling.

    Rounded lengths may have no places at all: then a column more stands for what is negative, and
    there is no dependency.
    """
    squared = np.array([[known[i].get(j, 0.0) for j in points] for i in points])
    off = np.eye(len(points)) - 1 / len(points)
    values, vectors = np.linalg.eigh(-off @ squared @ off / 2)
    sizes = np.abs(values)
    kept = sizes > FLAT_SHARE * sizes[-1]
    return Part(points, vectors[:, kept] * np.sqrt(sizes[kept]))


def _merge_parts(parts: list[Part]) -> list[Part]:
    """The parts after all pairs that are one part are merged."""
    alive: dict[int, Part] = dict(enumerate(parts))
    at: dict[int, set[int]] = {}
    for number, part in alive.items():
        for point in part.points:
            at.setdefault(point, set()).add(number)
    waiting = list(alive)
    while waiting:
        number = waiting.pop()
        if number not in alive:
            continue
        for other in sorted({k for point in alive[number].points for k in at[point]} - {number}):
            union = _union(alive[number], alive[other])
            if union is None:
                continue
            for point in alive.pop(other).points:
                at[point] = (at[point] - {other}) | {number}
            alive[number] = union
            waiting.append(number)  # there may be new neighbours
    return list(alive.values())


def _union(first: Part, second: Part) -> Part | None:
    """Two parts as one, or None where they can move against each other."""
    if first.places.shape[1] < second.places.shape[1]:
        first, second = second, first
    here = {point: k for k, point in enumerate(first.points)}
    shared = [k for k, point in enumerate(second.points) if point in here]
    others = [k for k, point in enumerate(second.points) if point not in here]
    if not others:
        return first
    if len(shared) <= second.places.shape[1]:  # they must span `two`
        return None
    a, b = first.places[[here[second.points[k]] for k in shared]], second.places[shared]
    middle, centre = a.mean(axis=0), b.mean(axis=0)
    a, b = a - middle, b - centre
    spreads = np.linalg.svd(b, compute_uv=False)
    if spreads[-1] < MIN_SPREAD_RATIO * spreads[0]:
        return None
    left, _, right = np.linalg.svd(b.T @ a, full_matrices=False)
    turn = left @ right
    if np.max(np.abs(b @ turn - a)) > AGREEMENT_TOLERANCE * spreads[0]:
        return None
    moved = (second.places[others] - centre) @ turn + middle
    points = (*first.points, *(second.points[k] for k in others))
    order = np.argsort(points)
    places = np.vstack([first.places, moved])[order]
    return Part(tuple(points[k] for k in order), places)


def _add_distances(known: list[dict[int, float]], part: Part) -> int:
    """The distances that follow from being one part; how many new ones there were."""
    new = 0
    for first, (i, x) in enumerate(zip(part.points, part.places, strict=True)):
        for j, y in zip(part.points[:first], part.places, strict=False):
            if j not in known[i]:
                known[i][j] = known[j][i] = float((x - y) @ (x - y))
                new += 1
    return new

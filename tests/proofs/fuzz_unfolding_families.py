"""Families of small unfolding problems for the fuzzer, and ways to spoil an answer."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from flint import fmpq

from dualfold.graph import from_lengths, join_pieces, knn
from tests.proofs import judge_unfoldings as judge
from tests.proofs import unfolding_optima as optima

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Case:
    """A problem to unfold and what is known of it.

    net : the problem as the judge sees it; graph : what `unfold` gets (None: the problem itself)
    known : fractions that enclose the optimum, or None
    reached_exact : the variance of points with exactly these lengths
    rows : such points, where the problem is to know them
    posed : whether solvers should manage
    """

    family: str
    net: judge.Net
    constraints: str = "at_most"
    graph: Any = None
    angles: bool = False
    known: tuple[fmpq, fmpq] | None = None
    reached_exact: fmpq | None = None
    rows: Array | None = None
    posed: bool = True


# ---- families


def _random_tree(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    return sorted((int(rng.integers(j)), j) for j in range(1, n))


def _random_edges(rng: np.random.Generator, n: int) -> list[tuple[int, int]]:
    share = rng.uniform(0, 1)
    pairs = itertools.combinations(range(n), 2)
    return sorted({*_random_tree(rng, n), *(p for p in pairs if rng.random() < share)})


def _masses(rng: np.random.Generator, n: int) -> list[int] | None:
    return rng.integers(1, 6, n).tolist() if rng.random() < 0.5 else None


def tree(rng: np.random.Generator) -> Case:
    n = int(rng.integers(2, 8))
    edges = [_random_tree(rng, n), optima.chain_edges(n), [(0, j) for j in range(1, n)]]
    chosen = edges[rng.integers(3)]
    lengths = rng.integers(1, 20, len(chosen)).tolist()
    power = int(rng.choice([0, 0, 0, -498, -40, 40, 498]))
    squared = [float(np.ldexp(float(d * d), 2 * power)) for d in lengths]
    net = judge.Net.of(n, chosen, squared, _masses(rng, n))
    whole = judge.Net.of(n, chosen, [d * d for d in lengths], net.masses)
    best = optima.tree_optimum(whole, lengths) * fmpq(4) ** power
    return Case("tree", net, known=(best, best))


def cycle(rng: np.random.Generator) -> Case:
    n = int(rng.integers(3, 8))
    edges = sorted([*optima.chain_edges(n), (0, n - 1)])
    return Case("cycle", judge.Net.of(n, edges, [1] * n), known=optima.cycle_optimum(n))


def bipartite(rng: np.random.Generator) -> Case:
    a, b = (int(x) for x in rng.integers(1, 5, 2))
    edges = [(i, a + j) for i in range(a) for j in range(b)]
    best = fmpq(max(a, b)) if a * b > 1 else fmpq(1, 2)
    return Case("bipartite", judge.Net.of(a + b, edges, [1] * (a * b)), known=(best, best))


def _lattice(rng: np.random.Generator, n: int) -> Array:
    """Different points with whole coordinates."""
    dimensions = int(rng.integers(1, 4))
    width = max(3, int(np.ceil(n ** (1 / dimensions))) + 1)
    cells = rng.choice(width**dimensions, n, replace=False)
    return np.stack(np.unravel_index(cells, (width,) * dimensions), axis=1)


def _between(X: Array, edges: list[tuple[int, int]]) -> list[int]:
    return [int(np.sum((X[i] - X[j]) ** 2)) for i, j in edges]


def clique(rng: np.random.Generator) -> Case:
    n = int(rng.integers(2, 8))
    edges = list(itertools.combinations(range(n), 2))
    net = judge.Net.of(n, edges, _between(_lattice(rng, n), edges), _masses(rng, n))
    best = optima.clique_optimum(net)
    return Case("clique", net, known=(best, best))


def general(rng: np.random.Generator) -> Case:
    n = int(rng.integers(2, 8))
    edges = _random_edges(rng, n)
    squared = rng.uniform(0.2, 3, len(edges)) * 2.0 ** int(rng.choice([0, 0, -300, 300]))
    return Case("general", judge.Net.of(n, edges, squared, _masses(rng, n)))


def spread(rng: np.random.Generator) -> Case:
    """Lengths over many orders of magnitude."""
    n = int(rng.integers(3, 8))
    edges = _random_edges(rng, n)
    squared = np.exp(rng.uniform(-1, 1, len(edges)) * rng.choice([5, 12, 30]))
    return Case("spread", judge.Net.of(n, edges, squared, _masses(rng, n)), posed=False)


def duplicates(rng: np.random.Generator) -> Case:
    """Edges of length 0 in a graph; the judge takes the points together by itself."""
    n = int(rng.integers(3, 10))
    edges = _random_edges(rng, n)
    lengths = rng.uniform(0.5, 3, len(edges)) * (rng.random(len(edges)) > 0.3)
    place = list(range(n))
    for _ in range(n):
        for (i, j), d in zip(edges, lengths, strict=True):
            if d == 0:
                place[i] = place[j] = min(place[i], place[j])
    names = {label: k for k, label in enumerate(dict.fromkeys(place))}
    shortest: dict[tuple[int, int], float] = {}
    for (i, j), d in zip(edges, lengths, strict=True):
        a, b = sorted((names[place[i]], names[place[j]]))
        if a != b:
            shortest[a, b] = min(d, shortest.get((a, b), np.inf))
    masses = np.bincount([names[label] for label in place])
    ordered = sorted(shortest)
    squared = [shortest[pair] ** 2 for pair in ordered]
    net = judge.Net.of(len(names), ordered, squared, masses)
    return Case("duplicates", net, graph=_graph(n, edges, lengths))


def equal(rng: np.random.Generator) -> Case:
    n = int(rng.integers(2, 8))
    X = _lattice(rng, n)
    edges = _random_edges(rng, n)
    squared = _between(X, edges)
    net = judge.Net.of(n, edges, squared, None)
    reached = judge.spread(net, X).variance
    if rng.random() < 0.3:
        graph = _graph(n, edges, np.sqrt(squared))
        return Case("equal", net, "equal", graph=graph, reached_exact=reached, posed=False)
    known = (reached, reached) if len(edges) == n * (n - 1) // 2 else None
    rows = X.astype(float)
    return Case("equal", net, "equal", known=known, reached_exact=reached, rows=rows)


def equal_tree(rng: np.random.Generator) -> Case:
    """Trees are straight rays, whose lengths are kept."""
    return replace(tree(rng), family="equal tree", constraints="equal")


def contradictions(rng: np.random.Generator) -> Case:
    """Equal lengths that points may or may not have."""
    n = int(rng.integers(3, 7))
    edges = _random_edges(rng, n)
    squared = np.exp(rng.uniform(-1, 1, len(edges)) * rng.choice([0.3, 2]))
    net = judge.Net.of(n, edges, squared, None)
    return Case("contradictions", net, "equal", posed=False)


def angles(rng: np.random.Generator) -> Case:
    n = int(rng.integers(4, 8))
    X = _lattice(rng, n).astype(rng.choice(["uint8", "int64", "float32", "float64"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pieces are joined
        graph = join_pieces(knn(X, 2))
    near = graph.lengths.toarray() > 0
    both = np.triu(near | (near.astype(int) @ near.astype(int) > 0), 1)
    edges = [(int(i), int(j)) for i, j in np.argwhere(both)]
    squared = _between(X.astype(int), edges)
    return Case("angles", judge.Net.of(n, edges, squared), graph=graph, angles=True)


FAMILIES = (
    tree, cycle, bipartite, clique, general, spread, duplicates, equal, contradictions, angles,
    equal_tree,
)  # fmt: skip


def _graph(n: int, edges: Any, lengths: Any) -> Any:
    i, j = np.array(edges).T
    both = (np.concatenate([i, j]), np.concatenate([j, i]))
    return from_lengths(sp.csr_array(sp.coo_array((np.tile(lengths, 2), both), shape=(n, n))))


# ---- mutations of points and weights


def _noise(rng: np.random.Generator, values: Array) -> Array:
    size = 10.0 ** rng.integers(-15, 0)
    return values * (1 + size * rng.standard_normal(values.shape))


MUTATIONS = {
    "weights off": lambda rng, Y, w: (Y, _noise(rng, w)),
    "points off": lambda rng, Y, w: (_noise(rng, Y), w),
    "both off": lambda rng, Y, w: (_noise(rng, Y), _noise(rng, w)),
    "moved far": lambda rng, Y, w: (Y + Y.std() * 10.0 ** rng.integers(1, 16), w),
    "other units": lambda rng, Y, w: (
        Y * 10.0 ** rng.integers(-100, 100),
        w * 10.0 ** rng.integers(-150, 150),
    ),
    "single precision": lambda rng, Y, w: (
        (Y / np.abs(Y).max()).astype(np.float32),
        (w / np.abs(w).max()).astype(np.float32),
    ),
    "a weight lost": lambda rng, Y, w: (Y, w * (np.arange(len(w)) != rng.integers(len(w)))),
    "a weight negative": lambda rng, Y, w: (Y, w * (1 - 1.2 * (rng.random(len(w)) < 0.3))),
    "a weight huge": lambda rng, Y, w: (
        Y,
        w * np.where(np.arange(len(w)) == rng.integers(len(w)), 10.0 ** rng.integers(1, 17), 1),
    ),
    "a column lost": lambda rng, Y, w: (Y[:, 1:], w),
    "no points": lambda rng, Y, w: (0 * Y, w),
    "no weights": lambda rng, Y, w: (Y, 0 * w),
    "random points": lambda rng, Y, w: (rng.standard_normal(Y.shape), w),
    "random weights": lambda rng, Y, w: (Y, rng.exponential(size=w.shape)),
    "not a number": lambda rng, Y, w: (Y * np.nan, w),
}

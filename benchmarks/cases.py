"""What is measured: each case has data, our side and the peers, each a plain function.

A side returns (seconds by stage, facts). Data is made before the clock starts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

Outcome = tuple[dict[str, float], dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """One piece of work; `sides` maps a name to what is run in a process of its own."""

    title: str
    data: Callable[[], np.ndarray]
    sides: dict[str, Callable[[np.ndarray], Outcome]]
    wanted: str


class Stopwatch:
    """Seconds by stage: `watch("solve")` ends a stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = perf_counter()

    def __call__(self, stage: str) -> None:
        now = perf_counter()
        self.seconds[stage] = now - self._last
        self._last = now


def roll(n: int) -> Callable[[], np.ndarray]:
    def points() -> np.ndarray:
        from dualfold.data import swiss_roll

        return swiss_roll(n, random_state=0).points

    return points


def images(n: int) -> Callable[[], np.ndarray]:
    def points() -> np.ndarray:
        from dualfold.data import mnist

        return mnist(n).points.astype(np.float32)

    return points


def our_eigenmaps(X: np.ndarray, search: str = "auto") -> Outcome:
    import warnings

    from dualfold import embed
    from dualfold.graph import joined, knn
    from dualfold.methods import eigenmaps

    warnings.simplefilter("ignore")
    watch = Stopwatch()
    graph = knn(X, 10, search=search, random_state=0)
    watch("neighbours")
    graph = joined(graph)
    watch("pieces")
    problem = eigenmaps(graph)
    watch("weights")
    embedding = embed(problem)
    seconds = watch.seconds | embedding.seconds
    certificate = embedding.certificate
    facts = {
        "search": graph.search.method,
        "proved neighbours": graph.search.proved,
        "recall": graph.search.recall,
        "solver": embedding.solution.solver,
        "products": embedding.solution.products,
        "certificate": certificate.level,
        "gap": certificate.gap,
        "values": [float(value) for value in embedding.values],
    }
    return seconds, facts


def scikit_learn_eigenmaps(X: np.ndarray) -> Outcome:
    from sklearn.manifold import SpectralEmbedding

    watch = Stopwatch()
    SpectralEmbedding(
        2,
        affinity="nearest_neighbors",
        n_neighbors=10,
        eigen_solver="arpack",
        random_state=0,
        n_jobs=-1,
    ).fit(X)
    watch("all")
    return watch.seconds, {}


def our_neighbours(X: np.ndarray, search: str = "auto") -> Outcome:
    from dualfold.graph import nearest

    watch = Stopwatch()
    found = nearest(X, 10, search=search, random_state=0)
    watch("neighbours")
    facts = {
        "search": found.search.method,
        "proved": found.search.proved,
        "recall": found.search.recall,
        "interval": list(found.search.recall_interval),
    }
    return watch.seconds, facts


def faiss_neighbours(X: np.ndarray) -> Outcome:
    import faiss

    watch = Stopwatch()
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    index.search(X, 11)
    watch("neighbours")
    return watch.seconds, {}


def scikit_learn_neighbours(X: np.ndarray) -> Outcome:
    from sklearn.neighbors import NearestNeighbors

    watch = Stopwatch()
    NearestNeighbors(n_neighbors=10, n_jobs=-1).fit(X).kneighbors()
    watch("neighbours")
    return watch.seconds, {}


CASES = {
    "eigenmaps-roll": Case(
        "eigenmaps, swiss roll 100,000, 10 neighbours, certified",
        roll(100_000),
        {"dualfold": our_eigenmaps, "scikit-learn arpack": scikit_learn_eigenmaps},
        "no slower than scikit-learn, certificate included",
    ),
    "eigenmaps-mnist": Case(
        "eigenmaps, MNIST 70,000, 10 neighbours",
        images(70_000),
        {"dualfold": our_eigenmaps},
        "solve at most one fifth of the neighbour search",
    ),
    "neighbours-mnist": Case(
        "10 nearest neighbours, MNIST 70,000",
        images(70_000),
        {
            "dualfold": our_neighbours,
            "dualfold approximate": lambda X: our_neighbours(X, "approximate"),
            "faiss Flat": faiss_neighbours,
        },
        "every row proved",
    ),
    "neighbours-mnist-20k": Case(
        "10 nearest neighbours, MNIST 20,000",
        images(20_000),
        {
            "dualfold": our_neighbours,
            "faiss Flat": faiss_neighbours,
            "scikit-learn": scikit_learn_neighbours,
        },
        "every row proved",
    ),
}

"""A handful of methods on subsamples, compared."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from dualfold.arrays import Array
from dualfold.descriptions import DESCRIPTIONS
from dualfold.errors import DualfoldError
from dualfold.quality import Picture, distance_correlation, neighbor_agreement, t_similarity
from dualfold.quality.space import space_of

__all__ = ["Candidate", "subsamples", "tried", "winner"]

# Neighbours that are compared.
SCORED = 10
# Maps whose kept neighbours differ less are equal, and the simpler one is taken: two samples of
# 800 rows of the same data differ by up to 0.02.
TIE = 0.03
# Maps of two samples that share less of their neighbours (beyond chance) say little about either.
STABLE = 0.25


@dataclass(frozen=True)
class Candidate:
    """A method, on every subsample.

    kept : neighbours kept beyond chance, one number a subsample; () where it gave no map
    distances : correlation of distances before and after, mean over the subsamples
    stability : neighbours that maps of two subsamples share beyond chance, of rows in both
    seconds : of one map, the median
    trouble : why there is no map
    """

    method: str
    kept: tuple[float, ...] = ()
    distances: float = 0.0
    stability: float = 0.0
    seconds: float = 0.0
    trouble: str = ""

    @property
    def mean_kept(self) -> float:
        """Over the subsamples; −1 without a map."""
        return float(np.mean(self.kept)) if self.kept else -1.0

    @property
    def stable(self) -> bool:
        """Whether two subsamples give much the same map."""
        return self.stability >= STABLE


def subsamples(n: int, size: int, runs: int, random_state: int) -> tuple[list[Array], int]:
    """Row numbers of some subsamples that begin with the same rows, and how many these are."""
    rng = np.random.default_rng(random_state)
    size = min(size, int(0.8 * n))
    core = size // 2
    order = rng.permutation(n)
    shared, others = order[:core], order[core:]
    own = [rng.permutation(others)[: size - core] for _ in range(runs)]
    return [np.concatenate([shared, some]) for some in own], core


def tried(
    name: str, X: Any, parts: Sequence[Array], core: int, n_components: int, n_neighbors: int
) -> Candidate:
    """One method on every subsample."""
    kept, distances, seconds, maps = [], [], [], []
    for rows in parts:
        some, begin = X[rows], perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                points = made(name, n_components, n_neighbors).fit_transform(some)
        except (DualfoldError, ValueError) as error:
            return Candidate(name, trouble=str(error).splitlines()[0])
        seconds.append(perf_counter() - begin)
        space = space_of(some)
        share = float(t_similarity(space, points, SCORED))
        kept.append(Picture(share, len(rows), SCORED).beyond_chance)
        distances.append(float(distance_correlation(space, points)))
        maps.append(points[:core])
    shared = [float(neighbor_agreement(a, b, n_neighbors=SCORED)) for a, b in pairwise(maps)]
    stability = Picture(float(np.mean(shared)), core, SCORED).beyond_chance
    return Candidate(
        name, tuple(kept), float(np.mean(distances)), stability, float(np.median(seconds))
    )


def made(name: str, n_components: int, n_neighbors: int) -> Any:
    """The estimator of a method, not fitted."""
    row = DESCRIPTIONS[name]
    given = {"n_neighbors": n_neighbors} if row.needs_graph else {}
    return row.estimator_class()(n_components=n_components, **row.parameters(given))


def winner(candidates: Sequence[Candidate], run: int | None = None) -> Candidate:
    """The first of those that keep as much as the best, in the order given: simpler ones first.

    run : of one subsample; None for their mean
    """
    made_one = [one for one in candidates if one.kept]
    able = [one for one in made_one if one.stable] or made_one
    marks = [one.mean_kept if run is None else one.kept[run] for one in able]
    return next(one for one, mark in zip(able, marks, strict=True) if mark >= max(marks) - TIE)

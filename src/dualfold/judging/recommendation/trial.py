"""A handful of methods on subsamples, compared."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import cycle, pairwise
from time import perf_counter
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.arrays import Array, Matrix
from dualfold.errors import DualfoldError
from dualfold.inputs import random_generator
from dualfold.judging.judgement import Judgement, map_judgement
from dualfold.methods.descriptions import DESCRIPTIONS
from dualfold.quality import distance_correlation
from dualfold.quality.estimate import Estimate
from dualfold.quality.ranks import picture_of
from dualfold.quality.space import Space, space_of
from dualfold.weights.row_weights import fit_weights

__all__ = ["Candidate", "candidate_on_subsamples", "subsamples", "winner", "with_shuffled"]

# Neighbours of a point that are compared.
SCORED_NEIGHBORS = 10
# Maps whose kept neighbours differ less are equal, and the simpler one is taken: above what two
# samples of the same data differ by (docs/dev/notes/audits.md).
TIE_TOLERANCE = 0.03
# Maps of two samples that share less of their neighbours (beyond chance) say little about either.
MIN_STABILITY = 0.25
# What a map of the data keeps beyond one of shuffled columns, if the data are no noise.
MIN_BEYOND_SHUFFLED = 0.05
# Subsamples of which a quarter is mapped, too, and rows that such a quarter needs.
N_QUARTERS = 2
MIN_QUARTER_ROWS = 40
QUARTER_STEP = 4
# Up to a third more rows than a subsample has nothing is extrapolated.
MIN_EXPECTED_STEPS = 0.2
# What expected shares were wrong by, at most, with each four times as many rows
# (docs/calibration.md#what-recommendations-promise).
EXPECTED_ERROR = 0.08
# No more is expected of all rows than of subsamples, but for what these differ by.
MAX_EXPECTED_RISE = 0.05

NOT_JUDGED = Judgement()


@dataclass(frozen=True)
class Candidate:
    """A method, on every subsample.

    kept : neighbours kept beyond chance, one number a subsample; () where it gave no map
    kept_shuffled : the same of maps of the subsamples with each column shuffled and all at one
        scale, where nothing but the columns themselves is left; () where nothing depends on it
    distances : correlation of distances before and after, mean over the subsamples
    stability : neighbours that maps of two subsamples share beyond chance, of rows in both
    seconds : of one map, the median
    trouble : why there is no map
    kept_quarter : neighbours kept of a quarter of the rows of the first subsamples; () of few rows
    shown : what the map of the first subsample shows; nothing is known where there is none
    """

    method: str
    kept: tuple[float, ...] = ()
    distances: float = 0.0
    stability: float = 0.0
    seconds: float = 0.0
    trouble: str = ""
    kept_shuffled: tuple[float, ...] = ()
    kept_quarter: tuple[float, ...] = ()
    shown: Judgement = NOT_JUDGED

    def expected_kept(self, n: int, sampled: int) -> float:
        """Neighbours that a map of all n rows keeps beyond chance, with limits.

        The k nearest of more rows are nearer, and a map of few coordinates keeps fewer of them.
        From a quarter of the rows to all of a subsample what is kept changes by a factor; it is
        taken to change by the same factor with every four times as many rows, and not to rise.
        """
        steps = float(np.log(max(n / sampled, 1.0)) / np.log(4))
        if not self.kept_quarter or steps < MIN_EXPECTED_STEPS:
            return self.mean_kept
        before, after = np.mean(self.kept_quarter), np.mean(self.kept[: len(self.kept_quarter)])
        factor = float(np.clip(after / before, 0.0, 1.0)) if before > 0 else 1.0
        value, half = self.mean_kept * factor**steps, EXPECTED_ERROR * (1 + steps)
        most = min(1.0, value + half, self.mean_kept + MAX_EXPECTED_RISE)
        return Estimate(value, max(0.0, value - half), most, sampled)

    @property
    def mean_kept(self) -> float:
        """Over the subsamples; −1 without a map."""
        return float(np.mean(self.kept)) if self.kept else -1.0

    @property
    def mean_shuffled(self) -> float:
        """Mean of neighbours kept with shuffled columns; −1 where it was not needed."""
        return float(np.mean(self.kept_shuffled)) if self.kept_shuffled else -1.0

    @property
    def stable(self) -> bool:
        """Whether two subsamples give much the same map."""
        return self.stability >= MIN_STABILITY

    def is_exceeded_by(self, other: Candidate) -> bool:
        """Whether another keeps more, beyond the tolerance, in any of the subsamples."""
        return any(b > a + TIE_TOLERANCE for a, b in zip(self.kept, other.kept, strict=False))

    def exceeds(self, other: Candidate) -> bool:
        """Whether it keeps more in every subsample, and on average beyond the tolerance."""
        differences = np.subtract(self.kept, other.kept)
        return bool(differences.min() > 0 and differences.mean() > TIE_TOLERANCE)

    @property
    def exceeds_shuffled(self) -> bool:
        """Whether every subsample keeps clearly more than its copy with shuffled columns.

        Subsamples share rows, so five of them are not independent witnesses of anything. But a
        table whose columns are noise is like its shuffled copies, and these are independent.
        """
        pairs = zip(self.kept, self.kept_shuffled, strict=False)
        return bool(self.kept_shuffled) and all(a > b + MIN_BEYOND_SHUFFLED for a, b in pairs)


def subsamples(n: int, size: int, runs: int, random_state: int) -> tuple[list[Array], int]:
    """Row numbers of some subsamples that begin with the same rows, and how many these are."""
    rng = random_generator(random_state)
    size = min(size, int(0.8 * n))
    core = size // 2
    order = rng.permutation(n)
    shared, others = order[:core], order[core:]
    own = [rng.permutation(others)[: size - core] for _ in range(runs)]
    return [np.concatenate([shared, some]) for some in own], core


def candidate_on_subsamples(
    name: str,
    X: Matrix,
    parts: Sequence[Array],
    core: int,
    n_components: int,
    n_neighbors: int,
    *,
    judges: Sequence[Matrix],
    weights: Array | None = None,
) -> Candidate:
    """Candidate of a method that is fitted on every subsample.

    judges : the tables that maps are judged on in turn: X, or plausible fillings of it
    weights : of all rows, for fits that take them and for means over rows; None: all count alike
    """
    kept, distances, seconds, maps = [], [], [], []
    first: Array | None = None
    for rows, judge in zip(parts, cycle(judges)):
        some, begin, own = X[rows], perf_counter(), _part(weights, rows)
        try:
            points = _map_of(name, some, n_components, n_neighbors, own)
        except (DualfoldError, ValueError) as error:
            return Candidate(name, trouble=str(error).splitlines()[0])
        seconds.append(perf_counter() - begin)
        space = space_of(judge[rows])
        kept.append(_kept_beyond_chance(space, points, own))
        distances.append(float(distance_correlation(space, points)))
        maps.append(points[:core])
        first = points if first is None else first
    own = _part(weights, parts[0][:core])
    shared = [_kept_beyond_chance(a, b, own) for a, b in pairwise(maps)]
    stability = float(np.mean(shared))
    return Candidate(
        name,
        tuple(kept),
        float(np.mean(distances)),
        stability,
        float(np.median(seconds)),
        kept_quarter=_kept_of_quarters(
            name, X, parts, (n_components, n_neighbors), judges, weights
        ),
        shown=map_judgement(judges[0][parts[0]], first, sample_weight=_part(weights, parts[0])),
    )


def _part(weights: Array | None, rows: Array) -> Array | None:
    return None if weights is None else weights[rows]


def _kept_beyond_chance(space: Space | Matrix, points: Array, weights: Array | None) -> float:
    return picture_of(space, points, SCORED_NEIGHBORS, sample_weight=weights).beyond_chance


def _kept_of_quarters(
    name: str,
    X: Matrix,
    parts: Sequence[Array],
    counts: tuple[int, int],
    judges: Sequence[Matrix],
    weights: Array | None,
) -> tuple[float, ...]:
    """counts : coordinates of a map, and neighbours of its graph."""
    kept = []
    for rows, judge in zip(parts[:N_QUARTERS], cycle(judges)):
        few = rows[::QUARTER_STEP]
        some, own = X[few], _part(weights, few)
        if some.shape[0] < MIN_QUARTER_ROWS:
            return ()
        try:
            points = _map_of(name, some, *counts, own)
        except (DualfoldError, ValueError):
            return ()
        kept.append(_kept_beyond_chance(space_of(judge[few]), points, own))
    return tuple(kept)


def with_shuffled(
    one: Candidate,
    X: Matrix,
    parts: Sequence[Array],
    counts: tuple[int, int],
    random_state: int,
    weights: Array | None = None,
) -> Candidate:
    """The candidate with what it keeps of the subsamples with shuffled columns.

    counts : coordinates of a map, and neighbours of its graph
    weights : of all rows, which stay where they are
    """
    rng = random_generator(random_state)
    kept: list[float] = []
    for rows in parts:
        table, own = _shuffled_columns(X[rows], rng), _part(weights, rows)
        try:
            points = _map_of(one.method, table, *counts, own)
        except (DualfoldError, ValueError):  # a map of noise that fails keeps what chance does
            kept.append(0.0)
        else:
            kept.append(_kept_beyond_chance(space_of(table), points, own))
    return replace(one, kept_shuffled=tuple(kept))


def _map_of(
    name: str, X: Matrix, n_components: int, n_neighbors: int, weights: Array | None
) -> Array:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = unfitted_estimator(name, n_components, n_neighbors)
        given = fit_weights(DESCRIPTIONS[name], weights)
        return np.asarray(estimator.fit_transform(X, **given))


def _shuffled_columns(X: Matrix, rng: np.random.Generator) -> Matrix:
    """Columns at one scale, each in a random order.

    At one scale, because two columns that dominate the others are a plane, also if shuffled.
    """
    if not sp.issparse(X):
        low, high = np.quantile(X, (0.25, 0.75), axis=0)
        scale = np.where(high > low, high - low, X.std(axis=0))
        return rng.permuted(X / np.where(scale > 0, scale, 1.0), axis=0)
    columns = sp.csc_array(X, copy=True, dtype=float)
    for first, last in pairwise(columns.indptr):
        values = columns.data[first:last]
        scale = np.sqrt((values * values).mean()) if last > first else 1.0
        columns.data[first:last] = values / (scale or 1.0)
        rows = rng.choice(X.shape[0], last - first, replace=False)
        columns.indices[first:last] = np.sort(rows)
    return columns.tocsr()


def unfitted_estimator(name: str, n_components: int, n_neighbors: int) -> Any:
    """The estimator of a method, not fitted."""
    row = DESCRIPTIONS[name]
    given = {"n_neighbors": n_neighbors} if row.needs_graph else {}
    return row.estimator_class()(n_components=n_components, **row.estimator_parameters(given))


def winner(candidates: Sequence[Candidate], run: int | None = None) -> Candidate:
    """The first of those that keep as much as the best, in the order given: simpler ones first.

    run : of one subsample; None for their mean
    """
    with_map = [one for one in candidates if one.kept]
    able = [one for one in with_map if one.stable] or with_map
    marks = [one.mean_kept if run is None else one.kept[run] for one in able]
    return next(
        one for one, mark in zip(able, marks, strict=True) if mark >= max(marks) - TIE_TOLERANCE
    )

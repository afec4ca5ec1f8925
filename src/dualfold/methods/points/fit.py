"""The fit of points that attract and repel: from rows to a judged map, read from top to bottom.

    rows ──► neighbours ──► affinities ──► problem ──► start ──► descent ──► certificate

A method is data (`PointsMethod`); `fit_points` is the whole way. Every step is a function over
frozen values, and none knows the formula of the forces, which the problem holds
(`points/forces.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from dualfold.arrays import Array, Rows, Seed
from dualfold.graph.graph import Lists
from dualfold.graph.metrics import is_precomputed
from dualfold.methods.parameters import GivenGraph
from dualfold.methods.points.attracting_lists import NeighborSettings, attracting_lists
from dualfold.methods.points.checks import (
    neighbors_kept,
    warn_of_collapse,
    warn_of_interruption,
)
from dualfold.methods.points.descent import Checkpoint, Descent, descend
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.progress import JudgedPoints, ProgressLines
from dualfold.methods.points.schedule import Schedule
from dualfold.methods.points.starts import displacement, given_start, spectral_map, start_named

# `with stage("neighbours"):` around a step of a fit.
Stage = Callable[[str], AbstractContextManager[None]]
# A function that is told the iteration, the objective and the points; True stops the descent.
Callback = Callable[[int, float, Array], Any]


class ForceJudge(Protocol):
    """Certifies points as the answer of a problem, with what else is known of them."""

    def __call__(
        self,
        problem: Any,
        points: ArrayLike,
        *,
        tolerance: float = ...,
        neighbors_kept: float = ...,
        starts: tuple[tuple[str, float], ...] = ...,
        spread: float = ...,
        n_jobs: int | None = ...,
    ) -> JudgedPoints: ...


@dataclass(frozen=True, eq=False)
class DescentSettings:
    """Settings of a descent, and who follows it.

    exact, angle : whether repulsion sums over all pairs; else the angle of a tree
    look_every, callbacks : iterations between two checkpoints; what is called at each of them
    least_gradient : stop where the gradient's norm is not larger at a checkpoint
    keep_interrupted : whether Ctrl-C after the exaggeration ends a descent where it is
    """

    exact: bool
    angle: float
    look_every: int
    least_gradient: float
    callbacks: Sequence[Callback] = ()
    keep_interrupted: bool = False


@dataclass(frozen=True, eq=False)
class PointsMethod:
    """A method of points that attract and repel, as data.

    name, value_name : of the method and of its objective, as progress names them
    problem : states the problem of joint affinities, a number of coordinates, an attraction, and
        words on how neighbours were found
    judge : certifies points as its answer
    neighbors, graph : whose neighbours attract, and neighbours that are known
    affinities : joint affinities of listed neighbours, and the width of each row's kernel
    n_components : how many coordinates
    attraction : infinite: the eigenmaps of the affinities
    init : a start, or the name of one
    n_starts : of which the first one's map is kept
    """

    name: str
    value_name: str
    problem: Callable[[sp.csr_array, int, float, str], AttractionProblem]
    judge: ForceJudge
    neighbors: NeighborSettings
    graph: GivenGraph
    affinities: Callable[[Lists], tuple[sp.csr_array, Array]]
    n_components: int
    attraction: float
    schedule: Schedule
    descent: DescentSettings
    init: Any
    random_state: Seed
    n_starts: int
    verbose: int
    n_jobs: int | None


@dataclass(frozen=True, eq=False)
class StatedPoints:
    """The neighbours of a table and the problem of their affinities."""

    lists: Lists
    problem: AttractionProblem


@dataclass(frozen=True, eq=False)
class PointsFit:
    """Answer of a fit of points.

    points : in single precision
    run : the descent; None where the attraction is infinite
    eigenvalues : of the eigenmaps, where it is
    """

    stated: StatedPoints
    points: Array
    certificate: Any
    run: Descent | None = None
    eigenvalues: Array | None = None


def fit_points(X: Rows, method: PointsMethod, stage: Stage) -> PointsFit:
    """Fit a method to the rows of X."""
    lines = ProgressLines(method.name, method.value_name, method.verbose)
    stated = stated_points(X, method, stage, lines)
    if not np.isfinite(method.attraction):
        with stage("solution and certificate"):
            answer = spectral_map(stated.problem, method.n_components)
        points = answer.points.astype(np.float32)
        return PointsFit(stated, points, answer.certificate, eigenvalues=answer.values)
    problem = stated.problem
    start = start_of(X, problem, method, stage)
    with stage("descent"):
        run = _descent(problem, start, method, lines)
    warn_of_interruption(run, method.schedule.max_iter)
    points = run.points.astype(np.float32)
    with stage("certificate"):
        ends, spread = _other_starts(X, problem, points, method)
        kept = neighbors_kept(stated.lists, points, method.n_jobs)
        certificate = method.judge(
            problem, points, neighbors_kept=kept, starts=ends, spread=spread, n_jobs=method.n_jobs
        )
    lines.end(run, certificate)
    warn_of_collapse(problem, points)
    return PointsFit(stated, points, certificate, run)


def stated_points(
    X: Rows, method: PointsMethod, stage: Stage, lines: ProgressLines | None = None
) -> StatedPoints:
    """Neighbours and affinities of the rows of X, and their problem."""
    lines = lines or ProgressLines(method.name, method.value_name, 0)
    with stage("neighbours"):
        lists, about = attracting_lists(X, method.neighbors, method.graph)
    lines.neighbors(lists)
    with stage("affinities"):
        P, widths = method.affinities(lists)
    lines.affinities(widths)
    rho = float(method.attraction)
    rho = rho if np.isfinite(rho) else 1.0
    return StatedPoints(lists, method.problem(P, method.n_components, rho, about))


def attracting_count(lists: Lists) -> int:
    """Number of old rows that draw a new one: as many as draw most of the old ones."""
    return max(1, int(np.median(lists.counts)))


def start_of(X: Rows, problem: AttractionProblem, method: PointsMethod, stage: Stage) -> Array:
    """The start that is given, or the one of that name."""
    count = method.n_components
    if not isinstance(method.init, str):
        return given_start(method.init, problem.n, count)
    with stage("start"):
        return start_named(method.init, X, problem, count, method.random_state)


def _descent(
    problem: AttractionProblem,
    start: Array,
    method: PointsMethod,
    lines: ProgressLines | None = None,
) -> Descent:
    """A descent by the schedule; without `lines` nobody is told of it."""
    settings = method.descent

    def look(state: Checkpoint) -> bool:
        if lines is None:
            return False
        lines.look(state)
        points = state.points.copy() if settings.callbacks else state.points
        stops = [call(state.round, state.objective, points) for call in settings.callbacks]
        return any(stops)

    return descend(
        problem,
        start,
        method.schedule.phases(problem),
        exact=settings.exact,
        angle=settings.angle,
        look_every=settings.look_every,
        least_gradient=settings.least_gradient,
        look=look,
        keep_interrupted=settings.keep_interrupted,
        n_jobs=method.n_jobs,
    )


def _other_starts(
    X: Rows, problem: AttractionProblem, points: Array, method: PointsMethod
) -> tuple[tuple[tuple[str, float], ...], float]:
    """The objective from other starts, and how far points move between the maps."""
    if method.n_starts == 1:
        return (), np.nan
    names = [name for name in ("spectral", "pca") if name != method.init]
    names = [name for name in names if name != "pca" or not is_precomputed(method.neighbors.metric)]
    seeds = check_random_state(method.random_state).randint(2**31 - 1, size=method.n_starts)
    ends, moves = [], []
    for number in range(method.n_starts - 1):
        name = names[number] if number < len(names) else "random"
        start = start_named(name, X, problem, method.n_components, int(seeds[number]))
        other = _descent(problem, start, method).points
        ends.append((name, float(method.judge(problem, other, n_jobs=method.n_jobs).value)))
        moves.append(displacement(points.astype(float), other))
    return tuple(ends), float(np.median(np.max(moves, axis=0)))

"""Maximum variance unfolding of many points: K = YYᵀ with few columns, both sides at once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any

import numpy as np

from dualfold.duality.barrier import Inside, newton_step, with_column
from dualfold.duality.connectivity import bottom
from dualfold.duality.solution import Callback, Record, UnfoldingSolution, relative
from dualfold.duality.span import Span
from dualfold.duality.stiffness import FIRST_SHIFT, Net
from dualfold.duality.unfolding import UnfoldingProblem
from dualfold.errors import InvalidInput
from dualfold.kernels import one_blas_thread

Array = np.ndarray[Any, np.dtype[Any]]

# Directions of the unweighted graph that the start is made of, beside n_components.
SMOOTH = 8
# The start goes down to this gap in the span of those directions; further down it would
# only fit their shape.
START_GAP = 3
CENTRED = 0.02  # decrement/(mμ) at which a level is left
# Where the matrix was indefinite a column may be growing; below this it is not.
AT_A_SADDLE = 1e-4
STEPS_A_LEVEL = 20
# μ shrinks by this after a level: the smaller the fewer levels, with more steps in each.
SHRINK = 0.1
# Eigenvectors of L(w) looked at beyond the columns of Y.
LOOK_BEYOND = 3
# λ₂ may stay below 1 by this share of the level's gap before columns are added.
SHORTFALL = 0.3
RAISES = 4  # a level
# A direction that holds less than this share of tr K is made anew rather than grown.
HELD = 1e-3
# A column whose share of tr K is below this is rounding.
NOTHING = 1e-13


def low_rank(
    problem: UnfoldingProblem,
    *,
    n_components: int = 2,
    tol: float = 1e-3,
    max_iter: int = 300,
    random_state: int | np.random.Generator | None = None,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Unfold by Newton steps on a factor Y, K = YYᵀ, of as many columns as K needs.

    An interior point on the factor (`barrier.py`): each step solves with one sparse
    matrix of n·r rows. After each level the bottom eigenvectors of L(w) are
    looked at: where λ₂(L(w)) < 1 they are directions in which K should grow, and the best
    K in the span of Y and them gives the new columns (`span.py`). No local optimum
    is left that way: the program in K is convex and the weights prove the rest.

    tol : relative gap (upper − lower)/upper to stop at
    max_iter : Newton steps at most
    callback : gets a `Record` after each step; True stops

    Made for graphs with small separators (sheets, volumes of few points): the
    factorisation costs what `trace.fill_reducing_ordering` says, times r³.
    """
    if problem.form != "at_most":
        raise InvalidInput("low_rank solves the 'at_most' form; use the interior point for 'equal'")
    with one_blas_thread():  # the blocks are thin: more threads only wait for one another
        return _solved(problem, n_components, tol, max_iter, random_state, callback)


def _solved(problem, n_components, tol, max_iter, random_state, callback):
    progress = Progress(tol, callback)
    net = Net.of(problem)
    look = _Look(net, np.random.default_rng(random_state))
    here = _start(net, look, n_components)
    raises = steps = 0
    for _ in range(max_iter):
        here = newton_step(net, here)
        steps += 1
        lower = problem.value(here.points)
        done = _is_done(here) or steps >= STEPS_A_LEVEL
        if not done:
            if progress.record(here.points, lower):
                break
            continue
        values, vectors = look(here, progress)
        if progress.record(here.points, lower):
            break
        share = problem.m * here.level / lower
        short = values[0] < 1 - SHORTFALL * min(share, 1.0)
        if short and raises < RAISES:
            here, raises = _raised(net, here, vectors[:, values < 1 - SHORTFALL * min(share, 1.0)][:, :2]), raises + 1
        else:
            here, raises = _lowered(problem, here, share, tol), 0
        steps = 0
    return progress.solution("low_rank")


def _is_done(here: Inside) -> bool:
    """Centred, and not on the way down from a saddle."""
    return here.decrement < (CENTRED if here.damped < FIRST_SHIFT else AT_A_SADDLE)


@dataclass
class Progress:
    """The best of both sides so far, and the story."""

    tol: float
    callback: Callback | None = None
    begin: float = field(default_factory=perf_counter)
    history: list[Record] = field(default_factory=list)
    upper: float = np.inf
    lower: float = 0.0
    weights: Array | None = None
    points: Array | None = None

    def bound(self, weights: Array, upper: float) -> None:
        if upper < self.upper:
            self.upper, self.weights = upper, weights

    def record(self, points: Array, lower: float) -> bool:
        """Write a line; whether to stop."""
        if lower > self.lower:
            self.lower, self.points = lower, points
        gap = relative(self.lower, self.upper)
        seconds = perf_counter() - self.begin
        line = Record(len(self.history) + 1, self.lower, self.upper, gap, seconds)
        self.history.append(line)
        asked = self.callback is not None and bool(self.callback(line))
        return asked or gap <= self.tol

    def solution(self, solver: str) -> UnfoldingSolution:
        converged = relative(self.lower, self.upper) <= self.tol
        return UnfoldingSolution(
            self.points, self.weights, tuple(self.history), solver,
            "converged" if converged else "stopped",
        )


class _Look:
    """The bottom of L(w), each time from where the last look ended."""

    def __init__(self, net: Net, rng: np.random.Generator) -> None:
        self.net = net
        self.rng = rng
        self.last: Array | None = None

    def directions(self, weights: Array, count: int, known: Array | None) -> tuple[Array, Array]:
        problem = self.net.problem
        pieces = [self.rng.standard_normal((problem.n, 2))]
        if known is not None:
            pieces.append(known)
        if self.last is not None:
            pieces.append(self.last[:, -(count + 2 - (0 if known is None else known.shape[1])) :])
        start = np.hstack(pieces)
        missing = count + 2 - start.shape[1]
        if missing > 0:
            start = np.hstack([start, self.rng.standard_normal((problem.n, missing))])
        count = min(count, problem.n - 1)
        values, vectors = bottom(problem, weights, self.net.ordering, start, count)
        self.last = vectors
        return values, vectors

    def __call__(self, here: Inside, progress: Progress) -> tuple[Array, Array]:
        problem = self.net.problem
        count = here.points.shape[1] + LOOK_BEYOND
        values, vectors = self.directions(here.weights, count, here.points)
        upper = float(here.weights @ problem.squared) / float(values[0])
        progress.bound(here.weights / values[0], upper)
        self.values = values
        return values, vectors


def _start(net: Net, look: _Look, n_components: int) -> Inside:
    problem = net.problem
    count = min(n_components + SMOOTH, problem.n - 1)
    _, smooth = look.directions(1 / problem.squared, count, None)
    span = Span.of(problem, smooth)
    inner = span.down_to(span.start(), START_GAP)
    return Inside.at(problem, span.points(inner), inner.level)


def _raised(net: Net, here: Inside, vectors: Array) -> Inside:
    """A column for each of the directions offered, the lowest first.

    What little of a direction Y holds already is given up first: a column that is only
    beginning grows slowly by Newton steps, and at once when made anew.
    """
    problem = net.problem
    for u in vectors.T:
        held = u @ (problem.mass[:, None] * here.points)
        if held @ held > HELD * problem.value(here.points):
            continue
        without = _columns_in_use(problem, here.points - u[:, None] * held)
        slack = problem.squared - problem.squared_lengths(without)
        if np.any(slack <= 0):
            continue
        here = with_column(net, replace(here, points=without, slack=slack), u)
    return here


def _columns_in_use(problem: UnfoldingProblem, points: Array) -> Array:
    """The same K without columns that are nothing."""
    values, turn = np.linalg.eigh(points.T @ (problem.mass[:, None] * points))
    used = values > NOTHING * values[-1]
    return points if used.all() else points @ turn[:, used]


def _lowered(problem: UnfoldingProblem, here: Inside, share: float, tol: float) -> Inside:
    """The next level, without columns that have become nothing."""
    level = here.level * max(SHRINK, min(1.0, 0.5 * tol / share))
    return replace(here, points=_columns_in_use(problem, here.points), level=level)

"""Maximum variance unfolding of many points: K = YYᵀ with few columns, both sides together."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dualfold.arrays import Array, Seed
from dualfold.errors import InvalidInput
from dualfold.graph import farthest_points
from dualfold.inputs import random_generator
from dualfold.kernels.threads import one_blas_thread
from dualfold.unfolding.problem import UnfoldingProblem, graph_of
from dualfold.unfolding.solution import BestSides, Callback, UnfoldingSolution
from dualfold.unfolding.solvers.barrier import (
    FIRST_SHIFT,
    BarrierPoint,
    Net,
    newton_step,
    with_column,
)
from dualfold.unfolding.solvers.connectivity import lowest_eigenpairs
from dualfold.unfolding.solvers.landmark import refuse_equal_lengths, widest_distances
from dualfold.unfolding.solvers.span import Span
from dualfold.unfolding.spectral_floor import proved_floor

# How these constants were chosen: docs/dev/notes/unfolding.md.
# Landmarks that the start is made of, beside n_components.
N_EXTRA_LANDMARKS = 4
# The start reaches this gap in the span of those directions; a smaller one would only fit their
# shape, and press points to boundaries that the full problem does not have.
START_GAP = 0.1
CENTRED_DECREMENT = 0.02  # decrement/(mμ) at which a barrier stage ends
# Where the matrix was indefinite a column may be growing; below this it is not.
SADDLE_DECREMENT = 1e-4
MAX_STEPS_PER_STAGE = 20
# μ shrinks by this from stage to stage.
STAGE_RATIO = 0.1
LAST_STAGE_SHARE = 0.5  # of tol: the gap of the last stage
# Eigenvectors of L(w) computed beyond the columns of Y, and random directions beside them.
N_EIGENVECTORS_BEYOND = 3
N_RANDOM_DIRECTIONS = 2
# λ₂ may stay below 1 by this share of the stage's gap before columns are added.
SHORTFALL_SHARE = 0.3
MAX_RAISES_PER_STAGE = 10  # how often columns are added
MAX_NEW_COLUMNS = 6  # added together
# Columns of less than this share of the largest are only beginning; a direction of which
# they leave this much (of its square) is new.
GROWN_COLUMN_SHARE = 1e-3
NEW_DIRECTION_SHARE = 0.2
# A column whose share of tr K is below this is rounding.
NEGLIGIBLE_COLUMN_SHARE = 1e-13
# A slack is a difference of squared lengths: below this share of them its digits are few.
MIN_SLACK_SHARE = 1e-11
# How far below its Ritz value λ₂ is tried to be proved, in shares of tol. Nearer is better
# until a pivot all but vanishes and rounding takes what was gained.
HEIGHT_STEPS = (0.01, 0.1, 0.3, 1.0, 10.0, 100.0)
MAX_DENSE_ROWS = 300  # points up to which dense eigenvalues cost nothing


def low_rank(
    problem: UnfoldingProblem,
    *,
    n_components: int = 2,
    tol: float = 1e-6,
    max_iter: int = 300,
    most_flops: float | None = None,
    random_state: Seed = None,
    callback: Callback | None = None,
) -> UnfoldingSolution:
    """Unfold by Newton steps on a factor Y, K = YYᵀ, of as many columns as K needs.

    An interior point on the factor (`barrier.py`): a step factorises one sparse
    matrix of n·r rows, or solves with it by conjugate gradients. After each barrier stage the
    lowest eigenvectors of L(w) are computed: where λ₂(L(w)) < 1 they are directions in which K
    should grow, and become new columns. So no false optimum is left: the weights bound tr K over
    all K, of any rank.

    n_components : columns expected; the answer has as many as it needs
    tol : relative gap (upper − lower)/upper to stop at; μ cannot go much below 1e-9 of tr K
    max_iter : Newton steps at most
    most_flops : multiply-adds that a step's factorisation may take: TooLarge where the graph
        alone needs more, and the end where it does with the columns that K turned out to need
    random_state : of the directions in which missing eigenvectors are searched
    callback : gets a `Record` after each step; True stops

    On graphs with small separators (sheets and the like, any number of points) a factorisation
    costs what the graph's ordering says, times r³. On others (images) a step of conjugate
    gradients costs O(r) an edge, and only λ₂ is computed and proved by elimination of the graph.

    >>> import numpy as np
    >>> from dualfold.unfolding.solvers.low_rank import low_rank
    >>> from dualfold.unfolding.problem import UnfoldingProblem
    >>> chain = UnfoldingProblem(10, np.c_[np.arange(9), np.arange(1, 10)], np.ones(9))
    >>> answer = low_rank(chain, n_components=1, tol=1e-8, random_state=0)
    >>> round(chain.value(answer.factor), 5)  # n(n² − 1)/12
    82.5
    """
    refuse_equal_lengths(problem, "low_rank")
    if problem.n < 2:
        raise InvalidInput("unfolding needs at least 2 points and 1 edge; 1 point was given")
    progress = BestSides(problem, tol, callback)
    with one_blas_thread():  # the blocks are thin: more threads would only wait for one another
        net = Net.of(problem, most_flops=most_flops)
        checkpoint = _Checkpoint(net, random_generator(random_state), tol)
        _follow_stages(net, checkpoint, progress, n_components, max_iter, most_flops or np.inf)
    return progress.solution("low_rank")


def _follow_stages(
    net: Net,
    checkpoint: _Checkpoint,
    progress: BestSides,
    n_components: int,
    max_iter: int,
    most_flops: float,
) -> None:
    """Newton steps at one barrier stage, new columns where λ₂ < 1, then the next stage."""
    problem = net.problem
    here = _start(problem, n_components, checkpoint.rng)
    raises = steps = 0
    for _ in range(max_iter):
        here = newton_step(net, here)
        steps += 1
        if not (_is_done(here) or steps >= MAX_STEPS_PER_STAGE):
            if progress.record(here.points):
                return
            continue
        values, vectors = checkpoint(here, progress)
        if progress.record(here.points):
            return
        share = problem.m * here.mu / problem.value(here.points)
        low = values < 1 - SHORTFALL_SHARE * min(share, 1.0)
        grown = here
        if low.any() and raises < MAX_RAISES_PER_STAGE:
            grown = _with_new_columns(net, here, vectors[:, low][:, :MAX_NEW_COLUMNS])
        if grown is not here:
            here, raises = grown, raises + 1
            columns = here.points.shape[1]
            if net.step_flops(columns, min(share, 1.0)) > most_flops:
                progress.story.append(f"stopped where {columns} columns made a step too costly")
                return
        else:
            if np.min(here.slack / problem.squared) < MIN_SLACK_SHARE:
                progress.story.append("stopped where rounding hides the slacks of the edges")
                return
            least = (
                LAST_STAGE_SHARE * progress.tol / share
            )  # no lower than needed, unless that was not enough
            mu = here.mu * (max(STAGE_RATIO, least) if least < 1 else STAGE_RATIO)
            here, raises = (
                replace(here, points=_without_negligible_columns(problem, here.points), mu=mu),
                0,
            )
        steps = 0
    progress.story.append(f"stopped after {max_iter} steps")


def _is_done(here: BarrierPoint) -> bool:
    """Whether the point is centred, and not on the way down from a saddle."""
    return here.decrement < (CENTRED_DECREMENT if here.damped < FIRST_SHIFT else SADDLE_DECREMENT)


@dataclass
class _Checkpoint:
    """The lowest eigenvectors of L(w), each time from those of the last checkpoint."""

    net: Net
    rng: np.random.Generator
    tol: float
    last: Array | None = None

    def directions(self, weights: Array, count: int, known: list[Array]) -> tuple[Array, Array]:
        problem = self.net.problem
        count = min(count, problem.n - 1)
        pieces = known + ([] if self.last is None else [self.last])
        pieces = [np.hstack(pieces)[:, :count]] if pieces else []
        fresh = count + N_RANDOM_DIRECTIONS - sum(piece.shape[1] for piece in pieces)
        start = np.hstack([*pieces, self.rng.standard_normal((problem.n, fresh))])
        values, vectors = lowest_eigenpairs(problem, weights, self.net.ordering, start, count)
        self.last = vectors
        return values, vectors

    def __call__(self, here: BarrierPoint, progress: BestSides) -> tuple[Array, Array]:
        problem = self.net.problem
        count = here.points.shape[1] + N_EIGENVECTORS_BEYOND
        values, vectors = self.directions(here.weights, count, [here.points])
        worth = float(here.weights @ problem.squared) / values[0]
        if worth < progress.upper * (1 + self.tol):
            progress.offer_weights(here.weights, self._floor(here.weights, float(values[0])))
        return values, vectors

    def _floor(self, weights: Array, ritz: float) -> float:
        """A proved lower bound of λ₂; 0 where nothing can be proved."""
        problem = self.net.problem
        best = _dense_floor(problem, weights) if problem.n <= MAX_DENSE_ROWS else 0.0
        for drop in HEIGHT_STEPS:
            height = ritz * (1 - min(0.5, drop * self.tol))
            if height <= best:
                break
            best = max(best, proved_floor(problem, weights, height, self.net.ordering))
        return best


def _dense_floor(problem: UnfoldingProblem, weights: Array) -> float:
    """λ₂ by dense eigenvalues, less their error: stable where pivots of LDLᵀ vanish."""
    root = np.sqrt(problem.mass)
    scaled = problem.laplacian(weights).toarray() / np.outer(root, root)
    values = np.linalg.eigvalsh(scaled)
    # LAPACK's error is a small multiple of u‖A‖; 10n of them is far on the safe side.
    return float(values[1] - 10 * problem.n * np.finfo(float).eps * values[-1])


def _start(problem: UnfoldingProblem, n_components: int, rng: np.random.Generator) -> BarrierPoint:
    """The best K of an early stage in the span of a few landmarks' distances."""
    count = min(n_components + N_EXTRA_LANDMARKS, problem.n)
    chosen = farthest_points(graph_of(problem), count, random_state=rng, dtype=np.float64)
    span = Span.of(problem, widest_distances(problem, chosen, min(count, problem.n - 1)))
    inner = span.point_at_gap(span.start(), START_GAP)
    return BarrierPoint.at(problem, span.points(inner, n_components), inner.mu)


def _with_new_columns(net: Net, here: BarrierPoint, vectors: Array) -> BarrierPoint:
    """A column for each direction offered that the points do not have yet, the lowest first.

    A column that has only begun to grow counts as missing and is made again: Newton steps
    would let it grow slowly.
    """
    problem, mass = net.problem, net.problem.mass[:, None]
    for u in vectors.T:
        values, turn = np.linalg.eigh(here.points.T @ (mass * here.points))
        grown = values > GROWN_COLUMN_SHARE * values[-1]
        axes = here.points @ (turn[:, grown] / np.sqrt(values[grown]))
        rest = u - axes @ (axes.T @ (problem.mass * u))
        size = float(problem.mass @ rest**2)
        if size < NEW_DIRECTION_SHARE:
            continue
        rest /= np.sqrt(size)
        held = rest @ (mass * here.points)
        without = _without_negligible_columns(problem, here.points - rest[:, None] * held)
        slack = problem.squared - problem.squared_lengths(without)
        if np.all(slack > 0):
            here = with_column(net, replace(here, points=without, slack=slack), rest)
    return here


def _without_negligible_columns(problem: UnfoldingProblem, points: Array) -> Array:
    """Factor of K without negligible columns."""
    values, turn = np.linalg.eigh(points.T @ (problem.mass[:, None] * points))
    used = values > NEGLIGIBLE_COLUMN_SHARE * values[-1]
    return points if used.all() else points @ turn[:, used]

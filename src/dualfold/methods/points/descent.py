"""Descent of points that attract and repel: gradient steps with momentum and gains, in phases.

Steps are rate·gain·gradient, the gradient with its factor 4; in openTSNE's convention it is in the
rate. What the forces are, the problem says (`points/forces.py`).

Rows that attract more than the mean (n·Σ_j p_ij > 1: hubs of many lists) move less, by that
factor: a step that is right for the others would throw them back and forth. So the rate can be
four times as high.

Where exaggeration is so strong that a coordinate vanishes, it is halved (`VANISHING_EXTENT`). A
cloud without groups would otherwise leave the first iterations as a line, and be folded up in the
plane afterwards. Measurements: docs/dev/notes/tsne-grid.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dualfold.arrays import Array
from dualfold.errors import InvalidInput
from dualfold.kernels import kernel
from dualfold.kernels.reports import steps, tally
from dualfold.kernels.stops import Stop, stoppable
from dualfold.kernels.threads import Threads, thread_count
from dualfold.methods.points.forces import row_shares
from dualfold.methods.points.problem import AttractionProblem
from dualfold.methods.points.schedule import Phase

_step = kernel("momentum_step")
_centre = kernel("centre_points")
# The last iterations use a finer grid, so that they end where the exact forces balance.
FINE_ITERATIONS = 50
# Fewer points are moved by one thread: several would wait for one another.
MIN_SHARED_ROWS = 4_000
# Exaggerated iterations between two measurements of the extent of the map (its standard deviation
# along the narrowest axis, in widths of the forces), and the extent below which a map that narrows
# is vanishing: ρλ > 1, λ the eigenvalue of the coordinate, which only a smaller ρ lets grow
# (docs/dev/notes/tsne-grid.md).
EXTENT_ITERATIONS = 25
VANISHING_EXTENT = 1e-3
# Where the objective rises by this share between two checkpoints, steps become as short as in the
# last iterations: many duplicates of one row would be thrown back and forth.
RISE_TOLERANCE = 1e-4
# No point moves farther in one iteration, in widths of the forces (openTSNE has the same limit).
MAX_STEP_LENGTH = 5.0
# Why a descent ended that Ctrl-C interrupted.
INTERRUPTED = "it was interrupted"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """The state of a descent at a checkpoint.

    round : the number of the iteration, from 1 on
    objective, gradient : the objective by the repulsion in use, and the norm of its gradient
    points : the points, in the order of the rows
    exaggerated : whether early exaggeration is on
    """

    round: int
    objective: float
    gradient: float
    points: Array
    exaggerated: bool


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    points : n × d, centred
    rounds : the number of iterations
    objectives : (iteration, objective, ‖∇F‖) at every checkpoint
    why : what ended it
    """

    points: Array
    rounds: int
    objectives: tuple[tuple[int, float, float], ...]
    why: str


def descend(
    problem: AttractionProblem,
    start: Array,
    phases: list[Phase],
    *,
    exact: bool = False,
    angle: float = 0.5,
    look_every: int = 50,
    least_gradient: float = 0.0,
    look: Callable[[Checkpoint], bool | None] = lambda _: None,
    further_pull: Callable[[Array], Array] | None = None,
    keep_interrupted: bool = False,
    n_jobs: int | None = None,
) -> Descent:
    """Follow the phases from `start`; `look` is called at every checkpoint and may stop it.

    problem, start : what is to be solved, and where the points are at first (n × d)
    exact, angle : whether repulsion sums over all pairs; else the angle of the tree (3-D)
    least_gradient : stop where ‖∇F‖ is not larger at a checkpoint
    look_every, look : iterations between two checkpoints; what is called with each `Checkpoint`
    further_pull : of points, what else attracts them, as a quarter of its gradient (springs)
    keep_interrupted : whether Ctrl-C after the exaggeration ends the descent where it is
    n_jobs : threads (None: all cores); the bits do not depend on them
    """
    run = _Run(problem, start, exact, angle, thread_count(n_jobs))
    with stoppable() as stop:
        try:
            why = _follow(
                run,
                [phase for phase in phases if phase.rounds],
                look_every=look_every,
                least_gradient=least_gradient,
                look=look,
                further_pull=further_pull,
                stop=stop if keep_interrupted else Stop(),
            )
        except KeyboardInterrupt:
            if not stop.ready:
                raise
            why = INTERRUPTED
    return run.result(why)


def _follow(
    run: _Run,
    phases: list[Phase],
    *,
    look_every: int,
    least_gradient: float,
    look: Callable[[Checkpoint], bool | None],
    further_pull: Callable[[Array], Array] | None,
    stop: Stop,
) -> str:
    """Move the points of a run through the phases; why it ended."""
    total = sum(phase.rounds for phase in phases)
    why = "the rounds are over"
    pool = Threads(run.parts)
    with steps(run.problem.method_name, total) as done:
        for phase in phases:
            run.begin()
            run.sort()
            best, best_at, ended = np.inf, run.taken, False
            fine = max(0, phase.rounds - FINE_ITERATIONS) if phase is phases[-1] else -1
            for number in range(phase.rounds):
                if number % EXTENT_ITERATIONS == 0:
                    phase = run.with_fitting_exaggeration(phase)
                if number == fine:
                    run.repulsion.refine()
                    phase = replace(phase, rate=phase.rate / phase.calm, calm=1.0)
                run.sum_forces(pool)
                if further_pull is not None:
                    strength = run.problem.attraction * phase.exaggeration
                    run.pull += further_pull(run.points())[run.rows] / strength
                run.taken += 1
                if run.taken % look_every == 0 or run.taken == total:
                    state = run.checkpoint(phase.exaggeration, pool)
                    if look(state):
                        return "a callback stopped it"
                    if state.objective < best:
                        best, best_at = state.objective, run.taken
                    elif (
                        phase.calm > 1
                        and state.objective > (1 + RISE_TOLERANCE) * run.history[-2][1]
                    ):
                        phase, best_at = run.with_short_steps(phase), run.taken
                    elif run.taken - best_at > phase.patience:
                        why = f"did not make any progress during the last {phase.patience} episodes"
                        ended = True
                    if state.gradient <= least_gradient:
                        why, ended = f"gradient norm {state.gradient:f}", True
                run.move(phase, pool)
                done(1)
                if stop.asked:
                    return INTERRUPTED
                if ended:
                    break
            stop.ready = True  # exaggeration is over, and there is a map to keep
    return why


class _Run:
    """The arrays of one descent."""

    def __init__(
        self, problem: AttractionProblem, start: Array, exact: bool, angle: float, threads: int
    ) -> None:
        self.problem = problem
        self.Y = problem.checked_points(start).copy()
        self.parts = threads if problem.n >= MIN_SHARED_ROWS else 1
        self.forces = problem.forces
        self.repulsion = self.forces.repulsion(problem.n, self.Y.shape[1], exact, angle)
        self.attraction = self.forces.attraction(problem.P, self.Y.shape[1], False)
        self.rows = np.arange(problem.n)  # the row of X that each point is
        self.pull, self.Z = np.zeros_like(self.Y), 1.0
        self.gain, self.shift = np.ones_like(self.Y), np.zeros_like(self.Y)
        self.extent = 0.0
        attracted = np.asarray(problem.P.sum(axis=1)).ravel()
        self.damping = 1 / np.maximum(1.0, problem.n * attracted)
        self.history: list[tuple[int, float, float]] = []
        self.taken = self.moved = 0  # iterations begun, and steps done

    def points(self) -> Array:
        """The points in the order of the rows."""
        points = np.empty_like(self.Y)
        points[self.rows] = self.Y
        return points

    def sort(self) -> None:
        """Store the points in the order that suits their places."""
        points, damping = self.points(), np.empty_like(self.damping)
        damping[self.rows] = self.damping
        self.rows = self.attraction.order(points)
        self.Y, self.damping = points[self.rows], damping[self.rows]

    def begin(self) -> None:
        """Set all velocities to 0."""
        self.gain[...], self.shift[...] = 1.0, 0.0

    def with_short_steps(self, phase: Phase) -> Phase:
        """The phase with the steps of its last iterations, from rest."""
        self.begin()
        return replace(phase, rate=phase.rate / phase.calm, calm=1.0)

    def with_fitting_exaggeration(self, phase: Phase) -> Phase:
        """The phase, with half of its exaggeration where that makes a coordinate vanish."""
        if phase.exaggeration == 1:
            return phase
        before, self.extent = self.extent, _narrowest(self.Y)
        if not self.extent < min(before, VANISHING_EXTENT * self.forces.width):
            return phase
        self.begin()
        return replace(phase, exaggeration=max(1.0, phase.exaggeration / 2))

    def sum_forces(self, pool: Threads) -> None:
        """Compute attraction and repulsion of every point."""
        parts = 4 * self.parts if self.parts > 1 else 1
        tasks = [
            *self.repulsion.before(self.Y),
            *self.attraction.tasks(self.Y, self.pull, parts),
        ]
        pool.map(lambda task: task(), tasks)
        tally("attracted edges", self.problem.P.nnz)
        self.Z = self.repulsion.after(self.Y, pool, self.parts)
        if not np.isfinite(self.Z):
            raise InvalidInput("the points left the range of numbers; lower the learning rate")

    def checkpoint(self, exaggeration: float, pool: Threads) -> Checkpoint:
        """The state after the forces of an iteration, with the exaggeration that is on."""
        costs = np.zeros(len(self.Y))
        pool.map(lambda task: task(), self.attraction.costs(self.Y, costs, self.parts))
        strength = self.problem.attraction * exaggeration
        gradient = 4 * (strength * self.pull - self.repulsion.push / self.Z)
        value = self.forces.value(self.problem, strength, float(costs.sum()), self.Z)
        norm = float(np.linalg.norm(gradient))
        self.history.append((self.moved, value, norm))
        return Checkpoint(self.taken, value, norm, self.points(), exaggeration > 1)

    def move(self, phase: Phase, pool: Threads) -> None:
        """Step once and centre the points."""
        strength = self.problem.attraction * phase.exaggeration
        forces = (self.pull, self.repulsion.push, self.damping, strength, self.Z)
        pace = (phase.rate, phase.momentum, MAX_STEP_LENGTH * self.forces.width)
        state = (self.gain, self.shift, self.Y)

        def work(rows: slice) -> None:
            _step(rows.start, rows.stop, self.Y.shape[1], *forces, *pace, *state)

        pool.map(work, row_shares(len(self.Y), self.parts))
        _centre(*self.Y.shape, self.Y)
        self.moved += 1

    def result(self, why: str) -> Descent:
        return Descent(self.points(), self.taken, tuple(self.history), why)


def _narrowest(Y: Array) -> float:
    """The standard deviation of centred points along the axis where it is smallest."""
    squares = np.array([[float((a * b).mean()) for a in Y.T] for b in Y.T])
    return float(np.sqrt(max(np.linalg.eigvalsh(squares)[0], 0.0)))

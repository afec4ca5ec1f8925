"""The schedule of a descent: early exaggeration, then the phases in which the map is made.

It is that of scikit-learn but for the momentum (0.8, then 0.9; theirs is 0.5, then 0.8): 250
iterations in which attraction is `exaggeration` times stronger, then the others. Steps are those
that are right for the forces (`Forces.step_length`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dualfold.methods.points.problem import AttractionProblem

# How much longer the steps after early exaggeration are. 4 leaves more than a hundredth of
# the forces unbalanced, so the last rounds have 1 again (docs/dev/notes/tsne-grid.md).
LATE_STEP_FACTOR = 4.0
# The momentum is 0.9 up to MOMENTUM_ROWS rows and grows to MAX_MOMENTUM for more; larger maps end
# with CALM_ITERATIONS iterations in which they come to rest (docs/dev/notes/tsne-grid.md).
MOMENTUM_ROWS = 100_000
MAX_MOMENTUM = 0.97
CALM_ITERATIONS = 100


@dataclass(frozen=True)
class Phase:
    """Some iterations of one kind.

    rounds : the largest number of iterations
    exaggeration : what attraction is multiplied by
    rate, momentum : of the steps
    patience : stop after this many iterations in which the objective did not fall
    calm : what the rate is divided by in the last 50 iterations, in which points converge
    """

    rounds: int
    exaggeration: float
    rate: float
    momentum: float
    patience: float = float("inf")
    calm: float = 1.0


@dataclass(frozen=True)
class Schedule:
    """Parameters of a descent.

    exaggeration, early_iterations : by what the attraction is multiplied at first, and how long
    learning_rate : step length; None takes those that are right for the forces
    max_iter : how many iterations there are
    patience : stop after this many iterations in which the objective did not fall
    """

    exaggeration: float
    early_iterations: int
    learning_rate: float | None
    max_iter: int
    patience: float

    def rate(self, problem: AttractionProblem, strength: float) -> float:
        """The step length for so strong an attraction."""
        if self.learning_rate is not None:
            return self.learning_rate
        forces = problem.forces
        return max(forces.step_length(problem.n, strength), forces.least_step)

    def phases(self, problem: AttractionProblem) -> list[Phase]:
        """The phases, the exaggerated one first."""
        early = min(self.early_iterations, self.max_iter)
        rho, n = problem.attraction, problem.n
        # Early attraction is `exaggeration`, or more where it stays so.
        more = max(1.0, self.exaggeration / rho)
        early_rate = self.rate(problem, max(self.exaggeration, rho))
        rho = max(1.0, rho)
        last = late = self.rate(problem, rho)
        if self.learning_rate is None:  # few rows have no longer steps than the least anyway
            late = max(last, LATE_STEP_FACTOR * problem.forces.step_length(n, rho))
        rest = self.max_iter - early
        return [
            Phase(early, more, early_rate, 0.8, self.early_iterations),
            *late_phases(n, Phase(rest, 1.0, late, 0.9, self.patience, late / last)),
        ]


def late_phases(n: int, whole: Phase) -> list[Phase]:
    """The phase after the exaggeration, of large maps in parts.

    Large maps have far to go before their forces balance: they begin with more momentum, which
    ends step by step. Then near points push one another to and fro, until they come to rest with
    short steps.
    """
    momentum = min(MAX_MOMENTUM, 1 - 0.1 * MOMENTUM_ROWS / n)
    if momentum <= whole.momentum:
        return [whole]
    last = min(whole.rounds, CALM_ITERATIONS)
    each = (whole.rounds - last) // 3
    rounds = (whole.rounds - last - 2 * each, each, each)
    momenta = (momentum, (momentum + whole.momentum) / 2, whole.momentum)
    return [
        *(replace(whole, rounds=r, momentum=m) for r, m in zip(rounds, momenta, strict=True)),
        replace(whole, rounds=last, rate=whole.rate / whole.calm, momentum=0.8, calm=1.0),
    ]

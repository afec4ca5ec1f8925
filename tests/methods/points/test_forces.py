"""Forces are data: other ones take the same steps, and are certified only where that is proved."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.methods.points.tsne import TsneProblem, certify_tsne, tsne_objective
from tests.methods.door import (
    STUDENT,
    AttractionMap,
    AttractionProblem,
    DescentSettings,
    Forces,
    NeighborSettings,
    PointsMethod,
    Schedule,
    fit_points,
    force_balance,
    unproved_objective,
)
from tests.methods.points.tsne.problems import DIGITS, problem_of
from tests.weights.door import conditional_affinities, joint_affinities


class Pull:
    """Attraction with the potential t: a spring along each edge."""

    def __init__(self, P):
        self.P, self.degrees = P, np.asarray(P.sum(axis=1))

    def order(self, Y):
        return np.arange(len(Y))

    def tasks(self, Y, out, parts):
        def work():
            out[...] = self.degrees[:, None] * Y - self.P @ Y

        return [work]

    def costs(self, Y, out, parts):
        def work():
            squares = ((Y[self.P.nonzero()[0]] - Y[self.P.indices]) ** 2).sum(axis=1)
            out[...] = np.add.reduceat(self.P.data * squares, self.P.indptr[:-1])

        return [work]


class Push:
    """The logarithm of Σ exp(−t) over all pairs repels."""

    def __init__(self, n, width):
        self.phi, self.push = np.zeros(n), np.zeros((n, width))

    def before(self, Y):
        return []

    def after(self, Y, pool, parts):
        offsets = Y[:, None] - Y[None]
        near = np.exp(-(offsets**2).sum(axis=2))
        np.fill_diagonal(near, 0.0)
        self.phi[...], self.push[...] = near.sum(axis=1), (near[..., None] * offsets).sum(axis=1)
        return max(float(self.phi.sum()), 1e-300)

    def refine(self):
        pass


@dataclass(frozen=True)
class GaussianForces(Forces):
    """A Gaussian in the place of Student's t: symmetric SNE."""

    name: ClassVar[str] = "Gaussian"
    width: ClassVar[float] = 1.0
    least_step: ClassVar[float] = 10.0

    def attraction(self, P, width, exact):
        return Pull(P)

    def repulsion(self, n, width, exact, angle):
        return Push(n, width)

    def value(self, problem, strength, cost, Z):
        return strength * cost + np.log(Z) - problem.entropy

    def step_length(self, n, strength):
        return n / strength / 16

    def objective(self, problem, Y, n_jobs):
        return unproved_objective(problem, Y, n_jobs)

    def pull_weights(self, affinities, squares):
        return affinities * np.ones_like(squares)

    def field(self, points):
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class GaussianProblem(AttractionProblem):
    method_name: ClassVar[str] = "SNE"
    forces: ClassVar[Forces] = GaussianForces()


@dataclass(frozen=True)
class Judged:
    value: float
    plain_value: float
    slope: float
    level: str
    reasons: tuple[str, ...]


def judged(problem, points, n_jobs=None, **known):
    balance = force_balance(problem, problem.checked_points(points), 0.01, n_jobs)
    found = balance.objective
    return Judged(found.value, found.plain_value, found.slope, balance.level, balance.reasons)


def affinities(lists):
    conditional, widths = conditional_affinities(lists, 10.0)
    return joint_affinities(lists, conditional), widths


def method(**changes):
    settings = {
        "name": "SNE",
        "value_name": "KL divergence",
        "problem": GaussianProblem,
        "judge": judged,
        "neighbors": NeighborSettings(None, 10.0, False, "euclidean", None, "auto", None),
        "graph": None,
        "affinities": affinities,
        "n_components": 2,
        "attraction": 1.0,
        "schedule": Schedule(4.0, 100, None, 400, 300),
        "descent": DescentSettings(False, 0.5, 50, 1e-7),
        "init": "pca",
        "random_state": 0,
        "n_starts": 2,
        "verbose": 2,
        "n_jobs": None,
    }
    return PointsMethod(**settings | changes)


def test_other_forces_go_through_the_same_steps(capsys):
    fit = fit_points(DIGITS, method(), lambda name: nullcontext())
    assert "[SNE] KL divergence after 400 iterations" in capsys.readouterr().out
    first, last = fit.run.objectives[2], fit.run.objectives[-1]
    assert last[1] < first[1]  # plain attraction, after the exaggeration
    assert fit.certificate.slope < 0.05
    # The gradient is that of the objective.
    problem, Y = fit.stated.problem, fit.points.astype(float)
    move = np.random.default_rng(0).normal(size=Y.shape)
    up, down = (unproved_objective(problem, Y + s * move, None).value for s in (1e-6, -1e-6))
    slope = float((unproved_objective(problem, Y, None).gradient * move).sum())
    assert (up - down) / 2e-6 == pytest.approx(slope, rel=1e-3, abs=1e-6)


def test_forces_without_a_proved_rounding_have_no_certificate_of_their_balance():
    problem = GaussianProblem(problem_of().P)
    points = np.zeros((300, 2))
    balance = force_balance(problem, points, 0.01)
    assert balance.level == "unresolved"
    assert "nobody has bounded the rounding of these forces (Gaussian)" in balance.reasons[0]
    assert balance.objective.error is None
    for judge in (certify_tsne, tsne_objective):
        with pytest.raises(InvalidInput, match="not TsneProblem"):
            judge(problem, points)
    assert TsneProblem(problem.P).forces is STUDENT


def test_the_objective_of_students_forces_is_the_one_without_bounds():
    """Sums in doubles, whichever way they go, differ by rounding alone."""
    problem = problem_of(attraction=2.0)
    Y = np.random.default_rng(1).normal(size=(300, 2)) * 5
    bounded, plain = tsne_objective(problem, Y), unproved_objective(problem, Y, None)
    assert plain.value == pytest.approx(bounded.value, abs=1e-12)
    assert plain.plain_value == pytest.approx(bounded.kl, abs=1e-12)
    np.testing.assert_allclose(plain.gradient, bounded.gradient, atol=1e-14)


def test_a_stored_map_states_forces_that_are_not_students():
    rule = AttractionMap(DIGITS, DIGITS[:, :2], 5, 3.0)
    assert "forces" not in rule.parts().facts
    other = AttractionMap(DIGITS, DIGITS[:, :2], 5, 3.0, forces=GaussianForces())
    with pytest.raises(ValueError, match="forces"):
        AttractionMap.from_parts(other.parts())

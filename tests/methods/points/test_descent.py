"""Descent of points: the same bits for any threads, and phases that lose nothing."""

from __future__ import annotations

import numpy as np

from dualfold.methods.points.tsne import TsneProblem, certify_tsne
from tests.graph.door import Lists
from tests.methods.door import STUDENT, ByGrid, Phase, descend
from tests.methods.points.tsne.problems import problem_of
from tests.weights.door import conditional_affinities, joint_affinities


def test_the_same_bits_for_any_number_of_threads():
    rng = np.random.default_rng(6)
    n, k = 4_200, 15
    lists = Lists(np.arange(0, n * k + 1, k), rng.integers(0, n, n * k), rng.random(n * k))
    P = joint_affinities(lists, conditional_affinities(lists, None)[0])
    start = rng.normal(size=(n, 2))
    phases = [Phase(30, 4.0, 300.0, 0.8), Phase(60, 1.0, 1000.0, 0.9)]
    runs = [
        descend(TsneProblem(P), start, phases, n_jobs=threads).points for threads in (1, 2, 3, 2)
    ]
    for other in runs[1:]:
        np.testing.assert_array_equal(runs[0], other)


def narrowest(Y):
    return np.linalg.svd(Y - Y.mean(axis=0), compute_uv=False)[-1] / np.sqrt(len(Y))


def test_early_exaggeration_does_not_make_a_line_of_a_cloud(set_limits):
    """ρλ > 1 in the second coordinate: it would shrink from 1e-4 to 1e-8 and be lost."""
    X = np.random.default_rng(0).standard_normal((800, 10))
    problem = problem_of(X, perplexity=30.0)
    start = 1e-4 * X[:, :2]
    ended = descend(problem, start, [Phase(250, 12.0, 50.0, 0.8)])
    assert narrowest(ended.points) > 0.05
    # Digits have groups: nothing is halved, and no bit changes.
    some = problem_of()
    begin = 1e-4 * np.random.default_rng(1).standard_normal((300, 2))
    phases = [Phase(100, 12.0, 50.0, 0.8)]
    there = descend(some, begin, phases).points
    set_limits("methods.points.descent", VANISHING_EXTENT=0.0)
    assert descend(some, begin, phases).points.tobytes() == there.tobytes()
    assert narrowest(descend(problem, start, [Phase(250, 12.0, 50.0, 0.8)]).points) < 1e-5


def test_hubs_are_not_thrown_to_and_fro():
    """A row that all others list attracts with n·Σp of about n/2; steps are for those with 1."""
    X = np.random.default_rng(0).standard_normal((400, 30))
    X[0] = 0.0
    problem = problem_of(X, perplexity=5.0)
    attracted = 400 * np.asarray(problem.P.sum(axis=1)).ravel()
    assert attracted.argmax() == 0
    assert attracted[0] > 15
    start = 1e-4 * X[:, 1:3]
    phases = [Phase(100, 12.0, 50.0, 0.8), Phase(300, 1.0, 200.0, 0.9)]
    assert certify_tsne(problem, descend(problem, start, phases).points).unbalanced < 0.02


def test_the_last_rounds_are_fine_though_an_earlier_phase_ends_before_its_time():
    refined = []

    class NotedGrid(ByGrid):
        def refine(self):
            refined.append(True)

    class NotedForces(type(STUDENT)):
        def repulsion(self, n, width, exact, angle):
            return NotedGrid(n, width)

    class NotedProblem(TsneProblem):
        forces = NotedForces()

    X = np.random.default_rng(0).standard_normal((450, 1))
    problem = NotedProblem(problem_of(X, perplexity=10.0, count=1).P, 1)
    phases = [Phase(200, 4.0, 50.0, 0.5), Phase(80, 1.0, 50.0, 0.5)]
    ended = descend(problem, 1e-4 * X, phases, least_gradient=1e9)
    assert ended.rounds == 100  # each phase ends at its first look
    assert refined == [True]  # 50 rounds before the second one would have been over

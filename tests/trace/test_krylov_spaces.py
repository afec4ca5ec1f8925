"""Krylov spaces that grow: the lowest values, one count after another."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from dualfold import LaplacianEigenmaps
from dualfold.errors import Overtone
from dualfold.trace import TraceProblem, certify
from dualfold.trace.solvers import Auto, Dense, Factored
from tests.tools.tables import strip
from tests.trace.door import KrylovSpace, krylov_space_for


def test_a_krylov_space_finds_the_lowest_values_one_count_after_another():
    values = np.r_[1.0, 2.0, 4.0, np.linspace(10, 20, 197)]
    space = KrylovSpace(TraceProblem(sp.csr_array(np.diag(values)), count=1), 1e-6)
    for count in (1, 2, 3):
        found = space.first(count)
        np.testing.assert_allclose(found.values, values[:count], rtol=1e-9)
        np.testing.assert_allclose(np.abs(found.vectors), np.eye(200)[:, :count], atol=1e-4)


def test_a_second_look_goes_on_from_the_first_and_misses_no_twins():
    """A torus of 21×21 nodes: eigenvalues known, four and eight times over."""
    m = 21
    ring = sp.csr_array(np.roll(np.eye(m), 1, axis=1) + np.roll(np.eye(m), -1, axis=1))
    W = sp.csr_array(sp.kron(ring, sp.eye_array(m)) + sp.kron(sp.eye_array(m), ring))
    L = sp.csr_array(4 * sp.eye_array(m * m) - W)
    problem = TraceProblem(L, None, 6, "min", excluded=np.ones(m * m))
    first = Factored().solve(problem)
    known = np.hstack([first.vectors, first.guard])
    more = replace(problem, count=20)
    found = Factored(start=known).solve(more)
    waves = 2 - 2 * np.cos(2 * np.pi * np.arange(m) / m)
    exact = np.sort(np.add.outer(waves, waves).ravel())[1:21]
    np.testing.assert_allclose(found.values, exact, atol=1e-10)
    assert certify(more, np.hstack([found.vectors, found.guard]), found.values).level == "proved"
    assert found.products < 0.8 * Factored().solve(more).products


def test_a_space_that_grows_has_the_directions_of_one_solve():
    for seed in range(3):
        X = np.random.default_rng(seed).uniform(size=(700, 2)) / [1, 8]
        model = LaplacianEigenmaps(left_out=(), constraint=("degree", "identity")[seed % 2])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Overtone)
            problem = model.statement(X, 2).problem
        space = krylov_space_for(problem, Auto())
        exact = Dense().solve(replace(problem, count=20))
        for count in (2, 6, 20):
            found = space.first(count)
            asked = replace(problem, count=count)
            np.testing.assert_allclose(found.values, exact.values[:count], rtol=1e-9)
            whole = np.hstack([found.vectors, found.guard])
            assert certify(asked, whole, found.values).level == "proved"
        # Beyond these it ends, and says so.
        assert space.first(300) is None


def test_where_nothing_grows():
    """Images are not factored, Gramians have a way of their own, few rows are decomposed."""
    rng = np.random.default_rng(0)
    dense = rng.normal(size=(500, 500))
    few = LaplacianEigenmaps(left_out=()).statement(strip(1.2, 200), 2).problem
    problems = [TraceProblem(dense + dense.T, None, 2), few]
    for problem in problems:
        assert krylov_space_for(problem, Auto()) is None
    assert krylov_space_for(problems[1], Factored()) is None

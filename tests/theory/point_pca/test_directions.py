"""PCA as descent on directions: error, gradient and the averaged iterate, by definition."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold.errors import InvalidInput
from dualfold.methods import pca
from dualfold.point_pca import averaged_directions, direction_error, direction_gradient
from dualfold.trace.solvers import PaperGradient


def draws(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


X = draws(0, 30, 6) * np.array([3.0, 2.0, 1.5, 1.0, 0.5, 0.2]) + 4.0


@pytest.mark.parametrize("data", [X, sp.csr_array(X)], ids=["dense", "sparse"])
def test_error_and_gradient_are_those_of_theorem_1_7(data):
    U = draws(1, 6, 2)
    centred = X - X.mean(axis=0)

    def f(U):
        return np.square(centred @ U @ U.T - centred).sum()

    assert direction_error(data, U) == pytest.approx(f(U), rel=1e-12)
    differences = np.zeros_like(U)
    for place in np.ndindex(*U.shape):
        move = np.zeros_like(U)
        move[place] = 1e-5
        differences[place] = (f(U + move) - f(U - move)) / 2e-5
    gradient = direction_gradient(data, U)
    np.testing.assert_allclose(gradient, differences, atol=1e-6 * np.abs(gradient).max())
    S = centred.T @ centred
    printed = 2 * (S @ U @ U.T @ U + U @ U.T @ S @ U - 2 * S @ U)
    np.testing.assert_allclose(gradient, printed, rtol=1e-10, atol=1e-9)
    top = np.linalg.svd(centred)[2][:2].T
    assert np.abs(direction_gradient(data, top)).max() < 1e-9 * np.linalg.norm(S)


def test_the_average_is_that_of_the_steps_and_its_polar_factor_the_estimators_answer():
    start = np.linalg.qr(draws(2, 6, 2))[0] / np.sqrt(2)
    run = averaged_directions(X, 2, rounds=7, step=0.4, start=start)
    w, steps = start, []
    for _ in range(7):
        gradient = direction_gradient(X, w)
        w = w - 0.4 * gradient / np.linalg.norm(gradient)
        steps.append(w)
    np.testing.assert_allclose(run.iterates, steps, rtol=1e-12)
    np.testing.assert_allclose(run.average, np.mean(steps, axis=0), rtol=1e-12)
    np.testing.assert_allclose(run.directions.T @ run.directions, np.eye(2), atol=1e-12)
    # The nearest orthonormal matrix: no small turn of it is nearer.
    near = np.linalg.norm(run.directions - run.average)
    for turn in draws(3, 20, 6, 2):
        other = np.linalg.qr(run.directions + 0.05 * turn)[0]
        other = other * np.sign(np.sum(other * run.directions, axis=0))
        assert np.linalg.norm(other - run.average) >= near
    theirs = PaperGradient(rounds=7, step=0.4, start=start).attempt(pca(X, n_components=2))
    np.testing.assert_allclose(run.directions, theirs.vectors, atol=1e-10)
    drawn = averaged_directions(X, 3, seed=1)
    assert drawn.iterates.shape == (10, 6, 3)
    with pytest.raises(InvalidInput, match="rows"):
        direction_error(X, np.ones((5, 2)))
    with pytest.raises(InvalidInput, match="columns"):
        averaged_directions(X, 3, start=start)

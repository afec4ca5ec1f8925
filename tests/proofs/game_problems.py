"""Functions, sets and exact minimisers that the tests of games share."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.games import (
    Ball,
    Box,
    Ellipsoid,
    Everywhere,
    L1Ball,
    LeastSquares,
    Logistic,
    Quadratic,
)

D, ROUNDS = 8, 80


def _functions():
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.normal(size=(D, D)))[0]
    matrix = basis @ np.diag(np.geomspace(1e-3, 10, D)) @ basis.T
    rows = random.normal(size=(40, D))
    labels = np.sign(rows @ random.normal(size=D) + random.normal(size=40))
    return {
        "quadratic": Quadratic((matrix + matrix.T) / 2, 0.1 * random.normal(size=D), 0.3),
        "logistic": Logistic(0.5 * rows, labels),
        "least squares": LeastSquares(0.3 * rows, random.normal(size=40)),
    }


FUNCTIONS = _functions()
START = np.full(D, 0.1)
SETS = {
    "everywhere": Everywhere(),
    "ball": Ball(0.6),
    "box": Box(np.full(D, -0.2), np.full(D, 0.15)),
    "ellipsoid": Ellipsoid(np.linspace(0.4, 1.0, D)),
    "l1 ball": L1Ball(1.0),
}
both = pytest.mark.parametrize("function", FUNCTIONS)
anywhere = pytest.mark.parametrize("place", SETS)
bounded = pytest.mark.parametrize("place", [name for name in SETS if name != "everywhere"])


def assert_close(ours, theirs):
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() <= 1e-10


def best_on(f, K):
    """The least value over K and where, by restarted accelerated projected gradients."""
    L = f.smoothness
    x = K.project(START)
    if isinstance(f, Quadratic) and isinstance(K, Everywhere):
        x = np.linalg.solve(f.matrix, -f.linear)
    for _ in range(15):
        w = z = x
        for t in range(1, 300):
            following = K.project(z - f.subgradient(z) / L)
            z = following + (t - 1) / (t + 2) * (following - w)
            w = following
        if f.value(w) > f.value(x) or np.array_equal(w, x):
            break  # another start from x would end here again
        x = w
    return x

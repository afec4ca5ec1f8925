"""What no map may depend on: the order of rows, the axes, the unit, and rows that come twice.

Hypothesis draws the data, for every method that is described. Maps are compared by the inner
products of their points, which know neither signs nor axes, and by the optimum that the
certificate states. DUALFOLD_EXAMPLES=20 draws twenty tables a property in place of two.
"""

from __future__ import annotations

import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dualfold.methods.descriptions import DESCRIPTIONS
from tests.robustness.door import principal_points
from tests.tools.tables import rows_for

ROWS, COLUMNS = 30, 5
EXAMPLES = int(os.environ.get("DUALFOLD_EXAMPLES", "2"))
NAMES = sorted(DESCRIPTIONS)
# The directions are drawn before the data are seen: other axes, another map.
OF_AXES = {"random_projection"}
# A share of a row's counts is what it is only in its own column.
OF_COLUMNS = {name for name, row in DESCRIPTIONS.items() if row.counts}
# Stationary points of an objective that is not convex: rounding decides which one is found.
OF_MANY = {"tsne"}
# Lengths that mean something, but not in the unit of the data.
OWN_UNIT = {"famd", "fisher", "diffusion_maps", "kernel_pca", "correspondence"}
# Rows twice are the same problem with other weights for these alone; neighbours of rows that come
# twice are other neighbours.
BY_FEATURES = {"pca", "truncated_svd", "mds", "fisher", "famd", "correspondence"}
# Lengths are measured from the origin: axes may turn around it, but not move.
FROM_ORIGIN = {"truncated_svd"}
seeds = st.integers(0, 2**32 - 1)
few = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES == 2,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def data_of(seed):
    """Rows around a bent sheet, in two classes."""
    rng = np.random.default_rng(seed)
    a, b = rng.uniform(-1, 1, size=(2, ROWS))
    X = np.column_stack([a, b, a * b, np.sin(2 * a), b**2]) @ rng.normal(size=(COLUMNS, COLUMNS))
    return X + 0.05 * rng.normal(size=X.shape), (a + 0.3 * rng.normal(size=ROWS) > 0).astype(int)


def fitted(name, X, y):
    """The estimator of that name, fitted: its map, and itself."""
    row = DESCRIPTIONS[name]
    X = rows_for(row, X)
    chosen = {"n_components": 1 if name == "fisher" else 2, "n_neighbors": 8, "random_state": 0}
    made = row.estimator_class()()
    known = made.get_params()
    parameters = {key: value for key, value in chosen.items() if key in known}
    made.set_params(**row.estimator_parameters(parameters))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        Y = made.fit_transform(X, y) if "labels" in row.needs else made.fit_transform(X)
    return np.asarray(Y, dtype=float), made


def inner(Y):
    """Inner products of the centred points, over their largest."""
    centred = Y - Y.mean(axis=0)
    products = centred @ centred.T
    return products / np.abs(products).max()


def same_map(first, second):
    """Whether two fits, whose rows correspond, have the same optimum and the same map."""
    (one, made), (other, again) = first, second
    value, repeated = made.certificate_.value, again.certificate_.value
    if value is not None and np.isfinite(value):
        assert repeated == pytest.approx(value, rel=1e-6, abs=1e-9)
    # Solvers that iterate stop at 1e-7 of their answer or so (PointPCA); the others at rounding.
    np.testing.assert_allclose(inner(other), inner(one), atol=1e-5)


@pytest.mark.parametrize("name", sorted(set(NAMES) - OF_MANY))
@few
@given(seed=seeds)
def test_the_order_of_rows_does_not_matter(name, seed):
    X, y = data_of(seed)
    order = np.random.default_rng(seed).permutation(ROWS)
    Y, made = fitted(name, X, y)
    moved, again = fitted(name, X[order], y[order])
    same_map((Y[order], made), (moved, again))


@pytest.mark.parametrize("name", sorted(set(NAMES) - OF_AXES - OF_COLUMNS - OF_MANY))
@few
@given(seed=seeds)
def test_the_axes_do_not_matter(name, seed):
    X, y = data_of(seed)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(COLUMNS, COLUMNS)))[0]
    shift = 0.0 if name in FROM_ORIGIN else 3.0
    same_map(fitted(name, X, y), fitted(name, X @ turn + shift, y))


@pytest.mark.parametrize("name", NAMES)
@few
@given(seed=seeds, power=st.integers(-30, 30))
def test_the_unit_does_not_matter(name, seed, power):
    X, y = data_of(seed)
    Y, made = fitted(name, X, y)
    scaled, again = fitted(name, np.ldexp(X, power), y)
    np.testing.assert_allclose(inner(scaled), inner(Y), atol=1e-6)
    assert again.certificate_.level == made.certificate_.level
    if DESCRIPTIONS[name].lengths and name not in OWN_UNIT:
        largest = np.abs(Y - Y.mean(axis=0)).max()
        grown = np.abs(scaled - scaled.mean(axis=0)).max()
        assert grown == pytest.approx(np.ldexp(largest, power), rel=1e-6)


@pytest.mark.parametrize("name", NAMES)
@few
@given(seed=seeds)
def test_rows_that_come_twice(name, seed):
    X, y = data_of(seed)
    twice, labels = np.vstack([X, X]), np.concatenate([y, y])
    both, again = fitted(name, twice, labels)
    assert np.isfinite(both).all()
    assert again.certificate_.level != "failed"
    if DESCRIPTIONS[name].linear:
        np.testing.assert_allclose(both[ROWS:], both[:ROWS], atol=1e-6 * np.abs(both).max())
    if name in BY_FEATURES:
        Y, _ = fitted(name, X, y)
        np.testing.assert_allclose(inner(both[:ROWS]), inner(Y), atol=1e-9)


@pytest.mark.parametrize("power", [-200, -30, -7, 7, 200])
def test_the_start_of_tsne_has_no_unit(power):
    """To the last bit: a start that differs there becomes another map."""
    for X in (data_of(0)[0], data_of(0)[0].T):
        start = principal_points(X, 2)
        np.testing.assert_array_equal(
            principal_points(np.ldexp(X, power), 2), np.ldexp(start, power)
        )

"""Repulsion by pairs, by a grid and by a tree: the sums of the definition within their bounds."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.door import Threads
from tests.methods.door import LEAST_SPACING, STUDENT, ByGrid, ByPairs, ByTree
from tests.methods.points.tsne.problems import brute_sums


def summed(kind, Y, *more, **others):
    found = kind(*Y.shape, *more, **others)
    for task in found.before(Y):
        task()
    found.Z = found.after(Y, Threads(1), 1)
    return found


@pytest.mark.parametrize("width", [1, 2, 3, 5])
def test_sums_over_all_pairs_are_those_of_the_definition(width):
    Y = np.random.default_rng(width).normal(size=(77, width)) * 3
    found = summed(ByPairs, Y)
    phi, push = brute_sums(Y)
    np.testing.assert_allclose(found.phi, phi, rtol=1e-12)
    np.testing.assert_allclose(found.push, push, atol=1e-12)


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("size", [1e-6, 1e-7, 1e-9, 1e-20, 1e-300])
def test_the_grid_takes_maps_of_any_small_size(width, size):
    """Pushes are right but for the rounding of φ, near n, over the distance of two nodes."""
    Y = np.random.default_rng(0).normal(size=(500, width)) * size
    found = summed(ByGrid, Y)
    phi, push = brute_sums(Y)
    np.testing.assert_allclose(found.phi - 1, phi, rtol=1e-2)
    rounding = 8 * len(Y) * 2.0**-53 / LEAST_SPACING
    assert np.abs(found.push - push).max() <= 1e-2 * np.abs(push).max() + rounding


@pytest.mark.parametrize("width", [1, 2])
def test_nothing_pushes_points_of_one_spot_apart(width):
    assert not summed(ByGrid, np.full((500, width), 3.0)).push.any()


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("size", [1e-4, 1.0, 8.0])
def test_the_grid_is_near_the_sums_and_nearer_when_refined(width, size):
    Y = np.random.default_rng(0).normal(size=(500, width)) * size
    phi, push = brute_sums(Y)
    errors = []
    for fine in (False, True):
        found = ByGrid(*Y.shape)
        if fine:
            found.refine()
        for task in found.before(Y):
            task()
        Z = found.after(Y, Threads(1), 3)
        np.testing.assert_allclose(
            Z, phi.sum(), rtol=1e-2
        )  # half of Z is the points' own share here
        errors.append(np.linalg.norm(found.push - push) / np.linalg.norm(push))
    assert errors[0] < 0.03
    if size == 8.0:  # small maps have fine grids anyway
        assert errors[1] < 0.3 * errors[0]


def test_the_gradient_of_the_grid_is_that_of_its_own_sum():
    rng = np.random.default_rng(1)
    Y, move = rng.normal(size=(60, 2)) * 4, rng.normal(size=(60, 2))
    anchors = np.array([[-30.0, -30.0], [30.0, 30.0]])  # the box stays

    def of(points):
        return summed(ByGrid, np.ascontiguousarray(np.vstack([points, anchors])), np.float64)

    step = 1e-5
    slope = (of(Y + step * move).Z - of(Y - step * move).Z) / (2 * step)
    # Z counts each pair twice, and a pair pushes by −½∇φ on either side.
    assert slope == pytest.approx(-4 * float((of(Y).push[:60] * move).sum()), rel=1e-6)


@pytest.mark.parametrize("size", [1e-4, 1.0, 8.0, 60.0])
def test_a_grid_of_single_precision_pushes_as_one_of_double_precision(size):
    """Small maps have double precision: φ is nearly n everywhere, and its slope would be lost."""
    Y = np.random.default_rng(0).normal(size=(2_000, 2)) * size
    single, double = summed(ByGrid, Y), summed(ByGrid, Y, np.float64)
    assert single.grid.dtype == (np.float64 if size <= 1 else np.float32)
    # Sums of φ are right to some units in the last place of the largest.
    np.testing.assert_allclose(single.phi, double.phi, rtol=0, atol=2e-6 * double.phi.max())
    apart = np.linalg.norm(single.push - double.push)
    assert apart < 2e-5 * np.linalg.norm(double.push)


@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("angle", [0.2, 0.6])
def test_errors_of_the_tree_are_within_their_bounds(width, angle):
    rng = np.random.default_rng(2)
    Y = rng.normal(size=(400, width)) * np.exp(rng.normal(size=(400, 1)))
    Y[:20] = Y[0]  # points that no tree parts
    found = summed(ByTree, Y, angle, bounded=True)
    phi, push = brute_sums(Y)
    assert np.all(np.abs(found.phi - phi) <= found.off + 1e-11)
    assert np.all(np.linalg.norm(found.push - push, axis=1) <= found.off_push + 1e-11)
    assert 0 < np.median(found.off) < 0.5 * np.median(phi)


def test_repulsion_of_many_points_in_space_is_by_a_tree():
    assert isinstance(STUDENT.repulsion(100_000, 3, False, 0.5), ByTree)
    for n, exact in ((10, False), (100_000, True)):
        assert isinstance(STUDENT.repulsion(n, 3, exact, 0.5), ByPairs)

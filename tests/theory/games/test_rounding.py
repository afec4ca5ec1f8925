"""Margins for rounding, with a unit so large that none of them hides behind another.

In double precision most margins are far below what is rounded in fact, so a wrong sign in one of
them changes no verdict of any test. Here the unit, or the factor that covers the rounding of the
margins themselves, is made as large as 2⁻⁸ or 5/4. Then each bound must hold what its docstring
says: what computed sums and products could have been off by in such an arithmetic.
"""

from __future__ import annotations

import numpy as np

from dualfold.games import Ball, EasiestBend, HalfSquare, Product, Spectrahedron, Sum
from tests.proofs.coarse import patched
from tests.theory.games.door import composites, structured_sets, unfolding_dual

COARSE = 2.0**-8  # twice the unit of this arithmetic


def gamma(k, unit=COARSE / 2):
    return k * unit / (1 - k * unit)


# ---- numbers with a bound of their error (kernels/arithmetic/intervals.py)
# ---- least eigenvalues and curvature


def test_the_least_of_a_spectrahedron_is_between_its_bounds(monkeypatch):
    slope = np.array([[2.0, 1.0], [1.0, -1.0]])
    plain = Spectrahedron(2.0).minimum_interval(slope)
    patched(monkeypatch, structured_sets, EPS=0.25)
    assert Spectrahedron(2.0).minimum_interval(slope).off >= 1.9 * plain.off


def test_the_dual_of_unfolding_pays_for_its_sums(monkeypatch):
    edges = np.array([[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]])
    bend, x = EasiestBend(4, edges, np.array([1.0, 2.0, 1.0, 1.0, 0.5])), np.full(5, 0.2)
    plain = bend.value_interval(x)
    patched(monkeypatch, unfolding_dual, EPS=COARSE, OPERATIONS_UNDERFLOW=0.0)
    coarse = bend.value_interval(x)
    weights = x / bend.squared_lengths
    # Row i of the Laplacian adds up its weights, and each of them is a quotient.
    size = np.zeros((4, 4))
    np.add.at(size, (edges[:, 0], edges[:, 1]), weights)
    size = size + size.T + np.diag((size + size.T).sum(axis=1))
    lift = 2 * size.diagonal().max() / 4
    least = COARSE / 2 * np.linalg.norm(size + lift)
    assert 2 * (coarse.off - plain.off) >= least
    assert 2 * (coarse.off - plain.off) <= 40 * least
    assert np.isinf(bend.value_interval(x - 0.3).high())


# ---- parts


class Unbounded(Ball):
    rounding_bounded = False


class Stranger(HalfSquare):
    rounding_bounded = False


def test_one_part_whose_rounding_nobody_bounds_is_enough():
    sure, not_sure = Ball(1.0), Unbounded(1.0)
    assert Product((sure, sure), (1, 1)).rounding_bounded
    assert not Product((sure, not_sure), (1, 1)).rounding_bounded
    assert Sum(HalfSquare(), HalfSquare()).rounding_bounded
    assert not Sum(HalfSquare(), Stranger()).rounding_bounded
    assert not Sum(Stranger(), HalfSquare()).rounding_bounded


def test_the_convexity_of_a_mixture_is_rounded_down(monkeypatch):
    parts = ((0.5, HalfSquare(3.0)), (0.25, HalfSquare(2.0)))
    patched(monkeypatch, composites, EPS=2.0**-6)
    for count in (1, 2):
        mixed = composites.Mixture(parts[:count])
        truth = sum(share * f.weight for share, f in parts[:count])
        least = count * 2.0**-7  # a product and a sum for each part, in units of half an EPS
        assert truth * (1 - 8 * least) <= mixed.strong_convexity <= truth * (1 - least)

"""What is known of the rounding of a sum or a product of parts."""

from __future__ import annotations

import numpy as np
import pytest

from dualfold.errors import InvalidInput
from dualfold.theory.games import Ball, HalfSquare, Product, Sum, composites
from dualfold.theory.games.doubles import doubles
from tests.proofs.coarse import patched


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


def test_one_number_with_too_many_digits_is_enough():
    long = np.array([1, 3], dtype=np.longdouble) / np.array([1, 7], dtype=np.longdouble)
    if np.finfo(np.longdouble).nmant > 52:  # elsewhere a long double is a double
        with pytest.raises(InvalidInput, match="no double holds"):
            doubles(long, "weights")
    assert doubles(long[:1], "weights").tolist() == [1.0]


def test_the_convexity_of_a_mixture_is_rounded_down(monkeypatch):
    parts = ((0.5, HalfSquare(3.0)), (0.25, HalfSquare(2.0)))
    patched(monkeypatch, composites, EPS=2.0**-6)
    for count in (1, 2):
        mixed = composites.Mixture(parts[:count])
        truth = sum(share * f.weight for share, f in parts[:count])
        least = count * 2.0**-7  # a product and a sum for each part, in units of half an EPS
        assert truth * (1 - 8 * least) <= mixed.strong_convexity <= truth * (1 - least)

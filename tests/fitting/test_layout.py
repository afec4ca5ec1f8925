"""Pieces side by side: together they are as good as the worst of them."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from dualfold.certificate import Certificate, Level
from dualfold.fitting.layout import WORST_FIRST, PiecewiseCertificate

PROVED = Certificate(level="proved", gap=0.0, value=1.0, bound=1.0, tolerance=1e-4)


def test_every_level_has_a_place_among_the_worst():
    assert sorted(WORST_FIRST) == sorted(get_args(Level))


@pytest.mark.parametrize("level", [one for one in get_args(Level) if one != "proved"])
def test_one_piece_that_is_not_proved_decides(level):
    found = PiecewiseCertificate.of([PROVED, replace(PROVED, level=level, gap=0.5), PROVED])
    assert found.level == level


def test_a_level_that_nobody_knows_is_an_error_and_never_proved():
    with pytest.raises(ValueError, match="not in tuple"):
        PiecewiseCertificate.of([PROVED, replace(PROVED, level="unheard of")])

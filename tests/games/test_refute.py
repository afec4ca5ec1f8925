"""The search for counterexamples charges what rounding may have done."""

from __future__ import annotations

import sys

import numpy as np

from dualfold.games import Quadratic, refute
from dualfold.games.intervals import Interval

REFUTE = sys.modules[refute.__module__]  # the function has the name of its module


def test_values_are_off_by_what_they_differ_from_sure_ones(monkeypatch):
    f = Quadratic(np.eye(1))
    for mid in (7.0, 1.0):
        monkeypatch.setattr(
            Quadratic, "value_interval", lambda self, x, mid=mid: Interval(mid, 0.5)
        )
        assert REFUTE._values(f)(np.array([2.0])) == (2.0, abs(2.0 - mid) + 0.5)

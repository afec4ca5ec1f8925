"""What the proofs are made of: planes under a function, and slopes shared with one."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from dualfold.arrays import Array
from dualfold.kernels.arithmetic import EPS
from dualfold.kernels.arithmetic.intervals import Interval, length


class Plane(NamedTuple):
    """f(x) ≥ height + ⟨slope, x − z⟩ − slack·‖x − z‖ for all x, taken at z."""

    height: float
    slope: Array
    slack: float


class Share(NamedTuple):
    """Part of a tilt that a function ψ carries itself: for all x

    ⟨slope, x − o⟩ − given·‖x − o‖ + ψ(x)  ≥  bound + ⟨rest, x − o⟩ − slack·‖x − o‖

    where `slope`, `given` and the origin o were asked about.
    """

    bound: float
    rest: Array
    slack: float

    @property
    def is_whole(self) -> bool:
        """ψ carried everything: `bound` is a lower bound of the left side."""
        return self.slack == 0 and not np.any(self.rest)


NO_BOUND = -np.inf


def bowl_minimum(tilt: float, curvature: float) -> float:
    """Not above the least ⟨t, w⟩ + (curvature/2)‖w‖² over all w and all ‖t‖ ≤ tilt."""
    if tilt == 0:
        return 0.0
    square = Interval(float(tilt)) * float(tilt)
    return -(square / (2.0 * float(curvature))).high()


def difference(a: Array, b: Array) -> tuple[Array, float]:
    """a − b, and a bound of the length of its rounding."""
    gone = a - b
    return gone, EPS * length(gone)


def lower_sum(*terms: float) -> float:
    """Not above the sum of these lower bounds."""
    if not all(map(math.isfinite, terms)):
        return NO_BOUND
    try:
        total = math.fsum(terms)  # rounded once
    except OverflowError:
        return NO_BOUND
    return total if total == 0 else math.nextafter(total, -math.inf)

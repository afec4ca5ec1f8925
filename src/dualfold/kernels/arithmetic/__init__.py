"""Rigorous arithmetic: what doubles round and lose, and numbers that lose nothing.

Every proof of the package takes its constants from this file, and its exact numbers from
`exact.py` (integers, fractions, elimination), `intervals.py` (a double with a bound of its error)
and `double_double.py` (32 digits). Doubles are IEEE's, rounded to nearest.

A sum of k products of doubles, in any order and with or without fused operations, is off by at
most γ_k Σ|aᵢbᵢ|, γ_k = ku/(1 − ku) (Higham, *Accuracy and Stability*, chapter 3), and by what the
products lose that underflow: half of the smallest positive double each. A bound of that loss is
larger than it need be, so that it also covers the rounding of the few numbers it is added to.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import DTypeLike

from dualfold.arrays import Array

UNIT_ROUNDOFF = 2.0**-53  # u
SINGLE_ROUNDOFF = 2.0**-24  # that of float32
EPS = 2 * UNIT_ROUNDOFF  # the spacing of doubles at 1
SMALLEST_NORMAL = 2.0**-1022
SMALLEST_POSITIVE = 2.0**-1074
SMALLEST_POSITIVE_SINGLE = 2.0**-149

# More than one product loses, or a short sum of them.
PRODUCT_UNDERFLOW = 2.0**10 * SMALLEST_POSITIVE
# More than a dozen operations lose.
OPERATIONS_UNDERFLOW = 2.0**14 * SMALLEST_POSITIVE
# More than a row of products loses, divided by a mass or not.
ROW_UNDERFLOW = 2.0**22 * SMALLEST_NORMAL
# More than all products of a matrix of n < 2³⁰ rows lose; its own square does not underflow, so
# that it may be added to a length.
LENGTH_UNDERFLOW = 1e-153
# Squares below the smallest normal double are off by half of the smallest positive one, which does
# not count in a sum of up to 2⁴⁰ of them that is larger than this.
MIN_SQUARE_SUM = 2.0**22 * SMALLEST_NORMAL


@overload
def gamma(terms: float) -> float: ...
@overload
def gamma(terms: Array) -> Array: ...
def gamma(terms: float | Array) -> float | Array:
    """γ_k of a sum of k terms, or of many such sums."""
    share = terms * UNIT_ROUNDOFF / (1 - terms * UNIT_ROUNDOFF)
    return share if isinstance(share, np.ndarray) else float(share)


def unit_roundoff(kind: DTypeLike) -> float:
    """Unit roundoff of float32 or float64."""
    return SINGLE_ROUNDOFF if np.dtype(kind) == np.float32 else UNIT_ROUNDOFF


def smallest_positive(kind: DTypeLike) -> float:
    """The least positive float32 or float64: what a product may lose where it underflows."""
    return SMALLEST_POSITIVE_SINGLE if np.dtype(kind) == np.float32 else SMALLEST_POSITIVE

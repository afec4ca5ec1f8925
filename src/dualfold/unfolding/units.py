"""An unfolding problem in units of its own: powers of 2, so that scaling rounds nothing.

tr K goes with the square of the unit of length, and the bound of some weights does not
depend on their unit at all. In units where the longest edge, the farthest coordinate and the
largest weight are about 1 no square overflows, and what underflows is far below rounding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dualfold.arrays import Array
from dualfold.unfolding.problem import UnfoldingProblem


def in_units(problem: UnfoldingProblem) -> tuple[UnfoldingProblem, int]:
    """The same problem with d²·2⁻ᵉ ≤ 1, exactly, and the even number e."""
    power = _exponent(problem.squared)
    power += power % 2
    return replace(problem, squared=np.ldexp(problem.squared, -power)), power


def to_unit(numbers: Array) -> tuple[Array, int]:
    """Numbers·2⁻ᵉ, the largest between ½ and 1, and e.

    Exact but for entries below 2⁻¹⁰²² of the largest, which move by 2⁻¹⁰⁷⁵ at the most.
    """
    power = _exponent(numbers)
    return np.ldexp(numbers, -power), power


def _exponent(numbers: Array) -> int:
    return int(np.frexp(np.abs(numbers).max(initial=0.0))[1])


def scaled_down(number: float, power: int) -> float:
    """A number ≥ 0 times 2ᵉ, never more than that (0 where it would underflow)."""
    product = float(np.ldexp(number, power))
    if product < np.finfo(float).tiny:
        return 0.0
    return min(product, float(np.finfo(float).max))


def scaled_up(number: float, power: int) -> float:
    """A number times 2ᵉ, never less than that."""
    product = float(np.ldexp(number, power))
    return (
        product
        if number == 0 or abs(product) > np.finfo(float).tiny
        else float(np.nextafter(product, np.inf))
    )

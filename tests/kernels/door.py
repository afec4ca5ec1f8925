"""Internal door: rigorous numbers, which tests hold to exact fractions and to their theorems."""

from __future__ import annotations

# The module whose unit of rounding is replaced by a coarse one (tests/proofs/coarse.py).
from dualfold.kernels.arithmetic import intervals

# Each operation, against exact fractions at the corners of what its operands hold.
from dualfold.kernels.arithmetic.intervals import (
    Interval,
    SizedMatrix,
    dot,
    gram_interval,
    interval,
    largest_eigenvalue,
    least_eigenvalue,
    length,
    norm_interval,
    upper_product,
    upper_sum,
)

__all__ = [
    "Interval",
    "SizedMatrix",
    "dot",
    "gram_interval",
    "interval",
    "intervals",
    "largest_eigenvalue",
    "least_eigenvalue",
    "length",
    "norm_interval",
    "upper_product",
    "upper_sum",
]

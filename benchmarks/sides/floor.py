"""The least that a PCA by the covariance can do, with NumPy and LAPACK; peak and bandwidth.

A floor that computes its time from what it measures gives it as the fact "floor seconds".
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import scipy.linalg

from benchmarks.case import Answer


def pca(X: Any, *, n_components: int = 50) -> Answer:
    """A finiteness pass, one XᵀX, one eigen-solve, one projection; the mean is not even taken."""
    if not np.isfinite(X.sum()):
        raise ValueError("X is not finite")
    width = X.shape[1]
    vectors = scipy.linalg.eigh(
        (X.T @ X).astype(float), subset_by_index=[width - n_components, width - 1]
    )[1]
    return Answer(X @ vectors.astype(X.dtype))


# The product and the copy that peak and bandwidth are measured by, and how often.
PEAK_ROWS = 1_500
COPIED_NUMBERS = 2**25
TRIALS = 7


def multiply_adds_of_scatter(X: Any) -> Answer:
    """n·D²/2 multiply-adds (the matrix is symmetric) at the speed of a large product of BLAS."""
    A = np.random.default_rng(0).standard_normal((PEAK_ROWS, PEAK_ROWS))
    peak = PEAK_ROWS**3 / _least_seconds(lambda: A @ A)
    n, width = X.shape
    return Answer(facts={"floor seconds": n * width**2 / 2 / peak, "multiply-adds a second": peak})


def bytes_of_table(X: Any) -> Answer:
    """The table read once, at the speed of a copy (each byte is read and written)."""
    source = np.ones(COPIED_NUMBERS)
    target = np.empty_like(source)
    bandwidth = 2 * source.nbytes / _least_seconds(lambda: np.copyto(target, source))
    return Answer(facts={"floor seconds": X.nbytes / bandwidth, "bytes a second": bandwidth})


def _least_seconds(work: Any) -> float:
    """Of several trials; the first one also fills caches."""
    times = []
    for _ in range(TRIALS):
        begin = perf_counter()
        work()
        times.append(perf_counter() - begin)
    return min(times)

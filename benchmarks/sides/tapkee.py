"""tapkee (C++). It takes features × samples in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import tapkee

from benchmarks.case import Answer


def reduced(
    X: Any,
    *,
    method: str,
    eigen_method: str | None = None,
    landmarks: int | None = None,
    squared_width: float | None = None,
) -> Answer:
    """`squared_width`: of the heat kernel; its default of 1 makes every weight 0 on images."""
    ratio = None if landmarks is None else min(0.5, landmarks / len(X))
    points = tapkee.embed(
        np.asfortranarray(X.T, dtype=np.float64),
        method=method,
        eigen_method=eigen_method,
        num_neighbors=10,
        target_dimension=2,
        landmark_ratio=ratio,
        gaussian_kernel_width=squared_width,
    )
    return Answer(np.ascontiguousarray(points))

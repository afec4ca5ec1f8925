"""tapkee (C++). It takes features × samples in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import tapkee

from benchmarks.case import Answer


def reduced(
    X: Any, *, method: str, eigen_method: str | None = None, landmarks: int | None = None
) -> Answer:
    ratio = None if landmarks is None else min(0.5, landmarks / len(X))
    points = tapkee.embed(
        np.asfortranarray(X.T, dtype=np.float64),
        method=method,
        eigen_method=eigen_method,
        num_neighbors=10,
        target_dimension=2,
        landmark_ratio=ratio,
    )
    return Answer(np.ascontiguousarray(points))

"""PaCMAP: another objective, so context rather than a peer."""

from __future__ import annotations

from typing import Any

import numpy as np
from pacmap import PaCMAP

from benchmarks.case import Answer

# numba compiles its loops when they are first used, which is not its work.
PaCMAP().fit_transform(np.random.default_rng(0).standard_normal((1_200, 20)).astype(np.float32))


def pacmap_map(X: Any) -> Answer:
    """Its defaults; unseeded, since a seed would cost it its threads."""
    return Answer(PaCMAP().fit_transform(X))

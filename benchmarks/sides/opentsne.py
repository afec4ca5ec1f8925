"""openTSNE, with its own choices but for the rounds, which all sides of a case share."""

from __future__ import annotations

from typing import Any

import numpy as np
from openTSNE import TSNE

from benchmarks.case import THREADS, Answer

# Imports and first calls of its neighbour search are no work of a case.
TSNE(early_exaggeration_iter=2, n_iter=2).fit(
    np.random.default_rng(0).standard_normal((1_200, 3)).astype(np.float32)
)


def tsne(X: Any, *, rounds: int) -> Answer:
    """250 rounds with early exaggeration, then the others."""
    stages = {"early_exaggeration_iter": 250, "n_iter": rounds - 250}
    return Answer(np.asarray(TSNE(n_jobs=THREADS, random_state=0, **stages).fit(X)))

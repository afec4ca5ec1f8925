"""umap-learn: another objective, so context rather than a peer."""

from __future__ import annotations

from typing import Any

import numpy as np
from umap import UMAP

from benchmarks.case import THREADS, Answer

# numba compiles umap's loops for half a minute when they are first used. That is not its work
# and is done when this module is imported; 4,096 points and more take the road that the
# cases take.
UMAP(n_neighbors=10, n_epochs=2).fit(
    np.random.default_rng(0).standard_normal((4_200, 3)).astype(np.float32)
)


def umap_map(X: Any) -> Answer:
    """Its defaults but for the neighbours; unseeded, since a seed would cost it its threads."""
    return Answer(UMAP(n_neighbors=10, n_jobs=THREADS).fit_transform(X))

"""umap-learn: another objective, so context rather than a peer."""

from __future__ import annotations

from typing import Any

import numpy as np
from umap import UMAP

from benchmarks.case import Answer

# numba compiles umap's loops for half a minute when they are first used; that is not its work,
# and is done when this module is imported: for few points and for many (4,096 and more
# are searched by other code).
for _count, _width in ((100, 3), (5_000, 3)):
    UMAP(n_neighbors=10, n_epochs=2).fit(
        np.random.default_rng(0).standard_normal((_count, _width)).astype(np.float32)
    )


def umap_map(X: Any) -> Answer:
    """Its defaults but for the neighbours; unseeded, since a seed would cost it its threads."""
    return Answer(UMAP(n_neighbors=10, n_jobs=-1).fit_transform(X))

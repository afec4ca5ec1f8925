"""umap-learn: another objective, so context rather than a peer."""

from __future__ import annotations

from typing import Any

from umap import UMAP

from benchmarks.case import Answer


def umap_map(X: Any) -> Answer:
    """Its defaults but for the neighbours; unseeded, since a seed would cost it its threads."""
    return Answer(UMAP(n_neighbors=10, n_jobs=-1).fit_transform(X))

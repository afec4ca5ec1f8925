"""Points that move: t-SNE, neighbour maps, stress, and maps of slices held together."""

from __future__ import annotations

from dualfold.lazy_names import lazy_names

__all__ = ["aligned", "neighbor_map", "stress", "tsne"]
__getattr__, __dir__ = lazy_names(__name__, {}, rooms=("aligned", "neighbor_map", "stress", "tsne"))

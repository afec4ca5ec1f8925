"""Maps of strips with independent coordinates, by each method that chooses them."""

from __future__ import annotations

import warnings
from functools import cache

from dualfold import DiffusionMaps, LaplacianEigenmaps, LocallyLinearEmbedding
from dualfold.errors import Overtone
from tests.tools.tables import strip

ESTIMATORS = {
    "eigenmaps": LaplacianEigenmaps,
    "identity": lambda **more: LaplacianEigenmaps(constraint="identity", **more),
    "diffusion": DiffusionMaps,
    "lle": lambda **more: LocallyLinearEmbedding(n_neighbors=10, **more),
    "modified": lambda **more: LocallyLinearEmbedding(n_neighbors=10, method="modified", **more),
}


@cache
def fitted(name: str, aspect: float = 3):
    with warnings.catch_warnings():
        warnings.simplefilter("error", Overtone)
        return ESTIMATORS[name](coordinates="independent").fit(strip(aspect))

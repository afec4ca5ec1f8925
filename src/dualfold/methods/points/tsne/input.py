"""Input that has no t-SNE: refused as scikit-learn's TSNE refuses it, in its words."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from dualfold.errors import Argument, InPython, InvalidInput
from dualfold.graph.metrics import is_precomputed


def refuse_odd_input(estimator: Any, X: Any) -> None:
    """`InvalidInput` where the parameters of a TSNE and the rows X have no answer."""
    init = estimator.init
    if is_precomputed(estimator.metric):
        if isinstance(init, str) and init == "pca":
            raise InvalidInput(
                InPython('The parameter init="pca" cannot be used with metric="precomputed". '),
                "Distances alone have no principal components; use ",
                Argument("init", "spectral"),
                " or ",
                Argument("init", "random"),
            )
        if X.shape[0] != X.shape[1]:
            raise InvalidInput(
                "X should be a square distance matrix with ", Argument("metric", "precomputed")
            )
        if ((X.data if sp.issparse(X) else np.asarray(X)) < 0).any():
            raise InvalidInput(
                Argument("metric", "precomputed"),
                ": X should contain positive distances; some are below 0",
            )
        if estimator.method == "exact" and sp.issparse(X):
            raise TypeError(
                'TSNE with method="exact" does not accept a sparse precomputed distance matrix. '
                'Use method="barnes_hut" or give the dense matrix.'
            )
    if estimator.method == "barnes_hut" and estimator.n_components > 3:
        raise InvalidInput(
            "'n_components' should be at most 3, since grids and trees end there; ",
            Argument("method", "exact"),
            " takes more",
        )
    by_perplexity = estimator.n_neighbors is None
    if by_perplexity and estimator.perplexity >= X.shape[0]:
        raise InvalidInput(
            f"perplexity ({estimator.perplexity}) must be less than n_samples ({X.shape[0]}); "
            "lower ",
            Argument("perplexity"),
        )

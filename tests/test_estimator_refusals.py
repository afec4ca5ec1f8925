"""What estimators refuse beside the rules of their parameters, read as their user."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.graph import knn

X = np.random.default_rng(0).normal(size=(30, 5))
WIDE = X.T.copy()
DISTANCES = np.linalg.norm(X[:, None] - X[None], axis=-1)

REFUSALS = {
    "mle": lambda: dualfold.PCA(n_components="mle", svd_solver="full").fit(WIDE),
    "arpack": lambda: dualfold.PCA(n_components=5, svd_solver="arpack").fit(X),
    "sparse": lambda: dualfold.PCA(n_components=2, svd_solver="full").fit(sp.csr_array(X)),
    "first batch has 1 sample": lambda: dualfold.PCA(n_components=1).partial_fit(X[:1]),
    "at most 3": lambda: dualfold.TSNE(n_components=4, method="barnes_hut", perplexity=5).fit(X),
    "either V or VI": lambda: dualfold.TSNE(metric="mahalanobis", perplexity=5).fit(X),
    "some are below 0": lambda: dualfold.TSNE(
        metric="precomputed", perplexity=5, init="random", method="exact"
    ).fit(-DISTANCES),
    "affinities must not be negative": lambda: dualfold.LaplacianEigenmaps(
        weights="precomputed"
    ).fit(-DISTANCES),
    "not over the 30 rows of X": lambda: dualfold.Isomap(graph=knn(X[:20], 5)).fit(X),
    "n_components": lambda: dualfold.FAMD(n_components=40).fit(
        pd.DataFrame(X[:6], columns=list("abcde")).assign(word=list("ababab"))
    ),
    "3 are needed": lambda: dualfold.LaplacianEigenmaps(
        n_neighbors=2, left_out=list(range(28))
    ).fit(X),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_a_refusal_names_what_is_wrong(said):
    with pytest.raises((ValueError, TypeError)) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)

"""Entries in parts, out of order, in any format: every entry point reads the same matrix."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist, squareform

from dualfold import (
    PCA,
    TSNE,
    Isomap,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    SpectralEmbedding,
    TraceProblem,
    embed,
    graph,
    quality,
)
from dualfold.programs import LinearProgram
from tests.robustness.door import plain_rows, sparse_table
from tests.tools.sparse_forms import forms_of

RNG = np.random.default_rng(1)
X = np.where(RNG.random((40, 6)) < 0.8, RNG.normal(size=(40, 6)), 0.0)
Y = RNG.normal(size=(40, 2))
DISTANCES = squareform(pdist(RNG.normal(size=(40, 3))))
LENGTHS = graph.knn(X, 6).lengths.toarray()
WEIGHTS = np.where(DISTANCES < 2, np.exp(-(DISTANCES**2)), 0.0) * (1 - np.eye(40))


SETTINGS = {"perplexity": 4, "metric": "precomputed", "init": "random", "random_state": 0}

CALLS = {
    "rows": (X, lambda S: PCA(2).fit_transform(S)),
    "new rows": (X, lambda S: PCA(2).fit(X).transform(S)),
    "batches": (X, lambda S: PCA(2).partial_fit(S).eigenvalues_),
    "projection": (X, lambda S: LocalityPreservingProjection(n_components=2).fit_transform(S)),
    "neighbours": (X, lambda S: graph.nearest(S, 5).distances),
    "another metric": (X, lambda S: graph.nearest(S, 5, metric="manhattan").distances),
    "queries": (X, lambda S: graph.nearest(X, 5, queries=S).distances),
    "distances": (DISTANCES, lambda S: Isomap(metric="precomputed").fit(S).embedding_),
    "t-SNE of distances": (DISTANCES, lambda S: TSNE(**SETTINGS).judged_points(S, Y).kl),
    "new distances": (
        DISTANCES + 1,
        lambda S: Isomap(metric="precomputed").fit(DISTANCES).transform(S),
    ),
    "lengths": (LENGTHS, lambda S: Isomap(graph=S).fit(X).embedding_),
    "given graph": (LENGTHS, lambda S: graph.from_lengths(S).lengths.toarray()),
    "weights": (WEIGHTS, lambda S: LaplacianEigenmaps(weights="precomputed").fit(S).eigenvalues_),
    "affinities": (
        WEIGHTS,
        lambda S: SpectralEmbedding(affinity="precomputed").fit(S).eigenvalues_,
    ),
    "trustworthiness": (X, lambda S: quality.trustworthiness(S, Y)),
    "cosine ranks": (X + 0.1, lambda S: quality.trustworthiness(S, Y, metric="cosine")),
    "distortion": (X, lambda S: quality.measured_distortion(S, Y).mean),
    "correlations": (X, lambda S: quality.column_correlations(S, Y)),
    "trace problem": (WEIGHTS, lambda S: embed(TraceProblem(S, None, 2, "max")).values),
    "program": (X, lambda S: LinearProgram(np.ones(6), S, np.ones(40)).A.toarray()),
    "stored table": (X, lambda S: sparse_table(S).X.toarray()),
    "tile": (X, lambda S: plain_rows(S).toarray()),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_every_form_of_a_sparse_matrix_has_one_answer(name):
    dense, call = CALLS[name]
    expected = np.asarray(call(sp.csr_array(dense)))
    for form, S in forms_of(dense).items():
        before = S.copy()
        assert np.allclose(np.asarray(call(S)), expected, rtol=1e-7, atol=1e-9), form
        assert before.nnz == S.nnz, f"{form} was altered"
        assert (before != S).nnz == 0, f"{form} was altered"


def test_edges_that_are_stored_twice_are_summed():
    edges = sp.csr_array(np.ones((6, 6)) - np.eye(6))
    twice = sp.csr_array(
        (np.repeat(edges.data, 2), np.repeat(edges.indices, 2), edges.indptr * 2), shape=(6, 6)
    )
    assert (graph.from_lengths(twice).lengths.data == 2).all()
    by_graph = Isomap(graph=twice).fit(X[:6])
    by_distances = Isomap(n_neighbors=5, metric="precomputed").fit(twice)
    assert by_graph.eigenvalues_ == pytest.approx(by_distances.eigenvalues_)

"""Refusals of all rooms in one table: the sentence that a user reads, and its call."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold import TSNE, data, methods, quality, saved, unfolding
from dualfold.data import Reading, prepare
from dualfold.games import FTL, Indicator, Simplex, learn
from dualfold.graph import farthest_points, knn, nearest, neighborhood_spread
from dualfold.methods.points.neighbor_map import neighbor_problem
from dualfold.methods.points.tsne import TsneProblem
from dualfold.point_pca import averaged_directions
from dualfold.recommendation import intrinsic_dimension, neighbor_scan, recommend
from dualfold.unfolding import UnfoldingProblem, certify_unfolding
from dualfold.weights import affinity, reconstruction_weights

X = np.random.default_rng(0).normal(size=(30, 5))
MANY = np.vstack([X, X + 0.5])
FEW = X[:12, :3]
GRAPH = knn(FEW, 4)
DISTANCES = np.linalg.norm(X[:, None] - X[None], axis=-1)
APART = np.vstack([X[:9], X[:9] + 100])
TABLE = pd.DataFrame(X[:6], columns=list("abcde")).assign(word=list("ababab"))
HOLE = TABLE.assign(c=[1.0, 2.0, np.nan, 4.0, 5.0, 6.0])
BY_DISTANCES = {"metric": "precomputed", "perplexity": 5}
RING = sp.csr_array((np.full(4, 0.25), (np.arange(4), (np.arange(4) + 1) % 4)), shape=(4, 4))
RING.indices, RING.indptr = RING.indices.astype(np.int32), RING.indptr.astype(np.int32)
HALVES = np.array([0.5, 0.5])
SHARES = Indicator(Simplex())
MODEL = saved.model_of(dualfold.PCA(n_components=2).fit(FEW))

SPARSE = sp.csr_array(X)
CLASSES = np.arange(30) % 3
WIDE = X[:4].copy()
SMALL_TSNE = partial(TSNE, perplexity=5)
NEAR = knn(X, 8)


def way_back(**parameters):
    settings = {"kernel": "poly" if "inverse" in parameters else "rbf"} | parameters
    return dualfold.KernelPCA(2, fit_inverse_transform=True, **settings)


def weighted_map(weights):
    return dualfold.MDS(weights=weights).fit(X[:6, :2])


def chain(edges=((0, 1), (1, 2)), squared=(1.0, 1.0), masses=None):
    return UnfoldingProblem(3, edges, squared, masses=masses)


def by_mahalanobis(**params):
    return dualfold.TSNE(metric="mahalanobis", metric_params=params, perplexity=5).fit(X)


def stating(**problem):
    """A stored PCA whose problem says something else."""
    return saved.rechecked_model(replace(MODEL, problem=replace(MODEL.problem, **problem)), FEW)


def with_parameter(**parameters):
    return stating(parameters=MODEL.problem.parameters | parameters)


QUALITY = {
    "same points": lambda: quality.trustworthiness(X, X[:-1]),
    "less than half": lambda: quality.trustworthiness(X, X, n_neighbors=15),
    "from 1 to 29": lambda: quality.t_similarity(X, X, 30),
    "sample must be": lambda: quality.continuity(X, X, sample=1),
    "needs square distances": lambda: quality.continuity(X, X, metric="precomputed"),
    "must be dense here": lambda: quality.continuity(sp.eye_array(30), X, metric="precomputed"),
    "'nonsense' could not be computed": lambda: quality.continuity(X, X, metric="nonsense"),
    "NaN or infinite": lambda: quality.continuity(DISTANCES + np.inf, X, metric="precomputed"),
    "two maps or more; 1 given": lambda: quality.stability([X]),
    "one index for each point": lambda: quality.stability([X, X], rows=[[1], [2]]),
    "its shape is (5,)": lambda: quality.stability([X[0], X[0]]),
    "scale=inf must be a finite number": lambda: quality.stress(X, X, scale=np.inf),
    "a number or 'best'": lambda: quality.stress(X, X, scale="worst"),
    "a whole number from 1 to 4096; it is 0": lambda: quality.shepard(X, X, bins=0),
    "from 1 to 4096; it is 1000000": lambda: quality.shepard(X, X, bins=10**6),
    "from 1 to 4096; it is 2.5": lambda: quality.shepard(X, X, bins=2.5),
    "rows of different lengths": lambda: quality.trustworthiness(X, [[1, 2], [3]]),
    "needs two rows or more for its variances": lambda: quality.stress(
        X[:1], X[:1], metric="seuclidean"
    ),
    "X has 11 rows and Y has 30": lambda: quality.column_correlations(X[:11], X),
    "holds NaN, infinity or": lambda: quality.column_correlations(np.where(X > 0, 1e308, X), X),
    "they must be tables": lambda: quality.measured_distortion(True, X),
    "n_pairs=-1 must be 1 or more": lambda: quality.measured_distortion(X, X, n_pairs=-1),
    "its shape is (150,)": lambda: quality.conformal_p_values(X, X.ravel()),
    "a whole number from 0 on": lambda: quality.stress(X, X, sample=5, random_state=-1),
    "could not be computed": lambda: quality.stress(np.ones((30, 2)), X, metric="mahalanobis"),
    "negative": lambda: quality.stress(-DISTANCES, X, metric="precomputed"),
}
RECOMMENDATION = {
    "'umap' is none of them": lambda: recommend(MANY, methods=("pca", "umap")),
    "it is ()": lambda: recommend(MANY, methods=()),
    "'p' is none of them": lambda: recommend(MANY, methods="pca"),
    "needs 40 rows or more": lambda: recommend(X),
    "needs 4 rows or more": lambda: intrinsic_dimension(X[:3]),
    "a whole number from 0 on": lambda: neighbor_scan(X, random_state=-1),
}
UNFOLDING = {
    "as many squared lengths": lambda: chain(squared=[1.0]),
    "outside 0…2": lambda: chain(edges=[[0, 1], [1, 7]]),
    "given once as i < j": lambda: chain(edges=[[1, 2], [0, 1]]),
    "3 positive numbers up to 1e30": lambda: chain(masses=[1.0, 1.0]),
    "3 rows of points and 2 weights": lambda: certify_unfolding(chain(), X[:2], [1.0, 1.0]),
    "from 0 to below 1": lambda: certify_unfolding(chain(), X[:3], [1.0, 1.0], most_relaxed=1.0),
    "2 numbers, one an edge": lambda: unfolding.dual_slack(chain(), [1.0]),
}
GRAPHS = {
    "for new points pass coordinates": lambda: nearest(
        DISTANCES, 3, queries=X, metric="precomputed"
    ),
    "needs metric='euclidean'": lambda: nearest(X, 3, metric="cosine", search="blocked"),
    "given without a rule": lambda: dualfold.Isomap(
        n_neighbors=4, graph=replace(GRAPH, kind="given")
    ).fit(FEW).transform(FEW),
    "distances must be finite": lambda: knn(DISTANCES * np.nan, 3, metric="precomputed"),
    "the largest usable number here is 11": lambda: knn(FEW, 12),
    "double precision has to round": lambda: knn(FEW.astype(np.longdouble) / 3, 2),
    "n_neighbors=-1 must be 1 or more": lambda: neighborhood_spread(GRAPH, -1),
    "at_once=0 must be 1 or more": lambda: farthest_points(GRAPH, 2, at_once=0),
    "its shape is (36,)": lambda: nearest(FEW.ravel(), 2, metric="chebyshev"),
    "its shape is ()": lambda: knn(3, 2),
    "a whole number from 0 on": lambda: nearest(X, 2, search="approximate", random_state=-1),
    "holds NaN or infinity": lambda: knn(np.where(X > 1, np.inf, X), 2),
}  # fmt: skip
WEIGHTS = {
    "alpha=nan is a density exponent": lambda: affinity(GRAPH, alpha=np.nan),
    "n_neighbors=-1 must be 1 or more": lambda: affinity(GRAPH, weights="density", n_neighbors=-1),
    "reg=inf must be": lambda: reconstruction_weights(FEW, GRAPH.lists, ridge=np.inf),
    "reg=nan must be": lambda: methods.modified_lle(GRAPH, ridge=np.nan),
    "many weights are equally good": lambda: methods.modified_lle(
        knn(X[:, :1], 7), n_components=1, ridge=0.0
    ),
    "reg=-1.0 must be": lambda: methods.lle(GRAPH, ridge=-1.0),
    "too narrow": lambda: methods.diffusion_maps(knn(X, 5), width=1e-4),
}
POINTS = {
    "32-bit indices": lambda: TsneProblem(sp.csr_array(RING, dtype=np.float32)),
    "at least 2 points; they are of 1": lambda: TsneProblem(RING[:1, :1]),
    "attraction=0 must be above 0": lambda: TsneProblem(RING, attraction=0),
    "attraction=inf must be above 0": lambda: TsneProblem(RING, attraction=np.inf),
    "must be an array of 4 rows": lambda: TsneProblem(RING).checked_points(RING),
    "n_components=0 must be at least 1": lambda: TsneProblem(RING, count=0),
    "must be a positive number": lambda: neighbor_problem(RING, n_components=2, spread=-1.0),
    "rounding exceeds 1": lambda: neighbor_problem(RING, n_components=2, spread=1e100),
    "at most 3 coordinates": lambda: neighbor_problem(RING, n_components=4, spread=1.0),
    "weights must be positive and finite": lambda: neighbor_problem(
        -RING, n_components=2, spread=1.0
    ),
}
MAPS = {
    "have 2 coordinates, this map was made for 1": lambda: (
        dualfold.PCA(1).fit(FEW).inverse_transform(FEW[:, :2])
    ),
    "4 orthonormal directions": lambda: dualfold.RandomProjection(4, kind="orthogonal").fit(FEW),
    "'density' parameter": lambda: dualfold.RandomProjection(2, kind="sparse", density=1.5).fit(X),
    "both must be whole numbers, 1 or more": lambda: methods.maps.random_map(0, 2),
    "from 3 features to 'degree' components": lambda: methods.maps.random_map(3, "degree"),
    "'gaussian', 'orthogonal' or 'sparse'": lambda: methods.maps.random_map(3, 2, kind="normal"),
    "maps have none": lambda: methods.maps.random_map(3, 2, density=0.5),
}
MODELS = {
    "which is no estimator": lambda: stating(estimator="Oracle"),
    "does not hold the parameters it was": lambda: with_parameter(magic=1),
    "which no file keeps": lambda: stating(not_kept=("metric",)),
    "the file states n_components as True": lambda: with_parameter(n_components=True),
    "the file states n_components as [2]": lambda: with_parameter(n_components=[2]),
}
TABLES = {
    "height must be at most": lambda: data.swiss_roll(5, height=np.nan),
    "radius must be at most": lambda: data.helix(5, radius=np.inf),
    "noise is a standard deviation": lambda: data.helix(5, noise=np.inf),
    "a whole number from 0 on": lambda: data.swiss_roll(5, random_state=-1),
    "the data frame has no rows": lambda: prepare(pd.DataFrame({"a": []})),
    "is about files": lambda: prepare(pd.DataFrame({"a": [1.0]}), Reading(separator=",")),
    "would fill a sparse matrix": lambda: prepare(sp.csr_array(X), Reading(standardize=True)),
}
THEORY = {
    "rounds=0 must be at least 1": lambda: averaged_directions(FEW, 2, rounds=0),
    "its shape is (3, 2)": lambda: dualfold.PointPCA(2, init=FEW[:3, :2]).fit(FEW),
    "numbers up to 1e+70": lambda: dualfold.PointPCA(2, init=np.full((12, 2), 1e164)).fit(FEW),
    "its shape is (12,)": lambda: dualfold.PointPCA(2, init=np.ones(12)).fit(FEW),
    "its shape is (0, 0)": lambda: dualfold.PointPCA(2, init=[["a", "b"]] * 12).fit(FEW),
    "is 'loss' or 'slope'": lambda: learn(FTL(SHARES, HALVES), [HALVES], shown="value"),
}
ESTIMATORS = {
    "affinity must return 30×30": lambda: dualfold.SpectralEmbedding(
        affinity=lambda rows: None
    ).fit(X),
    "no numbers ('word')": lambda: dualfold.ClassicalMDS(metric="chebyshev").fit(TABLE),
    "a label for each row": lambda: dualfold.FisherDiscriminant().fit(X, [[1, 2], [3]]),
    "diffusion_time=1e+100 makes": lambda: dualfold.LaplacianEigenmaps(
        constraint="identity", weights="binary", diffusion_time=1e100
    ).fit(X),
    "its shape is (150,)": lambda: methods.random_projection(X.ravel()),
    "metric='nonsense' could not": lambda: dualfold.TSNE(metric="nonsense", perplexity=5).fit(
        sp.csr_array(X)
    ),
    "metric='mahalanobis' could not": lambda: dualfold.Isomap(metric="mahalanobis").fit(
        sp.csr_array(X)
    ),
    "mle": lambda: dualfold.PCA(n_components="mle", svd_solver="full").fit(X.T.copy()),
    "arpack": lambda: dualfold.PCA(n_components=5, svd_solver="arpack").fit(X),
    "sparse": lambda: dualfold.PCA(n_components=2, svd_solver="full").fit(sp.csr_array(X)),
    "first batch has 1 sample": lambda: dualfold.PCA(n_components=1).partial_fit(X[:1]),
    "at most 3": lambda: dualfold.TSNE(n_components=4, method="barnes_hut", perplexity=5).fit(X),
    "either V or VI": lambda: dualfold.TSNE(metric="mahalanobis", perplexity=5).fit(X),
    "some are below 0": lambda: dualfold.TSNE(init="random", method="exact", **BY_DISTANCES).fit(
        -DISTANCES
    ),
    "affinities are a square matrix": lambda: dualfold.LaplacianEigenmaps(
        weights="precomputed"
    ).fit(np.ones((5, 4))),
    "affinities must not be negative": lambda: dualfold.LaplacianEigenmaps(
        weights="precomputed"
    ).fit(-DISTANCES),
    "not over the 30 rows of X": lambda: dualfold.Isomap(graph=knn(X[:20], 5)).fit(X),
    "n_components": lambda: dualfold.FAMD(n_components=40).fit(TABLE),
    "3 are needed": lambda: dualfold.LaplacianEigenmaps(
        n_neighbors=2, left_out=list(range(28))
    ).fit(X),
    "a data frame with the columns": lambda: dualfold.FAMD(1).fit(TABLE).transform(X[:6]),
    "leave these rows out": lambda: dualfold.FAMD(1).fit(HOLE),
    "'c' contains NaN or has gaps; fill": lambda: dualfold.FAMD(1).fit(TABLE).transform(HOLE),
    "no way back from pieces": lambda: dualfold.LocallyLinearEmbedding(
        n_neighbors=5, pieces="separate"
    ).fit(APART).inverse_transform(X[:2, :2]),
    "needs more than 30 points": lambda: dualfold.NeighborMap(30, n_neighbors=5).fit(X),
    "neighbours of 20 points": lambda: dualfold.Isomap(graph=nearest(X[:20], 5)).fit(X),
    "no principal components": lambda: dualfold.TSNE(init="pca", **BY_DISTANCES).fit(DISTANCES),
    "a square distance matrix": lambda: dualfold.TSNE(init="random", **BY_DISTANCES).fit(X),
    "sparse precomputed distance matrix": lambda: dualfold.TSNE(
        init="random", method="exact", **BY_DISTANCES
    ).fit(sp.csr_array(DISTANCES)),
    "it is a list": lambda: dualfold.TSNE(graph=[1, 2], perplexity=5).fit(X),
    "17 neighbors per samples are required": lambda: dualfold.TSNE(
        init="random", **BY_DISTANCES
    ).fit(knn(X, 4).lengths),
    "All distances should be positive": lambda: dualfold.TSNE(
        metric=lambda one, two: -1.0, perplexity=5
    ).fit(X),
    "n_neighbors=40 needs more": lambda: dualfold.TSNE(n_neighbors=40).fit(X),
    "must be 5×5": lambda: by_mahalanobis(VI=np.eye(2)),
    "one for each piece": lambda: dualfold.MaximumVarianceUnfolding(
        n_neighbors=5, pieces="separate"
    ).fit(APART).connections(),
    "optimises nothing": lambda: dualfold.RandomProjection(2).statement(X, 2),
    "answers no trace problem": lambda: dualfold.NeighborMap(n_neighbors=5).statement(X, 2),
    "they are likenesses and must be 0 or more": lambda: dualfold.SpectralEmbedding(
        affinity="precomputed"
    ).fit(-DISTANCES),
    "places no new points": lambda: dualfold.SpectralEmbedding(affinity="rbf")
    .statement(X, 2)
    .leads_to(X),
    "'n_components' parameter": lambda: dualfold.NeighborhoodPreservingProjection(
        n_components="other"
    ).statement(X, 2),
}  # fmt: skip
ANSWERS = {
    "perplexity (300) must be less than n_samples (30)": lambda: TSNE(perplexity=300).fit(X),
    "is about 20 points and X has 30 rows": lambda: SMALL_TSNE(graph=knn(X[:20], 5)).fit(X),
    "30 rows of 2 finite numbers; its shape": lambda: SMALL_TSNE(init=np.zeros((5, 2))).fit(X),
    "it holds NaN or infinity": lambda: SMALL_TSNE(init=np.full((30, 2), np.nan)).fit(X),
    "must be finite and not negative": lambda: TsneProblem(-RING),
    "y has 5 rows and X has 6": lambda: dualfold.CCA(1).fit(X[:6], X[:5]),
    "upper bound is 5": lambda: dualfold.CCA(6).fit(X, X),
    "requires y": lambda: dualfold.CCA().fit(X),
    "y has no column that varies": lambda: dualfold.CCA(1).fit(X, np.full((30, 2), 0.1)),
    "all rows of y lie within": lambda: dualfold.CCA(1).fit(X, 1e-200 * X),
    "y holds numbers up to": lambda: dualfold.CCA(1).fit(X, 1e200 * X),
    "shrinkage='auto'": lambda: dualfold.FisherDiscriminant().fit(WIDE, [0, 0, 1, 1]),
    "too many directions; 3 classes in 5": lambda: (
        dualfold.FisherDiscriminant(3).fit(X, CLASSES)
    ),
    "1 at most": lambda: dualfold.FisherDiscriminant(2).fit(X[:, :1], CLASSES),
    "X is sparse": lambda: dualfold.FisherDiscriminant(shrinkage="auto").fit(SPARSE, CLASSES),
    "'shrinkage' parameter": lambda: dualfold.FisherDiscriminant(shrinkage=1.0).fit(X, CLASSES),
    "linear map of features": lambda: dualfold.OrthogonalLPP(metric="precomputed").fit(X),
    "n_features=5": lambda: dualfold.OrthogonalLPP(7).fit(X),
    "n_samples=30": lambda: dualfold.OrthogonalLPP(n_neighbors=30).fit(X),
    "drop one": lambda: dualfold.OrthogonalLPP(
        n_neighbors=None, radius=1.0, neighborhood="variable"
    ).fit(X),
    "asks for more coordinates than there are points": lambda: dualfold.ClassicalMDS(31).fit(X),
    "has a way back": lambda: (
        dualfold.ClassicalMDS(metric="cityblock").fit(X).inverse_transform(X[:, :2])
    ),
    "landmarks=9 needs a graph": lambda: dualfold.DiffusionMaps(landmarks=9, graph=NEAR).fit(X),
    "landmarks=8 needs a graph": lambda: dualfold.DiffusionMaps(
        landmarks=8, metric="precomputed"
    ).fit(DISTANCES),
    "n_neighbors=9": lambda: dualfold.DiffusionMaps(landmarks=8, n_neighbors=9).fit(X),
    "n_components=30 needs more than 30 points": lambda: dualfold.DiffusionMaps(30).fit(X),
    "'alpha' parameter": lambda: dualfold.DiffusionMaps(alpha=1.5).fit(X),
    "'diffusion_time' parameter": lambda: dualfold.DiffusionMaps(diffusion_time=-1.0).fit(X),
    "with a precomputed kernel": lambda: way_back(kernel="precomputed").fit(X[:5]),
    "inverse='fixed_point' is an iteration": lambda: way_back(inverse="fixed_point").fit(X),
    "learns rows that are dense": lambda: way_back().fit(SPARSE),
    "kernel='chi2' compares histograms": lambda: dualfold.KernelPCA(2, kernel="chi2").fit(X),
    "(30, 5)": lambda: dualfold.KernelPCA(2, kernel="precomputed").fit(X),
    "as weights are": lambda: weighted_map(np.triu(np.ones((6, 6)))),
    "weights has the shape (5, 5)": lambda: weighted_map(np.ones((5, 5))),
    "the shape of the weights is (6, 5)": lambda: weighted_map(np.ones((6, 5))),
    "the smallest is -1": lambda: weighted_map(-np.ones((6, 6))),
    "needs 6 or more neighbours": lambda: methods.hessian_lle(knn(X, 5), n_components=2),
    "needs 5 or more neighbours": lambda: methods.ltsa(knn(X, 4), n_components=3),
    "needs 3 or more neighbours": lambda: methods.modified_lle(knn(X, 2), n_components=3),
}  # fmt: skip
ROOMS = {
    "quality": QUALITY,
    "recommendation": RECOMMENDATION,
    "unfolding": UNFOLDING,
    "graph": GRAPHS,
    "weights": WEIGHTS,
    "points": POINTS,
    "maps": MAPS,
    "models": MODELS,
    "data": TABLES,
    "theory": THEORY,
    "estimators": ESTIMATORS,
    "answers": ANSWERS,
}


@pytest.mark.parametrize(
    ("room", "sentence"), [(room, sentence) for room, calls in ROOMS.items() for sentence in calls]
)
def test_a_refusal_says_what_was_needed(room, sentence):
    with pytest.raises((ValueError, TypeError)) as refused:
        ROOMS[room][sentence]()
    assert sentence in str(refused.value)

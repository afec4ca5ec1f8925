"""Small work that asks something of every kernel: what `kernel_tape.py` listens to."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

import dualfold
from dualfold import graph, quality
from dualfold.graph import farthest_points, geodesic_distances
from dualfold.graph.cells import cell_lists, cells_of_points
from dualfold.graph.elimination import EliminatedGraph
from dualfold.graph.graph import Lists
from dualfold.graph.lower_bounds import frame_of, principal_directions
from dualfold.graph.metrics import present_nearest
from dualfold.graph.scan import scan_self
from dualfold.kernels.arithmetic.double_double import (
    DoubleDouble,
    backward,
    cholesky,
    forward,
    products,
)
from dualfold.kernels.ordering import fill_reducing_ordering, is_small_world, paired_ordering
from dualfold.kernels.sparse import sparse_product
from dualfold.kernels.threads import Threads
from dualfold.methods.points.tsne import tsne_objective
from dualfold.methods.points.tsne.repulsion import ByGrid, ByTree
from dualfold.quality.rank_counts import euclidean_ranks
from dualfold.trace import TraceProblem
from dualfold.trace.problem import product
from dualfold.trace.solvers.lanczos import ChebyshevFilter
from dualfold.trace.sparse.factorisation import factorise
from dualfold.trace.sparse.mirrored_rows import MirroredRows, RotatedMatrix, mirrored_pattern
from dualfold.unfolding import UnfoldingProblem
from dualfold.unfolding.solvers.springs import SpringMatrix, SpringNet
from dualfold.weights import scatter


def rows(n, width, seed, kind=np.float64):
    """Three groups on a sheet, a few rows twice."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width)) + 3 * rng.integers(0, 3, size=(n, 1))
    X[: n // 20] = X[n // 2 : n // 2 + n // 20]
    return X.astype(kind)


def searches(seed):
    """Neighbours by trees, scans and forests, of rows and of new rows, in both precisions."""
    for kind in (np.float32, np.float64):
        for n, width in ((60, 3), (110, 20), (330, 70)):
            X, new = rows(n, width, seed, kind), rows(33, width, seed + 9, kind)
            for search in ("blocked", "filtered", "kd-tree"):
                graph.nearest(X, 7, search=search, n_jobs=1)
                graph.nearest(X, 5, queries=new, search=search, n_jobs=1)
            points = frame_of(X, None, None).coordinates(X)
            cells = cells_of_points(points, np.random.default_rng(seed))
            cell_lists(points, cells, 6, min(3, cells.count), 1)
            graph.neighbors_within(X, 3.0, n_jobs=1)
            if width > 60:  # a second look in more directions, from a forest and from a sample
                basis = principal_directions(X, 47)
                few, more = (frame_of(X, None, basis[:, :count]) for count in (8, 47))
                for k in (7, 90):
                    given = few.coordinates(X), k, 1, more.coordinates(X)
                    scan_self(*given)
    gaps = rows(90, 6, seed)
    gaps[np.random.default_rng(seed).random(gaps.shape) < 0.1] = np.nan
    present_nearest(gaps, 4, n_jobs=1)
    for width in (5, 700):  # words one by one, and eight together
        sets = rows(60, width, seed) > 1
        graph.nearest(sets, 4, metric="jaccard", n_jobs=1)
        graph.nearest(sets, 4, queries=sets[:9], metric="dice", n_jobs=1)
        graph.neighbors_within(sets, 0.5, metric="hamming", n_jobs=1)


def measures(seed):
    """Every measure of quality, of few columns and of many."""
    for n, width in ((130, 4), (150, 30)):
        for kind in (np.float32, np.float64):
            X = rows(n, width, seed, kind)
            labels = np.arange(n) % 3
            quality.report(X, X[:, :2].copy(), labels=labels, n_neighbors=5, n_jobs=1)
            quality.silhouette(X, labels)
            quality.shepard(X, X[:, :2].copy(), bins=16, n_jobs=1)
            quality.nonmetric_stress(X, X[:, :2].copy(), n_jobs=1)
            for k in (5, 40):  # limits in one block, and searched in several
                near = graph.nearest(X, k, n_jobs=1).indices
                euclidean_ranks(X, None, near, 1)
                euclidean_ranks(X, np.arange(0, n, 3), near[::3], 1)
    quality.report(X, X[:, :2].copy(), metric="cityblock", n_neighbors=5, n_jobs=1)


def methods(seed):
    """Estimators that factor, follow paths, unfold and take products."""
    for kind in (np.float32, np.float64):
        X = rows(140, 12, seed, kind)
        dualfold.PCA(2).fit(X)
        scatter(X, precision=kind)
        product(X, np.ones((12, 3)))
        for name in ("Isomap", "LaplacianEigenmaps", "LocallyLinearEmbedding", "ClassicalMDS"):
            getattr(dualfold, name)().fit(X)
    dualfold.PCA(3).fit(rows(20, 400, seed, np.float32))
    roll = rows(40, 3, seed)
    dualfold.MaximumVarianceUnfolding(n_components=2, n_neighbors=4).fit(roll)
    springs(seed)
    plane = np.random.default_rng(seed).normal(size=(700, 2))
    for count in (1, 20, 200):
        near = graph.knn(plane[: 3 * count + 7], 6)
        geodesic_distances(near, np.arange(0, 3 * count, 3), n_jobs=1)
    some = rows(700, 10, seed)  # sources far from one another, on a graph of few steps
    farthest_points(graph.knn(some, 6), 130)
    scattered = np.random.default_rng(seed).permutation(600)
    for kind in (np.float32, np.float64):
        geodesic_distances(graph.knn(plane, 6), scattered[:200], dtype=kind, n_jobs=1)
        geodesic_distances(graph.knn(plane[:90], 6), dtype=kind, n_jobs=1)
        near = graph.knn(plane[:300], 6)
        eliminated = EliminatedGraph.of(near, fill_reducing_ordering(near.lengths))
        eliminated.fill(np.empty((37, 300), kind), scattered[scattered < 300][:37], 1)
        divided = EliminatedGraph.of(near, eliminated.ordering, parts=6)
        divided.fill(np.empty((1, 300), kind), scattered[scattered < 300][:1], 1)


def springs(seed):
    """Conjugate gradients for a net of springs, positive and not."""
    rng = np.random.default_rng(seed)
    edges = np.argwhere(np.triu(rng.random((30, 30)) < 0.2, 1))
    net = SpringNet(UnfoldingProblem(30, edges, np.ones(len(edges))))
    ones = np.ones(len(edges))
    force = rng.normal(size=(30, 3))
    for shift in (0.5, -9.0):
        matrix = SpringMatrix.of(net, ones, ones, rng.normal(size=(len(edges), 3)), shift)
        matrix.solution(force - force.mean(axis=0), 1e-6)


def recurrences(seed):
    """Chebyshev's polynomials of a sparse matrix, products with one, and a walk over it."""
    A = sp.random_array((80, 80), density=0.1, rng=np.random.default_rng(seed), format="csr")
    polynomial = ChebyshevFilter.of(TraceProblem((A + A.T).tocsr()))
    V = np.linalg.qr(rows(80, 5, seed))[0]
    polynomial(V, V, np.arange(5.0))
    large = sp.random_array((900, 700), density=0.04, rng=np.random.default_rng(seed), format="csr")
    for count in (1, 5, 11):
        sparse_product(large, rows(700, count, seed))
    is_small_world(sp.csr_array(A + A.T))


def rotations(seed):
    """A matrix beside its transpose, rotated, written out, factorised and solved with."""
    rng = np.random.default_rng(seed)
    M = sp.random_array((70, 70), density=0.05, rng=rng, format="csr")
    order = paired_ordering(fill_reducing_ordering(mirrored_pattern(M, M.T.tocsr())))
    matrix = RotatedMatrix.of(MirroredRows.of(M, M.T.tocsr()), -1.0, *rng.normal(size=(2, 70)))
    lowered = matrix.with_less_diagonal(
        np.abs(matrix.as_compressed_rows() @ np.ones(140)) + matrix.diagonal()
    )
    factor = factorise(lowered, order)
    pairs = np.ascontiguousarray(order.permutation[::2])
    for count in (1, 3, 9):
        factor.solve_rotated(rng.normal(size=(70, count)))
        factor._solved_by_parts(rng.normal(size=(70, count)), pairs)
        factor._solved_by_parts(rng.normal(size=(140, count)), order.permutation)


def pairs(seed):
    """Matrices of double-doubles, of more rows than a block."""
    A = DoubleDouble(rows(70, 70, seed), 2.0**-55 * rows(70, 70, seed + 1))
    L = cholesky(products(A, A) + DoubleDouble(np.eye(70)))
    backward(L, forward(L, A))
    cholesky(DoubleDouble(-np.eye(3)))


def forces(seed):
    """A few rounds of t-SNE: all pairs, grids on a line and in the plane, a tree, new rows."""
    X = rows(90, 4, seed)
    model = dualfold.TSNE(perplexity=8, max_iter=250, n_jobs=1).fit(X)
    model.transform(rows(9, 4, seed + 1))
    found = graph.nearest(X, 12, n_jobs=1)
    lists = Lists(np.arange(0, 1081, 12), found.indices.ravel(), found.distances.ravel())
    for width in (1, 2, 3, 4):
        Y = np.ascontiguousarray(rows(90, 4, seed)[:, :width])
        stated = dualfold.methods.tsne(lists, n_components=width, perplexity=4.0)
        tsne_objective(stated, Y, n_jobs=1)
        kinds = [ByGrid(90, width)] if width < 3 else []
        kinds += [ByTree(90, width, 0.5, bounded=True)] if width < 4 else []
        for kind in kinds:
            for size in (1, 9):  # wide maps have grids of float32
                for task in kind.before(size * Y):
                    task()
                kind.after(size * Y, Threads(1), 1)


def stresses(seed):
    """Stress in one to four coordinates, with weights, with missing distances, and new rows."""
    X = rows(45, 4, seed)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    missing = np.where(np.abs(np.subtract.outer(*[np.arange(45)] * 2)) == 7, np.nan, D)
    for width in (1, 2, 3, 4):
        settings = {"n_components": width, "max_iter": 4, "n_jobs": 1}
        dualfold.MDS(**settings).fit(X).transform(rows(9, 4, seed + 1))
        for given, weights in ((missing, None), (D, 1 + D), (missing, 1 + D)):
            dualfold.MDS(**settings, metric="precomputed", weights=weights).fit(given)


def work(seeds=(0, 1)):
    """All of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            for part in (
                searches,
                measures,
                methods,
                recurrences,
                rotations,
                pairs,
                forces,
                stresses,
            ):
                part(seed)


if __name__ == "__main__":
    work()

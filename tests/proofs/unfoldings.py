"""Unfolding problems whose answers are known, and dense code that knows nothing of ours."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from dualfold.unfolding import UnfoldingProblem


def chain(n, constraints="at_most"):
    """Unit steps in a row: tr K = n(n² − 1)/12, weights i(n − i)/2."""
    steps = np.arange(n - 1)
    return UnfoldingProblem(n, np.column_stack([steps, steps + 1]), np.ones(n - 1), constraints)


def complete(X, constraints="at_most"):
    i, j = np.triu_indices(len(X), 1)
    squared = cdist(X, X, "sqeuclidean")[i, j]
    return UnfoldingProblem(len(X), np.column_stack([i, j]), squared, constraints)


def random_problem(n, seed, *, constraints="at_most", extra=1.5, masses=False):
    """Random points, a random tree between them and some more edges."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    tree = {(int(rng.integers(j)), j) for j in range(1, n)}
    while len(tree) < extra * n:
        i, j = sorted(rng.choice(n, 2, replace=False).tolist())
        tree.add((i, j))
    edges = np.array(sorted(tree))
    squared = np.sum((X[edges[:, 0]] - X[edges[:, 1]]) ** 2, axis=1)
    weights = rng.integers(1, 4, n).astype(float) if masses else None
    return UnfoldingProblem(n, edges, squared, constraints, weights)


def dense_laplacian(problem, weights):
    L = np.zeros((problem.n, problem.n))
    for (i, j), w in zip(problem.edges, weights, strict=True):
        L[i, i] += w
        L[j, j] += w
        L[i, j] -= w
        L[j, i] -= w
    return L


def dense_bounds(problem, factor, weights):
    """(lower, upper) by numpy alone: the Gram matrix, all eigenvalues."""
    mass = np.ones(problem.n) if problem.masses is None else problem.masses
    Y = factor - (mass @ factor) / mass.sum()
    K = Y @ Y.T
    i, j = problem.edges.T
    lengths = K[i, i] + K[j, j] - 2 * K[i, j]
    lower = np.min(problem.squared / lengths) * np.sum(mass * np.diagonal(K))
    root = np.sqrt(mass)
    scaled = dense_laplacian(problem, weights) / root / root[:, None]
    return lower, weights @ problem.squared / np.linalg.eigvalsh(scaled)[1]


def unfolded_chain(n=8, scale=1.0, bend=0.0):
    """Points on a line with the weights of L(w)y = y: w_i·(y_i+1 − y_i) = −(y_0 + … + y_i)."""
    problem = UnfoldingProblem(n, chain(n).edges, np.full(n - 1, scale))
    y = np.arange(n) - (n - 1) / 2
    Y = np.sqrt(scale) * np.column_stack([y, bend * np.cos(np.arange(n))])
    return problem, Y, -np.cumsum(y)[:-1]

"""Problems of t-SNE that tests share: handwritten digits, and any table by its perplexity."""

from __future__ import annotations

import numpy as np

from dualfold.data import digits
from dualfold.graph import nearest
from dualfold.methods.points.tsne import TsneProblem
from tests.graph.door import Lists
from tests.weights.door import conditional_affinities, joint_affinities

DIGITS = digits().points[:300].astype(float)


def lists_of(X, k):
    found = nearest(X, k)
    return Lists(np.arange(0, len(X) * k + 1, k), found.indices.ravel(), found.distances.ravel())


def problem_of(X=DIGITS, perplexity=10.0, attraction=1.0, count=2, n_neighbors=None):
    lists = lists_of(X, n_neighbors or int(3 * perplexity))
    P = joint_affinities(lists, conditional_affinities(lists, perplexity)[0])
    return TsneProblem(P, count, attraction)


def brute_sums(Y):
    """φ without the point itself, and the push, by the definition."""
    offsets = Y[:, None] - Y[None]
    near = 1 / (1 + (offsets**2).sum(axis=-1))
    return near.sum(axis=1) - 1, (near[..., None] ** 2 * offsets).sum(axis=1)

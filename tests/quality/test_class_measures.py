"""Measures of classes, against formulas on five points."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.metrics
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier

from dualfold import quality
from dualfold.errors import InvalidInput
from dualfold.quality import knn_accuracy, neighborhood_hit, silhouette

LINE = np.array([0.0, 1.0, 3.0, 7.0, 15.0])[:, None]  # every distance once


def test_classes_of_five_points():
    labels = np.array(["a", "a", "b", "b", "b"])
    d = np.abs(LINE - LINE.T)
    by_hand = []
    for i, own in enumerate(labels):
        a = d[i, (labels == own) & (np.arange(5) != i)].mean()
        b = d[i, labels != own].mean()
        by_hand.append((b - a) / max(a, b))
    np.testing.assert_allclose(silhouette(LINE, labels, per_point=True), by_hand)
    alone = silhouette(LINE, np.array([0, 1, 1, 1, 1]), per_point=True)
    assert alone[0] == 0.0
    # The nearest two: 0: 12, 1: 02, 2: 10, 3: 21, 4: 32.
    np.testing.assert_allclose(
        neighborhood_hit(LINE, labels, n_neighbors=2, per_point=True), [0.5, 0.5, 0, 0.5, 1]
    )
    right = knn_accuracy(LINE, labels, n_neighbors=2, per_point=True)
    np.testing.assert_array_equal(right, [1, 1, 0, 0, 1])  # a tie goes to "a"
    assert silhouette(np.zeros((4, 1)), np.array([0, 0, 1, 1])) == 0.0
    for wrong in (np.zeros(5), np.arange(5), np.zeros(4)):
        with pytest.raises(InvalidInput, match="labels"):
            silhouette(LINE, wrong)


def test_classes_are_judged_as_in_scikit_learn(pair):
    X, Y = pair
    rng = np.random.default_rng(2)
    labels = np.where(Y[:, 0] > 0, "b", "a").astype(object)
    labels[rng.choice(160, 30, replace=False)] = "c"
    labels[5] = "alone"
    ours = quality.silhouette(Y, labels, per_point=True)
    np.testing.assert_allclose(ours, sklearn.metrics.silhouette_samples(Y, labels), atol=1e-12)
    ours = quality.silhouette(X, labels, metric="cosine")
    theirs = sklearn.metrics.silhouette_score(X, labels, metric="cosine")
    assert ours == pytest.approx(theirs, abs=1e-12)
    right = []
    for i in range(160):
        rest = np.delete(np.arange(160), i)
        vote = KNeighborsClassifier(5).fit(Y[rest], labels[rest].astype(str))
        right.append(vote.predict(Y[i : i + 1])[0] == labels[i])
    np.testing.assert_array_equal(quality.knn_accuracy(Y, labels, per_point=True), right)
    near = np.argsort(cdist(Y, Y) + np.diag(np.full(160, np.inf)), axis=1, kind="stable")[:, :5]
    hits = [np.mean(labels[near[i]] == labels[i]) for i in range(160)]
    np.testing.assert_allclose(quality.neighborhood_hit(Y, labels, per_point=True), hits)
    assert quality.neighborhood_hit(Y, labels) == pytest.approx(np.mean(hits))
    with pytest.raises(InvalidInput, match="one class for each point"):
        quality.silhouette(Y, labels[:-1])
    with pytest.raises(InvalidInput, match="from 2 to"):
        quality.knn_accuracy(Y, np.zeros(160))

"""Weights in recommendations: fits that take them get them, and neighbours kept are weighted."""

from __future__ import annotations

import numpy as np
import pytest

import dualfold
from dualfold.errors import InvalidInput
from tests.judging.door import candidate_on_subsamples, picture_of

N = 60
X = np.random.default_rng(0).normal(size=(N, 4)) * [3, 2, 1, 1]
WEIGHTS = np.random.default_rng(1).lognormal(0, 1.5, N)
PARTS = [np.arange(40), np.r_[:20, 40:60]]


@pytest.mark.parametrize(
    ("name", "fitted"),
    [
        ("pca", lambda some, w: dualfold.PCA(2).fit_transform(some, sample_weight=w)),
        ("isomap", lambda some, w: dualfold.Isomap(n_neighbors=8).fit_transform(some)),
    ],
)
def test_a_candidate_is_fitted_and_judged_with_weights_where_it_takes_them(name, fitted):
    found = candidate_on_subsamples(name, X, PARTS, 20, 2, 8, judges=[X], weights=WEIGHTS)
    for rows, kept in zip(PARTS, found.kept, strict=True):
        points, own = fitted(X[rows], WEIGHTS[rows]), WEIGHTS[rows]
        expected = picture_of(X[rows], points, 10, sample_weight=own).beyond_chance
        assert kept == pytest.approx(expected, abs=1e-9)


def test_constant_weights_are_none_and_rows_of_weight_0_are_left_out():
    few = X[: N - 15]
    plain = dualfold.recommend(few, methods=("pca", "eigenmaps"))
    given = np.repeat([1000.0, 0.0], [N - 15, 15])
    found = dualfold.recommend(X, methods=("pca", "eigenmaps"), sample_weight=given)
    assert found.verdict == plain.verdict
    assert [one.kept for one in found.candidates] == [one.kept for one in plain.candidates]


def test_wrong_weights_are_refused():
    with pytest.raises(InvalidInput, match="sample_weight has 3 numbers for 60 rows"):
        dualfold.recommend(X, sample_weight=[1.0, 2.0, 3.0])

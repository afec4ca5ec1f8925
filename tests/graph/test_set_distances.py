"""Distances of sets: as their definitions say, exact neighbours, and who refuses them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

import dualfold
from dualfold.errors import InvalidInput
from dualfold.graph import knn, nearest, neighbors_within
from dualfold.quality import report
from tests.graph.door import metric_distances

SHAPES = [(50, 7, 0.3), (120, 130, 0.1), (130, 64, 0.5), (60, 9000, 0.002)]


def random_sets(n: int, width: int, share: float, seed: int = 0) -> np.ndarray:
    sets = np.random.default_rng(seed).random((n, width)) < share
    sets[::11] = False  # empty ones
    return sets


def by_definition(x: np.ndarray, y: np.ndarray, metric: str) -> Fraction:
    """From the sets of places themselves."""
    first, second = set(np.flatnonzero(x)), set(np.flatnonzero(y))
    apart, union = len(first ^ second), len(first | second)
    over = {"jaccard": union, "tanimoto": union, "dice": len(first) + len(second)}
    return Fraction(apart, over.get(metric, len(x)) or 1)


@pytest.mark.parametrize("metric", ["jaccard", "tanimoto", "dice", "hamming"])
@pytest.mark.parametrize("shape", SHAPES)
def test_lists_are_those_of_the_definition_in_exact_arithmetic_with_ties_by_row_number(
    metric: str, shape: tuple[int, int, float]
) -> None:
    X = random_sets(*shape)
    queries = random_sets(9, *shape[1:], seed=1)
    for asked, own in ((X[:20], True), (queries, False)):
        true = [
            sorted(
                (by_definition(x, y, metric), j) for j, y in enumerate(X) if not (own and i == j)
            )[:6]
            for i, x in enumerate(asked)
        ]
        for table in (X, X.astype(np.float32), sp.csr_array(X)):
            found = nearest(table, 6, queries=None if own else asked, metric=metric)
            assert found.indices[: len(true)].tolist() == [[j for _, j in row] for row in true]
            assert found.distances[: len(true)].tolist() == [
                [float(d) for d, _ in row] for row in true
            ]
            assert found.search.exact
            assert found.search.rounding == 0


@pytest.mark.parametrize("metric", ["jaccard", "dice", "hamming"])
def test_distances_are_those_of_scipy_and_two_empty_sets_are_the_same(metric: str) -> None:
    X, Y = random_sets(40, 90, 0.2), random_sets(30, 90, 0.2, seed=2)
    theirs = cdist(X, Y, metric)  # Dice's of two empty sets is 0/0 there
    ours = metric_distances(sp.csr_array(X), sp.csr_array(Y), metric)
    assert np.abs(ours - np.nan_to_num(theirs)).max() <= 2**-52
    assert ours[0, 0] == 0


def test_all_pairs_within_a_distance_are_those_of_all_distances() -> None:
    X = random_sets(80, 30, 0.2)
    distances = metric_distances(X, None, "jaccard")
    np.fill_diagonal(distances, np.inf)
    indptr, indices, found = neighbors_within(X, 0.7, metric="jaccard")
    for i in range(len(X)):
        assert (
            sorted(indices[indptr[i] : indptr[i + 1]])
            == np.flatnonzero(distances[i] <= 0.7).tolist()
        )
    assert found.max() <= 0.7


@pytest.mark.parametrize("made", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", ["jaccard", "tanimoto"])
def test_methods_that_need_distances_alone_take_them(made: Any, name: str) -> None:
    different = np.random.default_rng(3).random((60, 40)) < 0.3
    X, given = made(different.astype(float)), metric_distances(different, None, "jaccard")
    for model, same in (
        (dualfold.Isomap(n_neighbors=8, metric=name), dualfold.Isomap(n_neighbors=8)),
        (
            dualfold.LaplacianEigenmaps(n_neighbors=8, metric=name),
            dualfold.LaplacianEigenmaps(n_neighbors=8),
        ),
        (dualfold.ClassicalMDS(metric=name), dualfold.ClassicalMDS()),
    ):
        points = model.fit_transform(X)
        assert model.certificate_.level == "proved"
        by_distances = same.set_params(metric="precomputed").fit_transform(given)
        # The same matrices but for the order of sums: eigenvalues here are 1e-3 apart and more.
        assert np.abs(points - by_distances).max() <= 1e-9 * np.abs(points).max()
    assert str(report(X, points, metric=name)) == str(report(given, points, metric="precomputed"))


def test_methods_that_combine_rows_refuse_sets_and_name_others() -> None:
    X = random_sets(60, 40, 0.3)
    with pytest.raises(InvalidInput, match=r"weighted sum of sets; Isomap"):
        dualfold.NeighborhoodPreservingProjection(n_neighbors=8, metric="dice").fit(X)
    with pytest.raises(InvalidInput, match=r"weighted sum of sets"):
        dualfold.methods.lle(knn(X, 8, metric="jaccard"))


def test_tables_that_are_no_sets_are_refused_with_the_way_out() -> None:
    counts = np.array([[0, 1, 2], [1, 0, 0], [0, 0, 1]])
    with pytest.raises(InvalidInput, match=r"holds 2, and sets are rows of 0 and 1.*X != 0"):
        nearest(counts, 1, metric="jaccard")
    with pytest.raises(InvalidInput, match=r"holds nan"):
        nearest(np.array([[0.0, np.nan], [1.0, 0.0]]), 1, metric="dice")
    with pytest.raises(InvalidInput, match=r"columns"):
        nearest(np.eye(3), 1, queries=np.eye(4), metric="jaccard")
    # Hamming's distance compares numbers, too.
    found = nearest(counts, 1, metric="hamming")
    assert found.distances.ravel() == pytest.approx(
        cdist(counts, counts, "hamming")[[0, 1, 2], [2, 2, 1]]
    )

"""scikit-learn's own checks of what an estimator is."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import dualfold
from dualfold.descriptions import ESTIMATOR_MODULES

# With their defaults: some checks fit as few as 10 points, which have no 10 others, and a default
# adapts to that with a warning. A number that is given does not.
ESTIMATORS = [
    dualfold.PCA(),
    dualfold.PointPCA(),
    dualfold.FAMD(),
    dualfold.FAMD(columns="prepared"),
    dualfold.TruncatedSVD(),
    dualfold.ClassicalMDS(),
    dualfold.KernelPCA(),
    dualfold.RandomProjection(random_state=0),
    dualfold.LocalityPreservingProjection(),
    dualfold.OrthogonalLPP(),
    dualfold.NeighborhoodPreservingProjection(),
    dualfold.OrthogonalNPP(),
    dualfold.LocalityPreservingProjection(supervised=True),
    dualfold.OrthogonalNPP(supervised=True),
    dualfold.FisherDiscriminant(),
    dualfold.Isomap(),
    dualfold.LocallyLinearEmbedding(),
    dualfold.LaplacianEigenmaps(),
    dualfold.DiffusionMaps(),
    dualfold.SpectralEmbedding(),
    dualfold.TSNE(perplexity=2.0, max_iter=250),
    dualfold.MaximumVarianceUnfolding(),
    dualfold.NeighborMap(spread=0.05, max_iter=20),
]
# The same classes with other parameters.
VARIANTS = [
    dualfold.PCA(n_components=2, whiten=True, standardize=True),
    dualfold.PCA(n_components=2, svd_solver="gradient"),
    dualfold.ClassicalMDS(metric="cityblock"),
    dualfold.KernelPCA(2, kernel="rbf", gamma="scale", fit_inverse_transform=True),
    dualfold.KernelPCA(2, kernel="rbf", landmarks=5, random_state=0),
    dualfold.RandomProjection(kind="sparse", density=0.5, random_state=0),
    dualfold.FisherDiscriminant(shrinkage=0.1),
    dualfold.FisherDiscriminant(shrinkage="auto"),
    dualfold.Isomap(landmarks=10),
    dualfold.LocallyLinearEmbedding(method="ltsa"),
    dualfold.LaplacianEigenmaps(n_neighbors=5, weights="density", neighborhood="variable"),
    dualfold.LaplacianEigenmaps(n_neighbors=5, pieces="separate"),
    dualfold.DiffusionMaps(n_neighbors=5, alpha=0.5, landmarks=12, pieces="separate"),
    # With ε as before: exact lengths of small clouds in the plane take seconds a fit
    # (tests/unfolding/test_equal_lengths.py has them).
    dualfold.MaximumVarianceUnfolding(
        n_neighbors=5, constraints="equal", relaxation=1e-4, pieces="separate"
    ),
]


def test_every_described_estimator_is_checked():
    assert {type(one).__name__ for one in ESTIMATORS} == set(ESTIMATOR_MODULES)


@pytest.mark.filterwarnings("ignore::dualfold.errors.PiecesJoined")
@pytest.mark.filterwarnings("ignore::dualfold.errors.FewerNeighbors")
@parametrize_with_checks(ESTIMATORS)
def test_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::dualfold.errors.PiecesJoined")
@parametrize_with_checks(VARIANTS)
def test_is_an_estimator_with_other_parameters(estimator: Any, check: Any) -> None:
    check(estimator)

"""scikit-learn's own checks of what an estimator is."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from sklearn.utils.estimator_checks import (
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
    parametrize_with_checks,
)

import dualfold
from dualfold.methods.descriptions import ESTIMATOR_MODULES

# With their defaults: some checks fit as few as 10 points, which have no 10 others, and a default
# adapts to that with a warning. A number that is given does not.
ESTIMATORS = [
    dualfold.PCA(),
    dualfold.PointPCA(),
    dualfold.FAMD(),
    dualfold.FAMD(columns="prepared"),
    dualfold.TruncatedSVD(),
    dualfold.ClassicalMDS(),
    dualfold.MDS(),
    dualfold.KernelPCA(),
    dualfold.RandomProjection(random_state=0),
    dualfold.LocalityPreservingProjection(),
    dualfold.OrthogonalLPP(),
    dualfold.NeighborhoodPreservingProjection(),
    dualfold.OrthogonalNPP(),
    dualfold.LocalityPreservingProjection(supervised=True),
    dualfold.OrthogonalNPP(supervised=True),
    dualfold.FisherDiscriminant(),
    dualfold.CCA(n_components=1),
    dualfold.CorrespondenceAnalysis(n_components=1),
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
    dualfold.MDS(metric="cityblock"),
    dualfold.KernelPCA(2, kernel="rbf", gamma="scale", fit_inverse_transform=True),
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


# scikit-learn's table for weights as repetitions has 30 columns, and 12 rows that count; that for
# their shape has columns without variance within classes.
NO_UNIQUE_ANSWER = "all 30 directions: those without variance are arbitrary"
NO_SCATTER = "rows of a class do not differ along some direction: refused, without weights too"


def checks_without_an_answer(estimator: Any) -> dict[str, str]:
    """The checks that ask for what the data do not determine, with the reason."""
    repetitions = [f"equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    found = {}
    if isinstance(estimator, dualfold.PCA) and estimator.n_components is None:
        found = {f"check_sample_weight_{name}": NO_UNIQUE_ANSWER for name in repetitions}
    if isinstance(estimator, dualfold.FisherDiscriminant) and estimator.shrinkage in (None, "auto"):
        found = {"check_sample_weights_shape": NO_SCATTER}
    if isinstance(estimator, dualfold.FisherDiscriminant) and estimator.shrinkage is None:
        found |= {f"check_sample_weight_{name}": NO_SCATTER for name in repetitions}
        found |= {"check_sample_weights_not_overwritten": NO_SCATTER}
    return found


def checks_of(estimators: list[Any]) -> Any:
    """Every check with every estimator; an estimator is written out once, not for each check."""
    checks = parametrize_with_checks(estimators, expected_failed_checks=checks_without_an_answer)
    return pytest.mark.parametrize(*checks.args, ids=functools.cache(checks.kwargs["ids"]))


def test_every_described_estimator_is_checked():
    assert {type(one).__name__ for one in ESTIMATORS} == set(ESTIMATOR_MODULES)


@pytest.mark.filterwarnings("ignore::dualfold.errors.PiecesJoined")
@pytest.mark.filterwarnings("ignore::dualfold.errors.FewerNeighbors")
@checks_of(ESTIMATORS)
def test_is_an_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.full
@pytest.mark.filterwarnings("ignore::dualfold.errors.PiecesJoined")
@checks_of(VARIANTS)
def test_is_an_estimator_with_other_parameters(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "estimator", [dualfold.PCA(n_components=2), dualfold.FisherDiscriminant(shrinkage=0.1)]
)
def test_integer_weights_are_repeated_rows_where_the_answer_is_unique(estimator: Any) -> None:
    assert not checks_without_an_answer(estimator)
    name = type(estimator).__name__
    check_sample_weight_equivalence_on_dense_data(name, estimator)
    check_sample_weight_equivalence_on_sparse_data(name, estimator)

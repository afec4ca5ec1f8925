"""Canonical correlation analysis: its optimum, its peers, and correlations that mean nothing."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.linalg
from sklearn import cross_decomposition

import dualfold
from dualfold.errors import ConditionFails, InvalidInput


def two_tables(n: int = 120, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Tables of 5 and 4 columns that share three."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n, 3))
    first = shared @ rng.normal(size=(3, 5)) + rng.normal(size=(n, 5))
    return first * [1, 10, 0.1, 3, 1] + 7, shared @ rng.normal(size=(3, 4)) + rng.normal(
        size=(n, 4)
    )


def correlations_by_bases(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Cosines between the two spaces of centred columns (Björck and Golub)."""
    bases = [scipy.linalg.orth(table - table.mean(axis=0)) for table in (X, Y)]
    return np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)


@pytest.mark.parametrize("scale", [True, False])
def test_correlations_are_cosines_between_the_spaces_and_those_of_the_scores(scale: bool) -> None:
    X, Y = two_tables()
    model = dualfold.CCA(3, scale=scale).fit(X, Y)
    assert model.certificate_.level == "proved"
    true = correlations_by_bases(X, Y)[:3]
    assert model.correlations_ == pytest.approx(true, rel=1e-10)
    first, second = model.transform(X, Y)
    both = np.corrcoef(first.T, second.T)
    assert np.diagonal(both[:3, 3:]) == pytest.approx(true, rel=1e-9)
    # Scores of different pairs do not correlate, within a table and across both.
    both[np.arange(6), np.arange(6)] = both[np.arange(3), np.arange(3, 6)] = 0
    assert np.abs(np.triu(both)).max() <= 1e-9


@pytest.mark.parametrize("scale", [True, False])
def test_attributes_are_those_to_which_scikit_learn_converges(scale: bool) -> None:
    X, Y = two_tables(seed=1)
    ours = dualfold.CCA(3, scale=scale).fit(X, Y)
    theirs = cross_decomposition.CCA(3, scale=scale, max_iter=20_000, tol=1e-14).fit(X, Y)
    for name in ("weights", "loadings", "rotations"):
        for side in "xy":
            mine, yours = (getattr(model, f"{side}_{name}_") for model in (ours, theirs))
            signs = np.sign(np.einsum("ij,ij->j", mine, yours))
            # Where a power iteration stops: the square root of its tolerance.
            assert mine * signs == pytest.approx(yours, rel=1e-4, abs=1e-4 * np.abs(yours).max())
    assert ours.predict(X) == pytest.approx(theirs.predict(X), rel=1e-4, abs=1e-4)
    back = ours.inverse_transform(*ours.transform(X, Y))
    for mine, yours in zip(back, theirs.inverse_transform(*theirs.transform(X, Y)), strict=True):
        assert mine == pytest.approx(yours, rel=1e-4, abs=1e-3)


def test_classes_as_the_second_table_are_fishers_discriminant() -> None:
    X = two_tables()[0]
    kinds = np.array(["a", "b", "c"])[np.random.default_rng(0).integers(0, 3, len(X))]
    values = dualfold.FisherDiscriminant().fit(X, kinds).eigenvalues_
    found = dualfold.CCA(2).fit(X, kinds).correlations_
    assert found**2 == pytest.approx(values / (1 + values), rel=1e-9)


@pytest.mark.parametrize(("p", "q", "trivial"), [(15, 10, 6), (50, 10, 10), (5, 4, 0), (10, 9, 0)])
def test_correlations_of_one_that_any_data_have_are_called_trivial(
    p: int, q: int, trivial: int
) -> None:
    rng = np.random.default_rng(p)
    X, Y = rng.normal(size=(20, p)), rng.normal(size=(20, q))
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        model = dualfold.CCA(2).fit(X, Y)
    assert model.n_trivial_ == trivial
    assert [w.category for w in seen] == [ConditionFails] * bool(trivial)
    assert (model.correlations_ > 1 - 1e-6).all() == bool(trivial)


def test_a_ridge_is_that_of_the_generalised_eigenproblem() -> None:
    X, Y = two_tables()
    X, Y = ((table - table.mean(axis=0)) / table.std(axis=0, ddof=1) for table in (X, Y))
    ridge = 0.3 * (len(X) - 1)  # columns of variance 1, divisor n − 1
    inner = Y.T @ Y + ridge * np.eye(4)
    A = X.T @ Y @ np.linalg.solve(inner, Y.T @ X)
    values = scipy.linalg.eigh(A, X.T @ X + ridge * np.eye(5), eigvals_only=True)[::-1]
    model = dualfold.CCA(2, added_variance=0.3).fit(X, Y)
    assert model.correlations_**2 == pytest.approx(values[:2], rel=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing is trivial with a ridge
        wide = dualfold.CCA(2, added_variance=0.3).fit(X[:8], np.hstack([Y, Y**2])[:8])
    assert wide.correlations_.max() < 1


def test_repeated_columns_change_nothing() -> None:
    X, Y = two_tables()
    plain = dualfold.CCA(2, scale=False).fit(X, Y)
    double = dualfold.CCA(2, scale=False).fit(np.hstack([X, X]), np.hstack([Y, Y[:, :1]]))
    assert double.correlations_ == pytest.approx(plain.correlations_, rel=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.2])
def test_integer_weights_are_repeated_rows_and_a_factor_changes_nothing(ridge: float) -> None:
    X, Y = two_tables()
    weights = np.random.default_rng(5).integers(0, 4, len(X))
    repeated = np.repeat(np.arange(len(X)), weights)
    once = dualfold.CCA(3, added_variance=ridge).fit(X, Y, sample_weight=weights)
    more = dualfold.CCA(3, added_variance=ridge).fit(X[repeated], Y[repeated])
    times = dualfold.CCA(3, added_variance=ridge).fit(X, Y, sample_weight=7.5 * weights)
    assert once.certificate_.level == "proved"
    assert len(once.embedding_) == len(X)
    for other in (more, times):
        assert once.correlations_ == pytest.approx(other.correlations_, rel=1e-10)
    for mine, yours in zip(once.transform(X, Y), more.transform(X, Y), strict=True):
        assert mine == pytest.approx(yours, abs=1e-9 * np.abs(yours).max())
    assert once.predict(X) == pytest.approx(more.predict(X), abs=1e-8)


def test_classes_of_other_rows_are_those_that_were_fitted() -> None:
    X = two_tables()[0]
    kinds = np.array(["a", "b", "c"])[np.random.default_rng(0).integers(0, 3, len(X))]
    model = dualfold.CCA(2).fit(X, kinds)
    scores = model.transform(X, kinds)[1]
    few = np.flatnonzero(kinds != "a")[:5]
    assert model.transform(X[few], kinds[few])[1] == pytest.approx(scores[few])
    assert model.predict(X).shape == (len(X), 3)
    with pytest.raises(InvalidInput, match=r"y holds the class 'd', which was not fitted"):
        model.transform(X[:2], ["b", "d"])


def test_a_second_table_of_other_rows_changes_no_fit() -> None:
    X, Y = two_tables()
    model = dualfold.CCA(2).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(InvalidInput, match=r"y has 1 column and was fitted with 4"):
        model.transform(X, Y[:, 0])
    assert np.array_equal(model.predict(X), before)
    objects = dualfold.CCA(2).fit(X, Y.astype(object))
    assert np.array_equal(objects.correlations_, model.correlations_)


def test_the_score_is_that_of_scikit_learn() -> None:
    X, Y = two_tables(seed=1)
    weights = np.random.default_rng(5).integers(0, 4, len(X))
    theirs = cross_decomposition.CCA(2, max_iter=20_000, tol=1e-14).fit(X, Y)
    for given in (None, weights):
        ours = dualfold.CCA(2).fit(X, Y).score(X, Y, given)
        assert ours == pytest.approx(theirs.score(X, Y, given), rel=1e-4)

"""Means and deviations of columns against exact arithmetic, and which columns are constant."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from dualfold import FAMD, PCA
from dualfold.data import Reading, prepare
from dualfold.errors import InvalidInput
from dualfold.weights import column_means, scatter
from tests.weights.door import column_deviations

STANDARDIZED = Reading(plain=True, standardize=True)
KINDS = ("f8", "f4", ">f4", "f2", "u1", "i1", "i4", "?")


def exact_moments(X):
    """The mean and the mean square around it of each column, as fractions."""
    columns = [[Fraction(float(x)) for x in column] for column in X.T]
    means = [sum(column) / len(column) for column in columns]
    squares = [
        sum((x - m) ** 2 for x in column) / len(column)
        for column, m in zip(columns, means, strict=True)
    ]
    return means, squares


@pytest.mark.parametrize("kind", KINDS)
def test_moments_have_the_digits_of_float64(kind):
    rng = np.random.default_rng(5)
    far = {"f8": 1e9, "f4": 1e5, ">f4": 1e5, "f2": 500}.get(kind, 40)
    X = (rng.normal(size=(90, 4)) * 20 + [far, 0, 0, far]).clip(-120, None)
    X = X.clip(0, 250) if kind == "u1" else X
    X[:, 2] *= rng.random(90) < 0.3
    X = (X > 0) if kind == "?" else (X.clip(None, 120) if kind == "i1" else X).astype(kind)
    means, squares = exact_moments(X)
    tables = [X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2]]
    for table in tables if kind in ("f2", ">f4") else [*tables, sp.csr_array(X), sp.csc_array(X)]:
        found = column_means(table)
        deviations = column_deviations(table, found, constant=0.0)
        for j in range(X.shape[1]):
            # The sum of n numbers is off by n·2⁻⁵³ of them, the mean of a tight column by less.
            assert abs(Fraction(found[j]) - means[j]) <= 90 * 2.0**-52 * max(abs(means[j]), 20)
            assert float(squares[j]) ** 0.5 == pytest.approx(deviations[j], rel=1e-7, abs=0)


def constant_table(kind, n=20_001):
    """Columns of one value, which plain sums would not give back, beside one that varies."""
    X = np.random.default_rng(3).normal(size=(n, 8))
    X[:, 1], X[:, 4], X[:, 6] = 0.1, 1e9 / 3, 0.0
    return X.astype(kind), np.array([1, 4, 6])


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_constant_columns_are_constant_in_memory_in_tiles_and_sparse(kind):
    X, flat = constant_table(kind)
    batches = PCA(2, standardize=True)
    for start in range(0, len(X), 3_001):
        batches.partial_fit(X[start : start + 3_001])
    for model in (PCA(2, standardize=True).fit(X), batches):
        assert np.array_equal(model.mean_[flat], X[0, flat])
        assert np.array_equal(model.scale_ == 1, np.isin(np.arange(8), flat))
    assert not np.diagonal(scatter(X)[0])[flat].any()
    sparse = sp.csr_array(X[:5_000])
    for table in (X, sparse):
        mean = column_means(table)
        assert np.array_equal(mean[flat], X[0, flat])
        assert np.array_equal(np.isnan(column_deviations(table, mean, constant=np.nan)),
                              np.isin(np.arange(8), flat))  # fmt: skip
    assert np.array_equal(~prepare(X, STANDARDIZED).X.any(axis=0), np.isin(np.arange(8), flat))


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_narrow_float32_column_is_standardised_everywhere(seed):
    rng = np.random.default_rng(seed)
    n = 300
    X = np.column_stack([1.7e9 + 1500 * rng.random(n), rng.normal(size=(n, 3))]).astype(np.float32)
    X[:, 3] = 1e4
    X[7, 3] = np.nextafter(np.float32(1e4), np.float32(2e4))  # one value, the next float32
    Z = X.astype(float)
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    expected = np.linalg.eigvalsh(Z.T @ Z / n)[::-1][:2]
    batches = PCA(2, standardize=True).partial_fit(X[:111]).partial_fit(X[111:])
    for model in (FAMD(2).fit(X), PCA(2, standardize=True).fit(X), batches,
                  PCA(2, standardize=True).fit(sp.csr_array(X))):  # fmt: skip
        assert model.eigenvalues_ == pytest.approx(expected, rel=1e-5), type(model)
        assert model.certificate_.level == "proved"
    np.testing.assert_allclose(prepare(X, STANDARDIZED).X, Z, atol=1e-6)
    # The fitted points and their places as new rows agree: the mean is not rounded to float32.
    famd = FAMD(2).fit(X)
    assert np.abs(famd.transform(X) - famd.embedding_).max() < 1e-4


def test_values_within_the_rounding_of_their_mean_count_as_constant():
    X = np.random.default_rng(0).normal(size=(50, 2))
    X[:, 1] = np.where(X[:, 0] > 0, 0.3, np.nextafter(0.3, 1))
    assert column_deviations(X, column_means(X))[1] == 1
    X[:, 1] = np.where(X[:, 0] > 0, 0.3, 0.3 * (1 + 2.0**-48))
    assert 0 < column_deviations(X, column_means(X))[1] < 1e-14


def test_columns_whose_squares_vanish_are_refused_where_they_would_be_divided():
    X = np.random.default_rng(4).normal(size=(40, 3))
    X[:, 2] *= 1e-170
    batches = PCA(2, standardize=True)
    for call in (
        lambda: FAMD(2).fit(X),
        lambda: PCA(2, standardize=True).fit(sp.csr_array(X)),
        lambda: batches.partial_fit(X[:9]).partial_fit(X[9:]),
        lambda: prepare(X, STANDARDIZED),
    ):
        with pytest.raises(InvalidInput, match="column 2 of X"):
            call()
    assert PCA(2).fit(X).certificate_.level == "proved"  # divided by nothing, it is negligible
    X[:, 2] *= 1e25
    assert PCA(3, standardize=True).fit(X).eigenvalues_.sum() == pytest.approx(3)

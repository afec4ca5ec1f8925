"""Weights of rows, for every described method that takes them: the two laws, and what is refused.

Integer weights are repeated rows; a common factor changes nothing that does not depend on the
number of rows; a row of weight 0 is absent and placed. A repeated table is what weights are
compared with: nothing of them is in the code that fits it.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from dualfold import FAMD, PCA, ClassicalMDS, FisherDiscriminant
from dualfold.errors import InvalidInput
from dualfold.methods.descriptions import DESCRIPTIONS
from tests.tools.tables import rows_for

WEIGHTED = sorted(name for name, one in DESCRIPTIONS.items() if one.weighted)
# Attributes that depend on the number of rows: they follow the first law only (docs/linear.md).
OF_THE_COUNT = ("explained_variance_", "singular_values_", "noise_variance_", "n_samples_")
KEPT = 2


def model_of(name: str, **options: Any) -> Any:
    row = DESCRIPTIONS[name]
    return row.estimator_class()(**row.estimator_parameters({"n_components": 3} | options))


def table(shape: tuple[int, int], seed: int = 0) -> tuple[Any, Any, Any]:
    """Rows whose principal variances are well apart, four classes, integer weights with zeros."""
    rng = np.random.default_rng(seed)
    n, width = shape
    y = rng.permutation(np.arange(n) % 4)
    centres = 3 * rng.standard_normal((4, width)) / np.sqrt(np.arange(1, width + 1))
    X = centres[y] + rng.standard_normal(shape) * np.linspace(2, 0.5, width) + 7
    weights = rng.integers(0, 5, n)
    weights[:4] = 0
    return X, y, weights


def table_for(name: str, shape: tuple[int, int], seed: int = 0) -> tuple[Any, Any, Any]:
    X, y, weights = table(shape, seed)
    return rows_for(DESCRIPTIONS[name], X), y, weights


def fitted(name: str, X: Any, y: Any, weights: Any = None) -> Any:
    # A wide table has no scatter within classes along some directions.
    options = {"shrinkage": 0.2} if "fisher" in name and X.shape[0] < X.shape[1] else {}
    return model_of(name, **options).fit(X, y, sample_weight=weights)


def assert_same_map(one: Any, other: Any, X: Any) -> None:
    """The span of the leading components, points, ratios and certificate of two fits."""
    values = one.eigenvalues_
    gap = values[KEPT - 1] - values[KEPT]
    allowed = 1e-12 * values[0] / gap
    A, B = one.transform(X), other.transform(X)
    spans = [scipy.linalg.orth(points[:, :KEPT]) for points in (A, B)]
    assert np.sin(scipy.linalg.subspace_angles(*spans)).max() <= 100 * allowed
    if hasattr(one, "components_"):
        bases = [scipy.linalg.orth(np.asarray(m.components_)[:KEPT].T) for m in (one, other)]
        off = np.linalg.norm(bases[0] @ bases[0].T - bases[1] @ bases[1].T, 2)
        assert off <= allowed
    np.testing.assert_allclose(A[:, :KEPT], B[:, :KEPT], atol=1e-10 * np.abs(A).max())
    if hasattr(one, "explained_variance_ratio_"):
        ratios = one.explained_variance_ratio_, other.explained_variance_ratio_
        np.testing.assert_allclose(*ratios, rtol=1e-11)
    assert one.certificate_.level == other.certificate_.level == "proved"


def test_descriptions_say_who_takes_weights():
    classes = {name: row.estimator_class() for name, row in DESCRIPTIONS.items()}
    taking = {
        name
        for name, kind in classes.items()
        if "sample_weight" in inspect.signature(kind.fit).parameters
    }
    assert taking == set(WEIGHTED)


@pytest.mark.parametrize("shape", [(60, 7), (20, 40)])
@pytest.mark.parametrize("name", WEIGHTED)
def test_integer_weights_are_repeated_rows(name, shape):
    X, y, weights = table_for(name, shape)
    one = fitted(name, X, y, weights)
    other = fitted(name, X.repeat(weights, axis=0), y.repeat(weights))
    assert_same_map(one, other, X)
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-11)
    for attribute in OF_THE_COUNT:
        if hasattr(one, attribute):
            pair = getattr(one, attribute), getattr(other, attribute)
            np.testing.assert_allclose(*pair, rtol=1e-11)


@pytest.mark.parametrize("factor", [0.37, 1e9, 1e-300])
@pytest.mark.parametrize("name", WEIGHTED)
def test_a_common_factor_changes_nothing(name, factor):
    X, y, weights = table_for(name, (50, 6), seed=1)
    one, other = (fitted(name, X, y, each) for each in (weights, weights * factor))
    assert_same_map(one, other, X)
    said = other.certificate_.about if (weights * factor).sum() <= 1 else "they are counted as"
    assert "they are counted as" in said


@pytest.mark.parametrize("name", WEIGHTED)
def test_a_row_of_weight_0_is_absent_and_placed(name):
    X, y, weights = table_for(name, (40, 6), seed=2)
    X[0] = 100.0  # would turn every direction
    one = fitted(name, X, y, weights)
    kept = np.flatnonzero(weights)
    other = fitted(name, X[kept], y[kept], weights[kept])
    assert_same_map(one, other, X)
    points = model_of(name).fit_transform(X, y, sample_weight=weights)
    assert points.shape == (40, 3)
    np.testing.assert_allclose(points, one.transform(X), atol=1e-9 * np.abs(points).max())


@pytest.mark.parametrize("name", WEIGHTED)
def test_without_weights_a_fit_has_the_same_bits(name):
    X, y, _ = table_for(name, (40, 6), seed=3)
    one, other = fitted(name, X, y, None), model_of(name).fit(X, y)
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    np.testing.assert_array_equal(one.eigenvalues_, other.eigenvalues_)
    assert str(one.certificate_) == str(other.certificate_)


@pytest.mark.parametrize("name", WEIGHTED)
def test_weights_of_1_are_no_weights(name):
    X, y, _ = table_for(name, (40, 6), seed=3)
    assert_same_map(fitted(name, X, y, np.ones(40)), fitted(name, X, y), X)


@pytest.mark.parametrize("name", WEIGHTED)
def test_sparse_rows_have_the_same_weights(name):
    X, y, weights = table_for(name, (50, 8), seed=4)
    X = np.where(X > 7, X, 0)
    if not model_of(name).__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes no sparse tables")
    one = fitted(name, sp.csr_array(X), y, weights)
    assert_same_map(one, fitted(name, X, y, weights), X)


@pytest.mark.parametrize("name", WEIGHTED)
def test_tables_in_tiles_have_the_same_weights(name):
    da = pytest.importorskip("dask.array")
    X, y, weights = table_for(name, (60, 6), seed=5)
    weights[20:30] = 0  # all of a tile
    tiles = da.from_array(X, chunks=(10, 6))
    one, other = fitted(name, X, y, weights), fitted(name, tiles, y, weights)
    signs = np.sign(np.sum(one.transform(X) * other.transform(X), axis=0))
    np.testing.assert_allclose(one.transform(X), signs * other.transform(X), atol=1e-10)
    lazy = fitted(name, tiles, y, da.from_array(weights, chunks=17))
    np.testing.assert_array_equal(lazy.transform(X), other.transform(X))
    shares = fitted(name, tiles, y, weights / weights.sum())
    assert "they are counted as" in shares.certificate_.about


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1.0, -1.0, 1.0, 1.0], "-1.0 in row 1"),
        ([1.0, np.nan, 1.0, 1.0], "nan in row 1"),
        ([1.0, np.inf, 1.0, 1.0], "inf in row 1"),
        ([0.0, 0.0, 0.0, 0.0], "zero for every row"),
        ([1.0, 1.0], "2 numbers for 4 rows"),
        (np.ones((4, 2)), r"the shape \(4, 2\) for 4 rows"),
        (["a", "b", "c", "d"], "must hold numbers"),
        ([1e300, 1.0, 1.0, 1.0], "divide the weights by a constant"),
        (np.ma.masked_array([1.0, 2.0, 3.0, 4.0], [0, 1, 0, 0]), "masked"),
    ],
)
def test_weights_that_are_no_weights_are_refused(weights, words):
    X = np.arange(12.0).reshape(4, 3) ** 2
    model = PCA(2)
    with pytest.raises(InvalidInput, match=f"sample_weight.*{words}"):
        model.fit(X, sample_weight=weights)
    assert not hasattr(model, "components_")


def test_a_mixed_table_has_weighted_shares():
    """Inertias of multiple correspondence analysis with masses w/Σw, against repeated rows."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(6)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue"], 40),
            "size": rng.choice(["s", "m", "l", "xl"], 40),
            "age": rng.normal(50, 9, 40),
        }
    )
    weights = rng.integers(1, 6, 40)
    for columns in (["colour", "size"], ["colour", "size", "age"]):
        one = FAMD(3).fit(frame[columns], sample_weight=weights / 7)
        other = FAMD(3).fit(frame[columns].loc[frame.index.repeat(weights)])
        np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-12)
        np.testing.assert_allclose(one.mean_, other.mean_, rtol=1e-12)
        A, B = one.transform(frame[columns]), other.transform(frame[columns])
        np.testing.assert_allclose(A, B, atol=1e-10)


def test_distances_have_weights_too():
    """Against the dense problem in SciPy: √w(I − 1mᵀ)(−½Δ)(I − m1ᵀ)√w, and points over √w."""
    X, _, weights = table((30, 5), seed=7)
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    model = ClassicalMDS(metric="precomputed").fit(D, sample_weight=weights)
    m = weights / weights.sum()
    J = np.eye(30) - np.outer(np.ones(30), m)
    K = -0.5 * J @ D**2 @ J.T
    values, vectors = scipy.linalg.eigh(np.sqrt(np.outer(weights, weights)) * K)
    np.testing.assert_allclose(model.eigenvalues_, values[:-3:-1], rtol=1e-12)
    # Every row, those of weight 0 too: y = KWYΛ⁻¹.
    points = K @ (np.sqrt(weights)[:, None] * vectors[:, :-3:-1]) / np.sqrt(values[:-3:-1])
    signs = np.sign(np.sum(points * model.embedding_, axis=0))
    np.testing.assert_allclose(model.embedding_, points * signs, atol=1e-10 * np.abs(points).max())
    np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-9)
    repeated = np.repeat(np.arange(30), weights)
    other = ClassicalMDS(metric="precomputed").fit(D[np.ix_(repeated, repeated)])
    np.testing.assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=1e-11)


@pytest.mark.parametrize("shrinkage", [None, 0.3, "auto"])
def test_the_discriminant_of_weighted_rows_is_that_of_repeated_ones(shrinkage):
    X, y, weights = table((60, 6), seed=8)
    one = FisherDiscriminant(shrinkage=shrinkage).fit(X, y, sample_weight=weights)
    other = FisherDiscriminant(shrinkage=shrinkage).fit(
        X.repeat(weights, axis=0), y.repeat(weights)
    )
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(one.transform(X), other.transform(X), atol=1e-10)


def test_a_class_of_one_row_needs_the_weight_2():
    X, y, _ = table((41, 4), seed=9)
    y = np.where(np.arange(41) == 0, 4, y)
    weights = np.where(np.arange(41) == 0, 2.0, 1.0)
    assert len(FisherDiscriminant().fit(X, y, sample_weight=weights).classes_) == 5
    with pytest.raises(InvalidInput, match="class 4"):
        FisherDiscriminant().fit(X, y, sample_weight=np.ones(41))
    gone = FisherDiscriminant().fit(X, y, sample_weight=np.where(y == 4, 0.0, 1.0))
    assert list(gone.classes_) == [0, 1, 2, 3]


@pytest.mark.parametrize("standardize", [False, True])
def test_batches_with_weights_are_one_table(standardize):
    X, _, weights = table((60, 6), seed=10)
    whole = PCA(3, standardize=standardize).fit(X, sample_weight=weights)
    parts = PCA(3, standardize=standardize)
    for rows in np.array_split(np.arange(60), 4):
        parts.partial_fit(X[rows], sample_weight=weights[rows])
    np.testing.assert_allclose(parts.transform(X), whole.transform(X), atol=1e-10)
    np.testing.assert_allclose(parts.explained_variance_, whole.explained_variance_, rtol=1e-12)
    assert parts.n_samples_ == whole.n_samples_ == weights.sum()
    whole.partial_fit(X)  # rows without weights count once
    other = PCA(3, standardize=standardize).fit(X, sample_weight=weights + 1)
    np.testing.assert_allclose(whole.explained_variance_, other.explained_variance_, rtol=1e-11)
    with pytest.raises(InvalidInput, match="variances need at least 2"):
        PCA(1).partial_fit(X, sample_weight=np.full(60, 1e-3))


@pytest.mark.parametrize("shape", [(4_000, 3), (60, 90)])
def test_the_stated_rounding_holds_far_from_0(shape):
    """What `about` bounds: A as computed against A in exact fractions of the same doubles."""
    from fractions import Fraction

    from dualfold.weights import point_gram, scatter
    from tests.weights.door import RowWeights, point_gram_error, scatter_error

    rng = np.random.default_rng(11)
    X, w = rng.standard_normal(shape) * 1e-3 + 1e4, rng.uniform(0.1, 3, shape[0]) ** 3
    weights = RowWeights(w)
    # Two columns or rows are enough to see an error in their products.
    total, mean = scatter(X[:, :2], weights=weights)
    bound = scatter_error(X[:, :2], total, mean, weights=weights)
    exact_w = [Fraction(x) for x in w]
    columns = [[Fraction(x) for x in X[:, j]] for j in range(2)]
    means = [sum(a * b for a, b in zip(exact_w, c, strict=True)) / sum(exact_w) for c in columns]
    for i, j in ((0, 0), (0, 1), (1, 1)):
        exact = sum(
            a * (x - means[i]) * (y - means[j])
            for a, x, y in zip(exact_w, columns[i], columns[j], strict=True)
        )
        assert abs(float(exact - Fraction(total[i, j]))) <= bound
    assert bound < 1e-3 * np.trace(total)
    if shape[0] < shape[1]:
        gram = point_gram(X[:, :2], mean, weights=weights)
        bound = point_gram_error(X[:, :2], gram, mean, weights=weights)
        first = sum((columns[j][0] - means[j]) ** 2 for j in range(2)) * exact_w[0]
        assert abs(float(first - Fraction(gram[0, 0]))) <= bound


@pytest.mark.parametrize("matrix", ["covariance", "gram", "products"])
def test_a_light_row_is_placed_as_exactly_as_a_heavy_one(matrix):
    from dualfold import embed
    from dualfold.methods import pca

    X, _, _ = table((40, 8), seed=12)
    weights = np.logspace(0, -25, 40)
    answer = embed(pca(X, n_components=2, matrix=matrix, sample_weight=weights))
    mean = weights @ X / weights.sum()
    values, vectors = scipy.linalg.eigh(((X - mean).T * weights) @ (X - mean) / weights.sum())
    points = (X - mean) @ vectors[:, :-3:-1]
    signs = np.sign(np.sum(points * answer.points, axis=0))
    np.testing.assert_allclose(answer.points, points * signs, atol=1e-9 * np.abs(points).max())
    np.testing.assert_allclose(answer.values, values[:-3:-1], rtol=1e-10)


def test_weights_are_routed_through_pipelines():
    import sklearn
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, _, weights = table((50, 5), seed=13)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        model = PCA(2).set_fit_request(sample_weight=True)
        one = make_pipeline(scaler, model).fit(X, sample_weight=weights)
    other = PCA(2, standardize=True).fit(X, sample_weight=weights)
    np.testing.assert_allclose(one.transform(X), other.transform(X), atol=1e-10)
    plain = make_pipeline(PCA(2)).fit(X, pca__sample_weight=weights)
    again = PCA(2).fit(X, sample_weight=weights)
    np.testing.assert_array_equal(plain.transform(X), again.transform(X))


def test_what_depends_on_n_counts_weights_as_rows():
    X, _, weights = table((60, 6), seed=14)
    one = PCA("mle").fit(X, sample_weight=weights)
    other = PCA("mle").fit(X.repeat(weights, axis=0))
    assert one.n_components_ == other.n_components_
    white = PCA(2, whiten=True).fit(X, sample_weight=weights)
    repeated = PCA(2, whiten=True).fit(X.repeat(weights, axis=0))
    np.testing.assert_allclose(white.transform(X), repeated.transform(X), atol=1e-10)
    np.testing.assert_allclose(one.get_covariance(), other.get_covariance(), rtol=1e-10)


@pytest.mark.parametrize("weight", [1.0, 0.3])
def test_one_row_that_counts_once_is_no_table(weight):
    X = np.random.default_rng(0).normal(size=(5, 3))
    weights = np.where(np.arange(5) == 2, weight, 0.0)
    for model in (PCA(1), FAMD(1), ClassicalMDS(1)):
        with pytest.raises(InvalidInput, match="sample_weight is above 0 for one row"):
            model.fit(X, sample_weight=weights)
    assert PCA(1).fit(X, sample_weight=5 * (weights > 0)).explained_variance_ == [0]

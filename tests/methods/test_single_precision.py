"""Tables of float32, dense and sparse, far from 0: the answers are those of the numbers given."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import dualfold
from dualfold import PCA, TSNE, Isomap, LocallyLinearEmbedding, embed, methods
from dualfold.graph import nearest
from dualfold.quality import column_correlations

LINEAR = ("ClassicalMDS", "LocalityPreservingProjection", "NeighborhoodPreservingProjection",
          "OrthogonalLPP", "OrthogonalNPP", "PCA", "PointPCA")  # fmt: skip


def claimed_share(certificate):
    """How far eigenvalues may be from the data's, of the largest, as the certificate says."""
    about = certificate.about or ""
    assert "nothing about the data" not in about
    return float(about.split(" to ")[1].split()[0]) if " to " in about else 1e-9


def exact_values(X, count):
    """Of the covariance (divisor n), rows centred in long doubles."""
    wide = X.astype(np.longdouble)
    centred = wide - wide.mean(axis=0)
    return np.linalg.eigvalsh((centred.T @ centred / len(X)).astype(float))[::-1][:count]


@pytest.mark.parametrize("seed", [4, 5])
def test_pca_of_sparse_float32_is_as_right_as_it_says(seed):
    rng = np.random.default_rng(seed)
    counts = np.log1p(rng.poisson(rng.gamma(0.5, 2, 12), (8_000, 12)))
    for table in (counts, 300 + rng.normal(size=(900, 4)), 1e4 + rng.normal(size=(40, 90))):
        X = table.astype(np.float32)
        true = exact_values(X, 3)
        for matrix in ("covariance", "gram", "products") if len(X) < 1000 else ("covariance",):
            found = embed(methods.pca(sp.csr_array(X), n_components=3, matrix=matrix))
            off = np.abs(found.values - true).max() / true[0]
            assert off <= claimed_share(found.certificate) <= 1e-5, (X.shape, matrix)
        model = PCA(3).fit(sp.csr_array(X))
        assert model.eigenvalues_ == pytest.approx(true, abs=1e-6 * true[0])
        assert model.mean_ == pytest.approx(X.astype(float).mean(axis=0), rel=1e-12)


@pytest.mark.parametrize("name", LINEAR)
def test_sparse_rows_without_zeros_have_the_map_of_dense_ones(name):
    rng = np.random.default_rng(6)
    drawn = rng.normal(size=(60, 3)) * [3, 2, 1] @ rng.normal(size=(3, 5))
    X = (drawn + 0.3 * rng.normal(size=(60, 5)) + 1e5).astype(np.float32)
    dense, sparse = (
        getattr(dualfold, name)(n_components=2).fit(table)
        for table in (X.astype(float), sp.csr_array(X))
    )
    # PointPCA descends to a tolerance; the others are exact.
    room = 1e-4 if name == "PointPCA" else 1e-9
    assert sparse.eigenvalues_ == pytest.approx(dense.eigenvalues_, rel=room)
    points = dense.transform(X.astype(float))
    for found in (sparse.transform(sp.csr_array(X)), sparse.transform(X)):
        assert np.abs(np.abs(found) - np.abs(points)).max() < max(room, 1e-6) * np.abs(points).max()


@pytest.mark.parametrize(("offset", "kind"), [(300, "f4"), (1e4, "f4"), (1e7, "f8")])
def test_correlations_of_sparse_columns_are_those_of_dense_ones(offset, kind):
    rng = np.random.default_rng(8)
    X = (offset + rng.normal(size=(900, 3))).astype(kind)
    X[:, 2] = offset
    Y = X[:, :2].astype(float) - offset + rng.normal(size=(900, 2))
    true = np.corrcoef(X[:, :2].astype(float).T, Y.T)[:2, 2:]
    for table in (X, sp.csr_array(X), sp.csc_array(X)):
        found = column_correlations(table, Y)
        assert found[:2] == pytest.approx(true, abs=1e-7)
        assert not found[2].any()


@pytest.mark.parametrize("count", [0.95, 0.999, "auto", None])
@pytest.mark.parametrize("kind", ["f4", "u1"])
def test_a_full_decomposition_passes_its_certificate(count, kind, set_limits):
    # As for tables that are large enough to be multiplied in float32.
    set_limits("weights.covariance", MAX_FLOAT64_FLOPS=0)
    set_limits("weights.gram", MAX_FLOAT64_FLOPS=0)
    rng = np.random.default_rng(9)
    latent = rng.normal(size=(10, 4)).repeat(6, axis=0) + 0.3 * rng.normal(size=(60, 4))
    X = latent @ rng.normal(size=(4, 150)) + 0.5 * rng.normal(size=(60, 150))
    X = ((10 * X).clip(-100, 100) + 110).astype(kind)
    for table in (np.asfortranarray(X), X[:, :30], X[:, ::-1]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = PCA(count, svd_solver="full").fit(table)
        assert model.certificate_.level == "proved"


def test_directions_of_small_variance_are_found_in_wide_float32():
    rng = np.random.default_rng(2)
    Q = np.linalg.qr(rng.normal(size=(200, 4)))[0].T
    X = (rng.normal(size=(40, 4)) * [1e3, 1, 0.3, 0.1] @ Q).astype(np.float32)
    wide = X.astype(float) - X.astype(float).mean(axis=0)
    true = np.linalg.svd(wide)[2][:4]
    found = PCA(4, svd_solver="arpack").fit(X).components_
    assert np.abs(np.abs(found @ true.T) - np.eye(4)).max() < 1e-3


def test_points_in_float32_come_back_to_their_rows():
    t = np.linspace(0, 3, 80)
    X = np.column_stack([np.cos(t), np.sin(t), t]).astype(np.float32)
    model = LocallyLinearEmbedding(n_components=1, n_neighbors=6).fit(X)
    assert np.abs(model.inverse_transform(model.embedding_.astype(np.float32)) - X).max() < 1e-6


@pytest.mark.parametrize("number", [np.longdouble(1) + np.finfo(np.longdouble).eps, 2**60 + 1])
def test_numbers_that_float64_would_round_are_refused(number):
    X = np.arange(12.0).reshape(6, 2).astype(object if isinstance(number, int) else np.longdouble)
    PCA(1).fit(X)
    if np.finfo(np.longdouble).eps == np.finfo(float).eps and not isinstance(number, int):
        pytest.skip("long doubles are doubles here")
    X[2, 1] = number
    for call in (PCA(1).fit, PCA(1).partial_fit, methods.pca):
        with pytest.raises(dualfold.errors.InvalidInput):
            call(X)


def test_distances_by_a_metric_of_float32_rows_are_those_of_float64():
    rng = np.random.default_rng(3)
    X = (1e3 + rng.normal(size=(70, 5))).astype(np.float32)
    for settings in ({"metric": "cosine"}, {"metric": "minkowski", "metric_params": {"p": 3}}):
        models = [TSNE(perplexity=5, init="random", **settings) for _ in range(2)]
        single, double = (
            model.judged_points(table, X[:, :2]).kl
            for model, table in zip(models, (X, X.astype(float)), strict=True)
        )
        assert single == pytest.approx(double, rel=1e-12)
    lists = [nearest(table, 6, metric="cosine").distances for table in (X, X.astype(float))]
    assert np.array_equal(*lists)
    whole = [Isomap(n_neighbors=None, radius=np.inf, metric="cosine").fit(table).eigenvalues_
             for table in (X, X.astype(float))]  # fmt: skip
    assert whole[0] == pytest.approx(whole[1], rel=1e-12)


@pytest.mark.parametrize("unit", [2.0**-45, 2.0**-300, 2.0**60])
def test_numbers_of_components_and_white_coordinates_have_no_unit(unit):
    rng = np.random.default_rng(10)
    X = rng.normal(size=(80, 3)) @ rng.normal(size=(3, 6)) + 0.1 * rng.normal(size=(80, 6))
    tables = [X] if unit < 2.0**-60 else [X, X.astype(np.float32)]
    for table in tables:
        plain, other = (
            PCA("mle", whiten=True).fit(table * table.dtype.type(factor)) for factor in (1, unit)
        )
        assert other.n_components_ == plain.n_components_ == 3
        white = other.transform(table * table.dtype.type(unit))
        assert white.std(axis=0, ddof=1) == pytest.approx(np.ones(3), rel=1e-5)
        back = other.inverse_transform(white)
        assert back.dtype == table.dtype
        np.testing.assert_allclose(
            back / unit, plain.inverse_transform(plain.transform(table)), atol=1e-5
        )

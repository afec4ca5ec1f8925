"""The linear methods as estimators: against scikit-learn, identities and brute force."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
import sklearn.decomposition
import sklearn.manifold
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import dualfold
from dualfold.errors import DisconnectedGraph, InvalidInput, PiecesJoined
from tests.methods.door import Moments, negative_mass

Array = np.ndarray[Any, Any]
IRIS = load_iris().data
DIGITS = load_digits().data
PROJECTIONS = (
    dualfold.LocalityPreservingProjection,
    dualfold.OrthogonalLPP,
    dualfold.NeighborhoodPreservingProjection,
    dualfold.OrthogonalNPP,
)
LINEAR = (dualfold.PCA, dualfold.ClassicalMDS, dualfold.RandomProjection, *PROJECTIONS)


def assert_same_space(ours: Array, theirs: Array, angle: float = 1e-8) -> None:
    """Rows span the same space and, one by one, have the same direction."""
    assert ours.shape == theirs.shape
    assert scipy.linalg.subspace_angles(ours.T, theirs.T).max() < angle
    lengths = np.linalg.norm(ours, axis=1) * np.linalg.norm(theirs, axis=1)
    cosines = np.einsum("ij,ij->i", ours, theirs) / lengths
    np.testing.assert_allclose(cosines, 1, atol=1e-10)  # signs too: the same convention


def random_table(n: int, width: int, seed: int = 0) -> Array:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, width)) * np.geomspace(1, 0.1, width) + rng.standard_normal(
        width
    )


# --- PCA ----------------------------------------------------------------------------


@pytest.mark.parametrize("solver", ["auto", "full", "covariance_eigh", "arpack", "randomized"])
@pytest.mark.parametrize("shape", [(300, 40), (40, 300), (1200, 30)])
def test_pca_is_scikit_learns(solver: str, shape: tuple[int, int]) -> None:
    X = random_table(*shape)
    ours = dualfold.PCA(5, svd_solver=solver).fit(X)
    theirs = sklearn.decomposition.PCA(5, svd_solver="full").fit(X)
    assert_same_space(ours.components_, theirs.components_)
    for name in ("explained_variance_", "explained_variance_ratio_", "singular_values_", "mean_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-10)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_, rel=1e-9)
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X), atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
    assert ours.certificate_.level == "proved"
    assert ours.certificate_.value == pytest.approx(ours.eigenvalues_.sum())


@pytest.mark.parametrize(
    ("wanted", "reason"),
    [(7, None), (0.5, "50.0%"), ("mle", "Minka"), (None, None), ("auto", "90.0%"), (0, None)],
)
def test_pca_number_of_components(wanted: Any, reason: str | None) -> None:
    theirs = sklearn.decomposition.PCA(0.9 if wanted == "auto" else wanted).fit(DIGITS)
    ours = dualfold.PCA(wanted).fit(DIGITS)
    assert ours.n_components_ == theirs.n_components_ == len(ours.components_)
    assert ours.noise_variance_ == pytest.approx(theirs.noise_variance_)
    if reason is None:
        assert ours.n_components_reason_ is None
    else:
        assert reason in ours.n_components_reason_
    assert (ours.certificate_ is None) == (wanted == 0)


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("sparse", [False, True])
def test_batches_are_the_whole(standardize: bool, sparse: bool) -> None:
    X = random_table(500, 20)
    X = X * (np.abs(X) > 0.5)
    rows = sp.csr_array(X) if sparse else X
    batched = dualfold.PCA(4, standardize=standardize)
    for part in (slice(0, 7), slice(7, 8), slice(8, 300), slice(300, 500)):
        batched.partial_fit(rows[part])
        assert batched.certificate_.level == "proved"
    whole = dualfold.PCA(4, standardize=standardize).fit(X)
    assert batched.n_samples_ == 500
    assert_same_space(batched.components_, whole.components_)
    np.testing.assert_allclose(batched.explained_variance_, whole.explained_variance_, rtol=1e-11)
    np.testing.assert_allclose(batched.transform(X), whole.transform(X), atol=1e-10)
    # fit, then one more batch: the same again
    begun = dualfold.PCA(4, standardize=standardize).fit(rows[:300]).partial_fit(rows[300:])
    np.testing.assert_allclose(begun.explained_variance_, whole.explained_variance_, rtol=1e-11)


def test_moments_merge_far_from_zero() -> None:
    X = random_table(200, 5) + 1e6
    merged = Moments.of(X[:50]) + Moments.of(X[50:])
    np.testing.assert_allclose(merged.scatter / 199, np.cov(X.T), rtol=1e-8)
    np.testing.assert_allclose(merged.mean, X.mean(axis=0), rtol=1e-14)


def test_nothing_to_add_to_is_said() -> None:
    wide = dualfold.PCA(2).fit(random_table(10, 30))
    with pytest.raises(InvalidInput, match="nothing to add to"):
        wide.partial_fit(random_table(10, 30))


def test_whitening_and_standardising() -> None:
    X = IRIS * [1, 10, 100, 0.01]
    for whiten in (False, True):
        ours = dualfold.PCA(whiten=whiten, standardize=True)
        pipeline = make_pipeline(StandardScaler(), sklearn.decomposition.PCA(whiten=whiten))
        Z = ours.fit_transform(X)
        np.testing.assert_allclose(Z, pipeline.fit_transform(X), atol=1e-9)
        np.testing.assert_allclose(ours.inverse_transform(Z), X, rtol=1e-10)
        if whiten:
            np.testing.assert_allclose(np.cov(Z.T), np.eye(4), atol=1e-10)
        np.testing.assert_allclose(ours.get_covariance(), np.cov(X.T), rtol=1e-8)
    flat = np.hstack([IRIS, np.full((150, 1), 3.0)])
    constant = dualfold.PCA(4, standardize=True).fit(flat)
    np.testing.assert_allclose(
        constant.inverse_transform(constant.transform(flat)), flat, atol=1e-9
    )


@pytest.mark.parametrize("k", [1, 2, 4])
def test_precision_and_likelihood(k: int) -> None:
    ours = dualfold.PCA(k, standardize=True).fit(IRIS)
    C = ours.get_covariance()
    np.testing.assert_allclose(ours.get_precision() @ C, np.eye(4), atol=1e-9)
    by_formula = [
        -0.5 * (r @ np.linalg.solve(C, r) + np.linalg.slogdet(2 * np.pi * C)[1])
        for r in IRIS - IRIS.mean(axis=0)
    ]
    np.testing.assert_allclose(ours.score_samples(IRIS), by_formula, rtol=1e-9)


def test_directions_without_extent_are_orthonormal_too() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 3)) @ rng.standard_normal((3, 600))  # Gram road, rank 3
    ours = dualfold.PCA().fit(X)
    C = ours.components_
    assert C.shape == (12, 600)
    np.testing.assert_allclose(C @ C.T, np.eye(12), atol=1e-8)
    np.testing.assert_allclose(ours.inverse_transform(ours.transform(X)), X, atol=1e-8)
    equal = dualfold.PCA(2).fit(np.ones((5, 3)))
    assert equal.explained_variance_ratio_.tolist() == [0, 0]


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("standardize", [False, True])
def test_pca_of_data_too_large_for_a_matrix(
    sparse: bool, standardize: bool, set_limits: Any
) -> None:
    # Five axes that stand out: among 120 of one size no random search could tell the first.
    X = random_table(300, 5) @ random_table(5, 120) + 0.3 * random_table(300, 120)
    X = X * (X > 0.3)
    whole = dualfold.PCA(4, standardize=standardize).fit(X)
    set_limits("methods._pca", MAX_DENSE_ROWS=50, MOST_SPARSE_ROWS=50)
    set_limits("trace.proof.routes", MAX_FILLED_ROWS=50)  # as if it were large
    rows = sp.csr_array(X) if sparse else X
    products = dualfold.PCA(4, standardize=standardize, svd_solver="arpack").fit(rows)
    assert products.certificate_.level == "measured"
    assert_same_space(products.components_, whole.components_)
    np.testing.assert_allclose(products.explained_variance_, whole.explained_variance_, rtol=1e-9)
    assert products.noise_variance_ == pytest.approx(whole.noise_variance_, rel=1e-9)
    if sparse:
        with pytest.raises(InvalidInput, match="give a number of components"):
            dualfold.PCA(0.5, standardize=standardize).fit(rows)


def test_memory_map_is_read_in_place(tmp_path: Path) -> None:
    X = random_table(400, 12).astype(np.float32)
    stored = np.memmap(tmp_path / "X.bin", dtype=np.float32, mode="w+", shape=X.shape)
    stored[:] = X
    stored.flush()
    mapped = np.memmap(tmp_path / "X.bin", dtype=np.float32, mode="r", shape=X.shape)
    ours, plain = dualfold.PCA(3).fit(mapped), dualfold.PCA(3).fit(X)
    np.testing.assert_array_equal(ours.components_, plain.components_)
    np.testing.assert_array_equal(ours.transform(mapped), plain.transform(X))


# --- classical scaling --------------------------------------------------------------


@pytest.mark.skipif(
    not hasattr(sklearn.manifold, "ClassicalMDS"), reason="scikit-learn has it from 1.8 on"
)
def test_mds_is_scikit_learns() -> None:
    theirs = sklearn.manifold.ClassicalMDS(3).fit(IRIS)
    distances = pairwise_distances(IRIS)
    for ours in (
        dualfold.ClassicalMDS(3).fit(IRIS),
        dualfold.ClassicalMDS(3, metric="minkowski", metric_params={"p": 2}).fit(IRIS),
        dualfold.ClassicalMDS(3, metric="precomputed").fit(distances),
    ):
        np.testing.assert_allclose(ours.embedding_, theirs.embedding_, atol=1e-9)
        np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(ours.dissimilarity_matrix_, distances, atol=1e-9)
        assert ours.certificate_.level == "proved"
        assert ours.negative_mass_ == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "precomputed"])
def test_mds_places_new_points(metric: str) -> None:
    X, new = DIGITS[:200], DIGITS[200:210]
    given = (
        pairwise_distances(X, metric="cityblock"),
        pairwise_distances(new, X, metric="cityblock"),
    )
    fitted, placed = given if metric == "precomputed" else (X, new)
    ours = dualfold.ClassicalMDS(4, metric=metric).fit(fitted)
    np.testing.assert_allclose(ours.transform(fitted), ours.embedding_, atol=1e-8)
    points = ours.transform(placed)
    # Gower's formula, point by point
    squares = np.square(ours.dissimilarity_matrix_)
    others = given[1] if metric != "euclidean" else pairwise_distances(new, X)
    for row, point in zip(others, points, strict=True):
        pull = ours.embedding_.T @ (squares.mean(axis=0) - row**2) / 2
        np.testing.assert_allclose(point, pull / ours.eigenvalues_, atol=1e-7)


def test_mds_negative_mass() -> None:
    D = pairwise_distances(DIGITS[:120], metric="cityblock")
    H = np.eye(120) - 1 / 120
    values = np.linalg.eigvalsh(-0.5 * H @ D**2 @ H)
    ours = dualfold.ClassicalMDS(2, metric="precomputed").fit(D)
    share = -values[values < 0].sum() / np.abs(values).sum()
    assert share > 0.01
    assert ours.negative_mass_ == pytest.approx(share, rel=1e-9)
    assert "all eigenvalues" in ours.negative_mass_note_


def test_negative_mass_of_a_large_matrix_is_bounded_below(set_limits: Any) -> None:
    set_limits("methods._mds", MAX_SPECTRUM_ROWS=3)
    K = np.diag([5.0, 4, 0, -3])
    unknown = negative_mass(K, np.array([5.0, 4]))
    assert np.isnan(unknown.share)
    assert "at least 0.25" in unknown.note  # 3/(9 + 3): all positive ones were given
    assert "at least 0" in negative_mass(K, np.array([5.0])).note
    assert negative_mass(np.diag([5.0, 4, 0, 0]), np.array([5.0, 4])).share == 0


def test_mds_of_features_forms_nothing_square() -> None:
    X = random_table(3000, 4)
    tracemalloc.start()
    ours = dualfold.ClassicalMDS(2).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * 3000  # bytes: an eighth of the matrix of distances
    assert ours.dissimilarity_matrix_.shape == (3000, 3000)


def test_mds_edges() -> None:
    line = np.arange(10.0)[:, None]
    ours = dualfold.ClassicalMDS(3).fit(line)  # rank 1: the rest is 0
    assert ours.embedding_.shape == ours.transform(line).shape == (10, 3)
    assert not ours.embedding_[:, 1:].any()
    np.testing.assert_allclose(ours.inverse_transform(ours.embedding_), line, atol=1e-12)
    flat = random_table(80, 2) @ np.linalg.qr(random_table(9, 2))[0].T
    auto = dualfold.ClassicalMDS("auto").fit(flat)
    assert auto.n_components_ == 2
    assert "widest eigengap" in auto.n_components_reason_
    np.testing.assert_allclose(pairwise_distances(auto.embedding_), pairwise_distances(flat))


# --- random projections -------------------------------------------------------------


@pytest.mark.parametrize("kind", ["gaussian", "orthogonal", "sparse"])
def test_random_projection(kind: str) -> None:
    X = random_table(60, 400)
    ours = dualfold.RandomProjection(50, kind=kind, random_state=3)
    Z = ours.fit_transform(X)
    C = ours.components_.toarray() if kind == "sparse" else ours.components_
    np.testing.assert_allclose(Z, X @ C.T, atol=1e-10)
    np.testing.assert_allclose(ours.transform(ours.inverse_transform(Z)), Z, atol=1e-8)
    ratios = pairwise_distances(Z)[np.triu_indices(60, 1)] ** 2
    ratios = ratios / pairwise_distances(X)[np.triu_indices(60, 1)] ** 2
    assert ours.certificate_.level == "measured"
    assert ours.certificate_.mean == pytest.approx(ratios.mean())
    assert ours.certificate_.share == pytest.approx(np.mean(np.abs(ratios - 1) <= 0.1))
    again = dualfold.RandomProjection(50, kind=kind, random_state=3).fit_transform(X)
    np.testing.assert_array_equal(Z, again)


def test_random_projection_chooses_its_size() -> None:
    X = sp.random_array((50, 9000), density=0.01, rng=np.random.default_rng(0), format="csr")
    ours = dualfold.RandomProjection("auto", eps=0.5, kind="sparse", random_state=0).fit(X)
    assert ours.n_components_ == int(np.ceil(4 * np.log(50) / (0.125 - 0.125 / 3)))
    assert ours.certificate_.share == 1
    with pytest.raises(InvalidInput, match="give n_components"):
        dualfold.RandomProjection("auto").fit(IRIS)


# --- LPP, OLPP, NPP, ONPP -----------------------------------------------------------


@pytest.mark.parametrize("kind", PROJECTIONS)
def test_projection_is_its_problems_answer(kind: Any) -> None:
    X = DIGITS[:300]
    ours = kind(3, n_neighbors=12).fit(X)
    method = {
        "LocalityPreservingProjection": dualfold.methods.lpp,
        "OrthogonalLPP": dualfold.methods.orthogonal_lpp,
        "NeighborhoodPreservingProjection": dualfold.methods.npp,
        "OrthogonalNPP": dualfold.methods.orthogonal_npp,
    }[kind.__name__]
    orthogonal = kind.__name__.startswith("Orthogonal")
    problem = method(ours.graph_, n_components=3, variance_kept=0.5 if orthogonal else 0.99)
    B = None if orthogonal else problem.B.matrix
    values = scipy.linalg.eigh(problem.A, B, eigvals_only=True)
    np.testing.assert_allclose(ours.eigenvalues_, values[:3], rtol=1e-7)
    assert ours.certificate_.level == "proved"
    assert ours.n_connected_components_ == 1
    np.testing.assert_allclose(ours.transform(X), ours.embedding_, atol=1e-9)
    np.testing.assert_allclose((X - ours.mean_) @ ours.components_.T, ours.embedding_, atol=1e-9)
    back = ours.transform(ours.inverse_transform(ours.embedding_))
    np.testing.assert_allclose(back, ours.embedding_, atol=1e-8)
    if B is None:
        np.testing.assert_allclose(ours.components_ @ ours.components_.T, np.eye(3), atol=1e-9)


def test_projection_of_two_islands() -> None:
    X = np.vstack([random_table(40, 5), random_table(40, 5, seed=1) + 50])
    with pytest.warns(PiecesJoined, match="2 pieces"):
        ours = dualfold.OrthogonalLPP(n_neighbors=5, variance_kept=1.0).fit(X)
    assert ours.n_connected_components_ == 2
    assert ours.graph_.n_pieces == 1
    with pytest.raises(DisconnectedGraph, match="2 pieces"):
        dualfold.OrthogonalLPP(n_neighbors=5, pieces="raise").fit(X)


def test_projection_parameters() -> None:
    X = random_table(120, 6)
    by_radius = dualfold.OrthogonalLPP(n_neighbors=None, radius=3.0).fit(X)
    assert by_radius.graph_.radius == 3.0
    assert dualfold.OrthogonalNPP(neighborhood="variable").fit(X).graph_.kind == "variable"
    binary = dualfold.LocalityPreservingProjection(weights="binary").fit(X)
    heat = dualfold.LocalityPreservingProjection(width=1e6).fit(X)  # so wide that all weigh 1
    np.testing.assert_allclose(heat.embedding_, binary.embedding_, atol=1e-8)
    auto = dualfold.OrthogonalLPP("auto").fit(X)
    assert auto.n_components_ == len(auto.components_) == len(auto.eigenvalues_)
    assert "widest eigengap" in auto.n_components_reason_
    # A share of the variance never leaves fewer directions than were asked for.
    narrow = dualfold.OrthogonalLPP(n_components=6, variance_kept=0.5).fit(X)
    assert narrow.components_.shape == (6, 6)
    assert narrow.certificate_.level == "proved"


# --- all of them --------------------------------------------------------------------


def seeded(kind: Any) -> Any:
    return kind(random_state=0) if kind is dualfold.RandomProjection else kind()


@pytest.mark.parametrize("kind", LINEAR)
@pytest.mark.parametrize("shape", [(150, 20), (60, 90)])
def test_sparse_is_dense(kind: Any, shape: tuple[int, int]) -> None:
    X = random_table(*shape)
    X = X * (X > 0.2)
    ours, full = seeded(kind), seeded(kind)
    if kind is dualfold.PCA:
        ours, full = kind(8), kind(8)
    Z = full.fit_transform(X)
    scale = np.abs(Z).max()
    np.testing.assert_allclose(ours.fit_transform(sp.csr_array(X)), Z, atol=1e-8 * scale)
    np.testing.assert_allclose(
        ours.transform(sp.csr_array(X)), full.transform(X), atol=1e-8 * scale
    )


@pytest.mark.parametrize("kind", LINEAR)
def test_float32_stays(kind: Any) -> None:
    X = random_table(100, 8)
    X *= np.geomspace(3, 1, 8)
    wide, narrow = seeded(kind).fit(X), seeded(kind)
    Z = narrow.fit_transform(X.astype(np.float32))
    assert Z.dtype == narrow.transform(X.astype(np.float32)).dtype == np.float32
    assert narrow.inverse_transform(Z).dtype == np.float32
    expected = wide.transform(X)
    np.testing.assert_allclose(Z, expected, atol=2e-4 * np.abs(expected).max())
    if hasattr(narrow, "components_"):
        assert narrow.components_.dtype == np.float32

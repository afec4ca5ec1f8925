"""Kernel PCA: what it equals, kernels of all kinds, landmarks, products, and the way back."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn import decomposition
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError

from dualfold import PCA, ClassicalMDS, KernelPCA, embed
from dualfold.errors import ConditionFails, InvalidInput
from dualfold.methods import kernel_pca
from dualfold.trace.solvers import Dense

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) @ np.diag([3.0, 2.0, 1.0, 0.5, 0.2])
NEW = RNG.standard_normal((7, 5))


def inner(Y: np.ndarray) -> np.ndarray:
    """Inner products, which know neither signs nor axes."""
    return Y @ Y.T


@pytest.mark.parametrize("shift", [0.0, 1e6])
@pytest.mark.parametrize("n", [60, 700])
def test_the_linear_kernel_is_pca(n, shift):
    rows = RNG.standard_normal((n, 5)) @ np.diag([3.0, 2.0, 1.0, 0.5, 0.2]) + shift
    ours, pca = KernelPCA(3).fit(rows), PCA(3).fit(rows)
    assert ours.certificate_.level == "proved"
    # A mean of 1e6 leaves 1e-10 of each entry; twelve digits where there is none.
    digits = 1e-12 if not shift else 1e-8
    np.testing.assert_allclose(ours.eigenvalues_, pca.singular_values_**2, rtol=digits)
    for points, others in (
        (ours.embedding_, pca.transform(rows)),
        (ours.transform(NEW + shift), pca.transform(NEW + shift)),
    ):
        largest = np.abs(inner(others)).max()
        np.testing.assert_allclose(inner(points), inner(others), atol=10 * digits * largest)


def test_the_kernel_of_squared_distances_is_classical_scaling():
    distances = cdist(X, X)
    ours = KernelPCA(3, kernel="precomputed").fit(-0.5 * distances**2)
    scaled = ClassicalMDS(3, metric="precomputed").fit(distances)
    np.testing.assert_allclose(ours.eigenvalues_, scaled.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(inner(ours.embedding_), inner(scaled.embedding_), atol=1e-8)


def test_of_distances_that_no_points_have_it_is_the_positive_part_with_a_warning():
    distances = np.sqrt(cdist(X, X, "cityblock")) ** 3
    with pytest.warns(ConditionFails, match="not positive semidefinite"):
        ours = KernelPCA(2, kernel="precomputed").fit(-0.5 * distances**2)
    scaled = ClassicalMDS(2, metric="precomputed").fit(distances)
    assert scaled.negative_mass_ > 0
    np.testing.assert_allclose(ours.eigenvalues_, scaled.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(
        inner(ours.embedding_), inner(scaled.embedding_), atol=1e-9 * scaled.eigenvalues_[0]
    )
    with pytest.raises(InvalidInput, match="significant negative eigenvalues"):
        KernelPCA(kernel="precomputed").fit(-0.5 * distances**2)


@pytest.mark.parametrize("power", range(1, 13))
def test_a_wide_rbf_kernel_is_pca_but_for_gamma_and_rounding(power):
    """K = 1 − γΔ + R with |R_ij| ≤ γ²Δ_ij²/2, so λ/(2γ) is off by γ·n·max(Δ²)/4.

    An entry of K near 1 is rounded by some units, n of them a row, divided by 2γ.
    """
    gamma, n = 10.0**-power, len(X)
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[:3] ** 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # narrow eigengaps beside rounding
        answer = embed(kernel_pca(X, kernel="rbf", gamma=gamma, n_components=3), solver=Dense())
    off = np.abs(answer.values / (2 * gamma) - squares).max()
    most = np.square(cdist(X, X, "sqeuclidean")).max()
    assert off <= gamma * n * most / 4 + 16 * n * np.finfo(float).eps / gamma


@pytest.mark.filterwarnings("ignore::dualfold.errors.ConditionFails")  # of sigmoid
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid", "cosine", "linear"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_new_rows_lie_where_scikit_learn_puts_them(kernel, form):
    parameters = {"kernel": kernel, "gamma": 0.05, "degree": 2, "coef0": 0.5}
    ours = KernelPCA(3, **parameters).fit(form(X))
    theirs = decomposition.KernelPCA(3, eigen_solver="dense", **parameters).fit(form(X))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.embedding_, theirs.fit_transform(form(X)), atol=1e-7)
    np.testing.assert_allclose(ours.transform(form(NEW)), theirs.transform(form(NEW)), atol=1e-7)


def histogram(x: np.ndarray, y: np.ndarray, power: float = 1.0) -> float:
    """A kernel that is a function of two rows."""
    return float(np.minimum(np.abs(x), np.abs(y)).sum() ** power)


def test_functions_and_further_names_are_kernels():
    ours = KernelPCA(2, kernel=histogram, kernel_params={"power": 0.5}).fit(X)
    theirs = decomposition.KernelPCA(2, kernel=histogram, kernel_params={"power": 0.5}).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)
    assert "as its function returns it" in ours.certificate_.about
    named = KernelPCA(2, kernel="laplacian", gamma=0.3).fit(X)
    given = KernelPCA(2, kernel="precomputed").fit(np.exp(-0.3 * cdist(X, X, "cityblock")))
    np.testing.assert_allclose(named.eigenvalues_, given.eigenvalues_, rtol=1e-12)
    assert KernelPCA(2, kernel="chi2").fit(np.abs(X)).certificate_.level == "proved"


def test_a_kernel_of_small_rank_and_close_eigenvalues_is_solved_to_rounding():
    """An iteration to twelve digits may stop at rounding; LAPACK takes over then."""
    rows = load_diabetes().data
    ours = KernelPCA(5, kernel="cosine").fit(rows)
    theirs = decomposition.KernelPCA(5, kernel="cosine", eigen_solver="dense").fit(rows)
    assert ours.certificate_.level == "proved"
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-10)


def test_rows_far_from_the_origin_keep_their_digits():
    near = KernelPCA(3, kernel="rbf", gamma=0.05).fit(X)
    far = KernelPCA(3, kernel="rbf", gamma=0.05).fit(X + 2.0**20)
    np.testing.assert_allclose(far.eigenvalues_, near.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(far.transform(NEW + 2.0**20), near.transform(NEW), atol=1e-7)


def test_the_unit_of_gamma_follows_the_data():
    near, far = (KernelPCA(2, kernel="rbf", gamma="scale").fit(X * unit) for unit in (1.0, 64.0))
    np.testing.assert_allclose(far.embedding_, near.embedding_, atol=1e-12)
    assert near.gamma_ == pytest.approx(1 / X.var(axis=0).sum())


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_landmarks_determine_a_kernel_below_the_kernel_itself(kernel):
    parameters = {"kernel": kernel, "gamma": 0.02, "degree": 2}
    exact = KernelPCA(3, **parameters).fit(X)
    before = np.zeros(3)
    for count in (3, 10, 30):
        some = KernelPCA(3, landmarks=count, random_state=0, **parameters).fit(X)
        assert some.certificate_.level == "proved"
        assert f"{count} landmarks" in some.certificate_.about
        assert (some.eigenvalues_ <= exact.eigenvalues_ * (1 + 1e-9)).all()
        np.testing.assert_allclose(some.transform(X), some.embedding_, atol=1e-8)
        gained, before = some.eigenvalues_.sum() - before.sum(), some.eigenvalues_
    assert gained > -1e-9  # the last are not the first ones and 20 more, but far more
    np.testing.assert_allclose(some.eigenvalues_, exact.eigenvalues_, rtol=0.02)


def test_a_kernel_of_small_rank_is_determined_by_as_many_landmarks():
    exact, some = KernelPCA(5).fit(X), KernelPCA(5, landmarks=20, random_state=1).fit(X)
    np.testing.assert_allclose(some.eigenvalues_, exact.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(inner(some.embedding_), inner(exact.embedding_), atol=1e-8)


def test_products_in_tiles_are_those_of_the_matrix(set_limits):
    parameters = {"kernel": "rbf", "gamma": 0.05, "landmarks": None}
    exact = KernelPCA(3, **parameters).fit(X)
    set_limits("methods._kernel_pca", MAX_DENSE_ROWS=20)
    set_limits("weights.kernel_matrix", TILE_NUMBERS=500)
    tiled = KernelPCA(3, **parameters).fit(X)
    assert "in tiles" in tiled.certificate_.about
    np.testing.assert_allclose(tiled.eigenvalues_, exact.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(tiled.embedding_, exact.embedding_, atol=1e-9)
    np.testing.assert_allclose(tiled.transform(NEW), exact.transform(NEW), atol=1e-9)


def test_the_way_back_by_ridge_is_scikit_learns():
    parameters = {"kernel": "rbf", "gamma": 0.1, "alpha": 0.01, "fit_inverse_transform": True}
    ours = KernelPCA(5, **parameters).fit(X)
    theirs = decomposition.KernelPCA(5, **parameters).fit(X)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-6)
    np.testing.assert_allclose(
        ours.inverse_transform(ours.embedding_),
        theirs.inverse_transform(theirs.transform(X)),
        atol=1e-6,
    )


@pytest.mark.parametrize("landmarks", [None, 40])
def test_fixed_points_are_nearer_in_feature_space(landmarks):
    """The feature of a pre-image is as near to the point of the map as that of the ridge's is."""
    parameters = {"kernel": "rbf", "gamma": 0.1, "fit_inverse_transform": True, "alpha": 0.1}
    parameters |= {"landmarks": landmarks, "random_state": 0}
    ridge = KernelPCA(4, **parameters).fit(X)
    fixed = KernelPCA(4, inverse="fixed_point", **parameters).fit(X)
    points = ridge.transform(NEW)

    def missed(rows: np.ndarray) -> np.ndarray:
        """‖φ(z) − Σ w_i φ(x_i)‖² but for what z does not change."""
        kernel = np.exp(-0.1 * cdist(rows, fixed.X_fit_, "sqeuclidean"))
        rule = fixed.placing_map()
        centred = rule.linear.components.T
        weights = points @ (centred - centred.mean(axis=0)).T + 1 / len(kernel.T)
        if rule.features.whitening is not None:
            whitening = rule.features.whitening
            weights = (points @ rule.linear.components + rule.linear.mean) @ whitening.T
        return -(kernel * weights).sum(axis=1)

    by_ridge, by_fixed = (missed(model.inverse_transform(points)) for model in (ridge, fixed))
    assert (by_fixed <= by_ridge + 1e-12).all()
    assert (by_fixed < by_ridge - 1e-6).any()


def test_all_components_lead_back_to_the_rows():
    model = KernelPCA(kernel="rbf", gamma=0.5, fit_inverse_transform=True, inverse="fixed_point")
    points = model.fit_transform(X)
    np.testing.assert_allclose(model.inverse_transform(points), X, atol=1e-5)


WEIGHTS = np.random.default_rng(3).integers(0, 4, len(X))
REPEATED = np.repeat(np.arange(len(X)), WEIGHTS)


@pytest.mark.parametrize("landmarks", [None, "all that count"])
def test_weights_are_repeated_rows_for_landmarks_and_the_way_back(landmarks):
    """As many landmarks as the kernel has rank determine it, whichever rows they are."""
    parameters = {"kernel": "poly", "gamma": 0.01, "degree": 2, "random_state": 0}
    parameters["landmarks"] = None if landmarks is None else int((WEIGHTS > 0).sum()) - 1
    one = KernelPCA(3, **parameters).fit(X, sample_weight=WEIGHTS)
    other = KernelPCA(3, **parameters).fit(X[REPEATED])
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(
        inner(one.transform(NEW)), inner(other.transform(NEW)), atol=1e-7 * other.eigenvalues_[0]
    )
    assert one.embedding_.shape == (len(X), 3)


def test_fixed_points_of_weighted_rows_are_those_of_repeated_ones():
    parameters = {"kernel": "rbf", "gamma": 0.1, "fit_inverse_transform": True}
    one, other = (KernelPCA(4, inverse="fixed_point", **parameters) for _ in range(2))
    one.fit(X, sample_weight=WEIGHTS)
    other.fit(X[REPEATED])
    points = one.transform(NEW)
    found = one.inverse_transform(points)
    # The regressions that they begin from differ; where both climb to one hill, they meet.
    signs = np.sign((other.transform(NEW) * points).sum(axis=0))
    wanted = other.inverse_transform(points * signs)
    assert np.mean(np.abs(found - wanted).max(axis=1) < 1e-4) > 0.5


def test_a_given_kernel_has_weights_too():
    K, new = X @ X.T, NEW @ X.T
    one = KernelPCA(3, kernel="precomputed").fit(K, sample_weight=WEIGHTS)
    other = KernelPCA(3, kernel="precomputed").fit(K[np.ix_(REPEATED, REPEATED)])
    np.testing.assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-11)
    np.testing.assert_allclose(
        inner(one.transform(new)), inner(other.transform(new[:, REPEATED])), atol=1e-9
    )
    np.testing.assert_allclose(one.transform(K), one.embedding_, atol=1e-10)


def test_small_differences_beside_a_far_group_are_not_rounded_away():
    near = np.random.default_rng(0).random((20, 1))
    X = np.vstack([near, near + 1e17])  # in units of 1e-9
    K = np.exp(-np.abs(X - X.T))
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    model = KernelPCA(3, kernel="laplacian", gamma=1e9).fit(1e-9 * X)
    assert model.certificate_.level == "proved"
    assert not model.certificate_.about
    assert model.eigenvalues_ == pytest.approx(np.linalg.eigvalsh(centred)[:-4:-1], rel=1e-6)


def test_a_way_back_of_an_earlier_fit_is_forgotten():
    X = np.random.default_rng(0).normal(size=(20, 3))
    model = KernelPCA(2, kernel="rbf", fit_inverse_transform=True).fit(X)
    model.set_params(fit_inverse_transform=False).fit(X[:, :2])
    with pytest.raises(NotFittedError, match="was not learnt"):
        model.inverse_transform(model.embedding_)


def test_a_given_kernel_that_cannot_be_written_to_is_copied():
    K = np.random.default_rng(0).normal(size=(9, 3))
    K = K @ K.T
    K.flags.writeable = False
    fits = (KernelPCA(2, kernel="precomputed", copy_X=copied).fit(K) for copied in (True, False))
    assert np.array_equal(*(model.embedding_ for model in fits))

"""Classes of rows: what is accepted as y, Fisher's discriminant, and supervised projections."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine, make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import dualfold
from dualfold import FisherDiscriminant, OrthogonalLPP, methods
from dualfold.errors import InvalidInput, PiecesJoined, PointsCollapse
from dualfold.graph import knn
from dualfold.saved import load_model, model_of, rechecked_model, rechecked_points, save_model

IRIS, iris_y = load_iris(return_X_y=True)
WINE, wine_y = load_wine(return_X_y=True)
DIGITS, digits_y = load_digits(return_X_y=True)
# Fewer rows than features: the scatter within classes is singular.
WIDE, wide_y = make_blobs(40, 100, centers=4, cluster_std=3.0, random_state=0)
PROJECTIONS = (
    dualfold.LocalityPreservingProjection,
    dualfold.OrthogonalLPP,
    dualfold.NeighborhoodPreservingProjection,
    dualfold.OrthogonalNPP,
)


def centred(points):
    return points - points.mean(axis=0)


def up_to_sign(ours, theirs):
    """The largest difference between columns, after their signs were made equal."""
    return np.abs(ours * np.sign((ours * theirs).sum(axis=0)) - theirs).max()


# --- what is accepted as y ----------------------------------------------------------


@pytest.mark.parametrize(
    "model", [FisherDiscriminant(), *(kind(supervised=True) for kind in PROJECTIONS)], ids=str
)
def test_estimators_that_use_labels_ask_for_them(model):
    with pytest.raises(InvalidInput, match=r"requires y to be passed.*fit\(X, y\)"):
        clone(model).fit(IRIS)
    rare = iris_y.copy()
    rare[7] = 9
    with pytest.raises(InvalidInput, match=r"class 9 of y has one row.*leave such rows out"):
        clone(model).fit(IRIS, rare)
    assert model.__sklearn_tags__().target_tags.required


@pytest.mark.filterwarnings("ignore::dualfold.errors.PiecesJoined")
@pytest.mark.parametrize("kind", PROJECTIONS)
def test_labels_are_read_only_where_they_were_asked_for(kind):
    nonsense = np.full(len(IRIS), np.nan)  # a pipeline hands y, whatever it is, to every step
    plain, given = kind().fit(IRIS), kind().fit(IRIS, nonsense)
    np.testing.assert_array_equal(plain.embedding_, given.embedding_)
    assert not kind().__sklearn_tags__().target_tags.required


# --- Fisher's discriminant ----------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "y", "shrinkage"),
    [
        (IRIS, iris_y, None),
        (IRIS, iris_y, 0.3),
        (IRIS, iris_y, "auto"),
        (WINE, wine_y, None),
        (WINE, wine_y, 0.01),
        (WINE, wine_y, "auto"),
        (DIGITS, digits_y, "auto"),
        (WIDE, wide_y, 0.2),
        (WIDE, wide_y, 0.9),
        (WIDE, wide_y, "auto"),
    ],
    ids=lambda value: value if isinstance(value, str | float) else "",
)
def test_fisher_is_scikit_learns_linear_discriminant_analysis(X, y, shrinkage):
    model = FisherDiscriminant(shrinkage=shrinkage)
    points = model.fit_transform(X, y)
    peer = LinearDiscriminantAnalysis(solver="eigen", shrinkage=shrinkage).fit(X, y)
    theirs = centred(peer.transform(X))
    assert model.certificate_.level == "proved"
    assert points.shape == (len(X), len(np.unique(y)) - 1)
    # Not only the space: V'SV = I settles the scale too, and only signs are free.
    assert up_to_sign(points, theirs) < 1e-8 * np.abs(theirs).max()
    assert (
        up_to_sign(model.components_.T, peer.scalings_[:, : points.shape[1]])
        < 1e-8 * np.abs(peer.scalings_).max()
    )
    np.testing.assert_allclose(model.transform(X), points, atol=1e-10 * np.abs(points).max())


@pytest.mark.parametrize("shrinkage", [None, 0.3])
def test_fisher_by_brute_force(shrinkage):
    """Both scatters summed row by row, and every eigenvalue by LAPACK."""
    share, (n, width) = shrinkage or 0.0, IRIS.shape
    between, within = np.zeros((width, width)), np.zeros((width, width))
    for k in range(3):
        rows = IRIS[iris_y == k]
        middle = rows.mean(axis=0)
        for x in rows:
            within += np.outer(x - middle, x - middle) / n
            between += np.outer(middle - IRIS.mean(axis=0), middle - IRIS.mean(axis=0)) / n
    within = (1 - share) * within + share * np.trace(within) / width * np.eye(width)
    between = (1 - share) * between + share * np.trace(between) / width * np.eye(width)
    values = scipy.linalg.eigh(between, within, eigvals_only=True)[::-1]
    model = FisherDiscriminant(shrinkage=shrinkage).fit(IRIS, iris_y)
    np.testing.assert_allclose(model.eigenvalues_, values[:2], rtol=1e-10)
    C = model.components_
    np.testing.assert_allclose(C @ within @ C.T, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(C @ between @ C.T, np.diag(values[:2]), atol=1e-8)


def test_fisher_leaves_out_directions_without_extent():
    """Constant and repeated columns change nothing; scikit-learn's solver refuses them."""
    plain = FisherDiscriminant().fit(IRIS, iris_y)
    more = np.column_stack([IRIS, np.full(len(IRIS), 7.0), IRIS[:, 0]])
    with pytest.raises(np.linalg.LinAlgError):
        LinearDiscriminantAnalysis(solver="eigen").fit(more, iris_y)
    other = FisherDiscriminant().fit(more, iris_y)
    np.testing.assert_allclose(other.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    assert up_to_sign(other.embedding_, plain.embedding_) < 1e-8
    assert FisherDiscriminant().fit(DIGITS, digits_y).certificate_.level == "proved"


def test_fisher_does_not_depend_on_units():
    """The optimum is invariant under any invertible linear map of the features."""
    plain = FisherDiscriminant().fit(IRIS, iris_y)
    turn = np.random.default_rng(0).standard_normal((4, 4))
    for change in (turn, turn * np.array([1e6, 1.0, 1e-6, 1e3]), np.diag([1e12, 1.0, 1e-9, 10])):
        other = FisherDiscriminant().fit(IRIS @ change + 5 * change.max(axis=0), iris_y)
        np.testing.assert_allclose(other.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
        assert up_to_sign(other.embedding_, plain.embedding_) < 1e-6


def test_fisher_certificate_finds_a_worse_answer():
    problem = methods.fisher_discriminant(WINE, wine_y)
    best = dualfold.embed(problem)
    assert best.certificate.level == "proved"
    worse = best.solution.vectors + 1e-2 * np.random.default_rng(0).standard_normal(
        best.solution.vectors.shape
    )
    assert dualfold.certify(problem, worse).level == "failed"


@pytest.mark.parametrize("shrinkage", [None, 0.2])
def test_fisher_of_sparse_and_single_precision_rows(shrinkage):
    model = FisherDiscriminant(shrinkage=shrinkage).fit(IRIS, iris_y)
    sparse = FisherDiscriminant(shrinkage=shrinkage).fit(sp.csr_matrix(IRIS), iris_y)
    np.testing.assert_allclose(sparse.eigenvalues_, model.eigenvalues_, rtol=1e-8)
    assert up_to_sign(sparse.transform(sp.csr_matrix(IRIS)), model.embedding_) < 1e-7
    single = FisherDiscriminant(shrinkage=shrinkage).fit(IRIS.astype(np.float32), iris_y)
    assert single.embedding_.dtype == np.float32
    assert single.transform(IRIS.astype(np.float32)).dtype == np.float32
    assert up_to_sign(single.embedding_, model.embedding_) < 1e-3


def test_fisher_in_pipelines_files_and_frames(tmp_path):
    model = make_pipeline(FisherDiscriminant(2, shrinkage="auto"), KNeighborsClassifier(5))
    assert cross_val_score(model, WINE, wine_y).mean() > 0.95
    frame = pd.DataFrame(IRIS, columns=["a", "b", "c", "d"])
    names = load_iris().target_names[iris_y]
    fitted = FisherDiscriminant().fit(frame, pd.Series(names))
    assert fitted.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert fitted.get_feature_names_out().tolist() == ["fisherdiscriminant0", "fisherdiscriminant1"]
    np.testing.assert_array_equal(
        pickle.loads(pickle.dumps(fitted)).transform(frame), fitted.transform(frame)
    )
    save_model(tmp_path / "fisher.dualfold", model_of(fitted))
    again = load_model(tmp_path / "fisher.dualfold").transform(IRIS)
    np.testing.assert_allclose(again, fitted.transform(frame), atol=1e-12)


# --- graphs of classes, and supervised projections -----------------------------------


@pytest.mark.parametrize("kind", PROJECTIONS)
@pytest.mark.parametrize(
    "settings",
    [{}, {"neighborhood": "variable"}, {"n_neighbors": None, "radius": 60.0}],
    ids=str,
)
def test_supervised_neighbours_are_of_the_same_class(kind, settings):
    X, y = DIGITS[:300], digits_y[:300]
    with warnings.catch_warnings():
        warnings.simplefilter("error", PiecesJoined)  # classes are pieces by nature
        model = kind(supervised=True, pieces="raise", **settings).fit(X, y)
    edges = model.graph_.lengths.tocoo()
    assert (y[edges.row] == y[edges.col]).all()
    assert model.n_connected_components_ >= 10
    assert model.certificate_.level == "proved"
    assert not model.graph_.links
    if settings:
        return
    lists = model.graph_.lists
    for row in range(0, 300, 17):  # the 10 nearest of the class, by brute force
        others = np.flatnonzero((y == y[row]) & (np.arange(300) != row))
        lengths = np.sort(np.linalg.norm(X[others] - X[row], axis=1))[:10]
        mine = lists.distances[lists.indptr[row] : lists.indptr[row + 1]]
        np.testing.assert_allclose(mine, lengths, rtol=1e-12)


def test_supervised_projection_of_a_given_graph_keeps_edges_within_classes():
    X, y = DIGITS[:200], digits_y[:200]
    given = knn(X, 60).lengths
    model = OrthogonalLPP(supervised=True, graph=given).fit(X, y)
    whole = given.tocoo()
    same = y[whole.row] == y[whole.col]
    assert model.graph_.lengths.nnz == same.sum()
    lonely = knn(X, 1).lengths
    with pytest.raises(InvalidInput, match="no neighbour of their own class"):
        OrthogonalLPP(supervised=True, graph=lonely).fit(X, y)


def test_supervised_orthogonal_lpp_of_all_of_a_class_is_a_scatter_problem():
    """With weights 1 between all of a class ZᵀLZ = Σ n_k S_k, S_k the scatter of class k.

    For L = n_k·I − 11ᵀ on each class. (LDA minimises Σ S_k: the same where classes are equal.)
    """
    scatter = np.zeros((13, 13))
    for k in range(3):
        rows = centred(WINE[wine_y == k])
        scatter += len(rows) * rows.T @ rows
    values, vectors = np.linalg.eigh(scatter)
    model = OrthogonalLPP(
        3, n_neighbors=len(WINE), weights="binary", variance_kept=1.0, supervised=True
    ).fit(WINE, wine_y)
    np.testing.assert_allclose(model.eigenvalues_, values[:3], rtol=1e-8)
    assert scipy.linalg.subspace_angles(model.components_.T, vectors[:, :3]).max() < 1e-7


def test_supervised_lpp_of_all_of_a_class_is_fishers_discriminant():
    """Classes of m rows each: L = m·(I − P), P the class means, and Deg = (m − 1)·I.

    So ZᵀLZ = m·n·S_w, ZᵀDegZ = (m − 1)·n·S_t, and S_w v = μ S_t v has μ = 1/(1 + λ) for Fisher's λ.
    """
    lpp = dualfold.LocalityPreservingProjection(
        2, n_neighbors=len(IRIS), weights="binary", variance_kept=1.0, supervised=True
    ).fit(IRIS, iris_y)
    fisher = FisherDiscriminant().fit(IRIS, iris_y)
    np.testing.assert_allclose(lpp.eigenvalues_, 50 / 49 / (1 + fisher.eigenvalues_), rtol=1e-9)
    for ours, theirs in zip(lpp.components_, fisher.components_, strict=True):
        assert abs(ours @ theirs) > (1 - 1e-9) * np.linalg.norm(ours) * np.linalg.norm(theirs)


@pytest.mark.parametrize("kind", PROJECTIONS)
def test_supervised_projections_tell_new_digits_apart_better(kind):
    """5 images of each digit to learn from, 1,747 to be told by the nearest of them."""
    gains = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        train = np.concatenate(
            [rng.permutation(np.flatnonzero(digits_y == k))[:5] for k in range(10)]
        )
        test = np.setdiff1d(np.arange(len(DIGITS)), train)
        right = []
        for supervised in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", PiecesJoined)
                model = kind(9, n_neighbors=4, variance_kept=0.9, supervised=supervised)
                near = KNeighborsClassifier(1).fit(
                    model.fit_transform(DIGITS[train], digits_y[train]), digits_y[train]
                )
            right.append(near.score(model.transform(DIGITS[test]), digits_y[test]))
        gains.append(right[1] - right[0])
    assert np.mean(gains) > 0.02
    assert np.sum(np.array(gains) > 0) >= 4


def test_supervised_projection_with_more_features_than_rows():
    """c − 1 directions make every class one point, at no cost: they are not trivial."""
    model = OrthogonalLPP(3, n_neighbors=9, variance_kept=1.0, supervised=True).fit(WIDE, wide_y)
    assert np.abs(model.eigenvalues_).max() < 1e-9 * np.var(WIDE) * len(WIDE)
    middles = np.array([model.embedding_[wide_y == k].mean(axis=0) for k in range(4)])
    spread = max(np.ptp(model.embedding_[wide_y == k], axis=0).max() for k in range(4))
    apart = min(np.linalg.norm(middles[i] - middles[j]) for i in range(4) for j in range(i))
    assert spread < 1e-5 * apart
    assert model.certificate_.level == "proved"


def shrunk_scatter(X, y, share):
    """Within and between classes, by the definition in all features."""
    n, D = X.shape
    rows = [X[y == label] - X[y == label].mean(axis=0) for label in np.unique(y)]
    centred = X - X.mean(axis=0)
    parts = sum(Z.T @ Z for Z in rows) / n, centred.T @ centred / n
    within, total = ((1 - share) * S + share * np.trace(S) / D * np.eye(D) for S in parts)
    return within, total - within


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("n", "D"), [(60, 4), (20, 45)])
def test_shrunk_discriminants_are_optimal_among_all_directions(n, D, seed):
    """Those along which no row differs count, too: by the formula, and in scikit-learn."""
    rng = np.random.default_rng([32, seed])
    X, y, share = rng.normal(size=(n, D)), np.arange(n) % 4, [0.05, 0.2, 0.6, 0.95][seed]
    X[:, 0] += 4 * y
    X[:, D - D // 4 :] = 1.5
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = FisherDiscriminant(shrinkage=share).fit(X, y)
    within, between = shrunk_scatter(X, y, share)
    best = scipy.linalg.eigh(between, within, eigvals_only=True)[::-1][:3]
    np.testing.assert_allclose(model.eigenvalues_, best, rtol=1e-9)
    assert model.certificate_.level == "proved"
    C = model.components_
    np.testing.assert_allclose(C @ within @ C.T, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(C @ between @ C.T, np.diag(best), atol=1e-9 * best[0])
    theirs = LinearDiscriminantAnalysis(solver="eigen", shrinkage=share).fit(X, y).transform(X)
    flat = np.ptp(theirs, axis=0) < 1e-9
    np.testing.assert_array_equal(np.ptp(model.embedding_, axis=0) < 1e-9, flat)
    assert any(one.category is PointsCollapse for one in told) == flat.any()
    again = rechecked_model(model_of(model), X, y)
    assert again.level == "proved"
    points = rechecked_points(clone(model), X, model.embedding_, model.eigenvalues_, y=y)
    assert points.level == "proved"

"""The graph methods as estimators: new points, pieces, dimensions, scikit-learn, identities."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.manifold
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import KNeighborsTransformer
from sklearn.pipeline import make_pipeline

import dualfold
from dualfold import Isomap, LaplacianEigenmaps, LocallyLinearEmbedding
from dualfold.errors import DisconnectedGraph, InvalidInput, PiecesJoined, PointsCollapse
from tests.kernels.door import count_work
from tests.tools.angles import principal_sine
from tests.tools.tables import curve_points, digit_points, roll_points
from tests.weights.door import heat_width

DATA = {
    "roll": roll_points(600, random_state=0),
    "curve": curve_points(500, random_state=0),
    # A little noise: whole numbers give ties, which scikit-learn breaks in no stated order.
    "digits": digit_points(500) + 1e-3 * np.random.default_rng(0).random((500, 64)),
}
EIGENMAPS = [
    {},
    {"weights": "binary"},
    {"weights": "density"},
    {"neighborhood": "variable"},
    {"neighborhood": "variable", "weights": "density"},
    {"constraint": "identity"},
    {"neighborhood": "variable", "weights": "density", "constraint": "identity"},
    {"n_neighbors": None, "radius": 0.6},
    {"diffusion_time": 1.5},
]
ALL = [
    LaplacianEigenmaps(n_neighbors=8),
    Isomap(n_neighbors=8),
    Isomap(n_neighbors=8, landmarks=60),
    Isomap(n_neighbors=8, neighborhood="variable"),
    LocallyLinearEmbedding(n_neighbors=10),
    LocallyLinearEmbedding(n_neighbors=10, method="modified"),
    LocallyLinearEmbedding(n_neighbors=10, method="hessian"),
    LocallyLinearEmbedding(n_neighbors=10, method="ltsa"),
]


def relative(difference, reference):
    return np.abs(difference).max() / np.abs(reference).max()


@pytest.mark.parametrize("settings", EIGENMAPS, ids=str)
def test_eigenmaps_return_their_training_points(settings):
    X = DATA["curve"]
    model = LaplacianEigenmaps(**settings).fit(X)
    assert model.certificate_.level == "proved"
    assert relative(model.transform(X) - model.embedding_, model.embedding_) < 1e-6
    moved = model.transform(X + 1e-4 * np.random.default_rng(0).standard_normal(X.shape))
    assert relative(np.median(np.abs(moved - model.embedding_)), model.embedding_) < 0.01


@pytest.mark.parametrize("model", ALL, ids=str)
@pytest.mark.parametrize("name", ["roll", "curve"])
def test_fitted_attributes_and_new_points(model, name):
    X = DATA[name]
    model = clone(model).fit(X)
    assert model.embedding_.shape == (len(X), 2)
    assert model.certificate_.level == "proved", model.certificate_
    assert json.dumps(model.certificate_.to_dict(), allow_nan=False)
    assert len(model.eigenvalues_) == 2
    assert model.n_connected_components_ == 1
    assert model.graph_.lengths.shape == (len(X), len(X))
    assert model.n_features_in_ == 3
    spread = model.embedding_.std(axis=0).max()
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-5 * spread
    rng = np.random.default_rng(0)
    moved = model.transform(X + 1e-3 * rng.standard_normal(X.shape))
    assert np.median(np.abs(moved - model.embedding_)) < 0.05 * spread


@pytest.mark.parametrize("name", DATA)
def test_isomap_and_lle_equal_scikit_learn(name):
    X = DATA[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = Isomap(n_neighbors=9).fit(X), sklearn.manifold.Isomap(n_neighbors=9).fit(X)
        np.testing.assert_allclose(
            cdist(ours.embedding_, ours.embedding_),
            cdist(theirs.embedding_, theirs.embedding_),
            atol=1e-6 * np.abs(theirs.embedding_).max(),
        )
        new = X[:40] + 0.01
        np.testing.assert_allclose(
            np.abs(ours.transform(new)),
            np.abs(theirs.transform(new)),
            atol=1e-5 * np.abs(theirs.embedding_).max(),
        )
        assert ours.reconstruction_error() == pytest.approx(theirs.reconstruction_error(), rel=1e-6)
        np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-10)
    lle = LocallyLinearEmbedding(n_neighbors=12).fit(X)
    reference = sklearn.manifold.LocallyLinearEmbedding(n_neighbors=12, eigen_solver="dense").fit(X)
    assert principal_sine(lle.embedding_, reference.embedding_) < 1e-3
    assert lle.reconstruction_error_ == pytest.approx(reference.reconstruction_error_, rel=1e-3)


def test_precomputed_graphs_and_distances():
    X = DATA["curve"]
    transformer = KNeighborsTransformer(n_neighbors=8)
    for model in (Isomap(n_neighbors=8), LaplacianEigenmaps(n_neighbors=8)):
        plain = clone(model).fit(X)
        given = make_pipeline(transformer, clone(model).set_params(metric="precomputed")).fit(X)
        np.testing.assert_allclose(given[-1].embedding_, plain.embedding_, atol=1e-9)
        full = clone(model).set_params(metric="precomputed").fit(cdist(X, X))
        np.testing.assert_allclose(full.embedding_, plain.embedding_, atol=1e-9)
        new = X[:20] + 1e-3
        np.testing.assert_allclose(full.transform(cdist(new, X)), plain.transform(new), atol=1e-7)


def test_precomputed_affinities():
    X = DATA["curve"]
    graph = dualfold.graph.knn(X, 8)
    width = heat_width(graph)
    W = sp.csr_array(graph.lengths)
    W = sp.csr_array((np.exp(-((W.data / width) ** 2)), W.indices, W.indptr), shape=W.shape)
    given = LaplacianEigenmaps(weights="precomputed").fit(W)
    plain = LaplacianEigenmaps(n_neighbors=8, weights="heat").fit(X)
    np.testing.assert_allclose(given.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
    with pytest.raises(InvalidInput, match="affinities were given"):
        given.transform(W[:3])


def three_pieces():
    curve = DATA["curve"]
    away = np.array([[40.0, 0, 0], [0, 60.0, 0]])
    parts = [curve[:220], curve[220:400] + away[0], curve[400:] + away[1]]
    return np.vstack(parts), np.repeat([0, 1, 2], [220, 180, 100])


@pytest.mark.parametrize("pieces", ["join", "separate"])
@pytest.mark.parametrize("model", ALL, ids=str)
def test_pieces_never_collapse(model, pieces):
    X, labels = three_pieces()
    model = clone(model).set_params(pieces=pieces)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    assert model.n_connected_components_ == 3
    assert np.isfinite(model.embedding_).all()
    total = np.ptp(model.embedding_, axis=0).max()
    for piece in range(3):
        inside = model.embedding_[labels == piece]
        assert np.ptp(inside, axis=0).max() > 1e-3 * total
        assert len(np.unique(inside.round(12), axis=0)) > 0.9 * len(inside)
    joined = [w for w in caught if issubclass(w.category, PiecesJoined)]
    if pieces == "join":
        assert "3 pieces (largest 220 of 500 points)" in str(joined[0].message)
        assert "n_neighbors=" in str(joined[0].message)
        assert model.certificate_.level == "proved"
        return
    assert not joined
    assert len(model.certificate_.pieces) == 3
    assert "3 pieces, each on its own" in str(model.certificate_)
    if isinstance(model, Isomap | LaplacianEigenmaps):
        back = model.transform(X)
        assert relative(back - model.embedding_, model.embedding_) < 1e-5
    edges = [
        (model.embedding_[labels == p, 0].min(), model.embedding_[labels == p, 0].max())
        for p in range(3)
    ]
    edges.sort()
    assert edges[0][1] < edges[1][0]
    assert edges[1][1] < edges[2][0]


def test_pieces_raise_and_lone_points():
    X, _ = three_pieces()
    with pytest.raises(DisconnectedGraph, match="3 pieces"):
        Isomap(n_neighbors=8, pieces="raise").fit(X)
    lone = np.vstack([DATA["curve"], [[30.0, 0, 0]]])
    model = Isomap(n_neighbors=None, radius=0.5, pieces="separate").fit(lone)
    assert np.isfinite(model.embedding_).all()
    assert model.n_connected_components_ >= 2


def test_automatic_dimension():
    strip = np.random.default_rng(0).random((800, 2)) * [1.0, 0.9]
    flat = np.column_stack([strip, 1e-3 * np.random.default_rng(1).random(800)])
    model = Isomap(n_components="auto", n_neighbors=12).fit(flat)
    assert model.embedding_.shape[1] == 2
    assert "widest eigengap" in model.n_components_reason_
    assert model.certificate_.level == "proved"
    assert model.transform(flat[:5]).shape == (5, 2)


def test_metrics():
    X = DATA["curve"][:120]
    manhattan = Isomap(metric="manhattan", n_neighbors=8).fit(X)
    np.testing.assert_allclose(
        Isomap(metric="minkowski", p=1, n_neighbors=8).fit(X).embedding_, manhattan.embedding_
    )
    odd = Isomap(metric="minkowski", p=3, n_neighbors=8).fit(X)
    theirs = sklearn.manifold.Isomap(metric="minkowski", p=3, n_neighbors=8).fit(X)
    np.testing.assert_allclose(np.abs(odd.embedding_), np.abs(theirs.embedding_), atol=1e-6)


def test_landmarks_stand_for_all_points():
    X = roll_points(1500, random_state=0)
    exact, few = Isomap(n_neighbors=10, landmarks=None), Isomap(n_neighbors=10, landmarks=100)
    exact.fit(X)
    few.fit(X)
    assert few.residual_variance_ < exact.residual_variance_ + 0.01
    assert few.certificate_.level == "proved"
    assert "This is about the 100 landmarks" in str(few.certificate_)


def test_inverse_of_lle():
    X = DATA["curve"]
    model = LocallyLinearEmbedding(n_neighbors=10, method="ltsa").fit(X)
    back = model.inverse_transform(model.embedding_)
    assert np.median(np.linalg.norm(back - X, axis=1)) < 0.05


def test_threads_do_not_matter():
    X = DATA["digits"]
    one, two = (Isomap(n_neighbors=10, n_jobs=jobs).fit(X).embedding_ for jobs in (1, 2))
    np.testing.assert_array_equal(one, two)


class Recorder:
    """A callback of scikit-learn that notes what it hears."""

    def __init__(self):
        self.events = []

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context):
        self.events.append(f"end {context.task_name}")

    def teardown(self, estimator, context):
        self.events.append("teardown")


def test_stages_are_printed_and_told_to_callbacks_also_by_a_fit_that_fails(capsys):
    Isomap(verbose=True).fit(DATA["curve"])
    printed = capsys.readouterr().err
    stages = ("neighbours", "pieces", "problem", "solution and certificate")
    for stage in stages:
        assert f"[Isomap] {stage}: " in printed
    pytest.importorskip("sklearn.callback")
    recorder = Recorder()
    LaplacianEigenmaps().set_callbacks(recorder).fit(DATA["curve"])
    whole = [f"{kind} {stage}" for stage in stages for kind in ("begin", "end")]
    assert recorder.events == ["setup", "begin fit", *whole, "end fit", "teardown"]

    def broken(x, y):
        return 1 / 0

    recorder = Recorder()
    model = Isomap(verbose=True, metric=broken).set_callbacks(recorder)
    with count_work() as work, pytest.raises(ZeroDivisionError):
        model.fit(DATA["curve"])
    assert recorder.events == ["setup", "begin fit", "begin neighbours", "teardown"]
    assert "[Isomap] neighbours: " in capsys.readouterr().err
    assert "seconds: neighbours" in work


@pytest.mark.parametrize(
    "model",
    [
        *ALL,
        dualfold.LocalityPreservingProjection(n_neighbors=8),
        dualfold.OrthogonalNPP(n_neighbors=8),
    ],
    ids=str,
)
def test_a_graph_can_be_given(model):
    if getattr(model, "neighborhood", "fixed") == "variable":
        model = clone(model).set_params(neighborhood="fixed")
    X = DATA["curve"]
    plain = clone(model).fit(X)
    made = dualfold.graph.knn(X, model.n_neighbors)
    given = clone(model).set_params(graph=made).fit(X)
    np.testing.assert_allclose(given.embedding_, plain.embedding_, atol=1e-8)
    # As a matrix of one-way lengths (stored zeros are edges), as KNeighborsTransformer makes it.
    matrix = KNeighborsTransformer(n_neighbors=model.n_neighbors).fit_transform(X)
    one_way = clone(model).set_params(graph=matrix).fit(X)
    np.testing.assert_allclose(np.abs(one_way.embedding_), np.abs(plain.embedding_), atol=1e-6)
    with pytest.raises(InvalidInput, match="rows of X"):
        clone(model).set_params(graph=made).fit(X[:50])


@pytest.mark.parametrize("model", ALL, ids=str)
def test_fit_transform_returns_the_certified_points(model):
    from sklearn.datasets import load_breast_cancer

    X = load_breast_cancer().data[:300]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(model)
        np.testing.assert_array_equal(model.fit_transform(X), model.embedding_)


def test_many_duplicates_in_separate_pieces_stay_finite():
    X = np.eye(5)[np.random.default_rng(0).integers(0, 5, 200)]
    model = LaplacianEigenmaps(pieces="separate").fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X[:5] + 0.01)).all()


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_automatic_dimension_of_few_columns(method):
    X = np.random.default_rng(0).normal(size=(300, 3))
    model = LocallyLinearEmbedding(n_components="auto", n_neighbors=12, method=method).fit(X)
    assert 1 <= model.embedding_.shape[1] <= 3


def test_unscaled_columns_leave_enough_directions():
    from sklearn.datasets import load_wine

    model = dualfold.LocalityPreservingProjection().fit(load_wine().data)
    assert model.embedding_.shape == (178, 2)


@pytest.mark.parametrize(
    "estimator",
    [
        LaplacianEigenmaps(n_neighbors=4),
        LocallyLinearEmbedding(n_neighbors=4),
        LocallyLinearEmbedding(n_neighbors=4, method="ltsa"),
        Isomap(n_neighbors=4),
    ],
)
def test_identical_rows_are_not_mapped_without_a_word(estimator):
    with pytest.warns(PointsCollapse, match="all 20 points are the same") as told:
        clone(estimator).fit(np.full((20, 3), 7.0))
    assert told[0].filename == __file__  # the warning points at the caller
    pairs = np.repeat(roll_points(10, random_state=0), 2, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PointsCollapse)
        warnings.simplefilter("ignore", PiecesJoined)
        clone(estimator).set_params(n_neighbors=6).fit(pairs)

"""Stored answers judged again by the problem of their data: points, pieces, and models.

What a solver computes for it is only what the file does not hold.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.errors import InvalidInput
from dualfold.methods import mds, mds_of_distances, pca
from dualfold.saved import model_of, rechecked_model, rechecked_points
from tests.models.door import certify_points
from tests.tools.tables import roll_points
from tests.unfolding.door import BothSides

ROLL = roll_points(300, random_state=0)
X = np.random.default_rng(0).normal(size=(30, 3))

METHODS = ["pca", "mds", "isomap", "eigenmaps", "lle", "ltsa", "modified_lle", "hessian_lle"]
METHODS += ["lpp", "npp", "orthogonal_lpp", "orthogonal_npp", "gram pca", "landmark isomap"]


def stated(method):
    graph = dualfold.graph.knn(ROLL, 12)
    if method == "gram pca":
        wide = np.random.default_rng(0).normal(size=(20, 60))
        return dualfold.methods.pca(wide)
    if method == "landmark isomap":
        corners = dualfold.graph.farthest_points(graph, 40, random_state=0)
        return dualfold.methods.landmark_isomap(graph, corners)
    return getattr(dualfold.methods, method)(ROLL if method in ("pca", "mds") else graph)


@pytest.mark.parametrize("method", METHODS)
def test_stored_points_are_proved_again_and_changed_ones_are_not(method):
    embedding = dualfold.embed(stated(method))
    problem = stated(method)
    again = certify_points(problem, embedding.points, embedding.values)
    assert again.level == embedding.certificate.level == "proved", again
    one = embedding.points.copy()
    one[7, 0] += 0.1 * np.ptp(one[:, 0])
    assert certify_points(problem, one, embedding.values).level == "failed"
    assert certify_points(problem, embedding.points[:, ::-1], embedding.values).level == "failed"
    assert certify_points(problem, embedding.points, embedding.values * 1.01).level == "failed"
    nothing = embedding.points.copy()
    nothing[0, 0] = np.nan
    assert certify_points(problem, nothing, embedding.values).level == "failed"


# ---- columns without extent: rightly so where the data has none there

LINE = np.outer(np.linspace(-1, 2, 25), [1.0, 2.0, -1.0])
CLOUD = np.random.default_rng(3).normal(size=(25, 3))
LENGTHS = np.linalg.norm(LINE[:, None] - LINE[None], axis=-1)
OF_LINES = {
    "mds": lambda: mds(LINE, n_components=2),
    "distances": lambda: mds_of_distances(LENGTHS, n_components=2),
}


def flattened(problem):
    """The answer, its second coordinate set to what it is: nothing."""
    found = dualfold.embed(problem)
    points = found.points.copy()
    points[:, 1] = 0.0
    return points, np.array([found.values[0], 0.0])


@pytest.mark.parametrize("name", OF_LINES)
def test_a_line_has_one_coordinate_and_the_other_is_rightly_flat(name):
    problem = OF_LINES[name]()
    points, values = flattened(problem)
    honest = certify_points(problem, points, values)
    assert honest.level == "proved"
    assert "the first 1 coordinate(s); the data has no extent in the others" in honest.about
    assert certify_points(problem, points, None).level == "proved"  # none were stored
    assert certify_points(problem, points.astype(np.float32), None).level == "proved"


@pytest.mark.parametrize("name", OF_LINES)
def test_a_value_of_a_column_without_extent_is_doubted(name):
    problem = OF_LINES[name]()
    points, values = flattened(problem)
    forged = certify_points(problem, points, np.array([values[0], 0.5 * values[0]]))
    assert forged.level == "failed"
    assert any("eigenvalue 2 is stored, its column has no extent" in why for why in forged.reasons)


def test_what_is_not_known_by_its_entries_is_not_believed_to_be_flat():
    problem = pca(LINE, n_components=2, matrix="products")
    judged = certify_points(problem, *flattened(problem))
    assert judged.level == "failed"
    assert any("the data may have some there" in why for why in judged.reasons)


def test_a_column_that_was_wiped_out_is_doubted():
    for problem in (mds(CLOUD, n_components=2), pca(CLOUD, n_components=2)):
        points = flattened(problem)[0]
        forged = certify_points(problem, points, None)
        assert forged.level == "failed"
        assert any("the data may have some there" in why for why in forged.reasons)
        assert certify_points(problem, dualfold.embed(problem).points, None).level == "proved"


def test_extent_comes_first():
    problem = OF_LINES["distances"]()
    points, values = flattened(problem)
    forged = certify_points(problem, points[:, ::-1], values[::-1])
    assert forged.level == "failed"
    assert any("stands before one with extent" in why for why in forged.reasons)


def test_points_that_are_no_answer_to_the_data_are_refused():
    problem = OF_LINES["distances"]()
    points, values = flattened(problem)
    for wrong, said in (
        (points.astype(str), "are no real numbers"),
        (points[:9], "9 points are stored and the data has 25 rows"),
        (points[:, :1], "this problem has 2 coordinates"),
    ):
        with pytest.raises(InvalidInput, match=said):
            certify_points(problem, wrong, None)
    for wrong, said in ((points * 1e200, "overflow"), (points * np.nan, "NaN or infinite")):
        judged = certify_points(problem, wrong, values)
        assert judged.level == "failed"
        assert any(said in why for why in judged.reasons)


# ---- pieces, of which one is a single point


ALONE = np.vstack([X[:12], X[:12] + 100, [[-500.0, 0.0, 0.0]]])


def in_pieces():
    return dualfold.Isomap(n_neighbors=None, radius=30.0, pieces="separate")


def test_a_single_point_is_a_piece_that_is_judged_again():
    fitted = in_pieces().fit(ALONE)
    assert fitted.graph_.n_pieces == 3
    model = model_of(fitted)
    assert rechecked_model(model, ALONE).level == "proved"
    points = fitted.embedding_
    assert rechecked_points(in_pieces(), ALONE, points).level == "proved"
    moved = points.copy()
    moved[-1] += 0.1 * np.ptp(points)
    assert rechecked_points(in_pieces(), ALONE, moved).level == "failed"


def test_a_model_of_other_pieces_is_refused():
    model = model_of(in_pieces().fit(ALONE))
    with pytest.raises(InvalidInput, match="the data has 2 pieces"):
        rechecked_model(model, ALONE[:-1])
    swapped = replace(model.map, maps=(*model.map.maps[:1], None, model.map.maps[1]))
    with pytest.raises(InvalidInput, match="piece 2 has 12 points in the data"):
        rechecked_model(replace(model, map=swapped), ALONE)


def test_points_of_other_data_are_refused():
    with pytest.raises(InvalidInput, match="5 points are stored and the data has 25 rows"):
        rechecked_points(in_pieces(), ALONE, X[:5, :2])
    unfolding = dualfold.MaximumVarianceUnfolding(n_neighbors=4)
    sides = BothSides(X[:5], sp.csr_array((5, 5)))
    with pytest.raises(InvalidInput):
        rechecked_points(unfolding, X, X[:, :2], sides=sides)


# ---- models

PCA_MODEL = model_of(dualfold.PCA(n_components=2).fit(X))


def test_other_data_than_the_models_are_refused_or_doubted():
    assert rechecked_model(PCA_MODEL, X).level == "proved"
    with pytest.raises(InvalidInput):
        rechecked_model(PCA_MODEL, X[:, :2])
    assert rechecked_model(PCA_MODEL, X[::-1] * [1, 2, 3]).level == "failed"


def test_a_tsne_model_is_of_its_own_rows():
    few = {"perplexity": 5, "max_iter": 250}
    fitted = dualfold.TSNE(**few).fit(X)
    model = model_of(fitted)
    assert rechecked_points(dualfold.TSNE(**few), X, fitted.embedding_).value == pytest.approx(
        fitted.certificate_.value
    )
    with pytest.raises(InvalidInput, match=r"points of shape \(30, 2\) and the data has 20 rows"):
        rechecked_model(model, X[:20])
    with pytest.raises(InvalidInput, match="holds no map of TSNE"):
        rechecked_model(replace(model, map=PCA_MODEL.map), X)
    lists = replace(model.problem, parameters=model.problem.parameters | {"graph": "lists"})
    with pytest.raises(InvalidInput, match="the file states graph as 'lists'"):
        rechecked_model(replace(model, problem=lists), X)


# ---- what is computed again


@pytest.mark.parametrize(
    "estimator",
    [
        dualfold.PCA(2),
        dualfold.Isomap(n_neighbors=8),
        dualfold.Isomap(n_neighbors=8, landmarks=40),
        dualfold.LaplacianEigenmaps(n_neighbors=8),
        dualfold.LocalityPreservingProjection(2),
        dualfold.MaximumVarianceUnfolding(n_neighbors=5),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_models_and_points_of_a_fit_are_judged_again(estimator):
    fitted = estimator.fit(ROLL[:120])
    assert rechecked_model(model_of(fitted), ROLL[:120]).level == "proved"
    points = fitted.fit_transform(ROLL[:120])
    again = model_of(fitted).problem.new_estimator()
    assert rechecked_points(again, ROLL[:120], points).level in ("proved", "failed", "within")


def test_vectors_that_a_file_does_not_hold_are_computed_again():
    strip = np.random.default_rng(0).uniform(size=(200, 2)) * [8, 1]
    independent = dualfold.LaplacianEigenmaps(n_neighbors=10, coordinates="independent").fit(strip)
    assert rechecked_model(model_of(independent), strip).level == "proved"
    rows, classes = ROLL[:60], np.arange(60) % 3
    points = dualfold.FisherDiscriminant(2, shrinkage="auto").fit(rows, classes).embedding_
    fisher = dualfold.FisherDiscriminant(2, shrinkage="auto")
    assert rechecked_points(fisher, rows, points, y=classes).level == "proved"
    sheet = strip @ np.random.default_rng(1).normal(size=(2, 3))  # eigenvalues are rounding
    ltsa = dualfold.LocallyLinearEmbedding(n_neighbors=10, method="ltsa")
    again = rechecked_points(ltsa, sheet, ltsa.fit_transform(sheet).astype(np.float32))
    assert again.level in ("proved", "unresolved")


def test_a_model_of_sparse_rows_is_judged_again():
    rows = sp.random_array((80, 30), density=0.3, rng=np.random.default_rng(0), format="csr")
    for method in (dualfold.LaplacianEigenmaps, dualfold.LocallyLinearEmbedding):
        assert rechecked_model(model_of(method(n_neighbors=8).fit(rows)), rows).level == "proved"


@pytest.mark.parametrize("shrinkage", [None, "auto"])
def test_discriminants_of_weighted_rows_are_proved_again(shrinkage):
    random = np.random.default_rng(0)
    X, y, weights = random.normal(size=(60, 5)), np.arange(60) % 3, random.integers(0, 4, 60)
    model = dualfold.FisherDiscriminant(2, shrinkage=shrinkage).fit(X, y, sample_weight=weights)
    stored = model_of(model)
    assert rechecked_model(stored, X, y, weights=weights).level == "proved"
    assert rechecked_model(stored, X, y).level == "failed"


def test_a_table_of_categories_is_proved_again():
    pd = pytest.importorskip("pandas")
    random = np.random.default_rng(0)
    table = pd.DataFrame({"size": random.normal(size=40), "kind": random.choice(list("abc"), 40)})
    stored = model_of(dualfold.FAMD(2).fit(table))
    assert rechecked_model(stored, table).level == "proved"


def test_least_stress_of_landmarks_is_judged_again():
    X = np.random.default_rng(0).normal(size=(50, 4))
    model = dualfold.MDS(landmarks=20).fit(X)
    assert rechecked_model(model_of(model), X).level == model.certificate_.level


def test_a_model_of_two_tables_is_refused_in_a_sentence():
    X = np.random.default_rng(0).normal(size=(20, 4))
    stored = model_of(dualfold.CCA(1).fit(X[:, :2], X[:, 2:]))
    with pytest.raises(InvalidInput, match="about two tables"):
        rechecked_model(stored, X[:, :2])

"""Models and settings that state no problem: each is refused in one sentence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import dualfold
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.graph import knn
from dualfold.saved import (
    BothSides,
    columns_differ,
    estimator_of,
    estimator_of_model,
    judged_rows,
    kept_rows,
    load_model,
    model_of,
    old_rows,
    rechecked_model,
    rechecked_points,
    rechecked_unfolding,
    rule_of,
)
from dualfold.saved.trace_answers import vectors_of_points
from dualfold.trace import TraceProblem
from dualfold.trace.doubts import StoredPoints, point_doubts, row_doubts
from dualfold.unfolding.stored_unfolding import leading_doubts
from tests.robustness import forgeries
from tests.robustness.forgeries import npy

X = np.random.default_rng(0).normal(size=(30, 3))
MODEL = model_of(dualfold.PCA(n_components=2).fit(X))


def stating(**settings):
    return replace(MODEL, settings=MODEL.settings | settings)


def with_parameter(**parameters):
    return stating(parameters=MODEL.settings["parameters"] | parameters)


REFUSALS = {
    "which is no estimator": lambda: estimator_of_model(stating(estimator="Oracle")),
    "does not hold the parameters": lambda: estimator_of_model(stating(parameters=None)),
    "does not hold the parameters it was": lambda: estimator_of_model(with_parameter(magic=1)),
    "which no file keeps": lambda: estimator_of_model(stating(not_kept=["metric"])),
    "there is no method 'oracle'": lambda: estimator_of({"method": "oracle"}),
    "the file states n_components as True": lambda: estimator_of_model(
        with_parameter(n_components=True)
    ),
    "the file states n_components as [2]": lambda: estimator_of_model(
        with_parameter(n_components=[2])
    ),
    "places no new points": lambda: rule_of(object()),
}


@pytest.mark.parametrize("said", REFUSALS)
def test_what_states_no_problem_is_refused(said):
    with pytest.raises(InvalidInput) as refused:
        REFUSALS[said]()
    assert said in str(refused.value)


def test_other_data_than_the_models_are_refused_or_doubted():
    assert rechecked_model(MODEL, X).level == "proved"
    with pytest.raises(InvalidInput):
        rechecked_model(MODEL, X[:, :2])
    assert rechecked_model(MODEL, X[::-1] * [1, 2, 3]).level == "failed"


def test_what_a_file_can_state_makes_the_same_estimator():
    again = estimator_of_model(MODEL)
    np.testing.assert_array_equal(
        again.fit_transform(X), dualfold.PCA(n_components=2).fit_transform(X)
    )


# ---- what a stored map may differ in


def test_maps_of_another_kind_or_with_other_parts_are_told_apart():
    mine = MODEL.map.parts()
    assert mine.differences(mine) == []
    assert "of kind 'other'" in mine.differences(replace(mine, kind="other"))[0]
    fewer = {name: part for name, part in mine.arrays.items() if name != "components"}
    assert mine.differences(replace(mine, arrays=fewer)) == ["the part 'components' is missing"]
    more = mine.arrays | {"odd": np.zeros(2)}
    assert mine.differences(replace(mine, arrays=more)) == ["the part 'odd' is too much"]


def test_an_unknown_rounding_agrees_with_an_unknown_one_alone():
    """NaN stands for it in the facts of a graph by another metric."""
    unknown, known = ({"rounding": value} for value in (np.nan, 1e-16))
    mine = replace(MODEL.map.parts(), facts=unknown)
    assert mine.differences(mine) == []
    assert mine.differences(replace(mine, facts=known)) == ["the fact 'rounding' differs"]


def test_numbers_of_columns_that_are_stored_as_others():
    mine = np.array([1.0, 2.0])
    assert not columns_differ(mine, mine * (1 + 1e-12))
    assert columns_differ(mine, mine * (1 + 1e-6))
    assert columns_differ(mine, mine[:1])
    assert columns_differ(mine, mine.astype(str))
    assert columns_differ(mine, None)
    assert not columns_differ(None, None)


def test_points_that_cannot_be_compared_are_infinitely_far():
    assert point_doubts(X, X) == (0.0, [])
    assert point_doubts(X, X[:3]) == (np.inf, ["3 points are stored, the data has 30"])
    far, said = point_doubts(X * np.inf, X)
    assert far == np.inf
    assert "overflow" in said[0]


def test_points_are_traced_back_where_it_is_known_how():
    problem = TraceProblem(np.eye(30), None, 2, "max")
    stored = StoredPoints(X[:, :2])
    assert vectors_of_points(problem, stored) is not None
    with pytest.raises(InvalidInput, match="of a FunctionLift cannot be traced back"):
        vectors_of_points(replace(problem, lift=lambda V, values: V), stored)


def test_rows_that_a_model_keeps():
    """Of sparse rows none; of very many some are asked; a map's own units count."""
    assert kept_rows(sp.csr_array(X)) is None
    many = np.random.default_rng(1).normal(size=(20_001, 3))
    model = model_of(dualfold.LocallyLinearEmbedding(n_neighbors=6, landmarks=100).fit(X))
    wide = replace(model, map=replace(model.map, features=many))
    assert len(old_rows(wide)[0]) == 20_000
    scaled = X * [1, 1, 1e6]
    standard = model_of(dualfold.PCA(n_components=2, standardize=True).fit(scaled))
    standard = replace(standard, reference=scaled)
    far, near = judged_rows(standard, scaled + np.array([100, 0, 0])), judged_rows(standard, scaled)
    assert far.count == 30  # by the columns as they are 1e6 would hide it
    assert not near.more_than_chance


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
    graph = knn(X, 4)
    for wrong, said in ((X[:5, :2], "5 points are stored"), (X[:, 0], "of shape"), ([["a"]], "U1")):
        with pytest.raises(InvalidInput, match=said):
            rechecked_unfolding(graph, wrong, None)
    sides = BothSides(X[:5], sp.csr_array((5, 5)))
    with pytest.raises(InvalidInput, match="no unfolding of 30 rows"):
        rechecked_unfolding(graph, X[:, :2], sides)
    with pytest.raises(InvalidInput):
        rechecked_points(unfolding, X, X[:, :2], sides=sides)


# ---- files that somebody altered, with checksums that fit


def stated(parts, *place, value=None):
    """The header with another value at a place; None takes it away."""
    header = json.loads(parts["dualfold.json"])
    inner = header
    for name in place[:-1]:
        inner = inner[name]
    inner.pop(place[-1])
    inner |= {} if value is None else {place[-1]: value}
    return parts | {"dualfold.json": json.dumps(header).encode()}


def with_array(parts, name, array):
    return parts | {f"{name}.npy": npy(array)}


FACTS = ("map", "facts")
ALTERED = {
    "neighbours: points that are no numbers": lambda parts: with_array(
        parts, "points", np.full((60, 2), np.nan)
    ),
    "neighbours: a scalar of features": lambda parts: with_array(parts, "features", 3.0),
    "neighbours: no points": lambda parts: {n: p for n, p in parts.items() if n != "points.npy"},
    "neighbours: no number of them": lambda parts: stated(parts, *FACTS, "n_neighbors"),
    "neighbours: no metric": lambda parts: stated(parts, *FACTS, "metric"),
    "neighbours: an unknown metric": lambda parts: stated(parts, *FACTS, "metric", value="near"),
    "neighbours: a perplexity below 0": lambda parts: stated(
        parts, *FACTS, "perplexity", value=-5.0
    ),
    "linear: version 0": lambda parts: stated(parts, "version", value=0),
    "linear: version True": lambda parts: stated(parts, "version", value=True),
    "linear: more bytes than numbers": lambda parts: parts
    | {"mean.npy": parts["mean.npy"] + b"0"},
    "pieces: words for pieces": lambda parts: stated(parts, *FACTS, "single_points", value="x"),
    "pieces: all of them alone": lambda parts: stated(
        parts, *FACTS, "single_points", value=[True, True, True, True]
    ),
    "geodesic: links of two ends": lambda parts: stated(
        parts, *FACTS, "graph", "links", value=[[0, 1]]
    ),
    "geodesic: links to nobody": lambda parts: stated(
        parts, *FACTS, "graph", "links", value=[[0, 10**6, 1.0]]
    ),
    "sparse features: another shape": lambda parts: with_array(
        parts, "points", np.zeros((59, 2))
    ),
    "mixed: other columns": lambda parts: stated(parts, "columns", value=["a", "b", "c"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("altered")


@pytest.mark.parametrize("what", ALTERED)
def test_altered_models_are_damaged(folder, what):
    sound = forgeries.sound(what.partition(":")[0], folder)
    assert load_model(sound).coordinates == 2
    parts = ALTERED[what](forgeries.parts_of_file(sound.read_bytes()))
    (folder / "x.dualfold").write_bytes(forgeries.archive_of(forgeries.sealed(parts)))
    with pytest.raises(DamagedFile, match="damaged"):
        load_model(folder / "x.dualfold")


# ---- answers that files hold


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
        rechecked_model(replace(model, map=MODEL.map), X)
    lists = model.settings["parameters"] | {"graph": "lists"}
    with pytest.raises(InvalidInput, match="the file states graph as 'lists'"):
        estimator_of_model(replace(model, settings=model.settings | {"parameters": lists}))


def test_parameters_without_content_are_none():
    empty = dualfold.Isomap(n_neighbors=5, metric_params={}).fit(X)
    assert model_of(empty).settings["parameters"]["metric_params"] is None


def test_an_unfolding_of_nothing_has_no_leading_directions():
    assert leading_doubts(np.zeros((5, 2)), np.zeros((5, 2))) == []
    assert "more" in leading_doubts(np.zeros((5, 2)), np.ones((5, 2)))[0]


def test_rows_are_not_doubted_where_a_matrix_is_known_by_its_products():
    plain = TraceProblem(np.diag(np.arange(1.0, 6.0)), None, 1, "min")
    by_products = TraceProblem(aslinearoperator(plain.A), None, 1, "min")
    wrong = np.ones((5, 1)) / np.sqrt(5)
    assert row_doubts(plain, wrong, np.array([1.0]))
    assert row_doubts(by_products, wrong, np.array([1.0])) == []

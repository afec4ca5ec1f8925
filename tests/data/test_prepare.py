"""Preparing a table: one function for files, data frames and arrays, and its options."""

import json

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import dualfold
from dualfold.data import Reading, prepare
from dualfold.errors import InvalidInput
from tests.cli.command_line import run
from tests.data.door import read_metadata, reading_of


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 4)) * [1, 10, 1000, 1], columns=list("abcd"))
    table["kind"] = np.where(table["a"] > 0, "up", "down")
    table["name"] = [f"row {i}" for i in range(30)]
    table.loc[3, "b"] = np.nan
    return table


def test_files_frames_and_arrays_give_the_same_matrix(frame, tmp_path):
    frame.to_csv(tmp_path / "t.csv", index=False)
    more = {"missing": "drop", "standardize": False}
    reading = Reading(color="kind", identifier="name", exclude="d", **more)
    # Another index must not matter.
    shuffled = frame.set_index(np.arange(100, 130))
    file, table = prepare(tmp_path / "t.csv", reading), prepare(shuffled, reading)
    other = prepare(pytest.importorskip("polars").from_pandas(frame), reading)
    matrix = prepare(frame[list("abcd")].to_numpy(), Reading(exclude="column_4", **more))
    whole = frame[list("abc")].to_numpy()
    expected = whole[np.isfinite(whole).all(axis=1)]
    for found in (file, table, other, matrix):
        np.testing.assert_array_equal(found.X, expected)
        np.testing.assert_array_equal(found.rows, [i for i in range(30) if i != 3])
    assert file.names == table.names == ("a", "b", "c")
    assert list(file.colors) == list(table.colors) == list(frame["kind"].drop(3))
    assert file.notices == table.notices
    assert file.scales_differ
    assert "standardize=True" in file.notices[-1]


def test_standardized_columns_have_mean_0_and_deviation_1(frame):
    found = prepare(frame, Reading(standardize=True, missing="mean", mixed="numbers"))
    np.testing.assert_allclose(found.X.mean(axis=0), 0, atol=1e-14)
    # Of the values that are there: those that were filled in vary less than what is not known.
    known = frame[list("abcd")].notna().to_numpy()
    np.testing.assert_allclose(np.nanstd(np.where(known, found.X, np.nan), axis=0), 1)
    # The same shift and scale, undone, give the table as it was read.
    np.testing.assert_allclose(
        found.X * found.preparation.standard.deviation + found.preparation.standard.mean,
        found.table.X,
    )
    assert not found.scales_differ


def test_sparse_matrices_stay_sparse():
    X = sp.random_array((40, 6), density=0.3, rng=np.random.default_rng(0), format="coo")
    found = prepare(X)
    assert sp.issparse(found.X)
    np.testing.assert_array_equal(found.X.toarray(), X.toarray())


@pytest.mark.parametrize("field", ["format", "encoding", "array", "separator"])
def test_what_is_about_files_is_refused_for_frames(frame, field):
    with pytest.raises(InvalidInput, match=f"{field} is about files") as caught:
        prepare(frame, Reading(**{field: ","}))
    assert caught.value.argument == field


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("color", 3),
        ("exclude", "a"),
        ("keep", [1]),
        ("standardize", "yes"),
        ("standardize", 1),
        ("mixed", None),
        ("missing", "keep"),
        ("missing", None),
        ("format", "exe"),
    ],
)
def test_settings_in_another_form_are_refused(name, value):
    with pytest.raises(InvalidInput, match=name):
        reading_of({name: value})


def test_what_is_given_goes_before_what_is_stored():
    stored = Reading(color="kind", thousands=",", missing="drop")
    asked = Reading(missing="mean")
    assert asked.after(stored) == Reading(color="kind", thousands=",", missing="mean")
    assert asked.after(stored, "notation") == Reading(thousands=",", missing="mean")


def test_an_encoding_that_is_given_is_taken(tmp_path):
    text = "größe,ort,€\n1.5,Köln,2.5\n2.5,Łódź,3.5\n"
    for encoding in ("cp1250", "utf-16", "utf-8", "utf-8-sig"):
        (tmp_path / "t.csv").write_bytes(text.encode(encoding))
        # With a mark it is still UTF-8.
        found = prepare(tmp_path / "t.csv", Reading(encoding=encoding.removesuffix("-sig")))
        assert found.names == ("größe", "€")
        assert list(found.labels["ort"]) == ["Köln", "Łódź"]
        assert not any("Latin-1" in notice for notice in found.notices)
    (tmp_path / "t.csv").write_bytes("größe,a\n1.5,2.5\n".encode("latin-1"))
    assert "Latin-1" in prepare(tmp_path / "t.csv").notices[0]
    with pytest.raises(InvalidInput, match="not in the encoding that was given, encoding='utf-8'"):
        prepare(tmp_path / "t.csv", Reading(encoding="utf-8"))
    with pytest.raises(InvalidInput, match="encoding='klingon' is unknown") as caught:
        prepare(tmp_path / "t.csv", Reading(encoding="klingon"))
    assert caught.value.argument == "encoding"


@pytest.mark.parametrize("name", ["color", "identifier", "labels", "exclude", "keep"])
@pytest.mark.parametrize("kind", ["frame", "file"])
def test_a_wrong_column_names_its_argument(frame, tmp_path, name, kind):
    frame.to_csv(tmp_path / "t.csv", index=False)
    source = frame if kind == "frame" else tmp_path / "t.csv"
    with pytest.raises(InvalidInput, match="names no column; did you mean 'name'") as caught:
        prepare(source, Reading(**{name: "nam"}))
    assert caught.value.argument == name


def labelled_frame(name: str, values: object = None) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 3)), columns=["a", "b", "c"])
    return frame.assign(**{name: rng.standard_normal(60) if values is None else values})


SPOKEN = {
    "target": True,
    "label": True,
    "iris_class": True,
    "target value": True,
    "species": False,
    "outcome": False,
    "y": False,
}


@pytest.mark.parametrize("name", SPOKEN)
@pytest.mark.parametrize("few", [True, False])
def test_suspected_targets_are_kept_apart_by_name_and_values(name, few):
    values = np.arange(60) % 3 if few else None
    prepared = prepare(labelled_frame(name, values))
    apart = few or SPOKEN[name]  # a name like "target" needs no few values
    assert prepared.suspected_targets == ((name,) if apart else ())
    assert (name in prepared.names) != apart
    assert prepared.color_name == (name if apart else None)
    (said,) = [notice for notice in prepared.notices if f"'{name}'" in notice]
    assert set(said.arguments) == ({"keep"} if apart else {"label_columns", "exclude"})
    for reading in (Reading(keep=name), Reading(plain=True), Reading(mixed="given")):
        used = prepare(labelled_frame(name, values), reading)
        assert used.names == ("a", "b", "c", name)
        assert not used.suspected_targets


@pytest.mark.parametrize("name", ["year", "classical", "yield", "targeted", "age", "labelled_by"])
def test_other_names_are_not_doubted(name):
    prepared = prepare(labelled_frame(name, np.arange(60) % 3))
    assert not prepared.suspected_targets
    assert not any("the answer" in notice for notice in prepared.notices)


def test_a_coordinate_y_is_no_target():
    frame = labelled_frame("y", np.arange(60) % 3)
    assert prepare(frame).suspected_targets == ("y",)
    beside = prepare(frame.rename(columns={"a": "x", "b": "z"}))
    assert beside.names == ("x", "z", "c", "y")
    assert not any("the answer" in notice for notice in beside.notices)


def test_the_best_of_several_targets_comes_first():
    rng = np.random.default_rng(0)
    frame = labelled_frame("class", rng.integers(1, 4, 60)).assign(
        survived=rng.integers(0, 2, 60), fare_label=rng.standard_normal(60)
    )
    prepared = prepare(frame)
    assert prepared.suspected_targets == ("fare_label", "survived")
    assert prepared.names == ("a", "b", "c", "class")  # a feature beside better ones
    assert not any("'class'" in notice for notice in prepared.notices)
    for reading in (Reading(color="survived"), Reading(color="survived", exclude="fare_label")):
        assert "class" in prepare(frame, reading).names
    block = labelled_frame("class_1").assign(**{f"{place}_label": 0.5 for place in range(4)})
    assert not prepare(block + rng.standard_normal((60, 8))).suspected_targets


def test_categories_that_may_be_the_answer_are_said_once():
    frame = labelled_frame("species", ["setosa", "virginica"] * 30)
    for reading, words in ((Reading(), "colours the map"), (Reading(plain=True), "may be the")):
        (said,) = [notice for notice in prepare(frame, reading).notices if "species" in notice]
        assert words in said


def test_no_doubt_about_what_somebody_asked_for():
    numbers, words = labelled_frame("target"), labelled_frame("class", ["one", "two"] * 30)
    for frame, reading in (
        (numbers, Reading(color="target")),
        (numbers, Reading(exclude="target")),
        (numbers, Reading(keep="target")),
        (words, Reading(category="class")),
        (numbers[["target"]], Reading()),  # nothing else is left
    ):
        prepared = prepare(frame, reading)
        assert not prepared.suspected_targets
        assert not any("the answer" in notice for notice in prepared.notices)


def test_recommendations_and_audits_of_data_frames_say_what_they_used():
    frame = labelled_frame("target")
    found = dualfold.recommend(frame, methods=["pca"])
    assert "'target': used as a feature" in str(found)
    assert any("may be the target" in one for one in found.to_dict()["notices"])
    assert "may be the target" in found._repr_html_()
    tall = pd.concat([frame, frame + 0.01])
    judged = dualfold.audit(tall, dualfold.PCA(2).fit_transform(tall))
    assert "'target': used as a feature" in str(judged)
    assert any("may be the target" in one for one in judged.to_dict()["notices"])


def test_a_map_without_the_target_is_judged_without_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = labelled_frame("target").assign(losses=np.random.default_rng(1).permutation(60))
    frame.to_csv("t.csv", index=False)
    done = run("embed", "t.csv", "-m", "pca", "-o", "o.csv")
    assert "note: 'target' looks like the target by name and values" in done.output
    assert "not used as a feature; --keep target uses it" in done.output
    stored = read_metadata("o.csv")
    assert stored["columns"] == ["a", "b", "c", "losses"]
    run("embed", "t.csv", "-m", "pca", "--keep", "target", "-o", "k.csv")
    assert read_metadata("k.csv")["columns"] == ["a", "b", "c", "target", "losses"]
    # The columns that a map states are used, and no others.
    older = stored | {"columns": ["a", "b", "c", "target"]}
    (tmp_path / "o.csv.json").write_text(json.dumps(older))
    judged = run("certify", "t.csv", "o.csv", code=3)  # points of other columns
    assert "of 4 columns (a, b, c, target)" in judged.output

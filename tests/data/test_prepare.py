"""Preparing a table: one function for files, data frames and arrays, and its options."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import dualfold
from dualfold.cli import app
from dualfold.data import Reading, prepare
from dualfold.data.reading import reading_of
from dualfold.errors import InvalidInput


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
        found.X * found.standard.deviation + found.standard.mean, found.table.X
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
    with pytest.raises(InvalidInput, match="names no column; there is 'name'") as caught:
        prepare(source, Reading(**{name: "nam"}))
    assert caught.value.argument == name


def labelled_frame(name: str, values: object = None) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((60, 3)), columns=["a", "b", "c"])
    return frame.assign(**{name: rng.standard_normal(60) if values is None else values})


@pytest.mark.parametrize(
    "name", ["target", "Class", "label", "species", "iris_class", "outcome", "y", "target value"]
)
def test_a_column_that_may_be_the_answer_is_named(name):
    prepared = prepare(labelled_frame(name))
    assert name in prepared.names
    assert prepared.answers == [name]
    (said,) = [notice for notice in prepared.notices if "may be the answer" in notice]
    assert f"'{name}'" in said
    assert set(said.arguments) == {"label_columns", "exclude"}


@pytest.mark.parametrize("name", ["year", "classical", "yield", "targeted", "age", "labelled_by"])
def test_other_names_are_not_doubted(name):
    assert not prepare(labelled_frame(name)).answers


def test_categories_that_may_be_the_answer_are_said_once():
    frame = labelled_frame("species", ["setosa", "virginica"] * 30)
    said = [notice for notice in prepare(frame).notices if "species" in notice]
    assert len(said) == 1
    assert "may be the answer" in said[0]


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
        assert not prepared.answers
        assert not any("may be the answer" in notice for notice in prepared.notices)


def test_recommendations_and_audits_of_data_frames_say_what_they_used():
    frame = labelled_frame("target")
    found = dualfold.recommend(frame, methods=["pca"])
    assert "'target': used as a feature" in str(found)
    assert any("may be the answer" in one for one in found.to_dict()["notices"])
    assert "may be the answer" in found._repr_html_()
    tall = pd.concat([frame, frame + 0.01])
    judged = dualfold.audit(tall, dualfold.PCA(2).fit_transform(tall))
    assert "'target': used as a feature" in str(judged)
    assert any("may be the answer" in one for one in judged.to_dict()["notices"])


def test_commands_name_the_options_for_an_answer(tmp_path):
    path = tmp_path / "t.csv"
    labelled_frame("target").to_csv(path, index=False)
    done = CliRunner().invoke(app, ["embed", str(path), "-m", "pca", "-o", str(tmp_path / "o.csv")])
    assert done.exit_code == 0
    assert "--color target keeps it apart, --exclude target leaves it out" in done.output
    quiet = ["--color", "target", "-o", str(tmp_path / "p.csv")]
    done = CliRunner().invoke(app, ["embed", str(path), "-m", "pca", *quiet])
    assert "may be the answer" not in done.output

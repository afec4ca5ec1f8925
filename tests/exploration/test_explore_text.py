"""A column of text becomes a map: explored, saved, and new texts are placed on it."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import Reading, prepare
from dualfold.errors import DamagedFile, InvalidInput
from dualfold.saved import load_model, save_model
from dualfold.text import TextVectors
from tests.cli.command_line import run
from tests.data.text.texts import corpus


@pytest.fixture(scope="module")
def reviews():
    texts, topics = corpus(120)
    frame = pd.DataFrame({"review": texts, "topic": np.array(["k", "s", "m"])[topics]})
    frame["stars"] = np.random.default_rng(1).integers(1, 6, 120)
    return frame


def test_the_text_alone_makes_the_map_and_other_columns_are_labels(reviews):
    found = dualfold.explore(reviews, "pca", text="review", text_options={"n_components": 4})
    rows = TextVectors(4).fit(reviews["review"]).embedding_
    assert np.array_equal(found.data.X, rows)
    assert set(found.data.labels) == {"review", "topic", "stars"}
    assert found.data.sources == ["review"]
    assert "compared by cosine" in "\n".join(map(str, found.notes))


def test_columns_join_the_text_with_the_weight_that_is_said(reviews):
    found = dualfold.explore(
        reviews, "pca", text="review", keep="stars", category="topic", text_options=["weight=0.8"]
    )
    width = found.data.text.width
    spread = found.data.X.var(axis=0)
    assert np.isclose(spread[:width].sum(), 0.8)
    assert np.isclose(spread[width:].sum(), 0.2)
    assert found.data.sources == ["review", "stars", "topic"]
    assert "80 % of the variance" in "\n".join(map(str, found.notes))


@pytest.mark.parametrize("joined", [{}, {"keep": "stars", "category": "topic"}])
def test_saved_models_place_new_texts(reviews, joined, tmp_path):
    found = dualfold.explore(reviews, "pca", text="review", **joined)
    save_model(tmp_path / "m.dualfold", found.model)
    model = load_model(tmp_path / "m.dualfold")
    assert np.allclose(model.transform(reviews[:7]), found.points[:7], atol=1e-9)
    assert np.allclose(found.transform(reviews[:7]), found.points[:7], atol=1e-9)
    new = reviews[:3].copy()
    new.loc[1, "review"] = "qqq"  # no text of the map has it
    assert found.transform(new).shape == (2, 2)


def test_forged_terms_are_refused(reviews, tmp_path):
    found = dualfold.explore(reviews, "pca", text="review")
    rule = found.data.text.rule
    block = found.model.preparation.text
    for forged in (
        {"terms": ["a"] * len(rule.terms), "options": {}},
        {"terms": list(rule.terms), "options": {"tokenizer": "os.system"}},
        {"terms": list(rule.terms), "options": {"ngram_range": [1, 10**9]}},
        {"terms": [1, 2], "options": {}},
    ):
        from tests.exploration.door import Parts

        parts = Parts("none")
        facts = block.put_into(parts) | forged
        with pytest.raises(DamagedFile):
            type(block).from_file(parts, facts)


def test_vectors_come_as_columns_lists_or_a_file(reviews, tmp_path):
    rows = np.random.default_rng(0).normal(size=(120, 3))
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    frame = reviews.assign(**{f"v_{place}": rows[:, place] for place in range(3)})
    frame["list"] = list(rows)
    np.save(tmp_path / "rows.npy", rows)
    frame["written"] = [str(one.tolist()) for one in rows]
    frame["printed"] = [np.array_str(one, precision=17) for one in rows]
    for vectors in ("v_*", "list", "written", "printed", str(tmp_path / "rows.npy")):
        found = dualfold.explore(frame, "pca", vectors=vectors)
        assert np.allclose(found.data.X, unit)
        assert np.allclose(found.transform(frame), found.points)
        if not vectors.endswith(".npy"):
            assert np.allclose(found.transform(frame[:5]), found.points[:5])
    assert "v_0" not in dualfold.explore(frame, "pca", vectors="v_*").data.labels


def test_a_file_of_vectors_has_a_row_for_each_row(reviews, tmp_path):
    rows = np.random.default_rng(0).normal(size=(120, 3))
    np.save(tmp_path / "rows.npy", rows)
    np.save(tmp_path / "last.npy", rows[-7:])
    path = str(tmp_path / "rows.npy")
    with pytest.raises(InvalidInput, match="has 120 rows, and the table has 50"):
        dualfold.explore(reviews[:50], "pca", vectors=path)
    found = dualfold.explore(reviews, "pca", vectors=path)
    with pytest.raises(InvalidInput, match="has 120 rows, and the table has 7"):
        found.transform(reviews[-7:])  # else they would be placed where the first seven are
    placed = found.transform(reviews[-7:], vectors=str(tmp_path / "last.npy"))
    assert np.allclose(placed, found.points[-7:])
    of_columns = dualfold.explore(reviews, "pca", text="review")
    with pytest.raises(InvalidInput, match="has no use: the map was made of columns"):
        of_columns.transform(reviews, vectors=path)


def test_new_rows_of_the_command_line_have_vectors_of_their_own(reviews, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(120, 3))
    reviews.to_csv("old.csv", index=False)
    reviews[-9:].to_csv("new.csv", index=False)
    np.save("old.npy", rows)
    np.save("new.npy", rows[-9:])
    run("embed", "old.csv", "-m", "pca", "--vectors", "old.npy", "--save-model", "m.dualfold")
    refused = run("transform", "m.dualfold", "new.csv", code=1)
    assert "--vectors old.npy has 120 rows, and the table has 9" in refused.output
    run("transform", "m.dualfold", "new.csv", "--vectors", "new.npy", "-o", "placed.csv")
    old = pd.read_csv("old.pca.csv").filter(like="pca").to_numpy()
    assert np.allclose(pd.read_csv("placed.csv").filter(like="pca"), old[-9:])
    again = run("transform", "m.dualfold", "old.csv", "-o", "again.csv")
    assert "the vectors of these rows are those of old.npy" in again.output


def test_wrong_vectors_and_options_are_refused(reviews, tmp_path):
    np.save(tmp_path / "few.npy", np.ones((3, 2)))
    np.save(tmp_path / "gap.npy", np.where(np.arange(240).reshape(120, 2) == 7, np.nan, 1.0))
    (tmp_path / "junk.npy").write_text("hello")
    reviews = reviews.assign(ragged=[list(range(1 + i % 2)) for i in range(120)])
    for choices, said in (
        ({"vectors": "ragged"}, "row 2 has 2 numbers, and row 1 has 1"),
        ({"vectors": str(tmp_path / "gap.npy")}, "first in row 4"),
        ({"vectors": str(tmp_path / "junk.npy")}, "no file of numbers"),
        ({"text_options": "min_df=2"}, "is about a column of text; name it by text"),
        ({"text": "review", "text_options": "ngram_range=2"}, "as ngram_range=1,2"),
        ({"vectors": "w_*"}, "neither a column|names no column"),
        ({"vectors": str(tmp_path / "few.npy")}, "has 3 rows"),
        ({"vectors": "topic"}, "must hold numbers"),
        ({"text": "revue"}, "did you mean 'review'"),
        ({"text": "review", "text_options": "colour=red"}, "no option of texts"),
        ({"text": "review", "text_options": "min_df=red"}, "no value of min_df"),
        ({"text": "review", "text_options": "weight=2"}, "between 0 and 1"),
        ({"text": "review", "text_options": "n_components=0"}, "^text_options='n_components=0' m"),
        ({"text": "review", "text_options": "ngram_range=3,1"}, "^text_options='ngram_range=3,1'"),
        ({"text": "review", "text_options": "min_df=1000"}, "; text_options='min_df=1' keeps"),
    ):
        with pytest.raises(InvalidInput, match=said):
            dualfold.explore(reviews, "pca", **choices)
    with pytest.raises(InvalidInput, match=r"dualfold\.explore"):
        prepare(reviews, Reading(text="review"))


def test_empty_texts_are_left_out_and_said(reviews):
    frame = reviews.copy()
    frame.loc[[4, 9], "review"] = [None, "   "]
    found = dualfold.explore(frame, "pca", text="review")
    assert len(found.points) == 118
    assert {4, 9}.isdisjoint(found.data.rows)
    assert "2 rows left out" in "\n".join(map(str, found.notes))


def test_a_column_that_is_no_text_still_becomes_words(reviews):
    found = dualfold.explore(reviews.assign(code=reviews["stars"] + 10), "pca", text="code")
    assert found.data.text.terms == ("11", "12", "13", "14", "15")
    assert "'code' holds numbers" in "\n".join(map(str, found.notes))
    dates = reviews.assign(day=pd.date_range("2024-01-01", periods=120))
    for day in (dates["day"], dates["day"].astype(str)):
        with pytest.raises(InvalidInput, match="it holds dates"):
            dualfold.explore(dates.assign(day=day), "pca", text="day")


def test_vectors_need_no_text_that_names_groups(reviews):
    rows = np.random.default_rng(0).normal(size=(120, 3))
    frame = reviews.assign(v=list(rows), same="one text")
    found = dualfold.explore(frame, "pca", vectors="v", text="same")
    assert "groups are not named by text" in "\n".join(map(str, found.notes))
    assert found.points.shape == (120, 2)


def test_lists_of_numbers_are_offered_as_vectors(reviews):
    rows = np.random.default_rng(0).normal(size=(120, 9))
    frame = reviews.assign(list=list(rows), written=[str(one.tolist()) for one in rows])
    notes = "\n".join(map(str, prepare(frame).notices))
    assert "'list' holds lists of numbers; vectors='list'" in notes
    assert "'written' holds lists of numbers; vectors='written'" in notes
    assert "text='written'" not in notes


def test_a_table_of_text_alone_is_offered_a_map_of_it():
    frame = pd.DataFrame({"word": [f"shop {i}" for i in range(40)]})
    with pytest.raises(InvalidInput, match="text='word' makes a map of its words"):
        prepare(frame)


def test_prose_is_offered_a_map_and_names_are_not(reviews):
    frame = reviews.assign(size=np.arange(120.0) % 7, name=[f"shop {i}" for i in range(120)])
    notes = "\n".join(map(str, prepare(frame).notices))
    assert "'review' holds prose; text='review'" in notes
    assert "text='name'" not in notes


def test_the_command_line_makes_the_same_map_and_certifies_it(reviews, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    reviews.to_csv("reviews.csv", index=False)
    run("embed", "reviews.csv", "-m", "pca", "--text", "review", "-o", "map.csv",
        "--save-model", "m.dualfold")  # fmt: skip
    stored = pd.read_csv("map.csv")[["pca_1", "pca_2"]].to_numpy()
    assert np.allclose(stored, dualfold.explore(reviews, "pca", text="review").points)
    judged = json.loads(run("certify", "reviews.csv", "map.csv", "--json").stdout)
    assert judged["certificate"]["holds"]
    placed = run("transform", "m.dualfold", "reviews.csv", "-o", "-").stdout
    assert placed.count("\n") == 121

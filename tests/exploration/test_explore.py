"""`dualfold.explore` does in Python what `dualfold embed` does, bit by bit."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.errors import InvalidInput
from tests.cli.command_line import exact_csv, run
from tests.exploration.door import read_metadata
from tests.tools.page_contents import data_of


@pytest.fixture(scope="module")
def shops():
    """Numbers in different units with missing values, a category, an identifier."""
    rng = np.random.default_rng(0)
    size = rng.lognormal(3, 0.4, 80)
    frame = pd.DataFrame({"shop_id": np.arange(80) + 1, "size": size})
    frame["sold"] = size * rng.normal(1000, 200, 80)
    frame["kind"] = np.where(size > 20, "grocer", "cafe")
    frame.loc[[3, 40], "sold"] = np.nan
    return frame


@pytest.fixture
def here(tmp_path, monkeypatch, shops):
    monkeypatch.chdir(tmp_path)
    shops.to_csv("shops.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        ([], {}),
        (["--color", "kind"], {"color": "kind"}),
        (["-m", "isomap", "-k", "9"], {"method": "isomap", "n_neighbors": 9}),
        (["-m", "pca", "-d", "1", "--exclude", "kind"], {"n_components": 1, "exclude": "kind"}),
        (
            ["-m", "tsne", "--perplexity", "9", "--missing", "drop"],
            {"method": "tsne", "perplexity": 9, "missing": "drop"},
        ),
    ],
)
def test_it_is_what_the_command_line_makes(here, shops, words, choices):
    told = run("embed", "shops.csv", *words, "-o", "m.csv")
    stored = read_metadata("m.csv")
    for table in ("shops.csv", shops):
        found = dualfold.explore(table, **choices)
        written = exact_csv("m.csv")
        assert list(found.to_frame()) == list(written)
        points = written[stored["coordinates"]].to_numpy().astype(found.points.dtype)
        np.testing.assert_array_equal(found.points, points)
        assert found.verdict == stored["verdict"]
        assert len(found.notes) == len(stored["notices"])
        ours, theirs = json.loads(json.dumps(found.to_dict())), stored
        different = {key for key in ours if ours[key] != theirs[key]}
        assert different <= {"source", "notices"}  # a frame has no name, arguments no dashes
    assert found.verdict.split("\n")[-1] in told.stderr


def test_polars_and_arrays_are_tables_too(here, shops):
    polars = pytest.importorskip("polars", reason="needs polars")
    numbers = shops[["size", "sold"]].dropna().to_numpy()
    np.save("numbers.npy", numbers)
    run("embed", "numbers.npy", "-o", "m.csv", "-q")
    np.testing.assert_array_equal(dualfold.explore(numbers).points, exact_csv("m.csv").to_numpy())
    found = dualfold.explore(polars.from_pandas(shops)), dualfold.explore(shops)
    np.testing.assert_array_equal(found[0].points, found[1].points)


def test_new_rows_go_where_the_command_line_puts_them(here, shops):
    new = shops.iloc[[5, 3, 70]].assign(shop_id=[7, 8, 9])
    new.to_csv("new.csv", index=False)
    run("embed", "shops.csv", "-m", "isomap", "--save-model", "m.dualfold", "-q")
    run("transform", "m.dualfold", "new.csv", "-q")
    found = dualfold.explore(shops, "isomap")
    placed = exact_csv("new.placed.csv")[["isomap_1", "isomap_2"]].to_numpy()
    np.testing.assert_array_equal(found.transform(new), placed)
    np.testing.assert_array_equal(found.transform("new.csv"), placed)


def test_it_draws_writes_and_shows_itself(here, shops):
    found = dualfold.explore(shops, color="kind")
    assert found.plot().axes
    assert found.biplot().axes
    assert found.page("map.html").html == (here / "map.html").read_text(encoding="utf-8")
    with pytest.raises(InvalidInput, match="overwrite"):
        found.page("map.html")
    assert "80 rows × 2 columns of the DataFrame → 2 coordinates of pca" in repr(found)
    assert found.verdict in repr(found)
    assert all(note in repr(found) for note in found.notes)
    assert "80 rows" in found._repr_html_()
    assert found.embedding_ is found.points
    assert found.certificate is found.estimator.certificate_


@pytest.mark.parametrize(
    ("choices", "said"),
    [
        ({"method": "umapp"}, "method='umapp'"),
        ({"colour": "kind"}, "colour is neither a field of dualfold.data.Reading nor an option"),
        ({"method": "pca", "perplexity": 3}, "perplexity is an option of tsne"),
        ({"method": "auto", "perplexity": 3}, "name it instead of method='auto'"),
        ({"method": "fisher"}, "fisher learns from classes"),
        ({"n_components": 9}, "9 coordinates were asked for"),
    ],
)
def test_wrong_choices_are_named(shops, choices, said):
    with pytest.raises(InvalidInput, match=said):
        dualfold.explore(shops, **choices)


def test_a_table_with_one_usable_column_gets_one_coordinate(here):
    values = np.random.default_rng(0).normal(size=40)
    pd.DataFrame({"a": values, "who": [f"x{k}" for k in range(40)]}).to_csv("one.csv", index=False)
    told = run("embed", "one.csv", "--picture", "one.png", "--html", "one.html").stderr
    assert "'a' is the only column that can be used, so the map has one coordinate" in told
    assert "40 rows × 1 column → 1 coordinate" in told
    assert list(exact_csv("one.pca.csv"))[-1:] == ["pca_1"]
    shown = dualfold.explore("one.csv").points[:, 0]
    assert abs(np.corrcoef(shown, values)[0, 1]) == pytest.approx(1.0, abs=1e-12)


def test_the_nearest_wrong_calls_name_it(shops):
    with pytest.raises(InvalidInput, match=r"dualfold\.explore\(table\) makes a map"):
        dualfold.embed(shops)
    with pytest.raises(InvalidInput, match=r"dualfold\.explore\(X\) makes a map"):
        dualfold.PCA().fit(shops)


def test_few_rows_get_a_map_of_every_method_that_is_left_to_us():
    rows = np.random.default_rng(0).normal(size=(3, 3))
    for n in (2, 3):
        found = dualfold.explore(rows[:n], "tsne")
        assert any("a perplexity of 1, not the usual 30" in note for note in found.notes)
        assert np.isfinite(found.points).all()


def test_methods_that_need_more_rows_say_how_many():
    rows = np.random.default_rng(0).normal(size=(7, 3))
    assert dualfold.explore(rows[:2], "spectral_embedding").points.shape == (2, 1)
    for method, least in (("ltsa", 5), ("hessian_lle", 7)):
        assert dualfold.explore(rows[:least], method).points.shape == (least, 2)
        for n in range(3, least):
            with pytest.raises(InvalidInput, match=f"so {least} or more rows; there are {n}"):
                dualfold.explore(rows[:n], method)


def test_only_rows_that_were_observed_have_a_rare_level():
    rng = np.random.default_rng(0)
    x = rng.normal(size=184)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(0, 0.1, 184), "g": np.where(x > 0, "a", "b")})
    frame.loc[7, ["x", "y", "g"]] = [9.0, 9.0, "rare"]
    frame.loc[rng.choice(np.arange(8, 184), 30, replace=False), "g"] = None
    said = [note for note in dualfold.explore(frame).notes if "'g=rare'" in note]
    assert said
    assert "(1 of 184 rows has 'g=rare')" in said[0]


def test_a_map_of_few_rows_is_judged_nowhere(tmp_path):
    found = dualfold.explore(np.random.default_rng(0).standard_normal((3, 4)))
    assert "It cannot be judged: 3 rows are too few, 11 are needed" in str(found)
    written = data_of(found.page(tmp_path / "few.html").html)
    assert written["maps"][0]["quality"]["picture"]["grade"] == "cannot be judged"

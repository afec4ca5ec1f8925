"""`dualfold embed --contingency`: counts as they are, both kinds of points, refusals, the offer."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import dualfold
from dualfold.data import prepare
from tests.cli.command_line import exact_csv, run
from tests.cli.door import looks_like_counts, read_metadata

CAITHNESS = """eyes,fair,red,medium,dark,black
blue,326,38,241,110,3
light,688,116,584,188,4
medium,343,84,909,412,26
dark,98,48,403,681,85
"""


@pytest.fixture
def table(tmp_path, monkeypatch) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "eyes.csv").write_text(CAITHNESS)
    return pd.read_csv("eyes.csv", index_col="eyes")


def test_rows_are_in_the_output_and_columns_in_the_settings_and_the_loadings(table):
    done = run("embed", "eyes.csv", "--contingency", "--loadings", "hair.csv", "--picture", "m.svg")
    model = dualfold.CorrespondenceAnalysis().fit(table)
    rows, columns = exact_csv("eyes.correspondence.csv"), exact_csv("hair.csv")
    assert list(rows["eyes"]) == list(table.index)
    np.testing.assert_array_equal(rows.iloc[:, 1:].to_numpy(), model.embedding_)
    assert list(columns["column"]) == list(table.columns)
    np.testing.assert_array_equal(columns.iloc[:, 2:].to_numpy(), model.column_embedding_)
    stored = read_metadata("eyes.correspondence.csv")["column_points"]
    np.testing.assert_array_equal(list(stored.values()), model.column_embedding_)
    assert "of the inertia" in done.stderr
    assert "variance" not in done.stderr


def test_a_long_table_is_added_up_and_certified(table):
    long = table.reset_index().melt("eyes", var_name="hair", value_name="Freq")
    long.to_csv("long.csv", index=False)
    run("embed", "long.csv", "--contingency", "-q")
    run("embed", "eyes.csv", "--contingency", "-q")
    one, other = (exact_csv(f"{name}.correspondence.csv") for name in ("long", "eyes"))
    pd.testing.assert_frame_equal(one, other)
    assert "Proved" in run("certify", "long.csv", "long.correspondence.csv").stderr
    refused = run("embed", "long.csv", "--contingency", "--append", "-o", "a.csv", code=1)
    assert "levels of a long table" in refused.stderr


def test_what_is_no_table_of_counts_is_refused_in_a_sentence(table):
    cases = {
        "-3": (CAITHNESS.replace(",84,", ",-3,"), "'red' is -3 in row 3, and counts are 0 or more"),
        "gap": (CAITHNESS.replace(",84,", ",,"), "missing"),
        "text": (CAITHNESS.replace(",84,", ",many,"), "one column of names, and 'red' holds no"),
    }
    for text, words in cases.values():
        with open("wrong.csv", "w") as file:
            file.write(text)
        said = " ".join(run("embed", "wrong.csv", "--contingency", code=1).stderr.split())
        assert words in said, said
    for option in (["--standardize"], ["--log", "fair"], ["--missing", "mean"]):
        said = run("embed", "eyes.csv", "--contingency", *option, code=None)
        assert said.exit_code in (1, 2)
        assert f"{option[0]}" in said.stderr
    assert (
        "leave out --method"
        in run("embed", "eyes.csv", "--contingency", "-m", "pca", code=2).stderr
    )


def test_sums_in_the_table_are_noticed(table):
    table.assign(all=table.sum(axis=1)).to_csv("sums.csv")
    assert "--exclude all" in run("embed", "sums.csv", "--contingency").stderr


def test_new_rows_are_judged_by_their_profiles(table):
    run("embed", "eyes.csv", "--contingency", "--save-model", "m.dualfold", "-q")
    (1000 * table).to_csv("more.csv")
    done = run("transform", "m.dualfold", "more.csv", "--json", "-o", "p.csv")
    assert json.loads(done.stdout)["foreign"]["largest_distance"] == pytest.approx(0, abs=1e-6)
    table.assign(red=[1, 2, None, 4]).to_csv("gaps.csv")
    assert "missing" in run("transform", "m.dualfold", "gaps.csv", "-o", "g.csv", code=1).stderr


def test_the_offer_is_for_counts_and_not_for_measurements(table):
    assert looks_like_counts(prepare(table.reset_index()))
    rng = np.random.default_rng(0)
    names = [f"n{row}" for row in range(40)]
    people = {"name": names, "age": rng.integers(18, 90, 40), "cm": rng.integers(150, 200, 40)}
    people |= {"steps": rng.integers(1000, 20000, 40)}
    scale = {"name": names} | {f"q{k}": rng.integers(1, 8, 40) for k in range(5)}
    for other in (people, scale, table.to_numpy() / 7, rng.normal(size=(20, 4))):
        frame = pd.DataFrame(other) if isinstance(other, dict) else other
        assert not looks_like_counts(prepare(frame))
    assert "--method correspondence" in run("embed", "eyes.csv").stderr


def test_the_estimator_draws_both_kinds_of_points(table):
    figure = dualfold.CorrespondenceAnalysis().fit(table).plot()
    written = [text.get_text() for text in figure.axes[0].texts]
    assert set(table.columns) <= set(written)
    key = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert key == ["rows", "columns"]


def test_tables_in_tiles_are_taken_as_counts_too(table):
    pytest.importorskip("dask.dataframe")
    table.astype(float).to_parquet("eyes.parquet", index=False)
    run("embed", "eyes.parquet", "--contingency", "--memory-limit", "1GB", "-o", "t.parquet", "-q")
    points = pd.read_parquet("t.parquet").to_numpy()
    expected = dualfold.CorrespondenceAnalysis().fit(table).embedding_
    np.testing.assert_allclose(np.abs(points), np.abs(expected), atol=1e-10)

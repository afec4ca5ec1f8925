"""`dualfold embed`: what becomes of columns and rows, and what is said of them."""

from __future__ import annotations

import json
import re
import shlex

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from dualfold import PCA
from dualfold.cli import app
from dualfold.data import Reading, prepare, read_table
from tests.cli.command_line import CLOUD, run
from tests.cli.door import read_metadata, reading_of, reading_words, stem
from tests.tools.tables import strip


def test_coordinates_never_replace_a_column_of_the_table(here):
    text = (here / "t.csv").read_text().splitlines()
    named = ["pca_1," + text[0], *(f"r{place}," + row for place, row in enumerate(text[1:]))]
    (here / "n.csv").write_text("\n".join(named))
    run("embed", "n.csv", "-m", "pca", "--id", "pca_1", "-o", "o.csv")
    head, first = (here / "o.csv").read_text().splitlines()[:2]
    assert head == "pca_1,pca_1_new,pca_2"
    assert first.startswith("r0,")


def test_two_different_rows_have_one_direction(here):
    (here / "two.csv").write_text("a,b\n" + "1,2\n" * 9 + "3,5\n" * 9)
    said = run("embed", "two.csv", "-m", "pca", "-o", "o.csv").stderr
    assert "only 2 of 18 rows are different, which span 1 direction: of 2 coordinates" in said


def test_tables_in_tiles_by_other_methods(here):
    """FAMD takes categories from a file in tiles; columns are standardised where that is asked."""
    pytest.importorskip("dask")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(CLOUD, columns=list("abc")).assign(kind=["x", "y"] * 20)
    frame.to_parquet("t.parquet")
    words = ("--memory-limit", "2GB", "-q")
    run("embed", "t.parquet", "-m", "famd", "-o", "f.parquet", *words)
    assert len(pd.read_parquet("f.parquet")) == 40
    run("embed", "t.parquet", "-m", "pca", "--standardize", "-o", "p.parquet", *words)
    ours = pd.read_parquet("p.parquet").filter(like="pca").to_numpy()
    wanted = PCA(n_components=2).fit_transform((CLOUD - CLOUD.mean(axis=0)) / CLOUD.std(axis=0))
    np.testing.assert_allclose(np.abs(ours), np.abs(wanted), atol=1e-9)


def test_a_map_of_few_rows_is_not_judged_and_says_so(here):
    lines = (here / "t.csv").read_text().splitlines()
    (here / "few.csv").write_text("\n".join(lines[:9]))
    done = run("embed", "few.csv", "-m", "pca", "-o", "f.csv")
    said = done.stdout + done.stderr
    assert "A good picture? It cannot be judged: 8 rows are too few, 11 are needed." in said
    assert "Neighbourhoods:" not in said


def test_many_rows_are_asked_in_part(here):
    rows = np.random.default_rng(2).normal(size=(6_000, 2))
    np.savetxt("many.csv", rows, delimiter=",", header="a,b", comments="", fmt="%.4f")
    done = run("embed", "many.csv", "-m", "pca", "-o", "o.csv")
    assert "Neighbours were counted on 1,000 of the rows" in done.stdout + done.stderr


def test_the_command_line_has_independent_ones(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("strip.csv", strip(3), delimiter=",", header="a,b", comments="")

    def run(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        assert result.exit_code == 0, result.output
        return result.stdout

    embed = ("embed", "strip.csv", "-m", "eigenmaps", "-o", "map.csv", "--no-standardize", "--json")
    found = json.loads(run(*embed))
    assert found["settings"]["coordinates"] == [0, 2]
    assert "no other choice of 6 coordinates" in found["solved"]
    assert "than the 6 that were computed" in found["solved"]
    assert "of which the map shows number 1 and 3" in found["solved"]
    assert (
        json.loads(run("certify", "strip.csv", "map.csv", "--json"))["certificate"]["level"]
        == "proved"
    )
    found = json.loads(run(*embed, "--force", "--coordinates", "first"))
    assert found["settings"]["coordinates"] == "first"
    assert any("overtone" in notice for notice in found["notices"])
    assert "(in Python: first)" in run("methods", "eigenmaps")


def test_the_table_is_prepared_as_the_library_prepares_it(here):
    frame = pd.read_csv("roll.csv").drop(columns="when")
    frame["kind"] = ["low" if row % 3 else "high" for row in range(len(frame))]
    frame.loc[3, "x"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    reading = Reading(color="kind", identifier="name", standardize=True, missing="mean")
    run("embed", "gaps.csv", "-m", "pca", *reading_words(reading))
    written = read_table("gaps.pca.csv", features=["pca_1", "pca_2"]).X
    ours = PCA(n_components=2).fit_transform(prepare("gaps.csv", reading).X)
    np.testing.assert_array_equal(written, ours)
    assert reading_of(read_metadata("gaps.pca.csv")["reading"]) == reading


def test_files_are_named_after_the_table():
    assert [stem(name) for name in ("-", "a/b.csv.gz", "b.parquet")] == ["table", "b", "b"]


def test_the_next_command_replaces_nothing_and_runs(here):
    done = run("embed", "t.csv", "-o", "own.csv")
    [told] = re.findall(r"^Try next:  dualfold (.*)$", done.stderr, re.M)
    before = {path: path.read_bytes() for path in here.iterdir()}
    run(*shlex.split(told))
    assert before.items() <= {path: path.read_bytes() for path in here.iterdir()}.items()
    assert "--force" not in told

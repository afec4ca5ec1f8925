"""`dualfold series`: tables read as one, who moved and which columns changed, what is refused."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.command_line import exact_csv, run
from tests.tools.aligned_stand_in import StandIn

N = 40


@pytest.fixture
def months(tmp_path, monkeypatch):
    """Three tables of 40 firms; firm f07 earns 30 more in the second, f01 is not in the third."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dualfold.exploration.series.AlignedMaps", StandIn)
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N, 3)) * [10, 1, 2] + [50, 5, 20]
    for place, month in enumerate(("jan", "feb", "mar")):
        frame = pd.DataFrame(values + 0.01 * rng.normal(size=values.shape))
        frame.columns = ["income", "visits", "age"]
        frame.insert(0, "firm", [f"f{row:02d}" for row in range(N)])
        frame["plan"] = np.where(np.arange(N) % 2, "gold", "basic")
        frame["month"] = month
        if place:
            frame.loc[7, "income"] += 30
        if place == 1:
            frame.loc[3, "plan"] = "basic"
        frame = frame if place < 2 else frame[frame["firm"] != "f01"]
        frame.to_csv(f"{month}.csv", index=False)
    return tmp_path


TABLES = ("jan.csv", "feb.csv", "mar.csv")


def test_the_mover_is_named_with_the_column_that_changed_and_rows_that_went(months):
    found = json.loads(run("series", *TABLES, "--id", "firm", "--json").stdout)
    incomes = pd.concat([pd.read_csv(name) for name in TABLES])["income"]
    by_id = {one["id"]: one for one in found["moves"] if one["from"] == "jan"}
    steps = 30 / incomes.std(ddof=0)
    assert by_id["f07"]["reasons"] == [f"income up {steps:.1f} spreads"]
    assert by_id["f03"]["reasons"] == ["plan from gold to basic"]
    assert {one["id"] for one in found["moves"] if one["beyond_resampling"]} == {"f03", "f07"}
    assert [one["went"] for one in found["exchanges"]] == [[], ["f01"]]
    assert [one["rows"] for one in found["slices"]] == [N, N, N - 1]
    assert "month" not in found["columns"]  # it says which table it is
    assert any("feb and mar share 39 ids" in one for one in found["notices"])


def test_words_are_printed_and_the_next_command(months):
    said = run("series", *TABLES, "--id", "firm").stderr
    assert "f07, jan → feb: income up" in said
    assert "feb → mar: 0 rows came, 1 row went" in said
    assert "a stand-in chose it" in said
    assert "Try next:  dualfold series jan.csv feb.csv mar.csv" in said


def test_coordinates_have_slice_and_id(months):
    run("series", *TABLES, "--id", "firm", "--color", "plan", "-o", "all.csv", "-q")
    written = pd.read_csv("all.csv")
    assert list(written) == ["slice", "firm", "plan", "eigenmaps_1", "eigenmaps_2"]
    assert len(written) == 3 * N - 1
    assert json.loads((months / "all.csv.json").read_text())["schema"] == "dualfold.series/1"


def test_all_slices_have_one_scale(months):
    """The same firm with the same numbers is at the same place in every slice."""
    exact_csv("jan.csv").assign(month="feb").to_csv("same.csv", index=False)
    run("series", "jan.csv", "same.csv", "--id", "firm", "-o", "all.csv", "-q")
    written = exact_csv("all.csv")
    first, second = (written[written["slice"] == name] for name in ("jan", "same"))
    np.testing.assert_array_equal(first["eigenmaps_1"], second["eigenmaps_1"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: pd.concat([f, f[:1]]), "occurs several times ('f00')"),
        (lambda f: f.assign(firm=f["firm"].where(f.index > 0)), "has no id in 'firm' (row 1)"),
        (lambda f: f.assign(firm="x" + f["firm"]), "jan and feb share no id (as 'f00' and 'xf00')"),
        (lambda f: f.drop(columns="firm"), "--id firm names no column of feb"),
    ],
)
def test_ids_that_cannot_be_followed_are_refused_with_the_remedy(months, change, words):
    change(pd.read_csv("feb.csv")).to_csv("feb.csv", index=False)
    assert words in run("series", "jan.csv", "feb.csv", "--id", "firm", code=1).stderr


def test_a_column_that_a_slice_lacks_is_named_and_left_out(months):
    pd.read_csv("feb.csv").drop(columns="age").to_csv("feb.csv", index=False)
    found = json.loads(run("series", *TABLES, "--id", "firm", "--json").stdout)
    assert any("'age' is not in feb" in one for one in found["notices"])
    assert "age" not in found["columns"]


def test_usage_is_refused_before_anything_is_read(months):
    assert "--id COLUMN is needed" in run("series", *TABLES, code=2).stderr
    assert "two tables or more" in run("series", "jan.csv", "--id", "firm", code=2).stderr
    assert "is none of" in run("series", *TABLES, "--id", "firm", "-m", "isomap", code=2).stderr


def test_ids_are_the_same_however_a_file_writes_them(months):
    for name, ids in (("jan.csv", range(N)), ("feb.csv", [float(one) for one in range(N)])):
        pd.read_csv(name).assign(firm=list(ids)).to_csv(name, index=False)
    said = run("series", "jan.csv", "feb.csv", "--id", "firm").stderr
    assert f"jan and feb share {N} ids" in said


def test_the_example_of_the_help_runs(months):
    run("data", "customers-by-month", "--rows", "60", "--force", "-q")
    found = run("series", *TABLES, "--id", "customer", "--color", "kind", "--html", "months.html")
    assert "Page in months.html" in found.stderr
    assert (months / "months.html").read_text().startswith("<!DOCTYPE html>")
    again = run("data", "customers-by-month", code=1).stderr
    assert "jan.csv" in again

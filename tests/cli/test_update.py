"""`dualfold update`: a stored map grows by tables as they come, and changes only at the end."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from dualfold.saved import load_model, updated_map_of
from tests.cli.command_line import ROLL, exact_csv, run

FRAME = pd.DataFrame(ROLL, columns=["x", "y", "z"])
FRAME["kind"] = np.where(ROLL[:, 1] > 10, "up", "down")


@pytest.fixture
def folder(here):
    """An Isomap model of 100 rows, and two tables of 25 further ones."""
    FRAME[["x", "y", "z"]][:100].to_csv("old.csv", index=False)
    FRAME[["x", "y", "z"]][100:125].to_csv("a.csv", index=False)
    FRAME[["z", "x", "y"]][125:].assign(extra=2.5).to_csv("b.csv", index=False)
    run("embed", "old.csv", "-m", "isomap", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    return here


def test_updated_twice_is_updated_once_with_both_tables(folder):
    done = run("update", "m.dualfold", "a.csv", "b.csv", "-o", "once.dualfold", "--map", "all.csv")
    assert "50 rows added: 150 rows on the map → once.dualfold" in done.stderr
    assert "no column 'extra': not used" in done.stderr
    assert "Verdict: keep" in done.stderr
    for table in ("a.csv", "b.csv"):
        run("update", "m.dualfold", table, "-q")
    once, twice = (updated_map_of(load_model(f"{one}.dualfold")) for one in ("once", "m"))
    np.testing.assert_allclose(once.embedding_, twice.embedding_, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(once.rows, twice.rows)
    np.testing.assert_array_equal(once.rows, ROLL)
    np.testing.assert_array_equal(np.unique(twice.batch_, return_counts=True)[1], [100, 25, 25])
    points = exact_csv("all.csv")
    np.testing.assert_array_equal(points.to_numpy()[:, -2:], once.embedding_)
    old = exact_csv("o.csv").to_numpy()[:, -2:]
    np.testing.assert_allclose(once.embedding_[:100], old, rtol=0, atol=1e-11)


def test_rows_leave_and_the_map_is_fitted_again(folder):
    done = run("update", "m.dualfold", "a.csv", "--without", "1,3-4", "--refit", "--json", "-q")
    found = json.loads(done.stdout)
    assert (found["rows"], found["added"], found["left"]) == (122, 25, 3)
    assert found["refit"]["certificate"]["level"] == "proved"
    assert found["staleness"]["level"] == "within"
    assert found["verdict"]["word"] == "keep"
    rows = pd.concat([pd.read_csv("old.csv").drop([0, 2, 3]), pd.read_csv("a.csv")])
    rows.to_csv("rows.csv", index=False)
    assert "Proved" in run("certify", "rows.csv", "m.dualfold").stderr
    # A second update begins at the map that was fitted again.
    assert json.loads(run("update", "m.dualfold", "b.csv", "--json", "-q").stdout)["rows"] == 147


def test_a_new_kind_of_rows_is_a_reason_to_fit_again(folder):
    (FRAME[["x", "y", "z"]][:30] + 500).to_csv("far.csv", index=False)
    done = run("update", "m.dualfold", "far.csv", "--strict", "-o", "f.dualfold", code=3)
    assert "Verdict: fit again" in done.stderr
    run("update", "m.dualfold", "far.csv", "--strict", "--max-foreign", "1", "-o", "g.dualfold")


def test_messy_tables_are_read_as_the_map_was(here):
    FRAME[:100].to_csv("old.csv", index=False)
    new = FRAME[["kind", "z", "y", "x"]][100:].assign(extra=1.0)
    new.loc[101, "x"] = np.nan
    new.loc[103, "kind"] = "sideways"
    new.to_csv("new.csv", index=False)
    run("embed", "old.csv", "-o", "o.csv", "--save-model", "m.dualfold", "-q")
    refused = run("update", "m.dualfold", "new.csv", code=1)
    assert "keeps no rows" in refused.stderr
    assert "--old" in refused.stderr
    done = run("update", "m.dualfold", "new.csv", "--old", "old.csv")
    assert "'kind' has values that no old row had ('sideways')" in done.stderr
    assert "filled" in done.stderr
    assert "'extra'" in done.stderr
    run("transform", "m.dualfold", "new.csv", "-o", "p.csv", "-q")
    grown = load_model("m.dualfold").growth
    placed = exact_csv("p.csv").to_numpy()[:, -2:].astype(float)
    np.testing.assert_allclose(grown.points[100:], placed, rtol=0, atol=1e-9)
    wrong = run("update", "m.dualfold", "new.csv", "--old", "new.csv", code=1).stderr
    assert "--old has 50 rows; the map was made of 100" in wrong or "other rows" in wrong


REFUSED = {
    "lacks 1 column that is needed: 'z'": ("m.dualfold", "short.csv"),
    "no readable model file": ("old.csv", "a.csv"),
    "there is no model file": ("none.dualfold", "a.csv"),
    "--without 126 names rows that the map has not; it has 1 to 100": (
        "m.dualfold", "a.csv", "--without", "126",
    ),
    "would be replaced": ("m.dualfold", "a.csv", "--map", "a.csv"),
    "exists": ("m.dualfold", "a.csv", "-o", "o.csv"),
}  # fmt: skip


@pytest.mark.parametrize("said", REFUSED)
def test_what_cannot_be_done_changes_nothing(folder, said):
    FRAME[["x", "y"]].to_csv("short.csv", index=False)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert said in run("update", *REFUSED[said], code=1).stderr
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_wrong_usage_is_named(folder):
    assert "nothing to do" in run("update", "m.dualfold", code=2).stderr
    assert "names no rows" in run("update", "m.dualfold", "--without", "a-b", code=2).stderr


@pytest.mark.parametrize(
    "where", ["dualfold.saved.UpdatedMap.verdict", "numpy.lib.format.write_array", "os.replace"]
)
def test_an_update_that_fails_leaves_the_file_as_it_was(folder, monkeypatch, where):
    """Memory that is short while the map is judged, and while it is written."""

    def fails(*given, **more):
        raise MemoryError

    monkeypatch.setattr(where, fails)
    before = (folder / "m.dualfold").read_bytes()
    run("update", "m.dualfold", "a.csv", code=1)
    assert (folder / "m.dualfold").read_bytes() == before
    assert not list(folder.glob(".*part"))


def test_a_damaged_model_is_refused(folder):
    run("update", "m.dualfold", "a.csv", "-q")
    content = bytearray((folder / "m.dualfold").read_bytes())
    content[len(content) // 2] ^= 16
    (folder / "m.dualfold").write_bytes(content)
    assert "damaged" in run("update", "m.dualfold", "b.csv", code=1).stderr
    assert (folder / "m.dualfold").read_bytes() == bytes(content)

"""`transform --html`: old and new rows on one map, the new ones marked, with their values."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from tests.cli.command_line import exact_csv, run
from tests.tools.page_contents import data_of, numbers_of

KINDS = ("oak", "fir")


def table(n, seed):
    rng = np.random.default_rng(seed)
    height = np.round(rng.normal(20, 4, n), 1)
    year = rng.integers(1950, 2020, n)
    kind = [KINDS[int(h > 20)] for h in height]
    return pd.DataFrame(
        {"year": year, "height": height, "width": height + rng.normal(size=n), "kind": kind}
    )


def page_columns(path):
    data = data_of(path.read_text())
    return data, {column["name"]: column for column in data["columns"]}


def words(column):
    return [column["labels"][code] for code in numbers_of(column)]


def test_new_rows_are_marked_with_their_values_and_p_values(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    old, new = table(80, 0), table(6, 1)
    old.to_csv("old.csv", index=False)
    new.loc[5, ["height", "width"]] = 900.0
    new["who"] = [f"tree {place}" for place in range(6)]
    cells = new.astype(object)
    cells.loc[2, "year"] = ""
    cells.to_csv("new.csv", index=False)
    run("embed", "old.csv", "--save-model", "m.dualfold", "-q")
    done = run("transform", "m.dualfold", "new.csv", "--id", "who", "--html", "p.html", "--json")
    assert json.loads(done.stdout)["html"] == "p.html"
    data, columns = page_columns(tmp_path / "p.html")
    assert data["color"] == "rows"
    legend = [label for label, *_ in columns["rows"]["legend"]]
    assert legend == ["new rows, far out", "new rows", "old rows"]
    assert words(columns["rows"])[:80] == ["old rows"] * 80
    assert words(columns["rows"])[85] == "new rows, far out"
    assert data["names"][80:] == [f"tree {place}" for place in range(6)]
    years = numbers_of(columns["year"])
    np.testing.assert_array_equal(years[:80], old["year"])
    np.testing.assert_array_equal(years[80:], [*new["year"][:2], np.nan, *new["year"][3:]])
    assert words(columns["kind"]) == [*old["kind"], *new["kind"]]
    placed = exact_csv("new.placed.csv")
    np.testing.assert_allclose(numbers_of(columns["p-value"])[80:], placed["p_value"])
    drawn = numbers_of({"values": data["maps"][0]["points"], "type": "f8"}).reshape(-1, 2)
    np.testing.assert_array_equal(drawn[80:], placed[["famd_1", "famd_2"]])
    assert any("foreign" in note for note in data["notes"])


def test_a_model_by_a_graph_has_its_old_rows_on_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(2).normal(size=(60, 3))
    np.savetxt("old.csv", X, delimiter=",", header="a,b,c", comments="")
    np.savetxt("new.csv", X[:4] + 0.01, delimiter=",", header="a,b,c", comments="")
    run("embed", "old.csv", "-m", "isomap", "--save-model", "m.dualfold", "-q")
    run("transform", "m.dualfold", "new.csv", "--html", "p.html", "-q")
    data, columns = page_columns(tmp_path / "p.html")
    assert data["n"] == 64
    assert [data["names"][row] for row in (0, 60)] == ["old row 1", "new row 1"]
    np.testing.assert_allclose(numbers_of(columns["a"]), [*X[:, 0], *(X[:4, 0] + 0.01)], rtol=1e-7)
